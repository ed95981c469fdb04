"""What speaks against a fetched page being what it was fetched for, in sentences for a person. Nothing is decided by it.

Only a page that is short, or nearly all such wording, comes under suspicion: any article may speak of cookies and errors.
Looks at a bounded part of the body and of the text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from groundkit.core.logins import leads_to_login
from groundkit.core.suspicion_wording import (
    CONSENT,
    CONSENT_BESIDE,
    HUMANS,
    LOGIN,
    LOGIN_BEGINS,
    LOGIN_ENDS,
    NOT_FOUND,
    NOT_FOUND_NOISE,
    NOT_FOUND_SAID,
    SCRIPTS,
    SCRIPTS_ASIDE,
)

NO_TEXT = "it has no text"
LITTLE_TEXT = "it has very little text"
CONSENT_WALL = "it reads like a request for consent to cookies, and not like the page behind it"
NOTHING_FOUND = "it reads like the page of a server that found nothing there"
LOGIN_PAGE = "it reads like a login page"
LOGIN_REDIRECT = "it sends whoever reads it on to a login page"
NEEDS_SCRIPTS = "it says that it needs JavaScript, so its text may be missing"
SCRIPT_MADE = "a script may make its text in the browser"
HUMAN_CHECK = "it reads like a check whether a human being is reading it"

_PAGES = frozenset(("text/html", "application/xhtml+xml"))
#: In code points: what is short for a page, and what is for one that only says one thing.
_SHORT, _BRIEF = 3000, 1500
#: So few letters are very little. A letter of Chinese, Japanese or Korean says as much as two.
_FEW, _WIDE = 200, "\u2e80"
#: So much of each end is looked at: of a text in code points, of a body in bytes, of a title in code points.
_TEXT, _BODY, _TITLE = 4000, 32 * 1024, 300
#: The part of a text that wording has to make up. In an article with a banner, or about such pages, it makes up less.
_PART_CONSENT, _PART_SCRIPTS, _PART_HUMANS, _PART_NOT_FOUND = 0.1, 0.06, 0.04, 0.04


def suspicions(media_type: str, body: bytes, text: str, title: str) -> tuple[str, ...]:
    """What is suspicious about a page of this media type, body, text and title, each in a sentence; most have nothing.

    Of a PDF only that it has no text.
    """
    if not text or text.isspace():
        return (NO_TEXT, *(_without_text(_ends(body)) if media_type in _PAGES else ()))
    if media_type == "application/pdf":
        return ()
    return tuple(_found(media_type in _PAGES, body, text, title[:_TITLE]))


def _without_text(markup: str) -> Iterator[str]:
    """Why there may be no text in a page."""
    yield from _logins(markup, "", "")
    if "<script" in markup:
        yield SCRIPT_MADE


def _found(is_page: bool, body: bytes, text: str, title: str) -> Iterator[str]:
    view, size = plain(text[:_TEXT]), len(text)
    if is_page and _letters(text) < _FEW:
        yield LITTLE_TEXT
    if _is_consent_wall(view):
        yield CONSENT_WALL
    if size < _SHORT and _says_not_found(view, text, title, size):
        yield NOTHING_FOUND
    if is_page and size < _BRIEF:
        yield from _logins(_ends(body), text, title)
    if size < _SHORT and _part(_without(view, SCRIPTS_ASIDE), SCRIPTS) >= _PART_SCRIPTS:
        yield NEEDS_SCRIPTS
    if size < _SHORT and _part(f"{plain(title)} {view}", HUMANS) >= _PART_HUMANS:
        yield HUMAN_CHECK


def plain(text: str) -> str:
    """The form in which wording is compared: NFKC, case folded, single blanks, straight apostrophes.

    There is one i for both of Turkish, whose capitals are folded as if they were English.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_ALIKE).split())


_ALIKE = {0x2019: "'", 0x131: "i", 0x307: None}


def _letters(text: str) -> int:
    ends = text if len(text) <= 2 * _TEXT else text[:_TEXT] + text[-_TEXT:]
    return sum(2 if char >= _WIDE else 1 for char in ends if char.isalpha())


def _ends(body: bytes) -> str:
    """Both ends of a body in lower case, its markup readable in every charset in which a page may be."""
    ends = body if len(body) <= 2 * _BODY else body[:_BODY] + b"\n" + body[-_BODY:]
    return ends.replace(b"\0", b"").decode("latin-1").lower()


# Wording


def _covered(view: str, phrases: Iterable[str]) -> tuple[int, str]:
    """How many code points of a view the phrases make up, longer ones first, and the view without them."""
    covered = 0
    for phrase in sorted(phrases, key=len, reverse=True):
        if times := view.count(phrase):
            covered += times * len(phrase)
            view = view.replace(phrase, "\n")
    return covered, view


def _part(view: str, phrases: Iterable[str]) -> float:
    return _covered(view, phrases)[0] / max(len(view), 1)


def _without(view: str, asides: Iterable[str]) -> str:
    """A view without the sentences, or the beginnings of them, that end in one of these."""
    for aside in asides:
        while (end := view.find(aside)) >= 0:
            view = view[: max(view.rfind(sign, 0, end) + 1 for sign in ".!?\n")] + view[end + len(aside) :]
    return view


def _is_consent_wall(view: str) -> bool:
    covered, rest = _covered(view, CONSENT)
    beside = _covered(rest, CONSENT_BESIDE)[0]
    return covered > 0 and covered + beside >= len(view) * _PART_CONSENT


# Titles, headings, first lines


_BETWEEN = re.compile(r"[|–—·•»«›‹:/!.,。、！…]|\s-+\s")
_NO_LETTERS = re.compile(r"[\W_]+")
_LINES, _FIRST_LINES, _LINE = 30, 3, 120


def _pieces(title: str) -> Iterator[str]:
    """What a title or a line consists of, as words: the whole of it, and each part between separators."""
    told = plain(title)
    for piece in (told, *_BETWEEN.split(told)):
        yield _words(piece)


def _words(text: str) -> str:
    return _NO_LETTERS.sub(" ", text).strip()


_NOT_FOUND = frozenset(map(_words, NOT_FOUND))
_LOGIN = frozenset(map(_words, LOGIN))


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text[:_BRIEF].splitlines())
    return [line for line in lines if 0 < len(line) <= _LINE][:_LINES]


def _says_not_found(view: str, text: str, title: str, size: int) -> bool:
    lines = _lines(text)
    if any(map(_is_not_found, (title, *lines[:_FIRST_LINES]))):
        return True
    if size >= _BRIEF:
        return False
    return any(_is_not_found(line, least=10) for line in lines) or _part(view, NOT_FOUND_SAID) >= _PART_NOT_FOUND


def _is_not_found(line: str, least: int = 1) -> bool:
    """Whether a line, or a part of it, says nothing else; `least` is how long what it says has to be, wide letters double."""
    for piece in _pieces(line):
        words = piece.split(" ")
        rest = " ".join(word for word in words if word not in NOT_FOUND_NOISE)
        if rest in _NOT_FOUND and _letters(rest) >= least:
            return True
        if not rest and least == 1 and "404" in words:
            return True
    return False


# Logins


_PASSWORD = re.compile(r"<input\b[^<>]{0,500}?\btype\s{0,9}=\s{0,9}[\"']?password")
_META = re.compile(r"<meta\b[^<>]{0,2000}>")
_URL = re.compile(r"url\s{0,9}=\s{0,9}[\"']?([^\"'>\s]{1,500})")
_MOVES = re.compile(r"\blocation(?:\.href)?(?:\s{0,9}=|\.(?:replace|assign)\()\s{0,9}[\"']([^\"']{1,500})")
#: Of what a page that is nothing but a form has beside its fields.
_FORM = 600


def _logins(markup: str, text: str, title: str) -> Iterator[str]:
    first = _lines(text)[:_FIRST_LINES]
    if _PASSWORD.search(markup) or _is_login(title) or (len(text) < _FORM and any(map(_is_login, first))):
        yield LOGIN_PAGE
    if any(map(leads_to_login, _moves(markup))):
        yield LOGIN_REDIRECT


def _is_login(line: str) -> bool:
    told = plain(line)
    if len(told) < _LINE // 2 and (told.startswith(LOGIN_BEGINS) or told.endswith(LOGIN_ENDS)):
        return True
    return any(piece in _LOGIN for piece in _pieces(line))


def _moves(markup: str) -> Iterator[str]:
    """Where the markup sends a reader by itself."""
    for meta in _META.findall(markup):
        if "refresh" in meta and (match := _URL.search(meta)):
            yield match[1]
    yield from _MOVES.findall(markup)

"""The search view of a text: what is compared when words are looked for. The text itself is never changed.

Folded: NFKC, case folding, NFKC again. Tokens: each Han, Hiragana, Katakana and Hangul character by itself; in Thai, Lao,
Khmer and Myanmar each letter with its marks, since these write no blanks between words; otherwise runs of letters,
digits, marks and `_`, without the `_` at their ends: `snake_case` is one token, and Markdown's `_emphasis_` is the word.
"""

import re
import unicodedata
from functools import cache, lru_cache

#: Changes whenever the same text could give other tokens. Case folding and categories come from the Unicode tables.
ANALYZER_RECIPE = f"words/1 fields/1 unicode/{unicodedata.unidata_version}"

#: So often the words of a chunk's headings, and of its document's title, count as if they stood in its text: ADR 0030.
HEADING_WEIGHT = 2
#: A token that no text has; so no phrase reaches from the text into its headings. It counts like any other.
SEAM = "\x01"

#: A token over so many bytes of UTF-8 is cut, the same way wherever text is folded.
TOKEN_BYTES = 1024

#: Ranges of code points whose letters each are a token: first and last.
_SINGLE = (
    (0x1100, 0x11FF), (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x303C), (0x3041, 0x3096),
    (0x309D, 0x30FA), (0x30FC, 0x30FF), (0x3105, 0x318E), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xA960, 0xA97C), (0xAC00, 0xD7FB), (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x16FE3, 0x16FE3),
    (0x1AFF0, 0x1AFFE), (0x1B000, 0x1B167), (0x20000, 0x3FFFD),
)  # fmt: skip
#: Thai and Lao, Myanmar, Khmer, Myanmar's extensions: their letters begin a token, their marks go on with it.
_WITH_MARKS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F))

#: Signs common in English text that fold to separators only and combine with nothing around them.
_PLAIN_SIGNS = "\u00a0§©«»–—‘’“”•…→"
_MORE_THAN_SIGNS = re.compile(rf"[^\x00-\x7f{_PLAIN_SIGNS}]")

_ASCII = "".join(chr(code).lower() if chr(code).isalnum() or code == 0x5F else " " for code in range(128))

#: What a run of letters does not begin or end with. Each run of `_` is looked at once.
_EDGES = re.compile(r"(?<![^ ])_++|(?<!_)_++(?![^ ])")

#: A hostile text may hold every code point there is; so many are remembered.
_REMEMBERED = 1 << 16
#: A token of more than `TOKEN_BYTES` covers one whole aligned stretch of so many code points.
_STRETCH = TOKEN_BYTES // 8


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


class _Separated(dict[int, str]):
    """What a code point of a folded text becomes in the view, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        is_mark = unicodedata.category(sign)[0] == "M"
        if not (sign.isalnum() or sign == "_" or is_mark):
            shown = " "
        elif _within(code, _SINGLE) and not is_mark:
            shown = f" {sign} "
        else:
            shown = sign
        if len(self) < _REMEMBERED:
            self[code] = shown
        return shown


_SEPARATED = _Separated()


def search_view(text: str) -> tuple[str, int]:
    """The tokens of a text, separated by blanks, and how many they are. No token holds white space."""
    view = _view(text)
    if "_" in view:
        view = _EDGES.sub(" ", view)
    tokens = view.split()
    if _may_hold_a_long_token(view):
        tokens = [piece for token in tokens for piece in _pieces(token)]
        view = " ".join(tokens)
    return view, len(tokens)


def index_view(text: str, heading_path: tuple[str, ...], title: str) -> tuple[str, int]:
    """What is indexed of a chunk, and how many tokens: its search view, then those of title and headings, weighted."""
    view, tokens = search_view(text)
    above, size = _above(heading_path, title)
    return view + above, tokens + size


@lru_cache(512)
def _above(heading_path: tuple[str, ...], title: str) -> tuple[str, int]:
    """What follows a text's own view, and its tokens. Chunks of one section have it in common."""
    above = heading_path if title in heading_path else (title, *heading_path)
    told = [each for each in map(search_view, above) if each[1]]
    headings = "".join(f" {SEAM} {each}" for each, _ in told)
    return headings * HEADING_WEIGHT, (sum(count for _, count in told) + len(told)) * HEADING_WEIGHT


def _view(text: str) -> str:
    if text.isascii():
        return text.translate(_ASCII)
    if _MORE_THAN_SIGNS.search(text) is None:
        return text.encode("ascii", "replace").decode("ascii").translate(_ASCII)
    return _general_view(text)


def _general_view(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    view = folded.translate(_SEPARATED)
    letter, token = _clusters()
    return " ".join(token.findall(view)) if letter.search(view) else view


@cache
def _clusters() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A letter that begins a token, and a token of a view in which there are some. What is no `\\w` there is a mark."""
    codes = (code for first, last in _WITH_MARKS for code in range(first, last + 1))
    letters = "".join(filter(str.isalpha, map(chr, codes)))
    return re.compile(f"[{letters}]"), re.compile(rf"[{letters}][^\w ]*|[^{letters} ]+")


def _may_hold_a_long_token(view: str) -> bool:
    return any(" " not in view[at : at + _STRETCH] for at in range(0, len(view) - _STRETCH + 1, _STRETCH))


def _pieces(token: str) -> list[str]:
    """The token, cut at code points into pieces of at most `TOKEN_BYTES`."""
    raw = token.encode()
    pieces = []
    start = 0
    while len(raw) - start > TOKEN_BYTES:
        end = start + TOKEN_BYTES
        while raw[end] & 0xC0 == 0x80:
            end -= 1
        pieces.append(raw[start:end].decode())
        start = end
    return [*pieces, raw[start:].decode()]

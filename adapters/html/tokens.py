"""Tokens of HTML as the tokenizer of the standard makes them (13.2.5), in time linear in the text.

Each pattern here is matched at one place and goes forward only; what it has read is never read again, but for a bounded
number of times where a construct is never closed, and then the text ends with it.
"""

import re
from collections.abc import Callable, Generator, Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from groundkit.adapters.html.foreign import ROOTS, Foreign
from groundkit.adapters.html.references import unescaped, unescaped_value


class Start(NamedTuple):
    """A start tag: its name in ASCII lower case, the first value of each attribute, whether it ends in `/>`, its place.

    `empty` says that the slash counts: in SVG, MathML and XHTML it closes the element, in HTML it does nothing.
    """

    name: str
    attributes: dict[str, str]
    closed: bool
    at: int
    empty: bool = False


class End(NamedTuple):
    name: str
    at: int


class Text(NamedTuple):
    data: str


class Comment(NamedTuple):
    data: str


class Doctype(NamedTuple):
    name: str | None


class Unclosed(NamedTuple):
    """Something that begins at `at` and has no end before the text does: what it is, whether more than white space is in it,
    and what the standard makes of it."""

    what: str
    at: int
    swallows: bool
    made: Comment | Doctype | None = None


Token: TypeAlias = Start | End | Text | Comment | Doctype | Unclosed


class Content(Enum):
    """How the standard reads what stands in an element."""

    DATA = "data"
    RCDATA = "RCDATA"
    RAWTEXT = "RAWTEXT"
    SCRIPT = "script data"
    PLAINTEXT = "PLAINTEXT"
    CDATA = "CDATA section"


# noscript is read as ordinary markup: nothing here runs scripts.
CONTENTS = {
    "title": Content.RCDATA,
    "textarea": Content.RCDATA,
    "style": Content.RAWTEXT,
    "xmp": Content.RAWTEXT,
    "iframe": Content.RAWTEXT,
    "noembed": Content.RAWTEXT,
    "noframes": Content.RAWTEXT,
    "script": Content.SCRIPT,
    "plaintext": Content.PLAINTEXT,
}

_NAME = re.compile(r"<(/?)([A-Za-z][^\t\n\f />]*)([\t\n\f /]*)(>?)")
_ATTRIBUTE = re.compile(
    r"""[\t\n\f /]*([^\t\n\f />][^\t\n\f />=]*)(?:[\t\n\f ]*=[\t\n\f ]*(?:"([^"]*)"?|'([^']*)'?|([^\t\n\f >]*)))?"""
)
_TAG_END = re.compile(r"([\t\n\f /]*)>")
_COMMENT_END = re.compile(r"--!?>")
_COMMENT_BROKEN_OFF = re.compile(r"--?\Z|--!\Z")
_EMPTY_COMMENT = re.compile(r"<!---?>")
_DOCTYPE = re.compile(r"<!doctype[\t\n\f ]*([^\t\n\f >]*)[^>]*", re.IGNORECASE | re.ASCII)
_SCRIPT = re.compile(r"<!(?=--)|-->|<(/?)script(?=[\t\n\f />])", re.IGNORECASE | re.ASCII)
_UPPER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)} | {0: "\ufffd"}


def normalised(text: str) -> str:
    """The text with CRLF and CR as LF, as the standard preprocesses it."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def tokens(text: str, content: Content = Content.DATA, name: str = "", xml: bool = False) -> Iterator[Token]:
    """The tokens of a normalised text; with `content` from within an element of that name. `xml` is for XHTML, see `Start`."""
    at, foreign = 0, Foreign()
    if content is not Content.DATA:
        at = yield from _within(text, 0, 0, content, name)
    while at < len(text):
        opening = text.find("<", at)
        if opening != at:
            yield Text(unescaped(text[at:opening] if opening > 0 else text[at:]))
        if opening < 0:
            return
        if found := _NAME.match(text, opening):
            token, at = _tag(text, found)
            if isinstance(token, Start):
                own = foreign.start(token.name, token.closed) if foreign.open or token.name in ROOTS else False
                token = token._replace(empty=True) if token.closed and (own or xml) else token
                yield token
                if token.name in CONTENTS and not own and not token.empty:
                    at = yield from _within(text, opening, at, CONTENTS[token.name], token.name)
                continue
            if foreign.open and isinstance(token, End):
                foreign.end(token.name)
            yield token
        else:
            made, at = _other_markup(text, opening, foreign.content or xml)
            if made is not None:
                yield made


def _other_markup(text: str, at: int, cdata: bool) -> tuple[Token | None, int]:
    """What `<` at `at` begins, if no tag, and where it ends."""
    if text.startswith("<!", at):
        return _declaration(text, at, cdata)
    if text.startswith("<?", at):
        return _bogus_comment(text, at, at + 1)
    if text.startswith("</>", at):
        return None, at + 3
    if text.startswith("</", at) and len(text) > at + 2:
        return _bogus_comment(text, at, at + 2)
    return Text("<"), at + 1


@lru_cache(maxsize=1024)
def _known_name(raw: str) -> str:
    return raw.translate(_UPPER)


def _lower(raw: str) -> str:
    return _known_name(raw) if len(raw) < 20 else raw.translate(_UPPER)


def _tag(text: str, found: re.Match[str]) -> tuple[Token, int]:
    at, slash, name = found.start(), found[1], _lower(found[2])
    attributes: dict[str, str] = {}
    if found[4]:
        space, end = found[3], found.end()
    else:
        attributes, end = _attributes(text, found.end(2))
        closing = _TAG_END.match(text, end)
        if closing is None:
            return Unclosed("tag", at, not _blank(text, found.end(2))), len(text)
        space, end = closing[1], closing.end()
    return (End(name, at) if slash else Start(name, attributes, space.endswith("/"), at)), end


def _attributes(text: str, at: int) -> tuple[dict[str, str], int]:
    attributes: dict[str, str] = {}
    while found := _ATTRIBUTE.match(text, at):
        raw, double, single, bare = found.groups()
        value = double or single or bare or ""
        if "&" in value or "\0" in value:
            value = unescaped_value(_replaced(value))
        attributes.setdefault(_lower(raw), value)
        at = found.end()
    return attributes, at


def _replaced(text: str) -> str:
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _blank(text: str, start: int) -> bool:
    return text[start:].strip("\t\n\f /") == ""


def _declaration(text: str, at: int, cdata: bool) -> tuple[Token, int]:
    if text.startswith("<!--", at):
        return _comment(text, at)
    if cdata and text.startswith("<![CDATA[", at):
        return _cdata(text, at + 9)
    if found := _DOCTYPE.match(text, at):
        doctype = Doctype(_lower(found[1]) or None)
        if found.end() == len(text):
            return Unclosed("declaration", at, not _blank(text, found.end(1)), doctype), len(text)
        return doctype, found.end() + 1
    return _bogus_comment(text, at, at + 2)


def _comment(text: str, at: int) -> tuple[Token, int]:
    if found := _EMPTY_COMMENT.match(text, at):
        return Comment(""), found.end()
    if found := _COMMENT_END.search(text, at + 4):
        return Comment(_replaced(text[at + 4 : found.start()])), found.end()
    data = _COMMENT_BROKEN_OFF.sub("", text[at + 4 :])
    return Unclosed("comment", at, data.strip() != "", Comment(_replaced(data))), len(text)


def _bogus_comment(text: str, at: int, start: int) -> tuple[Token, int]:
    end = text.find(">", start)
    if end < 0:
        return Unclosed("declaration", at, not _blank(text, start), Comment(_replaced(text[start:]))), len(text)
    return Comment(_replaced(text[start:end])), end + 1


def _within(text: str, opened: int, at: int, content: Content, name: str) -> Generator[Token, None, int]:
    """The text of an element that holds nothing else, up to its end tag; where that begins."""
    if content is Content.CDATA:
        token, end = _cdata(text, at)
        if token.data:
            yield token
        return end
    end = _END[content](text, at, name)
    if end > at:
        data = _replaced(text[at:end])
        yield Text(unescaped(data) if content is Content.RCDATA else data)
    if end == len(text) and content is not Content.PLAINTEXT:
        yield Unclosed(name, opened, not _blank(text, at))
    return end


def _cdata(text: str, at: int) -> tuple[Text, int]:
    end = text.find("]]>", at)
    return (Text(text[at:]), len(text)) if end < 0 else (Text(text[at:end]), end + 3)


@lru_cache(maxsize=16)
def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{re.escape(name)}(?=[\t\n\f />])", re.IGNORECASE | re.ASCII)


def _end_of_raw(text: str, at: int, name: str) -> int:
    found = _end_tag(name).search(text, at)
    return found.start() if found else len(text)


def _end_of_script(text: str, at: int, name: str) -> int:
    """Where a script ends. Within `<!--` it may hold `<script>` with an end tag of its own (13.2.5.15 to 13.2.5.31)."""
    escaped = nested = False
    for found in _SCRIPT.finditer(text, at):
        if found[0] == "<!":
            escaped = True
        elif found[0] == "-->":
            escaped = nested = False
        elif not found[1]:
            nested = escaped
        elif nested:
            nested = False
        else:
            return found.start()
    return len(text)


_END: dict[Content, Callable[[str, int, str], int]] = {
    Content.RCDATA: _end_of_raw,
    Content.RAWTEXT: _end_of_raw,
    Content.SCRIPT: _end_of_script,
    Content.PLAINTEXT: lambda text, at, name: len(text),
}

"""Edits of a text with their outcome known: every character remembers where it came from, so nobody has to compare texts to
say what became of a passage.

    signs = carried_out(traced(old), (Insert(0, "Preface. "), Breaks("\\r\\n")))
    place_of(signs, old, passage)  # where the passage stands in text_of(signs), if it stands there whole
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import reduce
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from groundkit.core.model import Span

__all__ = [
    "Become", "Breaks", "ByteOrderMark", "Delete", "Duplicate", "Edit", "Empty", "Insert", "Move", "Normalise", "Overlay",
    "Recase", "Replace", "Rewrap", "Sign", "Traced", "Truncate", "carried_out", "copied", "edited", "intact_stretch",
    "kept", "place_of", "text_of", "traced", "typed",
]  # fmt: skip


@frozen
class Sign:
    """A code point with the offset in the old text that it comes from (None: it is new). A copy stands beside its original."""

    char: str
    origin: int | None = None
    copy: bool = False


Traced: TypeAlias = tuple[Sign, ...]


def traced(text: str) -> Traced:
    """A text before any edit."""
    return tuple(Sign(char, at) for at, char in enumerate(text))


def typed(text: str) -> Traced:
    """A text that comes from nowhere."""
    return tuple(map(Sign, text))


def text_of(signs: Traced) -> str:
    return "".join(sign.char for sign in signs)


# Every offset and length is in code points of the text at hand. Beyond its end they mean its end, so that a script fits any
# text, and goes on fitting when it is made smaller.


@frozen
class Insert:
    at: int
    text: str


@frozen
class Delete:
    at: int
    length: int


@frozen
class Replace:
    at: int
    length: int
    text: str


@frozen
class Move:
    """Takes a stretch out and puts it `to` an offset of what is left."""

    at: int
    length: int
    to: int


@frozen
class Duplicate:
    """Puts a copy of a stretch `to` an offset."""

    at: int
    length: int
    to: int


@frozen
class Overlay:
    """Writes a copy of a stretch over what stands at an offset, as much as it is long."""

    at: int
    length: int
    to: int


@frozen
class Rewrap:
    """Breaks the lines of each paragraph anew, at blanks behind so many code points."""

    width: int


@frozen
class Breaks:
    """Makes every line break (CRLF, LF, CR) this one."""

    mark: Literal["\n", "\r\n", "\r"]


@frozen
class Normalise:
    """Brings the text into a normal form of Unicode."""

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]


@frozen
class ByteOrderMark:
    """Sees to it that the text begins with U+FEFF, or does not."""

    present: bool


@frozen
class Recase:
    to: Literal["lower", "upper", "swapcase"]


@frozen
class Truncate:
    at: int


@frozen
class Empty:
    """Leaves nothing."""


@frozen
class Become:
    """Puts another text in the place of all of it, as when two files are swapped."""

    text: str


Edit: TypeAlias = (
    Insert
    | Delete
    | Replace
    | Move
    | Duplicate
    | Overlay
    | Rewrap
    | Breaks
    | Normalise
    | ByteOrderMark
    | Recase
    | Truncate
    | Empty
    | Become
)


def carried_out(signs: Traced, script: Iterable[Edit]) -> Traced:
    """The text after these edits, one after the other."""
    return reduce(edited, script, signs)


def edited(signs: Traced, edit: Edit) -> Traced:
    """The text after an edit. Total."""
    match edit:
        case Insert(at, text):
            return signs[:at] + typed(text) + signs[at:]
        case Delete(at, length):
            return signs[:at] + signs[at + length :]
        case Replace(at, length, text):
            return signs[:at] + typed(text) + signs[at + length :]
        case Move(at, length, to):
            rest = signs[:at] + signs[at + length :]
            return rest[:to] + signs[at : at + length] + rest[to:]
        case Duplicate(at, length, to):
            return signs[:to] + _copy(signs[at : at + length]) + signs[to:]
        case Overlay(at, length, to):
            copy = _copy(signs[at : at + length])
            return signs[:to] + copy + signs[to + len(copy) :]
        case Rewrap(width):
            return _rewrapped(signs, width)
        case Breaks(mark):
            return _broken(signs, mark)
        case Normalise(form):
            return _normalised(signs, form)
        case ByteOrderMark(present):
            bare = signs[1:] if signs and signs[0].char == _MARK else signs
            return signs if present and bare is not signs else typed(_MARK) + bare if present else bare
        case Recase(to):
            return tuple(_as(sign, char) for sign in signs for char in getattr(sign.char, to)())
        case Truncate(at):
            return signs[:at]
        case Empty():
            return ()
        case Become(text):
            return typed(text)


_MARK = "\ufeff"
_BREAK = re.compile(r"\r\n|\n|\r")
#: A line break by itself, which a paragraph goes on behind, or a blank.
_GAP = re.compile(r"(?<![\r\n])(?:\r\n|\n|\r)(?![\r\n])| ")


def _as(sign: Sign, char: str) -> Sign:
    return sign if sign.char == char else evolve(sign, char=char)


def _copy(signs: Traced) -> Traced:
    return tuple(evolve(sign, copy=True) for sign in signs)


def _put(signs: Traced, at: int, text: str) -> Traced:
    """What takes the place of signs that begin there: their origin is that of the first."""
    return tuple(_as(signs[at], char) for char in text)


def _rewrapped(signs: Traced, width: int) -> Traced:
    made: list[Sign] = []
    at = column = 0
    for gap in _GAP.finditer(text_of(signs)):
        column += gap.start() - at
        made += signs[at : gap.start()]
        made += _put(signs, gap.start(), "\n" if column >= width else " ")
        column = 0 if column >= width else column + 1
        at = gap.end()
    return (*made, *signs[at:])


def _broken(signs: Traced, mark: str) -> Traced:
    made: list[Sign] = []
    at = 0
    for found in _BREAK.finditer(text_of(signs)):
        made += signs[at : found.start()]
        made += signs[found.start() : found.end()] if found[0] == mark else _put(signs, found.start(), mark)
        at = found.end()
    return (*made, *signs[at:])


def _normalised(signs: Traced, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> Traced:
    """Piece by piece, so that what does not change keeps its own origin."""
    made: list[Sign] = []
    for start, end in _pieces(text_of(signs), form):
        piece = text_of(signs[start:end])
        normal = unicodedata.normalize(form, piece)
        made += signs[start:end] if normal == piece else _put(signs, start, normal)
    return tuple(made)


def _pieces(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> list[tuple[int, int]]:
    """Pieces of a text that each become their own normal form, whatever stands beside them."""
    starts = [0]
    normal = ""
    for at, char in enumerate(text):
        alone, joined = unicodedata.normalize(form, char), unicodedata.normalize(form, text[starts[-1] : at + 1])
        if at and not unicodedata.combining(alone[0]) and joined == normal + alone:
            starts.append(at)
            joined = alone
        normal = joined
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def place_of(signs: Traced, old: str, span: Span) -> Span | None:
    """Where the very passage `span` of the old text stands, if it stands there whole, in one piece and unchanged."""
    first = next((at for at, sign in enumerate(signs) if sign.origin == span.start and not sign.copy), None)
    if first is None or span.length < 1:
        return None
    place = Span(first, first + span.length)
    whole = intact_stretch(signs, place) == span
    return place if whole and text_of(signs[place.start : place.end]) == old[span.start : span.end] else None


def intact_stretch(signs: Traced, place: Span) -> Span | None:
    """The stretch of the old text that stands at a place, if nothing came into it, left it or was copied.

    That says nothing of its characters: they may have become others in their places.
    """
    there = signs[place.start : place.end]
    if len(there) != place.length or not there or there[0].origin is None:
        return None
    first = there[0].origin
    in_order = all(sign.origin == first + at and not sign.copy for at, sign in enumerate(there))
    return Span(first, first + place.length) if in_order else None


def kept(signs: Traced, span: Span) -> int:
    """How many code points there are that come from a passage of the old text, copies not counted."""
    return sum(_is_of(sign, span) and not sign.copy for sign in signs)


def copied(signs: Traced, span: Span) -> int:
    """How many code points there are that were copied from a passage of the old text."""
    return sum(_is_of(sign, span) and sign.copy for sign in signs)


def _is_of(sign: Sign, span: Span) -> bool:
    return sign.origin is not None and span.start <= sign.origin < span.end

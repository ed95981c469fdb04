"""The marks by which a text says where something stands: `[1]`, `[^1]`, a place as `gk search` prints it, a chunk id.

Numbers and footnotes point into lists.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from attrs import field, frozen

from groundkit.core.model import Span
from groundkit.core.written_places import has_place

#: What stands for a code point of code, and of the target of a link, in a text in which these are hidden.
HIDDEN, HIDDEN_LINK = "\ue000", "\ue001"
#: A number of more digits is no number of a list.
_DIGITS = 9
#: A range over more entries stands for its two ends.
_RANGE = 64
#: More entries than anybody gives at once.
_ENTRIES = 256
#: Longer ones name nothing.
_LONGEST = 2048


@frozen
class ToNumber:
    """An entry of a list, from 1; None for a number that no list has."""

    number: int | None


@frozen
class ToNote:
    """A footnote by its label."""

    label: str


@frozen
class ToChunk:
    """A chunk by its id or the beginning of one."""

    beginning: str


@frozen
class ToPlace:
    """A source, with or without a place in it, as it is written."""

    written: str


Target: TypeAlias = ToNumber | ToNote | ToChunk | ToPlace


@frozen
class Marker:
    """A mark in a text, in code points, and what it points to. `loose`: it only counts as one behind a quotation."""

    span: Span
    text: str
    targets: tuple[Target, ...]
    loose: bool = field(default=False, repr=False)


_LIST = r"\d+(?:\s?[-–—,;]\s?\d+)*"
_NUMBERS = re.compile(
    rf"(?<![!\\])\[(?P<numbers>{_LIST})(?:\s?,\s?pp?\.[^\[\]\n]{{1,40}})?\](?![({HIDDEN_LINK}])"
    r"|【(?P<other>\d+)(?:[:†][^【】\n]{0,80})?】"
)
_NOTE = re.compile(r"(?<![!\\])\[\^(?P<note>[^\[\]\s^]{1,80})\]")
_BRACKETS = re.compile(rf"(?<![!\\\]])\[(?P<square>[^\[\]\n{HIDDEN_LINK}]{{3,400}})\](?![({HIDDEN_LINK}\[:])")
_ROUND = re.compile(r"\((?P<round>[^()\n]{3,400}(?:\([^()\n]{0,40}\))?)\)")
_CODE = re.compile(r"(?<!`)`(?P<code>[^`\n]{3,400})`(?!`)")
_ANGLE = re.compile(r"<(?P<angle>https?://[^<>\s]{1,2000})>")

_CHUNK = re.compile(r"[0-9a-f]{8,32}")
_WHOLE_CHUNK = re.compile(r"[0-9a-f]{32}")
_URL = re.compile(r"https?://\S+$")
_FILE = re.compile(r"\S(?:.{0,400})?\.[A-Za-z][A-Za-z0-9]{0,7}(?:#\S+)?$")

#: The place at the beginning of an entry of a list.
_LEADING = re.compile(
    r"`(?P<code>[^`\n]+)`|<(?P<angle>[^<>\s]+)>|\[[^\[\]\n]*\]\((?P<link>[^()\s]+)[^()\n]*\)"
    r"|(?P<url>https?://\S+)|(?P<line>[^\n]{1,400}?:\d{1,12}(?:[-–]\d{1,12}|:\d{1,12})?)(?=[\s,;.)]|$)"
    r"|(?P<pages>[^\n]{1,400}?,? pp?\. ?\d{1,9}(?:[-–]\d{1,9})?)|(?P<word>\S+)"
)


def numbers_in(text: str) -> tuple[Target, ...]:
    """`1, 3`, `1-3`, `2; 4–6` as entries of a list. A range that runs backwards is entries that no list has."""
    found: list[Target] = []
    for part in re.split(r"[,;]", text):
        ends = [_number(each.strip()) for each in re.split(r"[-–—]", part)]
        first, last = ends[0], ends[-1]
        if len(ends) == 2 and first is not None and last is not None and first < last <= first + _RANGE:
            found += map(ToNumber, range(first, last + 1))
        elif len(ends) > 1 and (len(ends) > 2 or first is None or last is None or last < first):
            found.append(ToNumber(None))
        else:
            found += map(ToNumber, ends)
        if len(found) > _ENTRIES:
            return (ToNumber(None),)
    return tuple(found)


def _number(digits: str) -> int | None:
    return int(digits) if 0 < len(digits) <= _DIGITS else None


def place_in(written: str) -> ToChunk | ToPlace | None:
    """What a piece of text names, if it has the form of a chunk id or of a place with a source."""
    written = written.strip().strip("`").strip()
    if len(written) > _LONGEST:
        return None
    if _WHOLE_CHUNK.fullmatch(written):
        return ToChunk(written)
    if _URL.match(written) or has_place(written):
        return ToPlace(written) if re.search(r"[^\W\d]", written) else None
    return None


def named_in(written: str) -> ToChunk | ToPlace | None:
    """The same where it is certain that something is named: the beginning of a chunk id or a plain file name is enough."""
    found = place_in(written)
    if found is not None:
        return found
    written = written.strip().strip("`").strip()
    if _CHUNK.fullmatch(written):
        return ToChunk(written)
    return ToPlace(written) if len(written) <= _LONGEST and _FILE.match(written) else None


def markers_in(text: str, hidden: str) -> Iterator[Marker]:
    """Every mark of a text, in no order; `hidden` is the same text with its code and its links' targets hidden."""
    for match in _NUMBERS.finditer(hidden):
        yield Marker(Span(*match.span()), text[slice(*match.span())], numbers_in(match["numbers"] or match["other"]))
    for match in _NOTE.finditer(hidden):
        yield Marker(Span(*match.span()), text[slice(*match.span())], (ToNote(match["note"]),))
    for match in _BRACKETS.finditer(hidden):
        inside = text[slice(*match.span("square"))]
        targets = tuple(target for each in re.split(r"[,;]\s|\s+", inside) if (target := _in_brackets(each)))
        whole = _in_brackets(inside)
        if whole or targets:
            yield Marker(Span(*match.span()), text[slice(*match.span())], (whole,) if whole else targets)
        elif (named := named_in(inside)) is not None:
            yield Marker(Span(*match.span()), text[slice(*match.span())], (named,), loose=True)
    for pattern, group in ((_ROUND, "round"), (_CODE, "code"), (_ANGLE, "angle")):
        # Of code, what it holds is looked at: a chunk id stands in backticks.
        for match in pattern.finditer(text if group == "code" else hidden):
            target = named_in(text[slice(*match.span(group))])
            if target is not None:
                certain = isinstance(target, ToChunk) and len(target.beginning) == 32
                yield Marker(Span(*match.span()), text[slice(*match.span())], (target,), loose=not certain)


def _in_brackets(written: str) -> ToChunk | ToPlace | None:
    written = written.strip()
    if _CHUNK.fullmatch(written) and any(sign.isdigit() for sign in written):
        return ToChunk(written)
    return place_in(written)


def attribution_targets(line: str) -> list[tuple[Span, Target]]:
    """What the line below a quotation names, with offsets in the line: what is in backticks, else its beginning."""
    found: list[tuple[Span, Target]] = []
    for match in _CODE.finditer(line):
        target = named_in(match["code"])
        if target is not None:
            found.append((Span(*match.span()), target))
    if not found:
        leading = leading_target(line)
        if leading is not None:
            found.append((Span(len(line) - len(line.lstrip()), len(line.rstrip())), leading))
    return found


def leading_target(rest: str) -> ToChunk | ToPlace | None:
    """What an entry of a list begins with, if that names something."""
    match = _LEADING.match(rest.strip())
    if match is None or match.lastgroup is None:
        return None
    written = match[match.lastgroup]
    if match.lastgroup in ("angle", "link"):
        return ToPlace(written)
    return named_in(written.rstrip(",;") if match.lastgroup in ("word", "url") else written)

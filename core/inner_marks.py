"""Marks within a quotation: what is quoted are the letters around them."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve

from groundkit.core.markers import HIDDEN, Marker, markers_in
from groundkit.core.model import Span

_CODE = re.compile(r"(?<!`)(`+)(?!`)[^`\n]+\1(?!`)")
#: What stands between marks of one chain, and behind the last letters of a quotation.
_JOINING, _END = " ,;&\t", " \t\n.,;:!?*_)）。、，"


def apart_marks(text: str, hidden: str, found: Iterable[Marker]) -> list[Marker]:
    """Marks by place; of two that overlap, the one that begins first, of those the longer one. None within links and code."""
    kept: list[Marker] = []
    for mark in sorted(found, key=lambda mark: (mark.span.start, -mark.span.end, mark.loose)):
        end = kept[-1].span.end if kept else 0
        is_link = end < mark.span.start and text[mark.span.start - 1] == "]"
        if end <= mark.span.start and not is_link and not _in_fence(hidden, text, mark):
            kept.append(mark)
    return kept


def _in_fence(hidden: str, text: str, mark: Marker) -> bool:
    """Whether a mark in backticks stands in code of more than itself."""
    if not mark.text.startswith("`"):
        return False
    start, end = mark.span.start, mark.span.end
    before = start > 0 and hidden[start - 1] == HIDDEN
    return before or (end < len(text) and hidden[end] == HIDDEN)


def marks_of_line(text: str, start: int, end: int) -> list[Marker]:
    """The marks of one line of a block quotation, in which nothing is hidden yet."""
    line = text[start:end]
    hidden = _CODE.sub(lambda match: HIDDEN * len(match[0]), line)
    return [
        evolve(mark, span=Span(start + mark.span.start, start + mark.span.end))
        for mark in apart_marks(line, hidden, markers_in(line, hidden))
    ]


def marks_inside(text: str, start: int, end: int, marks: Sequence[Marker]) -> tuple[Marker, ...]:
    """Those of a quotation's marks, by place, that are no part of what it says: those in brackets, and others at its end."""
    kept: list[Marker] = []
    behind, at_end = end, True
    for mark in reversed([each for each in marks if start <= each.span.start and each.span.end <= end]):
        at_end = at_end and not text[mark.span.end : behind].strip(_END)
        behind = mark.span.start
        if at_end or not mark.loose:
            kept.append(mark)
    return tuple(reversed(kept))


def without_marks(text: str, start: int, end: int, marks: Sequence[Marker]) -> str:
    """A stretch of the text without these marks, the white space before them and what joins them."""
    first, behind = (bisect_left(marks, at, key=lambda mark: mark.span.start) for at in (start, end))
    return "".join(_between(text, start, end, [mark.span for mark in marks[first:behind]]))


def _between(text: str, start: int, end: int, spans: Sequence[Span]) -> Iterator[str]:
    at = start
    for number, span in enumerate(spans):
        before = text[at : span.start]
        if number == 0 or before.strip(_JOINING):
            yield before.rstrip(" \t")
        at = span.end
    yield text[at:end]

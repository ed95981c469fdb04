"""Checked spans, quoting, and the way from an offset to line and column."""

from bisect import bisect_right
from itertools import accumulate

from attrs import field, frozen

from groundkit.core.model import Span
from groundkit.core.result import Failure, Result, Success


@frozen
class SpanRefused:
    """Offsets that quote nothing, or not all they promise, in a text of `length` code points."""

    length: int
    start: int
    end: int


def checked_span(length: int, start: int, end: int) -> Result[Span, SpanRefused]:
    """The span, if a text of `length` code points has it whole and it holds at least one of them.

    An empty span is refused: every text says "nothing" everywhere, so a citation of it could never drift.
    """
    if 0 <= start < end <= length:
        return Success(Span(start, end))
    return Failure(SpanRefused(length, start, end))


def quote(text: str, span: Span) -> str:
    """The code points of the span, as they stand. The span was checked against this text's length."""
    return text[span.start : span.end]


def line_view(text: str) -> str:
    """The text with every line break shown as one LF at the break's last code point: offsets stay what they are.

    Line breaks are LF, CRLF and CR. NEL, LS, PS, FF and VT are characters within a line.
    """
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def _line_starts(text: str) -> list[int]:
    lines = line_view(text).split("\n")
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))


@frozen
class LineMap:
    """Line and column of offsets in one text. Built in linear time, each answer logarithmic."""

    starts: list[int] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "LineMap":
        return cls(_line_starts(text))

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column from 1, the column in code points.

        The LF of a CRLF is the last column of the line it ends; the offset behind a final line break is on a new line.
        """
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

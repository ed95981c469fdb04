"""Offsets of one text in four units, converted both ways exactly.

Code points count the text as Python does. UTF-8 bytes and UTF-16 units are those of its encoding; half a surrogate pair,
which no encoding has and an extractor may make, counts as its three bytes and its one unit all the same. Lines and
columns count from 1, columns in code points; lines end with LF, CRLF or CR, and the LF of a CRLF is the last column of the
line it ends. NEL, LS, PS, FF and VT are characters within a line.
"""

from bisect import bisect_left, bisect_right
from enum import Enum
from itertools import accumulate

from attrs import field, frozen

from groundkit.core.model import Span
from groundkit.core.result import Failure, Result, Success
from groundkit.core.spans import LineMap

#: Code points between two checkpoints: what an answer has to encode, at most.
BLOCK = 1024


class Unit(Enum):
    """What an offset counts."""

    CODE_POINTS = "code points"
    UTF8 = "UTF-8 bytes"
    UTF16 = "UTF-16 units"


class OffsetProblem(Enum):
    NEGATIVE = "negative"
    BEYOND_END = "beyond_end"
    INSIDE_CHARACTER = "inside_character"
    NO_SUCH_LINE = "no_such_line"
    NO_SUCH_COLUMN = "no_such_column"


@frozen
class OffsetRefused:
    """An offset between no two characters of a text that is `length` units long."""

    unit: Unit
    offset: int
    length: int
    problem: OffsetProblem


@frozen
class PlaceRefused:
    """A line and a column that a text does not have. `last` is its last line, or the last column of that line."""

    line: int
    column: int
    last: int
    problem: OffsetProblem


@frozen
class SpanUnits:
    """One span in every unit. `end_line` and `end_column` are where the first character behind it stands."""

    code_points: Span
    utf8: Span
    utf16: Span
    start_line: int
    start_column: int
    end_line: int
    end_column: int


@frozen
class _Scale:
    """The offsets of every block of a text in one encoding."""

    text: str = field(repr=False)
    unit: Unit
    marks: list[int] = field(repr=False)

    @classmethod
    def of(cls, text: str, unit: Unit) -> "_Scale":
        blocks = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))
        return cls(text, unit, list(accumulate((_size(block, unit) for block in blocks), initial=0)))

    @property
    def length(self) -> int:
        return self.marks[-1]

    def outward(self, offset: int) -> int:
        block = offset // BLOCK
        return self.marks[block] + _size(self.text[block * BLOCK : offset], self.unit)

    def inward(self, offset: int) -> Result[int, OffsetRefused]:
        if not 0 <= offset <= self.length:
            problem = OffsetProblem.NEGATIVE if offset < 0 else OffsetProblem.BEYOND_END
            return Failure(OffsetRefused(self.unit, offset, self.length, problem))
        begin = min((bisect_right(self.marks, offset) - 1) * BLOCK, len(self.text))
        # Not by decoding: two halves of a surrogate pair side by side are two code points here, and one to a decoder.
        found = bisect_left(range(begin, min(begin + BLOCK, len(self.text))), offset, key=self.outward) + begin
        if self.outward(found) != offset:
            return Failure(OffsetRefused(self.unit, offset, self.length, OffsetProblem.INSIDE_CHARACTER))
        return Success(found)


def _size(text: str, unit: Unit) -> int:
    if unit is Unit.UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@frozen
class OffsetMap:
    """The way from code points of one text to every other unit and back, built in linear time.

    Offsets that go in as code points are those of this text, from 0 to its length; IndexError for any other.
    """

    length: int
    _utf8: _Scale = field(repr=False)
    _utf16: _Scale = field(repr=False)
    _lines: LineMap = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "OffsetMap":
        return cls(len(text), _Scale.of(text, Unit.UTF8), _Scale.of(text, Unit.UTF16), LineMap.of(text))

    def to_utf8(self, offset: int) -> int:
        """Bytes of UTF-8 before a code point."""
        return self._utf8.outward(self._checked(offset))

    def to_utf16(self, offset: int) -> int:
        """Units of UTF-16 before a code point, without a byte order mark."""
        return self._utf16.outward(self._checked(offset))

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of a code point; behind a final line break is a line of its own."""
        return self._lines.line_column(self._checked(offset))

    def units(self, span: Span) -> SpanUnits:
        """One span of this text in every unit."""
        return SpanUnits(
            span,
            Span(self.to_utf8(span.start), self.to_utf8(span.end)),
            Span(self.to_utf16(span.start), self.to_utf16(span.end)),
            *self.line_column(span.start),
            *self.line_column(span.end),
        )

    def from_utf8(self, offset: int) -> Result[int, OffsetRefused]:
        """The code points before a byte of UTF-8, where a character begins there or the text ends."""
        return self._utf8.inward(offset)

    def from_utf16(self, offset: int) -> Result[int, OffsetRefused]:
        """The code points before a unit of UTF-16, where a character begins there or the text ends."""
        return self._utf16.inward(offset)

    def from_line_column(self, line: int, column: int) -> Result[int, PlaceRefused]:
        """The code points before a line and column. Behind a line break is column 1 of the next line and no other place."""
        starts = self._lines.starts
        if not 1 <= line <= len(starts):
            return Failure(PlaceRefused(line, column, len(starts), OffsetProblem.NO_SUCH_LINE))
        last = (starts[line] if line < len(starts) else self.length + 1) - starts[line - 1]
        if not 1 <= column <= last:
            return Failure(PlaceRefused(line, column, last, OffsetProblem.NO_SUCH_COLUMN))
        return Success(starts[line - 1] + column - 1)

    def _checked(self, offset: int) -> int:
        if not 0 <= offset <= self.length:
            raise IndexError(f"{offset} is no offset of a text of {self.length} code points")
        return offset

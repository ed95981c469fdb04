"""Laws of offsets in code points, UTF-8 bytes, UTF-16 units, lines and columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.model import Span
from groundkit.core.result import Failure, Success
from groundkit.core.units import BLOCK, OffsetMap, OffsetProblem, OffsetRefused, PlaceRefused, Unit
from groundkit.testing.strategies import hostile_texts, texts

#: With halves of surrogate pairs, alone and side by side, as an extractor may make them.
HALVES = st.text(st.sampled_from("a\u00e9\u4e2d\U0001f600\ud83d\ude00\r\n\x85\u2028\ufeff"), max_size=40)
SHORT = texts() | HALVES
#: Texts over the edges of several blocks.
LONG = st.tuples(hostile_texts() | HALVES, st.integers(BLOCK - 3, 3 * BLOCK), HALVES).map(
    lambda parts: parts[0] + ("\u00e9a" * BLOCK * 2)[: parts[1]] + parts[2]
)


def utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def utf16(text: str) -> int:
    # Character by character: two halves side by side stay two.
    return sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def by_reading(text: str) -> list[tuple[int, int]]:
    """Line and column of every offset, the end included."""
    places, line, column = [], 1, 1
    for at, char in enumerate(text):
        places.append((line, column))
        ends = char == "\n" or (char == "\r" and text[at + 1 : at + 2] != "\n")
        line, column = (line + 1, 1) if ends else (line, column + 1)
    return [*places, (line, column)]


@given(SHORT)
def test_every_offset_is_what_is_counted_before_it(text: str) -> None:
    known = OffsetMap.of(text)
    offsets = range(len(text) + 1)
    assert [known.to_utf8(at) for at in offsets] == [utf8(text[:at]) for at in offsets]
    assert [known.to_utf16(at) for at in offsets] == [utf16(text[:at]) for at in offsets]
    assert [known.line_column(at) for at in offsets] == by_reading(text)


@given(SHORT)
def test_every_offset_comes_back_from_every_unit(text: str) -> None:
    known = OffsetMap.of(text)
    for at in range(len(text) + 1):
        assert known.from_utf8(known.to_utf8(at)) == Success(at)
        assert known.from_utf16(known.to_utf16(at)) == Success(at)
        assert known.from_line_column(*known.line_column(at)) == Success(at)


@given(LONG, st.data())
def test_the_same_holds_over_the_edges_of_blocks(text: str, data: st.DataObject) -> None:
    known = OffsetMap.of(text)
    near = [at for edge in range(0, len(text) + BLOCK, BLOCK) for at in range(edge - 3, edge + 4)]
    somewhere = data.draw(st.lists(st.integers(0, len(text)), max_size=5))
    for at in [at for at in (*near, *somewhere, len(text)) if 0 <= at <= len(text)]:
        assert (known.to_utf8(at), known.to_utf16(at)) == (utf8(text[:at]), utf16(text[:at]))
        assert known.from_utf8(utf8(text[:at])) == Success(at)
        assert known.from_utf16(utf16(text[:at])) == Success(at)
        assert known.from_line_column(*known.line_column(at)) == Success(at)


@given(SHORT)
def test_an_offset_within_a_character_is_refused_as_such(text: str) -> None:
    known = OffsetMap.of(text)
    for unit, size, back in ((Unit.UTF8, utf8, known.from_utf8), (Unit.UTF16, utf16, known.from_utf16)):
        length = size(text)
        for offset in set(range(length)) - {size(text[:at]) for at in range(len(text))}:
            assert back(offset) == Failure(OffsetRefused(unit, offset, length, OffsetProblem.INSIDE_CHARACTER))


@given(SHORT, st.integers(1, 10**30))
def test_an_offset_outside_the_text_is_refused_as_such(text: str, by: int) -> None:
    known = OffsetMap.of(text)
    for unit, size, back in ((Unit.UTF8, utf8, known.from_utf8), (Unit.UTF16, utf16, known.from_utf16)):
        beyond, length = size(text) + by, size(text)
        assert back(beyond) == Failure(OffsetRefused(unit, beyond, length, OffsetProblem.BEYOND_END))
        assert back(-by) == Failure(OffsetRefused(unit, -by, length, OffsetProblem.NEGATIVE))


@given(SHORT)
def test_lines_and_columns_that_no_offset_has_are_refused(text: str) -> None:
    known, places = OffsetMap.of(text), by_reading(text)
    lines = places[-1][0]
    widths = {line: max(column for at, column in places if at == line) for line in range(1, lines + 1)}
    for line in (-1, 0, lines + 1, 10**30):
        assert known.from_line_column(line, 1) == Failure(PlaceRefused(line, 1, lines, OffsetProblem.NO_SUCH_LINE))
    for line, last in widths.items():
        for column in (-1, 0, last + 1, 10**30):
            refused = PlaceRefused(line, column, last, OffsetProblem.NO_SUCH_COLUMN)
            assert known.from_line_column(line, column) == Failure(refused)


@given(SHORT, st.data())
def test_a_span_quotes_the_same_in_every_unit(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    units = OffsetMap.of(text).units(Span(start, end))
    quoted = text[start:end]
    in_bytes = text.encode("utf-8", "surrogatepass")[units.utf8.start : units.utf8.end]
    in_units = b"".join(char.encode("utf-16-le", "surrogatepass") for char in text)
    assert units.code_points == Span(start, end)
    assert in_bytes == quoted.encode("utf-8", "surrogatepass")
    assert in_units[2 * units.utf16.start : 2 * units.utf16.end] == quoted.encode("utf-16-le", "surrogatepass")
    assert (units.start_line, units.start_column) == by_reading(text)[start]
    assert (units.end_line, units.end_column) == by_reading(text)[end]


@given(SHORT, st.integers(1, 10**6))
def test_an_offset_that_is_none_of_the_text_is_an_error_and_not_a_number(text: str, by: int) -> None:
    known = OffsetMap.of(text)
    for ask in (known.to_utf8, known.to_utf16, known.line_column):
        for offset in (-by, len(text) + by):
            with pytest.raises(IndexError):
                ask(offset)

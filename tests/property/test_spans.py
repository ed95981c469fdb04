"""Laws of spans, line views and line maps."""

from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.model import Span
from groundkit.core.result import Failure, Success
from groundkit.core.spans import LineMap, SpanRefused, checked_span, line_view, quote
from groundkit.testing.strategies import hostile_texts, texts


@given(st.text(max_size=8), st.integers(-4, 12), st.integers(-4, 12))
def test_a_span_is_accepted_exactly_when_it_can_be_quoted(text: str, start: int, end: int) -> None:
    wanted = range(start, end)
    quotable = len(wanted) > 0 and all(0 <= at < len(text) for at in wanted)
    answer = checked_span(len(text), start, end)
    assert answer == (Success(Span(start, end)) if quotable else Failure(SpanRefused(len(text), start, end)))


@given(st.data(), hostile_texts().filter(bool))
def test_a_quote_is_the_code_points_between_the_offsets(data: st.DataObject, text: str) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert list(quote(text, Span(start, end))) == [text[at] for at in range(start, end)]


@given(texts())
def test_a_line_view_keeps_every_offset_and_knows_one_line_break(text: str) -> None:
    view = line_view(text)
    assert len(view) == len(text)
    assert "\r" not in view
    assert all(shown == char for shown, char in zip(view, text, strict=True) if char != "\r")


def _by_reading(text: str) -> list[tuple[int, int]]:
    """Line and column of every offset, the end included."""
    places, line, column = [], 1, 1
    for at, char in enumerate(text):
        places.append((line, column))
        ends = char == "\n" or (char == "\r" and text[at + 1 : at + 2] != "\n")
        line, column = (line + 1, 1) if ends else (line, column + 1)
    return [*places, (line, column)]


@given(texts())
def test_line_and_column_are_those_a_reader_counts(text: str) -> None:
    lines = LineMap.of(text)
    assert [lines.line_column(at) for at in range(len(text) + 1)] == _by_reading(text)

"""Laws of what fits: as long as can be, never longer, whole clusters, and the pieces make the text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.boundaries import Boundaries
from groundkit.core.cursors import Cursor, cursor_of, digest
from groundkit.core.fitting import brief, fitting, json_length, plain
from groundkit.core.result import Failure, Success

TEXTS = st.text(max_size=300) | st.text(alphabet='"\\\n\r\t\x00\x07\x1b\u0301\u200d👩🇩🇪é가a', max_size=200)


@given(TEXTS)
def test_the_length_is_that_of_the_json_text(text: str) -> None:
    assert json_length(text) == len(json.dumps(text, ensure_ascii=False)) - 2


@given(TEXTS, st.integers(0, 400), st.integers(0, 600), st.integers(0, 30))
def test_what_is_given_fits_or_is_the_least_there_may_be(text: str, start: int, room: int, least: int) -> None:
    start = min(start, len(text))
    end = fitting(text, start, room, least)
    floor = min(len(text), start + least)
    assert floor <= end <= len(text)
    assert json_length(text[start:end]) <= room or end == floor


@given(TEXTS, st.integers(0, 600))
def test_nothing_that_fits_is_left_out(text: str, room: int) -> None:
    end = fitting(text, 0, room, 0)
    if end == len(text):
        return
    later = next((at for at in range(end + 1, len(text) + 1) if Boundaries(text).may_cut(at)), len(text))
    assert json_length(text[:later]) > room


@given(TEXTS, st.integers(1, 80), st.integers(1, 20))
def test_pieces_make_the_text_in_finitely_many_steps(text: str, room: int, least: int) -> None:
    pieces, at = [], 0
    while at < len(text):
        end = fitting(text, at, room, least)
        assert end > at
        pieces.append(text[at:end])
        at = end
    assert "".join(pieces) == text


@given(st.text(max_size=40), st.integers(1, 20))
def test_what_is_for_display_is_short(text: str, most: int) -> None:
    shown = brief(text, most)
    assert len(shown) <= most and (shown == text or (shown.endswith("…") and len(text) > most))


@given(
    st.text(
        alphabet=st.characters(categories=("Cs", "L", "So", "Mn")) | st.sampled_from("\ud800\udc00a😀"), max_size=30
    )
)
def test_what_is_plain_is_utf8_and_the_same_where_it_can_be(text: str) -> None:
    told = plain(text)
    told.encode()
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert told == paired
    if not any(0xD800 <= ord(char) < 0xE000 for char in text):
        assert told == text


@given(st.integers(0, 9_999_999_999), st.integers(0, 9_999_999_999), st.text(max_size=20))
def test_a_cursor_comes_back_for_its_own_request_only(item: int, at: int, asked: str) -> None:
    request = digest((asked,))
    cursor = Cursor(request, digest((1, "a")), item, at)
    assert cursor_of(str(cursor), request) == Success(cursor)
    assert isinstance(cursor_of(str(cursor), digest((asked, "other"))), Failure)


@given(st.text(max_size=60))
def test_no_text_raises_as_a_cursor(text: str) -> None:
    taken = cursor_of(text, "0" * 12)
    assert isinstance(taken, Failure) or str(taken.unwrap()) == text

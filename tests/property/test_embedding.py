"""Laws of vectors on the grid, and of what an embedder is given to read."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.embedding import GRID, MOST_DIMENSIONS, VectorRefused, components, cosine, on_grid
from groundkit.core.embedding_text import embedding_text
from groundkit.core.result import Failure, Success
from groundkit.testing.strategies import texts

_numbers = st.floats(allow_nan=False, allow_infinity=False)
_tame = st.floats(-1e3, 1e3).filter(lambda value: value == 0.0 or abs(value) > 1e-3)


def vectors(numbers: st.SearchStrategy[float], size: int | None = None) -> st.SearchStrategy[list[float]]:
    lists = st.lists(numbers, min_size=size or 1, max_size=size or 40)
    return lists.filter(any)


def grid(values: list[float]) -> bytes:
    return on_grid(values, len(values)).unwrap()


@given(vectors(_numbers))
def test_every_finite_vector_with_a_direction_has_a_place(values: list[float]) -> None:
    vector = grid(values)
    assert len(vector) == 2 * len(values)
    length = math.hypot(*components(vector))
    assert abs(length - GRID) <= math.sqrt(len(values)) / 2


@given(vectors(_numbers))
def test_dot_products_are_whole_numbers_that_float32_holds(values: list[float]) -> None:
    assert sum(each * each for each in components(grid(values))) < 2**24


def test_the_longest_vector_stays_below_the_bound_too() -> None:
    # The worst case of rounding: every component rounds up.
    bound = GRID + math.sqrt(MOST_DIMENSIONS) / 2
    assert bound**2 < 2**24


@given(vectors(_tame), st.integers(-20, 20))
def test_only_the_direction_counts(values: list[float], exponent: int) -> None:
    assert grid(values) == grid([value * 2.0**exponent for value in values])


@given(vectors(_tame))
def test_the_grid_is_near_the_direction(values: list[float]) -> None:
    length = math.hypot(*values)
    for value, component in zip(values, components(grid(values)), strict=True):
        assert abs(value / length * GRID - component) <= 0.5 + 1e-6


@given(vectors(_tame))
def test_the_opposite_is_the_opposite(values: list[float]) -> None:
    one, other = grid(values), grid([-value for value in values])
    assert components(other) == tuple(-each for each in components(one))
    assert cosine(one, one) == 1.0 and cosine(one, other) == -1.0


@given(st.integers(1, 30).flatmap(lambda size: st.tuples(vectors(_tame, size), vectors(_tame, size))))
def test_cosines_are_bounded_symmetric_and_near_the_true_ones(pair: tuple[list[float], list[float]]) -> None:
    one, other = pair
    found = cosine(grid(one), grid(other))
    assert found == cosine(grid(other), grid(one)) and -1.0 <= found <= 1.0
    true = math.fsum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))
    assert abs(found - true) < 2 * math.sqrt(len(one)) / GRID


@given(vectors(_numbers), st.integers(1, 60))
def test_another_number_of_components_is_refused(values: list[float], dimensions: int) -> None:
    assume(len(values) != dimensions)
    refused = on_grid(values, dimensions)
    assert isinstance(refused, Failure) and str(dimensions) in refused.failure().detail


@given(st.lists(_numbers, min_size=1, max_size=20), st.data(), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_one_component_that_is_no_number_is_refused(values: list[float], data: st.DataObject, wrong: float) -> None:
    values[data.draw(st.integers(0, len(values) - 1))] = wrong
    assert isinstance(on_grid(values, len(values)).failure(), VectorRefused)


@pytest.mark.parametrize("size", [0, 1, 256])
def test_no_direction_is_refused(size: int) -> None:
    assert isinstance(on_grid([0.0] * size, size), Failure)
    assert isinstance(on_grid([-0.0] * size, size), Failure)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1.7e308])
def test_very_small_and_very_large_numbers_have_directions(tiny: float) -> None:
    assert isinstance(on_grid([tiny, -tiny], 2), Success)
    assert grid([tiny, tiny]) == grid([1.0, 1.0])


@given(st.lists(texts(), max_size=3), texts(), texts())
def test_what_is_read_ends_with_the_text_and_is_blank_only_with_it(path: list[str], title: str, text: str) -> None:
    read = embedding_text(path, title, text)
    if not text.strip():
        assert read == ""
        return
    assert read.endswith(text)
    for above in (*path, title):
        assert above in read or not above.strip()


@given(st.lists(texts(), min_size=1, max_size=3), texts().filter(str.strip))
def test_a_title_that_is_a_heading_is_read_once(path: list[str], text: str) -> None:
    assert embedding_text(path, path[0], text) == embedding_text(path, "", text)

"""Laws of reciprocal rank fusion."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.fusion import DEPTH, LEAST_WEIGHT, MOST_WEIGHT, SMOOTHING, fused, meaning_weight

RANKINGS = st.lists(st.integers(0, 40), unique=True, max_size=20)
WEIGHTS = st.floats(0.01, 2)
WEIGHTED = st.lists(st.tuples(RANKINGS, WEIGHTS), max_size=5)
SHARES = st.floats(0, 1)


@given(WEIGHTED)
def test_a_score_is_the_sum_of_weights_over_60_and_rank(lists: list[tuple[list[int], float]]) -> None:
    scores = fused(lists)
    assert set(scores) == {item for items, _ in lists for item in items}
    for item, score in scores.items():
        exact = sum(Fraction(weight) / (SMOOTHING + items.index(item) + 1) for items, weight in lists if item in items)
        assert abs(Fraction(score) - exact) <= Fraction(1, 10**9)


@given(WEIGHTED.flatmap(lambda lists: st.tuples(st.just(lists), st.permutations(lists))))
def test_the_order_of_the_lists_changes_nothing(
    both: tuple[list[tuple[list[int], float]], list[tuple[list[int], float]]],
) -> None:
    assert fused(both[0]) == fused(both[1])


@given(st.lists(RANKINGS, min_size=1, max_size=5), st.data())
def test_lists_of_one_weight_can_change_places(lists: list[list[int]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(lists))
    assert fused([(each, 1.0) for each in lists]) == fused([(each, 1.0) for each in order])


@given(WEIGHTED, RANKINGS.filter(lambda items: len(items) > 1), WEIGHTS, st.data())
def test_an_item_that_moves_up_in_a_list_gains_and_the_one_it_passes_loses(
    others: list[tuple[list[int], float]], items: list[int], weight: float, data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(items) - 1))
    moved = [*items[: place - 1], items[place], items[place - 1], *items[place + 1 :]]
    before, after = fused([*others, (items, weight)]), fused([*others, (moved, weight)])
    assert after[items[place]] > before[items[place]]
    assert after[items[place - 1]] < before[items[place - 1]]
    rest = set(before) - {items[place], items[place - 1]}
    assert {each: before[each] for each in rest} == {each: after[each] for each in rest}


@given(WEIGHTED, RANKINGS, WEIGHTS)
def test_one_more_list_takes_from_no_item(
    lists: list[tuple[list[int], float]], items: list[int], weight: float
) -> None:
    before, after = fused(lists), fused([*lists, (items, weight)])
    assert all(after[item] >= score for item, score in before.items())
    assert all(after[item] > before.get(item, 0.0) for item in items)


@given(st.lists(st.integers(), unique=True, max_size=2 * DEPTH), WEIGHTS)
def test_one_list_keeps_its_order(items: list[int], weight: float) -> None:
    scores = fused([(items, weight)])
    assert sorted(scores, key=lambda item: -scores[item]) == items[:DEPTH]
    assert len(set(scores.values())) == len(scores)


@given(st.integers(DEPTH, DEPTH + 50), st.integers(DEPTH, DEPTH + 50), WEIGHTS)
def test_what_lies_below_the_depth_changes_nothing(one: int, other: int, weight: float) -> None:
    words, near = list(range(one)), list(range(0, 3 * other, 3))
    assert fused([(words, 1.0), (near, weight)]) == fused([(words[:DEPTH], 1.0), (near[:DEPTH], weight)])


@given(SHARES, SHARES)
def test_the_more_support_words_have_the_less_meaning_weighs(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert MOST_WEIGHT >= meaning_weight(low) >= meaning_weight(high) >= LEAST_WEIGHT


def test_without_support_meaning_weighs_most_and_with_all_of_it_least() -> None:
    assert (meaning_weight(0.0), meaning_weight(0.5), meaning_weight(1.0)) == (MOST_WEIGHT, 0.15, LEAST_WEIGHT)


@given(st.integers(1, DEPTH), st.integers(1, DEPTH))
def test_with_full_support_what_only_meaning_found_comes_behind(words: int, near: int) -> None:
    scores = fused([(range(words), 1.0), (range(1000, 1000 + near), meaning_weight(1.0))])
    assert sorted(scores, key=lambda item: -scores[item]) == [*range(words), *range(1000, 1000 + near)]

"""Laws of the metrics, and the same figures as trec_eval's own code."""

import math
from itertools import permutations

import pytest
import pytrec_eval
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.metrics import DEPTH, METRICS, average_precision, mean, ndcg, percentile, recall, scores

IDS = [f"d{number:02d}" for number in range(30)]
RANKINGS = st.lists(st.sampled_from(IDS), unique=True, max_size=30)
GAINS = st.dictionaries(st.sampled_from(IDS), st.integers(-1, 4), max_size=12)
NAMES = st.sampled_from(sorted(METRICS))

#: Ours by theirs.
PEERS = {
    "recall@1": "recall_1",
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "ndcg@10": "ndcg_cut_10",
    "map": "map_cut_100",
}


def relevant(gains: dict[str, int]) -> set[str]:
    return {each for each, gain in gains.items() if gain > 0}


@given(st.lists(st.sampled_from(IDS), max_size=60), GAINS, NAMES)
def test_a_metric_lies_between_0_and_1_and_is_none_exactly_where_nothing_is_relevant(
    ranking: list[str], gains: dict[str, int], name: str
) -> None:
    value = METRICS[name](ranking, gains)
    assert (value is None) == (not relevant(gains))
    assert value is None or 0 <= value <= 1
    assert (scores(ranking, gains) is None) == (not relevant(gains))


@given(RANKINGS, GAINS)
def test_the_figures_are_those_of_trec_eval(ranking: list[str], gains: dict[str, int]) -> None:
    assume(relevant(gains))
    run = {"q": {each: float(len(ranking) - place) for place, each in enumerate(ranking)}}
    # trec_eval has no place for a query that found nothing.
    assume(ranking)
    measures = {"recall.1,5,10,100", "ndcg_cut.10", "map_cut.100", "recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator({"q": gains}, measures).evaluate(run)["q"]
    ours = scores(ranking, gains)
    assert ours is not None
    for name, peer in PEERS.items():
        assert ours[name] == pytest.approx(theirs[peer], abs=1e-12), name
    # Their reciprocal rank has no cut; below the tenth place ours is 0.
    assert ours["mrr@10"] == pytest.approx(theirs["recip_rank"] if theirs["recip_rank"] > 0.0999 else 0, abs=1e-12)


#: A judged ranking that holds everything that is judged, and more.
JUDGED = st.dictionaries(st.sampled_from(IDS), st.integers(0, 4), min_size=4, max_size=20)


@given(JUDGED, st.data())
def test_what_is_more_relevant_moving_up_lowers_nothing(gains: dict[str, int], data: st.DataObject) -> None:
    assume(len(set(gains.values())) > 1)
    ranking = data.draw(st.permutations(sorted(gains)))
    wrong = [
        (upper, lower)
        for lower in range(len(ranking))
        for upper in range(lower)
        if gains[ranking[upper]] < gains[ranking[lower]]
    ]
    assume(wrong)
    upper, lower = data.draw(st.sampled_from(wrong))
    swapped = list(ranking)
    swapped[upper], swapped[lower] = ranking[lower], ranking[upper]
    before, after = scores(ranking, gains), scores(swapped, gains)
    assert before is not None
    assert after is not None
    assert all(after[name] >= before[name] - 1e-12 for name in METRICS)
    if lower < 10:
        assert after["ndcg@10"] > before["ndcg@10"]


@given(GAINS, st.lists(st.sampled_from(["x1", "x2", "x3"]), unique=True))
def test_the_best_order_is_1(gains: dict[str, int], others: list[str]) -> None:
    assume(relevant(gains))
    best = sorted(relevant(gains), key=lambda each: -gains[each]) + others
    found = scores(best, gains)
    assert found is not None
    assert found["ndcg@10"] == found["mrr@10"] == found["map"] == found["recall@100"] == 1


def test_every_order_but_the_best_is_below_1() -> None:
    gains = {"a": 3, "b": 2, "c": 1}
    assert {order for order in permutations("abc") if ndcg(order, gains, 10) == 1} == {("a", "b", "c")}


@given(RANKINGS, GAINS, NAMES, st.integers(1, 20))
def test_irrelevant_ones_at_the_end_change_nothing(
    ranking: list[str], gains: dict[str, int], name: str, more: int
) -> None:
    longer = [*ranking, *(f"x{number}" for number in range(more))]
    assert METRICS[name](longer, gains) == METRICS[name](ranking, gains)


@given(st.lists(st.sampled_from(IDS), max_size=60), GAINS, NAMES)
def test_an_id_counts_at_its_first_place_only(ranking: list[str], gains: dict[str, int], name: str) -> None:
    assert METRICS[name](ranking, gains) == METRICS[name](list(dict.fromkeys(ranking)), gains)


@given(RANKINGS, GAINS, st.integers(1, 30))
def test_recall_never_falls_with_depth(ranking: list[str], gains: dict[str, int], k: int) -> None:
    assume(relevant(gains))
    shallow, deep = recall(ranking, gains, k), recall(ranking, gains, k + 1)
    assert shallow is not None
    assert deep is not None
    assert shallow <= deep


def test_the_gain_is_linear_and_the_discount_begins_at_the_second_place() -> None:
    found = ndcg(["none", "grade two", "grade one"], {"grade one": 1, "grade two": 2}, 10)
    assert found == pytest.approx((2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3)))


def test_average_precision_counts_what_was_not_found() -> None:
    assert average_precision(["a", "x", "b"], {"a": 1, "b": 1, "never": 1}, DEPTH) == pytest.approx((1 + 2 / 3) / 3)
    assert average_precision(["x"] * 3 + ["a"], {"a": 1}, 1) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_a_mean_and_a_percentile_know_no_order(values: list[float], random: object) -> None:
    other = list(values)
    random.shuffle(other)  # type: ignore[attr-defined]
    assert mean(values) == mean(other)
    assert percentile(values, 0.95) == percentile(other, 0.95)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0, 1))
def test_a_percentile_is_the_least_measured_value_that_so_many_do_not_exceed(values: list[float], part: float) -> None:
    found = percentile(values, part)
    assert found in values
    assert sum(each <= found for each in values) >= part * len(values)
    less = [each for each in values if each < found]
    assert len(less) < max(1, part * len(values)) or math.isclose(len(less), part * len(values))

"""Laws of reranked orders."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.reranking import MOST_RERANKED, RerankFailed, RerankProblem, judged, order_of, reranked, sigmoid
from groundkit.core.result import Failure, Result, Success
from groundkit.testing.word_reranker import WordReranker

finite = st.floats(allow_nan=False, allow_infinity=False)
keys = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 200)), unique=True, max_size=70)


class Saying(WordReranker):
    """Says what it was told to."""

    def __init__(self, said: Result[tuple[float, ...], RerankFailed]) -> None:
        self.said = said
        self.asked = 0

    def scores(self, query: str, texts: Sequence[str]) -> Result[tuple[float, ...], RerankFailed]:
        self.asked += 1
        return self.said


@given(finite, finite)
def test_a_sigmoid_is_between_0_and_1_and_never_turns_an_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= sigmoid(low) <= sigmoid(high) <= 1


@given(st.data(), keys)
def test_an_order_is_a_permutation_by_score_then_key(data: st.DataObject, places: list[tuple[str, int]]) -> None:
    count = data.draw(st.integers(0, len(places)))
    scores = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=count, max_size=count))
    order = order_of(scores, places)
    assert sorted(order) == list(range(len(places)))
    told = [(-scores[place], places[place]) for place in order[:count]]
    assert told == sorted(told)
    assert list(order[count:]) == list(range(count, len(places)))


@given(st.randoms(use_true_random=False), keys)
def test_an_order_of_what_is_read_does_not_depend_on_the_order_it_came_in(random, places) -> None:  # type: ignore[no-untyped-def]
    scores = {key: len(str(key)) / 10 for key in places}
    mixed = random.sample(places, len(places))
    one, other = ([of[n] for n in order_of([scores[key] for key in of], of)] for of in (places, mixed))
    assert one == other


@given(keys, st.integers(0, 80))
def test_nothing_is_dropped_or_added_and_only_the_first_are_read(places: list[tuple[str, int]], most: int) -> None:
    texts = [f"{source} {start}" for source, start in places]
    order = reranked("a 7", texts, places, WordReranker(), most).unwrap()
    assert sorted(place for place, _ in order) == list(range(len(places)))
    assert all((score is None) == (place >= most) for place, score in order)


def test_a_passage_with_the_words_asked_for_comes_first() -> None:
    texts = ["bread and salt", "the tide rises", "the tide rises twice a day"]
    order = reranked("tide twice", texts, [("a", n) for n in range(3)], WordReranker()).unwrap()
    assert [place for place, _ in order] == [2, 1, 0]
    assert MOST_RERANKED == 50


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused(bad: float) -> None:
    said = reranked("q", ["a", "b"], [("a", 0), ("b", 0)], Saying(Success((1.0, bad))))
    assert isinstance(said, Failure)
    assert said.failure().problem is RerankProblem.ANSWER


@given(st.lists(finite, max_size=5), st.integers(0, 5))
def test_another_number_of_scores_is_refused(scores: list[float], count: int) -> None:
    assert isinstance(judged(scores, count), Success) == (len(scores) == count)


def test_a_failure_of_the_model_is_told_as_it_is_and_nothing_is_asked_about_nothing() -> None:
    failing = Saying(Failure(RerankFailed(RerankProblem.UNREACHABLE, "gone")))
    assert reranked("q", ["a"], [("a", 0)], failing) == failing.said
    assert reranked("q", [], [], failing) == Success(())
    assert failing.asked == 1

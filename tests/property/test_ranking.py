"""Laws of the exact order, over an engine that is as wrong as a real one: stale statistics, rounded lengths, float32."""

import math
import struct
from collections import Counter
from collections.abc import Callable

from attrs import evolve, field, frozen
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.ranking import (
    Answer,
    Candidates,
    CountedRows,
    First,
    Need,
    NeedCandidates,
    NeedFirst,
    NeedOccurrences,
    NeedSizes,
    Occurrences,
    Sizes,
    Steps,
    TermFacts,
    Weights,
    exact_order,
    inverse_document_frequency,
    weights_of,
)
from groundkit.core.storage import Statistics

Text = tuple[str, ...]
texts = st.lists(st.sampled_from("aaabbcd"), min_size=1, max_size=12).map(tuple)
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 60))
corpora = st.lists(st.one_of(texts, long_texts), min_size=1, max_size=60)


def float32(number: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def rounded_down(length: int) -> int:
    """As a byte would hold it: exact up to 40, then about an eighth lost at most."""
    step = 1 << max(0, length.bit_length() - 5)
    return length if length < 40 else length - length % step


@frozen
class Engine:
    """Live and dead texts. It scores with the statistics of both."""

    live: tuple[Text, ...]
    dead: tuple[Text, ...]
    _known: dict[str, TermFacts] = field(factory=dict, init=False, eq=False)

    @property
    def statistics(self) -> Statistics:
        return Statistics(len(self.live), sum(map(len, self.live)), max(map(len, self.live)))

    def facts(self, term: str) -> TermFacts:
        if term not in self._known:
            self._known[term] = self._facts(term)
        return self._known[term]

    def _facts(self, term: str) -> TermFacts:
        everything = self.live + self.dead
        holding = sum(term in text for text in everything)
        idf = float32(math.log(1 + (len(everything) - holding + 0.5) / (holding + 0.5)))
        mean = float32(sum(map(rounded_down, map(len, everything))) / len(everything))
        return TermFacts(sum(term in text for text in self.live), idf, mean)

    def weights(self, terms: str) -> Weights:
        return weights_of({term: self.facts(term) for term in terms}, self.statistics)

    def native(self, terms: str, text: Text) -> float:
        total = 0.0
        for term in terms:
            facts, count = self.facts(term), text.count(term)
            damping = 1.2 * (0.25 + 0.75 * rounded_down(len(text)) / facts.native_mean)
            total = float32(total + float32(facts.native_idf * 2.2 * count / (count + damping)))
        return total

    def candidates(self, terms: str, limit: int) -> Candidates:
        hits = [(row, self.native(terms, text)) for row, text in enumerate(self.live) if set(terms) & set(text)]
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return Candidates(tuple(hits[:limit]), len(hits))

    def answer(self, terms: str, need: Need) -> Answer:
        match need:
            case NeedCandidates(limit):
                return self.candidates(terms, limit)
            case NeedOccurrences(rows):
                return CountedRows({row: Occurrences(len(self.live[row]), Counter(self.live[row])) for row in rows})
            case NeedSizes(rows):
                return Sizes({row: len(self.live[row]) for row in rows})
            case NeedFirst(rows, limit):
                return First(tuple(sorted(rows)[:limit]))

    def exact(self, terms: str, text: Text) -> float:
        """The formula as ADR 0007 has it, with nothing of the code under test."""
        mean = sum(map(len, self.live)) / len(self.live)
        total = 0.0
        for term in sorted(set(terms)):
            live, count = sum(term in each for each in self.live), text.count(term)
            idf = math.log(1 + (len(self.live) - live + 0.5) / (live + 0.5))
            total += idf * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * len(text) / mean))
        return total

    def order(self, terms: str, limit: int) -> list[tuple[int, float]]:
        scored = [
            (row, round(self.exact(terms, text), 9)) for row, text in enumerate(self.live) if set(terms) & set(text)
        ]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:limit]


engines = st.builds(Engine, corpora.map(tuple), st.lists(long_texts, max_size=120).map(tuple))
questions = st.sampled_from(["a", "b", "d", "ab", "cd", "abcd", "xy", "ax"])


def run(steps: Steps, answer: Callable[[Need], Answer]) -> list[tuple[int, float]]:
    given_answer = None
    while True:
        try:
            given_answer = answer(steps.send(given_answer))  # type: ignore[arg-type]
        except StopIteration as finished:
            return sorted(finished.value, key=lambda hit: (-hit[1], hit[0]))


def ranked(engine: Engine, terms: str, limit: int) -> list[tuple[int, float]]:
    return run(exact_order(engine.weights(terms), limit), lambda need: engine.answer(terms, need))


@given(engines, questions, st.integers(0, 70))
def test_the_order_is_that_of_scoring_everything(engine: Engine, terms: str, limit: int) -> None:
    ours, exact = ranked(engine, terms, limit), engine.order(terms, limit)
    assert [score for _, score in ours] == [score for _, score in exact]
    assert [row for row, _ in ours] == [row for row, _ in exact]


@given(engines, questions)
def test_no_live_score_exceeds_its_native_score_s_bound(engine: Engine, terms: str) -> None:
    weights = engine.weights(terms)
    for row, native in engine.candidates(terms, 1000).rows:
        assert engine.exact(terms, engine.live[row]) <= weights.bound(native) + 1e-9


@given(engines, questions, st.floats(0, 50), st.floats(0, 50))
def test_the_bound_grows_with_the_native_score(engine: Engine, terms: str, one: float, other: float) -> None:
    weights = engine.weights(terms)
    assert weights.bound(min(one, other)) <= weights.bound(max(one, other))


@given(engines, questions, st.integers(1, 30))
def test_what_died_does_not_change_the_order(engine: Engine, terms: str, limit: int) -> None:
    assert ranked(engine, terms, limit) == ranked(evolve(engine, dead=()), terms, limit)


@given(corpora.map(tuple), questions, st.integers(1, 30))
def test_fewer_results_are_the_beginning_of_more(live: tuple[Text, ...], terms: str, limit: int) -> None:
    engine = Engine(live, ())
    assert ranked(engine, terms, limit) == ranked(engine, terms, limit + 13)[:limit]


def stale(alive: int, dead_with_both: int) -> Engine:
    """`a` was everywhere and is in one text now, so the engine thinks less of it than of `b`, in `alive` texts."""
    live = (*((("b",) * 3 + ("c",) * 9),) * alive, ("a",) + ("c",) * 11, *((("c",) * 12),) * 500)
    return Engine(live, (("a",) * 40,) * 1000 + (("a", "b") * 20,) * dead_with_both)


def trusting(weights: Weights) -> Weights:
    """A bound that takes the engine's statistics for the live ones: r = 1 for every term."""
    return evolve(weights, terms=tuple(evolve(each, ratio=1.0) for each in weights.terms))


def test_a_bound_that_trusts_the_engine_s_statistics_gives_a_wrong_order() -> None:
    engine = stale(30, 1000)
    exact = engine.order("ab", 10)
    assert ranked(engine, "ab", 10) == exact
    mutant = exact_order(trusting(engine.weights("ab")), 10)
    assert run(mutant, lambda need: engine.answer("ab", need)) != exact


def test_a_fixed_hundred_candidates_give_a_wrong_order() -> None:
    engine = stale(300, 0)
    rows = engine.candidates("ab", 100).rows
    scored = [(row, round(engine.exact("ab", engine.live[row]), 9)) for row, _ in rows]
    assert sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:10] != engine.order("ab", 10)
    assert ranked(engine, "ab", 10) == engine.order("ab", 10)


def test_a_term_the_engine_gives_no_score_is_unbounded_below() -> None:
    weights = weights_of({"a": TermFacts(5, 0.0, 3.0)}, Statistics(10, 30, 3))
    assert weights.bound(0.0) >= weights.score(Occurrences(1, {"a": 1000}))


def test_a_tie_of_one_term_is_read_once_and_cut_by_source_and_start() -> None:
    engine = Engine((("a", "b"),) * 2000, ())
    needs: list[Need] = []

    def answer(need: Need) -> Answer:
        needs.append(need)
        return engine.answer("a", need)

    assert [row for row, _ in run(exact_order(engine.weights("a"), 10), answer)] == list(range(10))
    assert sum(len(need.rows) for need in needs if isinstance(need, NeedOccurrences)) <= 17
    assert isinstance(needs[-1], NeedFirst)


def test_few_chunks_are_read_when_the_engine_is_right() -> None:
    engine = Engine(tuple(("a",) * (1 + row % 7) + ("b",) * (1 + row) for row in range(500)), ())
    needs: list[Need] = []

    def answer(need: Need) -> Answer:
        needs.append(need)
        return engine.answer("ab", need)

    assert run(exact_order(engine.weights("ab"), 10), answer) == engine.order("ab", 10)
    assert sum(len(need.rows) for need in needs if isinstance(need, NeedOccurrences)) < 100


def test_scores_are_rounded_to_nine_decimals() -> None:
    weights = weights_of({"a": TermFacts(1, 1.0, 3.0)}, Statistics(7, 21, 5))
    score = weights.score(Occurrences(3, {"a": 1}))
    assert score == round(score, 9) == round(math.log(1 + 6.5 / 1.5), 9)


@given(engines, questions)
def test_the_parts_of_a_score_add_up_to_it(engine: Engine, terms: str) -> None:
    weights = engine.weights(terms)
    for text in engine.live:
        parts = weights.parts(Occurrences(len(text), Counter(text)))
        assert round(sum(score for _, _, _, score in parts), 9) == weights.score(Occurrences(len(text), Counter(text)))
        assert [(term, count) for term, _, count, _ in parts] == [
            (term, text.count(term)) for term in sorted(set(terms)) if term in text
        ]
        assert all(
            idf == inverse_document_frequency(len(engine.live), engine.facts(term).live) for term, idf, _, _ in parts
        )

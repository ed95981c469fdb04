"""BM25 from exact live statistics, and the bound that says when no unseen candidate can enter. ADR 0007.

The engine's own scores count deleted documents, round lengths down and work in float32; they only propose.
"""

import heapq
import math
from collections.abc import Generator, Iterable, Mapping
from typing import TypeAlias, TypeVar

from attrs import field, frozen

from groundkit.core.storage import Statistics

#: BM25 with k1 = 1.2 and b = 0.75, as k1 + 1, k1·(1 − b), k1·b. The engine has the same constants.
_NUMERATOR, _FIXED, _BY_LENGTH = 2.2, 0.3, 0.9
#: Scores equal in so many decimals are equal, whatever the mathematics library.
_DECIMALS = 9
#: Up to this length, term frequencies that differ give float32 scores that differ, by five units in the last place.
_TOLD_APART = 512


@frozen
class TermFacts:
    """What the engine says of a term: live documents with it, and the idf and mean length its own scores are made with."""

    live: int
    native_idf: float
    native_mean: float


@frozen
class Candidates:
    """The engine's own best: rows with native scores, descending; `matches` counts every live match."""

    rows: tuple[tuple[int, float], ...]
    matches: int


@frozen
class GhostRows:
    """The lexical index proposed rows that no live chunk has, or one row twice: it is damaged."""

    rows: tuple[int, ...]


@frozen
class Occurrences:
    """A chunk as the score sees it: its length in tokens, and how often each term stands in it."""

    length: int
    counts: Mapping[str, int]


# Values of one search that nobody prints: each `repr` would be compiled anew whenever a process starts to search.


@frozen(repr=False)
class _Weight:
    """A term's live idf; `ratio` is the most by which its part of a live score exceeds that of the native score."""

    term: str
    idf: float
    ratio: float
    native_most: float


@frozen(repr=False)
class Weights:
    """The score of a query's terms, and its bound. `by_ratio` holds the terms the engine gives a score at all."""

    terms: tuple[_Weight, ...]
    mean: float
    by_ratio: tuple[_Weight, ...] = field(init=False)
    unbounded: float = field(init=False)

    @by_ratio.default
    def _by_ratio(self) -> tuple[_Weight, ...]:
        bounded = (weight for weight in self.terms if weight.native_most > 0)
        return tuple(sorted(bounded, key=lambda weight: -weight.ratio))

    @unbounded.default
    def _unbounded(self) -> float:
        return sum(_NUMERATOR * weight.idf for weight in self.terms if weight.native_most <= 0)

    def score(self, chunk: Occurrences) -> float:
        """BM25 in float64, summed in the order of the terms, rounded to 9 decimals."""
        damping = _FIXED + _BY_LENGTH * chunk.length / self.mean
        total = 0.0
        for weight in self.terms:
            count = chunk.counts.get(weight.term, 0)
            if count:
                total += weight.idf * _NUMERATOR * count / (count + damping)
        return round(total, _DECIMALS)

    def parts(self, chunk: Occurrences) -> tuple[tuple[str, float, int, float], ...]:
        """Term, idf, occurrences and contribution of each term that the chunk has; their sum, rounded, is the score."""
        damping = _FIXED + _BY_LENGTH * chunk.length / self.mean
        counted = ((weight, chunk.counts.get(weight.term, 0)) for weight in self.terms)
        return tuple(
            (weight.term, weight.idf, count, weight.idf * _NUMERATOR * count / (count + damping))
            for weight, count in counted
            if count
        )

    def bound(self, native: float) -> float:
        """No chunk with this native score or less has a greater live score."""
        slack = 1 + (len(self.terms) + 16) * 2.0**-23
        left, total = native * slack, self.unbounded
        for weight in self.by_ratio:
            part = min(left, weight.native_most * slack)
            total += weight.ratio * part
            left -= part
        return round(total, _DECIMALS)


def inverse_document_frequency(chunks: int, live: int) -> float:
    return math.log(1 + (chunks - live + 0.5) / (live + 0.5))


def weights_of(facts: Mapping[str, TermFacts], statistics: Statistics) -> Weights:
    """Weights of all terms with live chunks, in sorted order."""
    mean = statistics.tokens / statistics.chunks if statistics.tokens and statistics.chunks else 1.0
    alive = sorted((term, each) for term, each in facts.items() if each.live)
    return Weights(tuple(_weight(term, each, statistics, mean) for term, each in alive), mean)


def _weight(term: str, facts: TermFacts, statistics: Statistics, mean: float) -> _Weight:
    idf = inverse_document_frequency(statistics.chunks, facts.live)
    if facts.native_idf <= 0:
        return _Weight(term, idf, math.inf, 0.0)
    longest = _BY_LENGTH * statistics.longest
    lengths = (1 + _FIXED + longest / facts.native_mean) / (1 + _FIXED + longest / mean)
    return _Weight(term, idf, max(1.0, lengths) * idf / facts.native_idf, _NUMERATOR * facts.native_idf)


@frozen(repr=False)
class NeedCandidates:
    """The engine's best `limit`. Answered with `Candidates`."""

    limit: int


@frozen(repr=False)
class NeedOccurrences:
    """Answered with `CountedRows` for every row."""

    rows: tuple[int, ...]


@frozen(repr=False)
class NeedSizes:
    """Tokens of each row, without its text. Answered with `Sizes`."""

    rows: tuple[int, ...]


@frozen(repr=False)
class NeedFirst:
    """The first `limit` of the rows by source and start. Answered with `First`."""

    rows: tuple[int, ...]
    limit: int


@frozen(repr=False)
class CountedRows:
    rows: Mapping[int, Occurrences]


@frozen(repr=False)
class Sizes:
    rows: Mapping[int, int]


@frozen(repr=False)
class First:
    rows: tuple[int, ...]


Need: TypeAlias = NeedCandidates | NeedOccurrences | NeedSizes | NeedFirst
Answer: TypeAlias = Candidates | CountedRows | Sizes | First
#: Rows with their scores: the set that ranks first, and every member's score, in no order within a score.
Best: TypeAlias = tuple[tuple[int, float], ...]
Steps: TypeAlias = Generator[Need, Answer, Best]
A = TypeVar("A", Candidates, CountedRows, Sizes, First)


def exact_order(weights: Weights, limit: int) -> Steps:
    """The `limit` best by (−score, source, start), as a conversation: each need that is yielded is sent its answer.

    What was not scored has a native score no higher than the next hit's, whose bound is strictly below the last score
    that is kept; so it could not even enter by a tie.
    """
    best = _Kept(limit)
    scorer = _Scorer(weights)
    depth = 2 * limit + 44
    while limit > 0:
        found = yield from _ask(NeedCandidates(depth), Candidates)
        unread = [hit for hit in found.rows if hit[0] not in scorer.seen]
        while unread and best.admits(weights.bound(unread[0][1])):
            size = max(16, len(scorer.seen) // 2) if scorer.seen else limit + 6
            best.add((yield from scorer.scores(unread[:size])))
            unread = unread[size:]
        if len(found.rows) >= found.matches or unread or not best.admits(weights.bound(found.rows[-1][1])):
            break
        depth *= 4
    return (yield from best.cut())


class _Kept:
    """All scored rows by score, and the `limit` best scores as a heap."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._scores: list[float] = []
        self._rows: dict[float, list[int]] = {}

    def admits(self, score: float) -> bool:
        return len(self._scores) < self._limit or score >= self._scores[0]

    def add(self, scored: Iterable[tuple[int, float]]) -> None:
        for row, score in scored:
            if self.admits(score):
                self._rows.setdefault(score, []).append(row)
                heapq.heappush(self._scores, score)
                if len(self._scores) > self._limit:
                    heapq.heappop(self._scores)

    def cut(self) -> Steps:
        """Whole classes of equal scores, and of the last one what comes first by source and start."""
        chosen: list[tuple[int, float]] = []
        for score in sorted(self._rows, reverse=True):
            rows, left = tuple(self._rows[score]), self._limit - len(chosen)
            if left <= 0:
                break
            if len(rows) > left:
                rows = (yield from _ask(NeedFirst(rows, left), First)).rows
            chosen += ((row, score) for row in rows)
        return tuple(chosen)


class _Scorer:
    """Scores of hits. For one term, native score and length decide the score, so of equal ones only one is read."""

    def __init__(self, weights: Weights) -> None:
        self.seen: set[int] = set()
        self._weights = weights
        self._known: dict[tuple[float, int], float] = {}

    def scores(self, hits: list[tuple[int, float]]) -> Generator[Need, Answer, list[tuple[int, float]]]:
        first = not self.seen
        self.seen.update(row for row, _ in hits)
        if len(self._weights.terms) != 1:
            return (yield from self._read(tuple(row for row, _ in hits)))
        if first:
            return (yield from self._learn(hits))
        return (yield from self._recall(hits))

    def _read(self, rows: tuple[int, ...]) -> Generator[Need, Answer, list[tuple[int, float]]]:
        counted = yield from _ask(NeedOccurrences(rows), CountedRows)
        return [(row, self._weights.score(counted.rows[row])) for row in rows]

    def _learn(self, hits: list[tuple[int, float]]) -> Generator[Need, Answer, list[tuple[int, float]]]:
        counted = yield from _ask(NeedOccurrences(tuple(row for row, _ in hits)), CountedRows)
        scored = [(row, self._weights.score(counted.rows[row])) for row, _ in hits]
        for (row, native), (_, score) in zip(hits, scored, strict=True):
            self._known[native, counted.rows[row].length] = score
        return scored

    def _recall(self, hits: list[tuple[int, float]]) -> Generator[Need, Answer, list[tuple[int, float]]]:
        sizes = yield from _ask(NeedSizes(tuple(row for row, _ in hits)), Sizes)
        keys = {row: (native, sizes.rows[row]) for row, native in hits}
        samples = {key: (row, key[0]) for row, key in keys.items() if key not in self._known and key[1] <= _TOLD_APART}
        if samples:
            yield from self._learn(list(samples.values()))
        scored = [(row, self._known[key]) for row, key in keys.items() if key[1] <= _TOLD_APART]
        long = tuple(row for row, key in keys.items() if key[1] > _TOLD_APART)
        return scored + (yield from self._read(long)) if long else scored


def _ask(need: Need, answer: type[A]) -> Generator[Need, Answer, A]:
    given = yield need
    assert isinstance(given, answer)
    return given

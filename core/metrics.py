"""How good one ranking is, by graded judgements: recall, reciprocal rank, nDCG, average precision. ADR 0035.

A ranking is a sequence of ids, the best first; whoever made it has broken its ties. An id that stands in it again counts at
its first place only, and what follows moves up. A judgement is a gain: 1 or more is relevant, 0 or less and no judgement at
all are not. Where nothing is relevant there is nothing to find, and every metric is None.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

Gains: TypeAlias = Mapping[str, int]
Metric: TypeAlias = Callable[[Sequence[str], Gains], float | None]

#: How far down a ranking anything is looked at. Average precision takes what stands below as not found.
DEPTH = 100


def recall(ranking: Sequence[str], gains: Gains, k: int) -> float | None:
    """The part of what is relevant that stands among the first k."""
    relevant = _relevant(gains)
    if not relevant:
        return None
    return sum(each in relevant for each in _once(ranking)[:k]) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], gains: Gains, k: int) -> float | None:
    """1 / the place of the first that is relevant; 0 where there is none among the first k."""
    relevant = _relevant(gains)
    if not relevant:
        return None
    places = (place for place, each in enumerate(_once(ranking)[:k], 1) if each in relevant)
    return 1 / next(places, math.inf)


def ndcg(ranking: Sequence[str], gains: Gains, k: int) -> float | None:
    """Discounted gain of the first k over that of the best order (Järvelin and Kekäläinen 2002).

    The gain itself over log2(place + 1), as trec_eval has it; with grades above 1 other tools take 2^gain − 1.
    """
    relevant = _relevant(gains)
    if not relevant:
        return None
    best = sorted(relevant.values(), reverse=True)
    found = (relevant.get(each, 0) for each in _once(ranking))
    # Both sums round alike only in the same order; a perfect ranking is 1 and nothing is more.
    return min(1.0, _discounted(found, k) / _discounted(best, k))


def average_precision(ranking: Sequence[str], gains: Gains, k: int) -> float | None:
    """The mean, over all that is relevant, of the precision at its place; 0 for what is not among the first k."""
    relevant = _relevant(gains)
    if not relevant:
        return None
    places = [place for place, each in enumerate(_once(ranking)[:k], 1) if each in relevant]
    return math.fsum(found / place for found, place in enumerate(places, 1)) / len(relevant)


def _at(metric: Callable[[Sequence[str], Gains, int], float | None], k: int) -> Metric:
    return lambda ranking, gains: metric(ranking, gains, k)


#: By the names that reports have for them. Average precision over queries is "mean average precision", MAP.
METRICS: Mapping[str, Metric] = {
    "recall@1": _at(recall, 1),
    "recall@5": _at(recall, 5),
    "recall@10": _at(recall, 10),
    "recall@100": _at(recall, 100),
    "mrr@10": _at(reciprocal_rank, 10),
    "ndcg@10": _at(ndcg, 10),
    "map": _at(average_precision, DEPTH),
}


def scores(ranking: Sequence[str], gains: Gains) -> dict[str, float] | None:
    """Every metric of one ranking; None where nothing is relevant."""
    found = {name: metric(ranking, gains) for name, metric in METRICS.items()}
    return {name: value for name, value in found.items() if value is not None} or None


def mean(values: Sequence[float]) -> float:
    """The mean, the same in whatever order; 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], part: float) -> float:
    """The least of the values (one at least) that `part` of them, from 0 to 1, do not exceed: one that was measured."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(part * len(ordered))) - 1]


def _relevant(gains: Gains) -> dict[str, int]:
    return {each: gain for each, gain in gains.items() if gain > 0}


def _once(ranking: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranking))


def _discounted(gains: Iterable[int], k: int) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in zip(range(1, k + 1), gains, strict=False))

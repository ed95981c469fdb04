"""One order from several: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). ADR 0034.

An item gets weight / (60 + rank) of each list it stands in, ranks counting from 1. Lists have a fixed depth, so that the
beginning of an order does not depend on how much of it is asked for.
"""

import math
from collections.abc import Hashable, Sequence
from typing import TypeVar

#: So many of each list are fused. `SMOOTHING` is the k of the paper.
DEPTH, SMOOTHING = 100, 60
#: The greatest and the least weight of the list by meaning, beside 1 for the list by words.
MOST_WEIGHT, LEAST_WEIGHT = 1.2, 0.01

T = TypeVar("T", bound=Hashable)


def fused(lists: Sequence[tuple[Sequence[T], float]]) -> dict[T, float]:
    """The score of every item that stands among the first `DEPTH` of a list, rounded to 9 decimals; in no order.

    Each list comes with its weight and names no item twice. The sum is rounded once, whatever the order of the lists; who
    orders the items breaks ties.
    """
    parts: dict[T, list[float]] = {}
    for items, weight in lists:
        for rank, item in enumerate(items[:DEPTH], 1):
            parts.setdefault(item, []).append(weight / (SMOOTHING + rank))
    return {item: round(math.fsum(each), 9) for item, each in parts.items()}


def meaning_weight(support: float) -> float:
    """What the list by meaning weighs where the query's words have this support (`abstention.support`), 0 to 1.

    The more of the query the best passage by words says, the less there is to add. Never nothing: what only meaning found
    keeps its order behind the rest.
    """
    lacking = 1 - min(max(support, 0.0), 1.0)
    return round(max(LEAST_WEIGHT, MOST_WEIGHT * lacking * lacking * lacking), 9)

"""What a model that reads question and passage together says, as a score from 0 to 1."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from attrs import frozen

from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Sequence

#: How many candidates are read at most: a model takes milliseconds for each.
MOST_RERANKED = 50

#: Source and start of a text: what decides between equal scores.
Key: TypeAlias = tuple[str, int]


class RerankProblem(Enum):
    UNKNOWN = "unknown"
    MISSING = "missing"
    CONFIGURATION = "configuration"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    ANSWER = "answer"


@frozen
class RerankFailed:
    """Why nothing was reranked. `detail` holds no key and nothing of the texts."""

    problem: RerankProblem
    detail: str


class _Reads(Protocol):
    """What is needed of a `retrieval_ports.Reranker`."""

    def scores(self, query: str, texts: Sequence[str]) -> Result[tuple[float, ...], RerankFailed]: ...


def sigmoid(score: float) -> float:
    """From any finite number to 0 … 1, rounded to 9 decimals; never overflows."""
    if score >= 0:
        return round(1 / (1 + math.exp(-score)), 9)
    grown = math.exp(score)
    return round(grown / (1 + grown), 9)


def judged(scores: Sequence[float], count: int) -> Result[tuple[float, ...], RerankFailed]:
    """Scores from 0 to 1 of a model's answer about `count` texts; refused where one is missing, too many, or no finite number."""
    if len(scores) != count:
        return Failure(RerankFailed(RerankProblem.ANSWER, f"{len(scores)} scores for {count} texts"))
    if not all(map(math.isfinite, scores)):
        return Failure(RerankFailed(RerankProblem.ANSWER, "a score is not a finite number"))
    return Success(tuple(map(sigmoid, scores)))


def order_of(scores: Sequence[float], keys: Sequence[Key]) -> tuple[int, ...]:
    """Places of the texts, the best first: those that were scored by score, then source and start; the others as they were.

    There may be fewer scores than keys: only the first candidates are read, and what nobody read stays behind them.
    """
    read = sorted(range(len(scores)), key=lambda place: (-scores[place], keys[place]))
    return (*read, *range(len(scores), len(keys)))


def reranked(
    query: str, texts: Sequence[str], keys: Sequence[Key], reranker: _Reads, most: int = MOST_RERANKED
) -> Result[tuple[tuple[int, float | None], ...], RerankFailed]:
    """Every text's place in `texts`, the best first, with its score; None for those behind the first `most`.

    `keys` are source and start of each text. A failure is the model's own, or says what is wrong with its answer.
    """
    read = texts[:most]
    said = reranker.scores(query, read) if read else Success(())
    if isinstance(said, Failure):
        return said
    scores = judged(said.unwrap(), len(read))
    if isinstance(scores, Failure):
        return scores
    known = scores.unwrap()
    return Success(tuple((place, known[place] if place < len(known) else None) for place in order_of(known, keys)))

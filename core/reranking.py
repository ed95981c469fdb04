"""What a model that reads question and passage together says, as a score from 0 to 1."""

import math
from enum import Enum

from attrs import frozen


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


def sigmoid(score: float) -> float:
    """From any finite number to 0 … 1, rounded to 9 decimals; never overflows."""
    if score >= 0:
        return round(1 / (1 + math.exp(-score)), 9)
    grown = math.exp(score)
    return round(grown / (1 + grown), 9)

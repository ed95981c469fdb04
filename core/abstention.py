"""Whether a collection has anything to say to a query. A nearest passage there always is, near or not. ADR 0034."""

import math
from collections.abc import Collection, Mapping

from attrs import frozen

from groundkit.core.ranking import inverse_document_frequency

#: This share of what a query asks, in the best passage by words, is an answer.
ENOUGH_SUPPORT = 0.3


@frozen
class Abstained:
    """Why no passage is given: the words have too little support, and no passage is nearer than unrelated ones are.

    `support` is 0 to 1; `cosine` that of the nearest passage, None where the query has no vector or nothing may be looked at;
    `level` what the cosine did not exceed.
    """

    support: float
    level: float
    cosine: float | None

    @property
    def reason(self) -> str:
        """One sentence without its full stop."""
        words = (
            f"the best passage by words covers {self.support:.0%} of the query (from {ENOUGH_SUPPORT:.0%} on is enough)"
        )
        if self.cosine is None:
            return f"{words}, and there is nothing to compare its meaning with"
        near = f"the nearest by meaning has a cosine of {self.cosine:.3f}"
        return f"{words}, and {near}, which is not above the {self.level:.3f} that unrelated passages here reach"


def support(live: Mapping[str, int], chunks: int, present: Collection[str]) -> float:
    """How much of the query one passage says: the idf of its terms there over that of all its terms, 0 to 1, 9 decimals.

    `live` says for every term of the query how many of the live `chunks` have it, 0 for one that none has; such a term
    weighs most. `present` are the terms of the passage. A query without terms has no support.
    """
    idfs = {term: inverse_document_frequency(chunks, count) for term, count in live.items()}
    total = math.fsum(idfs.values())
    if total <= 0:
        return 0.0
    return round(math.fsum(idf for term, idf in idfs.items() if term in present) / total, 9)


def abstained(support: float, level: float, cosine: float | None) -> Abstained | None:
    """None: there is an answer. `level` is that of the collection (`vectors.level_of`)."""
    if support >= ENOUGH_SUPPORT or (cosine is not None and cosine > level):
        return None
    return Abstained(support, level, cosine)

"""By what passages are ranked."""

from enum import StrEnum


class Mode(StrEnum):
    """Their words, their vectors, or both."""

    BM25 = "bm25"
    DENSE = "dense"
    HYBRID = "hybrid"

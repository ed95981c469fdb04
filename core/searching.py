"""What a search says of its hits beside their order, and why it cannot be carried out."""

from attrs import frozen


@frozen
class TermPart:
    """What one term adds to a BM25 score: `count` occurrences in what is indexed of the chunk, `score` points."""

    term: str
    idf: float
    count: int
    score: float


@frozen
class ScoreParts:
    """Where a hit's score comes from; None what had no part in it. Ranks count from 1 in the list they are of."""

    terms: tuple[TermPart, ...] = ()
    bm25: float | None = None
    bm25_rank: int | None = None
    cosine: float | None = None
    dense_rank: int | None = None
    fused: float | None = None
    reranked: float | None = None


@frozen
class NoVectors:
    """A collection without vectors was to be searched by them, or one of which some chunks (`lacking`) have none yet."""

    lacking: int = 0

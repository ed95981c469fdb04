"""BM25 from exact live statistics, and the bound that says when no unseen candidate can enter. ADR 0007."""

from attrs import frozen


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

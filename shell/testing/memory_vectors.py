"""Matrices of vectors in memory: the pure cosine of every row, and the same contract as the real ones."""

from collections.abc import Callable, Collection, Iterable

from attrs import define, field, frozen

from groundkit.core.embedding import cosine
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import VectorKey, VectorRow, VectorSearcher
from groundkit.core.storage import StorageFailure, StorageProblem
from groundkit.core.vectors import level_of


@frozen
class MemoryMatrix:
    """`groundkit.core.retrieval_ports.VectorSearcher`."""

    rows: tuple[VectorRow, ...]

    @property
    def level(self) -> float:
        return level_of((each.chunk_id, each.vector) for each in self.rows)

    def count(self, within: Collection[int] | None = None) -> int:
        return len(self._within(within))

    def nearest(self, query: bytes, limit: int, within: Collection[int] | None = None) -> tuple[tuple[int, float], ...]:
        if limit < 1:
            return ()
        found = sorted(((each.row, cosine(query, each.vector)) for each in self._within(within)), key=_place)
        if limit >= len(found):
            return tuple(found)
        return tuple(each for each in found if each[1] >= found[limit - 1][1])

    def _within(self, within: Collection[int] | None) -> list[VectorRow]:
        return [each for each in self.rows if within is None or each.row in within]


def _place(found: tuple[int, float]) -> tuple[float, int]:
    return -found[1], found[0]


@define
class MemoryVectors:
    """`groundkit.core.retrieval_ports.VectorIndex`: holds the matrix that was asked for last."""

    _last: tuple[VectorKey, MemoryMatrix] | None = field(default=None, init=False)

    def searcher(
        self, key: VectorKey, load: Callable[[], Result[Iterable[VectorRow], StorageFailure]]
    ) -> Result[VectorSearcher, StorageFailure]:
        if self._last is not None and self._last[0] == key:
            return Success(self._last[1])
        loaded = load()
        if isinstance(loaded, Failure):
            return loaded
        rows = tuple(each for each in loaded.unwrap() if each.vector)
        if any(len(each.vector) != 2 * key.identity.dimensions or not any(each.vector) for each in rows):
            return Failure(StorageFailure(StorageProblem.DAMAGED, "memory", "a vector is none"))
        if len({each.row for each in rows}) < len(rows):
            return Failure(StorageFailure(StorageProblem.DAMAGED, "memory", "a row came twice"))
        self._last = key, MemoryMatrix(rows)
        return Success(self._last[1])

    def discard(self) -> Result[None, StorageFailure]:
        self._last = None
        return Success(None)

    def close(self) -> None:
        self._last = None

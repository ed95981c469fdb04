"""A matrix of vectors and its products with one: exact, so the same whatever the blocks, threads and instructions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from groundkit.core.retrieval_ports import VectorRow
from groundkit.core.vectors import place, sample

Floats: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]

#: So many numbers are multiplied at a time: 1 MB. Few enough for OpenBLAS to stay in one thread, which on a busy machine is
#: faster by far than waiting for a second one at every block.
BLOCK = 1 << 18
#: Cosines that are equal in 9 decimals are nearer to each other than this.
_TIED = 2e-9
#: Where more than this part of the rows is asked for, all are multiplied: cheaper than copying these.
_MOST = 0.25


class Unusable(Exception):
    """Vectors that cannot stand in one matrix."""


@frozen(eq=False, repr=False)
class Matrix:
    """`groundkit.core.retrieval_ports.VectorSearcher`. `rows` ascend; `squares` are the squared lengths of the vectors."""

    rows: Numbers
    squares: Doubles
    vectors: Floats
    level: float
    block: int = field(default=BLOCK)

    def count(self, within: Collection[int] | None = None) -> int:
        return len(self.rows) if within is None else len(self._places(within))

    def nearest(self, query: bytes, limit: int, within: Collection[int] | None = None) -> tuple[tuple[int, float], ...]:
        if limit < 1:
            return ()
        places = None if within is None else self._places(within)
        rows = self.rows if places is None else self.rows[places]
        if not len(rows):
            return ()
        return _best(rows, self._cosines(query, places), limit)

    def _places(self, within: Collection[int]) -> Numbers:
        """Where these rows stand, ascending; without those that do not."""
        wanted = np.fromiter(within, np.int64, len(within))
        places = np.searchsorted(self.rows, wanted)
        places[places == len(self.rows)] = 0
        chosen = np.zeros(len(self.rows), np.bool_)
        if len(chosen):
            chosen[places[self.rows[places] == wanted]] = True
        return np.flatnonzero(chosen)

    def _cosines(self, query: bytes, places: Numbers | None) -> Doubles:
        """As `core.embedding.cosine`, in its order of operations, before it rounds."""
        vector = _components(query, self.vectors.shape[1])
        if places is not None and len(places) > _MOST * len(self.rows):
            return self._cosines(query, None)[places]
        dots = self._dots(vector, places)
        squares = self.squares if places is None else self.squares[places]
        wide = vector.astype(np.float64)
        return dots / np.sqrt(squares * (wide @ wide))

    def _dots(self, vector: Floats, places: Numbers | None) -> Doubles:
        size = len(self.rows) if places is None else len(places)
        dots = np.empty(size, np.float32)
        step = max(1, self.block // len(vector))
        for begin in range(0, size, step):
            end = begin + step
            part = self.vectors[begin:end] if places is None else self.vectors[places[begin:end]]
            np.dot(part, vector, out=dots[begin:end])
        # There is one zero: the sum of whole numbers has no sign where it is none.
        return dots.astype(np.float64) + 0.0


def _components(vector: bytes, dimensions: int) -> Floats:
    parts = np.frombuffer(vector, "<i2")
    if len(parts) != dimensions:
        raise ValueError(f"a vector of {len(parts)} components for a matrix of {dimensions}")
    return parts.astype(np.float32)


def _best(rows: Numbers, cosines: Doubles, limit: int) -> tuple[tuple[int, float], ...]:
    """Only what may be among the best is rounded, by Python: numpy's own rounding gives other numbers."""
    if limit < len(cosines):
        least = np.partition(cosines, len(cosines) - limit)[len(cosines) - limit]
        chosen = np.flatnonzero(cosines >= least - _TIED)
        rows, cosines = rows[chosen], cosines[chosen]
    rounded = [round(each, 9) for each in cosines.tolist()]
    found = sorted(zip(rows.tolist(), rounded, strict=True), key=lambda each: (-each[1], each[0]))
    if limit >= len(found):
        return tuple(found)
    last = found[limit - 1][1]
    return tuple(each for each in found if each[1] >= last)


def matrix_of(loaded: Iterable[VectorRow], dimensions: int) -> Matrix:
    """`Unusable` if a vector has another size or no length, or a row comes twice. A chunk without a vector has no row."""
    kept = sorted((each for each in loaded if each.vector), key=lambda each: each.row)
    for each in kept:
        if len(each.vector) != 2 * dimensions:
            raise Unusable(f"row {each.row} has a vector of {len(each.vector)} bytes, not {2 * dimensions}")
    rows = np.fromiter((each.row for each in kept), np.int64, len(kept))
    if len(rows) and not np.all(rows[1:] > rows[:-1]):
        raise Unusable("a row came twice")
    parts = np.frombuffer(b"".join(each.vector for each in kept), "<i2").reshape(len(kept), dimensions)
    vectors = parts.astype(np.float32)
    # Squares of single components are below 2²⁴, and so are their sums.
    squares = np.einsum("ij,ij->i", vectors, vectors).astype(np.float64)
    if not np.all(squares > 0):
        raise Unusable("a vector has no length")
    places = sample((each.chunk_id, place) for place, each in enumerate(kept))
    return Matrix(rows, squares, vectors, _level(vectors[places], squares[places]))


def _level(vectors: Floats, squares: Doubles) -> float:
    """As `core.vectors.level_of`. Rounding keeps the order, so one number of the sorted ones is rounded."""
    one, other = np.triu_indices(len(vectors), 1)
    if not len(one):
        return 1.0
    dots = (vectors @ vectors.T)[one, other].astype(np.float64) + 0.0
    cosines = dots / np.sqrt(squares[one] * squares[other])
    at = place(len(cosines))
    return round(float(np.partition(cosines, at)[at]), 9)

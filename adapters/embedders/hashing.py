"""An embedder that needs no model: a vector is the sum of its words' vectors, and these come from a hash."""

from collections.abc import Sequence
from hashlib import shake_256

from groundkit.core.embedding import EmbeddingIdentity, EmbedFailed, Purpose
from groundkit.core.result import Result, Success


class HashEmbedder:
    """For tests: texts that share words have similar vectors; one without words has none."""

    def __init__(self, dimensions: int = 64) -> None:
        self._dimensions = dimensions

    def identify(self) -> Result[EmbeddingIdentity, EmbedFailed]:
        return Success(EmbeddingIdentity("hash", "", self._dimensions))

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Result[tuple[Sequence[float] | None, ...], EmbedFailed]:
        return Success(tuple(map(self._vector, texts)))

    def close(self) -> None:
        """There is nothing to end."""

    def _vector(self, text: str) -> Sequence[float] | None:
        words = text.casefold().split()
        if not words:
            return None
        drawn = [shake_256(word.encode("utf-8", "surrogatepass")).digest(self._dimensions) for word in words]
        sums = [float(sum(2 * each[place] - 255 for each in drawn)) for place in range(self._dimensions)]
        return sums if any(sums) else [1.0, *sums[1:]]

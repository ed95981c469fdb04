"""Ports that only searches by meaning need: embedders, vector indexes, rerankers. The docstrings are the contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from groundkit.core.embedding import EmbeddingIdentity, EmbedFailed, Purpose
    from groundkit.core.reranking import RerankFailed
    from groundkit.core.result import Result
    from groundkit.core.storage import Mark, StorageFailure


class Embedder(Protocol):
    """Turns texts into vectors. The same text gives the same vector under the same identity, as far as that is ours to say."""

    def identify(self) -> Result[EmbeddingIdentity, EmbedFailed]:
        """Who it is. May load a model or ask an endpoint, once."""

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Result[tuple[Sequence[float] | None, ...], EmbedFailed]:
        """A vector for each text, in order, any length; None for a text in which the model finds nothing.

        All or none. What an endpoint answers is not judged here, but for its shape: `embedding.on_grid` does that.
        """

    def close(self) -> None:
        """End connections. Closing twice does nothing."""


@frozen
class VectorRow:
    """A live chunk's row in the store, its id, and its vector (`embedding.on_grid`)."""

    row: int
    chunk_id: str
    vector: bytes


@frozen
class VectorKey:
    """What a matrix is of: a generation and the embedder of its vectors."""

    mark: Mark
    identity: EmbeddingIdentity


class VectorSearcher(Protocol):
    """An immutable matrix of all vectors of one generation."""

    @property
    def level(self) -> float:
        """The cosine that unrelated pairs of chunks seldom exceed: see `vectors.level_of`. 1.0 where there are no pairs."""

    def count(self, within: Collection[int] | None = None) -> int:
        """How many rows there are, of these rows if some are given."""

    def nearest(self, query: bytes, limit: int, within: Collection[int] | None = None) -> tuple[tuple[int, float], ...]:
        """The `limit` rows with the greatest cosine (exactly `embedding.cosine`), descending, of these rows if some are given.

        With all that tie with the last one, so there may be more; rows of one cosine come ascending.
        """


class VectorIndex(Protocol):
    """Matrices of one collection's vectors, kept from one search to the next. May lose any of them at any time."""

    def searcher(
        self, key: VectorKey, load: Callable[[], Result[Iterable[VectorRow], StorageFailure]]
    ) -> Result[VectorSearcher, StorageFailure]:
        """The matrix of this key; made of what `load` gives where there is none, or none that is whole."""

    def discard(self) -> Result[None, StorageFailure]:
        """Remove everything of ours, and the directory."""

    def close(self) -> None:
        """Give back what is mapped. Closing twice does nothing."""


class Reranker(Protocol):
    """Reads a question and a passage together and says how well they fit."""

    @property
    def identity(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> Result[tuple[float, ...], RerankFailed]:
        """A number for each text, in order: any finite one, greater is better (`reranking.sigmoid` makes 0 to 1 of it)."""

    def close(self) -> None:
        """End connections. Closing twice does nothing."""


__all__ = ["Embedder", "Reranker", "VectorIndex", "VectorKey", "VectorRow", "VectorSearcher"]

"""Collections whose vectors come from an embedder that needs nothing, can fail, and counts what it is asked."""

from collections.abc import Callable, Sequence
from pathlib import Path

import groundkit
from groundkit.collection import Collection
from groundkit.core.embedding import EmbeddingIdentity, EmbedFailed, EmbedProblem, Purpose
from groundkit.core.result import Failure, Result, Success
from groundkit.testing.hash_embedder import HashEmbedder


class ScriptedEmbedder:
    """A hash embedder that can be told to fail after so many texts, or to spoil a vector."""

    def __init__(
        self,
        dimensions: int = 64,
        name: str = "scripted",
        fails_after: int | None = None,
        spoiled: Callable[[Sequence[float]], Sequence[float]] | None = None,
    ) -> None:
        self._inner = HashEmbedder(dimensions)
        self._dimensions, self._name, self._left, self._spoiled = dimensions, name, fails_after, spoiled
        self.texts: list[str] = []
        self.closed = 0

    def identify(self) -> Result[EmbeddingIdentity, EmbedFailed]:
        return Success(EmbeddingIdentity(self._name, "", self._dimensions))

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Result[tuple[Sequence[float] | None, ...], EmbedFailed]:
        if self._left is not None:
            if self._left < len(texts):
                return Failure(EmbedFailed(EmbedProblem.UNREACHABLE, "the endpoint does not answer"))
            self._left -= len(texts)
        self.texts += texts
        made = self._inner.embed(texts, purpose)
        if self._spoiled is None or isinstance(made, Failure):
            return made
        return Success(tuple(each if each is None else self._spoiled(each) for each in made.unwrap()))

    def close(self) -> None:
        self.closed += 1


def opened_with(base: Path, *embedders: ScriptedEmbedder, collection: str = "default") -> Collection:
    """A collection over a base, to which these embedders are known under their names."""
    offers = {each.identify().unwrap().name: (lambda each=each: each) for each in embedders}
    return groundkit.open(base / ".groundkit", base=base, collection=collection, embedders=offers)

"""Embedders of servers: what is common to them. The connection is the poster's; here are batches and shapes of answers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from groundkit.core.embedding import MOST_DIMENSIONS, EmbeddingIdentity, EmbedFailed, EmbedProblem, Purpose
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groundkit.core.posting import Poster, PostFailed

#: Texts, and characters of all of them, in one request. A longer text goes alone.
BATCH, BATCH_CHARACTERS = 32, 60_000
_PROBE = "tide"


class Dialect(Protocol):
    """What one kind of server wants to be asked and how it answers."""

    @property
    def provider(self) -> str: ...

    def body(self, model: str, texts: Sequence[str]) -> dict[str, object]: ...

    def vectors(self, answer: object, count: int) -> Result[list[object], EmbedFailed]:
        """As many vectors as there were texts, in their order, not looked into."""

    def digest(self, model: str) -> Result[str, EmbedFailed]:
        """The digest of the weights, "" where the server does not tell."""

    def close(self) -> None: ...


class EndpointEmbedder:
    """A model of a server. How many dimensions it has, its first answer tells."""

    def __init__(self, poster: Poster, dialect: Dialect, model: str) -> None:
        self._poster, self._dialect, self._model = poster, dialect, model
        self._lock = threading.Lock()
        self._identity: EmbeddingIdentity | None = None

    def identify(self) -> Result[EmbeddingIdentity, EmbedFailed]:
        """Asks for one short text, once. The address is no part of the identity, so a server may move."""
        with self._lock:
            if self._identity is None:
                asked = self._asked()
                if isinstance(asked, Failure):
                    return asked
                self._identity = asked.unwrap()
            return Success(self._identity)

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Result[tuple[Sequence[float] | None, ...], EmbedFailed]:
        """Blank texts are not sent: servers answer them with an error, or with a vector of nothing."""
        said = [text for text in texts if text.strip()]
        found: list[list[float]] = []
        for batch in batches(said):
            vectors = self._batch(batch)
            if isinstance(vectors, Failure):
                return vectors
            found += vectors.unwrap()
        left = iter(found)
        return Success(tuple(next(left) if text.strip() else None for text in texts))

    def close(self) -> None:
        self._poster.close()
        self._dialect.close()

    def _asked(self) -> Result[EmbeddingIdentity, EmbedFailed]:
        digest = self._dialect.digest(self._model)
        if isinstance(digest, Failure):
            return digest
        vectors = self._batch([_PROBE])
        if isinstance(vectors, Failure):
            return vectors
        count = len(vectors.unwrap()[0])
        if not 1 <= count <= MOST_DIMENSIONS:
            return refused(f"the vectors have {count} components; there may be 1 to {MOST_DIMENSIONS}")
        return Success(EmbeddingIdentity(self._dialect.provider, self._model, count, digest.unwrap()))

    def _batch(self, texts: list[str]) -> Result[list[list[float]], EmbedFailed]:
        said = self._poster.post(self._dialect.body(self._model, [_whole(text) for text in texts]))
        if isinstance(said, Failure):
            return Failure(translated(said.failure()))
        given = self._dialect.vectors(said.unwrap(), len(texts))
        if isinstance(given, Failure):
            return given
        read = [_numbers(each) for each in given.unwrap()]
        found = [each for each in read if each is not None]
        if len(found) < len(read):
            return refused("a vector in the answer is no list of numbers")
        return Success(found)


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, parted so that no request is large."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == BATCH or size + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def listed(given: object, count: int) -> Result[list[object], EmbedFailed]:
    """A list of as many as there were texts."""
    if not isinstance(given, list):
        return refused("the answer has no list of vectors")
    if len(given) != count:
        return refused(f"{len(given)} vectors for {count} texts")
    return Success(given)


def translated(failed: PostFailed) -> EmbedFailed:
    return EmbedFailed(EmbedProblem(failed.problem.value), failed.detail)


def refused(detail: str) -> Failure[EmbedFailed]:
    return Failure(EmbedFailed(EmbedProblem.ANSWER, detail))


def _numbers(given: object) -> list[float] | None:
    if not isinstance(given, list) or any(type(each) not in (int, float) for each in given):
        return None
    try:
        return [float(each) for each in given]
    except OverflowError:
        return None


def _whole(text: str) -> str:
    """Half a surrogate pair is no Unicode, and servers refuse a whole batch for it."""
    return text.encode("utf-8", "replace").decode("utf-8")

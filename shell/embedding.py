"""From texts to the vectors that are stored and looked for: each text asked for once, each vector judged."""

from collections.abc import Sequence

from attrs import frozen

from groundkit.core.embedding import EmbeddingIdentity, EmbedFailed, EmbedProblem, Purpose, VectorRefused, on_grid
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import Embedder


@frozen
class VectorRefusedAt:
    """The vector of the text at this position (from 0) is none of this embedder."""

    position: int
    refused: VectorRefused

    @property
    def detail(self) -> str:
        return f"text {self.position}: {self.refused.detail}"


def vectors_of(
    embedder: Embedder, identity: EmbeddingIdentity, texts: Sequence[str], purpose: Purpose
) -> Result[tuple[bytes, ...], EmbedFailed | VectorRefusedAt]:
    """A vector on the grid for each text, in order; b"" for one that is blank or in which the model finds nothing.

    All or none. Blank texts are not sent, equal ones are sent once.
    """
    places: dict[str, int] = {}
    for position, text in enumerate(texts):
        if text.strip():
            places.setdefault(text, position)
    if not places:
        return Success((b"",) * len(texts))
    embedded = embedder.embed(tuple(places), purpose)
    if isinstance(embedded, Failure):
        return embedded
    given = embedded.unwrap()
    if len(given) != len(places):
        detail = f"the embedder gave {len(given)} vectors for {len(places)} texts"
        return Failure(EmbedFailed(EmbedProblem.ANSWER, detail))
    found: dict[str, bytes] = {}
    for (text, position), values in zip(places.items(), given, strict=True):
        vector = Success(b"") if values is None else on_grid(values, identity.dimensions)
        if isinstance(vector, Failure):
            return Failure(VectorRefusedAt(position, vector.failure()))
        found[text] = vector.unwrap()
    return Success(tuple(found.get(text, b"") for text in texts))

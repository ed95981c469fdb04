"""Vectors for what an ingest writes, and for what is stored without."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TypeAlias, TypeVar

from attrs import evolve, frozen

from groundkit.core.changes import ChunkVector, CountedChunk, NewDocument, Write
from groundkit.core.embedding import (
    MOST_DIMENSIONS,
    EmbedderNeeded,
    EmbeddingIdentity,
    EmbedFailed,
    EmbedProblem,
    IdentityDiffers,
    Purpose,
)
from groundkit.core.embedding_text import embedding_text
from groundkit.core.ports import DocumentStore, Ports, StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import Embedder
from groundkit.core.storage import StorageFailure, StoredChunk
from groundkit.embedding import VectorRefusedAt, vectors_of
from groundkit.ingest_values import OnEvent, SourceEvent
from groundkit.writing import WriteFailure, Writer

EmbeddingFailure: TypeAlias = EmbedFailed | VectorRefusedAt

T = TypeVar("T")

#: Chunks whose vectors are asked for, and written, at a time.
BACK_FILLED = 1024


@frozen(eq=False)
class Embedding:
    """An embedder at work, and who it said it is."""

    embedder: Embedder
    identity: EmbeddingIdentity

    def given(self, write: Write) -> Result[Write, EmbeddingFailure]:
        """The write with a vector for every chunk of its documents."""
        texts = [
            embedding_text(counted.chunk.locator.heading_path, new.record.title, counted.chunk.text)
            for new in write.documents
            for counted in new.chunks
        ]
        if not texts:
            return Success(write)
        vectors = vectors_of(self.embedder, self.identity, texts, Purpose.DOCUMENT)
        if isinstance(vectors, Failure):
            return vectors
        left = iter(vectors.unwrap())
        documents = tuple(evolve(new, chunks=tuple(_with_vectors(new, left))) for new in write.documents)
        return Success(evolve(write, documents=documents, manifest=self.identity))

    def back_filled(self, chunks: Sequence[StoredChunk]) -> Result[Write, EmbeddingFailure]:
        """Vectors for chunks that are stored without."""
        texts = [embedding_text(each.chunk.locator.heading_path, each.record.title, each.chunk.text) for each in chunks]
        vectors = vectors_of(self.embedder, self.identity, texts, Purpose.DOCUMENT)
        if isinstance(vectors, Failure):
            return vectors
        rows = zip(chunks, vectors.unwrap(), strict=True)
        return Success(
            Write(vectors=tuple(ChunkVector(each.row, vector) for each, vector in rows), manifest=self.identity)
        )


def _with_vectors(new: NewDocument, vectors: Iterator[bytes]) -> Iterator[CountedChunk]:
    for counted in new.chunks:
        yield evolve(counted, vector=next(vectors))


def embedding_of(ports: Ports, name: str) -> Result[Embedding, EmbedFailed]:
    """The embedder of this name at work. The caller closes it."""
    made = ports.embedder(name)
    if isinstance(made, Failure):
        return made
    embedder = made.unwrap()
    identity = embedder.identify()
    if isinstance(identity, Failure):
        embedder.close()
        return identity
    if not 1 <= identity.unwrap().dimensions <= MOST_DIMENSIONS:
        embedder.close()
        said = f"{name} makes vectors of {identity.unwrap().dimensions} dimensions; 1 to {MOST_DIMENSIONS} are taken"
        return Failure(EmbedFailed(EmbedProblem.CONFIGURATION, said))
    return Success(Embedding(embedder, identity.unwrap()))


def identity_refused(
    manifest: EmbeddingIdentity | None, active: EmbeddingIdentity | None
) -> IdentityDiffers | EmbedderNeeded | None:
    """Why nothing may be written: a collection is all of one embedder, or of none."""
    if manifest is None or manifest == active:
        return None
    return EmbedderNeeded(manifest) if active is None else IdentityDiffers(manifest, active)


def back_fill(
    documents: DocumentStore, writer: Writer, embedding: Embedding, on_event: OnEvent | None
) -> Result[int, WriteFailure | EmbeddingFailure]:
    """A vector for every live chunk that lacks one, in writes of their own: whoever is interrupted goes on from there."""
    counted = _of_tip(documents, lambda view, at: view.vector_counts(at))
    if isinstance(counted, Failure):
        return counted
    done, after, total = 0, 0, counted.unwrap().lacking
    while done < total:
        found = _of_tip(documents, lambda view, at, after=after: view.lacking(at, after, BACK_FILLED))  # type: ignore[misc]
        if isinstance(found, Failure):
            return found
        chunks: tuple[StoredChunk, ...] = found.unwrap()
        write = embedding.back_filled(chunks)
        if isinstance(write, Failure):
            return write
        written = writer.write(write.unwrap())
        if isinstance(written, Failure):
            return written
        done, after = done + len(chunks), chunks[-1].row
        if on_event is not None:
            on_event(SourceEvent(chunks[-1].record.source, "embedded", done, total))
    return Success(done)


def _of_tip(
    documents: DocumentStore, ask: Callable[[StoreView, int], Result[T, StorageFailure]]
) -> Result[T, StorageFailure]:
    viewed = documents.view()
    if isinstance(viewed, Failure):
        return viewed
    with closing(viewed.unwrap()) as view:
        return ask(view, view.state.tip.mark.generation)

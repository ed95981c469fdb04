"""Batches written in a thread of their own while the next one is prepared, or not at all."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self, TypeAlias

from groundkit.core.changes import Write
from groundkit.core.result import Failure, Result, Success
from groundkit.ingest_values import EmbeddingStopped
from groundkit.writing import WriteFailure, Writer, Written

if TYPE_CHECKING:
    from groundkit.ingest_embedding import Embedding

#: Why a batch was not accepted.
BatchRefused: TypeAlias = WriteFailure | EmbeddingStopped


class Nowhere:
    """Takes batches as `Behind` does, and writes none of them."""

    kept = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, _: Write) -> None:
        return None

    def finish(self, _: Write) -> Success[None]:
        return Success(None)


class Behind:
    """Writes one batch in a thread of its own while the next one is prepared. At most one is under way.

    With an embedding, each batch gets its vectors first. Leaving the block waits for it, so that nothing is written after the
    lock was given back.
    """

    def __init__(self, writer: Writer, embedding: "Embedding | None" = None) -> None:
        self._writer = writer
        self._embedding = embedding
        self.kept = 0
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: Future[Result[Written, BatchRefused]] | None = None
        self._pending: WriteFailure | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)

    def write(self, write: Write) -> Failure[BatchRefused] | None:
        """Begin to write. Gives back why the one before was not accepted, if it was not."""
        refused = self._awaited()
        if refused is None:
            self._pool = self._pool or ThreadPoolExecutor(1, "gk-write")
            self._under_way = self._pool.submit(self._write, write)
        return refused

    def finish(self, write: Write) -> Result[WriteFailure | None, BatchRefused]:
        """Write the last batch, here. Success: all are accepted; with what is left to the next writer, if anything."""
        refused = self._awaited()
        if refused is not None:
            return refused
        if not write.empty:
            written = self._write(write)
            if isinstance(written, Failure):
                return written
            self._pending = written.unwrap().pending
        return Success(self._pending)

    def _awaited(self) -> Failure[BatchRefused] | None:
        under_way, self._under_way = self._under_way, None
        if under_way is None:
            return None
        written = under_way.result()
        if isinstance(written, Failure):
            return written
        self._pending = written.unwrap().pending
        return None

    def _write(self, write: Write) -> Result[Written, BatchRefused]:
        if self._embedding is not None:
            given = self._embedding.given(write)
            if isinstance(given, Failure):
                return Failure(EmbeddingStopped(given.failure(), self.kept))
            write = given.unwrap()
        written = self._writer.write(write)
        if isinstance(written, Success):
            self.kept += len(write.documents) + len(write.rebound)
        return written

"""Batches written in a thread of their own while the next one is prepared, or not at all."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from groundkit.core.changes import Write
from groundkit.core.result import Failure, Result, Success
from groundkit.writing import WriteFailure, Writer, Written


class Nowhere:
    """Takes batches as `Behind` does, and writes none of them."""

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

    Leaving the block waits for it, so that nothing is written after the lock was given back.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: Future[Result[Written, WriteFailure]] | None = None
        self._pending: WriteFailure | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)

    def write(self, write: Write) -> Failure[WriteFailure] | None:
        """Begin to write. Gives back why the one before was not accepted, if it was not."""
        refused = self._awaited()
        if refused is None:
            self._pool = self._pool or ThreadPoolExecutor(1, "gk-write")
            self._under_way = self._pool.submit(self._writer.write, write)
        return refused

    def finish(self, write: Write) -> Result[WriteFailure | None, WriteFailure]:
        """Write the last batch, here. Success: all are accepted; with what is left to the next writer, if anything."""
        refused = self._awaited()
        if refused is not None:
            return refused
        if not write.empty:
            written = self._writer.write(write)
            if isinstance(written, Failure):
                return written
            self._pending = written.unwrap().pending
        return Success(self._pending)

    def _awaited(self) -> Failure[WriteFailure] | None:
        under_way, self._under_way = self._under_way, None
        if under_way is None:
            return None
        written = under_way.result()
        if isinstance(written, Failure):
            return written
        self._pending = written.unwrap().pending
        return None

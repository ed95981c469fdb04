"""What can still be had from a store of an earlier version: its sources and its chunks. It is never changed."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw

from groundkit.adapters.sqlite_store.file import Refused, answered, has_published_tables, identity_of, judge, open_any
from groundkit.core.model import Span
from groundkit.core.older import OldChunk, OldSource, OldStore
from groundkit.core.result import Result
from groundkit.core.storage import StorageFailure, StorageProblem

T = TypeVar("T")

_SOURCES = """SELECT d.source, d.document_id, d.ingested_at,
                     (SELECT count(*) FROM chunks c WHERE c.document_id = d.document_id)
                FROM documents d ORDER BY d.source"""
_CHUNKS = """SELECT c.chunk_id, c.chunk_index, c.start_offset, c.end_offset, c.content
               FROM documents d JOIN chunks c ON c.document_id = d.document_id
              WHERE d.source = ? ORDER BY c.chunk_index"""


def read_old(path: Path) -> Result[OldStore, StorageFailure]:
    """The sources of an older store. Any other file is a failure, a store of today `FAILED`."""

    def work(connection: apsw.Connection) -> OldStore:
        sources = (
            OldSource(str(source), str(document_id), str(ingested_at), int(chunks))
            for source, document_id, ingested_at, chunks in connection.execute(_SOURCES)
        )
        return OldStore(int(connection.pragma("user_version")), tuple(sources))

    return _with_old(path, work)


def old_chunks(path: Path, source: str) -> Result[tuple[OldChunk, ...], StorageFailure]:
    """The chunks an older store has of this source, in their order; none if it does not know it."""

    def work(connection: apsw.Connection) -> tuple[OldChunk, ...]:
        return tuple(
            OldChunk(str(chunk_id), int(ordinal), Span(int(start), int(end)), str(text))
            for chunk_id, ordinal, start, end, text in connection.execute(_CHUNKS, (source,))
        )

    return _with_old(path, work)


def _with_old(path: Path, work: Callable[[apsw.Connection], T]) -> Result[T, StorageFailure]:
    def attempt() -> T:
        identity_of(path)
        connection = open_any(path, read_only=True)
        try:
            _must_be_old(connection)
            return work(connection)
        finally:
            connection.close()

    return answered(path.name, attempt)


def _must_be_old(connection: apsw.Connection) -> None:
    try:
        judge(connection)
    except Refused as refused:
        # An unknown layout of an older version stays refused, with what `judge` said.
        if refused.problem is not StorageProblem.OLDER or not has_published_tables(connection):
            raise
    else:
        raise Refused(StorageProblem.FAILED, "not an older store")

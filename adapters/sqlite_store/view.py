"""One generation of a store, read in a transaction that never changes. What only writers need is not imported here."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, assert_never

import apsw

from groundkit.adapters.sqlite_store.cells import DamagedRow, heading_path
from groundkit.adapters.sqlite_store.file import Connections, Lent, Refused, answered
from groundkit.adapters.sqlite_store.schema import (
    BRIEFS,
    CHUNKS_BETWEEN,
    CHUNKS_BY_ROW,
    CHUNKS_OF_DOCUMENT,
    FAILURES,
    FIRST,
    HEADINGS,
    LACKING,
    LIVE,
    LIVE_CHUNKS,
    NAMED_FILES,
    OUTLINES,
    RECORDS,
    ROWS_OF_HEADINGS,
    SIZES,
    STATE,
    VECTOR_COUNTS,
    VECTORS,
    Value,
    headings_in,
    id_cell,
    ids_between,
    record_of,
    state_of,
    stored_chunks,
)
from groundkit.core.storage import (
    AllRecords,
    ChunksByPrefix,
    ChunksByRow,
    ChunksOfDocument,
    NamedFiles,
    RecordOfDocument,
    RecordOfSource,
    StorageProblem,
)

if TYPE_CHECKING:
    from groundkit.core.briefs import DocumentBrief, VectorCounts
    from groundkit.core.changes import SourceFailure
    from groundkit.core.model import DocumentRecord
    from groundkit.core.result import Result
    from groundkit.core.retrieval_ports import VectorRow
    from groundkit.core.storage import ChunkQuery, RecordQuery, StorageFailure, StoredChunk, StoreState

T = TypeVar("T")


class SqliteView:
    """A read transaction on a connection of its own. May be used and closed by any thread, by one at a time."""

    def __init__(self, connections: Connections, lent: Lent, state: StoreState, artefact: str) -> None:
        self._connections, self._lent, self._state, self._artefact = connections, lent, state, artefact
        self._open = True

    @property
    def state(self) -> StoreState:
        return self._state

    def records(self, wanted: RecordQuery, at: int) -> Result[tuple[DocumentRecord, ...], StorageFailure]:
        return self._ask(lambda connection: tuple(map(record_of, _records(connection, wanted, at))))

    def chunks(self, wanted: ChunkQuery, at: int) -> Result[tuple[StoredChunk, ...], StorageFailure]:
        return self._ask(lambda connection: tuple(_chunks(connection, wanted, at)))

    def sizes(self, rows: Sequence[int], at: int) -> Result[dict[int, int], StorageFailure]:
        return self._ask(lambda connection: dict(connection.execute(SIZES, {"rows": _array(rows), "at": at})))

    def first(self, rows: Sequence[int], at: int, limit: int) -> Result[tuple[int, ...], StorageFailure]:
        asked = {"rows": _array(set(rows)), "at": at, "limit": max(limit, 0)}
        return self._ask(lambda connection: tuple(row for (row,) in connection.execute(FIRST, asked)))

    def live(self, at: int) -> Result[dict[int, str], StorageFailure]:
        def work(connection: apsw.Connection) -> dict[int, str]:
            ranges = connection.execute(LIVE, {"at": at})
            return {
                row: name for first, end, document in ranges for name in [document.hex()] for row in range(first, end)
            }

        return self._ask(work)

    def briefs(self, at: int) -> Result[tuple[DocumentBrief, ...], StorageFailure]:
        from groundkit.core.briefs import DocumentBrief

        def work(connection: apsw.Connection) -> tuple[DocumentBrief, ...]:
            rows = connection.execute(BRIEFS, {"at": at})
            return tuple(
                DocumentBrief(name.hex(), source, kind, media_type, ingested_at, number or 0, chunks)
                for name, source, kind, media_type, ingested_at, number, chunks in rows
            )

        return self._ask(work)

    def rows_under(
        self, documents: Collection[str] | None, at: int, admits: Callable[[tuple[str, ...]], bool]
    ) -> Result[frozenset[int], StorageFailure]:
        wanted = None if documents is None else frozenset(documents)

        def work(connection: apsw.Connection) -> frozenset[int]:
            outlines = list(connection.execute(OUTLINES, {"at": at}))
            rows: set[int] = set()
            for first, chunks, name, headings in outlines:
                if wanted is None or name.hex() in wanted:
                    rows |= _rows_under(connection, first, first + chunks, headings, at, admits)
            return frozenset(rows)

        return self._ask(work)

    def vectors(self, at: int, after: int, limit: int) -> Result[tuple[VectorRow, ...], StorageFailure]:
        from groundkit.core.retrieval_ports import VectorRow

        asked = {"at": at, "after": after, "limit": max(limit, 0)}
        return self._ask(
            lambda connection: tuple(
                VectorRow(row, name.hex(), vector) for row, name, vector in connection.execute(VECTORS, asked)
            )
        )

    def lacking(self, at: int, after: int, limit: int) -> Result[tuple[StoredChunk, ...], StorageFailure]:
        asked = {"at": at, "after": after, "limit": max(limit, 0)}

        def work(connection: apsw.Connection) -> tuple[StoredChunk, ...]:
            rows = tuple(row for (row,) in connection.execute(LACKING, asked))
            return tuple(_chunks(connection, ChunksByRow(rows), at))

        return self._ask(work)

    def vector_counts(self, at: int) -> Result[VectorCounts, StorageFailure]:
        from groundkit.core.briefs import VectorCounts

        def work(connection: apsw.Connection) -> VectorCounts:
            asked, empty = next(connection.execute(VECTOR_COUNTS, {"at": at}))
            chunks = connection.execute(LIVE_CHUNKS, {"at": at}).get
            return VectorCounts(asked - empty, empty, chunks - asked)

        return self._ask(work)

    def named_files(self) -> Result[NamedFiles, StorageFailure]:
        def work(connection: apsw.Connection) -> NamedFiles:
            rows = list(connection.execute(NAMED_FILES))
            return NamedFiles(
                frozenset(name.hex() for name, _ in rows), frozenset(body.hex() for _, body in rows if body)
            )

        return self._ask(work)

    def failures(self) -> Result[tuple[SourceFailure, ...], StorageFailure]:
        from groundkit.core.changes import SourceFailure

        return self._ask(lambda connection: tuple(SourceFailure(*cells) for cells in connection.execute(FAILURES)))

    def close(self) -> None:
        if self._open:
            self._open = False
            self._connections.give_back(self._lent)

    def _ask(self, work: Callable[[apsw.Connection], T]) -> Result[T, StorageFailure]:
        def asked() -> T:
            if not self._open:  # by now the connection may be another view's
                raise Refused(StorageProblem.FAILED, "the view is closed")
            return work(self._lent.connection)

        return answered(self._artefact, asked)


def _rows_under(
    connection: apsw.Connection,
    first: int,
    end: int,
    headings: object,
    at: int,
    admits: Callable[[tuple[str, ...]], bool],
) -> set[int]:
    """Rows of one document's chunks, each path judged once."""
    titles = headings_in(headings)
    admitted = {number for number in range(len(titles) // 2 + 1) if admits(heading_path(titles, number))}
    if not admitted:
        return set()
    rows = connection.execute(ROWS_OF_HEADINGS, {"first": first, "end": end, "at": at})
    return {row for row, heading in rows if heading in admitted}


def _array(rows: Sequence[int] | set[int]) -> str:
    """Ascending, so that the table's pages are read once each."""
    return json.dumps(sorted(rows))


def _records(connection: apsw.Connection, wanted: RecordQuery, at: int) -> apsw.Cursor:
    match wanted:
        case AllRecords():
            return connection.execute(f"{RECORDS} ORDER BY d.source", {"at": at})
        case RecordOfSource(source):
            return connection.execute(f"{RECORDS} AND d.source = :source", {"at": at, "source": source})
        case RecordOfDocument(document_id):
            return connection.execute(f"{RECORDS} AND d.id = :id", {"at": at, "id": id_cell(document_id)})
        case other:
            assert_never(other)


def _chunks(connection: apsw.Connection, wanted: ChunkQuery, at: int) -> Iterator[StoredChunk]:
    match wanted:
        case ChunksByRow(rows):
            found = _stored(connection, CHUNKS_BY_ROW, {"rows": _array(rows), "at": at})
            by_row = {each.row: each for each in found}
            return (by_row[row] for row in rows if row in by_row)
        case ChunksOfDocument(document_id, first, count):
            limit = -1 if count is None else max(count, 0)
            asked = {"id": id_cell(document_id), "first": first, "count": limit, "at": at}
            return _stored(connection, CHUNKS_OF_DOCUMENT, asked)
        case ChunksByPrefix(prefix, limit):
            lowest, highest = ids_between(prefix) or (None, None)
            asked = {"first": lowest, "last": highest, "limit": max(limit, 0), "at": at}
            return _stored(connection, CHUNKS_BETWEEN, asked)
        case other:
            assert_never(other)


def _stored(connection: apsw.Connection, query: str, asked: Mapping[str, Value]) -> Iterator[StoredChunk]:
    return stored_chunks(connection.execute(query, asked), lambda row: connection.execute(HEADINGS, (row,)).get)


def read_state(connection: apsw.Connection) -> StoreState:
    """The state row. In a transaction that has just begun, this is what takes the snapshot."""
    row = connection.execute(STATE).fetchone()
    if row is None:
        raise DamagedRow("the state row, or a generation it names, is missing")
    state, dropped = state_of(row)
    if dropped:
        raise Refused(StorageProblem.DROPPED, "the collection was dropped")
    return state

"""The document store on SQLite: one file per collection, read through views that never change."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, assert_never

import apsw

from groundkit.adapters.sqlite_store import generations
from groundkit.adapters.sqlite_store.file import (
    APPLICATION_ID,
    VERSION,
    Connections,
    Lent,
    Refused,
    answered,
    keep_log,
    set_up,
    transaction,
)
from groundkit.adapters.sqlite_store.schema import (
    CHUNKS_BETWEEN,
    CHUNKS_BY_ROW,
    CHUNKS_OF_DOCUMENT,
    FAILURES,
    FIRST,
    HEADINGS,
    LIVE,
    RECORDS,
    SIZES,
    Value,
    failure_row,
    id_cell,
    ids_between,
    record_of,
    stored_chunks,
)
from groundkit.core.changes import LexicalDocument, SourceFailure, Write
from groundkit.core.model import DocumentRecord
from groundkit.core.ports import StoreView, ViewOf
from groundkit.core.result import Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import (
    AllRecords,
    ChunkQuery,
    ChunksByPrefix,
    ChunksByRow,
    ChunksOfDocument,
    RecordOfDocument,
    RecordOfSource,
    RecordQuery,
    StorageFailure,
    StorageProblem,
    StoredChunk,
    StoreState,
)

T = TypeVar("T")

SUFFIX = ".sqlite3"


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

    def failures(self) -> Result[tuple[SourceFailure, ...], StorageFailure]:
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


class SqliteStore:
    """`<collection>.sqlite3` in the index directory. Nothing is opened before it is needed, nothing made but by `create`.

    A store opened read-only refuses every change with `DENIED`.
    """

    def __init__(self, directory: Path, collection: str, read_only: bool = False) -> None:
        self._path = directory / (collection + SUFFIX)
        self._artefact = self._path.name
        self._read_only = read_only
        self._connections = Connections(self._path, read_only)

    def create(self, settings: Settings, analyzer: str) -> Result[None, StorageFailure]:
        def work() -> None:
            if self._stands():
                return
            self._must_be_writable()
            _make(self._path, settings, analyzer)

        return answered(self._artefact, work)

    def view(self) -> Result[StoreView, StorageFailure]:
        def work() -> StoreView:
            lent = self._connections.borrow()
            try:
                lent.connection.execute("BEGIN")
                return SqliteView(self._connections, lent, generations.read_state(lent.connection), self._artefact)
            except BaseException:
                self._connections.give_back(lent)
                raise

        return answered(self._artefact, work)

    def stage(self, write: Write) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        return self._change(lambda connection, state: generations.stage(connection, state, write))

    def recount(self, analyzer: str, view_of: ViewOf) -> Result[None, StorageFailure]:
        return self._change(lambda connection, state: generations.recount(connection, state, analyzer, view_of))

    def outbox(self, view_of: ViewOf) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        return self._look(lambda connection, at: generations.outbox(connection, at, view_of))

    def everything(
        self, after: str, characters: int, view_of: ViewOf
    ) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        return self._look(lambda connection, at: generations.everything(connection, at, after, characters, view_of))

    def declare(self, build: int) -> Result[None, StorageFailure]:
        return self._change(lambda connection, state: generations.declare(connection, state, build))

    def record_failures(self, cleared: Sequence[str], failed: Sequence[SourceFailure]) -> Result[None, StorageFailure]:
        def work(connection: apsw.Connection, _: StoreState) -> None:
            connection.executemany("DELETE FROM failures WHERE source = ?", ((source,) for source in cleared))
            connection.executemany("REPLACE INTO failures VALUES (?, ?, ?, ?)", map(failure_row, failed))

        return self._change(work)

    def check(self) -> Result[tuple[str, ...], StorageFailure]:
        def work(connection: apsw.Connection, _: int) -> tuple[str, ...]:
            found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
            for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
                found.append(f"row {row} of {table} names a row of {parent} that is missing")
            return tuple(found)

        return self._look(work)

    def drop(self) -> Result[None, StorageFailure]:
        def work() -> None:
            self._must_be_writable()
            with self._connections.lent() as connection, transaction(connection):
                connection.execute("UPDATE state SET dropped = 1")

        return answered(self._artefact, work)

    def remove_files(self) -> Result[None, StorageFailure]:
        return answered(self._artefact, self._remove)

    def close(self) -> None:
        self._connections.close()

    def _must_be_writable(self) -> None:
        if self._read_only:
            raise Refused(StorageProblem.DENIED, "opened read-only")

    def _stands(self) -> bool:
        """Whether a store is there that is not dropped; what a dropped one left goes."""
        try:
            with self._connections.lent() as connection:
                generations.read_state(connection)
            return True
        except FileNotFoundError:
            return False
        except Refused as refused:
            if refused.problem is StorageProblem.DROPPED:
                self._remove()
            elif refused.problem is not StorageProblem.MISSING:
                raise
            return False

    def _remove(self) -> None:
        self._must_be_writable()
        if not self._beyond_reading():
            with self._connections.lent() as connection:
                if not connection.execute("SELECT dropped FROM state").get:
                    raise Refused(StorageProblem.FAILED, "not dropped")
                # Without its log the file must still say that it was dropped. A reader in the way: refused as busy.
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._connections.close()
        for suffix in ("-wal", "-shm", ""):
            self._path.with_name(self._artefact + suffix).unlink(missing_ok=True)

    def _beyond_reading(self) -> bool:
        """Whether this is ours and too damaged to be read."""
        seen = self.view()
        if isinstance(seen, Success):
            seen.unwrap().close()
            return False
        return seen.failure().problem is StorageProblem.DAMAGED

    def _change(self, work: Callable[[apsw.Connection, StoreState], T]) -> Result[T, StorageFailure]:
        def changed() -> T:
            self._must_be_writable()
            with self._connections.lent() as connection, transaction(connection):
                return work(connection, generations.read_state(connection))

        return answered(self._artefact, changed)

    def _look(self, work: Callable[[apsw.Connection, int], T]) -> Result[T, StorageFailure]:
        """At `tip`."""

        def looked() -> T:
            with self._connections.lent() as connection:
                connection.execute("BEGIN")
                return work(connection, generations.read_state(connection).tip.mark.generation)

        return answered(self._artefact, looked)


def _make(path: Path, settings: Settings, analyzer: str) -> None:
    """One transaction, so that whoever opens it meanwhile finds an empty file or a whole store."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if path.stat().st_size:  # SQLite takes a file shorter than a page for an empty one, and would write over it
            raise
        path.chmod(0o600)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        set_up(connection)
        with transaction(connection):
            generations.make_tables(connection, settings, analyzer)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", VERSION)
        keep_log(connection)
    finally:
        connection.close()

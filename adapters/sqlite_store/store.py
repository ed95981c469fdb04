"""The document store on SQLite: one file per collection. What only writers need is imported where they need it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import apsw

from groundkit.adapters.sqlite_store.file import (
    APPLICATION_ID,
    VERSION,
    Connections,
    Refused,
    answered,
    keep_log,
    set_up,
    transaction,
)
from groundkit.adapters.sqlite_store.schema import (
    ASTRAY_VECTORS,
    failure_row,
)
from groundkit.adapters.sqlite_store.view import SqliteView, read_state
from groundkit.core.ports import StoreView, ViewOf
from groundkit.core.result import Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import (
    StorageFailure,
    StorageProblem,
    StoreState,
)

if TYPE_CHECKING:
    from groundkit.core.changes import LexicalDocument, SourceFailure, Write

T = TypeVar("T")

SUFFIX = ".sqlite3"


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
                return SqliteView(self._connections, lent, read_state(lent.connection), self._artefact)
            except BaseException:
                self._connections.give_back(lent)
                raise

        return answered(self._artefact, work)

    def stage(self, write: Write) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        from groundkit.adapters.sqlite_store.generations import stage

        return self._change(lambda connection, state: stage(connection, state, write))

    def recount(self, analyzer: str, view_of: ViewOf) -> Result[None, StorageFailure]:
        from groundkit.adapters.sqlite_store.generations import recount

        return self._change(lambda connection, state: recount(connection, state, analyzer, view_of))

    def outbox(self, view_of: ViewOf) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        from groundkit.adapters.sqlite_store.generations import outbox

        return self._look(lambda connection, at: outbox(connection, at, view_of))

    def everything(
        self, after: str, characters: int, view_of: ViewOf
    ) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        from groundkit.adapters.sqlite_store.generations import everything

        return self._look(lambda connection, at: everything(connection, at, after, characters, view_of))

    def declare(self, build: int) -> Result[None, StorageFailure]:
        from groundkit.adapters.sqlite_store.generations import declare

        return self._change(lambda connection, state: declare(connection, state, build))

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
            if astray := connection.execute(ASTRAY_VECTORS).get:
                found.append(f"{astray} vectors of chunks that are not there")
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
                read_state(connection)
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
                return work(connection, read_state(connection))

        return answered(self._artefact, changed)

    def _look(self, work: Callable[[apsw.Connection, int], T]) -> Result[T, StorageFailure]:
        """At `tip`."""

        def looked() -> T:
            with self._connections.lent() as connection:
                connection.execute("BEGIN")
                return work(connection, read_state(connection).tip.mark.generation)

        return answered(self._artefact, looked)


def _make(path: Path, settings: Settings, analyzer: str) -> None:
    """One transaction, so that whoever opens it meanwhile finds an empty file or a whole store."""
    from groundkit.adapters.sqlite_store.generations import make_tables

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
            make_tables(connection, settings, analyzer)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", VERSION)
        keep_log(connection)
    finally:
        connection.close()

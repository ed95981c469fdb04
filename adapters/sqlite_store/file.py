"""A collection's SQLite file: whose it is, how it is opened, and what SQLite's errors mean here."""

import errno
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TypeVar

import apsw
from attrs import frozen

from groundkit.adapters.sqlite_store.cells import DamagedRow
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import StorageFailure, StorageProblem

T = TypeVar("T")

APPLICATION_ID = 0x676B6974
VERSION = 3
#: Of the groundkit published before this one; older files of it have 0.
PUBLISHED_IDS = (0, 0x47524B31)
PUBLISHED_TABLES = {
    "documents": frozenset({"document_id", "source", "content_hash", "ingested_at"}),
    "chunks": frozenset(
        {"chunk_id", "document_id", "chunk_index", "content", "start_offset", "end_offset", "content_hash", "metadata"}
    ),
}
REMEDY = "delete it and ingest again, or use another collection"
BUSY_MILLISECONDS = 5000
#: Keeps the pages of one batch's indexes in memory instead of writing them out again and again.
CACHE_KIB = 16 * 1024
#: A chunk is a good kilobyte: on larger pages less of each is left empty.
PAGE_BYTES = 16 * 1024
WAL_BYTES_KEPT = 16 * 1024 * 1024


class Refused(Exception):
    """Carries a failure out of a transaction, so that it rolls back."""

    def __init__(self, problem: StorageProblem, detail: str) -> None:
        super().__init__(detail)
        self.problem, self.detail = problem, detail


@frozen
class Identity:
    """Which file stands at a path. Another inode is another store, whatever its name."""

    device: int
    inode: int


_PROBLEMS: tuple[tuple[type[Exception], StorageProblem], ...] = (
    (apsw.FullError, StorageProblem.FULL),
    (apsw.BusyError, StorageProblem.BUSY),
    (apsw.LockedError, StorageProblem.BUSY),
    (apsw.CorruptError, StorageProblem.DAMAGED),
    (apsw.NotADBError, StorageProblem.DAMAGED),
    # Text that is not UTF-8 any more: bytes changed behind SQLite's back.
    (UnicodeDecodeError, StorageProblem.DAMAGED),
    (DamagedRow, StorageProblem.DAMAGED),
    (apsw.ReadOnlyError, StorageProblem.DENIED),
    (apsw.CantOpenError, StorageProblem.DENIED),
    (apsw.PermissionsError, StorageProblem.DENIED),
    (PermissionError, StorageProblem.DENIED),
    (FileNotFoundError, StorageProblem.MISSING),
    (NotADirectoryError, StorageProblem.MISSING),
)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def _problem(error: Exception) -> StorageProblem:
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return StorageProblem.FULL
    # The index of the write-ahead log could not grow: the disk is full, though SQLite calls it an I/O error.
    if isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
        return StorageProblem.FULL
    # Its schema number is ours, and its tables are not: it was never finished, or made by a program on the way to this one.
    if isinstance(error, apsw.SQLError) and str(error).startswith(("no such column", "no such table")):
        return StorageProblem.DAMAGED
    return next((problem for kind, problem in _PROBLEMS if isinstance(error, kind)), StorageProblem.FAILED)


def answered(artefact: str, work: Callable[[], T]) -> Result[T, StorageFailure]:
    """What the work gives, or its failure in our words. The one place where SQLite's exceptions end."""
    try:
        return Success(work())
    except Refused as refused:
        return Failure(StorageFailure(refused.problem, artefact, refused.detail))
    except (apsw.Error, OSError, UnicodeDecodeError, DamagedRow) as error:
        # An OSError's own text would name the directory.
        detail = (error.strerror or "") if isinstance(error, OSError) else str(error)
        return Failure(StorageFailure(_problem(error), artefact, detail or type(error).__name__))


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All or nothing; the write lock is taken at once, where waiting for it still helps."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: apsw.Connection) -> bool:
    """Whether the connection is out of every transaction afterwards. SQLite ends some by itself when a disk is full."""
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return not connection.in_transaction
    except apsw.Error:
        return False


def identity_of(path: Path) -> Identity:
    """Of the regular, non-empty file at the path. An empty one is what a killed `create` leaves: nothing is in it."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a regular file"
        raise Refused(StorageProblem.FOREIGN, kind)
    if found.st_size == 0:
        raise Refused(StorageProblem.MISSING, "empty")
    return Identity(found.st_dev, found.st_ino)


def open_own(path: Path, read_only: bool) -> apsw.Connection:
    """A connection to a store of this program and version; any other file is refused and keeps its bytes."""
    connection = open_any(path, read_only)
    try:
        judge(connection)
    except BaseException:
        connection.close()
        raise
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    set_up(connection)
    if not read_only:
        keep_log(connection)
    return connection


def open_any(path: Path, read_only: bool) -> apsw.Connection:
    """A connection to whatever it is. Nothing is read, made or changed yet."""
    # Closing folds the write-ahead log into the file. A log that was there before may be somebody else's.
    unfinished = path.with_name(path.name + "-wal").exists()
    try:
        connection = apsw.Connection(
            str(path), flags=apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
        )
    except apsw.CantOpenError:
        identity_of(path)  # gone since: that is its own failure
        raise
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(unfinished))
    return connection


def set_up(connection: apsw.Connection) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.pragma("page_size", PAGE_BYTES)
    connection.pragma("foreign_keys", True)
    connection.pragma("trusted_schema", False)
    connection.pragma("cell_size_check", True)
    connection.pragma("synchronous", "FULL")
    connection.pragma("secure_delete", True)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("journal_size_limit", WAL_BYTES_KEPT)


def keep_log(connection: apsw.Connection) -> None:
    """Write-ahead logging, once and for all; a process killed at the end of `create` may have left a store without."""
    try:
        if connection.pragma("journal_mode") != "wal":
            connection.pragma("journal_mode", "wal")
    except apsw.BusyError:
        """Somebody reads it just now. Whoever opens it next tries again; until then readers and writers take turns."""


def judge(connection: apsw.Connection) -> None:
    """Raises `Refused` unless it is a store of this program and version."""
    try:
        application, version = connection.pragma("application_id"), connection.pragma("user_version")
    except apsw.NotADBError as error:
        raise Refused(StorageProblem.FOREIGN, "not an SQLite file, or its first page is damaged") from error
    if application == APPLICATION_ID and version == VERSION:
        return
    # Asking made SQLite undo what a process killed in `create` had half written.
    identity_of(Path(connection.filename))
    if application == APPLICATION_ID and version > VERSION:
        raise Refused(StorageProblem.NEWER, f"schema {version}; this program knows up to {VERSION}")
    if application == APPLICATION_ID:
        raise Refused(StorageProblem.OLDER, f"schema {version} instead of {VERSION}; {REMEDY}")
    if application in PUBLISHED_IDS and has_published_tables(connection):
        raise Refused(StorageProblem.OLDER, f"made by an earlier groundkit, schema {version}; {REMEDY}")
    raise Refused(StorageProblem.FOREIGN, "an SQLite file of another program")


def has_published_tables(connection: apsw.Connection) -> bool:
    return all(columns <= columns_of(connection, table) for table, columns in PUBLISHED_TABLES.items())


def columns_of(connection: apsw.Connection, table: str) -> set[str]:
    return {str(name) for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


class Connections:
    """Idle connections to whatever file stands at the path now; each is lent to one user at a time.

    Open after a fork, not before it: SQLite's locks belong to the process.
    """

    def __init__(self, path: Path, read_only: bool) -> None:
        self._path, self._read_only = path, read_only
        self._guard = Lock()
        self._identity: Identity | None = None
        self._idle: list[apsw.Connection] = []

    def borrow(self) -> "Lent":
        """A connection to the file that stands there now. Raises what `open_own` raises."""
        identity = identity_of(self._path)
        with self._guard:
            if identity != self._identity:
                self._forget(identity)
            if self._idle:
                return Lent(identity, self._idle.pop())
        connection = open_own(self._path, self._read_only)
        if identity_of(self._path) == identity:
            return Lent(identity, connection)
        connection.close()
        return self.borrow()  # replaced while it was opened

    def give_back(self, lent: "Lent") -> None:
        """Kept if it is out of every transaction and its file still stands."""
        with self._guard:
            if roll_back(lent.connection) and lent.identity == self._identity:
                self._idle.append(lent.connection)
            else:
                lent.connection.close()

    @contextmanager
    def lent(self) -> Iterator[apsw.Connection]:
        lent = self.borrow()
        try:
            yield lent.connection
        finally:
            self.give_back(lent)

    def close(self) -> None:
        """Those lent out are closed when they come back."""
        with self._guard:
            self._forget(None)

    def _forget(self, identity: Identity | None) -> None:
        while self._idle:
            self._idle.pop().close()
        self._identity = identity


@frozen
class Lent:
    identity: Identity
    connection: apsw.Connection

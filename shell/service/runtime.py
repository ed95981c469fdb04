"""Collections that stay open while they are asked: opened when first meant, read by a bounded number of threads, closed at the end.

Every request reads what is current when it begins; whatever another process commits is seen by the next one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, TypeVar, overload

from attrs import frozen

from groundkit import config
from groundkit.config import UnknownCollection
from groundkit.core.model import SourceClass
from groundkit.errors import error_of
from groundkit.opened import PathLike
from groundkit.service.problems import Problem, ProblemError, busy, closing, worked

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.service.values import ChunkAnswer, CollectionsAnswer, Model, SearchAnswer, StatusAnswer

T = TypeVar("T")


@frozen
class Room:
    """Requests that are worked on at once, and those that may wait."""

    workers: int = 4
    waiting: int = 32


class Runtime:
    """The collections of one index directory, for as long as a service runs. Creating it opens and reads nothing.

    `base` is the directory that local sources lie below, else what each collection remembers. `opened` makes a collection of a
    name, for callers with extractors or embedders of their own. All methods may be called by several threads.
    """

    def __init__(
        self,
        index_directory: PathLike,
        *,
        base: PathLike | None = None,
        room: Room | None = None,
        opened: Callable[[str], Collection] | None = None,
    ) -> None:
        self._directory = Path(os.path.realpath(index_directory))
        self._base = base
        self._opener = opened or self._opened
        self._room = room or Room()
        self._lock = threading.Lock()
        #: Held while a collection is opened, which may take long: whoever asks for an open one does not wait for that.
        self._opening = threading.Lock()
        self._collections: dict[str, Collection] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._pending = 0
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- work

    @property
    def pending(self) -> int:
        """Requests that are worked on or wait."""
        return self._pending

    @property
    def waiting(self) -> int:
        """Requests that no worker has taken yet."""
        return max(0, self._pending - self._room.workers)

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have a worker do it. `ProblemError` at once where too many wait already, or the runtime is closed."""
        with self._lock:
            if self._closed:
                raise ProblemError(closing())
            if self._pending >= self._room.workers + self._room.waiting:
                raise ProblemError(busy(self._room.waiting))
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._room.workers, thread_name_prefix="gk")
            self._pending += 1
            try:
                future = self._pool.submit(work)
            except BaseException:
                self._pending -= 1
                raise
        future.add_done_callback(self._done)
        return future

    def _done(self, _: Future[T]) -> None:
        with self._lock:
            self._pending -= 1

    def close(self) -> None:
        """Take no more, finish what is being worked on, close every file. Closing twice does nothing."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            collections, self._collections = self._collections, {}
        for collection in collections.values():
            collection.close()

    @overload
    def ask(self, name: Literal["search"], **fields: object) -> SearchAnswer: ...
    @overload
    def ask(self, name: Literal["fetch_chunk"], **fields: object) -> ChunkAnswer: ...
    @overload
    def ask(self, name: Literal["list_collections"], **fields: object) -> CollectionsAnswer: ...
    @overload
    def ask(self, name: Literal["index_status"], **fields: object) -> StatusAnswer: ...
    @overload
    def ask(self, name: str, **fields: object) -> Model: ...

    def ask(self, name: str, **fields: object) -> Model:
        """The answer of an operation by its name, in this thread: `ask("search", query="tide").results`.

        `ProblemError` where there is none, also for a field that is wrong or unknown. KeyError for an unknown operation.
        """
        from groundkit.service.operations import OPERATIONS, carried_out, taken

        operation = OPERATIONS[name]
        return carried_out(self, operation, taken(operation.request, fields)).value

    # -- collections

    def names(self) -> list[str]:
        """The collections there are now, sorted."""
        from groundkit.opening import list_collections

        return worked(lambda: list_collections(self._directory))

    def collection(self, name: str) -> Collection:
        """A collection that exists, opened at its first use."""
        found = self._known(name)
        if found is not None:
            return found
        with self._opening:
            found = self._known(name)
            return self._kept(name, self._open(name)) if found is None else found

    def _known(self, name: str) -> Collection | None:
        with self._lock:
            if self._closed:
                raise ProblemError(closing())
            return self._collections.get(name)

    def _kept(self, name: str, opened: Collection) -> Collection:
        with self._lock:
            if not self._closed:
                self._collections[name] = opened
                return opened
        opened.close()
        raise ProblemError(closing())

    def _opened(self, name: str) -> Collection:
        # Storage and search are loaded with the first collection: a server says what it can do before that.
        from groundkit.opening import open as open_collection

        return open_collection(self._directory, base=self._base, collection=name)

    def _open(self, name: str) -> Collection:
        opened = worked(lambda: self._opener(name))
        try:
            refused = worked(lambda: self._refused(opened))
        except BaseException:
            opened.close()
            raise
        if refused is not None:
            opened.close()
            raise ProblemError(refused)
        return opened

    def _refused(self, opened: Collection) -> Problem | None:
        if not opened.exists:
            raise error_of(UnknownCollection(opened.name, "", config.collections_in(self._directory)))
        return no_base(opened)

    def check(self) -> None:
        """Open every collection. `ProblemError` for the first whose local documents could not be checked."""
        for name in self.names():
            try:
                self.collection(name)
            except ProblemError as error:
                if error.problem.kind == "no_base":
                    raise


def closed_within(runtime: Runtime, seconds: float) -> bool:
    """Close it, unless what is being worked on takes longer: nothing ends a thread, and it may wait for a disk for ever."""
    closing = threading.Thread(target=runtime.close, daemon=True)
    closing.start()
    closing.join(seconds)
    return not closing.is_alive()


def no_base(collection: Collection) -> Problem | None:
    """What is wrong with the directory below which a collection's local documents lie. None where it has none."""
    base = collection.base
    if base is not None and os.path.isdir(base):
        return None
    if all(each.source_class is SourceClass.SNAPSHOT for each in collection.get_document_records()):
        return None
    named = "is not known" if base is None else f"{base.name!r} cannot be opened"
    return Problem(
        "no_base",
        503,
        "The documents are not there",
        f"collection {collection.name} has local documents, and their base directory {named}",
        "start the server with --base-dir, or put the directory where the index remembers it",
    )

"""Kept files of a collection in one directory below the index directory, and those in a directory that somebody named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from attrs import field, frozen

from groundkit.adapters.snapshot_files.opening import (
    CREATE,
    Absent,
    answered,
    descriptor,
    directory_below,
    given_directory,
)
from groundkit.adapters.snapshot_files.reading import (
    LIMIT,
    Ours,
    holds,
    is_unfinished,
    listing,
    read_kept,
    why_refused,
)
from groundkit.core.result import Failure, Result, Success
from groundkit.core.snapshots import is_snapshot_name
from groundkit.core.storage import KeptListing, KeptProblem, KeptUnread, StorageFailure, StorageProblem

T = TypeVar("T")


@frozen
class KeptDirectory:
    """`groundkit.core.ports.KeptFiles` in `<index directory>/<name>`, which is made (0700) by the first `put`.

    `ours` says which names are given to files here. Links on the way to the index directory are followed, none below it:
    where one stands in the place of the directory, everything is refused and it stays, for its owner to remove.
    """

    _index: Path
    _name: str
    _ours: Ours
    _limit: int = LIMIT

    @staticmethod
    def reader_of(directory: Path) -> KeptReader:
        """The snapshots in a directory, wherever it lies."""
        return KeptReader(directory)

    def put(self, name: str, data: bytes) -> Result[bool, StorageFailure]:
        def work() -> bool:
            with given_directory(self._index) as index:
                with suppress(FileExistsError):
                    os.mkdir(self._name, 0o700, dir_fd=index)
                with directory_below(self._name, index) as directory:
                    return _put(directory, name, data)

        return self._refused(name) or answered(f"{self._name}/{name}", work)

    def settle(self) -> Result[None, StorageFailure]:
        def work(index: int, directory: int) -> None:
            os.fsync(directory)
            # Its own name may be new, also if a process was killed right after it was made.
            os.fsync(index)

        return self._standing(self._name, work, None)

    def get(self, name: str) -> Result[bytes, KeptUnread]:
        if (why := why_refused(name, self._ours)) is not None:
            return Failure(KeptUnread(KeptProblem.MISSING, why))
        return read_kept(self._entered(), name, self._limit)

    def remove(self, name: str) -> Result[None, StorageFailure]:
        """Also what `listed` calls unfinished."""
        refused = None if is_unfinished(name) else self._refused(name)
        return refused or self._standing(name, lambda _, directory: _unlink(directory, name), None)

    def listed(self) -> Result[KeptListing, StorageFailure]:
        return self._standing(self._name, lambda _, directory: listing(directory, self._ours), KeptListing())

    def discard(self) -> Result[None, StorageFailure]:
        def work(index: int, directory: int) -> None:
            found = listing(directory, self._ours)
            for name in (*found.names, *found.unfinished):
                _unlink(directory, name)
            if not os.listdir(directory):
                os.rmdir(self._name, dir_fd=index)

        return self._standing(self._name, work, None)

    def _refused(self, name: str) -> Failure[StorageFailure] | None:
        why = why_refused(name, self._ours)
        return Failure(StorageFailure(StorageProblem.FAILED, self._name, why)) if why is not None else None

    def _standing(self, artefact: str, work: Callable[[int, int], T], otherwise: T) -> Result[T, StorageFailure]:
        """What the work gives with descriptors of the index directory and the directory, or where there is none."""

        def stood() -> T:
            try:
                with given_directory(self._index) as index, directory_below(self._name, index) as directory:
                    return work(index, directory)
            except Absent:
                return otherwise

        return answered(artefact, stood)

    @contextmanager
    def _entered(self) -> Iterator[int]:
        with given_directory(self._index) as index, directory_below(self._name, index) as directory:
            yield directory


@frozen
class KeptReader:
    """`groundkit.core.ports.KeptFiles` over a directory that somebody named: snapshots are read there, nothing is changed.

    The directory itself must not be a link either.
    """

    _directory: Path
    _limit: int = field(default=LIMIT)

    def get(self, name: str) -> Result[bytes, KeptUnread]:
        if (why := why_refused(name, is_snapshot_name)) is not None:
            return Failure(KeptUnread(KeptProblem.MISSING, why))
        return read_kept(directory_below(self._directory, None), name, self._limit)

    def listed(self) -> Result[KeptListing, StorageFailure]:
        def work() -> KeptListing:
            try:
                with directory_below(self._directory, None) as directory:
                    return listing(directory, is_snapshot_name)
            except Absent:
                return KeptListing()

        return answered(self._directory.name, work)

    def put(self, name: str, data: bytes) -> Result[bool, StorageFailure]:
        return self._denied()

    def settle(self) -> Result[None, StorageFailure]:
        return Success(None)

    def remove(self, name: str) -> Result[None, StorageFailure]:
        return self._denied()

    def discard(self) -> Result[None, StorageFailure]:
        return self._denied()

    def _denied(self) -> Failure[StorageFailure]:
        return Failure(StorageFailure(StorageProblem.DENIED, self._directory.name, "opened to be read"))


def _put(directory: int, name: str, data: bytes) -> bool:
    is_new = not _stands(directory, name)
    if not is_new and holds(directory, name, data):
        return False
    # Nobody can have put a link there: the name is drawn, and an existing one is an error.
    new = f".new-{os.urandom(8).hex()}"
    try:
        with descriptor(new, CREATE, directory) as file:
            _write_all(file, data)
            os.fsync(file)
        _take_place(directory, new, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=directory)
        raise
    return is_new


def _take_place(directory: int, new: str, name: str) -> None:
    """The file gets its name. A directory that has it, with whatever somebody put there, is set aside under another."""
    try:
        os.rename(new, name, src_dir_fd=directory, dst_dir_fd=directory)
    except IsADirectoryError:
        aside = f"{name}.aside-{os.urandom(4).hex()}"
        os.rename(name, aside, src_dir_fd=directory, dst_dir_fd=directory)
        os.rename(new, name, src_dir_fd=directory, dst_dir_fd=directory)


def _stands(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _unlink(directory: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)

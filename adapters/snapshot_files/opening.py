"""Everything by descriptor and without following a link; and what the errors of the system mean here.

Whoever may write into the index directory may change any name in it between two of our steps. A descriptor stays what it is.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import StorageFailure, StorageProblem

T = TypeVar("T")

#: Without waiting for whoever writes into a FIFO.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

_PROBLEMS = {
    errno.ENOENT: StorageProblem.MISSING,
    errno.EACCES: StorageProblem.DENIED,
    errno.EPERM: StorageProblem.DENIED,
    errno.EROFS: StorageProblem.DENIED,
    errno.ENOSPC: StorageProblem.FULL,
    errno.EDQUOT: StorageProblem.FULL,
    errno.EFBIG: StorageProblem.FULL,
    errno.ELOOP: StorageProblem.FOREIGN,
    errno.ENOTDIR: StorageProblem.FOREIGN,
    errno.EISDIR: StorageProblem.FOREIGN,
}
_KINDS = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a pipe"))


class Absent(Exception):
    """There is no directory of kept files, or no index directory."""


class Refused(Exception):
    """Something else stands where a directory of ours, or a file, should be."""


@contextmanager
def descriptor(path: str | Path, flags: int, below: int | None = None) -> Iterator[int]:
    """Made, if at all, for its owner alone."""
    opened = os.open(path, flags, 0o600, dir_fd=below)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def given_directory(path: Path) -> Iterator[int]:
    """A directory that was named by who uses this: links on the way to it are theirs."""
    with _directory(path, _DIRECTORY, None) as opened:
        yield opened


@contextmanager
def directory_below(name: str | Path, below: int | None) -> Iterator[int]:
    """A directory, never through a link in its place."""
    with _directory(name, _DIRECTORY | os.O_NOFOLLOW, below) as opened:
        yield opened


@contextmanager
def _directory(path: str | Path, flags: int, below: int | None) -> Iterator[int]:
    try:
        opened = os.open(path, flags, dir_fd=below)
    except (FileNotFoundError, ValueError) as error:  # no name of a directory holds NUL, or half a character
        raise Absent from error
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        raise Refused(f"{_kind(path, below)} stands in the place of the directory") from error
    try:
        yield opened
    finally:
        os.close(opened)


def _kind(path: str | Path, below: int | None) -> str:
    try:
        return kind_of(os.stat(path, dir_fd=below, follow_symlinks=False).st_mode)
    except OSError:
        return "something else"


def kind_of(mode: int) -> str:
    return next((words for fits, words in _KINDS if fits(mode)), "no regular file")


def answered(artefact: str, work: Callable[[], T]) -> Result[T, StorageFailure]:
    """What the work gives, or why there is nothing, without a path."""
    try:
        return Success(work())
    except Absent:
        return Failure(StorageFailure(StorageProblem.MISSING, artefact, "there is no such directory"))
    except Refused as refused:
        return Failure(StorageFailure(StorageProblem.FOREIGN, artefact, str(refused)))
    except OSError as error:
        problem = _PROBLEMS.get(error.errno or 0, StorageProblem.FAILED)
        return Failure(StorageFailure(problem, artefact, said(error)))


def said(error: OSError) -> str:
    """In the system's words; an error's own text would name the directory."""
    return "a symbolic link" if error.errno == errno.ELOOP else error.strerror or type(error).__name__

"""The clock, the writer lock, private directories, and which systems this runs on."""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from groundkit.core.ports import LockBusy
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import StorageFailure, StorageProblem

#: Seconds between two tries for the lock.
_PAUSE = 0.02
#: A holder's line is cut at so many bytes.
_HOLDER_BYTES = 200
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY

_PROBLEMS = {
    errno.ENOENT: StorageProblem.MISSING,
    errno.ENOTDIR: StorageProblem.MISSING,
    errno.EACCES: StorageProblem.DENIED,
    errno.EPERM: StorageProblem.DENIED,
    errno.EROFS: StorageProblem.DENIED,
    errno.ENOSPC: StorageProblem.FULL,
    errno.EDQUOT: StorageProblem.FULL,
    errno.ELOOP: StorageProblem.FOREIGN,
    errno.EISDIR: StorageProblem.FOREIGN,
    errno.ENXIO: StorageProblem.FOREIGN,
    errno.EEXIST: StorageProblem.FOREIGN,
}


class SystemClock:
    def now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def private_directory(path: Path) -> Result[None, StorageFailure]:
    """Make a directory that only its owner may enter (0700). An existing one is left as it is; parents are made as usual."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
    except FileExistsError as error:
        return Success(None) if path.is_dir() else Failure(_failure(path, error))
    except OSError as error:
        return Failure(_failure(path, error))
    return Success(None)


class FileLock:
    """`WriterLock` by flock on a file that is never unlinked. It ends with its holder, however that ends.

    A process forked off meanwhile, without exec, keeps it alive if the holder is killed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def hold(self, seconds: float) -> Result[AbstractContextManager[None], LockBusy | StorageFailure]:
        """See `WriterLock`. Also a second hold within one process is refused or waits."""
        end = time.monotonic() + seconds
        while True:
            taken = self._take()
            if not isinstance(taken, Failure) or isinstance(taken.failure(), StorageFailure):
                break
            left = end - time.monotonic()
            if not left > 0:  # also where `seconds` is no number
                break
            time.sleep(min(_PAUSE, left))
        return taken if isinstance(taken, Failure) else Success(_held(taken.unwrap()))

    def _take(self) -> Result[int, LockBusy | StorageFailure]:
        """The locked descriptor of the file that the path names."""
        try:
            descriptor = os.open(self.path, _FLAGS, 0o600)
        except OSError as error:
            return Failure(_failure(self.path, error))
        try:
            taken = _lock(self.path, descriptor)
        except OSError as error:
            taken = Failure(_failure(self.path, error))
        if isinstance(taken, Failure):
            os.close(descriptor)
        return taken


def _lock(path: Path, descriptor: int) -> Result[int, LockBusy | StorageFailure]:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return Failure(StorageFailure(StorageProblem.FOREIGN, path.name, "not a regular file"))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return Failure(LockBusy(_holder(descriptor)))
    if not _still_there(path, descriptor):
        return Failure(LockBusy(""))
    # What it says is a courtesy to others, and no reason to fail on a full disk.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _own_line(), 0)
    return Success(descriptor)


def _still_there(path: Path, descriptor: int) -> bool:
    """Whether the path names what was opened. A lock on a file that somebody took away protects nothing."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


@contextmanager
def _held(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        with suppress(OSError):
            # Closing alone would leave it with a process that is just being started and has a copy for a moment.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _own_line() -> bytes:
    line = f"process {os.getpid()} on {os.uname().nodename} since {SystemClock().now()}"
    return line.encode("utf-8", "replace")[: _HOLDER_BYTES - 1] + b"\n"


def _holder(descriptor: int) -> str:
    """What the holder wrote, made harmless: another program may have written anything."""
    line = os.pread(descriptor, _HOLDER_BYTES, 0).decode("utf-8", "replace").partition("\n")[0]
    return re.sub(r"[^\x20-\x7e]", "?", line)


def _failure(path: Path, error: OSError) -> StorageFailure:
    said = "a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
    return StorageFailure(_PROBLEMS.get(error.errno or 0, StorageProblem.FAILED), path.name, said)

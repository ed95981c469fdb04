"""The directory of the matrices, by descriptors: no link below the index directory is followed, nobody else's file touched."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Without waiting for whoever writes into a FIFO.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OURS, _UNFINISHED = re.compile(r"[0-9a-f]{64}\.matrix"), re.compile(r"\.new-[0-9a-f]{16}")
#: Seconds after which nobody is still writing a file.
_LONG = 3600


def name_of(key: bytes) -> str:
    return f"{key.hex()}.matrix"


@contextmanager
def entered(path: Path, make: bool = False) -> Iterator[int]:
    """The directory, made (0700) if it is to be; OSError if something else has its name."""
    index = os.open(path.parent, _DIRECTORY)
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(path.name, 0o700, dir_fd=index)
        directory = os.open(path.name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=index)
    finally:
        os.close(index)
    try:
        yield directory
    finally:
        os.close(directory)


@contextmanager
def regular(directory: int, name: str) -> Iterator[tuple[int, int]]:
    """Descriptor and size of a file that is one."""
    file = os.open(name, _READ, dir_fd=directory)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{name} is no file")
        yield file, status.st_size
    finally:
        os.close(file)


def put(directory: int, name: str, pieces: Iterable[bytes | memoryview]) -> None:
    """The file, whole or not at all. Whoever has mapped the one before keeps it."""
    new = f".new-{os.urandom(8).hex()}"
    try:
        file = os.open(new, _CREATE, 0o600, dir_fd=directory)
        try:
            for piece in pieces:
                _write_all(file, memoryview(piece))
            os.fsync(file)
        finally:
            os.close(file)
        os.rename(new, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=directory)
        raise


def _write_all(file: int, left: memoryview) -> None:
    while left:
        left = left[os.write(file, left) :]


def sweep(directory: int, kept: str) -> None:
    """Unlink the matrices of other generations, and what was left half-written long before this one."""
    now = os.stat(kept, dir_fd=directory, follow_symlinks=False).st_mtime
    for name in os.listdir(directory):
        # One that is gone was somebody else's to remove, and one that cannot be is no harm.
        with suppress(OSError):
            other = name != kept and _OURS.fullmatch(name) is not None
            if other or (_UNFINISHED.fullmatch(name) and _changed(directory, name) < now - _LONG):
                os.unlink(name, dir_fd=directory)


def _changed(directory: int, name: str) -> float:
    return os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime


def remove_all(path: Path) -> None:
    """Everything of ours, and the directory if nothing else is left in it. Nothing where there is none."""
    try:
        with entered(path) as directory:
            for name in os.listdir(directory):
                if _OURS.fullmatch(name) or _UNFINISHED.fullmatch(name):
                    with suppress(FileNotFoundError, IsADirectoryError):
                        os.unlink(name, dir_fd=directory)
            empty = not os.listdir(directory)
        if empty:
            os.rmdir(path)
    except FileNotFoundError:
        return

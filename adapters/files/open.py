"""Reaching files through directory descriptors, reading them whole, and saying why that failed."""

import errno
import os
import stat
import sys
import time

from attrs import evolve

from groundkit.core.fingerprint import bytes_digest
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import EntryKind, ReadFailure, ReadProblem, ReadSource, link_refused

LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
#: Passing through needs no right to list, where the system can say so.
PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
#: A FIFO must not block, a terminal must not become ours.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_AT_ONCE = 1024 * 1024
#: A file touched no longer ago than this is looked at twice. Time stamps come in ticks and are set when a write begins,
#: so they cannot tell one write from the next, or a write that is done from one under way.
_FRESH_NS = 100_000_000
#: How long a write may stand still between the two looks: some ticks, and more for what takes longer to write.
_PAUSE, _LONGEST_PAUSE, _BYTES_PER_SECOND = 0.005, 0.1, 100_000_000
_NAMES_ARE_UTF8 = sys.getfilesystemencoding().replace("-", "").lower() == "utf8"

_PROBLEMS = {
    errno.ENOENT: ReadProblem.MISSING,
    errno.ENOTDIR: ReadProblem.MISSING,
    errno.ENAMETOOLONG: ReadProblem.MISSING,
    errno.ENXIO: ReadProblem.NOT_REGULAR,
    errno.ENODEV: ReadProblem.NOT_REGULAR,
}


def listed_name(listed: str) -> str:
    """A listed name as UTF-8 reads it, whatever the locale says."""
    return listed if _NAMES_ARE_UTF8 else os.fsencode(listed).decode("utf-8", "surrogateescape")


def name_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def kind_of_mode(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return EntryKind.FILE
    if stat.S_ISDIR(mode):
        return EntryKind.DIRECTORY
    return EntryKind.LINK if stat.S_ISLNK(mode) else EntryKind.OTHER


def target_of(directory: int, name: str) -> str:
    """Where a link points, for a person to read."""
    try:
        return os.readlink(name_bytes(name), dir_fd=directory).decode("utf-8", "surrogateescape")
    except OSError:
        return "?"


def descend(start: int, start_path: str, names: list[str], flags: int) -> int | ReadFailure:
    """Open a directory below another one, part by part, following no link."""
    current, path = start, start_path
    for position, name in enumerate(names):
        above, path = current, f"{path}/{name}" if path else name
        try:
            current = os.open(name_bytes(name), flags if position == len(names) - 1 else PASS, dir_fd=above)
        except OSError as error:
            return why_not_opened(above, name, path, error)
        finally:
            if above != start:
                os.close(above)
    return current


def why_not_opened(directory: int, name: str, source: str, error: OSError) -> ReadFailure:
    """Why a name in a directory could not be opened; a link refuses in several ways."""
    try:
        kind = kind_of_mode(os.stat(name_bytes(name), dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return failure(source, error)
    if kind is EntryKind.LINK:
        return link_refused(source, source, target_of(directory, name))
    return failure(source, error, source if error.errno == errno.ENOTDIR else "")


def failure(source: str, error: OSError, what: str = "") -> ReadFailure:
    said = error.strerror or str(error)
    detail = f"{what}: {said}" if what else said
    return ReadFailure(source, _PROBLEMS.get(error.errno or 0, ReadProblem.UNREADABLE), detail)


def about(source: str, failure: ReadFailure) -> ReadFailure:
    """The same failure, told of a source that it stands in the way of."""
    return evolve(failure, source=source)


def read_all(source: str, descriptor: int, limit: int) -> Result[ReadSource, ReadFailure]:
    """All bytes of a regular file that did not change meanwhile: by its size and times, and where those are so fresh
    that they say nothing, by a second look at the bytes."""
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        return Failure(ReadFailure(source, ReadProblem.NOT_REGULAR, kind_of_mode(before.st_mode).value))
    if before.st_size > limit:
        return Failure(_too_large(source, f"{before.st_size} bytes", limit))
    data = _bytes_of(descriptor, before.st_size, limit)
    if len(data) > limit:
        return Failure(_too_large(source, "more bytes than its size says", limit))
    if len(data) != before.st_size or not _unchanged(descriptor, before, data):
        return Failure(ReadFailure(source, ReadProblem.CHANGING, "changed while it was read"))
    return Success(ReadSource(source, data, bytes_digest(data)))


def _unchanged(descriptor: int, before: os.stat_result, data: bytes) -> bool:
    after = os.fstat(descriptor)
    if _state(after) != _state(before):
        return False
    # The time of change, since nobody can set that one. One in the future is as fresh as can be.
    if time.time_ns() - after.st_ctime_ns >= _FRESH_NS:
        return True
    time.sleep(min(_PAUSE + len(data) / _BYTES_PER_SECOND, _LONGEST_PAUSE))
    return _holds(descriptor, data) and _state(os.fstat(descriptor)) == _state(before)


def _state(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _holds(descriptor: int, data: bytes) -> bool:
    """Whether the file's bytes are these, read anew."""
    view, at = memoryview(data), 0
    while part := os.pread(descriptor, _AT_ONCE, at):
        if part != view[at : at + len(part)]:
            return False
        at += len(part)
    return at == len(data)


def _bytes_of(descriptor: int, size: int, limit: int) -> bytes:
    """All bytes, or one more than the limit. A short read that gives the expected size is the end."""
    first = os.read(descriptor, min(size, limit) + 1)
    parts, count = [first], len(first)
    while parts[-1] and count != size and count <= limit:
        parts.append(os.read(descriptor, min(limit + 1 - count, _AT_ONCE)))
        count += len(parts[-1])
    return first if len(parts) == 1 else b"".join(parts)


def _too_large(source: str, size: str, limit: int) -> ReadFailure:
    return ReadFailure(source, ReadProblem.TOO_LARGE, f"{size}, at most {limit} are read; --max-bytes raises it")

"""What lies in a directory of kept files, given its descriptor."""

import os
import re
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

from groundkit.adapters.snapshot_files.opening import READ, Absent, Refused, descriptor, kind_of, said
from groundkit.core.result import Failure, Result, Success
from groundkit.core.snapshots import name_refused
from groundkit.core.storage import KeptListing, KeptProblem, KeptUnread

Ours = Callable[[str], bool]

#: A file of this size is no snapshot of anything that we fetched.
LIMIT = 1 << 30
_BLOCK = 1 << 20
_UNFINISHED = re.compile(r"\.new-[0-9a-f]{16}")
_SHOWN = 80


def is_unfinished(name: str) -> bool:
    """Whether this is what a file of ours is called while it is written."""
    return _UNFINISHED.fullmatch(name) is not None


def why_refused(name: str, ours: Ours) -> str | None:
    """Why nothing of this name is touched; the name in it is harmless to show."""
    refused = name_refused(name)
    if refused is None and ours(name):
        return None
    return f"{ascii(name)[:_SHOWN]}: {refused.why if refused else 'not the name of a file that is kept here'}"


def read_kept(entered: AbstractContextManager[int], name: str, limit: int) -> Result[bytes, KeptUnread]:
    """The bytes of a regular file in the directory that `entered` opens."""
    try:
        with entered as directory, descriptor(name, READ, directory) as file:
            return Success(read_regular(file, limit))
    except (Absent, FileNotFoundError):
        return Failure(KeptUnread(KeptProblem.MISSING, "there is no such file"))
    except Refused as refused:
        return Failure(KeptUnread(KeptProblem.CORRUPT, str(refused)))
    except OSError as error:
        return Failure(KeptUnread(KeptProblem.CORRUPT, said(error)))


def read_regular(file: int, limit: int) -> bytes:
    facts = os.fstat(file)
    if not stat.S_ISREG(facts.st_mode):
        raise Refused(kind_of(facts.st_mode))
    if facts.st_size > limit:
        raise Refused(f"it has {facts.st_size} bytes; more than {limit} are not read")
    blocks = []
    left = limit
    while left and (block := os.read(file, min(_BLOCK, left))):
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks)


def holds(directory: int, name: str, data: bytes) -> bool:
    """Whether a regular file of this name has exactly this content."""
    with suppress(OSError, Refused), descriptor(name, READ, directory) as file:
        return os.fstat(file).st_size == len(data) and read_regular(file, len(data)) == data
    return False


def listing(directory: int, ours: Ours) -> KeptListing:
    """A directory is nobody's snapshot, whatever its name."""
    names: list[str] = []
    unfinished: list[str] = []
    foreign: list[str] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) or not (ours(entry.name) or is_unfinished(entry.name)):
                foreign.append(_shown(entry.name))
            else:
                (names if ours(entry.name) else unfinished).append(entry.name)
    return KeptListing(*(tuple(sorted(each)) for each in (names, unfinished, foreign)))


def _shown(name: str) -> str:
    """Bytes that are no UTF-8, as they are written in Python."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")

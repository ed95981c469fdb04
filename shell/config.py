"""Where an index lies, which collection is meant, and how its base is remembered. No state, no global: answers to questions."""

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from attrs import frozen

from groundkit.core.result import Failure, Result, Success

INDEX_NAME = ".groundkit"
DEFAULT_COLLECTION = "default"
_COLLECTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@frozen
class BadCollectionName:
    """Not `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`."""

    name: str


@frozen
class NoIndexDirectory:
    """Neither given nor found on the way up from here."""

    start: str


@frozen
class UnknownCollection:
    """No such collection here; what there is instead."""

    name: str
    index_directory: str
    existing: tuple[str, ...]


def collection_name(name: str) -> Result[str, BadCollectionName]:
    return Success(name) if _COLLECTION.fullmatch(name) else Failure(BadCollectionName(name))


def find_index(given: str | None, environment: Mapping[str, str], start: Path) -> Result[Path, NoIndexDirectory]:
    """The index directory: as given, `GK_INDEX_DIR`, or the nearest `.groundkit` on the way up, as git looks for its own."""
    named = given or environment.get("GK_INDEX_DIR")
    if named:
        return Success(Path(os.path.abspath(start / named)))
    for folder in (start, *start.parents):
        if (folder / INDEX_NAME).is_dir():
            return Success(folder / INDEX_NAME)
    return Failure(NoIndexDirectory(str(start)))


def collections_in(index_directory: Path) -> tuple[str, ...]:
    """Names of the collections that have a store here, sorted. `OSError` where that cannot be told."""
    try:
        names = os.listdir(index_directory)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    ending = ".sqlite3"
    stems = [name.removesuffix(ending) for name in names if name.endswith(ending)]
    return tuple(sorted(stem for stem in stems if _COLLECTION.fullmatch(stem)))


def relative_base(base: Path, index_directory: Path) -> str:
    """The base as it is remembered: the way to it from the index directory, with `/`."""
    return PurePosixPath(os.path.relpath(base, index_directory)).as_posix()


def absolute_base(remembered: str, index_directory: Path) -> Path:
    """The directory that `relative_base` led to."""
    return Path(os.path.normpath(index_directory / remembered))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Where an index lies, which collection is meant, and where its sources are. No state, no global: answers to questions."""

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from attrs import frozen

from groundkit.core.paths import PathRefused, choose_base, relative_source
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
class NotBelowBase:
    """Paths that do not lie below the base directory, and the base."""

    paths: tuple[str, ...]
    base: str


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
    """Names of the collections that have a store here, sorted."""
    try:
        names = os.listdir(index_directory)
    except OSError:
        return ()
    ending = ".sqlite3"
    stems = [name.removesuffix(ending) for name in names if name.endswith(ending)]
    return tuple(sorted(stem for stem in stems if _COLLECTION.fullmatch(stem)))


def base_for(paths: tuple[Path, ...], index_directory: Path, given: Path | None) -> Result[Path, PathRefused]:
    """The base directory of a collection's first ingest.

    As given; else the directory that holds the index if all paths lie in it; else the one directory given, or the common
    parent of what was given.
    """
    if given is not None:
        return Success(given)
    folders = tuple(str(path if path.is_dir() else path.parent) for path in paths)
    chosen = choose_base(str(index_directory.parent), folders)
    return chosen if isinstance(chosen, Failure) else Success(Path(chosen.unwrap()))


def relative_base(base: Path, index_directory: Path) -> str:
    """The base as it is remembered: the way to it from the index directory, with `/`."""
    return PurePosixPath(os.path.relpath(base, index_directory)).as_posix()


def below_base(paths: tuple[Path, ...], base: Path) -> Result[tuple[str, ...], NotBelowBase]:
    """Paths (absolute) as sources below the base: compared as written, then with links on the way to both resolved."""
    found: list[str] = []
    outside: list[str] = []
    for path in paths:
        ways = ((path, base), (path.parent.resolve() / path.name, base.resolve()), (path.resolve(), base.resolve()))
        named = [relative_source(str(other), str(one)) for one, other in ways]
        inside = [each.unwrap() for each in named if isinstance(each, Success)]
        if inside:
            found.append(inside[0])
        else:
            outside.append(str(path))
    return Failure(NotBelowBase(tuple(outside), str(base))) if outside else Success(tuple(found))


def host_of(url: str) -> str:
    """A URL's scheme and host, without what might be a secret in it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split(r'[/?#]', rest, maxsplit=1)[0].rpartition('@')[2]}"

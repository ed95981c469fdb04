"""Which directory the sources of a collection lie below, and how paths are named from there."""

from contextlib import suppress
from pathlib import Path

from attrs import frozen

from groundkit.core.paths import PathRefused, choose_base, relative_source
from groundkit.core.result import Failure, Result, Success


@frozen
class NotBelowBase:
    """Paths that do not lie below the base directory, and the base."""

    paths: tuple[str, ...]
    base: str


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


def below_base(paths: tuple[Path, ...], base: Path) -> Result[tuple[str, ...], NotBelowBase]:
    """Paths (absolute) as sources below the base: compared as written, then with links on the way to both resolved."""
    found: list[str] = []
    outside: list[str] = []
    for path in paths:
        source = _named(path, base)
        if source is None:
            outside.append(str(path))
        else:
            found.append(source)
    return Failure(NotBelowBase(tuple(outside), str(base))) if outside else Success(tuple(found))


def _named(path: Path, base: Path) -> str | None:
    ways: tuple[tuple[Path, Path], ...] = ((path, base),)
    # A name that no file can have, or a loop of links, is taken as it is written.
    with suppress(OSError, ValueError, RuntimeError):
        ways = ((path, base), (path.parent.resolve() / path.name, base.resolve()), (path.resolve(), base.resolve()))
    named = [relative_source(str(other), str(one)) for one, other in ways]
    return next((each.unwrap() for each in named if isinstance(each, Success)), None)

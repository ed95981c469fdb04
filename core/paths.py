"""Arithmetic on path names, without looking at any file: containment, common parents, ways between directories.

A source is a path relative to its base directory with `/` between its parts, "" for the base itself. Names are never
normalised. `Style.WINDOWS` reads drive letters and both separators; everything given back uses `/`.
"""

import re
from collections.abc import Sequence
from enum import Enum

from attrs import frozen

from groundkit.core.result import Failure, Result, Success


class Style(Enum):
    """How absolute paths are written on a system."""

    POSIX = "posix"
    WINDOWS = "windows"


class PathProblem(Enum):
    OUTSIDE_BASE = "outside_base"
    NOT_ABSOLUTE = "not_absolute"
    HOLDS_NUL = "holds_nul"
    ONLY_ROOT = "only_root"


@frozen
class PathRefused:
    """A path that names nothing below the base, or nothing a base could be."""

    path: str
    problem: PathProblem


#: A root ("/", "c:/", "//server/share/") and the parts below it.
Parts = tuple[str, ...]

_DRIVE = re.compile(r"([A-Za-z]:)/")
_SHARE = re.compile(r"//([^/]+)/([^/]+)(?=/|$)")


def is_within_base(source: str, style: Style = Style.POSIX) -> bool:
    """Whether this names something below its base, by its parts alone.

    Refused: "", absolute paths, `.`, `..` and empty parts, NUL; on Windows also backslashes and colons. A backslash is
    an ordinary character elsewhere.
    """
    if "\0" in source or (style is Style.WINDOWS and re.search(r"[\\:]", source)):
        return False
    return all(part not in ("", ".", "..") for part in source.split("/"))


def is_asked_path(path: str) -> bool:
    """Whether a walk may start here: the base itself or something below it."""
    return path == "" or is_within_base(path)


def lies_below(source: str, path: str) -> bool:
    """Whether a source is this path or lies below it; everything lies below ""."""
    return path in ("", source) or source.startswith(path + "/")


def parents_of(source: str) -> list[str]:
    """Every directory above a source, the outermost first, without the base itself."""
    parts = source.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _root(path: str, style: Style) -> str | None:
    if style is Style.POSIX:
        return "/" if path.startswith("/") else None
    match = _SHARE.match(path) or _DRIVE.match(path)
    # Drive letters and servers compare without case.
    return match.group().rstrip("/").lower() + "/" if match else None


def absolute_parts(path: str, style: Style = Style.POSIX) -> Result[Parts, PathRefused]:
    """The root of an absolute path and its parts; `.`, empty parts and `..` are resolved by name."""
    if "\0" in path:
        return Failure(PathRefused(path, PathProblem.HOLDS_NUL))
    written = path.replace("\\", "/") if style is Style.WINDOWS else path
    root = _root(written, style)
    if root is None:
        return Failure(PathRefused(path, PathProblem.NOT_ABSOLUTE))
    parts: list[str] = []
    for part in written[len(root) :].split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return Success((root, *parts))


def relative_source(base: str, path: str, style: Style = Style.POSIX) -> Result[str, PathRefused]:
    """The name of an absolute path below an absolute base; "" for the base itself."""
    inside, outer = absolute_parts(path, style), absolute_parts(base, style)
    if isinstance(inside, Failure):
        return inside
    if isinstance(outer, Failure):
        return outer
    parts, above = inside.unwrap(), outer.unwrap()
    if parts[: len(above)] != above:
        return Failure(PathRefused(path, PathProblem.OUTSIDE_BASE))
    return Success("/".join(parts[len(above) :]))


def common_parent(directories: Sequence[str], style: Style = Style.POSIX) -> Result[str, PathRefused]:
    """The deepest directory in or above which none of these (at least one) lies outside; never a root."""
    shared: Parts | None = None
    for directory in directories:
        parts = absolute_parts(directory, style)
        if isinstance(parts, Failure):
            return parts
        shared = parts.unwrap() if shared is None else _shared_start(shared, parts.unwrap())
    if shared is None or len(shared) < 2:
        return Failure(PathRefused(directories[0] if directories else "", PathProblem.ONLY_ROOT))
    return Success(_written(shared))


def choose_base(home: str, directories: Sequence[str], style: Style = Style.POSIX) -> Result[str, PathRefused]:
    """The base of a new collection: `home`, which holds the index directory, if all lie in it, else their common parent."""
    if all(isinstance(relative_source(home, directory, style), Success) for directory in directories):
        return Success(home)
    return common_parent(directories, style)


def _shared_start(one: Parts, other: Parts) -> Parts:
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return one[:count]


def _written(parts: Parts) -> str:
    return parts[0] + "/".join(parts[1:])

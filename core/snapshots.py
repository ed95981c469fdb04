"""Where snapshots lie and what they are called: arithmetic on names, without looking at any file."""

import re
from enum import StrEnum

from attrs import frozen

from groundkit.core.paths import Style
from groundkit.core.result import Failure, Result, Success

#: What follows a collection's name in that of its directory of snapshots, and of kept bodies.
SNAPSHOTS = ".snapshots"
BODIES = ".bodies"

_BODY_SUFFIX = ".warc.gz"
_SNAPSHOT_NAME = re.compile(r"[0-9a-f]{32}")
_BODY_NAME = re.compile(r"[0-9a-f]{64}" + re.escape(_BODY_SUFFIX))

_SEPARATORS = {Style.POSIX: "/", Style.WINDOWS: "/\\"}
#: Letters are the usual ones, but a system may be told to use others.
_DRIVE = re.compile(r".:", re.DOTALL)


class BadName(StrEnum):
    """Why a document id cannot be the name of a file in one directory."""

    EMPTY = "it is empty"
    SPECIAL = "it stands for a directory"
    NUL = "it holds NUL"
    SEPARATOR = "it holds a separator of paths"
    DRIVE = "it begins with a drive"


@frozen
class SnapshotNameRefused:
    """A document id that would lead out of the directory of snapshots, or nowhere."""

    document_id: str
    why: BadName


def snapshot_dir_for(index_dir: str, collection: str, style: Style = Style.POSIX) -> str:
    """The directory of a collection's snapshots in its index directory."""
    return _joined(index_dir, collection + SNAPSHOTS, style)


def snapshot_path_for(
    snapshot_dir: str, document_id: str, style: Style = Style.POSIX
) -> Result[str, SnapshotNameRefused]:
    """Where the snapshot of a document lies: directly in the directory, under its id, whatever the id is.

    Whoever opens it still follows no link: this is arithmetic.
    """
    refused = name_refused(document_id, style)
    return Failure(refused) if refused else Success(_joined(snapshot_dir, document_id, style))


def name_refused(document_id: str, style: Style = Style.POSIX) -> SnapshotNameRefused | None:
    """Why a document id is not exactly one part of a path; None if it is."""
    why = _why(document_id, style)
    return SnapshotNameRefused(document_id, why) if why else None


def _why(name: str, style: Style) -> BadName | None:
    if not name:
        return BadName.EMPTY
    if name in (".", ".."):
        return BadName.SPECIAL
    if "\0" in name:
        return BadName.NUL
    if any(separator in name for separator in _SEPARATORS[style]):
        return BadName.SEPARATOR
    return BadName.DRIVE if _DRIVE.match(name) else None


def _joined(directory: str, name: str, style: Style) -> str:
    """Without a directory, below the working directory, and not below the root."""
    ends = not directory or directory.endswith(tuple(_SEPARATORS[style]))
    return f"{directory}{'' if ends else _SEPARATORS[style][-1]}{name}"


def is_snapshot_name(name: str) -> bool:
    """Whether we would give a snapshot this name: a document id."""
    return _SNAPSHOT_NAME.fullmatch(name) is not None


def body_name(digest: str) -> str:
    """The name of the file with a raw response, by the SHA-256 of that file."""
    return digest + _BODY_SUFFIX


def is_body_name(name: str) -> bool:
    return _BODY_NAME.fullmatch(name) is not None

"""The files of a build: which are in force, whether they are what was written, and what a killed writer left of them."""

import fcntl
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from groundkit.adapters.tantivy_index.failures import Damaged

_SEGMENT_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_SEGMENT_FILE = r"[0-9a-f]{32}\.(?:\d+\.)?\w+"
_FOOTER = re.compile(rb'\{"version":\{"major":\d+,"minor":\d+,"patch":\d+,"index_format_version":\d+\},"crc":(\d+)\}')
_FOOTER_MAGIC = 1337
#: Beside the segments: size and time of change of each file when it was last known to be sound.
_STAMPS = ".stamps.json"

#: Size in bytes, time of change in nanoseconds.
Stamp = tuple[int, int]


def _meta(path: Path) -> dict[str, int | None]:
    """The hex id of every segment that is in force, with the number of its delete file."""
    try:
        segments = json.loads((path / "meta.json").read_bytes())["segments"]
        return {each["segment_id"].replace("-", ""): (each["deletes"] or {}).get("opstamp") for each in segments}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"meta.json: {error}") from error


def named(path: Path) -> set[str]:
    """Files of all segments in force."""
    segments = _meta(path)
    parts = {f"{segment}.{part}" for segment in segments for part in _SEGMENT_PARTS}
    return parts | {f"{segment}.{opstamp}.del" for segment, opstamp in segments.items() if opstamp is not None}


def sweep(path: Path) -> None:
    """Unlink what a killed writer left. Readers that are just opening keep the lock while they do."""
    with open(path / ".tantivy-meta.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        in_force = named(path)
        for name in os.listdir(path):
            if name not in in_force and (re.fullmatch(_SEGMENT_FILE, name) or name.startswith(".tmp")):
                os.unlink(path / name)


def stamps_of(path: Path, names: Iterable[str]) -> dict[str, Stamp | None]:
    """None for a file that is missing."""
    found: dict[str, Stamp | None] = {}
    for name in names:
        try:
            status = os.stat(path / name)
        except FileNotFoundError:
            found[name] = None
        else:
            found[name] = (status.st_size, status.st_mtime_ns)
    return found


def remember(path: Path, stamps: dict[str, Stamp | None]) -> None:
    """Leave the stamps of sound files for readers. If this is lost, they read the files' checksums instead."""
    fresh = path / f"{_STAMPS}.new"
    fresh.write_text(json.dumps(stamps))
    fresh.replace(path / _STAMPS)


def remembered(path: Path) -> dict[str, Stamp]:
    """What `remember` left; nothing where it cannot be read."""
    try:
        stamps = json.loads((path / _STAMPS).read_bytes())
        return {name: (int(size), int(changed)) for name, (size, changed) in stamps.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def findings(path: Path, names: Iterable[str]) -> Iterator[str]:
    """Files that are missing or whose checksum, which tantivy writes and never reads, does not fit."""
    for name in names:
        try:
            fits = _checksum_fits((path / name).read_bytes())
        except FileNotFoundError:
            yield f"{name} is missing"
        else:
            if not fits:
                yield f"{name} does not have the checksum it was written with"


def _checksum_fits(data: bytes) -> bool:
    """A file is its body, a footer with the CRC-32 of the body, the footer's length, and a magic number."""
    if len(data) < 8:
        return False
    length, magic = int.from_bytes(data[-8:-4], "little"), int.from_bytes(data[-4:], "little")
    footer = _FOOTER.fullmatch(data[-8 - length : -8])
    return magic == _FOOTER_MAGIC and footer is not None and int(footer[1]) == zlib.crc32(data[: -8 - length])


def make_private(path: Path) -> None:
    """Files only: whatever else somebody put here is not ours."""
    for entry in os.scandir(path):
        if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mode & 0o077:
            os.chmod(entry.path, 0o600)


def is_real_directory(path: Path) -> bool:
    """A directory and no link to one: what a link leads to is not ours."""
    return path.is_dir() and not path.is_symlink()


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """A directory with all in it; a link or a file by itself. Nothing that a link leads to."""
    # Only a writer pays for this.
    import shutil

    if is_real_directory(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

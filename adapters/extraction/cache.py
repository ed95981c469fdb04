"""Extractions kept on disk, by digest of the bytes and identity of the extractor. What is not whole is not there."""

import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

from groundkit.adapters.extraction.codec import decode, encode
from groundkit.core.extraction import Extraction

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_NEW = ".new-"
#: A half-written file of another process is left alone for so many seconds.
_ABANDONED_SECONDS = 3600.0
#: Beyond the limit, so much of it is kept: making room is one look at the directory for many files.
_KEPT = 0.9
_SHA = hashlib.sha256().digest_size


class ExtractionCache:
    """A directory (0700) of files (0600), each with the SHA-256 of the rest of it in front.

    Several processes may use one directory; each holds it to the limit by what it wrote itself.
    """

    def __init__(self, directory: Path, limit_bytes: int) -> None:
        self._directory = directory
        self._limit = limit_bytes
        self._lock = Lock()
        self._held: int | None = None

    def prepare(self) -> None:
        """Make the directory. What has not been prepared keeps nothing, so that no search makes a directory."""
        with suppress(OSError):
            os.mkdir(self._directory, 0o700)

    def get(self, digest: str, identity: str) -> Extraction | None:
        """What was put for these bytes and this extractor; None if nothing, or nothing whole."""
        if not _DIGEST.match(digest):
            return None
        try:
            descriptor = os.open(self._path(digest, identity), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                stored = file.read(self._limit + 1)
                with suppress(OSError):
                    os.utime(file.fileno())
        except OSError:
            return None
        return _unpacked(stored, digest, identity)

    def put(self, digest: str, identity: str, extraction: Extraction) -> None:
        """Keep an extraction, if there is a place for it. Never raises for want of one."""
        if not _DIGEST.match(digest):
            return
        stored = _packed(extraction, digest, identity)
        if len(stored) > self._limit * _KEPT:
            return
        with suppress(OSError):
            self._write(self._path(digest, identity), stored)
            self._make_room(len(stored))

    def retain(self, digests: Collection[str]) -> None:
        """Remove what was made of other bytes than these, by whichever extractor."""
        with self._lock, suppress(OSError):
            self._held = None
            for entry in self._entries():
                if _DIGEST.match(entry.name[:64]) and entry.name[:64] not in digests:
                    os.unlink(entry.path)

    def discard(self) -> None:
        """Remove every file of ours, and the directory if nothing else is in it."""
        with self._lock, suppress(OSError):
            self._held = None
            for entry in self._entries():
                if _DIGEST.match(entry.name[:64]) or entry.name.startswith(_NEW):
                    os.unlink(entry.path)
            os.rmdir(self._directory)

    def _path(self, digest: str, identity: str) -> Path:
        return (
            self._directory / f"{digest}.{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        )

    def _write(self, path: Path, stored: bytes) -> None:
        name = self._directory / f"{_NEW}{os.urandom(8).hex()}"
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(stored)
            os.replace(name, path)
        except OSError:
            with suppress(OSError):
                os.unlink(name)
            raise

    def _make_room(self, added: int) -> None:
        with self._lock:
            if self._held is not None and self._held + added <= self._limit:
                self._held += added
                return
            known = sorted(self._known())
            self._held = sum(size for _, size, _ in known)
            if self._held <= self._limit:
                return
            for _, size, path in known:
                if self._held <= self._limit * _KEPT:
                    return
                with suppress(FileNotFoundError):
                    os.unlink(path)
                self._held -= size

    def _known(self) -> Iterator[tuple[int, int, str]]:
        """Every file: when it was last used, its size, its path. Half-written ones that nobody will finish go."""
        for entry in self._entries():
            with suppress(FileNotFoundError):
                facts = entry.stat(follow_symlinks=False)
                if not entry.name.startswith(_NEW):
                    yield facts.st_mtime_ns, facts.st_size, entry.path
                elif facts.st_mtime < time.time() - _ABANDONED_SECONDS:
                    os.unlink(entry.path)

    def _entries(self) -> "list[os.DirEntry[str]]":
        with os.scandir(self._directory) as entries:
            return list(entries)


def _packed(extraction: Extraction, digest: str, identity: str) -> bytes:
    payload = zlib.compress(json.dumps([digest, identity]).encode() + b"\n" + encode(extraction), 1)
    return hashlib.sha256(payload).digest() + payload


def _unpacked(stored: bytes, digest: str, identity: str) -> Extraction | None:
    """The file's name says whose it is, and so does the file: one that was moved is another's."""
    payload = stored[_SHA:]
    if hashlib.sha256(payload).digest() != stored[:_SHA]:
        return None
    try:
        owner, _, coded = zlib.decompress(payload).partition(b"\n")
    except zlib.error:
        return None
    value = decode(coded) if owner == json.dumps([digest, identity]).encode() else None
    return value if isinstance(value, Extraction) else None

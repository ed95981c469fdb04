"""Where an answer that was cut short goes on: a short text that somebody sends back with the same request."""

import hashlib
import re
from collections.abc import Iterable

from attrs import frozen

from groundkit.core.result import Failure, Result, Success

_WRITTEN = re.compile(r"([0-9a-f]{12})\.([0-9a-f]{12})\.(0|[1-9][0-9]{0,9})\.(0|[1-9][0-9]{0,9})", re.ASCII)


@frozen
class Cursor:
    """The item that comes next (from 0), and how many code points of it are done. `revision` is the state it was counted in."""

    request: str
    revision: str
    item: int = 0
    at: int = 0

    def __str__(self) -> str:
        return f"{self.request}.{self.revision}.{self.item}.{self.at}"


@frozen
class CursorRefused:
    """Something given as a cursor is none, or one of another request."""

    foreign: bool


def digest(parts: Iterable[object]) -> str:
    """Twelve hex digits of what a request asks, or of a state."""
    return hashlib.sha256(repr(tuple(parts)).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def cursor_of(text: str, request: str) -> Result[Cursor, CursorRefused]:
    """The cursor that a text is, if it was given for this request."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return Failure(CursorRefused(foreign=False))
    of, revision, item, at = found.groups()
    if of != request:
        return Failure(CursorRefused(foreign=True))
    return Success(Cursor(of, revision, int(item), int(at)))

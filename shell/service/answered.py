"""What every operation gives back beside its answer, and where it goes on."""

from __future__ import annotations

from attrs import frozen

from groundkit.core.cursors import Cursor, cursor_of, digest
from groundkit.core.result import Failure
from groundkit.service.problems import ProblemError, bad_request
from groundkit.service.values import Model


@frozen
class Answered:
    """An answer, and the same as JSON; the state of the collection that it speaks of, "" where it is of none; how
    many items it has.

    `checked`: it also says what sources say now, which no state of the collection tells. `found` is false where an identifier is
    unknown.
    """

    value: Model
    text: str
    revision: str = ""
    items: int = 0
    checked: bool = False
    found: bool = True


def begun(cursor: str | None, asked: str) -> Cursor | None:
    """Where an answer goes on. `ProblemError` where that is no cursor, or one of another request."""
    if cursor is None:
        return None
    taken = cursor_of(cursor, asked)
    if isinstance(taken, Failure):
        wrong = "belongs to another request" if taken.failure().foreign else "is none that this server gave"
        raise ProblemError(
            bad_request(f"the cursor {wrong}", "send next_cursor as it came, with the same other fields")
        )
    return taken.unwrap()


def marked(revision: str) -> str:
    """A state of the collection as a cursor names it."""
    return digest((revision,))

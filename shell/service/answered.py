"""What every operation gives back beside its answer, and how it keeps to one state of the collection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from attrs import frozen

from groundkit.core.cursors import Cursor, cursor_of, digest
from groundkit.core.result import Failure
from groundkit.service.problems import ProblemError, bad_request
from groundkit.service.values import Model

if TYPE_CHECKING:
    from groundkit.collection import Collection

T = TypeVar("T")

#: Looks at a collection that is being written to, until one sees a single state from end to end.
_LOOKS = 4


@frozen
class Answered:
    """An answer, and the same as JSON; the state of the collection that it speaks of, "" where it is of none or of several; how
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


@frozen
class Steady:
    """What a look at a collection found, and the state it was in before and behind it; "" if it never held still."""

    revision: str
    latest: str


def steadily(collection: Collection, look: Callable[[], T]) -> tuple[T, Steady]:
    """A look within one state of the collection, if there is one to be had."""
    before = collection.revision
    found = look()
    for _ in range(_LOOKS):
        after = collection.revision
        if before == after:
            return found, Steady(after, after)
        before, found = after, look()
    return found, Steady("", before)


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

"""Whether a page still says today what was cited of it: an axis of its own, which no verdict depends on."""

from enum import StrEnum

from attrs import frozen

from groundkit.core.model import Span
from groundkit.core.relocation import (
    Ambiguous,
    Edited,
    Moved,
    OutOfBudget,
    Reformatted,
    Relocation,
    Removed,
    Same,
)


class LiveState(StrEnum):
    """What became of a passage on the page as it is served now."""

    SAME = "same"
    MOVED = "moved"
    EDITED = "edited"
    REMOVED = "removed"
    UNREACHABLE = "unreachable"


@frozen
class Live:
    """What the page says now; `span` is where, in code points of its text now. Without a page there is only a reason."""

    state: LiveState
    detail: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"{self.state.value}: {self.detail}"


def unreachable(why: str) -> Live:
    return Live(LiveState.UNREACHABLE, why)


def live_of(relocation: Relocation, span: Span) -> Live:
    """What it means for a reader that a cited passage went where it went."""
    match relocation:
        case Same():
            return Live(LiveState.SAME, "the page says the same at the same place", span)
        case Moved(now):
            return Live(LiveState.MOVED, f"the passage stands at {now.start}–{now.end} now", now)
        case Reformatted(now):
            return Live(LiveState.EDITED, f"only its white space, case or letter forms changed, at {_at(now)}", now)
        case Edited(now, similarity):
            return Live(LiveState.EDITED, f"{similarity:.0%} of it stands at {_at(now)}", now)
        case Ambiguous(candidates):
            places = ", ".join(map(_at, candidates))
            return Live(LiveState.MOVED, f"several places could be the passage: {places}", candidates[0])
        case Removed():
            return Live(LiveState.REMOVED, "the page does not say it any more")
        case OutOfBudget():
            return unreachable("the page differs so much that the comparison was given up")


def _at(span: Span) -> str:
    return f"{span.start}–{span.end}"

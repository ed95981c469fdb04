"""What it means for a reader of a page that a cited passage went where it went."""

from groundkit.core.live import Live, LiveState, unreachable
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

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
from groundkit.core.verdicts import alike, difference_of


def live_of(relocation: Relocation, span: Span, old: str, new: str) -> Live:
    """What it means for a reader of `new` that the passage at `span` of `old` went where it went."""
    match relocation:
        case Same():
            return _found(LiveState.SAME, "the page says the same at the same place", span, new)
        case Moved(now):
            return _found(LiveState.MOVED, f"the page says the same at {_at(now)}", now, new)
        case Reformatted(now):
            said = f"only white space, case or letter forms changed, at {_at(now)}"
            return _found(LiveState.EDITED, said, now, new)
        case Edited(now, similarity):
            difference = difference_of(old[span.start : span.end], new[now.start : now.end])
            return _found(LiveState.EDITED, f"{difference} ({alike(similarity)}, at {_at(now)})", now, new)
        case Ambiguous(candidates):
            places = ", ".join(map(_at, candidates))
            return _found(LiveState.MOVED, f"several places could be the passage: {places}", candidates[0], new)
        case Removed():
            return Live(LiveState.REMOVED, "the page does not say it any more")
        case OutOfBudget():
            return unreachable("the page differs so much that the comparison was given up")


def _found(state: LiveState, detail: str, span: Span, new: str) -> Live:
    return Live(state, detail, span, new[span.start : span.end])


def _at(span: Span) -> str:
    return f"{span.start}–{span.end}"

"""Whether a page still says today what was cited of it: an axis of its own, which no verdict depends on."""

from enum import StrEnum

from attrs import field, frozen

from groundkit.core.model import Span


class LiveState(StrEnum):
    """What became of a passage on the page as it is served now."""

    SAME = "same"
    MOVED = "moved"
    EDITED = "edited"
    REMOVED = "removed"
    UNREACHABLE = "unreachable"


@frozen
class Live:
    """What the page says now; `span` is where, in code points of its text now, and `text` what stands there.

    Without a page there is only a reason.
    """

    state: LiveState
    detail: str
    span: Span | None = None
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.state.value}: {self.detail}"


def unreachable(why: str) -> Live:
    return Live(LiveState.UNREACHABLE, why)

"""A word diff on a terminal: in colour, or as [-removed-]{+added+}."""

from collections.abc import Sequence

from groundkit.cli.common import style
from groundkit.cli.printable import one_line
from groundkit.core.word_diff import Change, DiffPart

#: Code points that are shown of a stretch that is the same, at each of its ends, and of one that is not.
_SAME, _OTHER = 40, 600


def diff_line(parts: Sequence[DiffPart], color: bool) -> str:
    """The passage then and now on one line, without the middle of long stretches."""
    last = len(parts) - 1
    return "".join(_shown(part, at > 0, at < last, color) for at, part in enumerate(parts))


def _shown(part: DiffPart, before: bool, behind: bool, color: bool) -> str:
    match part.change:
        case Change.SAME:
            return _cut(part.text, _SAME if before else 0, _SAME if behind else 0)
        case Change.REMOVED:
            text = _cut(part.text, _OTHER, _OTHER)
            return style(text, True, fg="red", strikethrough=True) if color else f"[-{text}-]"
        case Change.ADDED:
            text = _cut(part.text, _OTHER, _OTHER)
            return style(text, True, fg="green", underline=True) if color else f"{{+{text}+}}"


def _cut(text: str, head: int, tail: int) -> str:
    """So many code points of each end, if not all of them."""
    if len(text) <= head + tail + 1:
        return one_line(text)
    return f"{one_line(text[:head])}…{one_line(text[-tail:] if tail else '')}"

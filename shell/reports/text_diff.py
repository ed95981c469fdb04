"""A word diff in lines of text that begin as those of `diff` do."""

from collections.abc import Iterable

from groundkit.core.word_diff import Change
from groundkit.reports.rows import Stretch, counted
from groundkit.reports.signs import visible, with_blanks

_SIGNS = {Change.SAME: "  ", Change.REMOVED: "- ", Change.ADDED: "+ "}


def diff_lines(stretches: Iterable[Stretch]) -> list[str]:
    """Each stretch in lines of its own, so that words that changed stand alone; white space that changed has signs."""
    lines = []
    for stretch in stretches:
        changed = stretch.change is not Change.SAME
        text = visible(with_blanks(stretch.text) if changed else stretch.text)
        lines += [_SIGNS[stretch.change] + line for line in text.split("\n") if line.strip()]
        if stretch.omitted:
            lines.append(f"{_SIGNS[stretch.change]}… {counted(stretch.omitted, 'code point')} not shown …")
    return lines

"""A passage among the lines it stands in, its exact span marked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from attrs import frozen

from groundkit.cli.common import style
from groundkit.cli.printable import printable
from groundkit.core.model import Span
from groundkit.core.spans import LineMap

#: Code points that are shown of what stands beside the passage in a line.
_BESIDE = 240


@frozen
class Line:
    """One line: its number, and what of it stands before the passage, in it, and behind it. None: nothing of it is in it."""

    number: int
    before: str
    passage: str | None
    behind: str
    begins: bool = False
    ends: bool = False


def lines_around(text: str, span: Span, context: int) -> Iterator[Line]:
    """The lines of a passage and so many before and after it. A line break belongs to the line that it ends."""
    # Behind the break that ends a text no line begins.
    starts = sorted({*LineMap.of(text).starts, len(text)})
    last_place = span.end - 1
    for number, (start, end) in enumerate(pairwise(starts), 1):
        if number < len(starts) - 1 and starts[min(number - 1 + context, len(starts) - 2) + 1] <= span.start:
            continue
        if starts[max(number - 1 - context, 0)] > last_place:
            break
        first, last = min(max(span.start, start), end), max(min(span.end, end), start)
        within = text[first:last] if first < last else None
        cut = first if within is not None else end
        yield Line(
            number,
            text[start:cut],
            within,
            text[last:end] if within is not None else "",
            within is not None and first == span.start,
            within is not None and last == span.end,
        )


def shown(lines: Iterator[Line], numbered: bool, color: bool) -> Iterator[str]:
    """The lines as a terminal shows them: `▌` beside the passage, its ends in colour or between ⟦ and ⟧."""
    for line in lines:
        bar = style("▌", color, fg="green") if line.passage is not None else style("│", color, dim=True)
        number = style(f"{line.number:>5} ", color, dim=True) if numbered else " "
        yield f"{number}{bar} {_words(line, color)}".rstrip()


def _words(line: Line, color: bool) -> str:
    if line.passage is None:
        words = _head(line.before)
        return _styled(words, dim=True) if color else words
    passage = printable(line.passage.rstrip("\r\n"))
    if color:
        marked = _styled(passage, bold=True)
        return f"{_styled(_tail(line.before), dim=True)}{marked}{_styled(_head(line.behind), dim=True)}"
    marked = f"{'⟦' if line.begins else ''}{passage}{'⟧' if line.ends else ''}"
    return f"{_tail(line.before)}{marked}{_head(line.behind)}"


def _styled(text: str, **how: bool) -> str:
    return style(text, bool(text), **how)


def _head(text: str) -> str:
    text = text.rstrip("\r\n")
    return printable(text if len(text) <= _BESIDE else f"{text[:_BESIDE]}…")


def _tail(text: str) -> str:
    return printable(text if len(text) <= _BESIDE else f"…{text[-_BESIDE:]}")

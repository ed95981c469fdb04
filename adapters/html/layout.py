"""Pieces of text laid out as a page shows them: what separates them, and where each thing that is noted begins."""

import re
from enum import IntEnum

from attrs import Factory, define

from groundkit.core.extraction import ANCHOR_LIMIT, Anchor
from groundkit.core.outline import Heading, heading_text

#: White space that collapses. No-break spaces and their like do not.
_WHITE = " \t\n\f\r"
_SPACES = re.compile(f"[{_WHITE}]+")
_BLANK_LINES = re.compile(r"(?:[ \t\f\r]*\n)+")


class Gap(IntEnum):
    """What is to stand between the text so far and what comes next."""

    NONE = 0
    SPACE = 1
    LINE = 2
    BLANK = 3


_SEPARATORS = ("", " ", "\n", "\n\n")


@define
class _Heading:
    """`start` and `finish` are where its own text begins and ends, below 0 until it does; `end` where what follows begins."""

    level: int
    start: int = -1
    finish: int = -1
    end: int = -1


@define
class Layout:
    """Text under way. White space is written before what follows it only, so `length` is where the last text ends."""

    pieces: list[str] = Factory(list)
    length: int = 0
    gap: Gap = Gap.NONE
    #: The gap comes from a line break: another one makes it a blank line.
    broken: bool = False
    #: At the very beginning of an item: a block that begins here is not set apart from it.
    fresh: bool = False
    #: White space at the end of preformatted text, which counts if more of that follows.
    held: list[str] = Factory(list)
    heading: _Heading | None = None
    headings: list[_Heading] = Factory(list)
    anchors: list[Anchor] = Factory(list)
    #: Names that wait for the text they stand before, and all names so far: the first element of a name has it.
    waiting: list[str] = Factory(list)
    names: set[str] = Factory(set)

    def separate(self, gap: Gap) -> None:
        self.gap = max(self.gap, gap)
        self.held.clear()

    def block(self) -> None:
        """The beginning or the end of a block."""
        if not self.fresh:
            self.separate(Gap.BLANK)

    def item(self) -> None:
        self.separate(Gap.LINE)
        self.fresh, self.broken = True, False

    def item_ends(self, begun: int) -> None:
        """The end of an item that began when the text was so long. A block at its end does not set it apart either."""
        self.separate(Gap.LINE)
        if self.length > begun:
            self.gap = Gap.LINE
        self.fresh = self.broken = False

    def line_break(self) -> None:
        self.separate(Gap.BLANK if self.broken else Gap.LINE)
        self.broken = True

    def running(self, data: str) -> None:
        """Text in which white space collapses."""
        words = data.strip(_WHITE)
        if not words:
            self.gap = max(self.gap, Gap.SPACE)
            return
        if data[0] in _WHITE:
            self.gap = max(self.gap, Gap.SPACE)
        self._write(_SPACES.sub(" ", words))
        if data[-1] in _WHITE:
            self.gap = Gap.SPACE

    def preformatted(self, data: str) -> None:
        """Text that keeps its white space, except for blank lines where the element begins and ends."""
        kept = data.rstrip(_WHITE)
        if not kept:
            self.held.append(data)
            return
        text = "".join((*self.held, kept))
        if self.gap >= Gap.LINE or not self.length:
            text = _BLANK_LINES.sub("", text, count=1) if _BLANK_LINES.match(text) else text
        self._write(text)
        self.held = [data[len(kept) :]]

    def _write(self, data: str) -> None:
        if self.length:
            separator = _SEPARATORS[self.gap]
            self.pieces.append(separator)
            self.length += len(separator)
        self.gap, self.broken, self.fresh = Gap.NONE, False, False
        self._settle()
        if self.heading and self.heading.start < 0:
            self.heading.start = self.length
        self.pieces.append(data)
        self.length += len(data)

    def _settle(self) -> None:
        """What waited for text to follow has its place here."""
        if self.waiting:
            self.anchors += [Anchor(self.length, name) for name in self.waiting]
            self.waiting.clear()
        if self.headings and self.headings[-1].end < 0:
            self.headings[-1].end = self.length

    def name(self, name: str) -> None:
        """The next text can be pointed at by this name, if it is fit for that."""
        if 0 < len(name) <= ANCHOR_LIMIT and name not in self.names and not any(map(str.isspace, name)):
            self.names.add(name)
            self.waiting.append(name)

    def open_heading(self, level: int) -> None:
        self.close_heading()
        self.heading = _Heading(level)

    def close_heading(self) -> None:
        if self.heading and self.heading.start >= 0:
            self.heading.finish = self.length
            self.headings.append(self.heading)
        self.heading = None

    def finish(self) -> str:
        """The text. After this, every place is settled."""
        self.close_heading()
        self._settle()
        return "".join(self.pieces)

    def headings_of(self, text: str) -> tuple[Heading, ...]:
        named = ((each, _named(text[each.start : each.finish])) for each in self.headings)
        return tuple(Heading(each.level, name, each.start, each.end) for each, name in named if name)


def _named(raw: str) -> str:
    """The heading without the sign of a link to itself, which documentation tools put behind it."""
    return heading_text(raw).removesuffix("¶").rstrip()

"""Markdown as far as chunking needs it: sections with their heading paths, and where blocks begin.

CommonMark 0.31 block structure with GFM tables and front matter. Only headings of the top level open sections: none in
fences, indented code, HTML blocks, front matter, block quotes or list items. Inline text is not parsed. Linear in the
text; prose is swallowed whole by one regular expression, and only containers are followed line by line.

Reading ends behind heading `SECTIONS_LIMIT`, after `STEPS_LIMIT` blocks, or after as many lines that have to be looked at
one by one: those of containers (a deep one counts for several) and tables, those in a paragraph that begin like another
block, fences too short to close one. The rest belongs to the last section, as text without breaks.
"""

import re

from attrs import define, field

from groundkit.core.markdown_containers import Containers
from groundkit.core.markdown_lines import (
    ATX_HEADING,
    BLANK_LINES,
    DEFINITION,
    FENCE,
    HTML_END,
    INDENTED_CODE,
    LIST_MARKER,
    SETEXT_UNDERLINE,
    TABLE_DELIMITER,
    THEMATIC_BREAK,
    atx_text,
    cells,
    html_kind,
    interrupts,
)
from groundkit.core.outline import SECTIONS_LIMIT, STEPS_LIMIT, Heading, Outline, heading_text, sections_of
from groundkit.core.spans import line_view

_BOM = "\ufeff"
_CODE_INDENT = 4
#: What may begin something else than text: at the start of a paragraph, or of a line within one.
_SPECIAL_WITHIN = "#`~>+*=_<0123456789|:-"
_SPECIAL = frozenset(" \t\n[" + _SPECIAL_WITHIN)
#: A blank line, with all that follow it (group 1), or a line within a paragraph that has to be looked at.
_PAUSE = re.compile(rf"\n[ \t]*(?:(\n)(?:[ \t]*\n)*|(?=[{re.escape(_SPECIAL_WITHIN)}]))")
_INDENT = re.compile("[ \t]*")
_SMALL_INDENT = re.compile(" {0,3}")
_BLANK_LINE_AHEAD = re.compile(r"\n[ \t]*(?=\n)")
_FENCE_CLOSERS = {mark: re.compile(rf"\n {{0,3}}({mark}{{3,}})[ \t]*(?=\n)") for mark in "`~"}
#: As pandoc has it, a blank line below the opening `---` makes it a thematic break.
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?![ \t]*\n)")
_FRONT_MATTER_END = re.compile(r"\n---[ \t]*\n")
_TITLE = re.compile(r"^title:[ \t]*(.*)$", re.MULTILINE)


def parse(text: str, steps: int = STEPS_LIMIT, sections: int = SECTIONS_LIMIT) -> Outline:
    """The outline of a Markdown text. Total: every text is Markdown."""
    reader = _Reader(line_view(text) + "\n\n", steps, sections)
    reader.read()
    size = len(text)
    below = set(reader.first_blocks)
    return Outline(
        title=reader.title or next((each.text for each in reader.headings if each.level == 1), ""),
        sections=sections_of(reader.headings, min(reader.preamble, size)),
        breaks=tuple([at for place, at in enumerate(reader.breaks) if place not in below]),
        whole=tuple([(start, min(end, size)) for start, end in reader.whole]),
    )


@define
class _Reader:
    """Walks over the top level from block to block. `view` ends in a blank line and has no line break but LF."""

    view: str
    steps: int
    sections: int
    headings: list[Heading] = field(factory=list)
    breaks: list[int] = field(factory=list)
    first_blocks: list[int] = field(factory=list)
    whole: list[tuple[int, int]] = field(factory=list)
    preamble: int = 0
    title: str = ""

    def read(self) -> None:
        view, pos, size = self.view, self._front_matter(), len(self.view)
        for _ in range(self.steps):
            if pos >= size or self.steps <= 0:
                break
            if view[pos] in _SPECIAL:
                pos = self._block(pos)
            else:
                self.breaks.append(pos)
                pos = self._paragraph(pos)

    def _front_matter(self) -> int:
        """Where the Markdown begins."""
        begin = 1 if self.view.startswith(_BOM) else 0
        opener = _FRONT_MATTER.match(self.view, begin)
        closer = _FRONT_MATTER_END.search(self.view, opener.end() - 1) if opener else None
        if closer:
            title = _TITLE.search(self.view, begin, closer.start())
            self.title = heading_text(title[1].strip(" \t\"'")) if title else ""
        self.preamble = closer.end() if closer else begin
        return self.preamble

    def _block(self, pos: int) -> int:
        """Read one block that does not begin like prose; returns where the next line begins."""
        at, char = pos, self.view[pos]
        if char == " ":
            at = _end(_SMALL_INDENT, self.view, pos)
            char = self.view[at]
        if char in " \t\n":
            return self._blank_or_code(pos)
        if char == "#":
            heading = ATX_HEADING.match(self.view, at)
            if heading:
                return self._heading(len(heading[1]), atx_text(heading[2] or ""), pos, heading.end())
        elif char in "`~":
            fence = FENCE.match(self.view, at)
            if fence:
                return self._fence(fence[1] or fence[2], pos, fence.end())
        elif char == "<":
            kind = html_kind(self.view, at)
            if kind:
                return self._html(kind, pos, at)
        elif char in "-*_" and (rule := THEMATIC_BREAK.match(self.view, at)):
            self.breaks.append(pos)
            return rule.end()
        elif char == ">" or LIST_MARKER.match(self.view, at):
            containers = Containers(self.breaks, self.whole, self.steps)
            pos = containers.follow(self.view, pos)
            self.steps = containers.steps
            return pos
        self.breaks.append(pos)
        return self._paragraph(pos)

    def _line_end(self, pos: int) -> int:
        return self.view.index("\n", pos) + 1

    def _blank_or_code(self, pos: int) -> int:
        blank = BLANK_LINES.match(self.view, pos)
        if blank:
            return blank.end()
        self.breaks.append(pos)
        return _end(INDENTED_CODE, self.view, pos)

    def _heading(self, level: int, raw: str, start: int, end: int) -> int:
        self.first_blocks.append(len(self.breaks))
        begin = 0 if start == len(_BOM) and self.view[0] == _BOM else start
        self.headings.append(Heading(level, heading_text(raw), begin, end))
        if len(self.headings) >= self.sections:
            self.steps = 0
        return end

    def _fence(self, marker: str, pos: int, body: int) -> int:
        self.breaks.append(pos)
        end = len(self.view)
        for closer in _FENCE_CLOSERS[marker[0]].finditer(self.view, body - 1):
            if len(closer[1]) >= len(marker):
                end = closer.end() + 1
                break
            self.steps -= 1
            if self.steps <= 0:
                break
        self.whole.append((pos, end))
        return end

    def _html(self, kind: int, pos: int, at: int) -> int:
        self.breaks.append(pos)
        end = HTML_END[kind].search(self.view, at) if kind in HTML_END else _BLANK_LINE_AHEAD.search(self.view, at)
        return self._line_end(end.end() - 1 if kind not in HTML_END else end.end()) if end else len(self.view)

    def _paragraph(self, start: int) -> int:
        """Read a paragraph whose first line is text; prose is looked at line by line nowhere but here, in one search."""
        pause = _PAUSE.search(self.view, start)
        while pause and not pause.lastindex and self.steps > 0:
            self.steps -= 1
            pos, at = pause.start() + 1, pause.end()
            closed = self._closing_line(start, pos, at)
            if closed is not None:
                return closed
            pause = _PAUSE.search(self.view, at)
        return pause.end() if pause else len(self.view)

    def _closing_line(self, start: int, pos: int, at: int) -> int | None:
        """Where to go on if this line ends the paragraph: behind an underline or a table, at another block's line."""
        if at > pos and (at - pos >= _CODE_INDENT or "\t" in self.view[pos:at]):
            return None
        underline = SETEXT_UNDERLINE.match(self.view, at)
        if underline:
            content = self._behind_definitions(start, pos)
            if content < pos:
                if content == start:
                    self.breaks.pop()
                level = 1 if underline[1][0] == "=" else 2
                return self._heading(level, self.view[content:pos], content, underline.end())
        elif self.view[at] in "|:-" and (delimiter := TABLE_DELIMITER.match(self.view, at)):
            header = max(start, self.view.rfind("\n", start, pos - 1) + 1)
            if cells(self.view[header:pos]) == cells(delimiter[0]):
                return self._table(start, header, delimiter.end())
        return pos if interrupts(self.view, at) else None

    def _behind_definitions(self, start: int, pos: int) -> int:
        """Where a paragraph's text begins: link reference definitions at its start are none."""
        while start < pos and (definition := DEFINITION.match(self.view, start, pos)):
            start = definition.end()
        return start

    def _table(self, start: int, header: int, pos: int) -> int:
        if header > start:
            self.breaks.append(header)
        view = self.view
        while pos < len(view) and self.steps > 0:
            self.steps -= 1
            at = _end(_INDENT, view, pos)
            if view[at] == "\n" or at - pos >= _CODE_INDENT or interrupts(view, at):
                break
            pos = self._line_end(at)
        self.whole.append((header, pos))
        return pos


def _end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    """Where a match ends of a pattern that also matches the empty text."""
    found = pattern.match(text, pos)
    return found.end() if found else pos

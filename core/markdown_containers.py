"""Block quotes and list items, line by line: where they end, and which fences stand in them.

The method is that of CommonMark 0.31, appendix "A parsing strategy", without building a tree: what matters is which
line belongs to no container any more, since only there a heading can open a section.
"""

import re

from attrs import define, field

from groundkit.core.markdown_lines import (
    ATX_HEADING,
    FENCE,
    FENCE_CLOSER,
    HTML_ANY_TAG,
    HTML_END,
    LIST_MARKER,
    SETEXT_UNDERLINE,
    THEMATIC_BREAK,
    html_kind,
    interrupts,
)

#: Deeper containers are taken for text; so a line costs a bounded number of looks at each of its characters.
DEPTH_LIMIT = 100
_LEVELS_PER_STEP = 8
_QUOTE = 0
#: What else than text begins with.
_LEAF_MARKS = frozenset("#*-_=`~<")
_SPACES = re.compile(" *")
_CODE_INDENT = 4
_WIDEST_MARKER_GAP = 4


@define
class _Paragraph:
    """Open text, which a line without markers continues lazily."""


@define
class _Fence:
    marker: str
    start: int


@define
class _Html:
    kind: int


_PARAGRAPH = _Paragraph()


@define
class Containers:
    """The open containers, outermost first: `_QUOTE`, or the columns that a list item's content is indented by.

    `breaks` receives the starts of outermost items and quotes, `whole` the ranges of fences. `steps` is how many lines
    may be looked at; deep ones count for more.
    """

    breaks: list[int]
    whole: list[tuple[int, int]]
    steps: int
    stack: list[int] = field(factory=list)
    leaf: _Paragraph | _Fence | _Html | None = None
    fresh: bool = False

    def follow(self, text: str, pos: int) -> int:
        """Read from a line that opens a container; returns the start of the first line that is in none, or was not
        looked at any more."""
        while pos < len(text) and self.steps > 0:
            end = text.index("\n", pos) + 1
            if not self._take(text[pos:end].expandtabs(_CODE_INDENT), pos, end):
                return pos
            self.steps -= 1 + len(self.stack) // _LEVELS_PER_STEP
            pos = end
            if not self.stack:
                break
        self._close(0, pos)
        return pos

    def _take(self, line: str, pos: int, end: int) -> bool:
        depth, at, blank = self._matched(line)
        if blank:
            self._blank(depth, pos)
            return True
        self.fresh = self.fresh and depth < len(self.stack)
        if depth == len(self.stack) and self._inside_leaf(line, at, end):
            return True
        return self._open(line, at, depth, pos)

    def _matched(self, line: str) -> tuple[int, int, bool]:
        """How many containers the line continues, the column behind their markers, and whether the rest is blank."""
        at = 0
        if line.isspace() and line.strip(" \n") == "":
            return self._depth_of_blank(0), at, True
        for depth, width in enumerate(self.stack):
            first = _spaces_end(line, at)
            if line[first] == "\n":
                return self._depth_of_blank(depth), at, True
            if width == _QUOTE:
                if first - at >= _CODE_INDENT or line[first] != ">":
                    return depth, at, False
                at = _behind_quote_mark(line, first)
            elif first - at >= width:
                at += width
            else:
                return depth, at, False
        return len(self.stack), at, line[_spaces_end(line, at)] == "\n"

    def _depth_of_blank(self, depth: int) -> int:
        """A blank rest of a line continues items, but no quote."""
        return self.stack.index(_QUOTE, depth) if _QUOTE in self.stack[depth:] else len(self.stack)

    def _blank(self, depth: int, pos: int) -> None:
        if self.fresh and depth == len(self.stack):
            depth -= 1  # An item may begin with one blank line only.
        self.fresh = False
        self._close(depth, pos)
        if isinstance(self.leaf, _Paragraph) or (isinstance(self.leaf, _Html) and self.leaf.kind not in HTML_END):
            self.leaf = None

    def _close(self, depth: int, pos: int) -> None:
        if depth < len(self.stack):
            self._end_leaf(pos)
            del self.stack[depth:]

    def _end_leaf(self, end: int) -> None:
        if isinstance(self.leaf, _Fence):
            self.whole.append((self.leaf.start, end))
        self.leaf = None

    def _inside_leaf(self, line: str, at: int, end: int) -> bool:
        """Whether the line belongs to an open fence or block of HTML, which may end with it."""
        match self.leaf:
            case _Fence(marker, _):
                first = _spaces_end(line, at)
                closer = FENCE_CLOSER.match(line, first) if first - at < _CODE_INDENT else None
                if closer and closer[1].startswith(marker):
                    self._end_leaf(end)
                return True
            case _Html(kind):
                if kind in HTML_END and HTML_END[kind].search(line, at):
                    self.leaf = None
                return True
            case _Paragraph() | None:
                return False

    def _open(self, line: str, at: int, depth: int, pos: int) -> bool:
        """Open what containers and leaf the line begins; False if it is outside of all."""
        continues = depth == len(self.stack)
        while True:
            first = _spaces_end(line, at)
            if line[first] == "\n":
                return True
            behind = self._container(line, at, first, depth, pos, continues and self.leaf is _PARAGRAPH)
            if behind is None:
                break
            at, continues = behind, True
            depth = len(self.stack)
        if not self._lazy(line, first, first - at, continues):
            if depth == 0:
                self._close(0, pos)
                return False
            self._close(depth, pos)
            self._leaf(line, at, first, pos)
        return True

    def _container(self, line: str, at: int, first: int, depth: int, pos: int, in_paragraph: bool) -> int | None:
        """The column behind the marker of a container that begins here, pushed; None if there is none."""
        if first - at >= _CODE_INDENT or depth >= DEPTH_LIMIT:
            return None
        if line[first] == ">":
            self._push(_QUOTE, depth, pos)
            return _behind_quote_mark(line, first)
        marker = LIST_MARKER.match(line, first)
        if marker is None or THEMATIC_BREAK.match(line, first):
            return None
        if in_paragraph and (SETEXT_UNDERLINE.match(line, first) or not interrupts(line, first)):
            return None
        return self._item(line, at, marker.end(), depth, pos)

    def _item(self, line: str, at: int, behind: int, depth: int, pos: int) -> int:
        content = _spaces_end(line, behind)
        blank = line[content] == "\n"
        if blank or content - behind > _WIDEST_MARKER_GAP:
            content = behind + 1
        self._push(content - at, depth, pos)
        self.fresh = blank
        return behind if blank else content

    def _push(self, width: int, depth: int, pos: int) -> None:
        self._close(depth, pos)
        self.leaf = None
        self.fresh = False
        if depth == 0:
            self.breaks.append(pos)
        self.stack.append(width)

    def _lazy(self, line: str, first: int, indent: int, continues: bool) -> bool:
        """Whether the line goes on with the open paragraph, whose containers it need not repeat."""
        if self.leaf is not _PARAGRAPH:
            return False
        if indent >= _CODE_INDENT:
            return True
        if continues and SETEXT_UNDERLINE.match(line, first):
            return False
        # Markers of items were looked at before: one that is left interrupts nothing.
        return not interrupts(line, first)

    def _leaf(self, line: str, at: int, first: int, pos: int) -> None:
        was_paragraph = self.leaf is _PARAGRAPH
        self.leaf = None
        if first - at < _CODE_INDENT and line[first] not in _LEAF_MARKS:
            self.leaf = _PARAGRAPH
            return
        if first - at >= _CODE_INDENT or ATX_HEADING.match(line, first) or THEMATIC_BREAK.match(line, first):
            return
        if was_paragraph and SETEXT_UNDERLINE.match(line, first):
            return
        fence = FENCE.match(line, first)
        kind = html_kind(line, first)
        if fence:
            self.leaf = _Fence(fence[1] or fence[2], pos)
        elif kind and not (was_paragraph and kind == HTML_ANY_TAG):
            ends = kind in HTML_END and HTML_END[kind].search(line, first)
            self.leaf = None if ends else _Html(kind)
        else:
            self.leaf = _PARAGRAPH


def _spaces_end(line: str, at: int) -> int:
    found = _SPACES.match(line, at)
    return found.end() if found else at


def _behind_quote_mark(line: str, mark: int) -> int:
    return mark + 2 if line[mark + 1] == " " else mark + 1

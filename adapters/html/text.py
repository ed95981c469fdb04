"""The text of a page, from BeautifulSoup's tree: what a page shows when neither a script nor an author's style sheet is at work.

Left out is what the markup alone hides: elements that HTML's own style sheet never shows (scripts, styles, templates,
metadata, fallbacks for frames, annotations of formulas, titles within drawings), and elements with `hidden`, unless they are
hidden until found. So whoever reads the page finds every cited passage, and that does not depend on a style sheet that was not
read: text that CSS hides, or that `aria-hidden` keeps from screen readers, is kept, and so is `noscript`. Images have no text,
`alt` included.
"""

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

from attrs import Factory, define

from groundkit.adapters.html.layout import Gap, Layout
from groundkit.adapters.html.tokens import Unclosed
from groundkit.adapters.html.tree import HEADINGS, Tree, is_hidden
from groundkit.core.extraction import Extraction, clean

if TYPE_CHECKING:
    from bs4 import Tag
    from bs4.element import PageElement


class _Role(Enum):
    """How an element is laid out; what has no role here is in line."""

    BLOCK = "a blank line before and after"
    LIST = "the same; within an item, a line break"
    ITEM = "a line break before and after"
    PRE = "a block that keeps its white space"
    FIELD = "an item that keeps its white space"
    BREAK = "a line break"
    DROPPED = "not shown"


_ROLES: dict[str, _Role] = {
    name: role
    for role, names in {
        _Role.BLOCK: "address article aside blockquote body center details dialog div fieldset figcaption figure footer form"
        " frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend main marquee nav p search section summary table",
        _Role.LIST: "dir dl menu ol ul",
        _Role.ITEM: "caption dd dt li optgroup option td text th tr",
        _Role.PRE: "listing plaintext pre xmp",
        _Role.FIELD: "textarea",
        _Role.BREAK: "br",
        _Role.DROPPED: "annotation annotation-xml datalist iframe noembed noframes script style template title",
    }.items()
    for name in names.split()
}
_APART = frozenset({_Role.BLOCK, _Role.LIST, _Role.ITEM, _Role.PRE, _Role.FIELD})
_ITEMS = frozenset({_Role.ITEM, _Role.FIELD})
_KEEPING = frozenset({_Role.PRE, _Role.FIELD})
_LEVELS = {name: level for level, name in enumerate(HEADINGS, 1)}
_DRAWING_DROPPED = frozenset({"desc", "metadata"})


@define
class _Walk:
    """One way through a tree. `items`, `kept` and `drawings` count the open elements of these kinds."""

    tree: Tree
    layout: Layout = Factory(Layout)
    title: str = ""
    items: int = 0
    kept: int = 0
    drawings: int = 0
    #: The element of the heading that is open, and whether it ends by itself only.
    heading: "Tag | None" = None
    loose: bool = False

    def through(self) -> None:
        """In the order of the document, without recursion: a page may nest as deep as it is long."""
        from bs4 import Tag

        frames: list[tuple[Tag, Iterator[PageElement], int]] = [(self.tree.soup, iter(self.tree.soup.contents), 0)]
        while frames:
            tag, rest, begun = frames[-1]
            node = next(rest, None)
            if node is None:
                frames.pop()
                self.leave(tag, begun)
            elif not isinstance(node, Tag):
                data = str(node)
                self.layout.preformatted(data) if self.kept else self.layout.running(data)
            elif self.is_shown(node):
                frames.append((node, iter(node.contents), self.layout.length))
                self.enter(node)

    def is_shown(self, tag: "Tag") -> bool:
        if tag.name == "title":
            self.take_title(tag)
        if _ROLES.get(tag.name) is _Role.DROPPED or (self.drawings and tag.name in _DRAWING_DROPPED):
            return False
        return not (tag.attrs and is_hidden(tag.attrs))

    def take_title(self, tag: "Tag") -> None:
        """The first title that is no drawing's and does not run on to the end of the file."""
        if not self.title and not self.drawings and tag.sourcepos not in [each.at for each in self.tree.unclosed]:
            self.title = " ".join("".join(map(str, tag.contents)).split())

    def enter(self, tag: "Tag") -> None:
        role = _ROLES.get(tag.name)
        if role is not None:
            self.enter_apart(role)
        if level := _LEVELS.get(tag.name):
            self.layout.open_heading(level)
            self.heading, self.loose = tag, tag.sourcepos not in self.tree.ended
        self.drawings += tag.name == "svg"
        if tag.attrs:
            self.name(tag)

    def enter_apart(self, role: _Role) -> None:
        if self.loose and role in _APART and self.layout.heading and self.layout.heading.start >= 0:
            self.layout.close_heading()
        if role is _Role.BREAK:
            self.layout.preformatted("\n") if self.kept else self.layout.line_break()
        elif role in _ITEMS:
            self.layout.item()
        else:
            self.block(role)
        self.items += role in _ITEMS
        self.kept += role in _KEEPING

    def block(self, role: _Role) -> None:
        if role is _Role.LIST and self.items:
            self.layout.separate(Gap.LINE)
        else:
            self.layout.block()

    def name(self, tag: "Tag") -> None:
        self.layout.name(str(tag.attrs.get("id", "")))
        if tag.name == "a":
            self.layout.name(str(tag.attrs.get("name", "")))

    def leave(self, tag: "Tag", begun: int) -> None:
        role = _ROLES.get(tag.name)
        if tag is self.heading:
            self.layout.close_heading()
            self.heading = None
        self.drawings -= tag.name == "svg"
        if role is None or role is _Role.BREAK:
            return
        self.items -= role in _ITEMS
        self.kept -= role in _KEEPING
        if role in _ITEMS:
            self.layout.item_ends(begun)
        else:
            self.block(role)


_WITH_TEXT = frozenset({"textarea", "xmp"})
_NOT_ELEMENTS = frozenset({"comment", "declaration", "tag"})


def _loss(unclosed: Unclosed, line: int) -> str:
    what = unclosed.what
    if what not in _NOT_ELEMENTS:
        *hidden, name = what.split()
        what = " ".join((*hidden, f"<{name}>"))
    does = "holds the rest of the file as it stands" if unclosed.what in _WITH_TEXT else "hides the rest of the file"
    return f"an unclosed {what} from line {line} on {does}"


def extraction_of(tree: Tree) -> Extraction:
    """Text, title, headings, anchors, and what the page swallows of itself. The text may be empty."""
    walk = _Walk(tree)
    walk.through()
    layout, swallowing = walk.layout, [each for each in tree.unclosed if each.swallows]
    text = clean(layout.finish())
    return Extraction(
        text,
        title=clean(walk.title),
        headings=layout.headings_of(text),
        anchors=tuple(layout.anchors),
        losses=tuple(_loss(each, tree.line(each.at)) for each in swallowing),
        incomplete=bool(swallowing),
    )

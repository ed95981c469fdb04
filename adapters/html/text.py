"""The text of a page, from BeautifulSoup's tree: what a page shows when neither a script nor an author's style sheet is at work.

Left out is what the markup alone hides: elements that HTML's own style sheet never shows (scripts, styles, metadata, fallbacks
for frames, annotations of formulas, titles within drawings), templates but for those that browsers show in place as the inside
of an element (`shadowrootmode`), and elements with `hidden`, unless they are hidden until found. So whoever reads the page
finds every cited passage, and that does not depend on a style sheet that was not read: text that CSS hides, or that
`aria-hidden` keeps from screen readers, is kept, and so is `noscript`. Images have no text, `alt` included.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from groundkit.adapters.html.layout import Gap, Layout
from groundkit.adapters.html.tokens import Unclosed
from groundkit.adapters.html.tree import HEADINGS, Tree, is_hidden, is_shadow
from groundkit.core.extraction import Extraction, clean

if TYPE_CHECKING:
    from bs4 import Tag
    from bs4.element import PageElement


@frozen
class _Role:
    """How an element is laid out: with a line break or a blank line before and after, its white space kept or not."""

    apart: bool = True
    item: bool = False
    list: bool = False
    keeps: bool = False
    shown: bool = True


_IN_LINE = _Role(apart=False)
_BREAK = _Role(apart=False)
_DROPPED = _Role(shown=False)
_ROLES = {
    name: role
    for role, names in (
        (_Role(), "address article aside blockquote body center details dialog div fieldset figcaption figure footer"),
        (_Role(), "form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend main marquee nav p search section"),
        (_Role(), "summary table"),
        (_Role(list=True), "dir dl menu ol ul"),
        (_Role(item=True), "caption dd dt li optgroup option td text th tr"),
        (_Role(keeps=True), "listing plaintext pre xmp"),
        (_Role(item=True, keeps=True), "textarea"),
        (_BREAK, "br"),
        (_DROPPED, "annotation annotation-xml datalist iframe noembed noframes script style template title"),
    )
    for name in names.split()
}
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

        frames: list[tuple[Tag, _Role, Iterator[PageElement], int]] = []
        frames.append((self.tree.soup, _IN_LINE, iter(self.tree.soup.contents), 0))
        while frames:
            tag, role, rest, begun = frames[-1]
            node = next(rest, None)
            if node is None:
                frames.pop()
                self.leave(tag, role, begun)
            elif not isinstance(node, Tag):
                data = str(node)
                self.layout.preformatted(data) if self.kept else self.layout.running(data)
            elif self.is_shown(node, own := _ROLES.get(node.name, _IN_LINE)):
                frames.append((node, own, iter(node.contents), self.layout.length))
                self.enter(node, own)

    def is_shown(self, tag: "Tag", role: _Role) -> bool:
        if tag.name == "title":
            self.take_title(tag)
        dropped = not role.shown and not is_shadow(tag.name, tag.attrs)
        if dropped or (self.drawings and tag.name in _DRAWING_DROPPED):
            return False
        return not (tag.attrs and is_hidden(tag.attrs))

    def take_title(self, tag: "Tag") -> None:
        """The first title that is no drawing's and does not run on to the end of the file."""
        if not self.title and not self.drawings and tag.sourcepos not in [each.at for each in self.tree.unclosed]:
            self.title = " ".join("".join(map(str, tag.contents)).split())

    def enter(self, tag: "Tag", role: _Role) -> None:
        if role.apart:
            self.enter_apart(role)
        elif role is _BREAK:
            self.layout.preformatted("\n") if self.kept else self.layout.line_break()
        if tag.name in _LEVELS:
            self.layout.open_heading(_LEVELS[tag.name])
            self.heading, self.loose = tag, tag.sourcepos not in self.tree.ended
        elif tag.name == "svg":
            self.drawings += 1
        if tag.attrs:
            self.name(tag)

    def enter_apart(self, role: _Role) -> None:
        if self.loose and self.layout.heading and self.layout.heading.start >= 0:
            self.layout.close_heading()
        if role.item:
            self.layout.item()
            self.items += 1
        else:
            self.block(role)
        self.kept += role.keeps

    def block(self, role: _Role) -> None:
        if role.list and self.items:
            self.layout.separate(Gap.LINE)
        else:
            self.layout.block()

    def name(self, tag: "Tag") -> None:
        self.layout.name(str(tag.attrs.get("id", "")))
        if tag.name == "a":
            self.layout.name(str(tag.attrs.get("name", "")))

    def leave(self, tag: "Tag", role: _Role, begun: int) -> None:
        if tag is self.heading:
            self.layout.close_heading()
            self.heading = None
        elif tag.name == "svg":
            self.drawings -= 1
        if role.item:
            self.layout.item_ends(begun)
            self.items -= 1
        elif role.apart:
            self.block(role)
        self.kept -= role.keeps


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

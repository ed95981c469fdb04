"""BeautifulSoup's tree, built from our tokens: the tree and what it is made with are its own, only the reading is ours."""

from collections.abc import Collection
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import Factory, define

from groundkit.adapters.html.tokens import End, Start, Text, Unclosed, normalised, tokens

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: Attributes that are read from the tree; the others would only fill it.
_ATTRIBUTES = ("id", "name", "hidden", "shadowrootmode")
_KEEPS_FIRST_NEWLINE = frozenset({"pre", "listing", "textarea"})
#: How far up an element is looked for that a start tag closes. In pages written by people it is one or two steps.
_REACH = 16


def _closings() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """For a start tag: the open elements whose end tag it implies, and those that they are not looked for beyond."""
    cells = {"td", "th", "caption"}
    scope = frozenset({*cells, "html", "table", "template", "button", "object", "marquee", "applet"})
    blocks = (
        "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form header"
        " hgroup hr listing main menu nav ol p plaintext pre search section summary table ul xmp"
    )
    paragraph = (frozenset({"p"}), scope)
    table = frozenset({"table", "html", "template"})
    return {
        **dict.fromkeys((*blocks.split(), *HEADINGS), paragraph),
        "li": (frozenset({"li"}), scope | {"ul", "ol", "menu", "dir"}),
        **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), scope | {"dl"})),
        **dict.fromkeys(("option", "optgroup"), (frozenset({"option"}), scope | {"select"})),
        **dict.fromkeys(("td", "th"), (frozenset({"td", "th"}), table | {"tr"})),
        "tr": (frozenset({"tr"}), table),
        **dict.fromkeys(("thead", "tbody", "tfoot"), (frozenset({"thead", "tbody", "tfoot"}), table)),
    }


_CLOSED_BY = _closings()
_OPTIONAL_END = frozenset().union(*[names for names, _ in _CLOSED_BY.values()])


def is_hidden(attributes: Any) -> bool:
    """By the markup alone. What is hidden until found is there to be found."""
    return "hidden" in attributes and attributes["hidden"].lower() != "until-found"


def is_shadow(name: str, attributes: Any) -> bool:
    """Whether this is a template that browsers show where it stands, as the inside of the element around it."""
    return name == "template" and attributes.get("shadowrootmode", "").lower() in ("open", "closed")


@define
class Tree:
    """The tree, and what its tags do not tell: the text that their `sourcepos` counts code points of, which headings have
    an end tag (by `sourcepos`), and what the text of the file is swallowed by."""

    soup: "BeautifulSoup"
    source: str
    ended: set[int] = Factory(set)
    unclosed: list[Unclosed] = Factory(list)

    def line(self, at: int) -> int:
        return self.source.count("\n", 0, at) + 1


def tree_of(text: str) -> Tree:
    """The tree of a page. Time and memory are linear in the text."""
    from bs4 import BeautifulSoup

    source = normalised(text.removeprefix("\ufeff"))
    builder = _builder_class()(source)
    # The builder has the text. Given to BeautifulSoup, a short one is suspected to be a file name, with a warning.
    soup = BeautifulSoup("", builder=builder)
    return Tree(soup, source, builder.ended, builder.unclosed)


@cache
def _builder_class() -> "type[Any]":
    """The tree builder. bs4 is imported when the first page is read, not before."""
    from bs4.builder import HTMLTreeBuilder

    class Builder(HTMLTreeBuilder):
        def __init__(self, source: str) -> None:
            # Nothing needs lists of classes or kinds of strings. White space is preserved in the whole document: what
            # collapses is decided where text is made, and bs4 would compare whole trees to find out where it stands.
            super().__init__(multi_valued_attributes={}, string_containers={}, preserve_whitespace_tags={"[document]"})
            self.source = source
            self.ended: set[int] = set()
            self.unclosed: list[Unclosed] = []

        def feed(self, markup: Any, *unused: Any) -> None:
            _Feeder(self.soup, self.ended, self.unclosed, self.empty_element_tags or ()).feed(self.source)

    return Builder


@define
class _Feeder:
    """Tells a BeautifulSoup the events of a page, by the interface that it has for tree builders."""

    soup: Any
    ended: set[int]
    unclosed: list[Unclosed]
    empty: Collection[str]
    #: Open elements whose content is in no text and that need an end tag, with how deep each lies.
    hiding: list[tuple["Tag", int]] = Factory(list)
    told: bool = False

    def feed(self, source: str) -> None:
        after, add = "", self.soup.handle_data
        # In XHTML a slash closes an element. A page says that it is XHTML by beginning as XML does.
        for token in tokens(source, xml=source.startswith("<?xml")):
            if isinstance(token, Start):
                self.start(token)
                after = token.name
                continue
            if isinstance(token, Text):
                drop = after in _KEEPS_FIRST_NEWLINE and token.data.startswith("\n")
                add(token.data[1:] if drop else token.data)
            elif isinstance(token, End):
                self.end(token)
            elif isinstance(token, Unclosed):
                self.unclosed.append(token)
            after = ""
        self.tell_hiding(0)

    def start(self, token: Start) -> None:
        name, attributes = token.name, token.attributes
        self.close_implied(name)
        kept = {each: attributes[each] for each in _ATTRIBUTES if each in attributes} if attributes else {}
        tag = self.soup.handle_starttag(name, None, None, kept, sourcepos=token.at)
        if token.empty or name in self.empty:
            self.soup.handle_endtag(name)
        elif (name == "template" and not is_shadow(name, kept)) or (
            kept and is_hidden(kept) and name not in _OPTIONAL_END
        ):
            self.hiding.append((tag, len(self.soup.tagStack)))

    def close_implied(self, name: str) -> None:
        """The end tags that a start tag makes unnecessary."""
        if name in HEADINGS and self.soup.currentTag.name in HEADINGS:
            self.soup.handle_endtag(self.soup.currentTag.name)
        closing = _CLOSED_BY.get(name)
        if closing and (tag := self.nearest(*closing)):
            self.soup.handle_endtag(tag.name)

    def nearest(self, names: Collection[str], bounds: Collection[str] = ()) -> "Tag | None":
        """The innermost open element of these names, if it is within reach and not beyond one of the bounds."""
        count = self.soup.open_tag_counter
        for name in names:
            if count.get(name):
                break
        else:
            return None
        for tag in islice(reversed(self.soup.tagStack), _REACH):
            if tag.name in names or tag.name in bounds:
                return tag if tag.name in names else None
        return None

    def end(self, token: End) -> None:
        name = token.name
        if name == "br":
            self.start(Start(name, {}, False, token.at))
            return
        if name in HEADINGS and (tag := self.nearest((name,)) or self.nearest(HEADINGS)):
            name = tag.name
            self.ended.add(tag.sourcepos or 0)
        self.soup.handle_endtag(name)
        if self.hiding:
            self.after_end(name)

    def after_end(self, name: str) -> None:
        """Only the end of the page tells of an element that hides the rest of it: within it, another end tag may serve."""
        depth = len(self.soup.tagStack)
        if name in ("body", "html"):
            self.tell_hiding(depth)
        while self.hiding and self.hiding[-1][1] > depth:
            self.hiding.pop()

    def tell_hiding(self, depth: int) -> None:
        """The first element of a page that is told of is enough: what it hides holds the others."""
        if self.told or not self.hiding or self.hiding[-1][1] <= depth:
            return
        tag = next(tag for tag, own in self.hiding if own > depth)
        what = tag.name if tag.name == "template" else f"hidden {tag.name}"
        self.unclosed.append(Unclosed(what, tag.sourcepos or 0, bool(tag.contents)))
        self.told = True

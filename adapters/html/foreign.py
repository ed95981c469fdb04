"""Where a page speaks SVG or MathML: there, CDATA sections are text, and `<title>` or `<style>` are elements like any other."""

from collections import Counter

from attrs import define, field

ROOTS = frozenset({"svg", "math"})
#: Elements of SVG and MathML whose content is HTML again.
_POINTS = frozenset({"foreignobject", "desc", "title", "mi", "mo", "mn", "ms", "mtext"})
#: Start tags of HTML that end SVG and MathML wherever they stand (13.2.6.5).
_BREAKOUT = frozenset(
    [
        "b",
        "big",
        "blockquote",
        "body",
        "br",
        "center",
        "code",
        "dd",
        "div",
        "dl",
        "dt",
        "em",
        "embed",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "hr",
        "i",
        "img",
        "li",
        "listing",
        "menu",
        "meta",
        "nobr",
        "ol",
        "p",
        "pre",
        "ruby",
        "s",
        "small",
        "span",
        "strong",
        "strike",
        "sub",
        "sup",
        "table",
        "tt",
        "u",
        "ul",
        "var",
    ]
)


@define
class Foreign:
    """The elements open since the outermost svg or math: name, and whether it is no element of HTML."""

    open: list[tuple[str, bool]] = field(factory=list)
    counts: Counter[str] = field(factory=Counter)

    @property
    def content(self) -> bool:
        """The current element is one of SVG or MathML."""
        return bool(self.open) and self.open[-1][1]

    def start(self, name: str, closed: bool) -> bool:
        """Takes a start tag note of; whether its element is one of SVG or MathML."""
        if not self.open and name not in ROOTS:
            return False
        if name in _BREAKOUT:
            while self.content and self.open[-1][0] not in _POINTS:
                self._pop()
        foreign = name in ROOTS or (self.content and self.open[-1][0] not in _POINTS)
        if self.open or foreign:
            self._push(name, foreign, closed)
        return foreign

    def end(self, name: str) -> None:
        if self.counts[name]:
            while self._pop() != name:
                pass

    def _push(self, name: str, foreign: bool, closed: bool) -> None:
        if not (foreign and closed):
            self.open.append((name, foreign))
            self.counts[name] += 1

    def _pop(self) -> str:
        name, _ = self.open.pop()
        self.counts[name] -= 1
        return name

"""What a format says of a text: sections, where blocks begin, what should stay whole. Chunking knows nothing else of it."""

from collections.abc import Iterable

from attrs import frozen

#: Longer headings are cut in heading paths and titles, in code points.
HEADING_LIMIT = 200
#: So many headings of a document open sections.
SECTIONS_LIMIT = 100_000
#: So many blocks a format's reader reads at most, and looks at so many lines one by one. Documents written by people
#: hardly come near it; one made to be expensive is not to take minutes, or gigabytes.
STEPS_LIMIT = 500_000


@frozen
class Heading:
    """A heading of level 1 to 6. `start` is where its first line begins, `end` where the line after it does."""

    level: int
    text: str
    start: int
    end: int


@frozen
class Section:
    """From a heading to the next one; the first begins at 0. `body` is where the heading's own lines end."""

    start: int
    body: int
    heading_path: tuple[str, ...] = ()


@frozen
class Outline:
    """`sections` cover the text. `breaks` are the starts of blocks and outermost list items, ascending, without the one
    directly below a heading. `whole` are ranges `(start, end)` of fences and tables, ascending and disjoint.
    """

    title: str = ""
    sections: tuple[Section, ...] = (Section(0, 0),)
    breaks: tuple[int, ...] = ()
    whole: tuple[tuple[int, int], ...] = ()


def heading_text(raw: str) -> str:
    """The heading in one line: white space collapsed, cut at the limit."""
    return " ".join(raw.split())[:HEADING_LIMIT]


def sections_of(headings: Iterable[Heading], preamble: int) -> tuple[Section, ...]:
    """Sections with the path of headings that hold them. The text before the first heading is one of its own, whose
    body begins at `preamble`, unless nothing stands there."""
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    for heading in headings:
        if not sections and heading.start > 0:
            sections.append(Section(0, min(preamble, heading.start)))
        while path and path[-1][0] >= heading.level:
            path.pop()
        path.append((heading.level, heading.text))
        sections.append(Section(heading.start, heading.end, tuple([text for _, text in path])))
    return tuple(sections) or (Section(0, preamble),)

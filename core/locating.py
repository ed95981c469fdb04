"""Pages and anchors of passages: where in the file a stretch of extracted text stands, in words a person can use."""

from bisect import bisect_right

from attrs import evolve

from groundkit.core.chunking import plain_outline
from groundkit.core.extraction import Extraction
from groundkit.core.model import Chunk, PageRange, Span
from groundkit.core.outline import Outline, sections_of

#: Recipe number: it grows with every change that gives a chunk another section, page or anchor.
PLACES = "places/1"


def outline_of_extraction(extraction: Extraction) -> Outline:
    """Sections by the extracted headings; blocks are parted by blank lines, as in plain text."""
    breaks = plain_outline(extraction.text).breaks
    # A break directly below a heading would part it from what it heads.
    below = {heading.end for heading in extraction.headings}
    return Outline(extraction.title, sections_of(extraction.headings, 0), tuple(at for at in breaks if at not in below))


def placed(chunks: tuple[Chunk, ...], extraction: Extraction) -> tuple[Chunk, ...]:
    """The chunks with the pages they stand on and the nearest anchor in their locators."""
    if not (extraction.pages or extraction.anchors):
        return chunks
    pages = [each.start for each in extraction.pages]
    anchors = [each.start for each in extraction.anchors]
    made = []
    for chunk in chunks:
        seen = seen_span(chunk)
        locator = evolve(
            chunk.locator, pages=_pages(extraction, pages, seen), anchor=_anchor(extraction, anchors, seen)
        )
        made.append(evolve(chunk, locator=locator))
    return tuple(made)


def seen_span(chunk: Chunk) -> Span:
    """The span without the white space at its ends, which belongs to no page or element; blank chunks keep theirs."""
    text, span = chunk.text, chunk.span
    start = span.start + len(text) - len(text.lstrip())
    end = span.end - len(text) + len(text.rstrip())
    return Span(start, end) if start < end else span


def _pages(extraction: Extraction, starts: list[int], seen: Span) -> PageRange | None:
    """Physical pages, from 1. Text before the first page start counts as the first page's."""
    if not starts:
        return None
    first, last = (max(0, bisect_right(starts, at) - 1) for at in (seen.start, seen.end - 1))
    labels = extraction.pages[first].label, extraction.pages[last].label
    return PageRange(first + 1, last + 1, *labels)


def _anchor(extraction: Extraction, starts: list[int], seen: Span) -> str:
    """The last `id` at or before the passage; if there is none, the first one within it."""
    place = bisect_right(starts, seen.start)
    if place:
        return extraction.anchors[place - 1].name
    return extraction.anchors[0].name if starts and starts[0] < seen.end else ""

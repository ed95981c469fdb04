"""Collections' values as the service's answers have them: cut for display where they are long, and never beyond a budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from groundkit.core.fitting import brief, plain
from groundkit.core.model import Reason
from groundkit.core.url_kinds import is_page
from groundkit.service.values import (
    CitationValue,
    DiffValue,
    LocatorValue,
    Model,
    PageFacts,
    PagesValue,
    SpanValue,
    VerificationValue,
)

if TYPE_CHECKING:
    from groundkit.core.model import Citation, FetchFacts, Locator, Span, Verification

T = TypeVar("T")

#: Code points of what is only shown: a title, a heading, a sentence; and headings of a path.
_TITLE, _HEADING, _SENTENCE, _HEADINGS = 200, 120, 600, 8
#: What is said instead of the detail: where a link leads to is a path of the machine, and nobody's business who asks from afar.
_SAID = {Reason.OUTSIDE_BASE: "the source is a symbolic link, or lies outside the base directory"}
#: Places that a drifted passage could be at.
_CANDIDATES = 10


def to_json(value: Model) -> str:
    """An answer as every surface sends it: one line, keys in their order, UTF-8 not escaped."""
    return json.dumps(value.model_dump(), ensure_ascii=False, separators=(",", ":"))


def size_of(value: Model) -> int:
    """Characters of an answer as JSON."""
    return len(to_json(value))


def address_of(collection: str, chunk_id: str) -> str:
    """The chunk's own URI: what a resource of the MCP server is called."""
    return f"groundkit://{quote(collection, safe='')}/{chunk_id}"


def url_of(collection: str, citation: Citation) -> str:
    """What a person opens: the page's URL, or the chunk's own URI."""
    if is_page(citation.source):
        return plain(citation.source)
    return address_of(collection, citation.chunk_id)


def id_of(collection: str, chunk_id: str) -> str:
    """What the plain `fetch` takes."""
    return f"{collection}/{chunk_id}"


def title_of(citation: Citation, title: str) -> str:
    """The document's title, or its source's name."""
    return brief(plain(title or citation.source), _TITLE)


def citation_value(citation: Citation) -> CitationValue:
    return CitationValue(
        document_id=citation.document_id,
        chunk_id=citation.chunk_id,
        source=plain(citation.source),
        source_class=citation.source_class.value,
        extractor=citation.extractor,
        start=citation.start_offset,
        end=citation.end_offset,
        digest=citation.digest,
        before=None if citation.before is None else plain(citation.before),
        after=None if citation.after is None else plain(citation.after),
        locator=None if citation.locator is None else _locator(citation.locator),
        incomplete=citation.incomplete,
    )


def _locator(locator: Locator) -> LocatorValue:
    pages = locator.pages
    return LocatorValue(
        line=locator.line,
        column=locator.column,
        heading_path=tuple(brief(plain(each), _HEADING) for each in locator.heading_path[-_HEADINGS:]),
        pages=None
        if pages is None
        else PagesValue(
            first=pages.first,
            last=pages.last,
            first_label=brief(plain(pages.first_label), _HEADING),
            last_label=brief(plain(pages.last_label), _HEADING),
        ),
        anchor=brief(plain(locator.anchor), _TITLE),
    )


def verification_value(verification: Verification) -> VerificationValue:
    """Without the texts, which may be long; see `with_texts`."""
    return VerificationValue(
        verdict=verification.verdict.value,
        reason=verification.reason.value,
        detail=brief(plain(_SAID.get(verification.reason, verification.detail)), _SENTENCE),
        context_changed=verification.context_changed,
        now=None if verification.span is None else _span(verification.span),
        line=None if verification.locator is None else verification.locator.line,
        column=None if verification.locator is None else verification.locator.column,
        similarity=verification.similarity,
        candidates=tuple(map(_span, verification.candidates[:_CANDIDATES])),
        found_in=None if verification.found_in is None else plain(verification.found_in.source),
        same_bytes_at=None if verification.same_bytes_at is None else plain(verification.same_bytes_at),
    )


def with_texts(told: VerificationValue, verification: Verification, room: int) -> tuple[VerificationValue, int, bool]:
    """The same with what stands there now and the word diff, if both fit; what they cost; and whether they were left out."""
    if verification.found is None:
        return told, 0, False
    diff = tuple(DiffValue(change=each.change.value, text=plain(each.text)) for each in verification.diff)
    whole = told.model_copy(update={"found": plain(verification.found), "diff": diff})
    cost = size_of(whole) - size_of(told)
    return (whole, cost, False) if cost <= room else (told, 0, True)


def _span(span: Span) -> SpanValue:
    return SpanValue(start=span.start, end=span.end)


def page_facts(fetch: FetchFacts | None) -> PageFacts | None:
    if fetch is None:
        return None
    return PageFacts(
        fetched_at=fetch.fetched_at,
        status=fetch.status,
        content_type=brief(plain(fetch.content_type), _TITLE),
        suspicions=tuple(brief(plain(each), _SENTENCE) for each in fetch.suspicions[:5]),
    )


def as_many_as_fit(items: Sequence[T], size: Callable[[T], int], room: int, least: int = 1) -> int:
    """How many of the items, from the first on, take at most `room` characters with their commas; `least` even where they do not."""
    taken = 0
    for number, item in enumerate(items):
        taken += size(item) + 1
        if taken > room and number >= least:
            return number
    return len(items)

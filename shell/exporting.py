"""Stored citations in the form that travels, and what of a citation takes the whole text that it stands in."""

from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import unquote

from attrs import define

from groundkit.citations import citation_at
from groundkit.core.annotation_selectors import NotAnchored, Places, Selectors, anchored
from groundkit.core.auditing import rebuilt_text
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Citation, Span, Verification
from groundkit.core.portable import PortableCitation, portable
from groundkit.core.result import Failure, Result, Success
from groundkit.core.spans import LineMap, checked_span
from groundkit.core.storage import StoredChunk
from groundkit.core.verdicts import unknown_chunk, unknown_document

T = TypeVar("T")


def within(citation: Citation, text: str | None, ask: Callable[[str], T]) -> Result[T, Verification]:
    """What is asked of the text that a citation stands in; a failure where that is not at hand or does not hold it."""
    if text is None or isinstance(checked_span(len(text), citation.span.start, citation.span.end), Failure):
        return Failure(unknown_document(citation.document_id))
    return Success(ask(text))


def sources_meant(iri: str) -> tuple[str, ...]:
    """What a source may be called that an annotation names: as it stands, without a fragment, and as a path that was encoded."""
    page = iri.partition("#")[0]
    return tuple(dict.fromkeys((iri, page, unquote(page, errors="surrogateescape"))))


def anchored_in(
    stored: Sequence[StoredChunk], selectors: Selectors, collection: str
) -> Result[PortableCitation, NotAnchored]:
    """The citation of what an annotation quotes, if it leads to one place of the document that these chunks make up."""
    text = rebuilt_text(stored)
    found: Result[Span, NotAnchored]
    found = Failure(NotAnchored(Places.NONE)) if text is None else anchored(text, selectors)
    if isinstance(found, Failure):
        return found
    span = found.unwrap()
    if text is None or isinstance(checked_span(len(text), span.start, span.end), Failure):
        return Failure(NotAnchored(Places.NONE))
    chunk = next(each for each in reversed(stored) if each.chunk.span.start <= span.start)
    citation = citation_at(chunk, span, text, LineMap.of(text))
    return Success(portable(citation, chunk.record, text, chunk.chunk.span, collection))


@define
class Exporter:
    """Makes portable citations; remembers the last document."""

    _collection: str
    _chunks: Callable[[str], tuple[StoredChunk, ...]]
    _last: tuple[str, dict[str, StoredChunk], str | None] | None = None

    def portable(self, citation: Citation) -> Result[PortableCitation, Verification]:
        """The form that travels; a failure where the collection does not have the cited version or the chunk."""
        if self._last is None or self._last[0] != citation.document_id:
            chunks = self._chunks(citation.document_id)
            self._last = citation.document_id, {each.chunk.id: each for each in chunks}, rebuilt_text(chunks)
        _, stored, text = self._last
        chunk = stored.get(citation.chunk_id)
        if chunk is None:
            unknown = unknown_chunk(citation.chunk_id) if stored else unknown_document(citation.document_id)
            return Failure(unknown)
        record, span = chunk.record, chunk.chunk.span
        start, end = citation.start_offset, citation.end_offset
        of_it = (citation.source, citation.provenance) == (record.source, record.provenance)
        if text is None or not of_it or text_digest(text[max(start, 0) : max(end, 0)]) != citation.digest:
            return Failure(unknown_document(citation.document_id))
        return within(citation, text, lambda whole: portable(citation, record, whole, span, self._collection))

"""Stored citations in the form that travels, and what of a citation takes the whole text that it stands in."""

from collections.abc import Callable
from typing import TypeVar

from attrs import define

from groundkit.core.auditing import rebuilt_text
from groundkit.core.model import Citation, Verification
from groundkit.core.portable import PortableCitation, portable
from groundkit.core.result import Failure, Result, Success
from groundkit.core.spans import checked_span
from groundkit.core.storage import StoredChunk
from groundkit.core.verdicts import unknown_chunk, unknown_document

T = TypeVar("T")


def within(citation: Citation, text: str | None, ask: Callable[[str], T]) -> Result[T, Verification]:
    """What is asked of the text that a citation stands in; a failure where that is not at hand or does not hold it."""
    if text is None or isinstance(checked_span(len(text), citation.span.start, citation.span.end), Failure):
        return Failure(unknown_document(citation.document_id))
    return Success(ask(text))


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
        return within(citation, text, lambda whole: portable(citation, record, whole, span, self._collection))

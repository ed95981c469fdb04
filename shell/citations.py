"""Citations of stored chunks, with the neighbourhood that the document's other chunks give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import CONTEXT, Citation, DocumentRecord, Locator, PageRange, Span
from groundkit.core.ports import StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import ChunksByRow, ChunksOfDocument, Generation, StorageFailure, StoredChunk

if TYPE_CHECKING:
    from groundkit.core.spans import LineMap


def citations_of(
    view: StoreView, generation: Generation, record: DocumentRecord
) -> Result[tuple[Citation, ...], StorageFailure]:
    """A citation of each chunk of a document, in order; none where the document is not there any more."""
    got = view.chunks(ChunksOfDocument(record.document_id), generation.mark.generation)
    if isinstance(got, Failure):
        return got
    text, start = _joined(got.unwrap())
    return Success(tuple(_citation(each, text, start) for each in got.unwrap()))


def cite(view: StoreView, generation: Generation, stored: StoredChunk) -> Result[Citation, StorageFailure]:
    """The citation of one stored chunk."""
    cited = cite_all(view, generation, (stored,))
    return cited if isinstance(cited, Failure) else Success(cited.unwrap()[0])


def cite_within(document: Sequence[StoredChunk], stored: StoredChunk) -> Citation:
    """The same, by all the chunks of its document in order."""
    return _citation(stored, *_joined(document))


def cite_all(
    view: StoreView, generation: Generation, chunks: Sequence[StoredChunk]
) -> Result[tuple[Citation, ...], StorageFailure]:
    """The citations of stored chunks, in order.

    Neighbours mostly stand in neighbouring rows, so those are asked for all at once; what they are is checked.
    """
    rows = {row for each in chunks for row in (each.row - 1, each.row + 1)} - {each.row for each in chunks}
    got = view.chunks(ChunksByRow(tuple(rows)), generation.mark.generation)
    if isinstance(got, Failure):
        return got
    near = {each.row: each for each in (*got.unwrap(), *chunks)}
    citations: list[Citation] = []
    for each in chunks:
        stretch = [near[row] for row in range(each.row - 1, each.row + 2) if row in near and _beside(near[row], each)]
        citation = _citation(each, *_joined(stretch))
        if not _complete(citation, each):
            widened = _widened(view, generation, each)
            if isinstance(widened, Failure):
                return widened
            citation = widened.unwrap()
        citations.append(citation)
    return Success(tuple(citations))


def merged_citation(
    view: StoreView, generation: Generation, chunks: Sequence[StoredChunk]
) -> Result[tuple[Citation, str], StorageFailure]:
    """One citation of chunks of a document that touch or overlap, in their order, and its text. The first one's id is its."""
    cited = cite_all(view, generation, (chunks[0], chunks[-1]))
    if isinstance(cited, Failure):
        return cited
    first, last = cited.unwrap()
    text, start = _joined(chunks)
    whole = evolve(
        first,
        span=Span(start, start + len(text)),
        digest=text_digest(text),
        after=last.after,
        locator=spanning(chunks[0].chunk.locator, chunks[-1].chunk.locator),
    )
    return Success((whole, text))


def spanning(first: Locator, last: Locator) -> Locator:
    """The place of a passage that begins at one place and ends at the other."""
    if first.pages is None or last.pages is None:
        return first
    pages = PageRange(first.pages.first, last.pages.last, first.pages.first_label, last.pages.last_label)
    return evolve(first, pages=pages)


def _beside(one: StoredChunk, other: StoredChunk) -> bool:
    """The same chunk, or the one before or after it."""
    return one.chunk.document_id == other.chunk.document_id and (
        one.chunk.ordinal - other.chunk.ordinal == one.row - other.row
    )


def _complete(citation: Citation, stored: StoredChunk) -> bool:
    """Whether there is as much neighbourhood on both sides as there can be."""
    left, right = citation.span.start, stored.record.length - citation.span.end
    before, after = citation.before or "", citation.after or ""
    return len(before) == min(CONTEXT, left) and len(after) == min(CONTEXT, right)


def _widened(view: StoreView, generation: Generation, stored: StoredChunk) -> Result[Citation, StorageFailure]:
    """The citation of a chunk among short neighbours, which are read in growing windows."""
    chunk, reach = stored.chunk, 2
    while True:
        first = max(0, chunk.ordinal - reach)
        window = ChunksOfDocument(chunk.document_id, first, chunk.ordinal + reach + 1 - first)
        got = view.chunks(window, generation.mark.generation)
        if isinstance(got, Failure):
            return got
        citation = _citation(stored, *_joined(got.unwrap()))
        whole = first == 0 and chunk.ordinal + reach >= stored.record.chunks - 1
        if whole or _complete(citation, stored):
            return Success(citation)
        reach *= 4


def citation_at(stored: StoredChunk, span: Span, document: str, lines: LineMap) -> Citation:
    """The citation of any stretch of a document, whose text and lines these are. The chunk holds its beginning."""
    chunk, record = stored.chunk, stored.record
    line, column = lines.line_column(span.start)
    return Citation(
        document_id=record.document_id,
        chunk_id=chunk.id,
        source=record.source,
        provenance=record.provenance,
        span=span,
        digest=text_digest(document[span.start : span.end]),
        before=document[max(0, span.start - CONTEXT) : span.start],
        after=document[span.end : span.end + CONTEXT],
        locator=evolve(chunk.locator, line=line, column=column),
        incomplete=record.incomplete,
    )


def _citation(stored: StoredChunk, text: str, start: int) -> Citation:
    """`text` is a stretch of the document that holds the chunk, beginning at `start`."""
    chunk, record = stored.chunk, stored.record
    here, there = chunk.span.start - start, chunk.span.end - start
    return Citation(
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        source=record.source,
        provenance=record.provenance,
        span=chunk.span,
        digest=text_digest(chunk.text),
        before=text[max(0, here - CONTEXT) : here],
        after=text[there : there + CONTEXT],
        locator=chunk.locator,
        incomplete=record.incomplete,
    )


def _joined(stored: Sequence[StoredChunk]) -> tuple[str, int]:
    """The text that neighbouring chunks cover together, and the offset at which it starts."""
    start = stored[0].chunk.span.start if stored else 0
    parts: list[str] = []
    end = start
    for each in stored:
        parts.append(each.chunk.text[end - each.chunk.span.start :])
        end = each.chunk.span.end
    return "".join(parts), start

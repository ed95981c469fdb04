"""Citations of stored chunks, with the neighbourhood that the document's other chunks give."""

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Citation, DocumentRecord
from groundkit.core.ports import StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import ChunksOfDocument, Generation, StorageFailure, StoredChunk

#: Code points of neighbourhood that a citation carries on each side.
CONTEXT = 64


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
    """The citation of a stored chunk, with the neighbourhood that its document's other chunks give."""
    chunk, record, at = stored.chunk, stored.record, generation.mark.generation
    reach = 1
    while True:
        first = max(0, chunk.ordinal - reach)
        got = view.chunks(ChunksOfDocument(chunk.document_id, first, chunk.ordinal + reach + 1 - first), at)
        if isinstance(got, Failure):
            return got
        text, start = _joined(got.unwrap())
        citation = _citation(stored, text, start)
        whole = first == 0 and chunk.ordinal + reach >= record.chunks - 1
        if whole or (
            len(citation.before) == min(CONTEXT, chunk.span.start)
            and len(citation.after) == min(CONTEXT, record.length - chunk.span.end)
        ):
            return Success(citation)
        reach *= 4


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
    )


def _joined(stored: tuple[StoredChunk, ...]) -> tuple[str, int]:
    """The text that neighbouring chunks cover together, and the offset at which it starts."""
    start = stored[0].chunk.span.start if stored else 0
    parts: list[str] = []
    end = start
    for each in stored:
        parts.append(each.chunk.text[end - each.chunk.span.start :])
        end = each.chunk.span.end
    return "".join(parts), start

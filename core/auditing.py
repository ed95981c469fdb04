"""What must be true of stored documents and chunks, looked at again: texts, digests, ids, tiling, counts."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from attrs import frozen

from groundkit.core.chunking import chunker_identity, chunks, outline_of
from groundkit.core.fingerprint import chunk_id, document_id, processing_fingerprint, text_digest
from groundkit.core.model import Document, DocumentRecord, SourceClass
from groundkit.core.settings import Settings
from groundkit.core.storage import StoredChunk


class Area(StrEnum):
    """Where a finding lies."""

    STORE = "store"
    DOCUMENT = "document"
    LEXICAL = "lexical"
    SNAPSHOT = "snapshot"
    UNFINISHED = "unfinished"


@frozen
class Finding:
    """Something that is not as it must be. `repairable`: what the store holds mends it."""

    area: Area
    subject: str
    detail: str
    repairable: bool = False


def _document(source: str, detail: str) -> Finding:
    return Finding(Area.DOCUMENT, source, detail)


def rebuilt_text(stored: Sequence[StoredChunk]) -> str | None:
    """The document's text, put together from its chunks in order; None where they leave a gap or go back."""
    parts: list[str] = []
    start, end = -1, 0
    for each in stored:
        span = each.chunk.span
        if span.start > end or span.start <= start or span.end <= end or span.length != len(each.chunk.text):
            return None
        parts.append(each.chunk.text[end - span.start :])
        start, end = span.start, span.end
    return "".join(parts)


def audit_document(
    record: DocumentRecord, stored: Sequence[StoredChunk], count: Callable[[StoredChunk], int]
) -> tuple[Finding, ...]:
    """Everything about one stored document that contradicts what it says of itself. `count` gives a chunk's tokens."""
    source = record.source
    found: list[Finding] = []
    text = rebuilt_text(stored)
    if text is None:
        found.append(_document(source, "its chunks leave a gap, go back, or are longer than their span"))
    elif text_digest(text) != record.text_digest or len(text) != record.length:
        found.append(_document(source, "the text put together from its chunks is not the one that was ingested"))
    if document_id(source, record.source_class.value, record.text_digest) != record.document_id:
        found.append(_document(source, f"its id {record.document_id} does not follow from its source and digest"))
    if len(stored) != record.chunks or [each.chunk.ordinal for each in stored] != list(range(len(stored))):
        found.append(
            _document(source, f"{len(stored)} chunks are stored, {record.chunks} recorded, or their order is broken")
        )
    for each in stored:
        span = each.chunk.span
        if text is not None and text[span.start : span.end] != each.chunk.text:
            found.append(_document(source, f"the chunk {each.chunk.id} differs from its neighbours where they overlap"))
        if chunk_id(record.document_id, span) != each.chunk.id:
            found.append(_document(source, f"the chunk id {each.chunk.id} does not follow from its document and span"))
        if count(each) != each.tokens:
            found.append(_document(source, f"the chunk {each.chunk.id} is counted with {each.tokens} tokens"))
    return tuple(found)


def audit_cutting(record: DocumentRecord, stored: Sequence[StoredChunk], settings: Settings) -> tuple[Finding, ...]:
    """Whether a text cut again gives the stored chunks, to the last line number and heading.

    Says nothing of a document that was cut by other rules (the next ingest cuts it anew), nor of one whose text is
    not at hand, nor of an extracted one or a page, whose places are not stored.
    """
    if record.source_class is not SourceClass.TEXT:
        return ()
    text = rebuilt_text(stored)
    chunker = chunker_identity(settings, record.media_type)
    if text is None or record.fingerprint != processing_fingerprint(record.text_digest, record.extractor, chunker):
        return ()
    outline = outline_of(text, record.media_type)
    document = Document(
        record.document_id, record.source, record.provenance, text, record.text_digest, record.media_type, outline.title
    )
    found: list[Finding] = []
    if outline.title != record.title:
        found.append(_document(record.source, "the recorded title is not the one its text has"))
    if chunks(document, settings, outline) != tuple(each.chunk for each in stored):
        found.append(_document(record.source, "its chunks, their headings or their lines are not those its text has"))
    return tuple(found)

"""A source's new version, cut and counted: what an ingest hands to the store."""

from attrs import frozen

from groundkit.core.changes import CountedChunk, NewDocument
from groundkit.core.chunking import chunker_identity, chunks, outline_of
from groundkit.core.extraction import Extraction, extraction_digest
from groundkit.core.fingerprint import document_id, processing_fingerprint, text_digest
from groundkit.core.folding import search_view
from groundkit.core.locating import PLACES, outline_of_extraction, placed
from groundkit.core.model import (
    Chunk,
    Document,
    DocumentRecord,
    ExtractionFacts,
    FromExtractor,
    FromText,
    source_class_of,
)
from groundkit.core.settings import Settings


@frozen
class Origin:
    """What is known of a version before its text is: its source, the SHA-256 of its bytes, who makes text of them, and how
    that is cut."""

    source: str
    digest: str
    media_type: str
    provenance: FromText | FromExtractor
    chunker: str

    @property
    def fingerprint(self) -> str:
        """The skip key: a stored document with this one needs nothing done."""
        extractor = self.provenance.identity if isinstance(self.provenance, FromExtractor) else None
        return processing_fingerprint(self.digest, extractor, self.chunker)


def text_origin(source: str, digest: str, media_type: str, settings: Settings) -> Origin:
    return Origin(source, digest, media_type, FromText(), chunker_identity(settings, media_type))


def extracted_origin(source: str, digest: str, media_type: str, identity: str, settings: Settings) -> Origin:
    chunker = f"{chunker_identity(settings, media_type)}+{PLACES}"
    return Origin(source, digest, media_type, FromExtractor(identity), chunker)


def text_version(origin: Origin, text: str, settings: Settings, ingested_at: str) -> NewDocument:
    """The document of a text that is its bytes, decoded: one digest serves both."""
    outline = outline_of(text, origin.media_type)
    document = _document(origin, text, origin.digest, outline.title)
    return _version(origin, document, chunks(document, settings, outline), None, ingested_at)


def extracted_version(origin: Origin, extraction: Extraction, settings: Settings, ingested_at: str) -> NewDocument:
    """The document of an extracted text, its chunks with the pages and anchors they stand at."""
    outline = outline_of_extraction(extraction)
    digest = text_digest(extraction.text)
    document = _document(origin, extraction.text, digest, outline.title)
    cut = placed(chunks(document, settings, outline), extraction)
    return _version(origin, document, cut, facts_of(origin, extraction), ingested_at)


def facts_of(origin: Origin, extraction: Extraction) -> ExtractionFacts:
    """What the record keeps of an extraction."""
    return ExtractionFacts(
        source_digest=origin.digest,
        digest=extraction_digest(extraction),
        pages=len(extraction.pages),
        losses=extraction.losses,
        incomplete=extraction.incomplete,
    )


def _document(origin: Origin, text: str, digest: str, title: str) -> Document:
    identifier = document_id(origin.source, source_class_of(origin.provenance).value, digest)
    return Document(identifier, origin.source, origin.provenance, text, digest, origin.media_type, title)


def _version(
    origin: Origin,
    document: Document,
    cut: tuple[Chunk, ...],
    extraction: ExtractionFacts | None,
    ingested_at: str,
) -> NewDocument:
    record = DocumentRecord(
        document_id=document.id,
        source=document.source,
        provenance=document.provenance,
        text_digest=document.text_digest,
        length=len(document.text),
        chunks=len(cut),
        media_type=document.media_type,
        title=document.title,
        fingerprint=origin.fingerprint,
        ingested_at=ingested_at,
        extraction=extraction,
    )
    return NewDocument(record, tuple(CountedChunk(each, *search_view(each.text)) for each in cut))

"""A source's new version, cut and counted: what an ingest hands to the store."""

from attrs import evolve, frozen

from groundkit.core.changes import CountedChunk, NewDocument
from groundkit.core.chunking import chunker_identity, chunks, outline_of
from groundkit.core.extraction import Extraction, extraction_digest
from groundkit.core.fingerprint import digest_of, document_id, processing_fingerprint, text_digest
from groundkit.core.folding import index_view
from groundkit.core.locating import PLACES, outline_of_extraction, placed
from groundkit.core.model import (
    Chunk,
    Document,
    DocumentRecord,
    ExtractionFacts,
    FetchFacts,
    FromExtractor,
    FromSnapshot,
    FromText,
    Provenance,
    source_class_of,
)
from groundkit.core.settings import Settings


@frozen
class Origin:
    """What is known of a version before its text is: its source, the SHA-256 of its bytes, who makes text of them (None:
    they are the text), and how that is cut. `charset` is what a server said of them, "" where nobody did."""

    source: str
    digest: str
    media_type: str
    provenance: Provenance
    identity: str | None
    chunker: str
    charset: str = ""

    @property
    def fingerprint(self) -> str:
        """The skip key: a stored document with this one needs nothing done."""
        said = digest_of((self.digest, self.charset)) if self.charset else self.digest
        return processing_fingerprint(said, self.identity, self.chunker)


def text_origin(source: str, digest: str, media_type: str, settings: Settings) -> Origin:
    return Origin(source, digest, media_type, FromText(), None, chunker_identity(settings, media_type))


def extracted_origin(source: str, digest: str, media_type: str, identity: str, settings: Settings) -> Origin:
    return Origin(source, digest, media_type, FromExtractor(identity), identity, _placing_chunker(settings, media_type))


def page_origin(
    source: str, digest: str, media_type: str, identity: str | None, charset: str, settings: Settings
) -> Origin:
    """Of a fetched page, whose text no extractor is needed for once it is stored."""
    chunker = _placing_chunker(settings, media_type) if identity else chunker_identity(settings, media_type)
    return Origin(source, digest, media_type, FromSnapshot(), identity, chunker, charset)


def _placing_chunker(settings: Settings, media_type: str) -> str:
    return f"{chunker_identity(settings, media_type)}+{PLACES}"


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


def page_version(
    origin: Origin, extraction: Extraction, fetch: FetchFacts, settings: Settings, ingested_at: str
) -> NewDocument:
    """The document of a page: of its text as it was extracted, or of a body that is the text, whose structure is read here."""
    if origin.identity is not None:
        new = extracted_version(origin, extraction, settings, ingested_at)
    else:
        outline = outline_of(extraction.text, origin.media_type)
        document = _document(origin, extraction.text, text_digest(extraction.text), outline.title)
        cut = chunks(document, settings, outline)
        new = _version(origin, document, cut, facts_of(origin, extraction), ingested_at)
    return evolve(new, record=evolve(new.record, fetch=fetch))


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
    return NewDocument(record, tuple(_counted(each, document.title) for each in cut))


def _counted(chunk: Chunk, title: str) -> CountedChunk:
    return CountedChunk(chunk, *index_view(chunk.text, chunk.locator.heading_path, title))

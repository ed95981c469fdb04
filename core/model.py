"""The values everything else speaks of: spans, documents, chunks, citations, hits."""

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

from groundkit.core.result import Failure, Result, Success
from groundkit.core.word_diff import DiffPart, word_diff

if TYPE_CHECKING:
    from groundkit.core.searching import ScoreParts


class SourceClass(StrEnum):
    """How the text of a source is reached again."""

    TEXT = "text"
    EXTRACTED = "extracted"
    SNAPSHOT = "snapshot"


@frozen
class FromText:
    """The text is the file's own bytes, decoded as strict UTF-8."""


@frozen
class FromExtractor:
    """The text is what this extractor makes of the bytes. ValueError without an identity."""

    identity: str = field()

    @identity.validator
    def _is_somebody(self, _: object, identity: object) -> None:
        if not (isinstance(identity, str) and identity.strip()):
            raise ValueError(f"{identity!r} is no identity of an extractor")


@frozen
class FromSnapshot:
    """The text is a local copy of what was fetched."""


Provenance: TypeAlias = FromText | FromExtractor | FromSnapshot


@frozen
class ProvenanceRefused:
    """A source class and an extractor that cannot stand together."""

    source_class: str
    extractor: str | None


def source_class_of(provenance: Provenance) -> SourceClass:
    match provenance:
        case FromText():
            return SourceClass.TEXT
        case FromExtractor():
            return SourceClass.EXTRACTED
        case FromSnapshot():
            return SourceClass.SNAPSHOT


def extractor_of(provenance: Provenance) -> str | None:
    return provenance.identity if isinstance(provenance, FromExtractor) else None


def provenance(source_class: str, extractor: str | None) -> Result[Provenance, ProvenanceRefused]:
    """Exactly the extracted class has an extractor; every other pairing is refused."""
    if extractor is not None and not extractor.strip():
        return Failure(ProvenanceRefused(source_class, extractor))
    match source_class, extractor:
        case SourceClass.TEXT, None:
            return Success(FromText())
        case SourceClass.SNAPSHOT, None:
            return Success(FromSnapshot())
        case SourceClass.EXTRACTED, str(identity) if identity:
            return Success(FromExtractor(identity))
    return Failure(ProvenanceRefused(source_class, extractor))


@frozen(order=True)
class Span:
    """Half-open `[start, end)` in Unicode code points of a document's text."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def _between(first: str, last: str) -> str:
    return first if first == last else f"{first}–{last}"


@frozen
class PageRange:
    """The first and the last page that a passage stands on: physical, from 1, with the labels printed on them, if any."""

    first: int
    last: int
    first_label: str = ""
    last_label: str = ""

    def __str__(self) -> str:
        """`p. 12`, `pp. 12–13`; with the labels that are printed on them, where they say something else."""
        numbers = _between(str(self.first), str(self.last))
        labels = _between(self.first_label or "?", self.last_label or "?")
        told = "" if labels in (numbers, "?") else f" ({labels})"
        return f"p{'' if self.first == self.last else 'p'}. {numbers}{told}"


@frozen
class Locator:
    """The same place in words a person can use. Lines and columns count from 1, columns in code points.

    Of an extracted text they are those of the text; its source has `pages` (PDF) or an `anchor`, the nearest `id` (HTML).
    """

    line: int
    column: int
    heading_path: tuple[str, ...] = ()
    pages: PageRange | None = None
    anchor: str = ""


@frozen
class Chunk:
    """A span of a document with its text, its place in the order (from 0) and its locator."""

    id: str
    document_id: str
    ordinal: int
    span: Span
    text: str = field(repr=False)
    locator: Locator


@frozen
class Document:
    """One text version of one source, as decoded: no newline folding, no normalisation, a BOM kept."""

    id: str
    source: str
    provenance: Provenance
    text: str = field(repr=False)
    text_digest: str
    media_type: str
    title: str = ""

    @property
    def source_class(self) -> SourceClass:
        return source_class_of(self.provenance)

    @property
    def extractor(self) -> str | None:
        return extractor_of(self.provenance)


@frozen
class ExtractionFacts:
    """What is kept of an extraction beside its chunks.

    `source_digest` is the SHA-256 of the bytes, `digest` that of everything that was extracted. `losses` are sentences
    about what is not in the text, or not as it stands in the source; `incomplete` says that text is missing.
    """

    source_digest: str
    digest: str
    pages: int = 0
    losses: tuple[str, ...] = ()
    incomplete: bool = False


@frozen
class FetchFacts:
    """How a page was fetched, and what its server said of it; "" where it said nothing.

    `content_type` is the header as it came, `charset` the one its text was decoded from and `charset_by` what decided that
    (both "" of a PDF), `fetched_at` UTC, ISO 8601, `length` that of the decoded body in bytes; its SHA-256 is the
    `source_digest` of the extraction. `extractor` made the text of it, None where the body is the text. `suspicions` are
    sentences about what may be wrong with it. `kept_body` names the file with the raw response, "" where none was kept.
    """

    status: int
    content_type: str
    charset: str
    charset_by: str
    fetched_at: str
    etag: str
    last_modified: str
    length: int
    extractor: str | None
    suspicions: tuple[str, ...] = ()
    kept_body: str = ""


@frozen
class SuspiciousPage:
    """A page that was taken although it may not be the one that was meant: what speaks for that."""

    source: str
    suspicions: tuple[str, ...]


@frozen
class DocumentRecord:
    """The provenance view of a stored document. `length` is in code points; `ingested_at` is UTC, ISO 8601.

    Extracted documents and pages have an `extraction`, and only pages have a `fetch`.
    """

    document_id: str
    source: str
    provenance: Provenance
    text_digest: str
    length: int
    chunks: int
    media_type: str
    title: str
    fingerprint: str
    ingested_at: str
    extraction: ExtractionFacts | None = None
    fetch: FetchFacts | None = None

    @property
    def source_class(self) -> SourceClass:
        return source_class_of(self.provenance)

    @property
    def extractor(self) -> str | None:
        return extractor_of(self.provenance)

    @property
    def incomplete(self) -> bool:
        """Whether text of the source is known to be missing."""
        return self.extraction is not None and self.extraction.incomplete


#: Code points of neighbourhood that a citation carries on each side.
CONTEXT = 64


@frozen
class Citation:
    """What is needed to look at the source again and say whether it still says this.

    `digest` is the SHA-256 of the cited text in UTF-8; `before` and `after` are 64 code points of its neighbourhood, fewer
    only at an end of the document, None where nobody recorded them. `incomplete`: the document it stands in lacks text that
    its source has.
    """

    document_id: str
    chunk_id: str
    source: str
    provenance: Provenance
    span: Span
    digest: str
    before: str | None = field(default=None, repr=False)
    after: str | None = field(default=None, repr=False)
    locator: Locator | None = None
    incomplete: bool = False

    @property
    def source_class(self) -> SourceClass:
        return source_class_of(self.provenance)

    @property
    def extractor(self) -> str | None:
        return extractor_of(self.provenance)

    @property
    def start_offset(self) -> int:
        return self.span.start

    @property
    def place(self) -> str:
        """Where it stands, for a person: `file:line:column`, `file.pdf p. 12 (xii)`, `file.html#anchor`."""
        if self.locator is None:
            return self.source
        if self.source_class is SourceClass.TEXT:
            return f"{self.source}:{self.locator.line}:{self.locator.column}"
        if self.locator.pages is not None:
            return f"{self.source} {self.locator.pages}"
        if not self.locator.anchor:
            return self.source
        # A URL may have been given with an empty fragment.
        page = self.source.removesuffix("#") if self.source_class is SourceClass.SNAPSHOT else self.source
        return f"{page}#{self.locator.anchor}"

    @property
    def end_offset(self) -> int:
        return self.span.end


class Verdict(StrEnum):
    """What looking at a source again ends in: exactly one of three."""

    VERIFIED = "verified"
    DRIFTED = "drifted"
    UNRESOLVABLE = "unresolvable"


class Reason(StrEnum):
    """Why a verdict is what it is; which reason belongs to which verdict is one table in `verdicts`."""

    SAME = "same"
    MOVED = "moved"
    REFORMATTED = "reformatted"
    EDITED = "edited"
    AMBIGUOUS = "ambiguous"
    REMOVED = "removed"
    CHANGED = "changed"
    SOURCE_MISSING = "source_missing"
    SOURCE_UNREADABLE = "source_unreadable"
    NOT_TEXT = "not_text"
    TOO_LARGE = "too_large"
    NAME_NOT_UTF8 = "name_not_utf8"
    OUTSIDE_BASE = "outside_base"
    NO_BASE = "no_base"
    EXTRACTOR_MISMATCH = "extractor_mismatch"
    EXTRACTION_FAILED = "extraction_failed"
    NO_SNAPSHOT_DIR = "no_snapshot_dir"
    SNAPSHOT_MISSING = "snapshot_missing"
    SNAPSHOT_CORRUPT = "snapshot_corrupt"
    UNKNOWN_DOCUMENT = "unknown_document"
    UNKNOWN_CHUNK = "unknown_chunk"
    CITATION_REFUSED = "citation_refused"
    BUDGET = "budget"


@frozen
class FoundIn:
    """Where a passage stands letter for letter that its own source does not have any more: in another document."""

    source: str
    document_id: str
    span: Span


@frozen
class Verification:
    """One verdict with its reason and a sentence. True exactly when it is `verified`.

    Of a drift, as far as it is known: `span` is where the passage stands in the source's text now (`moved`, `reformatted`,
    `edited`), `locator` the line and column of that, `similarity` how like it what stands there is (`edited`, from 0 to 1),
    `candidates` the places that could be it (`ambiguous`), `found_in` another document that has it (`removed`, `changed`).
    `cited` is the text that was cited and `found` what stands at `span` now. Of a source that is missing, `same_bytes_at` is
    another one with its very bytes, or else `found_in` a document with its whole text.
    """

    verdict: Verdict
    reason: Reason
    detail: str
    context_changed: bool = False
    span: Span | None = None
    locator: Locator | None = None
    similarity: float | None = None
    candidates: tuple[Span, ...] = ()
    found_in: FoundIn | None = None
    same_bytes_at: str | None = None
    cited: str | None = field(default=None, repr=False)
    found: str | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.verdict is Verdict.VERIFIED

    @property
    def diff(self) -> tuple[DiffPart, ...]:
        """The passage then and now, word by word, where both are at hand and differ."""
        if self.cited is None or self.found is None or self.cited == self.found:
            return ()
        return word_diff(self.cited, self.found)


@frozen
class RetrievalResult:
    """A search hit: the passage, its score, its citation, and what looking at the source gave (None: nobody looked).

    `parts` says where the score comes from, if that was asked. Merged hits have the score of their best
    and the `chunk_id` of their first. `title` is that of the document, "" of one without.
    """

    score: float
    text: str = field(repr=False)
    citation: Citation
    locator: Locator
    verification: Verification | None = None
    parts: "ScoreParts | None" = field(default=None, repr=False)
    title: str = field(default="", repr=False)

    @property
    def chunk_id(self) -> str:
        return self.citation.chunk_id

    @property
    def document_id(self) -> str:
        return self.citation.document_id

    @property
    def source(self) -> str:
        return self.citation.source

    @property
    def source_class(self) -> SourceClass:
        return self.citation.source_class

    @property
    def extractor(self) -> str | None:
        return self.citation.extractor

    @property
    def place(self) -> str:
        return self.citation.place

    @property
    def incomplete(self) -> bool:
        return self.citation.incomplete

"""Small documents, cut and counted by rules that a reader of a test can follow in the head."""

from collections.abc import Mapping

from groundkit.core.changes import CountedChunk, NewDocument
from groundkit.core.fingerprint import chunk_id, digest_of, document_id, text_digest
from groundkit.core.model import (
    Chunk,
    DocumentRecord,
    ExtractionFacts,
    FetchFacts,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    PageRange,
    Provenance,
    Span,
    source_class_of,
)
from groundkit.core.storage import StoredChunk

#: Sources sort by code point: the astral one after the one that UTF-16 would put behind it.
SOURCES = ("B.md", "a/ü.txt", "a.pdf", "\uffee.md", "\U0001f642.md", "https://e.example/?q=1#")
PROVENANCES: Mapping[str, Provenance] = {"a.pdf": FromExtractor("x/1"), SOURCES[-1]: FromSnapshot()}
HOSTILE = "\x00\"'\\,]\u2028\U0001f642"
#: Where the chunks of an extracted document stand, in turn.
PLACES: tuple[tuple[PageRange | None, str], ...] = (
    (PageRange(1, 2, "iv", HOSTILE), HOSTILE),
    (PageRange(2, 2), ""),
    (None, "anchor" + HOSTILE),
    (PageRange(3, 10, HOSTILE), ""),
    (PageRange(10, 11), "two"),
    (PageRange(11, 11, "", "A-1"), ""),
    (None, ""),
)


def view_of(text: str, heading_path: tuple[str, ...] = (), title: str = "") -> tuple[str, int]:
    """A search view that keeps nothing but the words: the text's, the headings', the title's."""
    words = " ".join((text, *heading_path, title)).lower().split()
    return " ".join(words), len(words)


def view_in(stored: StoredChunk) -> tuple[str, int]:
    """The same of a stored chunk."""
    return view_of(stored.chunk.text, stored.chunk.locator.heading_path, stored.record.title)


def letters_of(text: str, heading_path: tuple[str, ...] = (), title: str = "") -> tuple[str, int]:
    """Another one, with other counts."""
    return " ".join(text), len(text)


def facts_of(text: str, stamp: int) -> ExtractionFacts:
    """What an extraction of this text leaves behind: the first without losses, every other one incomplete."""
    source_digest, digest = digest_of(("source", text, str(stamp))), digest_of(("extraction", text, str(stamp)))
    return ExtractionFacts(source_digest, digest, len(text), (HOSTILE, "", "page 2")[:stamp], stamp % 2 == 1)


def fetch_of(text: str, stamp: int) -> FetchFacts:
    """How a page with this text was fetched: the first plain, the second of few words, the third with its raw response."""
    when = f"2026-01-0{stamp % 9 + 1}T00:00:00Z"
    if stamp == 1:
        return FetchFacts(203, "", "", "", when, "", "", 0, "x/1")
    body = digest_of(("body", text, str(stamp))) if stamp % 2 == 0 and stamp else ""
    doubts = (HOSTILE, "", "hardly any text")[:stamp]
    return FetchFacts(
        200, "text/html;" + HOSTILE, "utf-8", "http", when, f'W/"{HOSTILE}"', "ü", len(text), None, doubts, body
    )


def new_document(source: str, text: str, size: int = 5, stamp: int = 0) -> NewDocument:
    """A document cut every `size` code points; `stamp` changes what is not in its id."""
    origin = PROVENANCES.get(source, FromText())
    digest = text_digest(text)
    name = document_id(source, source_class_of(origin).value, digest)
    spans = [Span(start, min(start + size, len(text))) for start in range(0, len(text), size)]
    places = PLACES if isinstance(origin, FromExtractor) else PLACES[-1:]
    chunks = tuple(
        _counted(name, ordinal, span, text, places[ordinal % len(places)], f"\x00{source}")
        for ordinal, span in enumerate(spans)
    )
    fingerprint = digest_of((digest, str(size), str(stamp)))
    record = DocumentRecord(
        name, source, origin, digest, len(text), len(chunks), "text/plain", f"\x00{source}", fingerprint, "2026-01-01T00:00:00Z",
        None if isinstance(origin, FromText) else facts_of(text, stamp),
        fetch_of(text, stamp) if isinstance(origin, FromSnapshot) else None,
    )  # fmt: skip
    return NewDocument(record, chunks)


def _counted(
    name: str, ordinal: int, span: Span, text: str, place: tuple[PageRange | None, str], title: str
) -> CountedChunk:
    quoted = text[span.start : span.end]
    heading = ("A\x00 \"'", "東")[: ordinal % 3]
    locator = Locator(ordinal + 1, span.start + 1, heading, *place)
    chunk = Chunk(chunk_id(name, span), name, ordinal, span, quoted, locator)
    return CountedChunk(chunk, *view_of(quoted, heading, title))

"""Citations that travel: what somebody needs who has the file and nothing else."""

from attrs import field, frozen

from groundkit.core.model import Citation, DocumentRecord, Span

#: Grows when a key of the portable form comes, goes or changes its meaning.
CITATION_SCHEMA = 1


@frozen
class PortableCitation:
    """A citation with the text it cites and with what its ids can be checked against.

    `document_digest` is the SHA-256 of the whole document's text, `chunk_span` that of the chunk which `chunk_id` names: it
    holds the beginning of the citation. The text stands `occurrences` times in the document, and this is number
    `occurrence`, from 1; places that overlap count each. `fetched_at` is when a page was fetched (UTC, ISO 8601).
    """

    citation: Citation
    text: str = field(repr=False)
    document_digest: str
    chunk_span: Span
    occurrence: int
    occurrences: int
    collection: str
    fetched_at: str | None = None


def occurrence_of(document: str, span: Span) -> tuple[int, int]:
    """Which of the places with the same text a span of a document is, from 1, and how many there are."""
    cited = document[span.start : span.end]
    number = count = 0
    at = document.find(cited)
    while at >= 0:
        count += 1
        number += at <= span.start
        at = document.find(cited, at + 1)
    return number, count


def portable(
    citation: Citation, record: DocumentRecord, document: str, chunk_span: Span, collection: str
) -> PortableCitation:
    """The portable form of a citation of a document, whose text it is."""
    number, count = occurrence_of(document, citation.span)
    return PortableCitation(
        citation,
        document[citation.span.start : citation.span.end],
        record.text_digest,
        chunk_span,
        number,
        count,
        collection,
        None if record.fetch is None else record.fetch.fetched_at,
    )

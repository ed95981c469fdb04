"""What conditions look at, where they let hits come from, and how many chunks have vectors: only some searches need it."""

from attrs import frozen


@frozen
class DocumentBrief:
    """What conditions on documents look at. Its chunks have the rows from `first_row` on (0 where it has none)."""

    document_id: str
    source: str
    source_class: str
    media_type: str
    ingested_at: str
    first_row: int
    chunks: int


@frozen
class VectorCounts:
    """Live chunks with a vector, those in which the embedder found nothing, and those that lack theirs."""

    embedded: int = 0
    empty: int = 0
    lacking: int = 0


@frozen
class Within:
    """Where to look: only in these documents, only in these rows. None: everywhere."""

    documents: frozenset[str] | None = None
    rows: frozenset[int] | None = None

"""What changes a store: writes, the tokens of the generations they make, and what the lexical index is told of them.

The order of the steps, and why, is ADR 0006.
"""

from attrs import field, frozen

from groundkit.core.embedding import EmbeddingIdentity
from groundkit.core.fingerprint import next_token
from groundkit.core.model import Chunk, DocumentRecord, extractor_of, source_class_of
from groundkit.core.settings import Settings


@frozen
class CountedChunk:
    """A chunk with its search view (tokens separated by blanks) and the number of its tokens.

    `vector` is as `embedding.on_grid` makes it, empty where the embedder found nothing in the text, None where nobody asked
    one.
    """

    chunk: Chunk
    view: str = field(repr=False)
    tokens: int
    vector: bytes | None = field(default=None, repr=False)


@frozen
class NewDocument:
    record: DocumentRecord
    chunks: tuple[CountedChunk, ...]


@frozen
class KeptFile:
    """What is stored in a file beside the rows: a snapshot under its document's id, or a raw response under its digest.

    It is durable before the row that names it, and goes after it.
    """

    name: str
    data: bytes = field(repr=False)
    is_body: bool = False


@frozen
class ChunkVector:
    """A vector for a chunk that is stored without one; see `CountedChunk.vector`."""

    row: int
    vector: bytes = field(repr=False)


@frozen
class Write:
    """One generation's work.

    `documents` replace what their source had, chunks and all; `rebound` replace the record and keep the chunks;
    `removed` are sources; `settings` are what the collection is to remember from here on; `files` are those that the new
    records name. `vectors` are of chunks that have none, `manifest` says who made these and those of the documents;
    `forget_vectors` removes all that there are, and the manifest.
    """

    documents: tuple[NewDocument, ...] = ()
    rebound: tuple[DocumentRecord, ...] = ()
    removed: tuple[str, ...] = ()
    settings: Settings | None = None
    files: tuple[KeptFile, ...] = ()
    vectors: tuple[ChunkVector, ...] = ()
    manifest: EmbeddingIdentity | None = None
    forget_vectors: bool = False

    @property
    def empty(self) -> bool:
        changed = self.documents or self.rebound or self.removed or self.settings or self.files or self.vectors
        return not (changed or self.forget_vectors)


def _record_fields(record: DocumentRecord) -> tuple[str, ...]:
    return (
        record.document_id,
        source_class_of(record.provenance).value,
        extractor_of(record.provenance) or "",
        record.fingerprint,
        str(record.chunks),
        record.extraction.digest if record.extraction else "",
    )


def token_after(previous: str, write: Write) -> str:
    """The token of the generation this write makes."""
    work: list[str] = []
    for new in write.documents:
        work += ("document", *_record_fields(new.record))
    for record in write.rebound:
        work += ("rebound", *_record_fields(record))
    for source in write.removed:
        work += ("removed", source)
    if write.settings is not None:
        work += ("settings", repr(write.settings))
    # What chunks say and who makes the vectors decides what these are.
    if write.manifest is not None:
        work += ("manifest", repr(write.manifest))
    for each in write.vectors:
        work += ("vector", str(each.row))
    if write.forget_vectors:
        work.append("no vectors")
    return next_token(previous, work)


def first_token(settings: Settings, analyzer: str) -> str:
    """The token of generation 0."""
    return next_token("", ("created", analyzer, repr(settings)))


def token_after_recount(previous: str, analyzer: str) -> str:
    """The token of the generation in which every chunk is counted under another analyzer."""
    return next_token(previous, ("recount", analyzer))


@frozen
class LexicalRow:
    """One chunk as the lexical index sees it: its row in the store, and its search view."""

    row: int
    view: str = field(repr=False)


@frozen
class LexicalDocument:
    """All rows of one document alive at a generation; none: the document is to vanish from the index."""

    document_id: str
    rows: tuple[LexicalRow, ...]


@frozen
class SourceFailure:
    """Why a source could not be ingested, and when that was noticed (UTC, ISO 8601)."""

    source: str
    reason: str
    detail: str
    noticed_at: str

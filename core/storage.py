"""Values of the write path and the read path: generations, marks, writes, and what recovery has to do.

The order of the steps, and why, is ADR 0006.
"""

from enum import Enum
from typing import TypeAlias

from attrs import field, frozen

from groundkit.core.fingerprint import next_token
from groundkit.core.model import Chunk, DocumentRecord, Span, extractor_of, source_class_of
from groundkit.core.settings import Settings


@frozen
class Mark:
    """Which generation something holds. The number alone does not identify it: a copied index may have the same one."""

    generation: int
    token: str


@frozen
class Statistics:
    """Of the live chunks: how many, their tokens together, and an upper bound of the tokens of the longest."""

    chunks: int = 0
    tokens: int = 0
    longest: int = 0


@frozen
class Generation:
    mark: Mark
    statistics: Statistics
    analyzer: str


@frozen
class StoreState:
    """`current` is finished, `tip` is the highest with rows, `build` names the lexical directory that belongs to `current`."""

    current: Generation
    tip: Generation
    build: int
    settings: Settings

    def generation(self, mark: Mark | None) -> Generation | None:
        """The generation a lexical index with this mark can be paired with; None if it belongs to neither end."""
        if mark == self.current.mark:
            return self.current
        if mark == self.tip.mark:
            return self.tip
        return None


@frozen
class CountedChunk:
    """A chunk with its search view (tokens separated by blanks) and the number of its tokens."""

    chunk: Chunk
    view: str = field(repr=False)
    tokens: int


@frozen
class NewDocument:
    record: DocumentRecord
    chunks: tuple[CountedChunk, ...]


@frozen
class Write:
    """One generation's work.

    `documents` replace what their source had, chunks and all; `rebound` replace the record and keep the chunks;
    `removed` are sources; `settings` are what the collection is to remember from here on.
    """

    documents: tuple[NewDocument, ...] = ()
    rebound: tuple[DocumentRecord, ...] = ()
    removed: tuple[str, ...] = ()
    settings: Settings | None = None

    @property
    def empty(self) -> bool:
        return not (self.documents or self.rebound or self.removed or self.settings)


def _record_fields(record: DocumentRecord) -> tuple[str, ...]:
    return (
        record.document_id,
        source_class_of(record.provenance).value,
        extractor_of(record.provenance) or "",
        record.fingerprint,
        str(record.chunks),
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
class StoredChunk:
    """A chunk as the store gives it back, with the record of the document it stands in."""

    row: int
    chunk: Chunk
    tokens: int
    record: DocumentRecord


@frozen
class SourceFailure:
    """Why a source could not be ingested, and when that was noticed (UTC, ISO 8601)."""

    source: str
    reason: str
    detail: str
    noticed_at: str


@frozen
class OldSource:
    """What the store of an earlier version says of a source."""

    source: str
    document_id: str
    ingested_at: str
    chunks: int


@frozen
class OldStore:
    """The store of an earlier version (schema `version`), its sources by name. It can be listed and read, no more."""

    version: int
    sources: tuple[OldSource, ...]


@frozen
class OldChunk:
    """A chunk as an earlier version left it; whether its offsets can be trusted is not known."""

    id: str
    ordinal: int
    span: Span
    text: str = field(repr=False)


@frozen
class AllRecords:
    """Every live document, by source."""


@frozen
class RecordOfSource:
    source: str


@frozen
class RecordOfDocument:
    document_id: str


RecordQuery: TypeAlias = AllRecords | RecordOfSource | RecordOfDocument


@frozen
class ChunksByRow:
    """In the order asked for; rows that are not alive are left out, which the caller must notice."""

    rows: tuple[int, ...]


@frozen
class ChunksOfDocument:
    """In their order."""

    document_id: str
    first: int = 0
    count: int | None = None


@frozen
class ChunksByPrefix:
    """Chunks whose id starts so, by id; at most `limit`."""

    prefix: str
    limit: int = 2


ChunkQuery: TypeAlias = ChunksByRow | ChunksOfDocument | ChunksByPrefix


class StorageProblem(Enum):
    """Why the store said no."""

    MISSING = "missing"
    DROPPED = "dropped"
    FOREIGN = "foreign"
    OLDER = "older"
    NEWER = "newer"
    DAMAGED = "damaged"
    FULL = "full"
    BUSY = "busy"
    DENIED = "denied"
    FAILED = "failed"


@frozen
class StorageFailure:
    """The store could not do it: why, which file (its name, no directories), and what the library said."""

    problem: StorageProblem
    artefact: str
    detail: str

    @property
    def absent(self) -> bool:
        """Whether there is no such collection, or none any more."""
        return self.problem in (StorageProblem.MISSING, StorageProblem.DROPPED)


class LexicalProblem(Enum):
    MISSING = "missing"
    DAMAGED = "damaged"
    FULL = "full"
    BUSY = "busy"
    DENIED = "denied"
    FAILED = "failed"


@frozen
class LexicalFailure:
    """The lexical index could not do it. Only `FULL`, `BUSY` and `DENIED` leave its files as they were."""

    problem: LexicalProblem
    detail: str


@frozen
class Rebuild:
    """Make a new index from the store's rows at `tip`; what was there cannot be trusted."""

    why: str


@frozen
class Replay:
    """Apply the outbox; the index stands at `cur`."""


@frozen
class Finish:
    """The index already stands at `tip`; only the store's declaration is missing, if anything."""


Recovery: TypeAlias = Rebuild | Replay | Finish


def _told_by_outbox(state: StoreState) -> bool:
    """Whether the outbox leads from `current` to `tip`: over one write, and not over a recount, which makes new rows."""
    one_write = state.tip.mark.generation == state.current.mark.generation + 1
    return one_write and state.tip.analyzer == state.current.analyzer


def recovery_for(state: StoreState, held: Mark | None, analyzer: str) -> Recovery:
    """What has to happen before anything is written, from what the index says it holds (None: missing or unreadable)."""
    if state.tip.analyzer != analyzer:
        return Rebuild(f"the analyzer is now {analyzer}, the index was made by {state.tip.analyzer}")
    if held is None:
        return Rebuild("the lexical index is missing or unreadable")
    if held == state.tip.mark:
        return Finish()
    if held == state.current.mark:
        return Replay() if _told_by_outbox(state) else Rebuild("every chunk was counted anew since")
    return Rebuild("the lexical index holds another generation than the store")

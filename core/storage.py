"""What is asked of a store, what it answers with, and why it or the lexical index says no: what searching needs of both."""

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from groundkit.core.model import Chunk, DocumentRecord
from groundkit.core.settings import Settings

if TYPE_CHECKING:
    from groundkit.core.embedding import EmbeddingIdentity


@frozen
class Mark:
    """Which generation something holds. The number alone does not identify it: a copied index may have the same one."""

    generation: int
    token: str

    @property
    def revision(self) -> str:
        """The same as one word."""
        return f"{self.generation}-{self.token}"


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
    """`current` is finished, `tip` is the highest with rows, `build` names the lexical directory that belongs to `current`.

    `manifest` says who makes the vectors of the collection; None where it has none.
    """

    current: Generation
    tip: Generation
    build: int
    settings: Settings
    manifest: "EmbeddingIdentity | None" = None

    def generation(self, mark: Mark | None) -> Generation | None:
        """The generation a lexical index with this mark can be paired with; None if it belongs to neither end."""
        if mark == self.current.mark:
            return self.current
        if mark == self.tip.mark:
            return self.tip
        return None


@frozen
class StoredChunk:
    """A chunk as the store gives it back, with the record of the document it stands in."""

    row: int
    chunk: Chunk
    tokens: int
    record: DocumentRecord


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


@frozen
class NamedFiles:
    """The files that rows of documents name, whether these are alive or still to be purged: document ids, digests."""

    snapshots: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()

    @property
    def files(self) -> frozenset[str]:
        """Their names: a body's is its digest with a suffix, so none is both."""
        from groundkit.core.snapshots import body_name

        return self.snapshots | frozenset(map(body_name, self.bodies))


@frozen
class KeptListing:
    """What lies in a directory of kept files: names that are ours, half-written ones, and what we did not put there."""

    names: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()


class KeptProblem(Enum):
    MISSING = "missing"
    CORRUPT = "corrupt"


@frozen
class KeptUnread:
    """A kept file that could not be read: it is not there, or is not what was put there. `detail` without absolute paths."""

    problem: KeptProblem
    detail: str


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

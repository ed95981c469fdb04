"""What the use cases need from the outside world, as protocols. The docstrings are the contracts.

Each has one contract suite (`groundkit.testing.*_contract`), which the real adapter and its in-memory twin both pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from contextlib import AbstractContextManager

    from groundkit.core.briefs import DocumentBrief, VectorCounts, Within
    from groundkit.core.changes import LexicalDocument, SourceFailure, Write
    from groundkit.core.embedding import EmbedFailed
    from groundkit.core.extraction import (
        Extraction,
        ExtractionFailed,
        ExtractorMissing,
        Hint,
    )
    from groundkit.core.fetching import FetchAnswer, FetchFailed, FetchRequest, RawResponse
    from groundkit.core.kinds import Dispatch, Kinds
    from groundkit.core.model import DocumentRecord
    from groundkit.core.query import LexicalQuery
    from groundkit.core.ranking import Candidates, TermFacts
    from groundkit.core.reranking import RerankFailed
    from groundkit.core.result import Result
    from groundkit.core.retrieval_ports import Embedder, Reranker, VectorIndex, VectorRow
    from groundkit.core.settings import ExtractionLimits, Settings
    from groundkit.core.sources import ReadFailure, ReadSource
    from groundkit.core.storage import (
        ChunkQuery,
        KeptListing,
        KeptUnread,
        LexicalFailure,
        Mark,
        NamedFiles,
        RecordQuery,
        StorageFailure,
        StoredChunk,
        StoreState,
    )
    from groundkit.core.urls import WebUrl
    from groundkit.core.walking import Explanation, Found, WalkRequest

#: What is indexed of a chunk (its text, its heading path, its document's title) and the number of its tokens
#: (`folding.index_view`).
ViewOf: TypeAlias = Callable[[str, tuple[str, ...], str], tuple[str, int]]


class StoreView(Protocol):
    """One consistent view of a store. Nothing committed after it was taken shows in it. Close it soon.

    `at` is a generation number, that of `state.current` or of `state.tip`; other numbers give unspecified rows.
    """

    @property
    def state(self) -> StoreState: ...

    def records(self, wanted: RecordQuery, at: int) -> Result[tuple[DocumentRecord, ...], StorageFailure]:
        """Documents alive at `at`, ordered by source (by code point)."""

    def chunks(self, wanted: ChunkQuery, at: int) -> Result[tuple[StoredChunk, ...], StorageFailure]:
        """Chunks alive at `at` whose document is alive at `at`."""

    def sizes(self, rows: Sequence[int], at: int) -> Result[dict[int, int], StorageFailure]:
        """Tokens of each of these rows alive at `at`, without reading a text."""

    def first(self, rows: Sequence[int], at: int, limit: int) -> Result[tuple[int, ...], StorageFailure]:
        """Of these rows alive at `at`, the first `limit` by (source, start)."""

    def live(self, at: int) -> Result[dict[int, str], StorageFailure]:
        """Document id of every chunk row alive at `at`."""

    def briefs(self, at: int) -> Result[tuple[DocumentBrief, ...], StorageFailure]:
        """Of every document alive at `at` what conditions look at, by source."""

    def rows_under(
        self, documents: Collection[str] | None, at: int, admits: Callable[[tuple[str, ...]], bool]
    ) -> Result[frozenset[int], StorageFailure]:
        """Live rows of these documents (None: of all) whose heading path is admitted. Asked once for each path of a document."""

    def vectors(self, at: int, after: int, limit: int) -> Result[tuple[VectorRow, ...], StorageFailure]:
        """Vectors of live chunks with rows greater than `after`, by row, at most `limit`. Those without one are left out."""

    def lacking(self, at: int, after: int, limit: int) -> Result[tuple[StoredChunk, ...], StorageFailure]:
        """Live chunks that nobody asked an embedder about, with rows greater than `after`, by row, at most `limit`."""

    def vector_counts(self, at: int) -> Result[VectorCounts, StorageFailure]: ...

    def named_files(self) -> Result[NamedFiles, StorageFailure]:
        """The kept files that any row of a document names, alive or not."""

    def failures(self) -> Result[tuple[SourceFailure, ...], StorageFailure]:
        """What could not be ingested when it was last tried, by source."""

    def close(self) -> None:
        """End the view. Closing twice does nothing."""


class DocumentStore(Protocol):
    """The truth of one collection. Every change is one durable transaction or nothing.

    Of the writing methods, the caller holds the collection's writer lock.
    """

    def create(self, settings: Settings, analyzer: str) -> Result[None, StorageFailure]:
        """Make the store if there is none, at generation 0 without documents. An existing one is left alone; a dropped
        one is finished off first."""

    def view(self) -> Result[StoreView, StorageFailure]:
        """A view of now. Notices that the file was replaced by another one and opens that."""

    def stage(self, write: Write) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        """Rows of the next generation become durable: `tip` is one more, `current` stands.

        Returns the outbox: the documents whose chunks changed, with all their rows alive at `tip` in order.
        Refused with `BUSY` while an earlier write is unfinished (`tip` is not `current`); with `FAILED` if its manifest is
        not that of the vectors that are there, if it has vectors and no manifest, or gives one to a row that has one or is not
        alive. The manifest is stored with the first vectors; a chunk whose row changes keeps its vector.
        """

    def recount(self, analyzer: str, view_of: ViewOf) -> Result[None, StorageFailure]:
        """A generation in which every live chunk has a new row, counted by `view_of` (text to view and tokens).

        Moves `tip` like `stage`, also while an earlier write is unfinished. The outbox is empty afterwards: a rebuild
        of the lexical index has to follow.
        """

    def outbox(self, view_of: ViewOf) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        """What is still to be told to the lexical index, as `stage` returned it."""

    def everything(
        self, after: str, characters: int, view_of: ViewOf
    ) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        """Documents with chunks alive at `tip` and an id greater than `after`, by id, for a rebuild.

        As many as hold about so many code points, at least one; empty when there is none left.
        """

    def declare(self, build: int) -> Result[None, StorageFailure]:
        """`current` becomes `tip`, `build` the lexical directory; rows that ended, older generations and the outbox go."""

    def record_failures(self, cleared: Sequence[str], failed: Sequence[SourceFailure]) -> Result[None, StorageFailure]:
        """Forget the failures of the cleared sources, remember the new ones. No generation is made."""

    def check(self) -> Result[tuple[str, ...], StorageFailure]:
        """What SQLite's own checks find; empty when nothing."""

    def drop(self) -> Result[None, StorageFailure]:
        """Mark the collection dropped, durably: from here it reads as unknown."""

    def remove_files(self) -> Result[None, StorageFailure]:
        """Unlink the files of a dropped store, or of one too damaged to be read."""

    def close(self) -> None: ...


class LexicalSearcher(Protocol):
    """An immutable snapshot of one lexical index."""

    @property
    def mark(self) -> Mark: ...

    def facts(self, term: str) -> Result[TermFacts, LexicalFailure]: ...

    def candidates(
        self, query: LexicalQuery, limit: int, within: Within | None = None
    ) -> Result[Candidates, LexicalFailure]:
        """The `limit` (≥ 1) best matches by native score, complete: no match with a higher score is left out.

        `within` and the query's conditions decide what matches and add nothing to a score.
        """

    def meeting(self, query: LexicalQuery, within: Within | None = None) -> Result[frozenset[int], LexicalFailure]:
        """Every live row that meets the query's conditions (`required`, `phrases`, `excluded…`), whatever its terms."""


class LexicalIndex(Protocol):
    """Postings of one collection, in numbered builds. May be lost at any time; is made again from the store.

    `start`, `apply` and `discard` are called under the collection's writer lock.
    """

    @property
    def analyzer(self) -> str:
        """Identity of what turns a text into terms."""

    def terms(self, view: str) -> list[str]:
        """The terms of a search view, in order, one for each token."""

    def searcher(self, build: int) -> Result[LexicalSearcher, LexicalFailure]:
        """A searcher over what was last committed to this build. `DAMAGED` if it names no generation."""

    def start(self, build: int) -> Result[None, LexicalFailure]:
        """An empty build without a mark. What stood under this number goes first."""

    def apply(
        self, build: int, mark: Mark | None, documents: Sequence[LexicalDocument]
    ) -> Result[None, LexicalFailure]:
        """Each document's rows become exactly these, and the index's mark becomes `mark`, in one commit.

        Without a mark more is to follow, and the build is not to be trusted until a later call brings one.
        """

    def live(self, build: int) -> Result[dict[int, str], LexicalFailure]:
        """Document id of every live row. A row that stands twice is `DAMAGED`."""

    def check(self, build: int) -> Result[tuple[str, ...], LexicalFailure]:
        """Damage that checksums show; empty when none."""

    def discard(self, keep: int | None) -> Result[None, LexicalFailure]:
        """Remove every build but this one; with None, all of them and their directory."""

    def close(self) -> None: ...


class SourceReader(Protocol):
    """The files below one base directory, opened once. No link below the base is ever followed."""

    def walk(self, request: WalkRequest) -> Iterator[Found]:
        """Every file below the asked paths once, by source, each with what to do with it, in order of source."""

    def read(self, source: str, limit: int) -> Result[ReadSource, ReadFailure]:
        """The bytes of a regular file, all from one open, with their digest. Never blocks on a FIFO or device."""

    def explain(self, source: str, dispatch: Dispatch | None = None) -> Explanation:
        """Which rule decides about this path. Files are taken by their suffix, or as `dispatch` says."""

    def close(self) -> None: ...


class Extractor(Protocol):
    """Turns the bytes of a source into text, in another process: best a value whose class stands in a module.

    The same bytes give the same extraction under the same identity, always and everywhere; nothing else enters it, so
    `hint` may only help with what the bytes leave open (the charset a transport declared).

    It may also have `suffixes`, a mapping from suffix (with its dot) to media type: files that so come to be read by it.
    """

    @property
    def identity(self) -> str:
        """Who it is: `distribution/version`, then `+` and whatever else its output depends on."""

    @property
    def media_types(self) -> frozenset[str]: ...

    def extract(self, data: bytes, hint: Hint) -> Result[Extraction, ExtractionFailed]: ...


@frozen
class ActiveExtractor:
    """An extractor that is at work here, with the identity it had when it was found."""

    identity: str
    extractor: Extractor

    def job(self, data: bytes, hint: Hint, limits: ExtractionLimits) -> ExtractionJob:
        return ExtractionJob(self.extractor, self.identity, data, hint, limits)


class ExtractorRegistry(Protocol):
    """Which extractors there are. Looks for them when it is first asked, and remembers what it found."""

    @property
    def kinds(self) -> Kinds:
        """What each suffix stands for, those of extractors that were added included."""

    def reader_of(self, media_type: str) -> Result[ActiveExtractor, ExtractorMissing]:
        """The extractor for a media type: one that was added before a built-in one."""

    def active(self, identity: str, media_type: str = "") -> ActiveExtractor | None:
        """The extractor with exactly this identity, if it is at work here. One that is missing never hides another.

        If several have it, the first that reads the media type, else the first.
        """


@frozen
class ExtractionJob:
    """Bytes to be extracted by an extractor that has to have this identity, within limits."""

    extractor: Extractor
    identity: str
    data: bytes = field(repr=False)
    hint: Hint
    limits: ExtractionLimits


class Extractions(Protocol):
    """Extractions under way, each in a process of its own that is killed at its limits.

    Whatever an extractor does becomes a failure of its own job. Several threads may use it.
    """

    def prepare(self) -> None:
        """Get ready for a first job, without waiting for it."""

    def room(self) -> bool:
        """Whether one more would be begun soon: not more than twice as many as there are workers are under way."""

    def start(self, key: int, job: ExtractionJob) -> None:
        """Begin, or queue. Results are told apart by their key."""

    def finished(self, wait: bool) -> list[tuple[int, Result[Extraction, ExtractionFailed]]]:
        """What has ended since the last call, in any order; with `wait`, at least one unless none is under way."""

    def close(self) -> None:
        """End every worker, also a busy one. Closing twice does nothing; starting or asking for results is an error then."""


class KeptExtractions(Protocol):
    """Extractions kept on disk from one verification to the next. May lose any of them; never gives back another one."""

    def prepare(self) -> None:
        """Make the place for them, if there is none. Until then nothing is kept."""

    def get(self, digest: str, identity: str) -> Extraction | None:
        """What an extractor of this identity made of bytes with this SHA-256, if it is here, whole."""

    def put(self, digest: str, identity: str, extraction: Extraction) -> None:
        """Keep it, if there is room. Never raises for want of it."""

    def retain(self, digests: Collection[str]) -> None:
        """Remove what was made of other bytes than these."""

    def discard(self) -> None:
        """Remove everything, and the directory."""


class KeptFiles(Protocol):
    """Files of one collection that live as long as the rows that name them: its snapshots, or its raw bodies.

    No link is ever followed, neither at a file's name nor at the directory's. A name is one part of a path; others are
    refused. Of the writing methods, the caller holds the collection's writer lock.
    """

    def put(self, name: str, data: bytes) -> Result[bool, StorageFailure]:
        """The file is there whole, or is as it was. One with the right content is left alone, whatever else is there goes.

        True: there was no such file. Only what `settle` follows is durable.
        """

    def settle(self) -> Result[None, StorageFailure]:
        """The names that were put are durable."""

    def get(self, name: str) -> Result[bytes, KeptUnread]:
        """What was put under this name, from a regular file."""

    def remove(self, name: str) -> Result[None, StorageFailure]:
        """Unlink it. One that is not there is no failure."""

    def listed(self) -> Result[KeptListing, StorageFailure]:
        """What lies there; nothing where there is no directory."""

    def discard(self) -> Result[None, StorageFailure]:
        """Remove every file of ours, whole or not, and the directory unless something else lies in it."""


@frozen
class NotResolved:
    """Why a host name has no addresses."""

    detail: str


class Resolver(Protocol):
    def addresses(self, host: str, seconds: float) -> Result[tuple[str, ...], NotResolved]:
        """Every address that one look-up of a name (ASCII) gives, in its order, at least one; in so many seconds."""


class Fetcher(Protocol):
    """Fetches pages, each by one exchange with an address that was judged. Follows no redirect, sends no cookie.

    Several threads may use it.
    """

    def fetch(self, request: FetchRequest) -> Result[FetchAnswer, FetchFailed]:
        """The page, within the limits. A failure says nothing that is secret."""

    def close(self) -> None:
        """End what is under way: it fails with `STOPPED`. Closing twice does nothing."""


@frozen
class NoArchive:
    """What is not installed, and the command that mends it."""

    command: str


class Archive(Protocol):
    def record(self, url: WebUrl, raw: RawResponse, fetched_at: str) -> bytes:
        """A file that holds a raw response. The same arguments give the same bytes."""


class Clock(Protocol):
    def now(self) -> str:
        """UTC, ISO 8601 with seconds and `Z`."""


@frozen
class LockBusy:
    """Another process writes. `holder` is what it wrote about itself, or empty."""

    holder: str


class WriterLock(Protocol):
    def hold(self, seconds: float) -> Result[AbstractContextManager[None], LockBusy | StorageFailure]:
        """The collection's lock, waited for at most so long. The lock file's mere existence means nothing."""


@frozen
class Ports:
    """Everything a use case may reach, for one collection.

    `lexical` gives the index for a stemming language, `sources` a reader below a base directory (relative to the index
    directory, posix separators), `extractions` a number of workers; the caller of the last two closes what it gets. `kept`
    gives the extractions on disk, at most so many bytes of them; `fetcher` gives one that its caller closes, `archive` one
    that makes files of raw responses, or what is missing for that. `embedder` and `reranker` give those of a name, which
    their caller closes.
    """

    documents: DocumentStore
    lexical: Callable[[str], LexicalIndex]
    sources: Callable[[str], Result[SourceReader, ReadFailure]]
    clock: Clock
    lock: WriterLock
    extractors: ExtractorRegistry
    extractions: Callable[[int], Extractions]
    kept: Callable[[int], KeptExtractions]
    snapshots: KeptFiles
    bodies: KeptFiles
    fetcher: Callable[[], Fetcher]
    archive: Callable[[], Result[Archive, NoArchive]]
    vectors: VectorIndex
    embedder: Callable[[str], Result[Embedder, EmbedFailed]]
    reranker: Callable[[str], Result[Reranker, RerankFailed]]

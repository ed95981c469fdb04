"""The document store in memory: every state an immutable value, and the same contract as the real one."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import TypeAlias, TypeVar, assert_never

from attrs import evolve, field, frozen

from groundkit.core.briefs import DocumentBrief, VectorCounts
from groundkit.core.changes import (
    LexicalDocument,
    LexicalRow,
    SourceFailure,
    Write,
    first_token,
    token_after,
    token_after_recount,
)
from groundkit.core.model import Chunk, DocumentRecord, FromExtractor, FromSnapshot, FromText
from groundkit.core.ports import StoreView, ViewOf
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import VectorRow
from groundkit.core.settings import Settings
from groundkit.core.storage import (
    AllRecords,
    ChunkQuery,
    ChunksByPrefix,
    ChunksByRow,
    ChunksOfDocument,
    Generation,
    Mark,
    NamedFiles,
    RecordOfDocument,
    RecordOfSource,
    RecordQuery,
    Statistics,
    StorageFailure,
    StorageProblem,
    StoredChunk,
    StoreState,
)

T = TypeVar("T")


@frozen
class _Lifetime:
    since: int
    until: int | None = None

    def at(self, generation: int) -> bool:
        return self.since <= generation and (self.until is None or self.until > generation)


@frozen
class _Document:
    record: DocumentRecord
    life: _Lifetime


@frozen
class _Chunk:
    row: int
    chunk: Chunk
    tokens: int
    life: _Lifetime


@frozen
class _Vector:
    since: int
    vector: bytes


AnyRow = TypeVar("AnyRow", _Document, _Chunk)


@frozen
class _Books:
    """All there is of one collection."""

    state: StoreState
    dropped: bool = False
    documents: tuple[_Document, ...] = ()
    chunks: tuple[_Chunk, ...] = ()
    outbox: frozenset[str] = frozenset()
    failures: Mapping[str, SourceFailure] = field(factory=dict)
    next_row: int = 1
    vectors: Mapping[int, _Vector] = field(factory=dict)


#: Collections by name. Given to several stores, it is the directory they share.
Disk: TypeAlias = dict[str, _Books]


class MemoryView:
    """`groundkit.core.ports.StoreView` over one state."""

    def __init__(self, books: _Books, refused: Callable[[str], StorageFailure]) -> None:
        self._books, self._refused, self._open = books, refused, True

    @property
    def state(self) -> StoreState:
        return self._books.state

    def records(self, wanted: RecordQuery, at: int) -> Result[tuple[DocumentRecord, ...], StorageFailure]:
        return self._answer(lambda: tuple(sorted(self._records(wanted, at), key=lambda record: record.source)))

    def chunks(self, wanted: ChunkQuery, at: int) -> Result[tuple[StoredChunk, ...], StorageFailure]:
        return self._answer(lambda: tuple(_wanted(self._stored(at), wanted)))

    def sizes(self, rows: Sequence[int], at: int) -> Result[dict[int, int], StorageFailure]:
        asked = set(rows)
        return self._answer(
            lambda: {each.row: each.tokens for each in _alive(self._books.chunks, at) if each.row in asked}
        )

    def first(self, rows: Sequence[int], at: int, limit: int) -> Result[tuple[int, ...], StorageFailure]:
        def work() -> tuple[int, ...]:
            asked = set(rows)
            found = [each for each in self._stored(at) if each.row in asked]
            found.sort(key=lambda each: (each.record.source, each.chunk.span.start))
            return tuple(each.row for each in found[: max(limit, 0)])

        return self._answer(work)

    def live(self, at: int) -> Result[dict[int, str], StorageFailure]:
        return self._answer(lambda: {each.row: each.chunk.document_id for each in self._stored(at)})

    def briefs(self, at: int) -> Result[tuple[DocumentBrief, ...], StorageFailure]:
        def work() -> tuple[DocumentBrief, ...]:
            rows: dict[str, list[int]] = {}
            for each in _alive(self._books.chunks, at):
                rows.setdefault(each.chunk.document_id, []).append(each.row)
            found = [
                _brief(each.record, rows.get(each.record.document_id, [])) for each in _alive(self._books.documents, at)
            ]
            return tuple(sorted(found, key=lambda brief: brief.source))

        return self._answer(work)

    def rows_under(
        self, documents: Collection[str] | None, at: int, admits: Callable[[tuple[str, ...]], bool]
    ) -> Result[frozenset[int], StorageFailure]:
        return self._answer(
            lambda: frozenset(
                each.row
                for each in self._stored(at)
                if documents is None or each.record.document_id in documents
                if admits(each.chunk.locator.heading_path)
            )
        )

    def vectors(self, at: int, after: int, limit: int) -> Result[tuple[VectorRow, ...], StorageFailure]:
        def work() -> tuple[VectorRow, ...]:
            found = [
                VectorRow(each.row, each.chunk.id, vector)
                for each in sorted(self._stored(at), key=lambda each: each.row)
                if each.row > after and (vector := self._vector(each.row, at))
            ]
            return tuple(found[: max(limit, 0)])

        return self._answer(work)

    def lacking(self, at: int, after: int, limit: int) -> Result[tuple[StoredChunk, ...], StorageFailure]:
        def work() -> tuple[StoredChunk, ...]:
            found = [each for each in self._stored(at) if each.row > after and self._vector(each.row, at) is None]
            return tuple(sorted(found, key=lambda each: each.row)[: max(limit, 0)])

        return self._answer(work)

    def vector_counts(self, at: int) -> Result[VectorCounts, StorageFailure]:
        def work() -> VectorCounts:
            vectors = [self._vector(each.row, at) for each in self._stored(at)]
            return VectorCounts(sum(map(bool, vectors)), vectors.count(b""), vectors.count(None))

        return self._answer(work)

    def _vector(self, row: int, at: int) -> bytes | None:
        found = self._books.vectors.get(row)
        return None if found is None or found.since > at else found.vector

    def named_files(self) -> Result[NamedFiles, StorageFailure]:
        def work() -> NamedFiles:
            pages = [each.record for each in self._books.documents if isinstance(each.record.provenance, FromSnapshot)]
            bodies = (record.fetch.kept_body for record in pages if record.fetch)
            return NamedFiles(frozenset(record.document_id for record in pages), frozenset(filter(None, bodies)))

        return self._answer(work)

    def failures(self) -> Result[tuple[SourceFailure, ...], StorageFailure]:
        return self._answer(lambda: tuple(self._books.failures[source] for source in sorted(self._books.failures)))

    def close(self) -> None:
        self._open = False

    def _answer(self, work: Callable[[], T]) -> Result[T, StorageFailure]:
        return Success(work()) if self._open else Failure(self._refused("the view is closed"))

    def _records(self, wanted: RecordQuery, at: int) -> Iterable[DocumentRecord]:
        records = (each.record for each in _alive(self._books.documents, at))
        match wanted:
            case AllRecords():
                return records
            case RecordOfSource(source):
                return (record for record in records if record.source == source)
            case RecordOfDocument(document_id):
                return (record for record in records if record.document_id == document_id)
            case other:
                assert_never(other)

    def _stored(self, at: int) -> list[StoredChunk]:
        records = {each.record.document_id: each.record for each in _alive(self._books.documents, at)}
        return [
            StoredChunk(each.row, each.chunk, each.tokens, records[each.chunk.document_id])
            for each in _alive(self._books.chunks, at)
            if each.chunk.document_id in records
        ]


def _brief(record: DocumentRecord, rows: list[int]) -> DocumentBrief:
    kind = record.source_class.value
    place = min(rows, default=0), record.chunks
    return DocumentBrief(record.document_id, record.source, kind, record.media_type, record.ingested_at, *place)


def _wanted(stored: list[StoredChunk], wanted: ChunkQuery) -> list[StoredChunk]:
    match wanted:
        case ChunksByRow(rows):
            by_row = {each.row: each for each in stored}
            return [by_row[row] for row in rows if row in by_row]
        case ChunksOfDocument(document_id, first, count):
            found = [each for each in stored if each.chunk.document_id == document_id and each.chunk.ordinal >= first]
            found.sort(key=lambda each: each.chunk.ordinal)
            return found if count is None else found[: max(count, 0)]
        case ChunksByPrefix(prefix, limit):
            found = [each for each in stored if each.chunk.id.startswith(prefix)]
            return sorted(found, key=lambda each: each.chunk.id)[: max(limit, 0)]
        case other:
            assert_never(other)


class MemoryStore:
    """`groundkit.core.ports.DocumentStore`."""

    def __init__(self, disk: Disk | None = None, collection: str = "default") -> None:
        self._disk: Disk = {} if disk is None else disk
        self._collection = collection

    def create(self, settings: Settings, analyzer: str) -> Result[None, StorageFailure]:
        if self._collection not in self._disk or self._disk[self._collection].dropped:
            first = Generation(Mark(0, first_token(settings, analyzer)), Statistics(), analyzer)
            self._disk[self._collection] = _Books(StoreState(first, first, 0, settings))
        return Success(None)

    def view(self) -> Result[StoreView, StorageFailure]:
        return self._with(lambda books: MemoryView(books, self._failed))

    def stage(self, write: Write) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        def work(books: _Books) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
            if books.state.tip != books.state.current:
                return Failure(self._failure(StorageProblem.BUSY, "an earlier write is unfinished"))
            staged = _staged(books, write)
            if (reason := _broken_rule(staged, write, books)) is not None:
                return Failure(self._failed(reason))
            self._disk[self._collection] = staged
            views = {counted.chunk.id: counted.view for new in write.documents for counted in new.chunks}
            return Success(_told(staged, sorted(staged.outbox), lambda chunk: views[chunk.id]))

        return self._then(work)

    def recount(self, analyzer: str, view_of: ViewOf) -> Result[None, StorageFailure]:
        return self._change(lambda books: _recounted(books, analyzer, view_of))

    def outbox(self, view_of: ViewOf) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        return self._with(lambda books: _told(books, sorted(books.outbox), _view_in(books, view_of)))

    def everything(
        self, after: str, characters: int, view_of: ViewOf
    ) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        return self._with(lambda books: _told(books, _batch(books, after, characters), _view_in(books, view_of)))

    def declare(self, build: int) -> Result[None, StorageFailure]:
        return self._change(lambda books: _declared(books, build))

    def record_failures(self, cleared: Sequence[str], failed: Sequence[SourceFailure]) -> Result[None, StorageFailure]:
        def work(books: _Books) -> _Books:
            kept = {source: each for source, each in books.failures.items() if source not in set(cleared)}
            return evolve(books, failures=kept | {each.source: each for each in failed})

        return self._change(work)

    def check(self) -> Result[tuple[str, ...], StorageFailure]:
        return self._with(lambda _: ())

    def drop(self) -> Result[None, StorageFailure]:
        books = self._disk.get(self._collection)
        if books is None:
            return Failure(self._failure(StorageProblem.MISSING, "no such collection"))
        self._disk[self._collection] = evolve(books, dropped=True)
        return Success(None)

    def remove_files(self) -> Result[None, StorageFailure]:
        books = self._disk.get(self._collection)
        if books is None:
            return Failure(self._failure(StorageProblem.MISSING, "no such collection"))
        if not books.dropped:
            return Failure(self._failed("not dropped"))
        del self._disk[self._collection]
        return Success(None)

    def close(self) -> None:
        """Nothing is held."""

    def _failure(self, problem: StorageProblem, detail: str) -> StorageFailure:
        return StorageFailure(problem, f"{self._collection}.memory", detail)

    def _failed(self, detail: str) -> StorageFailure:
        return self._failure(StorageProblem.FAILED, detail)

    def _then(self, work: Callable[[_Books], Result[T, StorageFailure]]) -> Result[T, StorageFailure]:
        books = self._disk.get(self._collection)
        if books is None:
            return Failure(self._failure(StorageProblem.MISSING, "no such collection"))
        if books.dropped:
            return Failure(self._failure(StorageProblem.DROPPED, "the collection was dropped"))
        return work(books)

    def _with(self, work: Callable[[_Books], T]) -> Result[T, StorageFailure]:
        return self._then(lambda books: Success(work(books)))

    def _change(self, work: Callable[[_Books], _Books]) -> Result[None, StorageFailure]:
        def changed(books: _Books) -> Result[None, StorageFailure]:
            self._disk[self._collection] = work(books)
            return Success(None)

        return self._then(changed)


def _view_in(books: _Books, view_of: ViewOf) -> Callable[[Chunk], str]:
    """What is indexed of a chunk, its document's title included."""
    return lambda chunk: _counted_in(books, view_of, chunk)[0]


def _counted_in(books: _Books, view_of: ViewOf, chunk: Chunk) -> tuple[str, int]:
    titles = {each.record.document_id: each.record.title for each in books.documents if each.life.until is None}
    return view_of(chunk.text, chunk.locator.heading_path, titles[chunk.document_id])


def _alive(rows: Iterable[AnyRow], at: int) -> list[AnyRow]:
    return [each for each in rows if each.life.at(at)]


def _ended(rows: Iterable[AnyRow], at: int, ends: Callable[[AnyRow], bool]) -> tuple[AnyRow, ...]:
    """The rows, with `until` set on those that live and are to end."""
    return tuple(
        evolve(each, life=_Lifetime(each.life.since, at)) if each.life.until is None and ends(each) else each
        for each in rows
    )


def _staged(books: _Books, write: Write) -> _Books:
    at = books.state.tip.mark.generation + 1
    replaced = {new.record.source for new in write.documents} | set(write.removed)
    rebound = {(record.source, record.document_id) for record in write.rebound}
    gone = {e.record.document_id for e in books.documents if e.life.until is None and e.record.source in replaced}
    documents = _ended(
        books.documents,
        at,
        lambda each: each.record.source in replaced or (each.record.source, each.record.document_id) in rebound,
    )
    records = (*write.rebound, *(new.record for new in write.documents))
    counted = [each for new in write.documents for each in new.chunks]
    born = tuple(
        _Chunk(row, each.chunk, each.tokens, _Lifetime(at)) for row, each in zip(count(books.next_row), counted)
    )
    ending = [e for e in books.chunks if e.life.until is None and e.chunk.document_id in gone]
    chunks = _ended(books.chunks, at, lambda each: each.chunk.document_id in gone) + born
    statistics = _statistics_of(chunks, at, books.state.tip.statistics.longest)
    tip = Generation(Mark(at, token_after(books.state.tip.mark.token, write)), statistics, books.state.tip.analyzer)
    vectors = {} if write.forget_vectors else dict(books.vectors)
    manifest = None if write.forget_vectors else books.state.manifest
    given = {new.row: each.vector for new, each in zip(born, counted, strict=True) if each.vector is not None}
    given |= {each.row: each.vector for each in write.vectors if each.row not in vectors}
    vectors |= {row: _Vector(at, vector) for row, vector in given.items()}
    return evolve(
        books,
        state=evolve(
            books.state,
            tip=tip,
            settings=write.settings or books.state.settings,
            manifest=manifest or (write.manifest if given else None),
        ),
        vectors=vectors,
        documents=documents + tuple(_Document(record, _Lifetime(at)) for record in records),
        chunks=chunks,
        outbox=books.outbox | {each.chunk.document_id for each in (*ending, *born)},
        next_row=books.next_row + len(born),
    )


def _broken_rule(books: _Books, write: Write, before: _Books) -> str | None:
    """The rule of the tables that this state breaks."""
    had = {(each.record.source, each.record.document_id) for each in before.documents if each.life.until is None}
    replaced = {new.record.source for new in write.documents} | set(write.removed)
    if any((each.source, each.document_id) not in had or each.source in replaced for each in write.rebound):
        return "a record can only be rebound to the document it has"
    recorded = (*write.rebound, *(new.record for new in write.documents))
    if not all(map(_facts_fit, recorded)):
        return "facts that do not go with the class of their source"
    live = [each.record.source for each in books.documents if each.life.until is None]
    if len(set(live)) < len(live):
        return "a source has two live documents"
    documents = [(each.record.document_id, each.life.since) for each in books.documents]
    chunks = [(each.chunk.id, each.life.since) for each in books.chunks]
    if len(set(documents)) < len(documents) or len(set(chunks)) < len(chunks):
        return "an id twice in one generation"
    return _wrong_vectors(books, write, before)


def _wrong_vectors(books: _Books, write: Write, before: _Books) -> str | None:
    given = [each.vector for new in write.documents for each in new.chunks if each.vector is not None]
    given += [each.vector for each in write.vectors]
    if write.manifest is not None and books.state.manifest not in (None, write.manifest):
        return "vectors of another embedder than those that are there"
    if not given:
        return None
    if write.manifest is None:
        return "vectors, and nothing says whose they are"
    if any(len(each) not in (0, 2 * write.manifest.dimensions) for each in given):
        return "a vector of another length than its embedder's"
    live = {each.row for each in books.chunks if each.life.until is None}
    had = frozenset() if write.forget_vectors else before.vectors.keys()
    rows = [each.row for each in write.vectors]
    if len(set(rows)) < len(rows) or not live.issuperset(rows) or had & set(rows):
        return "a vector for a chunk that is not there, or has one"
    return None


def _facts_fit(record: DocumentRecord) -> bool:
    match record.provenance:
        case FromText():
            return record.extraction is None and record.fetch is None
        case FromExtractor():
            return record.fetch is None
        case FromSnapshot():
            return record.extraction is not None and record.fetch is not None


def _statistics_of(chunks: Iterable[_Chunk], at: int, longest: int) -> Statistics:
    sizes = [each.tokens for each in _alive(chunks, at)]
    return Statistics(len(sizes), sum(sizes), max(longest, *sizes) if sizes else 0)


def _recounted(books: _Books, analyzer: str, view_of: ViewOf) -> _Books:
    at = books.state.tip.mark.generation + 1
    live = [each for each in books.chunks if each.life.until is None]
    born = tuple(
        _Chunk(row, each.chunk, _counted_in(books, view_of, each.chunk)[1], _Lifetime(at))
        for row, each in zip(count(books.next_row), live)
    )
    carried = {
        new.row: _Vector(at, books.vectors[old.row].vector)
        for old, new in zip(live, born, strict=True)
        if old.row in books.vectors
    }
    token = token_after_recount(books.state.tip.mark.token, analyzer)
    return evolve(
        books,
        state=evolve(books.state, tip=Generation(Mark(at, token), _statistics_of(born, at, 0), analyzer)),
        chunks=_ended(books.chunks, at, lambda _: True) + born,
        outbox=frozenset(),
        next_row=books.next_row + len(born),
        vectors={**books.vectors, **carried},
    )


def _declared(books: _Books, build: int) -> _Books:
    tip = books.state.tip.mark.generation
    chunks = tuple(each for each in books.chunks if each.life.until is None or each.life.until > tip)
    left = {each.row for each in chunks}
    return evolve(
        books,
        state=evolve(books.state, current=books.state.tip, build=build),
        documents=tuple(each for each in books.documents if each.life.until is None or each.life.until > tip),
        chunks=chunks,
        outbox=frozenset(),
        vectors={row: each for row, each in books.vectors.items() if row in left},
    )


def _batch(books: _Books, after: str, characters: int) -> list[str]:
    lengths: dict[str, int] = {}
    for each in _alive(books.chunks, books.state.tip.mark.generation):
        lengths[each.chunk.document_id] = lengths.get(each.chunk.document_id, 0) + len(each.chunk.text)
    taken: list[str] = []
    held = 0
    for document_id in sorted(document_id for document_id in lengths if document_id > after):
        if taken and held >= characters:
            break
        taken.append(document_id)
        held += lengths[document_id]
    return taken


def _told(books: _Books, ids: Iterable[str], view: Callable[[Chunk], str]) -> tuple[LexicalDocument, ...]:
    rows: dict[str, list[LexicalRow]] = {document_id: [] for document_id in ids}
    for each in sorted(_alive(books.chunks, books.state.tip.mark.generation), key=lambda each: each.chunk.ordinal):
        if each.chunk.document_id in rows:
            rows[each.chunk.document_id].append(LexicalRow(each.row, view(each.chunk)))
    return tuple(LexicalDocument(document_id, tuple(found)) for document_id, found in rows.items())

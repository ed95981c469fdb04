"""Ingest: gather what is known and found, decide per source, write in batches. One bad source never stops the others."""

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from typing import TypeAlias

from attrs import Factory, define, evolve, frozen

from groundkit.core.chunking import chunker_identity, chunks, outline_of
from groundkit.core.decoding import decode
from groundkit.core.fingerprint import document_id, processing_fingerprint
from groundkit.core.folding import search_view
from groundkit.core.model import Document, DocumentRecord, FromText, SourceClass
from groundkit.core.planning import Add, Fail, Keep, Rebind, Replace, after_reading, before_reading, removals
from groundkit.core.ports import LockBusy, Ports, SourceReader
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings, SettingsChange, SettingsRefused, changed
from groundkit.core.sources import (
    Found,
    FoundFailed,
    FoundFile,
    FoundSkipped,
    ReadFailure,
    ReadProblem,
    ReadSource,
    SkipReason,
    WalkRequest,
    in_scope,
    source_of,
    suffix_of,
)
from groundkit.core.storage import (
    AllRecords,
    ChunksOfDocument,
    CountedChunk,
    NewDocument,
    RecordOfSource,
    SourceFailure,
    StorageFailure,
    StorageProblem,
    StoreState,
    Write,
)
from groundkit.writing import WriteFailure, Writer

#: A batch is written when it holds so many documents or so many code points of text.
BATCH_DOCUMENTS = 4096
BATCH_CHARACTERS = 16_000_000


@frozen
class IngestRequest:
    """Paths relative to the base directory; what is to be different about the collection's settings.

    `wait` is how many seconds to wait for another writer.
    """

    paths: tuple[str, ...]
    as_text: bool = False
    prune_all: bool = False
    change: SettingsChange = Factory(SettingsChange)
    wait: float = 10.0


@frozen
class NothingToIngest:
    """No file to ingest below these paths, and nothing known of them; nothing was created."""

    paths: tuple[str, ...]
    skipped: int


@frozen
class BaseDiffers:
    """The collection's sources lie below another base directory than the one given."""

    stored: str
    given: str


@frozen
class SourceEvent:
    """What was decided about one source: the how-manieth it is of how many, and its action."""

    source: str
    action: str
    done: int
    total: int


@frozen
class FailedSource:
    """A source that could not be ingested; `error` is the failure with its facts."""

    source: str
    error: ReadFailure


@frozen
class IngestReport:
    """How many sources were added, replaced, rebound, kept, removed; the chunks written; what failed or was passed over.

    `held_back` are sources whose removal a guard prevented. `pending` says what is still to be finished by the next
    writer, though the write is accepted.
    """

    added: int = 0
    updated: int = 0
    rebound: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    failed: tuple[FailedSource, ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()
    unknown_suffixes: tuple[tuple[str, int], ...] = ()
    held_back: tuple[str, ...] = ()
    pending: WriteFailure | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing failed and nothing was held back."""
        return not (self.failed or self.held_back)


IngestRefused: TypeAlias = NothingToIngest | BaseDiffers | SettingsRefused | LockBusy | WriteFailure | ReadFailure
OnEvent: TypeAlias = Callable[[SourceEvent], object]


@define
class _Batch:
    documents: list[NewDocument] = Factory(list)
    rebound: list[DocumentRecord] = Factory(list)
    removed: list[str] = Factory(list)
    characters: int = 0

    @property
    def full(self) -> bool:
        return len(self.documents) >= BATCH_DOCUMENTS or self.characters >= BATCH_CHARACTERS

    def write(self) -> Write:
        return Write(tuple(self.documents), tuple(self.rebound), tuple(self.removed))


def ingest(
    ports: Ports, request: IngestRequest, settled: StoreState | None, on_event: OnEvent | None
) -> Result[tuple[IngestReport, StoreState | None], IngestRefused]:
    """Bring the collection up to date with the files below the asked paths.

    Holds the writer lock throughout. `settled` is what an earlier ingest of this process returned, if any.
    """
    refused = _refused(ports, request)
    if refused is not None:
        return refused
    held = ports.lock.hold(request.wait)
    if isinstance(held, Failure):
        return held
    with held.unwrap():
        begun = _begin(ports, request, settled)
        if isinstance(begun, Failure):
            return begun
        run = begun.unwrap()
        with closing(run.reader):
            return run.carry_out(on_event)


def _refused(ports: Ports, request: IngestRequest) -> Failure[IngestRefused] | None:
    """Why a collection that does not exist yet is not to be made: asked before the lock, which makes the index directory."""
    stored = _stored_settings(ports)
    if isinstance(stored, Failure):
        return stored
    if stored.unwrap() is not None:
        return None
    wanted = changed(Settings(), request.change)
    if isinstance(wanted, Failure):
        return wanted
    opened = ports.sources(wanted.unwrap().base or "")
    if isinstance(opened, Failure):
        return opened
    with closing(opened.unwrap()) as reader:
        skipped = 0
        for found in reader.walk(WalkRequest(request.paths, request.as_text)):
            if not isinstance(found, FoundSkipped):
                return None
            skipped += 1
    return Failure(NothingToIngest(request.paths, skipped))


def _stored_settings(ports: Ports) -> Result[Settings | None, StorageFailure]:
    """The settings of the collection, or None where there is none yet."""
    viewed = ports.documents.view()
    if isinstance(viewed, Success):
        with closing(viewed.unwrap()) as view:
            return Success(view.state.settings)
    failure = viewed.failure()
    if failure.problem in (StorageProblem.MISSING, StorageProblem.DROPPED):
        return Success(None)
    return Failure(failure)


def _begin(ports: Ports, request: IngestRequest, settled: StoreState | None) -> Result["_Run", IngestRefused]:
    """Settings, walk and recovery: everything before the first source is read."""
    stored = _stored_settings(ports)
    if isinstance(stored, Failure):
        return stored
    before = stored.unwrap()
    if before is not None and before.base is not None and request.change.base not in (None, before.base):
        return Failure(BaseDiffers(before.base, request.change.base or ""))
    wanted = changed(before or Settings(), request.change)
    if isinstance(wanted, Failure):
        return wanted
    settings = wanted.unwrap()
    opened = ports.sources(settings.base or "")
    if isinstance(opened, Failure):
        return opened
    reader = opened.unwrap()
    prepared = _prepare(ports, request, before, settings, reader, settled)
    if isinstance(prepared, Failure):
        reader.close()
    return prepared


def _prepare(
    ports: Ports,
    request: IngestRequest,
    before: Settings | None,
    settings: Settings,
    reader: SourceReader,
    settled: StoreState | None,
) -> Result["_Run", IngestRefused]:
    found = tuple(reader.walk(WalkRequest(request.paths, request.as_text)))
    known = Success({}) if before is None else _known(ports, request.paths, found)
    if isinstance(known, Failure):
        return known
    records = known.unwrap()
    to_do = any(isinstance(each, FoundFile | FoundFailed) for each in found)
    if not to_do and not any(in_scope(request.paths, source) for source in records):
        return Failure(NothingToIngest(request.paths, len(found)))
    if before is None:
        created = ports.documents.create(settings, ports.lexical(settings.language).analyzer)
        if isinstance(created, Failure):
            return created
    writer = Writer(ports.documents, ports.lexical(settings.language), settled)
    recovered = writer.recover()
    if isinstance(recovered, Failure):
        return recovered
    if recovered.unwrap().settings != settings:
        noted = writer.write(Write(settings=settings))
        if isinstance(noted, Failure):
            return noted
    return Success(_Run(ports, request, settings, reader, writer, found, records))


def _known(
    ports: Ports, paths: tuple[str, ...], found: tuple[Found, ...]
) -> Result[dict[str, DocumentRecord], StorageFailure]:
    """The stored documents that this run may touch: one look-up each for single files, else all."""
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):
        return viewed
    files = {each.source for each in found if isinstance(each, FoundFile)}
    with closing(viewed.unwrap()) as view:
        at = view.state.tip.mark.generation
        wanted = [RecordOfSource(path) for path in paths] if files.issuperset(paths) else [AllRecords()]
        known: dict[str, DocumentRecord] = {}
        for query in wanted:
            records = view.records(query, at)
            if isinstance(records, Failure):
                return records
            known.update((each.source, each) for each in records.unwrap())
        return Success(known)


@define
class _Run:
    """One ingest under way."""

    ports: Ports
    request: IngestRequest
    settings: Settings
    reader: SourceReader
    writer: Writer
    found: tuple[Found, ...]
    known: dict[str, DocumentRecord]
    report: IngestReport = Factory(IngestReport)
    failed: list[ReadFailure] = Factory(list)
    batch: _Batch = Factory(_Batch)

    def carry_out(self, on_event: OnEvent | None) -> Result[tuple[IngestReport, StoreState | None], IngestRefused]:
        total = len(self.found)
        for number, each in enumerate(self.found, 1):
            action = self._one(each)
            if on_event is not None:
                on_event(SourceEvent(source_of(each), action, number, total))
            if self.batch.full:
                flushed = self._flush()
                if isinstance(flushed, Failure):
                    return flushed
        finished = self._finish()
        if isinstance(finished, Failure):
            return finished
        return Success((self.report, self.writer.settled))

    def _one(self, found: Found) -> str:
        match found:
            case FoundSkipped():
                return "skipped"
            case FoundFailed(failure):
                return self._fail(failure)
            case FoundFile(source, kind):
                read = self.reader.read(source, self.settings.max_bytes)
                if isinstance(read, Failure):
                    return self._fail(read.failure())
                return self._version(read.unwrap(), kind.media_type)

    def _fail(self, failure: ReadFailure) -> str:
        self.failed.append(failure)
        return Fail.__name__.lower()

    def _version(self, read: ReadSource, media_type: str) -> str:
        """One readable source: keep it, or decode, cut and queue it."""
        known = self.known.get(read.source)
        chunker = f"{chunker_identity(self.settings)}+{media_type}"
        fingerprint = processing_fingerprint(read.digest, None, chunker)
        if isinstance(before_reading(known, fingerprint), Keep):
            self._count(unchanged=1)
            return "unchanged"
        decoded = decode(read.data)
        if isinstance(decoded, Failure):
            return self._fail(ReadFailure(read.source, ReadProblem.NOT_TEXT, decoded.failure().detail))
        new = self._document(read, decoded.unwrap(), media_type, fingerprint)
        match after_reading(known, new.record.document_id, known is not None and self._same_chunks(known, new)):
            case Add():
                self._count(added=1)
            case Replace():
                self._count(updated=1)
            case Rebind():
                assert known is not None
                self._count(rebound=1)
                self.batch.rebound.append(evolve(new.record, ingested_at=known.ingested_at))
                return "rebound"
        self._count(chunks=len(new.chunks))
        self.batch.documents.append(new)
        self.batch.characters += new.record.length
        return "added" if known is None else "updated"

    def _count(self, **more: int) -> None:
        self.report = evolve(self.report, **{name: getattr(self.report, name) + n for name, n in more.items()})

    def _document(self, read: ReadSource, text: str, media_type: str, fingerprint: str) -> NewDocument:
        digest = read.digest  # the text of this class is its bytes, so one digest serves both
        outline = outline_of(text, media_type)
        identifier = document_id(read.source, SourceClass.TEXT.value, digest)
        document = Document(identifier, read.source, FromText(), text, digest, media_type, outline.title)
        cut = chunks(document, self.settings, outline)
        counted = tuple(CountedChunk(each, *search_view(each.text)) for each in cut)
        record = DocumentRecord(
            document_id=identifier,
            source=read.source,
            provenance=FromText(),
            text_digest=digest,
            length=len(text),
            chunks=len(counted),
            media_type=media_type,
            title=outline.title,
            fingerprint=fingerprint,
            ingested_at=self.ports.clock.now(),
        )
        return NewDocument(record, counted)

    def _same_chunks(self, known: DocumentRecord, new: NewDocument) -> bool:
        if known.document_id != new.record.document_id or known.chunks != new.record.chunks:
            return False
        viewed = self.ports.documents.view()
        if isinstance(viewed, Failure):
            return False
        with closing(viewed.unwrap()) as view:
            stored = view.chunks(ChunksOfDocument(known.document_id), view.state.tip.mark.generation)
        if isinstance(stored, Failure):
            return False
        return [each.chunk for each in stored.unwrap()] == [each.chunk for each in new.chunks]

    def _flush(self) -> Result[None, WriteFailure]:
        write = self.batch.write()
        self.batch = _Batch()
        if write.empty:
            return Success(None)
        written = self.writer.write(write)
        if isinstance(written, Failure):
            return written
        if written.unwrap().pending is not None:
            self.report = evolve(self.report, pending=written.unwrap().pending)
        return Success(None)

    def _finish(self) -> Result[None, WriteFailure]:
        """Removals, the last batch, and the list of failures."""
        files = frozenset(each.source for each in self.found if isinstance(each, FoundFile))
        told = files | {each.source for each in self.failed}
        untold = tuple(each.failure.source for each in self.found if isinstance(each, FoundFailed))
        gone = removals(self.known.values(), self.request.paths, told, untold, self.request.prune_all)
        self.batch.removed.extend(gone.removed)
        flushed = self._flush()
        if isinstance(flushed, Failure):
            return flushed
        skipped = [each for each in self.found if isinstance(each, FoundSkipped)]
        suffixes = Counter(suffix_of(each.source) for each in skipped if each.reason is SkipReason.UNKNOWN_SUFFIX)
        self.report = evolve(
            self.report,
            removed=len(gone.removed),
            failed=tuple(FailedSource(each.source, each) for each in self.failed),
            skipped=tuple(sorted(Counter(each.reason.value for each in skipped).items())),
            unknown_suffixes=tuple(sorted(suffixes.items())),
            held_back=gone.held_back,
        )
        return self._note_failures(untold)

    def _note_failures(self, untold: tuple[str, ...]) -> Result[None, StorageFailure]:
        """What failed now, instead of what had failed below the asked paths, also where there is no file any more."""
        viewed = self.ports.documents.view()
        if isinstance(viewed, Failure):
            return viewed
        with closing(viewed.unwrap()) as view:
            noted = view.failures()
        if isinstance(noted, Failure):
            return noted
        before = [each.source for each in noted.unwrap()]
        told = [each for each in before if in_scope(self.request.paths, each) and not in_scope(untold, each)]
        now = self.ports.clock.now()
        failures = [SourceFailure(each.source, each.problem.value, each.detail, now) for each in self.failed]
        return self.ports.documents.record_failures(told, failures) if told or failures else Success(None)

"""One ingest under way: each source read, decided about, cut and queued; batches written behind while it goes on."""

from collections import Counter
from contextlib import closing

from attrs import Factory, define, evolve, frozen

from groundkit.core.changes import CountedChunk, NewDocument, SourceFailure, Write
from groundkit.core.chunking import chunker_identity, chunks, outline_of
from groundkit.core.decoding import decode
from groundkit.core.fingerprint import document_id, processing_fingerprint
from groundkit.core.folding import search_view
from groundkit.core.kinds import suffix_of
from groundkit.core.model import Document, DocumentRecord, FromText, SourceClass
from groundkit.core.planning import (
    Add,
    Fail,
    Keep,
    Rebind,
    Removals,
    Replace,
    after_reading,
    before_reading,
    removals,
)
from groundkit.core.ports import Ports, SourceReader
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.sources import ReadFailure, ReadProblem, ReadSource
from groundkit.core.storage import ChunksOfDocument, StorageFailure
from groundkit.core.walking import Found, FoundFailed, FoundFile, FoundSkipped, SkipReason, in_scope, source_of
from groundkit.ingest_values import FailedSource, IngestReport, IngestRequest, OnEvent, SourceEvent
from groundkit.writing import Behind, WriteFailure, Writer


@frozen
class Batching:
    """A batch is written when it holds so many documents or so many code points of text."""

    documents: int
    characters: int


@define
class _Batch:
    documents: list[NewDocument] = Factory(list)
    rebound: list[DocumentRecord] = Factory(list)
    removed: list[str] = Factory(list)
    characters: int = 0

    def holds(self, limits: Batching) -> bool:
        return len(self.documents) >= limits.documents or self.characters >= limits.characters

    def write(self) -> Write:
        return Write(tuple(self.documents), tuple(self.rebound), tuple(self.removed))


@define
class Run:
    """One ingest under way."""

    ports: Ports
    request: IngestRequest
    settings: Settings
    reader: SourceReader
    writer: Writer
    found: tuple[Found, ...]
    known: dict[str, DocumentRecord]
    batching: Batching
    counts: Counter[str] = Factory(Counter)
    failed: list[ReadFailure] = Factory(list)
    batch: _Batch = Factory(_Batch)

    def carry_out(self, on_event: OnEvent | None) -> Result[IngestReport, WriteFailure]:
        """Everything, in order of source. A failure means that not all was accepted; what was written stays."""
        with Behind(self.writer) as behind:
            return self._carry_out(behind, on_event)

    def _carry_out(self, behind: Behind, on_event: OnEvent | None) -> Result[IngestReport, WriteFailure]:
        total = len(self.found)
        for number, each in enumerate(self.found, 1):
            action = self._one(each)
            if on_event is not None:
                on_event(SourceEvent(source_of(each), action, number, total))
            if self.batch.holds(self.batching):
                refused = behind.write(self._taken())
                if refused is not None:
                    return refused
        return self._finish(behind)

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
        chunker = chunker_identity(self.settings, media_type)
        fingerprint = processing_fingerprint(read.digest, None, chunker)
        if isinstance(before_reading(known, fingerprint), Keep):
            return self._told("unchanged")
        decoded = decode(read.data)
        if isinstance(decoded, Failure):
            return self._fail(ReadFailure(read.source, ReadProblem.NOT_TEXT, decoded.failure().detail))
        new = self._document(read, decoded.unwrap(), media_type, fingerprint)
        match after_reading(known, new.record.document_id, known is not None and self._same_chunks(known, new)):
            case Rebind():
                assert known is not None
                self.batch.rebound.append(evolve(new.record, ingested_at=known.ingested_at))
                return self._told("rebound")
            case Add():
                return self._queued(new, "added")
            case Replace():
                return self._queued(new, "updated")

    def _queued(self, new: NewDocument, action: str) -> str:
        self.batch.documents.append(new)
        self.batch.characters += new.record.length
        self.counts["chunks"] += len(new.chunks)
        return self._told(action)

    def _told(self, action: str) -> str:
        self.counts[action] += 1
        return action

    def _taken(self) -> Write:
        write, self.batch = self.batch.write(), _Batch()
        return write

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

    def _finish(self, behind: Behind) -> Result[IngestReport, WriteFailure]:
        """Removals, the last batch, and the list of failures."""
        files = frozenset(each.source for each in self.found if isinstance(each, FoundFile))
        told = files | {each.source for each in self.failed}
        untold = tuple(each.failure.source for each in self.found if isinstance(each, FoundFailed))
        gone = removals(self.known.values(), self.request.paths, told, untold, self.request.prune_all)
        self.batch.removed.extend(gone.removed)
        last = self._taken()
        if self.settings.recut:
            last = evolve(last, settings=evolve(self.settings, recut=False))
        written = behind.finish(last)
        if isinstance(written, Failure):
            return written
        noted = self._note_failures(untold)
        if isinstance(noted, Failure):
            return noted
        return Success(self._report(gone, written.unwrap()))

    def _report(self, gone: Removals, pending: WriteFailure | None) -> IngestReport:
        skipped = [each for each in self.found if isinstance(each, FoundSkipped)]
        suffixes = Counter(suffix_of(each.source) for each in skipped if each.reason is SkipReason.UNKNOWN_SUFFIX)
        return IngestReport(
            **self.counts,
            removed=len(gone.removed),
            failed=tuple(FailedSource(each.source, each) for each in self.failed),
            skipped=tuple(sorted(Counter(each.reason.value for each in skipped).items())),
            unknown_suffixes=tuple(sorted(suffixes.items())),
            held_back=gone.held_back,
            pending=pending,
        )

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

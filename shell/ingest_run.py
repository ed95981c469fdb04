"""One ingest under way: each source read, decided about, cut and queued; batches written behind while it goes on.

What pages need is loaded when there is one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import Factory, define, evolve

from groundkit.behind import BatchRefused, Behind, Nowhere
from groundkit.core.changes import NewDocument, Write
from groundkit.core.decoding import decode
from groundkit.core.extraction import Extraction, ExtractionFailed, Hint, IncompleteRefused, NotExtracted
from groundkit.core.kinds import Kind, Loader, looks_like, mislabelled, suffix_of
from groundkit.core.model import DocumentRecord, FromSnapshot, SourceClass, SuspiciousPage
from groundkit.core.planning import (
    Add,
    Fail,
    Keep,
    Rebind,
    Removals,
    Replace,
    after_extracting,
    after_reading,
    before_reading,
    removals,
)
from groundkit.core.ports import Ports, SourceReader
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings, limits_for
from groundkit.core.sources import ReadFailure, ReadProblem, ReadSource
from groundkit.core.storage import ChunksOfDocument, LexicalFailure, StorageFailure
from groundkit.core.url_kinds import is_page
from groundkit.core.versions import (
    Origin,
    extracted_origin,
    extracted_version,
    facts_of,
    text_origin,
    text_version,
)
from groundkit.core.walking import Found, FoundFailed, FoundFile, FoundSkipped, SkipReason, in_scope, source_of
from groundkit.ingest_batch import Batch, Batching, Teller
from groundkit.ingest_noting import note_failures
from groundkit.ingest_pending import Pending
from groundkit.ingest_values import (
    EmbeddingStopped,
    FailedSource,
    IngestReport,
    IngestRequest,
    LossySource,
    OnEvent,
    SourceRefused,
)
from groundkit.retaining import retain_cited
from groundkit.writing import WriteFailure, Writer

if TYPE_CHECKING:
    from groundkit.core.urls import WebUrl
    from groundkit.fetches import Answered, Fetches
    from groundkit.ingest_embedding import Embedding
    from groundkit.ingest_pages import Pages, PageVersion

#: Pages are written after so many seconds, however few they are: whoever is interrupted is not to lose them.
_PATIENCE = 5.0
#: Between two looks at what is extracted and what is fetched, in seconds.
_BREATH = 0.01


@define
class Run:
    """One ingest under way. Without a writer it decides everything and writes nothing; without a reader there are no files."""

    ports: Ports
    request: IngestRequest
    settings: Settings
    reader: SourceReader | None
    writer: Writer | None
    found: tuple[Found, ...]
    known: dict[str, DocumentRecord]
    batching: Batching
    pages: Pages | None = None
    urls: tuple[WebUrl, ...] = ()
    counts: Counter[str] = Factory(Counter)
    formats: Counter[str] = Factory(Counter)
    failed: list[SourceRefused] = Factory(list)
    losses: list[LossySource] = Factory(list)
    suspicious: list[SuspiciousPage] = Factory(list)
    batch: Batch = Factory(Batch)
    extracts: bool = False
    written_at: float = Factory(time.monotonic)
    embedding: Embedding | None = None

    def carry_out(self, on_event: OnEvent | None) -> Result[IngestReport, BatchRefused]:
        """Everything. A failure means that not all was accepted; what was written stays."""
        pending = Pending(lambda: self.ports.extractions(self.request.jobs))
        behind = Nowhere() if self.writer is None else Behind(self.writer, self.embedding)
        teller = Teller(on_event, len(self.found) + len(self.urls))
        with behind, closing(pending), self._fetching() as fetches:
            return self._carry_out(behind, pending, fetches, teller)

    @contextmanager
    def _fetching(self) -> Iterator[Fetches | None]:
        """The pages on their way, if there are any."""
        if self.pages is None:
            yield None
            return
        from groundkit.fetches import Fetches

        with closing(Fetches(self.ports.fetcher, self.pages.requests(self.urls))) as fetches:
            fetches.start()
            yield fetches

    def _carry_out(
        self, behind: Behind | Nowhere, pending: Pending, fetches: Fetches | None, teller: Teller
    ) -> Result[IngestReport, BatchRefused]:
        """Found sources in order; pages as they come in, and what is extracted as its text does."""
        for each in self.found:
            action = self._one(each, pending)
            if action is not None:
                teller.tell(source_of(each), action)
            refused = self._taken_in(behind, pending, teller, pending.crowded)
            if refused is not None:
                return refused
        refused = None if fetches is None else self._pages_taken_in(behind, pending, fetches, teller)
        if refused is not None:
            return refused
        while not pending.empty:
            refused = self._taken_in(behind, pending, teller, wait=True)
            if refused is not None:
                return refused
        return self._finish(behind, teller)

    def _pages_taken_in(
        self, behind: Behind | Nowhere, pending: Pending, fetches: Fetches, teller: Teller
    ) -> Failure[BatchRefused] | None:
        """Every page, and meanwhile the texts of those that were fetched: either is looked at in turn."""
        while not fetches.empty:
            if not pending.crowded:
                refused = self._pages_ready(behind, pending, fetches, teller)
                if refused is not None:
                    return refused
            refused = self._taken_in(behind, pending, teller, wait=pending.crowded)
            if refused is not None:
                return refused
            if not pending.empty:
                time.sleep(_BREATH)
        return None

    def _pages_ready(
        self, behind: Behind | Nowhere, pending: Pending, fetches: Fetches, teller: Teller
    ) -> Failure[BatchRefused] | None:
        """The pages that are there, or the next one, one after the other, so that few large ones are held at a time."""
        for answered in fetches.answered(wait=pending.empty):
            self._answered(answered, pending, teller)
            refused = self._written(behind)
            if refused is not None or pending.crowded:
                return refused
        return None

    def _taken_in(
        self, behind: Behind | Nowhere, pending: Pending, teller: Teller, wait: bool
    ) -> Failure[BatchRefused] | None:
        """The texts that have come in are queued, and a full batch is written behind."""
        for origin, extracted in pending.ended(wait):
            teller.tell(origin.source, self._extracted(origin, extracted))
        return self._written(behind)

    def _written(self, behind: Behind | Nowhere) -> Failure[BatchRefused] | None:
        """A full batch is written behind, and pages that have waited for a while: servers take their time."""
        waited = bool(self.batch.files) and time.monotonic() - self.written_at > _PATIENCE
        return behind.write(self._taken()) if waited or self.batch.holds(self.batching) else None

    def _one(self, found: Found, pending: Pending) -> str | None:
        """What was done with a source; None while its text is being extracted."""
        match found:
            case FoundSkipped(source, reason):
                return self._skipped(source, reason)
            case FoundFailed(failure):
                return self._fail(failure)
            case FoundFile(source, kind):
                assert self.reader is not None
                read = self.reader.read(source, self.settings.max_bytes)
                if isinstance(read, Failure):
                    return self._fail(read.failure())
                if kind.loader is Loader.EXTRACTOR:
                    return self._extract(read.unwrap(), kind, pending)
                return self._text(read.unwrap(), kind)

    def _skipped(self, source: str, reason: SkipReason) -> str:
        """Passed over; but a suffix that stood for something when the document was made lacks its extractor, not its file."""
        known = self.known.get(source)
        if reason is SkipReason.UNKNOWN_SUFFIX and known is not None and known.source_class is SourceClass.EXTRACTED:
            lacking = self.ports.extractors.reader_of(known.media_type)
            if isinstance(lacking, Failure):
                return self._fail(NotExtracted(source, lacking.failure()))
        return "skipped"

    def _answered(self, answered: Answered, pending: Pending, teller: Teller) -> None:
        """A page that was fetched, or was not."""
        request, _ = answered
        action = self._page(answered, pending)
        if action is not None:
            teller.tell(request.url.source, action)

    def _page(self, answered: Answered, pending: Pending) -> str | None:
        from groundkit.ingest_pages import PageVersion, ToExtract, Unchanged

        assert self.pages is not None
        taken = self.pages.taken(*answered)
        if isinstance(taken, Failure):
            return self._fail(taken.failure())
        match taken.unwrap():
            case Unchanged(record):
                return self._unchanged(record)
            case ToExtract(origin, job):
                pending.start(origin, job)
                return None
            case PageVersion() as version:
                return self._page_version(version)

    def _page_version(self, version: PageVersion) -> str:
        new = version.new
        if new.record.fetch is not None and new.record.fetch.suspicions:
            self.suspicious.append(SuspiciousPage(new.record.source, new.record.fetch.suspicions))
        self.batch.keep(version.files)
        return self._queue(version.origin, new)

    def _fail(self, failure: SourceRefused) -> str:
        self.failed.append(failure)
        return Fail.__name__.lower()

    def _text(self, read: ReadSource, kind: Kind) -> str:
        """One readable text: keep it, or decode, cut and queue it."""
        origin = text_origin(read.source, read.digest, kind.media_type, self.settings)
        known = self.known.get(read.source)
        if isinstance(before_reading(known, origin.fingerprint), Keep):
            return self._told("unchanged", origin)
        taken = self.request.as_text or (known is not None and known.text_digest == read.digest)
        wrong = None if taken else mislabelled(read.source, kind.media_type, read.data)
        if wrong is not None:
            return self._fail(wrong)
        decoded = decode(read.data)
        if isinstance(decoded, Failure):
            said = looks_like(read.data)
            detail = f"{decoded.failure().detail}{f'; it is {said}' if said else ''}"
            return self._fail(ReadFailure(read.source, ReadProblem.NOT_TEXT, detail))
        return self._queue(origin, text_version(origin, decoded.unwrap(), self.settings, self.ports.clock.now()))

    def _extract(self, read: ReadSource, kind: Kind, pending: Pending) -> str | None:
        """One source that is not text: keep it, or have its text extracted."""
        self.extracts = True
        wrong = mislabelled(read.source, kind.media_type, read.data)
        if wrong is not None:
            return self._fail(wrong)
        found = self.ports.extractors.reader_of(kind.media_type)
        if isinstance(found, Failure):
            return self._fail(NotExtracted(read.source, found.failure()))
        reads, known = found.unwrap(), self.known.get(read.source)
        origin = extracted_origin(read.source, read.digest, kind.media_type, reads.identity, self.settings)
        if known is not None and isinstance(before_reading(known, origin.fingerprint), Keep):
            return self._unchanged(known)
        limits = limits_for(self.settings, len(read.data))
        pending.start(origin, reads.job(read.data, Hint(kind.media_type), limits))
        return None

    def _unchanged(self, record: DocumentRecord) -> str:
        """Nothing is to be written, unless a document of which text is missing is not wanted."""
        if self.request.strict and record.extraction is not None and record.incomplete:
            return self._fail(NotExtracted(record.source, IncompleteRefused(record.extraction.losses)))
        return self._counted("unchanged", record.media_type)

    def _extracted(self, origin: Origin, extracted: Result[Extraction, ExtractionFailed]) -> str:
        """What comes of a source whose extraction has ended."""
        if isinstance(extracted, Failure):
            failed = extracted.failure()
            if self.pages is not None and isinstance(origin.provenance, FromSnapshot):
                return self._fail(self.pages.not_extracted(origin, failed))
            return self._fail(NotExtracted(origin.source, failed))
        extraction, known = extracted.unwrap(), self.known.get(origin.source)
        if self.request.strict and extraction.incomplete:
            self._given_up(origin)
            return self._fail(NotExtracted(origin.source, IncompleteRefused(extraction.losses)))
        if extraction.losses or extraction.incomplete:
            self.losses.append(LossySource(origin.source, extraction.losses, extraction.incomplete))
        if self.pages is not None and isinstance(origin.provenance, FromSnapshot):
            return self._page_version(self.pages.version(origin, extraction))
        facts = facts_of(origin, extraction)
        if known is not None and isinstance(after_extracting(known, facts.digest, origin.chunker), Rebind):
            same = evolve(known, provenance=origin.provenance, fingerprint=origin.fingerprint, extraction=facts)
            return self._rebind(origin, same)
        return self._queue(origin, extracted_version(origin, extraction, self.settings, self.ports.clock.now()))

    def _given_up(self, origin: Origin) -> None:
        if self.pages is not None:
            self.pages.given_up(origin)

    def _queue(self, origin: Origin, new: NewDocument) -> str:
        known = self.known.get(origin.source)
        match after_reading(known, new.record.document_id, known is not None and self._same_chunks(known, new)):
            case Rebind():
                assert known is not None
                return self._rebind(origin, evolve(new.record, ingested_at=known.ingested_at))
            case Add():
                return self._queued(origin, new, "added")
            case Replace():
                return self._queued(origin, new, "updated")

    def _rebind(self, origin: Origin, record: DocumentRecord) -> str:
        self.batch.rebind(record)
        return self._told("rebound", origin)

    def _queued(self, origin: Origin, new: NewDocument, action: str) -> str:
        self.batch.add(new)
        self.counts["chunks"] += len(new.chunks)
        return self._told(action, origin)

    def _told(self, action: str, origin: Origin) -> str:
        return self._counted(action, origin.media_type)

    def _counted(self, action: str, media_type: str) -> str:
        self.counts[action] += 1
        self.formats[media_type] += 1
        return action

    def _taken(self) -> Write:
        write, self.batch, self.written_at = self.batch.write(), Batch(), time.monotonic()
        return write

    def _same_chunks(self, known: DocumentRecord, new: NewDocument) -> bool:
        if known.document_id != new.record.document_id or known.chunks != new.record.chunks:
            return False
        if known.title != new.record.title:  # its words are indexed with every chunk
            return False
        viewed = self.ports.documents.view()
        if isinstance(viewed, Failure):
            return False
        with closing(viewed.unwrap()) as view:
            stored = view.chunks(ChunksOfDocument(known.document_id), view.state.tip.mark.generation)
        if isinstance(stored, Failure):
            return False
        return [each.chunk for each in stored.unwrap()] == [each.chunk for each in new.chunks]

    def _finish(self, behind: Behind | Nowhere, teller: Teller) -> Result[IngestReport, BatchRefused]:
        """Removals, the last batch, and the list of failures."""
        files = frozenset(each.source for each in self.found if isinstance(each, FoundFile))
        told = files | {each.source for each in self.failed if isinstance(each, ReadFailure | NotExtracted)}
        untold = tuple(each.failure.source for each in self.found if isinstance(each, FoundFailed))
        gone = removals(self.known.values(), self.request.paths, told, untold, self.request.prune_all)
        self.batch.removed.extend(gone.removed)
        last = self._taken()
        if self.settings.recut:
            last = evolve(last, settings=evolve(self.settings, recut=False))
        written = behind.finish(last)
        if isinstance(written, Failure):
            return written
        if self.writer is not None:
            noted = note_failures(self.ports, self.failed, self._looked_at(untold))
            if isinstance(noted, Failure):
                return noted
            if self.extracts or any(self._was_extracted(each) for each in (*gone.removed, *files)):
                retain_cited(self.ports, self.settings)
        filled = self._back_filled(behind.kept, teller.on_event)
        if isinstance(filled, Failure):
            return filled
        return Success(self._report(gone, written.unwrap()))

    def _back_filled(self, kept: int, on_event: OnEvent | None) -> Result[None, BatchRefused]:
        """A vector for whatever chunk of the collection lacks one."""
        if self.embedding is None or self.writer is None:
            return Success(None)
        from groundkit.ingest_embedding import back_fill

        filled = back_fill(self.ports.documents, self.writer, self.embedding, on_event)
        if isinstance(filled, Failure):
            failure = filled.failure()
            if isinstance(failure, StorageFailure | LexicalFailure):
                return Failure(failure)
            return Failure(EmbeddingStopped(failure, kept))
        self.counts["embedded"] += filled.unwrap()
        return Success(None)

    def _was_extracted(self, source: str) -> bool:
        return source in self.known and self.known[source].extraction is not None

    def _report(self, gone: Removals, pending: WriteFailure | None) -> IngestReport:
        failed = {each.source for each in self.failed}
        skipped = [each for each in self.found if isinstance(each, FoundSkipped) and each.source not in failed]
        suffixes = Counter(suffix_of(each.source) for each in skipped if each.reason is SkipReason.UNKNOWN_SUFFIX)
        return IngestReport(
            **self.counts,
            removed=len(gone.removed),
            failed=tuple(FailedSource(each.source, each) for each in sorted(self.failed, key=attrgetter("source"))),
            losses=tuple(sorted(self.losses, key=attrgetter("source"))),
            formats=tuple(sorted(self.formats.items())),
            skipped=tuple(sorted(Counter(each.reason.value for each in skipped).items())),
            unknown_suffixes=tuple(sorted(suffixes.items())),
            gone=gone.removed,
            held_back=gone.held_back,
            pending=pending,
            suspicious=tuple(sorted(self.suspicious, key=attrgetter("source"))),
            unswept=() if self.writer is None else self.writer.unswept,
        )

    def _looked_at(self, untold: tuple[str, ...]) -> Callable[[str], bool]:
        """Whether a source was looked at: below the asked paths, also where there is no file any more, or a page."""
        named = {each.source for each in self.found if isinstance(each, FoundFile)}  # some beside the asked paths
        named |= {each.source for each in self.urls}
        paths = self.request.paths
        return lambda each: (
            each in named or (not is_page(each) and in_scope(paths, each) and not in_scope(untold, each))
        )

"""Ingest: gather what is known and found, decide per source, write in batches. One bad source never stops the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import evolve

from groundkit.core.changes import Write
from groundkit.core.kinds import Dispatch, kind_of_record
from groundkit.core.model import DocumentRecord, SourceClass, SuspiciousPage
from groundkit.core.ports import Archive, Ports, SourceReader
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings, changed
from groundkit.core.sources import ReadFailure
from groundkit.core.storage import AllRecords, RecordOfSource, StorageFailure, StoreState
from groundkit.core.url_kinds import is_page
from groundkit.core.walking import Found, FoundFailed, FoundFile, FoundSkipped, WalkRequest, in_scope, source_of
from groundkit.core.web_failures import UrlRefused
from groundkit.ingest_batch import Batching
from groundkit.ingest_run import Run
from groundkit.ingest_values import (
    BaseDiffers,
    FailedSource,
    IngestRefused,
    IngestReport,
    IngestRequest,
    LossySource,
    NothingToIngest,
    OnEvent,
    SourceEvent,
    SourceRefused,
)
from groundkit.keeping import keeper_of
from groundkit.reading import settings_if_any, state_if_any
from groundkit.writing import WriteFailure, Writer

if TYPE_CHECKING:
    from groundkit.core.embedding import EmbedFailed
    from groundkit.core.urls import WebUrl
    from groundkit.ingest_embedding import Embedding
    from groundkit.ingest_pages import Pages

__all__ = [
    "BaseDiffers",
    "FailedSource",
    "IngestRefused",
    "IngestReport",
    "IngestRequest",
    "LossySource",
    "NothingToIngest",
    "SourceEvent",
    "SourceRefused",
    "SuspiciousPage",
    "ingest",
]

#: A batch is written when it holds so many documents or so many code points of text.
BATCH_DOCUMENTS = 2048
BATCH_CHARACTERS = 8_000_000
#: The same where each chunk gets a vector, which may take a while: whoever is interrupted is not to lose minutes of work.
EMBEDDED_BATCH = Batching(256, 1_000_000)
#: And where a server makes the vectors: some take a second for each.
SERVED_BATCH = Batching(32, 120_000)
#: Embedders that are no servers.
IN_PROCESS = ("wordllama", "hash")


def ingest(
    ports: Ports, request: IngestRequest, settled: StoreState | None, on_event: OnEvent | None
) -> Result[tuple[IngestReport, StoreState | None], IngestRefused]:
    """Bring the collection up to date with the files below the asked paths.

    Holds the writer lock throughout, but for a check, which writes nothing. `settled` is what an earlier ingest of this
    process returned, if any.
    """
    refused = _refused(ports, request)
    if isinstance(refused, Failure):
        return refused
    if refused is not None:
        return Success((refused, settled))
    if request.check:
        checked = _carried_out(_begin(ports, request, None, None), on_event)
        return checked if isinstance(checked, Failure) else Success((checked.unwrap()[0], settled))
    embedding = None if request.embedder is None else _embedding(ports, request.embedder)
    if isinstance(embedding, Failure):
        return embedding
    at_work = None if embedding is None else embedding.unwrap()
    with nullcontext() if at_work is None else closing(at_work.embedder):
        held = ports.lock.hold(request.wait)
        if isinstance(held, Failure):
            return held
        with held.unwrap():
            return _carried_out(_begin(ports, request, settled, at_work), on_event)


def _embedding(ports: Ports, name: str) -> Result[Embedding, EmbedFailed]:
    from groundkit.ingest_embedding import embedding_of

    return embedding_of(ports, name)


def _carried_out(
    begun: Result[Run, IngestRefused], on_event: OnEvent | None
) -> Result[tuple[IngestReport, StoreState | None], IngestRefused]:
    if isinstance(begun, Failure):
        return begun
    run = begun.unwrap()
    with closing(run.reader) if run.reader is not None else nullcontext():
        done = run.carry_out(on_event)
    if isinstance(done, Failure):
        return done
    return Success((done.unwrap(), None if run.writer is None else run.writer.settled))


def _refused(ports: Ports, request: IngestRequest) -> Failure[IngestRefused] | IngestReport | None:
    """Why a collection that does not exist yet is not to be made: asked before the lock, which makes the index directory.

    A report: all there is to say is which URLs may not be fetched.
    """
    stored = settings_if_any(ports.documents)
    if isinstance(stored, Failure):
        return stored
    if stored.unwrap() is not None:
        return None
    wanted = changed(Settings(), request.change)
    if isinstance(wanted, Failure):
        return wanted
    urls, refused = _urls(request.urls, wanted.unwrap())
    if urls:
        return None
    passed_over = _only_passed_over(ports, request, wanted.unwrap()) if request.paths else Success(0)
    if isinstance(passed_over, Failure):
        return passed_over
    skipped = passed_over.unwrap()
    if skipped is None:
        return None
    if refused:
        return IngestReport(
            failed=tuple(FailedSource(each.source, each) for each in sorted(refused, key=attrgetter("source")))
        )
    return Failure(NothingToIngest(request.paths, skipped))


def _only_passed_over(ports: Ports, request: IngestRequest, settings: Settings) -> Result[int | None, ReadFailure]:
    """How many files the asked paths have that are passed over; None if they have one that is not."""
    opened = ports.sources(settings.base or "")
    if isinstance(opened, Failure):
        return opened
    with closing(opened.unwrap()) as reader:
        skipped = 0
        for found in reader.walk(_walk_request(ports, request)):
            if not isinstance(found, FoundSkipped):
                return Success(None)
            skipped += 1
    return Success(skipped)


def _urls(given: Sequence[str], settings: Settings) -> tuple[tuple[WebUrl, ...], tuple[UrlRefused, ...]]:
    """Each URL once: those that may be fetched, by their shape, and the others."""
    if not given:
        return (), ()
    from groundkit.core.urls import web_url

    judged = [web_url(each, settings.fetch_ports) for each in dict.fromkeys(given)]
    refused = dict.fromkeys(each.failure() for each in judged if isinstance(each, Failure))
    return tuple(each.unwrap() for each in judged if isinstance(each, Success)), tuple(refused)


def _walk_request(ports: Ports, request: IngestRequest) -> WalkRequest:
    return WalkRequest(request.paths, Dispatch(request.as_text, ports.extractors.kinds))


def _begin(
    ports: Ports, request: IngestRequest, settled: StoreState | None, embedding: Embedding | None
) -> Result[Run, IngestRefused]:
    """Settings, walk and recovery: everything before the first source is read."""
    stored = state_if_any(ports.documents)
    if isinstance(stored, Failure):
        return stored
    state = stored.unwrap()
    before = None if state is None else state.settings
    if state is not None and state.manifest is not None and not (request.check or request.forget_vectors):
        from groundkit.ingest_embedding import identity_refused

        refused = identity_refused(state.manifest, None if embedding is None else embedding.identity)
        if refused is not None:
            return Failure(refused)
    kept = ports.archive() if request.keep_bodies else None
    if isinstance(kept, Failure):
        return kept
    archive = None if kept is None else kept.unwrap()
    if before is not None and before.base is not None and request.change.base not in (None, before.base):
        return Failure(BaseDiffers(before.base, request.change.base or ""))
    wanted = changed(before or Settings(), request.change)
    if isinstance(wanted, Failure):
        return wanted
    # A new collection has nothing that was cut by other sizes.
    settings = evolve(wanted.unwrap(), recut=before is not None and wanted.unwrap().recut)
    reader: SourceReader | None = None
    if request.paths or (settings.recut and settings.base is not None):
        opened = ports.sources(settings.base or "")
        if isinstance(opened, Failure):
            return opened
        reader = opened.unwrap()
    prepared = _prepare(ports, request, before, settings, reader, settled, archive, embedding)
    if isinstance(prepared, Failure) and reader is not None:
        reader.close()
    return prepared


def _prepare(
    ports: Ports,
    request: IngestRequest,
    before: Settings | None,
    settings: Settings,
    reader: SourceReader | None,
    settled: StoreState | None,
    archive: Archive | None,
    embedding: Embedding | None,
) -> Result[Run, IngestRefused]:
    found = () if reader is None or not request.paths else tuple(reader.walk(_walk_request(ports, request)))
    urls, refused = _urls(request.urls, settings)
    known = Success({}) if before is None else _known(ports, request, urls, found, settings.recut)
    if isinstance(known, Failure):
        return known
    records = known.unwrap()
    to_do = urls or refused or any(isinstance(each, FoundFile | FoundFailed) for each in found)
    if not to_do and not any(in_scope(request.paths, source) for source in records if not is_page(source)):
        return Failure(NothingToIngest(request.paths, len(found)))
    if settings.recut:
        found += _others(records, found, request.paths)
        asked = {each.source for each in urls}
        pages = [each.source for each in records.values() if each.fetch is not None and each.source not in asked]
        more, no_more = _urls(pages, settings)
        urls, refused = (*urls, *more), (*refused, *no_more)
    writer = None if request.check else _writer(ports, before, settings, settled, request.forget_vectors)
    if isinstance(writer, Failure):
        return writer
    limits = Batching(BATCH_DOCUMENTS, BATCH_CHARACTERS)
    if embedding is not None:
        limits = EMBEDDED_BATCH if embedding.identity.provider in IN_PROCESS else SERVED_BATCH
    ready = None if writer is None else writer.unwrap()
    pages_of = _pages(ports, settings, records, archive) if urls else None
    return Success(
        Run(
            ports,
            request,
            settings,
            reader,
            ready,
            found,
            records,
            limits,
            pages_of,
            urls,
            failed=list(refused),
            embedding=embedding,
        )
    )


def _pages(ports: Ports, settings: Settings, records: dict[str, DocumentRecord], archive: Archive | None) -> Pages:
    from groundkit.ingest_pages import Pages

    return Pages(ports, settings, records, archive)


def _writer(
    ports: Ports, before: Settings | None, settings: Settings, settled: StoreState | None, forget_vectors: bool
) -> Result[Writer, WriteFailure]:
    """A writer of the collection, which is made if there is none, with everything before it finished."""
    if before is None:
        created = ports.documents.create(settings, ports.lexical(settings.language).analyzer)
        if isinstance(created, Failure):
            return created
    writer = Writer(ports.documents, ports.lexical(settings.language), settled, keeper_of(ports))
    recovered = writer.recover()
    if isinstance(recovered, Failure):
        return recovered
    forgotten = forget_vectors and recovered.unwrap().manifest is not None
    changes = recovered.unwrap().settings != settings
    if changes or forgotten:
        noted = writer.write(Write(settings=settings if changes else None, forget_vectors=forgotten))
        if isinstance(noted, Failure):
            return noted
        if not settings.cache_bytes:
            ports.kept(0).discard()
        if forgotten:
            ports.vectors.discard()
    return Success(writer)


def _others(records: dict[str, DocumentRecord], found: tuple[Found, ...], paths: tuple[str, ...]) -> tuple[Found, ...]:
    """The stored sources beside the asked paths, for a run that has to cut everything anew."""
    told = {source_of(each) for each in found}
    return tuple(
        FoundFile(source, kind_of_record(record))
        for source, record in records.items()
        if source not in told and not in_scope(paths, source) and record.source_class is not SourceClass.SNAPSHOT
    )


def _known(
    ports: Ports, request: IngestRequest, urls: tuple[WebUrl, ...], found: tuple[Found, ...], everything: bool
) -> Result[dict[str, DocumentRecord], StorageFailure]:
    """The stored documents that this run may touch: one look-up each for pages and single files, else all."""
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):
        return viewed
    single = {each.source for each in found if isinstance(each, FoundFile)}.issuperset(request.paths)
    with closing(viewed.unwrap()) as view:
        at = view.state.tip.mark.generation
        sources = (*request.paths, *(each.source for each in urls))
        wanted = [RecordOfSource(each) for each in sources] if single and not everything else [AllRecords()]
        known: dict[str, DocumentRecord] = {}
        for query in wanted:
            records = view.records(query, at)
            if isinstance(records, Failure):
                return records
            known.update((each.source, each) for each in records.unwrap())
        return Success(known)

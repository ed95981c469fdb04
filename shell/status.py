"""What a collection holds, in numbers."""

from collections.abc import Iterable

from attrs import Factory, frozen

from groundkit.core.briefs import VectorCounts
from groundkit.core.changes import SourceFailure
from groundkit.core.embedding import EmbeddingIdentity
from groundkit.core.model import DocumentRecord, SuspiciousPage
from groundkit.core.ports import ExtractorRegistry, StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, Generation, StorageFailure


@frozen
class BoundDocuments:
    """How many documents an extractor made, and whether it is at work here: only then can they be verified.

    Where it is not, `instead` is the identity of the one that will extract them anew, or `missing` says why none will.
    """

    identity: str
    documents: int
    active: bool
    instead: str | None = None
    missing: str = ""


@frozen
class IncompleteDocument:
    """A document of which text is missing, and what."""

    source: str
    losses: tuple[str, ...]


@frozen
class IndexStatus:
    """What a collection holds. `failures` are the sources that could not be ingested when last tried.

    `manifest` is who makes its vectors, None where it has none; `vectors` counts its chunks by whether they have one.
    """

    collection: str
    generation: int
    documents: int
    chunks: int
    tokens: int
    base: str | None
    settings: Settings
    analyzer: str
    unfinished: bool
    failures: tuple[SourceFailure, ...]
    extractors: tuple[BoundDocuments, ...] = ()
    incomplete: tuple[IncompleteDocument, ...] = ()
    pages: int = 0
    suspicious: tuple[SuspiciousPage, ...] = ()
    manifest: EmbeddingIdentity | None = None
    vectors: VectorCounts = Factory(VectorCounts)

    @property
    def inactive(self) -> int:
        """Documents whose extractor is not at work here: unresolvable until the next ingest binds them anew."""
        return sum(each.documents for each in self.extractors if not each.active)


def status_of(
    view: StoreView, generation: Generation, collection: str, registry: ExtractorRegistry
) -> Result[IndexStatus, StorageFailure]:
    """Counts, settings, and what failed when it was last tried, all of one moment."""
    state = view.state
    records, failures = view.records(AllRecords(), generation.mark.generation), view.failures()
    if isinstance(records, Failure):
        return records
    if isinstance(failures, Failure):
        return failures
    counted = Success(VectorCounts()) if state.manifest is None else view.vector_counts(generation.mark.generation)
    if isinstance(counted, Failure):
        return counted
    status = IndexStatus(
        collection=collection,
        generation=generation.mark.generation,
        documents=len(records.unwrap()),
        chunks=generation.statistics.chunks,
        tokens=generation.statistics.tokens,
        base=state.settings.base,
        settings=state.settings,
        analyzer=generation.analyzer,
        unfinished=state.tip.mark != state.current.mark,
        failures=failures.unwrap(),
        extractors=_bound(records.unwrap(), registry),
        incomplete=tuple(
            IncompleteDocument(each.source, each.extraction.losses)
            for each in records.unwrap()
            if each.extraction is not None and each.incomplete
        ),
        pages=sum(each.fetch is not None for each in records.unwrap()),
        suspicious=tuple(
            SuspiciousPage(each.source, each.fetch.suspicions)
            for each in records.unwrap()
            if each.fetch is not None and each.fetch.suspicions
        ),
        manifest=state.manifest,
        vectors=counted.unwrap(),
    )
    return Success(status)


def _bound(records: Iterable[DocumentRecord], registry: ExtractorRegistry) -> tuple[BoundDocuments, ...]:
    by_identity: dict[str, list[DocumentRecord]] = {}
    for each in records:
        if each.extractor is not None:
            by_identity.setdefault(each.extractor, []).append(each)
    return tuple(_bound_to(identity, by_identity[identity], registry) for identity in sorted(by_identity))


def _bound_to(identity: str, records: list[DocumentRecord], registry: ExtractorRegistry) -> BoundDocuments:
    if registry.active(identity) is not None:
        return BoundDocuments(identity, len(records), True)
    instead = registry.reader_of(records[0].media_type)
    if isinstance(instead, Success):
        return BoundDocuments(identity, len(records), False, instead.unwrap().identity)
    return BoundDocuments(identity, len(records), False, None, instead.failure().said)

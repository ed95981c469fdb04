"""What a collection holds, in numbers."""

from contextlib import closing

from attrs import frozen

from groundkit.core.changes import SourceFailure
from groundkit.core.ports import DocumentStore, StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, StorageFailure


@frozen
class IndexStatus:
    """What a collection holds. `failures` are the sources that could not be ingested when last tried."""

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


def status_of(documents: DocumentStore, collection: str) -> Result[IndexStatus, StorageFailure]:
    """Counts, settings, and what failed when it was last tried, all of one moment."""
    viewed = documents.view()
    if isinstance(viewed, Failure):
        return viewed
    with closing(viewed.unwrap()) as view:
        return _counted(view, collection)


def _counted(view: StoreView, collection: str) -> Result[IndexStatus, StorageFailure]:
    state = view.state
    records, failures = view.records(AllRecords(), state.current.mark.generation), view.failures()
    if isinstance(records, Failure):
        return records
    if isinstance(failures, Failure):
        return failures
    status = IndexStatus(
        collection=collection,
        generation=state.current.mark.generation,
        documents=len(records.unwrap()),
        chunks=state.current.statistics.chunks,
        tokens=state.current.statistics.tokens,
        base=state.settings.base,
        settings=state.settings,
        analyzer=state.current.analyzer,
        unfinished=state.tip.mark != state.current.mark,
        failures=failures.unwrap(),
    )
    return Success(status)

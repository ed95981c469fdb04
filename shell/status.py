"""What a collection holds, in numbers."""

from attrs import frozen

from groundkit.core.changes import SourceFailure
from groundkit.core.ports import StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, Generation, StorageFailure


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


def status_of(view: StoreView, generation: Generation, collection: str) -> Result[IndexStatus, StorageFailure]:
    """Counts, settings, and what failed when it was last tried, all of one moment."""
    state = view.state
    records, failures = view.records(AllRecords(), generation.mark.generation), view.failures()
    if isinstance(records, Failure):
        return records
    if isinstance(failures, Failure):
        return failures
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
    )
    return Success(status)

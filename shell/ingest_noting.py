"""What an ingest leaves in the list of sources that could not be ingested."""

from collections.abc import Callable, Iterable
from contextlib import closing
from operator import attrgetter

from groundkit.core.changes import SourceFailure
from groundkit.core.ports import Ports
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import StorageFailure
from groundkit.core.web_failures import UrlRefused
from groundkit.ingest_values import SourceRefused


def note_failures(
    ports: Ports, failed: Iterable[SourceRefused], looked_at: Callable[[str], bool]
) -> Result[None, StorageFailure]:
    """What failed now, instead of what had failed of the sources that were looked at again.

    A URL that is not fetched at all is not noted: it has no name that another ingest could give again.
    """
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):
        return viewed
    with closing(viewed.unwrap()) as view:
        noted = view.failures()
    if isinstance(noted, Failure):
        return noted
    told = [each.source for each in noted.unwrap() if looked_at(each.source)]
    now = ports.clock.now()
    kept = [each for each in failed if not isinstance(each, UrlRefused)]
    failures = [
        SourceFailure(each.source, each.reason, each.detail, now) for each in sorted(kept, key=attrgetter("source"))
    ]
    return ports.documents.record_failures(told, failures) if told or failures else Success(None)

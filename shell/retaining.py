"""What is kept on disk of extractions goes with the documents whose bytes they were made of."""

from contextlib import closing

from groundkit.core.ports import Ports
from groundkit.core.result import Failure
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords


def retain_cited(ports: Ports, settings: Settings) -> None:
    """Keep only extractions of bytes that a stored document names, and make room for those that are to come.

    What cannot be looked up is left to the next time.
    """
    if not settings.cache_bytes:
        return
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):
        return
    with closing(viewed.unwrap()) as view:
        listed = view.records(AllRecords(), view.state.tip.mark.generation)
    if isinstance(listed, Failure):
        return
    named = {each.extraction.source_digest for each in listed.unwrap() if each.extraction and not each.fetch}
    kept = ports.kept(settings.cache_bytes)
    if named:
        kept.prepare()
    kept.retain(named)

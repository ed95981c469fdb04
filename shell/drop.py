"""Removing sources from a collection, and whole collections."""

from contextlib import closing
from typing import TypeAlias

from attrs import frozen

from groundkit.core.changes import Write
from groundkit.core.paths import lies_below
from groundkit.core.ports import LockBusy, Ports
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, StorageProblem, StoreState
from groundkit.core.url_kinds import is_page
from groundkit.keeping import UnsweptFile
from groundkit.reading import stored_settings
from groundkit.retaining import retain_cited
from groundkit.writing import WriteFailure, Writer, recovered_writer

RemoveRefused: TypeAlias = LockBusy | WriteFailure


@frozen
class Removed:
    """Sources that went, and names that fit none. `pending`: accepted, and still to be finished by the next writer.

    `unswept` are files of theirs that could not be unlinked; the next writer tries again. `forgotten` are sources that were
    only remembered because they could not be ingested.
    """

    removed: tuple[str, ...]
    unknown: tuple[str, ...]
    pending: WriteFailure | None = None
    unswept: tuple[UnsweptFile, ...] = ()
    forgotten: tuple[str, ...] = ()


def remove(ports: Ports, names: tuple[str, ...], wait: float) -> Result[Removed, RemoveRefused]:
    """Take documents out by their source, or all below a folder. The files stay; the next ingest of them adds them again."""
    held = ports.lock.hold(wait)
    if isinstance(held, Failure):
        return held
    with held.unwrap():
        recovered = recovered_writer(ports)
        if isinstance(recovered, Failure):
            return recovered
        return _carry_out(ports, *recovered.unwrap(), names)


def _carry_out(
    ports: Ports, writer: Writer, state: StoreState, names: tuple[str, ...]
) -> Result[Removed, RemoveRefused]:
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):
        return viewed
    with closing(viewed.unwrap()) as view:
        listed, failed = view.records(AllRecords(), state.tip.mark.generation), view.failures()
    if isinstance(listed, Failure):
        return listed
    if isinstance(failed, Failure):
        return failed
    sources = [each.source for each in listed.unwrap()]
    found = {name: [each for each in sources if _meant(name, each)] for name in names}
    gone = tuple(sorted({each for below in found.values() for each in below}))
    lost = {name: [each.source for each in failed.unwrap() if _meant(name, each.source)] for name in names}
    forgotten = tuple(sorted({each for below in lost.values() for each in below} - set(gone)))
    unknown = tuple(name for name, below in found.items() if not below and not lost[name])
    if not gone:
        noted = ports.documents.record_failures(forgotten, ()) if forgotten else Success(None)
        return noted if isinstance(noted, Failure) else Success(Removed((), unknown, forgotten=forgotten))
    written = writer.write(Write(removed=gone))
    if isinstance(written, Failure):
        return written
    retain_cited(ports, state.settings)
    noted = ports.documents.record_failures((*gone, *forgotten), ())
    late = noted.failure() if isinstance(noted, Failure) else None
    return Success(Removed(gone, unknown, written.unwrap().pending or late, writer.unswept, forgotten))


def _meant(name: str, source: str) -> bool:
    """Whether a name is this source or a folder above it. The base itself is no folder to remove: that is `drop`.

    A URL is itself alone: it holds no others.
    """
    if is_page(source) or is_page(name):
        return name == source
    folder = name.rstrip("/")
    return bool(folder) and lies_below(source, folder)


def drop(ports: Ports, wait: float) -> Result[None, RemoveRefused]:
    """The whole collection: marked dropped first, durably, then its files. The next holder of the lock finishes a killed drop."""
    known = stored_settings(ports.documents)
    lost = isinstance(known, Failure) and known.failure().problem is StorageProblem.DAMAGED
    if isinstance(known, Failure) and not lost and known.failure().problem is not StorageProblem.DROPPED:
        return known
    held = ports.lock.hold(wait)
    if isinstance(held, Failure):
        return held
    with held.unwrap():
        dropped = Success(None) if lost else ports.documents.drop()
        if isinstance(dropped, Failure):
            return dropped
        language = known.unwrap().language if isinstance(known, Success) else Settings().language
        discarded = ports.lexical(language).discard(None)
        if isinstance(discarded, Failure):
            return discarded
        emptied = ports.vectors.discard()
        if isinstance(emptied, Failure):
            return emptied
        gone = ports.bodies.discard()
        ports.kept(0).discard()
        gone = gone if isinstance(gone, Failure) else ports.snapshots.discard()
        if isinstance(gone, Failure):
            return gone
        return ports.documents.remove_files()

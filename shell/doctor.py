"""The doctor: everything a collection says of itself, looked at again; and the one repair there is."""

from collections.abc import Iterator
from contextlib import closing
from typing import TypeAlias

from attrs import evolve, frozen

from groundkit.core.auditing import Area, Finding, audit_cutting, audit_document
from groundkit.core.folding import index_view
from groundkit.core.model import DocumentRecord
from groundkit.core.ports import LexicalIndex, LockBusy, Ports, StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import AllRecords, ChunksOfDocument, LexicalFailure, StorageFailure, StoredChunk, StoreState
from groundkit.doctor_files import file_findings, restore_snapshots
from groundkit.keeping import keeper_of
from groundkit.writing import WriteFailure, recovered_writer

DoctorRefused: TypeAlias = LockBusy | WriteFailure


@frozen
class Diagnosis:
    """What was looked at and what was found. Healthy: nothing was."""

    documents: int
    chunks: int
    findings: tuple[Finding, ...]
    repaired: bool = False

    @property
    def healthy(self) -> bool:
        return not self.findings


def diagnose(ports: Ports, wait: float) -> Result[Diagnosis, DoctorRefused]:
    """Look at everything, and unlink files beside the rows that belong to no document, as the next writer would.

    Holds the lock meanwhile, for what a writer is about looks like damage. Where there can be no writer (a place that cannot
    be written to), the lock is not needed. Beside a damaged store everything stays.
    """
    held = ports.lock.hold(wait)
    if isinstance(held, Success):
        with held.unwrap():
            examined = examine(ports)
            return examined if isinstance(examined, Failure) else Success(_swept(ports, examined.unwrap()))
    failure = held.failure()
    return Failure(failure) if isinstance(failure, LockBusy) else examine(ports)


def _swept(ports: Ports, seen: Diagnosis) -> Diagnosis:
    """What was seen, with what could not be unlinked."""
    if any(each.area is Area.STORE for each in seen.findings):
        return seen
    keeper = keeper_of(ports)
    keeper.sweep()
    left = {each.name: each.detail for each in keeper.unswept}
    findings = (
        evolve(each, detail=f"{each.detail}; not now: {left[each.subject]}")
        if each.repairable and each.subject in left
        else each
        for each in seen.findings
    )
    return evolve(seen, findings=tuple(findings))


#: Vectors that are looked at at a time.
_VECTORS = 4096


def examine(ports: Ports) -> Result[Diagnosis, StorageFailure]:
    """What there is to say while nobody writes."""
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):
        return viewed
    checked = ports.documents.check()
    findings = [
        Finding(Area.STORE, "sqlite", each)
        for each in (checked.unwrap() if isinstance(checked, Success) else (checked.failure().detail,))
    ]
    with closing(viewed.unwrap()) as view:
        state = view.state
        if state.tip.mark != state.current.mark:
            findings.append(
                Finding(Area.UNFINISHED, "store", "a write is accepted and not yet finished", repairable=True)
            )
        audited = _documents(view, state)
        if isinstance(audited, Failure):
            findings.append(Finding(Area.STORE, "sqlite", audited.failure().detail))
            return Success(Diagnosis(0, 0, tuple(findings)))
        records, chunks, found = audited.unwrap()
        findings += found
        findings += _vectors(view, state)
        findings += _lexical(ports.lexical(state.settings.language), view, state)
        findings += file_findings(ports, view, state)
    return Success(Diagnosis(records, chunks, tuple(findings)))


def repair(ports: Ports, wait: float) -> Result[Diagnosis, DoctorRefused]:
    """Finish what is unfinished, make the lexical index anew, write lost snapshots again, sweep litter, and look again."""
    held = ports.lock.hold(wait)
    if isinstance(held, Failure):
        return held
    with held.unwrap():
        recovered = recovered_writer(ports, rebuild="the doctor was asked to")
        if isinstance(recovered, Failure):
            return recovered
        restored = restore_snapshots(ports)
        if isinstance(restored, Failure):
            return restored
        examined = examine(ports)
        if isinstance(examined, Failure):
            return examined
        seen = examined.unwrap()
        return Success(Diagnosis(seen.documents, seen.chunks, seen.findings, repaired=True))


def _documents(view: StoreView, state: StoreState) -> Result[tuple[int, int, list[Finding]], StorageFailure]:
    at = state.current.mark.generation
    listed = view.records(AllRecords(), at)
    if isinstance(listed, Failure):
        return listed
    findings: list[Finding] = []
    chunks = tokens = 0
    for record in listed.unwrap():
        seen = _one(view, record, at)
        if isinstance(seen, Failure):
            return seen
        number, counted, found = seen.unwrap()
        chunks, tokens = chunks + number, tokens + counted
        findings += found
    statistics = state.current.statistics
    if (statistics.chunks, statistics.tokens) != (chunks, tokens):
        findings.append(
            Finding(
                Area.STORE,
                "statistics",
                f"{statistics.chunks} chunks of {statistics.tokens} tokens are recorded, {chunks} of {tokens} are there",
            )
        )
    return Success((len(listed.unwrap()), chunks, findings))


def _vectors(view: StoreView, state: StoreState) -> Iterator[Finding]:
    """Vectors that cannot be what the manifest says. Those that lack are no damage: the next dense ingest makes them."""
    at, after, wrong, seen = state.current.mark.generation, 0, 0, 0
    size = None if state.manifest is None else 2 * state.manifest.dimensions
    while True:
        page = view.vectors(at, after, _VECTORS)
        if isinstance(page, Failure):
            yield Finding(Area.STORE, "vectors", page.failure().detail)
            return
        rows = page.unwrap()
        seen += len(rows)
        wrong += sum(len(each.vector) != size for each in rows)
        if len(rows) < _VECTORS:
            break
        after = rows[-1].row
    if size is None and seen:
        yield Finding(Area.STORE, "vectors", f"{seen} vectors, and nothing says whose they are")
    elif wrong:
        yield Finding(Area.STORE, "vectors", f"{wrong} of {seen} are not as long as those of {state.manifest}")


def _one(
    view: StoreView, record: DocumentRecord, at: int
) -> Result[tuple[int, int, tuple[Finding, ...]], StorageFailure]:
    got = view.chunks(ChunksOfDocument(record.document_id), at)
    if isinstance(got, Failure):
        return got
    stored = got.unwrap()
    found = audit_document(record, stored, _tokens)
    found = found or audit_cutting(record, stored, view.state.settings)
    return Success((len(stored), sum(each.tokens for each in stored), found))


def _tokens(stored: StoredChunk) -> int:
    return index_view(stored.chunk.text, stored.chunk.locator.heading_path, stored.record.title)[1]


def _lexical(index: LexicalIndex, view: StoreView, state: StoreState) -> list[Finding]:
    """Checksums, then what the index says it holds, then the ids of both sides."""
    if state.build == 0:
        return []
    if state.current.analyzer != index.analyzer:
        return [_broken(f"made by the analyzer {state.current.analyzer}; active here: {index.analyzer}")]
    sums = index.check(state.build)
    if isinstance(sums, Failure):
        return [_broken(_said(sums.failure()))]
    findings = [_broken(each) for each in sums.unwrap()]
    opened = index.searcher(state.build)
    if isinstance(opened, Failure):
        return [*findings, _broken(_said(opened.failure()))]
    generation = state.generation(opened.unwrap().mark)
    if generation is None:
        return [*findings, _broken("holds another generation than the store")]
    rows = view.live(generation.mark.generation)
    postings = index.live(state.build)
    if isinstance(rows, Failure):
        return [*findings, Finding(Area.STORE, "sqlite", rows.failure().detail)]
    if isinstance(postings, Failure):
        return [*findings, _broken(_said(postings.failure()))]
    if rows.unwrap() != postings.unwrap():
        findings.append(_broken("does not hold the chunks that the store holds"))
    return findings


def _broken(detail: str) -> Finding:
    return Finding(Area.LEXICAL, "lexical index", detail, repairable=True)


def _said(failure: LexicalFailure) -> str:
    return f"{failure.problem.value}: {failure.detail}"

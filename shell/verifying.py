"""Verification: evidence by source class, then one pure verdict. Never raises, whatever the state of the world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from groundkit.core.decoding import decode
from groundkit.core.model import (
    Citation,
    FromExtractor,
    FromSnapshot,
    FromText,
    Provenance,
    Verdict,
    Verification,
)
from groundkit.core.paths import is_within_base
from groundkit.core.ports import ExtractionJob, ExtractorRegistry, KeptExtractions, KeptFiles, SourceReader
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings, limits_for
from groundkit.core.sources import ReadFailure, ReadProblem, ReadSource
from groundkit.core.storage import KeptProblem, KeptUnread
from groundkit.core.verdicts import (
    Evidence,
    ExtractorInactive,
    NoBase,
    NoSnapshots,
    NoText,
    NotReExtracted,
    OutOfBudget,
    SnapshotFound,
    SnapshotUnread,
    TextFound,
    judge,
)
from groundkit.extracting import Extracting

if TYPE_CHECKING:
    from groundkit.core.extraction import ExtractorMissing

OpenSources = Callable[[], Result[SourceReader, ReadFailure]]
_Read = Callable[[str], Evidence | ReadSource]

#: A byte that has to be extracted counts so many times in a budget: its text takes so much longer to get at.
EXTRACTION_WEIGHT = 128


def _not_at_hand(_: Citation) -> str | None:
    return None


@frozen
class Extractors:
    """How to extract again: who is at work here, what carries it out, and what gives that which is kept on disk, if any."""

    registry: ExtractorRegistry
    extracting: Extracting
    kept: Callable[[], KeptExtractions] | None = None


@frozen
class Lookup:
    """How to look at sources again: what opens them (None: there is no base), who extracts, and the limits of both.

    `cited` gives the text of a citation where it is at hand; it is asked only to say more about a drift. `snapshots` are
    those of pages (None: nobody said where they lie).
    """

    sources: OpenSources | None
    extractors: Extractors
    settings: Settings
    cited: Callable[[Citation], str | None] = _not_at_hand
    snapshots: KeptFiles | None = None


@frozen
class Checked:
    """A citation with what looking at its source gave."""

    citation: Citation
    verification: Verification


def verify(lookup: Lookup, citation: Citation) -> Verification:
    """Look at the source again."""
    (checked,) = verify_all(lookup, (citation,))
    return checked.verification


def verify_all(lookup: Lookup, citations: Iterable[Citation], budget: int | None = None) -> Iterator[Checked]:
    """Each citation with its verification, in order. Neighbours that cite the same source share one reading of it.

    `budget` is how many bytes of sources to read in all; what comes after that is `unresolvable`, `budget`.
    """
    with ExitStack() as stack:
        looker = _Looker(lookup, _reading(lookup, stack), budget)
        for each in citations:
            evidence = looker.evidence(each)
            verification = judge(each, evidence)
            if verification.verdict is Verdict.DRIFTED:
                verification = judge(each, evidence, lookup.cited(each))
            yield Checked(each, verification)


def verify_together(lookup: Lookup, citations: Sequence[Citation], budget: int) -> list[Verification]:
    """The verifications of a few citations in their order, each source being read once whatever the order is."""
    by_source = sorted(range(len(citations)), key=lambda at: (citations[at].source, citations[at].document_id))
    checked = verify_all(lookup, (citations[at] for at in by_source), budget)
    found = dict(zip(by_source, (each.verification for each in checked), strict=True))
    return [found[at] for at in range(len(citations))]


def _reading(lookup: Lookup, stack: ExitStack) -> _Read:
    """How to get at the bytes of a source, or at the evidence that there are none."""
    sources = lookup.sources
    if sources is None:
        return lambda _: NoBase()
    opened = sources()
    if isinstance(opened, Failure):
        without = NoText(opened.failure())
        return lambda _: without
    reader = stack.enter_context(closing(opened.unwrap()))

    def read(source: str) -> Evidence | ReadSource:
        got = reader.read(source, lookup.settings.max_bytes)
        return NoText(got.failure()) if isinstance(got, Failure) else got.unwrap()

    return read


@define
class _Looker:
    """Gathers evidence; remembers that of the last source."""

    _lookup: Lookup
    _read: _Read
    _budget: int | None
    _spent: int = 0
    _last: tuple[str, Provenance, Evidence] | None = None
    _page: tuple[str, Evidence] | None = None
    _failed: dict[tuple[str, Provenance], Evidence] = Factory(dict)

    def evidence(self, citation: Citation) -> Evidence:
        """Containment before anything else is looked at, then the recorded identity, then the source."""
        source, provenance = citation.source, citation.provenance
        if isinstance(provenance, FromSnapshot):
            if self._page is None or self._page[0] != citation.document_id:
                self._page = citation.document_id, self._snapshot(citation.document_id)
            return self._page[1]
        if not is_within_base(source):
            return NoText(ReadFailure(source, ReadProblem.OUTSIDE_BASE, "lies outside the base directory"))
        if (source, provenance) in self._failed:  # to run into a limit once is enough
            return self._failed[source, provenance]
        if self._last is None or self._last[:2] != (source, provenance):
            self._last = source, provenance, self._looked(source, provenance)
        if isinstance(self._last[2], NotReExtracted):
            self._failed[source, provenance] = self._last[2]
        return self._last[2]

    def _snapshot(self, document_id: str) -> Evidence:
        """The local copy of a page: no network, no extractor."""
        snapshots = self._lookup.snapshots
        if snapshots is None:
            return NoSnapshots()
        if self._exhausted:
            return self._out_of_budget()
        read = snapshots.get(document_id)
        if isinstance(read, Failure):
            return SnapshotUnread(read.failure())
        data = read.unwrap()
        self._spent += len(data)
        try:
            return SnapshotFound(data.decode())
        except UnicodeDecodeError as error:
            return SnapshotUnread(KeptUnread(KeptProblem.CORRUPT, f"its snapshot is not UTF-8: {error.reason}"))

    def _looked(self, source: str, provenance: FromText | FromExtractor) -> Evidence:
        if self._exhausted:
            return self._out_of_budget()
        read = self._read(source)
        self._spent += len(read.data) if isinstance(read, ReadSource) else 0
        if isinstance(provenance, FromText):
            return _text_of(read) if isinstance(read, ReadSource) else read
        return self._extracted(source, provenance, read)

    @property
    def _exhausted(self) -> bool:
        return self._budget is not None and self._spent >= self._budget

    def _out_of_budget(self) -> OutOfBudget:
        return OutOfBudget(f"{self._budget} bytes of sources, of which extracted ones count {EXTRACTION_WEIGHT} times")

    def _extracted(self, source: str, provenance: FromExtractor, read: Evidence | ReadSource) -> Evidence:
        """An escape from the base outranks a mismatch, and that outranks a source that is missing or unreadable."""
        from groundkit.core.extraction import Hint
        from groundkit.core.kinds import mislabelled

        if isinstance(read, NoBase):
            return read
        if isinstance(read, NoText) and read.failure.problem is ReadProblem.OUTSIDE_BASE:
            return read
        extractors = self._lookup.extractors
        store = extractors.kept() if extractors.kept else None
        if isinstance(read, ReadSource):
            extractors.extracting.expect(read.digest, provenance.identity, store)
        media_type = _media_type(source, extractors.registry)
        active = extractors.registry.active(provenance.identity, media_type)
        if active is None:
            return _inactive(provenance.identity, media_type, extractors.registry)
        if not isinstance(read, ReadSource):
            return read
        wrong = mislabelled(source, media_type, read.data)
        if wrong is not None:
            return NoText(wrong)
        limits = limits_for(self._lookup.settings, len(read.data))
        job = active.job(read.data, Hint(media_type), limits)
        return self._extracted_again(source, job, read.digest, store)

    def _extracted_again(self, source: str, job: ExtractionJob, digest: str, store: KeptExtractions | None) -> Evidence:
        """What is at hand costs nothing of the budget."""
        extracting = self._lookup.extractors.extracting
        text = extracting.remembered(job, digest, store)
        if text is None:
            if self._exhausted:
                return self._out_of_budget()
            self._spent += EXTRACTION_WEIGHT * len(job.data)
            text = extracting.text(job, digest, store)
        return NotReExtracted(source, text.failure()) if isinstance(text, Failure) else TextFound(text.unwrap())


def _media_type(source: str, registry: ExtractorRegistry) -> str:
    """What ingest told the extractor, whom it does not have to interest: a citation does not say it."""
    from groundkit.core.kinds import kind_of

    kind = kind_of(source, kinds=registry.kinds)
    return "" if kind is None else kind.media_type


def _inactive(recorded: str, media_type: str, registry: ExtractorRegistry) -> ExtractorInactive:
    instead = registry.reader_of(media_type)
    if isinstance(instead, Success):
        return ExtractorInactive(recorded, instead.unwrap().identity)
    return ExtractorInactive(recorded, None, instead.failure() if media_type else _unknown())


def _unknown() -> ExtractorMissing:
    """Of a file that nothing here would extract."""
    from groundkit.core.extraction import ONE_OF_YOUR_OWN, ExtractorMissing

    return ExtractorMissing("", ONE_OF_YOUR_OWN)


def _text_of(read: ReadSource) -> Evidence:
    decoded = decode(read.data)
    if isinstance(decoded, Failure):
        return NoText(ReadFailure(read.source, ReadProblem.NOT_TEXT, decoded.failure().detail))
    return TextFound(decoded.unwrap())


def resolve(lookup: Lookup, citation: Citation) -> Result[str, Verification]:
    """The text a citation stands for, if its source still says it; else the verification that says what became of it."""
    with ExitStack() as stack:
        evidence = _Looker(lookup, _reading(lookup, stack), None).evidence(citation)
    verification = judge(citation, evidence)
    if verification and isinstance(evidence, TextFound | SnapshotFound):
        return Success(evidence.text[citation.span.start : citation.span.end])
    return Failure(verification)

"""Verification: evidence by source class, then one pure verdict. Never raises, whatever the state of the world."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Protocol, TypeAlias

from attrs import Factory, define, evolve, frozen

from groundkit.core.decoding import decode
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import (
    Citation,
    FoundIn,
    FromExtractor,
    FromSnapshot,
    Locator,
    Provenance,
    Reason,
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
    altered,
    judge,
)
from groundkit.extracting import Extracting

if TYPE_CHECKING:
    from groundkit.core.extraction import ExtractionFailed, ExtractorMissing
    from groundkit.core.portable import PortableCitation
    from groundkit.core.relocation import Alignment
    from groundkit.core.spans import LineMap

    #: What can be verified. A portable citation brings the text it cites along.
    Citable: TypeAlias = Citation | PortableCitation

OpenSources = Callable[[], Result[SourceReader, ReadFailure]]
_Read = Callable[[str], Evidence | ReadSource]

#: A byte that has to be extracted counts so many times in a budget: its text takes so much longer to get at.
EXTRACTION_WEIGHT = 128

#: Steps that a look at a hit may take to find where its passage went; a check without a budget takes as many as there are.
_STEPS_OF_A_LOOK = 4_000_000


def _not_at_hand(_: str) -> str | None:
    return None


class Elsewhere(Protocol):
    """Where to look for what a source does not have any more. Asked for passages that are gone and sources that are missing."""

    def passage(self, citation: Citation, cited: str) -> FoundIn | None:
        """Another document that has this text, letter for letter."""

    def same_bytes(self, citation: Citation) -> str | None:
        """Another source below the base that has the very bytes that this one had."""

    def same_text(self, citation: Citation) -> FoundIn | None:
        """Another document that has the whole text of the cited version."""

    def close(self) -> None: ...


@frozen
class Budget:
    """What checking the hits of one query may take: bytes of sources, and seconds."""

    size: int
    seconds: float


@frozen
class Extractors:
    """How to extract again: who is at work here, what carries it out, and what gives that which is kept on disk, if any."""

    registry: ExtractorRegistry
    extracting: Extracting
    kept: Callable[[], KeptExtractions] | None = None


@frozen
class Lookup:
    """How to look at sources again: what opens them (None: there is no base), who extracts, and the limits of both.

    `ingested` gives the text of a document (by its id) as it was ingested, where it is at hand, and `elsewhere` what other
    documents there are: both are asked only to say more about what is not verified. `snapshots` are those of pages (None:
    nobody said where they lie).
    """

    sources: OpenSources | None
    extractors: Extractors
    settings: Settings
    ingested: Callable[[str], str | None] = _not_at_hand
    snapshots: KeptFiles | None = None
    elsewhere: Callable[[], Elsewhere] | None = None


@frozen
class Checked:
    """A citation with what looking at its source gave."""

    citation: Citation
    verification: Verification


def verify(lookup: Lookup, citation: Citable) -> Verification:
    """Look at the source again."""
    (checked,) = verify_all(lookup, (citation,))
    return checked.verification


def verify_within(lookup: Lookup, citation: Citation, seconds: float) -> Verification:
    """The same, cut short after so many seconds."""
    (found,) = verify_together(lookup, (citation,), Budget(sys.maxsize, seconds))
    return judge(citation, OutOfBudget(f"{seconds:g} seconds")) if found is None else found


def verify_all(lookup: Lookup, citations: Iterable[Citable]) -> Iterator[Checked]:
    """Each citation with its verification, in order. Neighbours that cite the same source share one reading of it."""
    for citation, verification in _looked_at(lookup, citations, None):
        assert verification is not None  # nothing is left out without a budget
        yield Checked(citation, verification)


def verify_together(
    lookup: Lookup, citations: Sequence[Citable], budget: Budget | None = None
) -> list[Verification | None]:
    """The verifications of some citations in their order, each source being read once whatever the order is.

    None for what nobody looked at, because the budget was spent. What ran out of it midway is `unresolvable`, `budget`.
    """
    keys = [(each.source, each.document_id) for each, _ in map(_parts, citations)]
    # Those of a source together, beginning with the source of the first citation: it is wanted most.
    rank = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    by_source = sorted(range(len(citations)), key=lambda at: rank[keys[at]])
    checked = _looked_at(lookup, (citations[at] for at in by_source), budget)
    found = dict(zip(by_source, (verification for _, verification in checked), strict=True))
    return [found[at] for at in range(len(citations))]


def _parts(citable: Citable) -> tuple[Citation, str | None]:
    """The citation, and the text that it brings along."""
    if isinstance(citable, Citation):
        return citable, None
    from groundkit.core.portable import PortableCitation

    if not isinstance(citable, PortableCitation):
        raise TypeError(
            f"a Citation or a PortableCitation is wanted (groundkit.load_citation), not {type(citable).__name__}"
        )
    return citable.citation, citable.text


def _looked_at(
    lookup: Lookup, citations: Iterable[Citable], budget: Budget | None
) -> Iterator[tuple[Citation, Verification | None]]:
    with ExitStack() as stack:
        elsewhere = None if lookup.elsewhere is None else stack.enter_context(closing(lookup.elsewhere()))
        looker = _Looker(lookup, _reading(lookup, stack), elsewhere, None if budget is None else _Purse(budget))
        for citation, brought in map(_parts, citations):
            evidence = looker.evidence(citation)
            if evidence is None:
                yield citation, None
                continue
            verification = judge(citation, evidence, brought, look=False)
            if verification.verdict is Verdict.DRIFTED:
                verification = looker.drift(citation, evidence, verification, brought)
            elif verification.reason is Reason.SOURCE_MISSING and elsewhere is not None:
                verification = _sought(elsewhere, citation, verification)
            yield citation, verification


def _sought(elsewhere: Elsewhere, citation: Citation, missing: Verification) -> Verification:
    """A source that is missing, with the one that has its bytes now."""
    other = elsewhere.same_bytes(citation)
    if other is None:
        found = elsewhere.same_text(citation)
        if found is None:
            return missing
        return evolve(missing, detail=f"{missing.detail}; {found.source} has the same text", found_in=found)
    return evolve(missing, detail=f"{missing.detail}; the same bytes are at {other}", same_bytes_at=other)


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
class _Purse:
    """What is left of a budget."""

    budget: Budget
    spent: int = 0
    began: float = Factory(time.monotonic)

    @property
    def seconds(self) -> float:
        return self.budget.seconds - (time.monotonic() - self.began)

    @property
    def empty(self) -> bool:
        return self.spent >= self.budget.size or self.seconds <= 0

    def gone(self) -> OutOfBudget:
        if self.seconds <= 0:
            return OutOfBudget(f"{self.budget.seconds:g} seconds")
        return OutOfBudget(
            f"{self.budget.size} bytes of sources, of which extracted ones count {EXTRACTION_WEIGHT} times"
        )


@define
class _Looker:
    """Gathers evidence; remembers that of the last source, and the comparison with the text that was ingested."""

    _lookup: Lookup
    _read: _Read
    _elsewhere: Elsewhere | None
    _purse: _Purse | None
    _last: tuple[tuple[str, Provenance], Evidence] | None = None
    _failed: dict[tuple[str, Provenance], Evidence] = Factory(dict)
    _compared: tuple[tuple[str, str], Alignment | None] | None = None
    _lines: tuple[str, LineMap] | None = None

    def evidence(self, citation: Citation) -> Evidence | None:
        """Containment before anything else is looked at, then the recorded identity, then the source.

        None: it was not looked at, because nothing is left of the budget.
        """
        source, provenance = citation.source, citation.provenance
        page = isinstance(provenance, FromSnapshot)
        if not page and not is_within_base(source):
            return NoText(ReadFailure(source, ReadProblem.OUTSIDE_BASE, "lies outside the base directory"))
        # A page's snapshot is named by the version, a file's text by who made it.
        key = (citation.document_id if page else source), provenance
        if key in self._failed:  # to run into a limit once is enough
            return self._failed[key]
        if self._last is None or self._last[0] != key:
            if self._purse is not None and self._purse.empty:
                return None
            found = self._snapshot(citation.document_id) if page else self._looked(source, provenance)
            self._last = key, found
        if isinstance(self._last[1], NotReExtracted | OutOfBudget):
            self._failed[key] = self._last[1]
        return self._last[1]

    def drift(self, citation: Citation, evidence: Evidence, changed: Verification, brought: str | None) -> Verification:
        """A drift, with what can be found out of where the passage went."""
        if not isinstance(evidence, TextFound | SnapshotFound) or (self._purse is not None and self._purse.empty):
            return changed
        now = evidence.text
        alignment = self._alignment(citation, now)
        cited = None if alignment is None else _cited_in(alignment.old, citation)
        if alignment is None or cited is None:
            found = judge(citation, evidence, brought)
            cited = found.cited
        else:
            from groundkit.core.drift import explained
            from groundkit.core.relocation import relocate

            plain = judge(citation, TextFound(now), cited, look=False)
            found = explained(citation, plain, relocate(alignment, citation.span), cited, now)
            found = altered(found) if isinstance(evidence, SnapshotFound) else found
        if found.span is not None:
            return evolve(found, locator=self._locator(now, found.span.start))
        return self._beyond(citation, found, cited, now)

    def _beyond(self, citation: Citation, found: Verification, cited: str | None, now: str) -> Verification:
        """A passage that is gone from its source may stand in another document."""
        if self._elsewhere is None or not cited or found.reason is Reason.AMBIGUOUS or cited in now:
            return found
        other = self._elsewhere.passage(citation, cited)
        if other is None:
            return found
        place = f"{other.source} at {other.span.start}–{other.span.end}"
        return evolve(found, detail=f"{found.detail}; it stands letter for letter in {place}", found_in=other)

    def _alignment(self, citation: Citation, now: str) -> Alignment | None:
        """The version that was cited beside today's text: one comparison for all of its citations."""
        pair = citation.document_id, now
        if self._compared is None or self._compared[0] != pair:
            old = self._lookup.ingested(citation.document_id)
            self._compared = pair, None if old is None else self._aligned(old, now)
        return self._compared[1]

    def _aligned(self, old: str, now: str) -> Alignment:
        from groundkit.core.relocation import aligned

        return aligned(old, now) if self._purse is None else aligned(old, now, _STEPS_OF_A_LOOK)

    def _locator(self, text: str, offset: int) -> Locator:
        from groundkit.core.spans import LineMap

        if self._lines is None or self._lines[0] is not text:
            self._lines = text, LineMap.of(text)
        return Locator(*self._lines[1].line_column(offset))

    def _snapshot(self, document_id: str) -> Evidence:
        """The local copy of a page: no network, no extractor."""
        snapshots = self._lookup.snapshots
        if snapshots is None:
            return NoSnapshots()
        read = snapshots.get(document_id)
        if isinstance(read, Failure):
            return SnapshotUnread(read.failure())
        data = read.unwrap()
        self._spend(len(data))
        try:
            return SnapshotFound(data.decode())
        except UnicodeDecodeError as error:
            return SnapshotUnread(KeptUnread(KeptProblem.CORRUPT, f"its snapshot is not UTF-8: {error.reason}"))

    def _looked(self, source: str, provenance: Provenance) -> Evidence:
        read = self._read(source)
        self._spend(len(read.data) if isinstance(read, ReadSource) else 0)
        if isinstance(provenance, FromExtractor):
            return self._extracted(source, provenance, read)
        return _text_of(read) if isinstance(read, ReadSource) else read

    def _spend(self, size: int) -> None:
        if self._purse is not None:
            self._purse.spent += size

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
        extracting, purse = self._lookup.extractors.extracting, self._purse
        text = extracting.remembered(job, digest, store)
        if text is not None:
            return _evidence_of(source, text)
        if purse is None:
            return _evidence_of(source, extracting.text(job, digest, store))
        if purse.empty:
            return purse.gone()
        purse.spent += EXTRACTION_WEIGHT * len(job.data)
        text = extracting.text(job, digest, store, purse.seconds)
        if isinstance(text, Failure) and text.failure().passing and purse.seconds <= 0:
            return purse.gone()
        return _evidence_of(source, text)


def _evidence_of(source: str, text: Result[str, ExtractionFailed]) -> Evidence:
    return NotReExtracted(source, text.failure()) if isinstance(text, Failure) else TextFound(text.unwrap())


def _cited_in(old: str, citation: Citation) -> str | None:
    """The cited text, if the version that is at hand is the one it was cited from."""
    cited = old[max(citation.span.start, 0) : max(citation.span.end, 0)]
    whole = len(cited) == citation.span.length and text_digest(cited) == citation.digest
    return cited if whole and cited else None


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
        evidence = _Looker(lookup, _reading(lookup, stack), None, None).evidence(citation)
    assert evidence is not None  # nothing is left out without a budget
    verification = judge(citation, evidence)
    if verification and isinstance(evidence, TextFound | SnapshotFound):
        return Success(evidence.text[citation.span.start : citation.span.end])
    return Failure(verification)

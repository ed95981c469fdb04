"""Verification: evidence by source class, then one pure verdict. Never raises, whatever the state of the world."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import lru_cache

from attrs import frozen

from groundkit.core.decoding import decode
from groundkit.core.model import Citation, FromExtractor, FromSnapshot, Verdict, Verification
from groundkit.core.paths import is_within_base
from groundkit.core.ports import SourceReader
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import ReadFailure, ReadProblem
from groundkit.core.verdicts import (
    Evidence,
    ExtractorInactive,
    NoBase,
    NoSnapshots,
    NoText,
    OutOfBudget,
    TextFound,
    judge,
)

OpenSources = Callable[[], Result[SourceReader, ReadFailure]]
_Look = Callable[[str], Evidence]


def _not_at_hand(_: Citation) -> str | None:
    return None


@frozen
class Lookup:
    """How to look at sources again: what opens them (None: there is no base), and the largest file to read, in bytes.

    `cited` gives the text of a citation where it is at hand; it is asked only to say more about a drift.
    """

    sources: OpenSources | None
    limit: int
    cited: Callable[[Citation], str | None] = _not_at_hand


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
        look = _looker(lookup, stack, budget)
        for each in citations:
            evidence = _evidence(each, look)
            verification = judge(each, evidence)
            if verification.verdict is Verdict.DRIFTED:
                verification = judge(each, evidence, lookup.cited(each))
            yield Checked(each, verification)


def verify_together(lookup: Lookup, citations: Sequence[Citation], budget: int) -> list[Verification]:
    """The verifications of a few citations in their order, each source being read once whatever the order is."""
    by_source = sorted(range(len(citations)), key=lambda at: citations[at].source)
    checked = verify_all(lookup, (citations[at] for at in by_source), budget)
    found = dict(zip(by_source, (each.verification for each in checked), strict=True))
    return [found[at] for at in range(len(citations))]


def _looker(lookup: Lookup, stack: ExitStack, budget: int | None = None) -> _Look:
    """How to get at the text of a source; remembers the last one."""
    sources = lookup.sources
    if sources is None:
        return lambda _: NoBase()
    opened = sources()
    if isinstance(opened, Failure):
        without = NoText(opened.failure())
        return lambda _: without
    reader = stack.enter_context(closing(opened.unwrap()))
    left = budget

    def look(source: str) -> Evidence:
        nonlocal left
        if left is not None and left <= 0:
            return OutOfBudget(f"{budget} bytes of sources")
        read = reader.read(source, lookup.limit)
        if isinstance(read, Failure):
            return NoText(read.failure())
        if left is not None:
            left -= len(read.unwrap().data)
        return _text_of(source, read.unwrap().data)

    return lru_cache(maxsize=1)(look)


def _text_of(source: str, data: bytes) -> Evidence:
    decoded = decode(data)
    if isinstance(decoded, Failure):
        return NoText(ReadFailure(source, ReadProblem.NOT_TEXT, decoded.failure().detail))
    return TextFound(decoded.unwrap())


def _evidence(citation: Citation, look: _Look) -> Evidence:
    """Containment before anything else is looked at, then the recorded identity, then the source."""
    provenance = citation.provenance
    if isinstance(provenance, FromSnapshot):
        return NoSnapshots()
    if not is_within_base(citation.source):
        return NoText(ReadFailure(citation.source, ReadProblem.OUTSIDE_BASE, "lies outside the base directory"))
    if isinstance(provenance, FromExtractor):
        return ExtractorInactive(provenance.identity, None)
    return look(citation.source)


def resolve(lookup: Lookup, citation: Citation) -> Result[str, Verification]:
    """The text a citation stands for, if its source still says it; else the verification that says what became of it."""
    with ExitStack() as stack:
        evidence = _evidence(citation, _looker(lookup, stack))
    verification = judge(citation, evidence)
    if verification and isinstance(evidence, TextFound):
        return Success(evidence.text[citation.span.start : citation.span.end])
    return Failure(verification)

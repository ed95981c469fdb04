"""Verification: evidence by source class, then one pure verdict. Never raises, whatever the state of the world."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from functools import lru_cache

from attrs import frozen

from groundkit.core.decoding import decode
from groundkit.core.model import Citation, FromExtractor, FromSnapshot, Verification
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
    TextFound,
    judge,
)

OpenSources = Callable[[], Result[SourceReader, ReadFailure]]
_Look = Callable[[str], Evidence]


@frozen
class Checked:
    """A citation with what looking at its source gave."""

    citation: Citation
    verification: Verification


def verify(sources: OpenSources | None, limit: int, citation: Citation) -> Verification:
    """Look at the source again. `limit` is the largest file to read, in bytes; without `sources` there is no base."""
    (checked,) = verify_all(sources, limit, (citation,))
    return checked.verification


def verify_all(sources: OpenSources | None, limit: int, citations: Iterable[Citation]) -> Iterator[Checked]:
    """Each citation with its verification, in order. Neighbours that cite the same source share one reading of it."""
    with ExitStack() as stack:
        look = _looker(sources, limit, stack)
        for each in citations:
            yield Checked(each, judge(each, _evidence(each, look)))


def _looker(sources: OpenSources | None, limit: int, stack: ExitStack) -> _Look:
    """How to get at the text of a source; remembers the last one."""
    if sources is None:
        return lambda _: NoBase()
    opened = sources()
    if isinstance(opened, Failure):
        without = NoText(opened.failure())
        return lambda _: without
    reader = stack.enter_context(closing(opened.unwrap()))
    return lru_cache(maxsize=1)(lambda source: _text_of(reader, source, limit))


def _text_of(reader: SourceReader, source: str, limit: int) -> Evidence:
    read = reader.read(source, limit)
    if isinstance(read, Failure):
        return NoText(read.failure())
    decoded = decode(read.unwrap().data)
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


def resolve(sources: OpenSources | None, limit: int, citation: Citation) -> Result[str, Verification]:
    """The text a citation stands for, if its source still says it; else the verification that says what became of it."""
    with ExitStack() as stack:
        evidence = _evidence(citation, _looker(sources, limit, stack))
    verification = judge(citation, evidence)
    if verification and isinstance(evidence, TextFound):
        return Success(evidence.text[citation.span.start : citation.span.end])
    return Failure(verification)

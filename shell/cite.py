"""Checking what a text quotes against the documents of a collection, and turning a quotation into a citation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from attrs import evolve, field, frozen

from groundkit.cite_desk import Desk, Standing, records_of
from groundkit.cite_marks import Passage, Pointed, Pointing
from groundkit.cite_values import AnswerCheck, CitedQuote, QuoteCheck, QuoteState
from groundkit.core.model import Citation, RetrievalResult, Span, Verification
from groundkit.core.portable import portable
from groundkit.core.quotations import Quotation, quotations_of
from groundkit.core.quote_matching import (
    NearKind,
    QuoteMatch,
    Searchable,
    exact_match,
    near_match,
    parts_of,
    squashed,
)
from groundkit.core.result import Failure, Result, Success
from groundkit.core.spans import LineMap
from groundkit.core.storage import AllRecords, StorageFailure
from groundkit.passages import Passages, PlacesFailure

#: What looks at the sources of citations again, in their order; None for what nobody looked at.
Verify: TypeAlias = Callable[[Sequence[Citation]], Sequence[Verification | None]]

#: Parts of a quotation with ellipses that near passages are looked for by.
_PARTS = 4
#: Documents up to this length are looked through whole for what is near, where a mark names them.
_SMALL = 20_000
#: A quotation of no more code points is looked for in the documents themselves, if the index knows nothing of it.
_SHORT = 16


def cite(
    passages: Passages, quote: str, collection: str, source: str | None = None
) -> Result[CitedQuote, PlacesFailure]:
    """The citation of a quotation, if and only if it stands in the collection, or in the document of this source.

    It may begin or end within a word, and be short; it must hold a letter or digit.
    """
    desk = Desk(passages)
    among = _documents_of(passages, source)
    if isinstance(among, Failure):
        return among
    texts = (quote.strip(),)
    found = _exact(desk, texts, among.unwrap())
    if isinstance(found, Failure):
        return found
    standing, _ = found.unwrap()
    if not standing and among.unwrap() is None and len(texts[0]) <= _SHORT:
        # A part of a word, or a sign or two, is no word that the index could be asked for.
        whole = _exact(desk, texts, _all_documents(passages))
        if isinstance(whole, Failure):
            return whole
        standing, _ = whole.unwrap()
    if standing:
        first = min(standing, key=lambda each: (each.match.kind is not None, each.order))
        document, span = first.source.stored, first.match.span
        made = portable(
            first.source.citation(span), document.record, document.text, first.source.chunk_span(span), collection
        )
        return Success(CitedQuote(quote, made, sum(each.source.count(texts) for each in standing)))
    near = _near(desk, texts, among.unwrap() or frozenset())
    if isinstance(near, Failure):
        return near
    nearest = near.unwrap()
    told = None if nearest is None else _told(QuoteCheck(quote, Span(0, len(quote)), 1, 1, QuoteState.NEAR), nearest)
    return Success(CitedQuote(quote, None, 0, told))


def _all_documents(passages: Passages) -> frozenset[str]:
    got = passages.pair.view.records(AllRecords(), passages.pair.generation.mark.generation)
    return frozenset() if isinstance(got, Failure) else frozenset(each.document_id for each in got.unwrap())


def _documents_of(passages: Passages, source: str | None) -> Result[frozenset[str] | None, StorageFailure]:
    """The documents that are meant by a source; None where all of the collection are."""
    if source is None:
        return Success(None)
    records = records_of(passages, source)
    return records if isinstance(records, Failure) else Success(frozenset(records.unwrap()))


def check_answer(
    passages: Passages, text: str, hits: Sequence[RetrievalResult] | None, verify: Verify
) -> Result[AnswerCheck, PlacesFailure]:
    """Every quotation and every mark of a text, checked. `[n]` counts the hits from 1.

    Without hits (None), the text's own lists say what a mark points to.
    """
    quoting = quotations_of(text)
    lines = LineMap.of(text)
    desk = Desk(passages)
    pointing = Pointing(desk, quoting, lines, hits)
    pointed: list[Pointed] = []
    for marker in quoting.markers:
        found = pointing.pointed(marker)
        if isinstance(found, Failure):
            return found
        pointed.append(found.unwrap())
    checks: list[QuoteCheck] = []
    letters: set[int] = set()
    for quotation in quoting.quotations:
        checked = _checked(desk, quotation, pointed, lines)
        if isinstance(checked, Failure):
            return checked
        check, raw = checked.unwrap()
        checks.append(check)
        letters.update(quotation.inner if raw else ())
    marks = tuple(each.check for number, each in enumerate(pointed) if number not in letters)
    return Success(AnswerCheck(tuple(_verified(checks, verify)), marks, quoting.passed_over))


def _verified(checks: Sequence[QuoteCheck], verify: Verify) -> Iterator[QuoteCheck]:
    cited = [each.citation for each in checks if each.citation is not None]
    verifications = iter(verify(cited) if cited else ())
    for each in checks:
        yield each if each.citation is None else evolve(each, verification=next(verifications, None))


# -- where a quotation stands


@frozen
class _Wanted:
    """A quotation in some ways to read it, and what the marks that go with them point to."""

    texts: tuple[str, ...]
    pointed: tuple[Pointed, ...]
    documents: frozenset[str] = field(init=False)

    @documents.default
    def _documents(self) -> frozenset[str]:
        return frozenset(each.document for each in self.passages)

    @property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(passage for each in self.pointed for passage in each.passages)


#: Where a quotation stands exactly: where its marks say, and elsewhere; both in order, whole words only.
_Sound: TypeAlias = tuple[list[Standing], list[Standing]]


def _checked(
    desk: Desk, quotation: Quotation, pointed: Sequence[Pointed], lines: LineMap
) -> Result[tuple[QuoteCheck, bool], PlacesFailure]:
    """The check of a quotation, and whether what looks like marks in it are letters, as its source has them."""
    outer = tuple(pointed[number] for number in quotation.markers)
    with_inner = (*outer, *(pointed[number] for number in quotation.inner))
    bare, raw = _Wanted(quotation.texts, with_inner), _Wanted(quotation.raw, outer)
    if quotation.raw:
        found = _exact(desk, raw.texts, raw.documents or None)
        if isinstance(found, Failure):
            return found
        if any(each.match.kind is None for side in found.unwrap() for each in side):
            return _as_found(desk, quotation, raw, found.unwrap(), lines, True)
    found = _exact(desk, bare.texts, bare.documents or None)
    if isinstance(found, Failure):
        return found
    return _as_found(desk, quotation, bare, found.unwrap(), lines, False)


def _as_found(
    desk: Desk, quotation: Quotation, wanted: _Wanted, found: _Sound, lines: LineMap, raw: bool
) -> Result[tuple[QuoteCheck, bool], PlacesFailure]:
    line, column = lines.line_column(quotation.span.start)
    marks = tuple(each.check for each in wanted.pointed)
    check = QuoteCheck(wanted.texts[0], quotation.span, line, column, QuoteState.NOWHERE, markers=marks)
    here, elsewhere = found
    sound = sorted((each for each in here if each.match.kind is None), key=lambda each: each.order)
    count = sum(each.source.count(wanted.texts) for each in sound)
    if sound:
        told = _told(check, _at_passage(sound, wanted), wanted.passages)
        return Success((evolve(told, places=count), raw))
    texts = wanted.texts if raw else (*wanted.texts, *quotation.raw)
    near = _near(desk, texts, wanted.documents, wanted.passages)
    if isinstance(near, Failure):
        return near
    best = min(here, key=lambda each: each.order) if here else near.unwrap()
    others = [each for each in elsewhere if each.match.kind is None]
    if best is not None and (here or not others or best.text in wanted.texts):
        raw = raw or (not here and best.text not in wanted.texts)
        check = _told(check if here else evolve(check, quote=best.text), best, wanted.passages)
        check = evolve(check, markers=marks[: len(quotation.markers)]) if raw else check
    if others:
        other = min(others, key=lambda each: each.order)
        places = sum(each.source.count(wanted.texts) for each in others)
        check = evolve(check, elsewhere=other.source.citation(other.match.span), places=places)
    return Success((check, raw))


def _exact(
    desk: Desk, texts: Sequence[str], named: frozenset[str] | None
) -> Result[tuple[list[Standing], list[Standing]], PlacesFailure]:
    """Where a quotation stands letter for letter: in the documents that are named (all, if None), and in others."""
    proposed = desk.passages.proposed(max(parts_of(texts[0]), key=len, default=texts[0]))
    if isinstance(proposed, Failure):
        return proposed
    here: list[Standing] = []
    elsewhere: list[Standing] = []
    for source in desk.sources(dict.fromkeys((*sorted(named or ()), *proposed.unwrap()))):
        if isinstance(source, Failure):
            return source
        match = source.unwrap().exact(texts)
        if match is not None:
            is_here = named is None or source.unwrap().stored.record.document_id in named
            (here if is_here else elsewhere).append(Standing(source.unwrap(), match))
    return Success((here, elsewhere))


def _at_passage(sound: Sequence[Standing], wanted: _Wanted) -> Standing:
    """The first place within a passage that a mark points to, or across its edge, else the first of all."""
    reach = len(wanted.texts[0])
    for margin in (0, reach):
        for passage in wanted.passages:
            for each in sound:
                if each.source.stored.record.document_id != passage.document:
                    continue
                for span in passage.spans or ():
                    found = _within(each, wanted.texts, span, margin)
                    if found is not None:
                        return found
    return sound[0]


def _within(standing: Standing, texts: Sequence[str], span: Span, margin: int) -> Standing | None:
    text = standing.source.stored.text
    start, end = max(0, span.start - margin), min(len(text), span.end + margin)
    window = Searchable.of(text[start:end])
    for each in texts:
        match = exact_match(each, window)
        if match is None or (match.kind is not None and squashed(each) != window.squashed.strip()):
            continue
        moved = _moved(match, start)
        if _meet(moved.span, span):
            return Standing(standing.source, moved)
    return None


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _moved(match: QuoteMatch, by: int) -> QuoteMatch:
    parts = tuple(Span(part.start + by, part.end + by) for part in match.parts)
    return evolve(match, span=Span(match.span.start + by, match.span.end + by), parts=parts, kind=None)


def _near(
    desk: Desk, texts: Sequence[str], named: frozenset[str], passages: Sequence[Passage] = ()
) -> Result[Standing | None, PlacesFailure]:
    """The nearest passage to a quotation that stands nowhere, in the documents that are named, if any are."""
    parts = parts_of(texts[0]) or tuple(texts[:1])
    nearby = desk.passages.nearby(parts[:_PARTS], named)
    if isinstance(nearby, Failure):
        return nearby
    zones = dict(nearby.unwrap())
    for each in passages:
        zones[each.document] = (*zones.get(each.document, ()), *(each.spans or ()))
    best: Standing | None = None
    for source in desk.sources(dict.fromkeys((*zones, *sorted(named)))):
        if isinstance(source, Failure):
            return source
        stored = source.unwrap().stored
        whole = (Span(0, len(stored.text)),)
        small = len(parts) > 1 or stored.record.document_id in named
        within = whole if small and len(stored.text) <= _SMALL else zones.get(stored.record.document_id, ())
        for text in texts:
            match = near_match(text, stored.text, within)
            if match is not None and (best is None or _rank(match) < _rank(best.match)):
                best = Standing(source.unwrap(), match, text)
    return Success(best)


def _rank(match: QuoteMatch) -> tuple[bool, float]:
    return match.kind is NearKind.EDITED, -match.similarity


# -- what is told of it


def _told(check: QuoteCheck, standing: Standing, passages: Sequence[Passage] = ()) -> QuoteCheck:
    """The check of a quotation that stands there, exactly or nearly."""
    match, text = standing.match, standing.source.stored.text
    exact = match.kind is None
    citation = standing.source.citation(match.span)
    return evolve(
        check,
        state=QuoteState.EXACT if exact else QuoteState.NEAR,
        kind=match.kind,
        similarity=None if exact else match.similarity,
        citation=citation,
        found=text[match.span.start : match.span.end],
        found_parts=tuple(text[part.start : part.end] for part in match.parts),
        detail=_detail(standing, citation, passages),
    )


def _detail(standing: Standing, citation: Citation, passages: Sequence[Passage]) -> str:
    if standing.match.kind is NearKind.CUT:
        return "it begins or ends within a word of its source"
    cited = [each for each in passages if each.document == citation.document_id]
    if not cited or any(each.spans is None or _meets(standing, each.spans) for each in cited):
        return ""
    here = citation.place.removeprefix(citation.source).strip(" :")
    at = f", {'on' if here.startswith('p') else 'at'} {here}," if here else ","
    said = " or ".join(dict.fromkeys(each.said for each in cited if each.said))
    outside = f"not {said}" if said else "but outside the passage that its mark points to"
    return f"it stands in the document{at} {outside}"


def _meets(standing: Standing, spans: Sequence[Span]) -> bool:
    return any(_meet(standing.match.span, span) for span in spans)

"""Checking what a text quotes against the documents of a collection, and turning a quotation into a citation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from attrs import evolve, field, frozen

from groundkit.citations import citation_at
from groundkit.cite_values import AnswerCheck, CitedQuote, MarkerCheck, MarkerState, QuoteCheck, QuoteState
from groundkit.core.markers import Marker, Target, ToChunk, ToNote, ToNumber, ToPlace, sources_of
from groundkit.core.model import Citation, RetrievalResult, Span, Verification
from groundkit.core.portable import portable
from groundkit.core.quotations import Quotation, Quoting, quotations_of
from groundkit.core.quote_matching import (
    NearKind,
    QuoteMatch,
    Searchable,
    exact_count,
    exact_match,
    near_match,
    parts_of,
    squashed,
)
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import is_utf8
from groundkit.core.spans import LineMap
from groundkit.core.storage import ChunksByPrefix, RecordOfSource, StorageFailure
from groundkit.passages import Kept, Passages, PlacesFailure, StoredText

#: What looks at the sources of citations again, in their order; None for what nobody looked at.
Verify: TypeAlias = Callable[[Sequence[Citation]], Sequence[Verification | None]]

#: Code points of documents that are kept in the form quotations are looked for in.
_KEPT = 32_000_000
#: Parts of a quotation with ellipses that near passages are looked for by.
_PARTS = 4
#: Documents up to this length are looked through whole for what is near, where a mark names them.
_SMALL = 20_000


@frozen(eq=False, repr=False)
class _Source:
    """A stored document as quotations are looked for in it."""

    stored: StoredText
    within: Searchable
    lines: LineMap

    @property
    def order(self) -> str:
        return self.stored.record.source

    def citation(self, span: Span) -> Citation:
        """The citation of a stretch; its chunk is the one that holds its beginning."""
        return citation_at(self.stored.chunks[self._chunk_at(span.start)], span, self.stored.text, self.lines)

    def chunk_span(self, span: Span) -> Span:
        return self.stored.chunks[self._chunk_at(span.start)].chunk.span

    def _chunk_at(self, offset: int) -> int:
        return bisect_right(self.stored.chunks, offset, key=lambda each: each.chunk.span.start) - 1

    def exact(self, texts: Sequence[str]) -> QuoteMatch | None:
        """Where one of the ways to read a quotation stands letter for letter.

        A quotation of a whole chunk was cut with it, not by whoever quotes.
        """
        cut: QuoteMatch | None = None
        for text in texts:
            found = exact_match(text, self.within)
            if found is not None and (found.kind is None or self._is_chunk(found.span)):
                return evolve(found, kind=None)
            cut = cut or found
        return cut

    def _is_chunk(self, span: Span) -> bool:
        """Whether a stretch is a whole chunk, but for white space at its ends."""
        chunk = self.chunk_span(span)
        return self.stored.text[chunk.start : chunk.end].strip() == self.stored.text[span.start : span.end]

    def count(self, texts: Sequence[str]) -> int:
        return next((count for count in (exact_count(text, self.within) for text in texts) if count), 0)


@frozen
class _Pointed:
    """What a mark points to: documents, passages of them, and what is wrong with it."""

    check: MarkerCheck
    documents: tuple[str, ...] = ()
    passages: tuple[tuple[str, Span], ...] = ()


@frozen(eq=False, repr=False)
class _Desk:
    """The documents of a collection as quotations are looked for in them; remembers those it prepared."""

    passages: Passages
    _sources: Kept[_Source] = field(factory=lambda: Kept(_KEPT), init=False)

    def source(self, document_id: str) -> Result[_Source | None, StorageFailure]:
        kept = self._sources.get(document_id)
        if kept is not None:
            return Success(kept)
        stored = self.passages.stored(document_id)
        if isinstance(stored, Failure):
            return stored
        document = stored.unwrap()
        if document is None or not document.chunks:
            return Success(None)
        text = document.text
        source = _Source(document, Searchable.of(text), LineMap.of(text))
        self._sources.put(document_id, source, len(text))
        return Success(source)

    def sources(self, documents: Iterable[str]) -> Iterator[Result[_Source, StorageFailure]]:
        for each in documents:
            found = self.source(each)
            if isinstance(found, Failure):
                yield found
                return
            source = found.unwrap()
            if source is not None:
                yield Success(source)


@frozen(eq=False, repr=False)
class _Standing:
    """Where a quotation stands in one document."""

    source: _Source
    match: QuoteMatch

    @property
    def order(self) -> tuple[str, Span]:
        return self.source.order, self.match.span


def cite(
    passages: Passages, quote: str, collection: str, source: str | None = None
) -> Result[CitedQuote, PlacesFailure]:
    """The citation of a quotation, if and only if it stands in the collection, or in the document of this source.

    It may begin or end within a word, and be short; it must hold a letter or digit.
    """
    desk = _Desk(passages)
    among = _documents_of(passages, source)
    if isinstance(among, Failure):
        return among
    texts = (quote.strip(),)
    found = _exact(desk, texts, among.unwrap())
    if isinstance(found, Failure):
        return found
    standing, _ = found.unwrap()
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


def _documents_of(passages: Passages, source: str | None) -> Result[frozenset[str] | None, StorageFailure]:
    """The documents that are meant by a source; None where all of the collection are."""
    if source is None:
        return Success(None)
    records = _records(passages, source)
    return records if isinstance(records, Failure) else Success(frozenset(records.unwrap()))


def _records(passages: Passages, source: str) -> Result[tuple[str, ...], StorageFailure]:
    if not is_utf8(source):
        return Success(())
    got = passages.pair.view.records(RecordOfSource(source), passages.pair.generation.mark.generation)
    return got if isinstance(got, Failure) else Success(tuple(each.document_id for each in got.unwrap()))


def check_answer(
    passages: Passages, text: str, hits: Sequence[RetrievalResult] | None, verify: Verify
) -> Result[AnswerCheck, PlacesFailure]:
    """Every quotation and every mark of a text, checked. `[n]` counts the hits from 1.

    Without hits (None), the text's own lists say what a mark points to.
    """
    quoting = quotations_of(text)
    lines = LineMap.of(text)
    desk = _Desk(passages)
    pointed: list[_Pointed] = []
    for marker in quoting.markers:
        found = _pointed(desk, marker, quoting, hits, lines)
        if isinstance(found, Failure):
            return found
        pointed.append(found.unwrap())
    checks: list[QuoteCheck] = []
    for quotation in quoting.quotations:
        checked = _checked(desk, quotation, [pointed[number] for number in quotation.markers], lines)
        if isinstance(checked, Failure):
            return checked
        checks.append(checked.unwrap())
    return Success(
        AnswerCheck(tuple(_verified(checks, verify)), tuple(each.check for each in pointed), quoting.passed_over)
    )


def _verified(checks: Sequence[QuoteCheck], verify: Verify) -> Iterator[QuoteCheck]:
    cited = [each.citation for each in checks if each.citation is not None]
    verifications = iter(verify(cited) if cited else ())
    for each in checks:
        yield each if each.citation is None else evolve(each, verification=next(verifications, None))


# -- what marks point to


def _pointed(
    desk: _Desk, marker: Marker, quoting: Quoting, hits: Sequence[RetrievalResult] | None, lines: LineMap
) -> Result[_Pointed, StorageFailure]:
    line, column = lines.line_column(marker.span.start)
    documents: list[str] = []
    passages: list[tuple[str, Span]] = []
    sources: list[str] = []
    wrong: list[str] = []
    for target in marker.targets:
        said = _among_hits(target, quoting, hits) if hits is not None else _in_collection(desk, target, quoting)
        if isinstance(said, Failure):
            return said
        named = said.unwrap()
        if isinstance(named, str):
            wrong.append(named)
            continue
        documents += named.documents
        sources += named.sources
        passages += named.passages
    state = MarkerState.UNKNOWN if wrong or not marker.targets else MarkerState.OK
    detail = "; ".join(dict.fromkeys(wrong))
    check = MarkerCheck(marker.text, marker.span, line, column, state, tuple(dict.fromkeys(sources)), detail)
    return Success(_Pointed(check, tuple(dict.fromkeys(documents)), tuple(passages)))


@frozen
class _Named:
    """What one target of a mark is: documents and their sources, and passages of them."""

    documents: tuple[str, ...]
    sources: tuple[str, ...]
    passages: tuple[tuple[str, Span], ...] = ()


def _of_hits(hits: Sequence[RetrievalResult]) -> _Named:
    return _Named(
        tuple(hit.document_id for hit in hits),
        tuple(hit.source for hit in hits),
        tuple((hit.document_id, hit.citation.span) for hit in hits),
    )


def _among_hits(
    target: Target, quoting: Quoting, hits: Sequence[RetrievalResult]
) -> Result[_Named | str, StorageFailure]:
    match target:
        case ToNote(label):
            listed = quoting.references.get(f"^{label}")
            if listed is not None:
                return _among_hits(listed, quoting, hits)
            if label.isdecimal() and len(label) < 10:
                return _among_hits(ToNumber(int(label)), quoting, hits)
            return Success(f"the text has no footnote {label}")
        case ToNumber(number):
            if number is None or not 1 <= number <= len(hits):
                return Success(_outside(number, len(hits)))
            return Success(_of_hits(hits[number - 1 : number]))
        case ToChunk(beginning):
            meant = [hit for hit in hits if hit.chunk_id.startswith(beginning)]
            return Success(_of_hits(meant) if meant else f"no hit is the chunk {beginning}")
        case ToPlace(written):
            names = sources_of(written)
            source = next((name for name in names if any(hit.source == name for hit in hits)), None)
            if source is None:
                return Success(f"no hit is of {written}")
            return Success(_of_hits([hit for hit in hits if hit.source == source]))


def _outside(number: int | None, count: int) -> str:
    shown = "it" if number is None else str(number)
    if not count:
        return f"{shown} points to no hit: there is none"
    return f"{shown} is outside the given hits, 1 to {count}"


def _in_collection(desk: _Desk, target: Target, quoting: Quoting) -> Result[_Named | str, StorageFailure]:
    match target:
        case ToNumber(number):
            listed = quoting.references.get(str(number))
            if listed is None:
                shown = "such an entry" if number is None else f"an entry {number}"
                return Success(f"the text has no list of sources with {shown}, and no hits were given")
            return _in_collection(desk, listed, quoting)
        case ToNote(label):
            listed = quoting.references.get(f"^{label}")
            if listed is None:
                return Success(f"the text has no footnote {label} that names a source")
            return _in_collection(desk, listed, quoting)
        case ToChunk(beginning):
            return _chunk_named(desk.passages, beginning)
        case ToPlace(written):
            return _place_named(desk.passages, written)


def _chunk_named(passages: Passages, beginning: str) -> Result[_Named | str, StorageFailure]:
    got = passages.pair.view.chunks(ChunksByPrefix(beginning), passages.pair.generation.mark.generation)
    if isinstance(got, Failure):
        return got
    if len(got.unwrap()) != 1:
        return Success(f"the collection has {'several chunks' if got.unwrap() else 'no chunk'} {beginning}")
    (stored,) = got.unwrap()
    document = stored.record.document_id
    return Success(_Named((document,), (stored.record.source,), ((document, stored.chunk.span),)))


def _place_named(passages: Passages, written: str) -> Result[_Named | str, StorageFailure]:
    for source in sources_of(written.removeprefix("./")):
        records = _records(passages, source)
        if isinstance(records, Failure):
            return records
        if records.unwrap():
            return Success(_Named(records.unwrap(), (source,)))
    return Success(f"the collection has no source {written}")


# -- where a quotation stands


def _checked(
    desk: _Desk, quotation: Quotation, pointed: Sequence[_Pointed], lines: LineMap
) -> Result[QuoteCheck, PlacesFailure]:
    line, column = lines.line_column(quotation.span.start)
    marks = tuple(each.check for each in pointed)
    check = QuoteCheck(quotation.text, quotation.span, line, column, QuoteState.NOWHERE, markers=marks)
    named = frozenset(document for each in pointed for document in each.documents)
    passages = [passage for each in pointed for passage in each.passages]
    found = _exact(desk, quotation.texts, named or None)
    if isinstance(found, Failure):
        return found
    here, elsewhere = found.unwrap()
    sound = sorted((each for each in here if each.match.kind is None), key=lambda each: each.order)
    count = sum(each.source.count(quotation.texts) for each in sound)
    if sound:
        return Success(evolve(_told(check, _nearest_passage(sound, quotation, passages), passages), places=count))
    near = _near(desk, quotation.texts, named, passages)
    if isinstance(near, Failure):
        return near
    best = min(here, key=lambda each: each.order) if here else near.unwrap()
    other = min((each for each in elsewhere if each.match.kind is None), key=lambda each: each.order, default=None)
    if best is not None:
        check = _told(check, best, passages)
    if other is not None:
        places = sum(each.source.count(quotation.texts) for each in elsewhere if each.match.kind is None)
        check = evolve(check, elsewhere=other.source.citation(other.match.span), places=places)
    return Success(check)


def _exact(
    desk: _Desk, texts: Sequence[str], named: frozenset[str] | None
) -> Result[tuple[list[_Standing], list[_Standing]], PlacesFailure]:
    """Where a quotation stands letter for letter: in the documents that are named (all, if None), and in others."""
    proposed = desk.passages.proposed(max(parts_of(texts[0]), key=len, default=texts[0]))
    if isinstance(proposed, Failure):
        return proposed
    here: list[_Standing] = []
    elsewhere: list[_Standing] = []
    for source in desk.sources(dict.fromkeys((*sorted(named or ()), *proposed.unwrap()))):
        if isinstance(source, Failure):
            return source
        match = source.unwrap().exact(texts)
        if match is not None:
            is_here = named is None or source.unwrap().stored.record.document_id in named
            (here if is_here else elsewhere).append(_Standing(source.unwrap(), match))
    return Success((here, elsewhere))


def _nearest_passage(
    sound: Sequence[_Standing], quotation: Quotation, passages: Sequence[tuple[str, Span]]
) -> _Standing:
    """The first place within a passage that a mark points to, else the first of all."""
    for document, span in passages:
        for each in sound:
            if each.source.stored.record.document_id != document:
                continue
            window = Searchable.of(each.source.stored.text[span.start : span.end])
            for text in quotation.texts:
                match = exact_match(text, window)
                if match is not None and (match.kind is None or squashed(text) == window.squashed.strip()):
                    return _Standing(each.source, _moved(match, span.start))
    return sound[0]


def _moved(match: QuoteMatch, by: int) -> QuoteMatch:
    parts = tuple(Span(part.start + by, part.end + by) for part in match.parts)
    return evolve(match, span=Span(match.span.start + by, match.span.end + by), parts=parts, kind=None)


def _near(
    desk: _Desk, texts: Sequence[str], named: frozenset[str], passages: Sequence[tuple[str, Span]] = ()
) -> Result[_Standing | None, PlacesFailure]:
    """The nearest passage to a quotation that stands nowhere, in the documents that are named, if any are."""
    parts = parts_of(texts[0]) or tuple(texts[:1])
    nearby = desk.passages.nearby(parts[:_PARTS], named)
    if isinstance(nearby, Failure):
        return nearby
    zones = dict(nearby.unwrap())
    for document, span in passages:
        zones[document] = (*zones.get(document, ()), span)
    best: _Standing | None = None
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
                best = _Standing(source.unwrap(), match)
    return Success(best)


def _rank(match: QuoteMatch) -> tuple[bool, float]:
    return match.kind is NearKind.EDITED, -match.similarity


def _told(check: QuoteCheck, standing: _Standing, passages: Sequence[tuple[str, Span]] = ()) -> QuoteCheck:
    """The check of a quotation that stands there, exactly or nearly."""
    match, stored = standing.match, standing.source.stored
    exact = match.kind is None
    return evolve(
        check,
        state=QuoteState.EXACT if exact else QuoteState.NEAR,
        kind=match.kind,
        similarity=None if exact else match.similarity,
        citation=standing.source.citation(match.span),
        found=stored.text[match.span.start : match.span.end],
        detail=_detail(standing, passages),
    )


def _detail(standing: _Standing, passages: Sequence[tuple[str, Span]]) -> str:
    span, document = standing.match.span, standing.source.stored.record.document_id
    if standing.match.kind is NearKind.CUT:
        return "it begins or ends within a word of its source"
    cited = [passage for each, passage in passages if each == document]
    if cited and not any(passage.start <= span.start and span.end <= passage.end for passage in cited):
        return "it stands in the document, but outside the passage that its mark points to"
    return ""

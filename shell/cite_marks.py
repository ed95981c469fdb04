"""What the marks of a text point to: documents of a collection, and passages of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from attrs import field, frozen

from groundkit.cite_desk import Desk, Source, records_of
from groundkit.cite_values import MarkerCheck, MarkerState
from groundkit.core.markers import Marker, Target, ToChunk, ToNote, ToNumber, ToPlace
from groundkit.core.model import RetrievalResult, Span
from groundkit.core.quotations import Quoting
from groundkit.core.references import Entry
from groundkit.core.result import Failure, Result, Success
from groundkit.core.spans import LineMap
from groundkit.core.storage import ChunksByPrefix, StorageFailure
from groundkit.core.written_places import WrittenPlace, places_of, source_part

#: Entries with one label that are looked at; nobody writes as many.
_ENTRIES = 16


@frozen
class Passage:
    """Where in a document a quotation has to stand by a mark: in one of these stretches; anywhere, if None.

    `said` is how the mark says it, with its preposition; "" for the passage of a hit.
    """

    document: str
    spans: tuple[Span, ...] | None = None
    said: str = ""


@frozen
class Pointed:
    """What a mark points to, and what is wrong with it."""

    check: MarkerCheck
    passages: tuple[Passage, ...] = ()


@frozen
class _Named:
    """What one target of a mark is."""

    sources: tuple[str, ...]
    passages: tuple[Passage, ...]


#: What a target is, or why it is nothing.
_Found: TypeAlias = Result[_Named | str, StorageFailure]


@frozen(eq=False, repr=False)
class Pointing:
    """The marks of one text: what they point to among some hits, or in the collection, by the text's own lists."""

    desk: Desk
    quoting: Quoting
    lines: LineMap
    hits: Sequence[RetrievalResult] | None
    _known: dict[Target, _Found] = field(factory=dict, init=False)

    def pointed(self, marker: Marker) -> Result[Pointed, StorageFailure]:
        line, column = self.lines.line_column(marker.span.start)
        named: list[_Named] = []
        wrong: list[str] = []
        for target in marker.targets:
            said = self._found(target)
            if isinstance(said, Failure):
                return said
            found = said.unwrap()
            if isinstance(found, str):
                wrong.append(found)
            else:
                named.append(found)
        state = MarkerState.UNKNOWN if wrong or not marker.targets else MarkerState.OK
        sources = tuple(dict.fromkeys(source for each in named for source in each.sources))
        detail = "; ".join(dict.fromkeys(wrong))
        check = MarkerCheck(marker.text, marker.span, line, column, state, sources, detail)
        return Success(Pointed(check, tuple(passage for each in named for passage in each.passages)))

    def _found(self, target: Target) -> _Found:
        """A list may have hundreds of marks for one entry."""
        if target not in self._known:
            self._known[target] = self._looked_up(target)
        return self._known[target]

    def _looked_up(self, target: Target) -> _Found:
        match target:
            case ToNumber(number):
                return self._listed(str(number), number) if self.hits is None else self._hit(number)
            case ToNote(label):
                return self._note(label)
            case ToChunk(beginning):
                return self._chunk(beginning)
            case ToPlace(written):
                return self._place(written)

    # -- numbers and notes

    def _hit(self, number: int | None) -> _Found:
        hits = self.hits or ()
        if number is None or not 1 <= number <= len(hits):
            return Success(_outside(number, len(hits)))
        return Success(_of_hits(hits[number - 1 : number]))

    def _listed(self, label: str, number: int | None) -> _Found:
        entries = self._entries(label) or self._entries(f"^{label}")
        if not entries:
            shown = "such an entry" if number is None else f"an entry {number}"
            return Success(f"the text has no list of sources with {shown}, and no hits were given")
        return self._first(entries, f"entry {label}")

    def _note(self, label: str) -> _Found:
        entries = self._entries(f"^{label}")
        if entries:
            return self._first(entries, f"footnote {label}")
        if self.hits is not None and label.isdecimal():
            return self._hit(int(label) if len(label) < 10 else None)
        if self._entries(label):
            return self._first(self._entries(label), f"entry {label}")
        return Success(f"the text has no footnote {label}")

    def _entries(self, label: str) -> tuple[Entry, ...]:
        return self.quoting.references.get(label, ())

    def _first(self, entries: Sequence[Entry], name: str) -> _Found:
        """The first thing an entry names that there is; of several entries with one label the first that names one."""
        for target in dict.fromkeys(target for entry in entries[:_ENTRIES] for target in entry.targets):
            found = self._found(target)
            if isinstance(found, Failure) or not isinstance(found.unwrap(), str):
                return found
        line, _ = self.lines.line_column(entries[0].start)
        whose = "the collection" if self.hits is None else "the given hits"
        return Success(f"line {line} is {name} and names no source of {whose}")

    # -- chunks and places

    def _chunk(self, beginning: str) -> _Found:
        if self.hits is not None:
            meant = [hit for hit in self.hits if hit.chunk_id.startswith(beginning)]
            return Success(_of_hits(meant) if meant else f"no hit is the chunk {beginning}")
        pair = self.desk.passages.pair
        got = pair.view.chunks(ChunksByPrefix(beginning), pair.generation.mark.generation)
        if isinstance(got, Failure):
            return got
        if len(got.unwrap()) != 1:
            return Success(f"the collection has {'several chunks' if got.unwrap() else 'no chunk'} {beginning}")
        (stored,) = got.unwrap()
        passage = Passage(stored.record.document_id, (stored.chunk.span,))
        return Success(_Named((stored.record.source,), (passage,)))

    def _place(self, written: str) -> _Found:
        for place in places_of(written.removeprefix("./")):
            documents = self._documents(place.source)
            if isinstance(documents, Failure):
                return documents
            if documents.unwrap():
                return self._there(place, documents.unwrap())
        shown = source_part(written.removeprefix("./"))
        return Success(f"the collection has no source {shown}" if self.hits is None else f"no hit is of {shown}")

    def _documents(self, source: str) -> Result[tuple[str, ...], StorageFailure]:
        if self.hits is None:
            return records_of(self.desk.passages, source)
        return Success(tuple(dict.fromkeys(hit.document_id for hit in self.hits if hit.source == source)))

    def _there(self, place: WrittenPlace, documents: Sequence[str]) -> _Found:
        """The chunks that have the line or the page; a place without either is anywhere in its document."""
        if place.lines is None and place.pages is None:
            return Success(_Named((place.source,), tuple(map(Passage, documents))))
        passages: list[Passage] = []
        for each in documents:
            found = self.desk.source(each)
            if isinstance(found, Failure):
                return found
            source = found.unwrap()
            spans = () if source is None else _spans(source, place)
            passages.append(Passage(each, spans, f"{'on' if place.pages else 'at'} {place}"))
        return Success(_Named((place.source,), tuple(passages)))


def _outside(number: int | None, count: int) -> str:
    shown = "it" if number is None else str(number)
    if not count:
        return f"{shown} points to no hit: there is none"
    return f"{shown} is outside the given hits, 1 to {count}"


def _of_hits(hits: Sequence[RetrievalResult]) -> _Named:
    return _Named(
        tuple(hit.source for hit in hits), tuple(Passage(hit.document_id, (hit.citation.span,)) for hit in hits)
    )


def _spans(source: Source, place: WrittenPlace) -> tuple[Span, ...]:
    if place.pages is not None:
        return source.spans_of_pages(*place.pages)
    return () if place.lines is None else source.spans_of_lines(*place.lines)

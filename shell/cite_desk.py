"""The documents of a collection as quotations are looked for in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, field, frozen

from groundkit.citations import citation_at
from groundkit.core.model import Citation, Span
from groundkit.core.quote_matching import QuoteMatch, Searchable, exact_count, exact_match
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import is_utf8
from groundkit.core.spans import LineMap
from groundkit.core.storage import RecordOfSource, StorageFailure
from groundkit.passages import Kept, Passages, StoredText

#: Code points of documents that are kept in the form quotations are looked for in.
_KEPT = 32_000_000


@frozen(eq=False, repr=False)
class Source:
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

    def spans_of_lines(self, first: int, last: int) -> tuple[Span, ...]:
        """The chunks that have one of these lines, if there are such lines."""
        starts = self.lines.starts
        if not 1 <= first <= len(starts):
            return ()
        start, end = starts[first - 1], starts[last] if last < len(starts) else len(self.stored.text) + 1
        spans = (each.chunk.span for each in self.stored.chunks)
        return tuple(span for span in spans if span.start < end and start < span.end)

    def spans_of_pages(self, first: int, last: int) -> tuple[Span, ...]:
        """The chunks that stand on one of these pages."""
        return tuple(
            each.chunk.span
            for each in self.stored.chunks
            if (pages := each.chunk.locator.pages) is not None and pages.first <= last and first <= pages.last
        )

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


@frozen(eq=False, repr=False)
class Desk:
    """The documents of a collection as quotations are looked for in them; remembers those it prepared."""

    passages: Passages
    _sources: Kept[Source] = field(factory=lambda: Kept(_KEPT), init=False)

    def source(self, document_id: str) -> Result[Source | None, StorageFailure]:
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
        source = Source(document, Searchable.of(text), LineMap.of(text))
        self._sources.put(document_id, source, len(text))
        return Success(source)

    def sources(self, documents: Iterable[str]) -> Iterator[Result[Source, StorageFailure]]:
        for each in documents:
            found = self.source(each)
            if isinstance(found, Failure):
                yield found
                return
            source = found.unwrap()
            if source is not None:
                yield Success(source)


@frozen(eq=False, repr=False)
class Standing:
    """Where a quotation stands in one document."""

    source: Source
    match: QuoteMatch
    #: Which way to read the quotation stands there.
    text: str = ""

    @property
    def order(self) -> tuple[str, Span]:
        return self.source.order, self.match.span


def records_of(passages: Passages, source: str) -> Result[tuple[str, ...], StorageFailure]:
    if not is_utf8(source):
        return Success(())
    got = passages.pair.view.records(RecordOfSource(source), passages.pair.generation.mark.generation)
    return got if isinstance(got, Failure) else Success(tuple(each.document_id for each in got.unwrap()))

"""The public face: ordinary Python over the use cases. It returns plain values and raises `GroundkitError`s.

A use case is imported by the method that carries it out, so a search does not pay for what an ingest needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from attrs import evolve

from groundkit import config
from groundkit.core.result import Failure, Success
from groundkit.core.settings import SettingsChange
from groundkit.core.storage import AllRecords, RecordOfSource
from groundkit.errors import RetrievalError, error_of
from groundkit.opened import Opened, PathLike

if TYPE_CHECKING:
    from groundkit.cite_values import AnswerCheck, CitedQuote
    from groundkit.core.annotation_selectors import Selectors
    from groundkit.core.live import Live
    from groundkit.core.model import Citation, DocumentRecord, RetrievalResult, Verification
    from groundkit.core.older import OldChunk, OldStore
    from groundkit.core.portable import PortableCitation
    from groundkit.core.snippets import Snippet
    from groundkit.core.storage import Mark
    from groundkit.core.units import SpanUnits
    from groundkit.core.walking import Explanation, Found
    from groundkit.doctor import Diagnosis
    from groundkit.drop import Removed
    from groundkit.fetch import FetchedChunk
    from groundkit.ingest import IngestReport, SourceEvent
    from groundkit.search import SearchAnswer
    from groundkit.status import IndexStatus
    from groundkit.verifying import Checked, Citable

#: What a search spends at most to verify its hits: bytes of sources, and seconds. Those it does not come to stay unchecked.
VERIFY_BYTES, VERIFY_SECONDS = 256 * 1024 * 1024, 10.0

#: How often somebody looks again because pages were replaced meanwhile.
_FRESH_VIEWS = 4

T = TypeVar("T")

_NOT_ANCHORED = {"none": "the quotation does not stand there", "several": "the quotation stands at several places"}


class SearchOptions(TypedDict, total=False):
    """What `Collection.search` takes beside the query; see `Collection.answer`."""

    limit: int
    offset: int
    mode: str
    per_source: int | None
    merge: bool
    abstain: bool
    rerank: str | None
    explain: bool
    verify: bool
    verify_bytes: int
    verify_seconds: float


class Collection(Opened):
    """One named set of documents in an index directory, and the base directory its local sources lie below.

    Opening reads nothing. Use it as a context manager, or call `close`. A collection may be used by several threads.
    """

    def ingest(
        self,
        paths: PathLike | Iterable[PathLike],
        *,
        as_text: bool = False,
        prune_all: bool = False,
        strict: bool = False,
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
        language: str | None = None,
        max_bytes: int | None = None,
        time_limit: int | None = None,
        cpu_limit: int | None = None,
        memory_limit: int | None = None,
        cache_bytes: int | None = None,
        fetch_bytes: int | None = None,
        fetch_seconds: int | None = None,
        fetch_ports: Iterable[int] | None = None,
        keep_bodies: bool = False,
        dense: bool | None = None,
        embedder: str | None = None,
        jobs: int | None = None,
        check: bool = False,
        wait: float = 10.0,
        on_progress: Callable[[SourceEvent], object] | None = None,
    ) -> IngestReport:
        """Bring the collection up to date with these files and folders (relative ones: below the base directory) and URLs.

        Documents whose files are gone from a given folder are removed. `max_bytes` is the largest file, `wait` the
        seconds to wait for another writer. PDF and HTML files are extracted `jobs` at a time (else: as many as there are
        processors), each within `time_limit` and `cpu_limit` seconds and `memory_limit` bytes; `cache_bytes` of what is
        extracted again to verify it are kept on disk. A page may have `fetch_bytes` (decoded) and take `fetch_seconds`, and
        only `fetch_ports` are connected to; these, too, are remembered. `keep_bodies` also keeps the raw responses (WARC).
        With `dense`, or an `embedder` by name, every chunk gets a vector, those stored without one included: by the collection's
        own embedder, a new one's is "wordllama". `dense=False` removes all vectors. `IndexIdentityError` if the collection has
        vectors of another one, or none is at work.
        One bad source never stops the others: see `failed` of the report, or let `strict` raise an error for the first
        one when everything else is done; `strict` also refuses documents of which text is missing. With `check` nothing
        is written: the report says what would be.
        """
        from groundkit.core.url_kinds import is_url
        from groundkit.ingest import IngestRequest, ingest

        given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        urls = tuple(each for each in given if isinstance(each, str) and is_url(each))
        sources = self.sources_of([each for each in given if not (isinstance(each, str) and is_url(each))])
        base = self._new_base() if sources else None
        limits = (time_limit, cpu_limit, memory_limit, cache_bytes)
        fetching = (fetch_bytes, fetch_seconds, None if fetch_ports is None else tuple(sorted(set(fetch_ports))))
        change = SettingsChange(chunk_size, chunk_overlap, language, max_bytes, base, *limits, *fetching)
        at_a_time = config.processors() if jobs is None else max(1, jobs)
        wanted = None if dense is False else embedder or (self._own_embedder() if dense else None)
        request = IngestRequest(
            sources,
            as_text,
            prune_all,
            change,
            wait,
            at_a_time,
            strict,
            check,
            urls,
            keep_bodies,
            wanted,
            dense is False,
        )
        done = ingest(self._ports, request, self._settled, on_progress)
        if isinstance(done, Failure):
            self._raise(done.failure())
        report, self._settled = done.unwrap()
        if strict and report.failed:
            error = error_of(report.failed[0].error)
            error.report = report
            raise error
        return report

    def remove(self, sources: str | Iterable[str], *, wait: float = 10.0) -> Removed:
        """Take documents out by source, or all below a folder. Their files stay; the snapshots of pages go."""
        from groundkit.drop import remove

        names = (sources,) if isinstance(sources, str) else tuple(sources)
        self._known()
        return self._or_raise(remove(self._ports, names, wait))

    def drop(self, *, wait: float = 10.0) -> None:
        """Remove the whole collection."""
        from groundkit.drop import drop

        self._or_raise(drop(self._ports, wait))
        self.close()

    # -- reading

    def search(self, query: str, **how: Unpack[SearchOptions]) -> list[RetrievalResult]:
        """The best passages for a query, as `answer` has them."""
        return list(self.answer(query, **how).hits)

    def answer(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        mode: str = "bm25",
        per_source: int | None = None,
        merge: bool = False,
        abstain: bool = True,
        rerank: str | None = None,
        explain: bool = False,
        verify: bool = False,
        verify_bytes: int = VERIFY_BYTES,
        verify_seconds: float = VERIFY_SECONDS,
    ) -> SearchAnswer:
        """The best `limit` passages after the first `offset`, by (−score, source, start), and how many there are.

        `mode` ranks them by their words ("bm25": exact BM25 over live documents), by meaning ("dense": cosine of vectors), or
        by both ("hybrid"). By meaning, a search may abstain: `abstained` says why, and `abstain=False` gives the nearest
        passages all the same. At most `per_source` are of one source; `merge` joins those beside each other in a document;
        `rerank` names a model that reads the first of them; `explain` gives each hit its `parts`.
        With `verify`, each hit's source is looked at again, as far as `verify_bytes` of sources (extracted ones count 128
        times) and `verify_seconds` go; what nobody came to look at has no verification. A query without a word has no hits.
        """
        from groundkit.core.modes import Mode
        from groundkit.search import SearchRequest, search_under

        if per_source is not None and per_source < 1:
            raise ValueError(f"per_source is {per_source}: 1 or more, or None")
        if mode not in set(Mode):
            raise ValueError(f"mode is {mode!r}: one of {', '.join(Mode)}")
        of = max(0, limit), max(0, offset), Mode(mode), per_source, merge, abstain, rerank, explain
        request = SearchRequest(query, *of)
        models = None if request.plain else self._models()

        def look() -> SearchAnswer:
            language = self._known().language
            answer = self._or_raise(search_under(language, self._ports.lexical, self._reader, request, models))
            if not verify:
                return answer
            return evolve(answer, hits=tuple(self._checked(list(answer.hits), verify_bytes, verify_seconds)))

        return self._unmissed(look, lambda answer: any(_missed(hit.verification) for hit in answer.hits))

    def snippet(self, hit: RetrievalResult, query: str, size: int = 320) -> Snippet:
        """The stretch of a hit's text that says most of what was asked, about `size` code points, with the words marked.

        Its `span` and `marks` are code points of `hit.text`.
        """
        from groundkit.core.query import wanted_terms
        from groundkit.core.snippets import snippet

        return snippet(hit.text, wanted_terms(query, self.terms), self.terms, size)

    def _checked(self, hits: list[RetrievalResult], size: int, seconds: float) -> list[RetrievalResult]:
        from groundkit.verifying import Budget, verify_together

        citations = [hit.citation for hit in hits]
        # A search does not look for a passage in other files than its own.
        lookup = evolve(self._lookup(), elsewhere=None)
        checks = verify_together(lookup, citations, Budget(size, seconds))
        return [evolve(hit, verification=check) for hit, check in zip(hits, checks, strict=True)]

    def _unmissed(self, look: Callable[[], T], misses: Callable[[T], bool]) -> T:
        """What a look gives. The snapshot of a page that is replaced under it goes with what was found, so look again.

        Lost is only what is missed while nothing is written: the same page may even have come back by now.
        """
        found = look()
        for _ in range(_FRESH_VIEWS):
            if not misses(found):
                break
            before = self._mark()
            found = look()
            if self._mark() == before:
                break
        return found

    def _mark(self) -> Mark:
        with self._standing() as (_, generation):
            return generation.mark

    def terms(self, text: str) -> list[str]:
        """The terms that a text is looked for by: its words folded and stemmed, in order."""
        from groundkit.core.folding import search_view

        return self._ports.lexical(self._known().language).terms(search_view(text)[0])

    def verify(self, citation: Citable) -> Verification:
        """Look at the cited source again. Never raises.

        Where it does not say so any more, the verification says where the passage went, if that can be told.
        """
        from groundkit.verifying import verify

        return verify(self._lookup(), citation)

    def verify_each(self, citations: Iterable[Citable]) -> Iterator[Checked]:
        """Each citation with its verification, in order; citations of one source in a row share one reading of it."""
        from groundkit.verifying import verify_all

        return verify_all(self._lookup(), citations)

    def verify_all(self, source: str | None = None) -> Iterator[Checked]:
        """Every citation of the collection, or of a source, by source and position, each checked. What is replaced meanwhile
        is passed over."""
        for checked in self.verify_each(self.citations(source)):
            again = self._checked_again(checked) if _missed(checked.verification) else checked
            if again is not None:
                yield again

    def _checked_again(self, checked: Checked) -> Checked | None:
        """None where the collection does not have the document any more."""
        citation = checked.citation

        def look() -> Checked | None:
            stands = any(
                each.document_id == citation.document_id for each in self.get_document_records(citation.source)
            )
            return evolve(checked, verification=self.verify(citation)) if stands else None

        return self._unmissed(look, lambda found: found is not None and _missed(found.verification))

    def live_each(self, citations: Iterable[Citation]) -> Iterator[Live | None]:
        """What each cited page says today, fetched anew; None for a citation of a file. No verdict depends on it."""
        from groundkit.live import live_each

        settings = self._known()
        return live_each(self._ports, settings, self._extracting, self._text_of, citations)

    def portable(self, citation: Citation) -> PortableCitation:
        """The citation with everything that somebody needs to check it who has the source and nothing else.

        `RetrievalError` where the collection does not have the cited version (any more).
        """
        (found,) = self.portable_each((citation,))
        return found

    def portable_each(self, citations: Iterable[Citation]) -> Iterator[PortableCitation]:
        """The same for many, in order; citations of one document in a row share one reading of it."""
        from groundkit.exporting import Exporter

        exporter = Exporter(self._name, self._stored_chunks)
        for citation in citations:
            yield self._known_or_raise(exporter.portable(citation))

    def cite(self, quote: str, *, source: str | None = None) -> PortableCitation | None:
        """The citation of a quotation, if and only if it stands in the collection, or in the document of this source.

        Letter for letter, but that a run of white space counts as one blank. Of several places it is the first by (source,
        start); see `find_quote` for how many there are, and for what is near where it stands nowhere.
        """
        return self.find_quote(quote, source=source).citation

    def find_quote(self, quote: str, *, source: str | None = None) -> CitedQuote:
        """The same with the number of places, or the nearest passage. True where the quotation stands."""
        from groundkit.cite import cite

        with self._passages() as passages:
            return self._or_raise(cite(passages, quote, self._name, source))

    def check_answer(self, text: str, hits: Sequence[RetrievalResult] | None = None) -> AnswerCheck:
        """Every quotation of a text, and every mark (`[1]`, `[^a]`, a place, a chunk id), checked. True if all of them hold.

        `[n]` counts the hits from 1, and a quotation with such a mark has to stand in that hit's document; a mark outside the
        hits is `unknown`, never repaired. Without hits, the text's own list of references says what its marks point to.
        """
        from groundkit.cite import check_answer
        from groundkit.verifying import verify_together

        with self._passages() as passages:
            lookup = self._lookup()
            return self._or_raise(check_answer(passages, text, hits, lambda cited: verify_together(lookup, cited)))

    def anchor(self, selectors: Selectors) -> PortableCitation:
        """The citation of what somebody's annotation quotes (`groundkit.selectors_of`), in the document that it names.

        `CitationError` where the collection has no such document, or the quotation stands there nowhere or at several places.
        """
        from groundkit.errors import CitationError
        from groundkit.exporting import anchored_in, sources_meant

        records = [each for name in sources_meant(selectors.source) for each in self.get_document_records(name)]
        if not records:
            raise CitationError(f"the collection has no document {selectors.source}", selectors)
        made = anchored_in(self._stored_chunks(records[0].document_id), selectors, self._name)
        if isinstance(made, Failure):
            raise CitationError(f"{selectors.source}: {_NOT_ANCHORED[made.failure().places]}", made.failure())
        return made.unwrap()

    def document_text(self, document_id: str) -> str | None:
        """The text of a stored version as it was ingested; None where the collection does not have it (any more)."""
        return self._text_of(document_id)

    def units(self, citation: Citation) -> SpanUnits:
        """A citation's span in code points, UTF-8 bytes, UTF-16 units, and lines and columns of the document's text.

        `RetrievalError` where the collection does not have the cited version (any more).
        """
        from groundkit.core.units import OffsetMap
        from groundkit.exporting import within

        text = self._text_of(citation.document_id)
        return self._known_or_raise(within(citation, text, lambda whole: OffsetMap.of(whole).units(citation.span)))

    def link(self, citation: Citation) -> str | None:
        """What a browser opens the passage by: `file.md#char=10,25` (RFC 5147), `file.pdf#page=3`, or for HTML a text fragment.

        Of a local source it is relative to the base directory. None of a citation from elsewhere whose source is neither below
        a base nor a page. `RetrievalError` where the collection does not have the cited version (any more).
        """
        from groundkit.core.links import link_of
        from groundkit.exporting import within

        start, end = citation.start_offset, citation.end_offset
        text = self._text_of(citation.document_id)
        return self._known_or_raise(within(citation, text, lambda whole: link_of(citation, whole[start:end], whole)))

    def _known_or_raise(self, result: Success[T] | Failure[Verification]) -> T:
        if isinstance(result, Failure):
            raise RetrievalError(result.failure())
        return result.unwrap()

    def resolve_citation(self, citation: Citation) -> str:
        """The text a citation stands for, as its source has it now; `RetrievalError` where it does not say so any more."""
        from groundkit.verifying import resolve

        resolved = resolve(self._lookup(), citation)
        if isinstance(resolved, Failure):
            raise RetrievalError(resolved.failure())
        return resolved.unwrap()

    def citations(self, source: str | None = None) -> Iterator[Citation]:
        """A citation of every chunk, or every one of a source, by source and position. What is replaced meanwhile is passed
        over."""
        from groundkit.citations import citations_of

        for record in self.get_document_records(source):
            with self._standing() as (view, generation):
                found = self._or_raise(citations_of(view, generation, record))
            yield from found

    def fetch_chunk(
        self, chunk_id: str, *, in_place: bool = False, verify_seconds: float | None = None
    ) -> FetchedChunk:
        """A chunk by its id or the unmistakable beginning of one, with its verification; with `in_place`, also its `place`.

        A check that takes more than `verify_seconds` is cut short (`unresolvable`, `budget`); then, too, what is gone from its
        source is not looked for everywhere.
        """

        def look() -> FetchedChunk:
            return self._fetched(chunk_id, in_place, verify_seconds)

        return self._unmissed(look, lambda found: _missed(found.verification))

    def _fetched(self, chunk_id: str, in_place: bool, seconds: float | None) -> FetchedChunk:
        from groundkit.core.verdicts import unknown_chunk
        from groundkit.fetch import FetchedChunk, fetch
        from groundkit.requests import not_a_path
        from groundkit.verifying import verify, verify_within

        with self._standing() as (view, generation):
            found = self._or_raise(fetch(view, generation, chunk_id, in_place))
            settings = view.state.settings
        if found is None:
            url = not_a_path(chunk_id)
            shown = chunk_id if url is None else url.source
            return FetchedChunk(shown, None, None, unknown_chunk(shown), revision=generation.mark.revision)
        stored, lookup = found.stored, self._lookup(settings, soon=seconds is not None)
        check = verify(lookup, found.citation) if seconds is None else verify_within(lookup, found.citation, seconds)
        return FetchedChunk(
            stored.chunk.id,
            stored.chunk,
            found.citation,
            check,
            stored.record.fetch,
            stored.record.title,
            generation.mark.revision,
            found.place,
        )

    def get_document_records(self, source: str | None = None) -> list[DocumentRecord]:
        """The stored documents by source, or the one of this source."""
        from groundkit.core.sources import is_utf8

        if source is not None and not is_utf8(source):
            self._known()
            return []
        with self._standing() as (view, generation):
            wanted = AllRecords() if source is None else RecordOfSource(source)
            return list(self._or_raise(view.records(wanted, generation.mark.generation)))

    @property
    def chunk_count(self) -> int:
        """How many chunks a search looks in."""
        with self._standing() as (_, generation):
            return generation.statistics.chunks

    @property
    def revision(self) -> str:
        """What a search would answer from now: equal ones stand for equal contents. Not for people, and in no order."""
        return self._mark().revision

    def status(self) -> IndexStatus:
        """Counts, settings, and what failed when it was last tried."""
        from groundkit.status import status_of

        with self._standing() as (view, generation):
            return self._or_raise(status_of(view, generation, self._name, self._ports.extractors))

    def walk(self, paths: Sequence[PathLike] = ("",), *, as_text: bool = False) -> list[Found]:
        """What an ingest of these paths would find, and what it would pass over and why."""
        from groundkit.core.kinds import Dispatch
        from groundkit.core.walking import WalkRequest

        sources = self.sources_of(list(paths))
        with closing(self._or_raise(self._open_sources())) as reader:
            return list(reader.walk(WalkRequest(sources, Dispatch(as_text, self._ports.extractors.kinds))))

    def explain(self, path: PathLike) -> Explanation:
        """Which rule decides whether this path is ingested."""
        from groundkit.core.kinds import Dispatch

        (source,) = self.sources_of([path])
        with closing(self._or_raise(self._open_sources())) as reader:
            return reader.explain(source, Dispatch(kinds=self._ports.extractors.kinds))

    def doctor(self, *, repair_index: bool = False, wait: float = 10.0) -> Diagnosis:
        """Look at everything the collection says of itself; with `repair_index`, make the lexical index anew first.

        Waits so many seconds for a writer to be done: what one is about would look like damage.
        """
        from groundkit.doctor import diagnose, repair

        self._known()
        return self._or_raise((repair if repair_index else diagnose)(self._ports, wait))

    def old_sources(self) -> OldStore:
        """The sources of a store that an earlier version, or the published package, left under this name.

        Such a store can be listed and its chunks read (`old_chunks`); nothing else. What it holds is brought over by
        ingesting its sources into a new collection.
        """
        from groundkit.compose import old_sources

        return self._or_raise(old_sources(self._index_directory, self._name))

    def old_chunks(self, source: str) -> tuple[OldChunk, ...]:
        """The chunks of one source of such a store, in order."""
        from groundkit.compose import old_chunks

        return self._or_raise(old_chunks(self._index_directory, self._name, source))


def _missed(verification: Verification | None) -> bool:
    from groundkit.core.model import Reason

    return verification is not None and verification.reason is Reason.SNAPSHOT_MISSING

"""Searches whose hits are not simply the best by their words: by meaning, fused, reranked, merged, so many of a source."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from attrs import Factory, define, evolve, field, frozen

from groundkit.citations import merged_citation
from groundkit.core.briefs import Within
from groundkit.core.fusion import DEPTH, fused, meaning_weight
from groundkit.core.merging import groups
from groundkit.core.model import RetrievalResult
from groundkit.core.modes import Mode
from groundkit.core.ports import LexicalIndex
from groundkit.core.ranking import GhostRows
from groundkit.core.reranking import reranked
from groundkit.core.result import Failure, Result, Success
from groundkit.core.searching import ScoreParts
from groundkit.core.storage import ChunksByRow, StorageFailure, StoredChunk
from groundkit.meaning import ByMeaning, Models
from groundkit.reading import Pair
from groundkit.searched import Scored, SearchAnswer, SearchRefused, SearchRequest, Understood, by_words, results

if TYPE_CHECKING:
    from groundkit.core.abstention import Abstained

#: How many hits a list has in which neighbours are merged, or of which a reranker reads the first.
MERGED = 200


@frozen
class _List:
    """The beginning of an order; `whole` if there is no more of it. `matches` counts all that there is."""

    hits: tuple[Scored, ...]
    matches: int
    whole: bool
    abstained: Abstained | None = None


_First: TypeAlias = Callable[[int], Result[_List, SearchRefused]]


@define
class Stopwatch:
    """Seconds by stage, added up."""

    seconds: dict[str, float] = Factory(dict)

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started


def listed(
    pair: Pair,
    index: LexicalIndex,
    request: SearchRequest,
    asked: Understood,
    within: Within | None,
    models: Models | None,
) -> Result[SearchAnswer, SearchRefused]:
    """The page that is asked for, of an order that is the same for every page."""
    watch = Stopwatch()
    searching = _Searching(pair, index, request, asked, within, models, watch)
    wanted = request.offset + request.limit
    found = searching.first(wanted)
    if isinstance(found, Failure):
        return found
    hits = found.unwrap().hits[request.offset : wanted]
    cited = _results(pair, list(hits))
    if isinstance(cited, Failure):
        return cited
    stages = tuple(sorted(watch.seconds.items()))
    return Success(
        SearchAnswer(
            cited.unwrap(), found.unwrap().matches, asked, request.mode, found.unwrap().abstained, seconds=stages
        )
    )


@frozen
class _Searching:
    """One search under way."""

    pair: Pair
    index: LexicalIndex
    request: SearchRequest
    asked: Understood
    within: Within | None
    models: Models | None
    watch: Stopwatch
    meaning: ByMeaning = field(init=False)

    @meaning.default
    def _meaning(self) -> ByMeaning:
        return ByMeaning(self.pair, self.index, self.asked, self.within, self.models, self.watch.of)

    def first(self, wanted: int) -> Result[_List, SearchRefused]:
        """At least so many hits, if there are so many."""
        base = {Mode.BM25: self._by_words, Mode.DENSE: self._by_meaning, Mode.HYBRID: self._by_both}[self.request.mode]
        if self.request.rerank is None and not self.request.merge:
            return self._limited(base, wanted)
        whole = base(MERGED)
        if isinstance(whole, Failure):
            return whole
        ranked = self._reranked(whole.unwrap())
        if isinstance(ranked, Failure):
            return ranked
        found = ranked.unwrap()
        if self.request.merge:
            found = evolve(found, hits=merged(found.hits))
        return self._limited(lambda _: Success(evolve(found, whole=True)), wanted)

    def _limited(self, first: _First, wanted: int) -> Result[_List, SearchRefused]:
        """So many hits with no more of one source than allowed: twice as many are looked at until there are enough."""
        depth = wanted if self.request.per_source is None else 2 * wanted
        while True:
            found = first(depth)
            if isinstance(found, Failure) or self.request.per_source is None:
                return found
            hits = limited(found.unwrap().hits, self.request.per_source)
            if len(hits) >= wanted or found.unwrap().whole:
                return Success(evolve(found.unwrap(), hits=hits))
            depth *= 2

    def _by_words(self, count: int) -> Result[_List, SearchRefused]:
        with self.watch.of("lexical"):
            ranked = by_words(self.pair, self.index, self.asked, self.within, count, 0, self.request.explain)
        if isinstance(ranked, Failure):
            return ranked
        hits = tuple(Scored(each.chunk, each.score, each.parts) for each in ranked.unwrap().hits)
        return Success(_List(hits, ranked.unwrap().matches, len(hits) < count))

    def _by_meaning(self, count: int) -> Result[_List, SearchRefused]:
        found = self.meaning.nearest(count)
        if isinstance(found, Failure):
            return found
        near = found.unwrap()
        if self.request.abstain:
            best = self._best_by_words()
            share = best if isinstance(best, Failure) else self.meaning.support(best.unwrap())
            if isinstance(share, Failure):
                return share
            why = self.meaning.abstained(near, share.unwrap())
            if why is not None:
                return Success(_List((), near.matches, True, why))
        chunks = self._in_order(dict(near.rows))
        if isinstance(chunks, Failure):
            return chunks
        hits = tuple(
            Scored(chunk, score, ScoreParts(cosine=score, dense_rank=rank) if self.request.explain else None)
            for rank, (chunk, score) in enumerate(chunks.unwrap(), 1)
        )
        return Success(_List(hits, near.matches, len(hits) < count))

    def _best_by_words(self) -> Result[StoredChunk | None, SearchRefused]:
        first = self._by_words(1)
        if isinstance(first, Failure):
            return first
        return Success(first.unwrap().hits[0].chunk if first.unwrap().hits else None)

    def _by_both(self, _: int) -> Result[_List, SearchRefused]:
        """Lists of a fixed depth, whatever page is asked for."""
        words = self._by_words(DEPTH)
        if isinstance(words, Failure):
            return words
        found = self.meaning.nearest(DEPTH)
        if isinstance(found, Failure):
            return found
        lexical, near = words.unwrap().hits, found.unwrap()
        share = self.meaning.support(lexical[0].chunk if lexical else None)
        if isinstance(share, Failure):
            return share
        if self.request.abstain:
            why = self.meaning.abstained(near, share.unwrap())
            if why is not None:
                return Success(_List((), 0, True, why))
        dense = self._in_order(dict(near.rows))
        if isinstance(dense, Failure):
            return dense
        with self.watch.of("fuse"):
            hits = self._fused(lexical, dense.unwrap(), share.unwrap())
        return Success(_List(hits, len(hits), True))

    def _fused(
        self, lexical: Sequence[Scored], dense: Sequence[tuple[StoredChunk, float]], share: float
    ) -> tuple[Scored, ...]:
        chunks = {each.chunk.row: each.chunk for each in lexical} | {chunk.row: chunk for chunk, _ in dense}
        words = [each.chunk.row for each in lexical]
        near = [chunk.row for chunk, _ in dense]
        scores = fused(((words, 1.0), (near, meaning_weight(share))))
        parts = self._parts(lexical, dense, scores) if self.request.explain else {}
        hits = [Scored(chunks[row], score, parts.get(row)) for row, score in scores.items()]
        return tuple(sorted(hits, key=_place))

    def _parts(
        self, lexical: Sequence[Scored], dense: Sequence[tuple[StoredChunk, float]], scores: dict[int, float]
    ) -> dict[int, ScoreParts]:
        parts = {row: ScoreParts(fused=score) for row, score in scores.items()}
        for rank, each in enumerate(lexical, 1):
            terms = () if each.parts is None else each.parts.terms
            parts[each.chunk.row] = evolve(parts[each.chunk.row], terms=terms, bm25=each.score, bm25_rank=rank)
        for rank, (chunk, cosine) in enumerate(dense, 1):
            parts[chunk.row] = evolve(parts[chunk.row], cosine=cosine, dense_rank=rank)
        return parts

    def _in_order(self, rows: dict[int, float]) -> Result[list[tuple[StoredChunk, float]], StorageFailure | GhostRows]:
        """The chunks of rows with their scores, by (−score, source, start)."""
        read = self.pair.view.chunks(ChunksByRow(tuple(rows)), self.pair.generation.mark.generation)
        if isinstance(read, Failure):
            return read
        chunks = read.unwrap()
        if len(chunks) < len(rows):
            return Failure(GhostRows(tuple(set(rows) - {each.row for each in chunks})))
        scored = [(each, rows[each.row]) for each in chunks]
        return Success(sorted(scored, key=lambda each: (-each[1], each[0].record.source, each[0].chunk.span.start)))

    def _reranked(self, found: _List) -> Result[_List, SearchRefused]:
        """The first hits in the order of what a model says that reads them; the others behind them, as they were."""
        if self.request.rerank is None or not found.hits:
            return Success(found)
        assert self.models is not None
        made = self.models.reranker(self.request.rerank)
        if isinstance(made, Failure):
            return made
        texts = [each.chunk.chunk.text for each in found.hits]
        keys = [(each.chunk.record.source, each.chunk.chunk.span.start) for each in found.hits]
        with self.watch.of("rerank"):
            order = reranked(self.meaning.text, texts, keys, made.unwrap())
        if isinstance(order, Failure):
            return order
        again = tuple(self._with_reranked(found.hits[place], score) for place, score in order.unwrap())
        return Success(evolve(found, hits=again))

    def _with_reranked(self, hit: Scored, score: float | None) -> Scored:
        """What nobody read has no such score: 0 stands for it."""
        if score is None:
            return evolve(hit, score=0.0)
        parts = evolve(hit.parts or ScoreParts(), reranked=score) if self.request.explain else hit.parts
        return evolve(hit, score=score, parts=parts)


def _place(hit: Scored) -> tuple[float, str, int]:
    return -hit.score, hit.chunk.record.source, hit.chunk.chunk.span.start


def limited(hits: Sequence[Scored], per_source: int) -> tuple[Scored, ...]:
    """The hits without those that come after so many of their source."""
    seen: Counter[str] = Counter()
    kept = []
    for each in hits:
        seen[each.chunk.record.source] += 1
        if seen[each.chunk.record.source] <= per_source:
            kept.append(each)
    return tuple(kept)


def merged(hits: Sequence[Scored]) -> tuple[Scored, ...]:
    """Hits of one document that touch or overlap as one, at the place and with the score of the best of them."""
    together = groups([(each.chunk.record.document_id, each.chunk.chunk.span) for each in hits])
    joined = []
    for group in together:
        best = hits[min(group)]
        chunks = sorted((hits[each].chunk for each in group), key=lambda chunk: chunk.chunk.ordinal)
        joined.append((min(group), evolve(best, merged=tuple(chunks) if len(chunks) > 1 else ())))
    return tuple(hit for _, hit in sorted(joined, key=lambda each: each[0]))


def _results(pair: Pair, hits: list[Scored]) -> Result[tuple[RetrievalResult, ...], StorageFailure]:
    cited = results(pair, hits)
    if isinstance(cited, Failure):
        return cited
    whole: list[RetrievalResult] = []
    for hit, result in zip(hits, cited.unwrap(), strict=True):
        if not hit.merged:
            whole.append(result)
            continue
        found = merged_citation(pair.view, pair.generation, hit.merged)
        if isinstance(found, Failure):
            return found
        citation, text = found.unwrap()
        assert citation.locator is not None
        whole.append(evolve(result, text=text, citation=citation, locator=citation.locator))
    return Success(tuple(whole))

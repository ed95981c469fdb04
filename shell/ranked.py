"""Searching: the engine proposes, the store's live chunks decide. The exact order of a query's best chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

from groundkit.core.folding import index_view
from groundkit.core.ports import LexicalIndex, LexicalSearcher, StoreView
from groundkit.core.query import LexicalQuery
from groundkit.core.ranking import (
    Answer,
    Best,
    Candidates,
    CountedRows,
    First,
    GhostRows,
    Need,
    NeedCandidates,
    NeedFirst,
    NeedOccurrences,
    NeedSizes,
    Occurrences,
    Sizes,
    Steps,
    TermFacts,
    Weights,
    exact_order,
    weights_of,
)
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import ChunksByRow, Generation, LexicalFailure, StorageFailure, StoredChunk

if TYPE_CHECKING:
    from groundkit.core.briefs import Within
    from groundkit.core.searching import ScoreParts

__all__ = ["Asked", "GhostRows", "RankFailure", "Ranked", "Ranking", "follow", "rank"]

#: A tie of a hundred thousand chunks must not be held in memory.
_KEPT_CHUNKS = 1024


@frozen(repr=False)
class Ranked:
    """A chunk and its score, rounded to 9 decimals; `parts`, if they were asked for, say where that comes from."""

    chunk: StoredChunk
    score: float
    parts: ScoreParts | None = None


@frozen(repr=False)
class Ranking:
    """Some of the best chunks, and how many match in all."""

    hits: tuple[Ranked, ...]
    matches: int


RankFailure: TypeAlias = StorageFailure | LexicalFailure | GhostRows


def rank(
    view: StoreView,
    index: LexicalIndex,
    searcher: LexicalSearcher,
    generation: Generation,
    query: LexicalQuery,
    limit: int,
    offset: int = 0,
    within: Within | None = None,
    explain: bool = False,
) -> Result[Ranking, RankFailure]:
    """The chunks at `offset` to `offset + limit` of the order (−score, source, start), of those within.

    `view` and `searcher` both speak of `generation` (`StoreState.generation(searcher.mark)`). `within` changes no score.
    """
    asked = Asked(view, index, searcher, generation.mark.generation, query, within)
    if limit < 1 or not query.terms:
        found = asked.answer(NeedCandidates(1))
        return found if isinstance(found, Failure) else Success(Ranking((), asked.matches))
    facts = _facts(searcher, query.terms)
    if isinstance(facts, Failure):
        return facts
    weights = weights_of(facts.unwrap(), generation.statistics)
    ranked = follow(exact_order(weights, offset + limit), asked)
    if isinstance(ranked, Failure):
        return ranked
    hits = ranked.unwrap()[offset:]
    return Success(Ranking(asked.explained(hits, weights, offset) if explain else hits, asked.matches))


def follow(steps: Steps, asked: Asked) -> Result[tuple[Ranked, ...], RankFailure]:
    """What the steps come to, each of their needs answered; in the order (−score, source, start)."""
    answer: Answer | None = None
    while True:
        try:
            need = steps.send(answer)  # type: ignore[arg-type]  # the first thing sent is None
        except StopIteration as finished:
            return asked.in_order(finished.value)
        given = asked.answer(need)
        if isinstance(given, Failure):
            return given
        answer = given.unwrap()


def _facts(searcher: LexicalSearcher, terms: Sequence[str]) -> Result[dict[str, TermFacts], LexicalFailure]:
    known = {}
    for term in terms:
        facts = searcher.facts(term)
        if isinstance(facts, Failure):
            return facts
        known[term] = facts.unwrap()
    return Success(known)


@frozen(eq=False, repr=False)
class Asked:
    """One search's view of the world, answering what the order needs to know."""

    view: StoreView
    index: LexicalIndex
    searcher: LexicalSearcher
    at: int
    query: LexicalQuery
    within: Within | None = None
    kept: dict[int, StoredChunk] = field(factory=dict, init=False)
    counted: list[int] = field(factory=list, init=False)
    wanted: frozenset[str] = field(init=False)

    @wanted.default
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.query.terms)

    @property
    def matches(self) -> int:
        """How many chunks match, once the engine was asked for candidates."""
        return self.counted[-1]

    def answer(self, need: Need) -> Result[Answer, RankFailure]:
        match need:
            case NeedCandidates(limit):
                return self._candidates(limit)
            case NeedOccurrences(rows):
                return self._occurrences(rows)
            case NeedSizes(rows):
                return self._sizes(rows)
            case NeedFirst(rows, limit):
                return self._first(rows, limit)

    def in_order(self, best: Best) -> Result[tuple[Ranked, ...], RankFailure]:
        chunks = self._chunks(tuple(row for row, _ in best))
        if isinstance(chunks, Failure):
            return chunks
        ranked = [Ranked(chunks.unwrap()[row], score) for row, score in best]
        ranked.sort(key=lambda each: (-each.score, each.chunk.record.source, each.chunk.chunk.span.start))
        return Success(tuple(ranked))

    def explained(self, hits: Sequence[Ranked], weights: Weights, offset: int) -> tuple[Ranked, ...]:
        """The hits, the first of which has the rank after `offset`, with the parts of their scores."""
        from groundkit.core.searching import ScoreParts, TermPart

        return tuple(
            Ranked(
                hit.chunk,
                hit.score,
                ScoreParts(
                    tuple(TermPart(*part) for part in weights.parts(self._occurrences_in(hit.chunk))),
                    bm25=hit.score,
                    bm25_rank=rank,
                ),
            )
            for rank, hit in enumerate(hits, offset + 1)
        )

    def _candidates(self, limit: int) -> Result[Candidates, RankFailure]:
        found = self.searcher.candidates(self.query, limit, self.within)
        if isinstance(found, Failure):
            return found
        self.counted.append(found.unwrap().matches)
        times = Counter(row for row, _ in found.unwrap().rows)
        if len(times) < len(found.unwrap().rows):
            return Failure(GhostRows(tuple(row for row, count in times.items() if count > 1)))
        return found

    def _occurrences(self, rows: tuple[int, ...]) -> Result[CountedRows, RankFailure]:
        chunks = self._chunks(rows)
        if isinstance(chunks, Failure):
            return chunks
        return Success(CountedRows({row: self._occurrences_in(chunk) for row, chunk in chunks.unwrap().items()}))

    def _occurrences_in(self, chunk: StoredChunk) -> Occurrences:
        view, _ = index_view(chunk.chunk.text, chunk.chunk.locator.heading_path, chunk.record.title)
        terms = self.index.terms(view)
        return Occurrences(chunk.tokens, Counter(filter(self.wanted.__contains__, terms)))

    def _sizes(self, rows: tuple[int, ...]) -> Result[Sizes, RankFailure]:
        sizes = self.view.sizes(rows, self.at)
        if isinstance(sizes, Failure):
            return sizes
        return _ghosts(rows, sizes.unwrap()) or Success(Sizes(sizes.unwrap()))

    def _first(self, rows: tuple[int, ...], limit: int) -> Result[First, RankFailure]:
        first = self.view.first(rows, self.at, limit)
        if isinstance(first, Failure):
            return first
        if len(first.unwrap()) < limit:
            return Failure(GhostRows(tuple(set(rows) - set(first.unwrap()))))
        return Success(First(first.unwrap()))

    def _chunks(self, rows: tuple[int, ...]) -> Result[dict[int, StoredChunk], RankFailure]:
        """The live chunk of each row, from what was read before or from the store in one reading."""
        chunks = {row: self.kept[row] for row in rows if row in self.kept}
        missing = tuple(row for row in rows if row not in chunks)
        if missing:
            read = self.view.chunks(ChunksByRow(missing), self.at)
            if isinstance(read, Failure):
                return read
            chunks.update((chunk.row, chunk) for chunk in read.unwrap())
            if len(self.kept) < _KEPT_CHUNKS:
                self.kept.update((chunk.row, chunk) for chunk in read.unwrap())
        return _ghosts(rows, chunks) or Success(chunks)


def _ghosts(rows: Sequence[int], alive: Mapping[int, object]) -> Failure[GhostRows] | None:
    dead = tuple(row for row in rows if row not in alive)
    return Failure(GhostRows(dead)) if dead else None

"""Searching: the engine proposes, the store's live chunks decide. The exact order of a query's best chunks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import field, frozen

from groundkit.core.folding import search_view
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
    exact_order,
    weights_of,
)
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import ChunksByRow, Generation, LexicalFailure, StorageFailure, StoredChunk

__all__ = ["Asked", "GhostRows", "RankFailure", "Ranked", "follow", "rank"]

#: A tie of a hundred thousand chunks must not be held in memory.
_KEPT_CHUNKS = 1024


@frozen
class Ranked:
    """A chunk and its score, rounded to 9 decimals."""

    chunk: StoredChunk
    score: float


RankFailure: TypeAlias = StorageFailure | LexicalFailure | GhostRows


def rank(
    view: StoreView,
    index: LexicalIndex,
    searcher: LexicalSearcher,
    generation: Generation,
    query: LexicalQuery,
    limit: int,
    offset: int = 0,
) -> Result[tuple[Ranked, ...], RankFailure]:
    """The chunks at `offset` to `offset + limit` of the order (−score, source, start).

    `view` and `searcher` both speak of `generation` (`StoreState.generation(searcher.mark)`).
    """
    if limit < 1 or not query.terms:
        return Success(())
    facts = _facts(searcher, query.terms)
    if isinstance(facts, Failure):
        return facts
    steps = exact_order(weights_of(facts.unwrap(), generation.statistics), offset + limit)
    ranked = follow(steps, Asked(view, index, searcher, generation.mark.generation, query))
    return ranked if isinstance(ranked, Failure) else Success(ranked.unwrap()[offset:])


def follow(steps: Steps, asked: "Asked") -> Result[tuple[Ranked, ...], RankFailure]:
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
    kept: dict[int, StoredChunk] = field(factory=dict, init=False)
    wanted: frozenset[str] = field(init=False)

    @wanted.default
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.query.terms)

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

    def _candidates(self, limit: int) -> Result[Candidates, RankFailure]:
        found = self.searcher.candidates(self.query, limit)
        if isinstance(found, Failure):
            return found
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
        terms = self.index.terms(search_view(chunk.chunk.text)[0])
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

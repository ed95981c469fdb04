"""Search: one consistent pair of view and postings, conditions before ranking, the exact order, hits that are citations.

What only some searches need (conditions on documents, vectors, merging, reranking) is loaded by those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve, field, frozen

from groundkit.citations import cite_all
from groundkit.core.folding import search_view
from groundkit.core.model import RetrievalResult
from groundkit.core.modes import Mode
from groundkit.core.query import LexicalQuery, Query, QueryRefused, compile_query, parse
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import LANGUAGES
from groundkit.ranked import Ranked, RankFailure, Ranking, rank
from groundkit.reading import AnalyzerChanged, Pair, Reader, ReadRefused

if TYPE_CHECKING:
    from groundkit.core.abstention import Abstained
    from groundkit.core.embedding import EmbedFailed, IdentityDiffers
    from groundkit.core.ports import LexicalIndex
    from groundkit.core.reranking import RerankFailed
    from groundkit.core.searching import NoVectors, ScoreParts
    from groundkit.core.storage import StorageFailure, StoredChunk, Within
    from groundkit.embedding import VectorRefusedAt
    from groundkit.lists import Models

#: Changes of the stemming language that one search follows.
LANGUAGE_CHANGES = 3

SearchRefused: TypeAlias = (
    "QueryRefused | ReadRefused | RankFailure | NoVectors | IdentityDiffers | EmbedFailed | VectorRefusedAt | RerankFailed"
)


@frozen
class SearchRequest:
    """What was typed, how many hits to pass over, how many to give.

    At most `per_source` of one source, if it is given. With `merge`, hits beside each other in a document are one. Without
    `abstain`, a search by meaning always gives the nearest passages it has. With `explain`, every hit says where its score
    comes from.
    """

    query: str
    limit: int = 10
    offset: int = 0
    mode: Mode = Mode.BM25
    per_source: int | None = None
    merge: bool = False
    abstain: bool = True
    rerank: str | None = None
    explain: bool = False

    @property
    def plain(self) -> bool:
        """Whether the hits are simply the best by their words."""
        return self.mode is Mode.BM25 and self.per_source is None and not self.merge and self.rerank is None


@frozen
class Understood:
    """A query as it was understood: what was parsed, and what the index is asked."""

    parsed: Query
    lexical: LexicalQuery


@frozen
class SearchAnswer:
    """The hits of one page, and how many there are in all (`matches`, exact).

    By meaning, every chunk with a vector is a match; hits of both lists and merged ones are counted as far as the lists go.
    `abstained` says why a search by meaning has none. `seconds` are those that each stage took.
    """

    hits: tuple[RetrievalResult, ...]
    matches: int
    understood: Understood
    mode: Mode = Mode.BM25
    abstained: Abstained | None = None
    seconds: tuple[tuple[str, float], ...] = field(default=(), eq=False)


@frozen
class Scored:
    """A hit that is no result yet. `span`, if it is not that of the chunk, is what was merged."""

    chunk: StoredChunk
    score: float
    parts: ScoreParts | None = None
    merged: tuple[StoredChunk, ...] = ()


def understood(text: str, index: LexicalIndex) -> Result[Understood, QueryRefused]:
    """A query in the index's terms."""
    parsed = parse(text)
    if isinstance(parsed, Failure):
        return parsed
    compiled = compile_query(parsed.unwrap(), lambda part: index.terms(search_view(part)[0]))
    return compiled if isinstance(compiled, Failure) else Success(Understood(parsed.unwrap(), compiled.unwrap()))


def search(
    reader: Reader, index: LexicalIndex, request: SearchRequest, models: Models | None = None
) -> Result[SearchAnswer, SearchRefused]:
    """The hits of a query in their order, nobody having looked at their sources yet."""
    asked = understood(request.query, index)
    if isinstance(asked, Failure):
        return asked
    paired = reader.pair()
    if isinstance(paired, Failure):
        return paired
    pair = paired.unwrap()
    try:
        return _answered(pair, index, request, asked.unwrap(), models)
    finally:
        pair.view.close()


def search_under(
    language: str,
    lexical: Callable[[str], LexicalIndex],
    reader: Callable[[str], Reader],
    request: SearchRequest,
    models: Models | None = None,
) -> Result[SearchAnswer, SearchRefused]:
    """Search under the language that the index is of. While that is being changed, the settings may name another one."""
    answered = search(reader(language), lexical(language), request, models)
    for _ in range(LANGUAGE_CHANGES):
        failure = answered.failure() if isinstance(answered, Failure) else None
        if not isinstance(failure, AnalyzerChanged):
            break
        language = next((each for each in LANGUAGES if lexical(each).analyzer == failure.recorded), language)
        answered = search(reader(language), lexical(language), request, models)
    return answered


def _answered(
    pair: Pair, index: LexicalIndex, request: SearchRequest, asked: Understood, models: Models | None
) -> Result[SearchAnswer, SearchRefused]:
    within = _within(pair, index, asked)
    if isinstance(within, Failure):
        return within
    if not request.plain:
        from groundkit.lists import listed

        return listed(pair, index, request, asked, within.unwrap(), models)
    if pair.searcher is None or not asked.lexical.terms:
        return Success(SearchAnswer((), 0, asked))
    ranked = by_words(pair, index, asked, within.unwrap(), request.limit, request.offset, request.explain)
    if isinstance(ranked, Failure):
        return ranked
    hits = results(pair, [Scored(each.chunk, each.score, each.parts) for each in ranked.unwrap().hits])
    if isinstance(hits, Failure):
        return hits
    return Success(SearchAnswer(hits.unwrap(), ranked.unwrap().matches, asked))


def _within(pair: Pair, index: LexicalIndex, asked: Understood) -> Result[Within | None, SearchRefused]:
    """Where the query's conditions let hits come from; None: from everywhere."""
    if not asked.parsed.fields:
        return Success(None)
    from groundkit.narrowing import narrowed

    return narrowed(pair.view, pair.generation, asked.parsed.fields, lambda text: index.terms(search_view(text)[0]))


def by_words(
    pair: Pair, index: LexicalIndex, asked: Understood, within: Within | None, limit: int, offset: int, explain: bool
) -> Result[Ranking, RankFailure]:
    """Hits of the BM25 order; none where the generation has no chunk or the query no word."""
    if pair.searcher is None or not asked.lexical.terms:
        return Success(Ranking((), 0))
    return rank(pair.view, index, pair.searcher, pair.generation, asked.lexical, limit, offset, within, explain)


def results(pair: Pair, scored: list[Scored]) -> Result[tuple[RetrievalResult, ...], StorageFailure]:
    """Hits as what a search gives back: each with its citation."""
    cited = cite_all(pair.view, pair.generation, [each.chunk for each in scored])
    if isinstance(cited, Failure):
        return cited
    return Success(
        tuple(
            RetrievalResult(each.score, each.chunk.chunk.text, citation, each.chunk.chunk.locator, parts=each.parts)
            for each, citation in zip(scored, cited.unwrap(), strict=True)
        )
    )


__all__ = ["Ranked", "SearchAnswer", "SearchRefused", "SearchRequest", "Understood", "search", "search_under"]

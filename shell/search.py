"""Search: one consistent pair of view and postings, conditions before ranking, the exact order, hits that are citations.

What only some searches need (conditions on documents, vectors, merging, reranking) is loaded by those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import evolve

from groundkit.core.folding import search_view
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import LANGUAGES
from groundkit.reading import AnalyzerChanged, Pair, Reader
from groundkit.searched import (
    Scored,
    SearchAnswer,
    SearchRefused,
    SearchRequest,
    Understood,
    by_words,
    results,
    understood,
)

if TYPE_CHECKING:
    from groundkit.core.briefs import Within
    from groundkit.core.ports import LexicalIndex
    from groundkit.meaning import Models

#: Changes of the stemming language that one search follows.
LANGUAGE_CHANGES = 3


def search(
    reader: Reader, index: LexicalIndex, request: SearchRequest, models: Models | None = None
) -> Result[SearchAnswer, SearchRefused]:
    """The hits of a query in their order, nobody having looked at their sources yet."""
    asked = understood(request.query, index)
    if isinstance(asked, Failure):
        refused = asked.failure()
        return Success(SearchAnswer((), 0, None, request.mode, refused=refused)) if refused.asks_for_nothing else asked
    paired = reader.pair()
    if isinstance(paired, Failure):
        return paired
    pair = paired.unwrap()
    try:
        answered = _answered(pair, index, request, asked.unwrap(), models)
    finally:
        pair.view.close()
    if isinstance(answered, Failure):
        return answered
    return Success(evolve(answered.unwrap(), revision=pair.generation.mark.revision))


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


__all__ = ["SearchAnswer", "SearchRefused", "SearchRequest", "search", "search_under"]

"""Search: one consistent pair of view and postings, the exact order, hits that are citations."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from groundkit.citations import cite_all
from groundkit.core.folding import search_view
from groundkit.core.model import RetrievalResult
from groundkit.core.ports import LexicalIndex
from groundkit.core.query import QueryRefused, compile_query, parse
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import LANGUAGES
from groundkit.core.storage import StorageFailure
from groundkit.ranked import Ranked, RankFailure, rank
from groundkit.reading import AnalyzerChanged, Pair, Reader, ReadRefused

#: Changes of the stemming language that one search follows.
LANGUAGE_CHANGES = 3

SearchRefused: TypeAlias = QueryRefused | ReadRefused | RankFailure


@frozen
class SearchRequest:
    """What was typed, how many hits to pass over, how many to give."""

    query: str
    limit: int = 10
    offset: int = 0


def search(
    reader: Reader, index: LexicalIndex, request: SearchRequest
) -> Result[tuple[RetrievalResult, ...], SearchRefused]:
    """The hits of a query in their order, nobody having looked at their sources yet."""
    parsed = parse(request.query)
    if isinstance(parsed, Failure):
        return parsed
    compiled = compile_query(parsed.unwrap(), lambda text: index.terms(search_view(text)[0]))
    if isinstance(compiled, Failure):
        return compiled
    paired = reader.pair()
    if isinstance(paired, Failure):
        return paired
    pair = paired.unwrap()
    try:
        if pair.searcher is None or not compiled.unwrap().terms:
            return Success(())
        ranked = rank(
            pair.view, index, pair.searcher, pair.generation, compiled.unwrap(), request.limit, request.offset
        )
        if isinstance(ranked, Failure):
            return ranked
        return _hits(pair, ranked.unwrap())
    finally:
        pair.view.close()


def search_under(
    language: str, lexical: Callable[[str], LexicalIndex], reader: Callable[[str], Reader], request: SearchRequest
) -> Result[tuple[RetrievalResult, ...], SearchRefused]:
    """Search under the language that the index is of. While that is being changed, the settings may name another one."""
    answered = search(reader(language), lexical(language), request)
    for _ in range(LANGUAGE_CHANGES):
        failure = answered.failure() if isinstance(answered, Failure) else None
        if not isinstance(failure, AnalyzerChanged):
            break
        language = next((each for each in LANGUAGES if lexical(each).analyzer == failure.recorded), language)
        answered = search(reader(language), lexical(language), request)
    return answered


def _hits(pair: Pair, ranked: tuple[Ranked, ...]) -> Result[tuple[RetrievalResult, ...], StorageFailure]:
    cited = cite_all(pair.view, pair.generation, [each.chunk for each in ranked])
    if isinstance(cited, Failure):
        return cited
    return Success(
        tuple(
            RetrievalResult(each.score, each.chunk.chunk.text, citation, each.chunk.chunk.locator)
            for each, citation in zip(ranked, cited.unwrap(), strict=True)
        )
    )

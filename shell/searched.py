"""What a search is asked and what it answers, and the steps that every search takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

from groundkit.citations import cite_all
from groundkit.core.folding import search_view
from groundkit.core.model import RetrievalResult
from groundkit.core.modes import Mode
from groundkit.core.query import LexicalQuery, Query, QueryRefused, compile_query, parse
from groundkit.core.result import Failure, Result, Success
from groundkit.ranked import RankFailure, Ranking, rank
from groundkit.reading import Pair

if TYPE_CHECKING:
    from groundkit.core.abstention import Abstained
    from groundkit.core.briefs import Within
    from groundkit.core.embedding import EmbedFailed, IdentityDiffers
    from groundkit.core.ports import LexicalIndex
    from groundkit.core.reranking import RerankFailed
    from groundkit.core.searching import NoVectors, ScoreParts
    from groundkit.core.storage import StorageFailure, StoredChunk
    from groundkit.embedding import VectorRefusedAt
    from groundkit.reading import ReadRefused

SearchRefused: TypeAlias = "QueryRefused | ReadRefused | RankFailure | NoVectors | IdentityDiffers | EmbedFailed | VectorRefusedAt | RerankFailed"


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


@frozen(repr=False)
class Understood:
    """A query as it was understood: what was parsed, and what the index is asked."""

    parsed: Query
    lexical: LexicalQuery


@frozen
class SearchAnswer:
    """The hits of one page, and how many there are in all (`matches`, exact).

    By meaning, every chunk with a vector is a match; hits of both lists and merged ones are counted as far as the lists go.
    `abstained` says why a search by meaning has none, `refused` why a query has none that only says what is not wanted, or
    where to look; then nothing is `understood`. `seconds` are those that each stage took, `revision` is
    the state of the collection that was looked at, see `Collection.revision`; "" where none was.
    """

    hits: tuple[RetrievalResult, ...]
    matches: int
    understood: Understood | None
    mode: Mode = Mode.BM25
    abstained: Abstained | None = None
    refused: QueryRefused | None = None
    seconds: tuple[tuple[str, float], ...] = field(default=(), eq=False)
    revision: str = field(default="", eq=False)


@frozen(repr=False, eq=False)
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
            RetrievalResult(
                each.score,
                each.chunk.chunk.text,
                citation,
                each.chunk.chunk.locator,
                parts=each.parts,
                title=each.chunk.record.title,
            )
            for each, citation in zip(scored, cited.unwrap(), strict=True)
        )
    )

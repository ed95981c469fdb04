"""Searching by meaning: the vector of a query, the nearest chunks, and whether there is an answer among them at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeAlias

from attrs import Factory, frozen

from groundkit.core.abstention import Abstained, abstained, support
from groundkit.core.briefs import Within
from groundkit.core.embedding import EmbeddingIdentity, EmbedFailed, IdentityDiffers, Purpose
from groundkit.core.folding import index_view
from groundkit.core.reranking import RerankFailed
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import Embedder, Reranker, VectorIndex, VectorKey, VectorRow, VectorSearcher
from groundkit.core.searching import NoVectors
from groundkit.core.storage import Mark, StorageFailure, StoredChunk
from groundkit.embedding import VectorRefusedAt, vectors_of
from groundkit.reading import Pair

if TYPE_CHECKING:
    from groundkit.core.ports import LexicalIndex
    from groundkit.ranked import RankFailure
    from groundkit.searched import Understood

#: Vectors that are read from the store at a time.
_PAGE = 4096

Stage: TypeAlias = Callable[[str], AbstractContextManager[None]]
MeaningRefused: TypeAlias = "StorageFailure | RankFailure | NoVectors | IdentityDiffers | EmbedFailed | VectorRefusedAt"


@frozen(eq=False)
class Models:
    """How a search reaches embedders (by the name of a manifest), matrices and rerankers. `whole` are marks of generations
    in which no chunk lacks a vector."""

    embedder: Callable[[str], Result[tuple[Embedder, EmbeddingIdentity], EmbedFailed]]
    vectors: VectorIndex
    reranker: Callable[[str], Result[Reranker, RerankFailed]]
    whole: set[Mark] = Factory(set)


@frozen
class Near:
    """Rows with their cosines, descending, all that tie with the last included up to `limit`, and how many there are."""

    rows: tuple[tuple[int, float], ...] = ()
    matches: int = 0
    level: float = 1.0
    understood: bool = False


@frozen
class ByMeaning:
    """One search's way to the vectors of its generation."""

    pair: Pair
    index: LexicalIndex
    asked: Understood
    within: Within | None
    models: Models | None
    stage: Stage

    def nearest(self, limit: int) -> Result[Near, MeaningRefused]:
        """The nearest chunks that meet the query's conditions."""
        refused = self._refused()
        if refused is not None:
            return refused
        manifest = self.pair.view.state.manifest
        assert manifest is not None and self.models is not None
        made = self.models.embedder(manifest.name)
        if isinstance(made, Failure):
            return made
        embedder, identity = made.unwrap()
        if identity != manifest:
            return Failure(IdentityDiffers(manifest, identity))
        text = self.text
        if self.pair.searcher is None or not text.strip():
            return Success(Near())
        with self.stage("embed"):
            vectors = vectors_of(embedder, identity, (text,), Purpose.QUERY)
        if isinstance(vectors, Failure):
            return vectors
        (vector,) = vectors.unwrap()
        return self._near(vector, limit, manifest)

    @property
    def text(self) -> str:
        """What the query wants, without its conditions."""
        return self.asked.parsed.wanted

    def support(self, best: StoredChunk | None) -> Result[float, RankFailure]:
        """How much of the query the best passage by words says."""
        query, searcher = self.asked.lexical, self.pair.searcher
        if best is None or searcher is None:
            return Success(0.0)
        live = {}
        for term in query.terms:
            facts = searcher.facts(term)
            if isinstance(facts, Failure):
                return facts
            live[term] = facts.unwrap().live
        view, _ = index_view(best.chunk.text, best.chunk.locator.heading_path, best.record.title)
        return Success(support(live, self.pair.generation.statistics.chunks, frozenset(self.index.terms(view))))

    def abstained(self, near: Near, share: float) -> Abstained | None:
        """Why there is no answer; None: there is one."""
        if near.matches == 0:
            return None  # nothing may be looked at: that is no hits, and no judgement
        return abstained(share, near.level, near.rows[0][1] if near.rows else None)

    def _near(self, vector: bytes, limit: int, manifest: EmbeddingIdentity) -> Result[Near, MeaningRefused]:
        allowed = self._allowed()
        if isinstance(allowed, Failure):
            return allowed
        rows = allowed.unwrap()
        searcher = self._searcher(manifest)
        if isinstance(searcher, Failure):
            return searcher
        matrix = searcher.unwrap()
        matches = matrix.count(rows)
        if not vector:
            return Success(Near(matches=matches))
        with self.stage("dense"):
            found = matrix.nearest(vector, limit, rows)
        cut = self._cut(found, limit)
        return cut if isinstance(cut, Failure) else Success(Near(cut.unwrap(), matches, matrix.level, True))

    def _cut(
        self, found: Sequence[tuple[int, float]], limit: int
    ) -> Result[tuple[tuple[int, float], ...], StorageFailure]:
        """Exactly so many: of those that tie with the last, the first by source and start."""
        if len(found) <= limit or limit <= 0:
            return Success(tuple(found[: max(limit, 0)]))
        last = found[limit - 1][1]
        sure = [each for each in found if each[1] > last]
        tied = [row for row, cosine in found if cosine == last]
        first = self.pair.view.first(tied, self.pair.generation.mark.generation, limit - len(sure))
        if isinstance(first, Failure):
            return first
        return Success((*sure, *((row, last) for row in first.unwrap())))

    def _refused(self) -> Failure[MeaningRefused] | None:
        """Why this collection cannot be searched by meaning: it has no vectors, or not all of them."""
        state, generation = self.pair.view.state, self.pair.generation
        if state.manifest is None:
            return Failure(NoVectors())
        if self.models is None or generation.mark in self.models.whole:
            return None
        counted = self.pair.view.vector_counts(generation.mark.generation)
        if isinstance(counted, Failure):
            return counted
        if counted.unwrap().lacking:
            return Failure(NoVectors(counted.unwrap().lacking))
        self.models.whole.clear()
        self.models.whole.add(generation.mark)
        return None

    def _allowed(self) -> Result[frozenset[int] | None, RankFailure]:
        """The rows that meet the conditions; None: there are no conditions."""
        query = self.asked.lexical
        if self.within is None and not query.conditional:
            return Success(None)
        assert self.pair.searcher is not None
        return self.pair.searcher.meeting(query, self.within)

    def _searcher(self, manifest: EmbeddingIdentity) -> Result[VectorSearcher, StorageFailure]:
        assert self.models is not None
        with self.stage("matrix"):
            return self.models.vectors.searcher(VectorKey(self.pair.generation.mark, manifest), self._load)

    def _load(self) -> Result[list[VectorRow], StorageFailure]:
        """Every vector of the generation, read page by page."""
        rows: list[VectorRow] = []
        while True:
            after = rows[-1].row if rows else 0
            page = self.pair.view.vectors(self.pair.generation.mark.generation, after, _PAGE)
            if isinstance(page, Failure):
                return page
            rows += page.unwrap()
            if len(page.unwrap()) < _PAGE:
                return Success(rows)

"""A reranking server, in the shape that Cohere, Jina, vLLM and llama.cpp share (with a model's name), or that of TEI (without)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundkit.core.posting import PostFailed, PostProblem
from groundkit.core.reranking import RerankFailed, RerankProblem
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundkit.core.posting import Poster

#: Texts in one request: as many as TEI takes unless it was told otherwise.
_BATCH = 32

_PROBLEMS = {
    PostProblem.MISSING: RerankProblem.MISSING,
    PostProblem.CONFIGURATION: RerankProblem.CONFIGURATION,
    PostProblem.UNREACHABLE: RerankProblem.UNREACHABLE,
    PostProblem.REFUSED: RerankProblem.REFUSED,
    PostProblem.ANSWER: RerankProblem.ANSWER,
}


class HttpReranker:
    """`poster` asks the endpoint; "" as a model is the one that the server has."""

    def __init__(self, poster: Poster, model: str = "") -> None:
        self._poster, self._model = poster, model

    @property
    def identity(self) -> str:
        return f"http:{self._model}" if self._model else "http"

    def scores(self, query: str, texts: Sequence[str]) -> Result[tuple[float, ...], RerankFailed]:
        """All or none, in batches."""
        found: list[float] = []
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            said = self._poster.post(self._body(query, batch))
            if isinstance(said, Failure):
                return Failure(_translated(said.failure()))
            scores = scores_of(said.unwrap(), len(batch))
            if isinstance(scores, Failure):
                return scores
            found += scores.unwrap()
        return Success(tuple(found))

    def close(self) -> None:
        self._poster.close()

    def _body(self, query: str, texts: list[str]) -> dict[str, object]:
        if self._model:
            return {"model": self._model, "query": query, "documents": texts}
        return {"query": query, "texts": texts, "raw_scores": True, "truncate": True}


def scores_of(answer: object, count: int) -> Result[tuple[float, ...], RerankFailed]:
    """The scores in the order of the texts. Refused unless every text has exactly one, and it is a number."""
    results = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(results, list):
        return _refused("the answer has no list of results")
    found: dict[int, float] = {}
    for each in results:
        entry = _entry(each)
        if entry is None:
            return _refused("a result has no index or no number as its score")
        if entry[0] in found or not 0 <= entry[0] < count:
            return _refused("an index stands twice, or for no text")
        found[entry[0]] = entry[1]
    if len(found) < count:
        return _refused(f"{len(found)} scores for {count} texts")
    return Success(tuple(found[place] for place in range(count)))


def _entry(given: object) -> tuple[int, float] | None:
    if not isinstance(given, dict):
        return None
    index, score = given.get("index"), given.get("relevance_score", given.get("score"))
    if type(index) is not int or isinstance(score, bool) or not isinstance(score, int | float):
        return None
    try:
        return index, float(score)
    except OverflowError:
        return None


def _translated(failed: PostFailed) -> RerankFailed:
    return RerankFailed(_PROBLEMS[failed.problem], failed.detail)


def _refused(detail: str) -> Failure[RerankFailed]:
    return Failure(RerankFailed(RerankProblem.ANSWER, detail))

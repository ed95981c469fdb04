"""A reranker that needs no model: how many of the question's words a passage has, less a little for its length."""

from collections.abc import Sequence

from groundkit.core.reranking import RerankFailed
from groundkit.core.result import Result, Success


class WordReranker:
    """The twin of the real ones. The same texts always get the same scores, whatever stands beside them."""

    @property
    def identity(self) -> str:
        return "words"

    def scores(self, query: str, texts: Sequence[str]) -> Result[tuple[float, ...], RerankFailed]:
        asked = set(query.casefold().split())
        return Success(tuple(self._score(asked, text.casefold().split()) for text in texts))

    def _score(self, asked: set[str], words: Sequence[str]) -> float:
        return len(asked & set(words)) - len(words) / (len(words) + 1000)

    def close(self) -> None:
        """There is nothing to end."""

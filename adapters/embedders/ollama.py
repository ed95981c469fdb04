"""Ollama's own protocol: `POST /api/embed`, and `POST /api/show` for the digest of the weights."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groundkit.adapters.embedders.endpoint import listed, refused, translated
from groundkit.core.embedding import EmbedFailed, EmbedProblem
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundkit.core.posting import Poster, PostFailed

#: Weights lie in files that are named after their digest.
_WEIGHTS = re.compile(r"^FROM .*sha256[-:]([0-9a-f]{64})\s*$", re.MULTILINE)


_NOT_FOUND = 404


class Ollama:
    """`show` asks `/api/show`."""

    provider = "ollama"

    def __init__(self, show: Poster) -> None:
        self._show = show

    def body(self, model: str, texts: Sequence[str]) -> dict[str, object]:
        return {"model": model, "input": list(texts)}

    def vectors(self, answer: object, count: int) -> Result[list[object], EmbedFailed]:
        return listed(answer.get("embeddings") if isinstance(answer, dict) else None, count)

    def digest(self, model: str) -> Result[str, EmbedFailed]:
        """A failure is one: whoever took it for an unknown digest would take the same model for another one."""
        said = self._show.post({"model": model})
        if isinstance(said, Failure):
            return Failure(_told(said.failure(), model))
        answer = said.unwrap()
        if not isinstance(answer, dict):
            return refused("what the server says of the model is no object")
        found = _WEIGHTS.search(str(answer.get("modelfile", "")))
        return Success(found[1] if found else "")

    def close(self) -> None:
        self._show.close()


def _told(failed: PostFailed, model: str) -> EmbedFailed:
    """A server that has not got the model says so with the status of a page that is not there."""
    if failed.status != _NOT_FOUND:
        return translated(failed)
    return EmbedFailed(EmbedProblem.REFUSED, f"{failed.detail}; `ollama pull {model}` fetches a model")

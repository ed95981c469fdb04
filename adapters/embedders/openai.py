"""The protocol of OpenAI, which many servers speak: `POST {base}/embeddings`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundkit.adapters.embedders.endpoint import listed, refused
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundkit.core.embedding import EmbedFailed


class OpenAI:
    """Says nothing of a model's weights."""

    provider = "openai"

    def body(self, model: str, texts: Sequence[str]) -> dict[str, object]:
        return {"model": model, "input": list(texts), "encoding_format": "float"}

    def vectors(self, answer: object, count: int) -> Result[list[object], EmbedFailed]:
        """In the order of `index`, which is not always that of the list."""
        given = listed(answer.get("data") if isinstance(answer, dict) else None, count)
        if isinstance(given, Failure):
            return given
        found: dict[int, object] = {}
        for each in given.unwrap():
            index = each.get("index") if isinstance(each, dict) else None
            if not isinstance(each, dict) or type(index) is not int or not 0 <= index < count or index in found:
                return refused("an index in the answer is missing, stands twice, or is for no text")
            found[index] = each.get("embedding")
        return Success([found[place] for place in range(count)])

    def digest(self, model: str) -> Result[str, EmbedFailed]:
        return Success("")

    def close(self) -> None:
        """There is nothing of its own to end."""

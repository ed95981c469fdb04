"""Embedders by name: `wordllama`, `ollama:MODEL`, `openai:MODEL`, or one of whoever opened the collection.

`hash` needs nothing and knows no meaning: it is for tests and for trying things out.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from attrs import field, frozen

from groundkit.core.embedding import EmbedFailed, EmbedProblem
from groundkit.core.posting import below, endpoint_of
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from groundkit.core.posting import Poster
    from groundkit.core.retrieval_ports import Embedder
    from groundkit.requests import ModelEndpoint

#: The model of wordllama: manifests name it.
_CARRIED: Final = "l2_supercat_256"
_OLLAMA, _OPENAI = "http://127.0.0.1:11434", "https://api.openai.com/v1"
_NAMES = "wordllama, ollama:MODEL and openai:MODEL"
#: Answers hold numbers as text: 32 vectors of 16,384 components.
_MOST: Final = 16 * 1024 * 1024


@frozen
class EndpointSettings:
    """Where embedders of servers answer. `url` is for either kind, the other two for OpenAI's alone; "" for none."""

    url: str = ""
    allow_local: bool = False
    key: str = field(default="", repr=False)
    openai_url: str = ""
    openai_key: str = field(default="", repr=False)


def embedder_endpoint(given: ModelEndpoint | None, environment: Mapping[str, str] = os.environ) -> EndpointSettings:
    """As given, else `GK_EMBEDDER_URL` and `GK_EMBEDDER_LOCAL`; for OpenAI's protocol `OPENAI_BASE_URL` behind these.

    The key is `GK_EMBEDDER_KEY`, from nowhere else. `OPENAI_API_KEY` goes only where `OPENAI_BASE_URL` or nothing says.
    """
    url = (given.url if given is not None else None) or environment.get("GK_EMBEDDER_URL", "")
    local = given.allow_local if given is not None else None
    allowed = environment.get("GK_EMBEDDER_LOCAL", "").strip().lower() in ("1", "true", "yes")
    return EndpointSettings(
        url,
        allowed if local is None else local,
        environment.get("GK_EMBEDDER_KEY", ""),
        environment.get("OPENAI_BASE_URL", ""),
        environment.get("OPENAI_API_KEY", ""),
    )


def embedder(
    name: str, settings: EndpointSettings, theirs: Mapping[str, Callable[[], Embedder]]
) -> Result[Embedder, EmbedFailed]:
    """The embedder of this name. Nothing is loaded or asked yet."""
    if name in theirs:
        return Success(theirs[name]())
    provider, _, model = name.partition(":")
    if provider in _SERVERS and not model.strip():
        return _no(EmbedProblem.UNKNOWN, f"{name!r} names no model: {provider}:MODEL")
    if name in ("wordllama", f"wordllama:{_CARRIED}"):
        from groundkit.adapters.embedders.wordllama import WordllamaEmbedder

        return Success(WordllamaEmbedder())
    if name == "hash":
        from groundkit.adapters.embedders.hashing import HashEmbedder

        return Success(HashEmbedder())
    if provider in _SERVERS:
        return _SERVERS[provider](model, settings)
    known = ", ".join((*theirs, _NAMES))
    return _no(EmbedProblem.UNKNOWN, f"there is no embedder {name!r}; there are {known}")


def _ollama(model: str, settings: EndpointSettings) -> Result[Embedder, EmbedFailed]:
    from groundkit.adapters.embedders.endpoint import EndpointEmbedder
    from groundkit.adapters.embedders.ollama import Ollama

    base = (settings.url or _OLLAMA).rstrip("/").removesuffix("/api/embed")
    asking = _poster(below(base, "/api/embed"), settings.allow_local, settings.key)
    showing = _poster(below(base, "/api/show"), settings.allow_local, settings.key)
    if isinstance(asking, Failure):
        return asking
    if isinstance(showing, Failure):
        return showing
    return Success(EndpointEmbedder(asking.unwrap(), Ollama(showing.unwrap()), model))


def _openai(model: str, settings: EndpointSettings) -> Result[Embedder, EmbedFailed]:
    from groundkit.adapters.embedders.endpoint import EndpointEmbedder
    from groundkit.adapters.embedders.openai import OpenAI

    url = settings.url or settings.openai_url or _OPENAI
    # A key for one service is not shown to another.
    key = settings.key or ("" if settings.url else settings.openai_key)
    asking = _poster(below(url, "/embeddings"), settings.allow_local, key)
    return asking if isinstance(asking, Failure) else Success(EndpointEmbedder(asking.unwrap(), OpenAI(), model))


_SERVERS: Final = {"ollama": _ollama, "openai": _openai}


def _poster(url: str, allow_local: bool, key: str) -> Result[Poster, EmbedFailed]:
    from groundkit.adapters.posting import HttpPoster

    made = endpoint_of(url, allow_local, key)
    if isinstance(made, Failure):
        return _no(EmbedProblem.CONFIGURATION, f"{made.failure().detail} (GK_EMBEDDER_URL, GK_EMBEDDER_LOCAL)")
    return Success(HttpPoster(made.unwrap(), most=_MOST))


def _no(problem: EmbedProblem, detail: str) -> Failure[EmbedFailed]:
    return Failure(EmbedFailed(problem, detail))

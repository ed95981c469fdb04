"""Rerankers by name: `fastembed:MODEL`, `http`, `http:MODEL`, or one of whoever opened the collection."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from groundkit.core.posting import Endpoint, below, endpoint_of
from groundkit.core.reranking import RerankFailed, RerankProblem
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from groundkit.core.retrieval_ports import Reranker
    from groundkit.requests import ModelEndpoint

#: What plain `fastembed` means: small, English, Apache-2.0.
DEFAULT_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"

_NAMES = "fastembed:MODEL, http and http:MODEL"


def reranker_endpoint(
    given: ModelEndpoint | None, environment: Mapping[str, str] = os.environ
) -> Result[Endpoint, RerankFailed]:
    """Where the reranking server answers: as given, else `GK_RERANKER_URL` and `GK_RERANKER_LOCAL`.

    The key is `GK_RERANKER_KEY`, from nowhere else.
    """
    url = (given.url if given is not None else None) or environment.get("GK_RERANKER_URL", "")
    local = given.allow_local if given is not None else None
    allowed = _says_yes(environment, "GK_RERANKER_LOCAL") if local is None else local
    if not url:
        return _no(RerankProblem.CONFIGURATION, "no reranking server is named: set GK_RERANKER_URL")
    made = endpoint_of(below(url, "/rerank"), allowed, environment.get("GK_RERANKER_KEY", ""))
    if isinstance(made, Failure):
        return _no(RerankProblem.CONFIGURATION, made.failure().detail)
    return made


def reranker(
    name: str,
    endpoint: Result[Endpoint, RerankFailed],
    theirs: Mapping[str, Callable[[], Reranker]],
    allow_download: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Result[Reranker, RerankFailed]:
    """The reranker of this name. Nothing is loaded or asked yet.

    A model of fastembed is looked for in its cache, or in the directory that `GK_RERANKER_PATH` names; it is downloaded only
    with `allow_download` or `GK_RERANKER_DOWNLOAD=1`.
    """
    if name in theirs:
        return Success(theirs[name]())
    provider, colon, model = name.partition(":")
    if colon and not model.strip():
        return _no(RerankProblem.UNKNOWN, f"{name!r} names no model")
    if provider == "fastembed":
        return Success(_local(model or DEFAULT_MODEL, allow_download, environment))
    if provider == "http":
        return _remote(model, endpoint)
    known = ", ".join((*theirs, _NAMES))
    return _no(RerankProblem.UNKNOWN, f"there is no reranker {name!r}; there are {known}")


def _local(model: str, allow_download: bool, environment: Mapping[str, str]) -> Reranker:
    from groundkit.adapters.rerankers import FastembedReranker

    allowed = allow_download or _says_yes(environment, "GK_RERANKER_DOWNLOAD")
    return FastembedReranker(model, environment.get("GK_RERANKER_PATH") or None, allowed)


def _remote(model: str, endpoint: Result[Endpoint, RerankFailed]) -> Result[Reranker, RerankFailed]:
    from groundkit.adapters.posting import HttpPoster
    from groundkit.adapters.rerankers import HttpReranker

    if isinstance(endpoint, Failure):
        return endpoint
    return Success(HttpReranker(HttpPoster(endpoint.unwrap()), model))


def _says_yes(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").strip().lower() in ("1", "true", "yes")


def _no(problem: RerankProblem, detail: str) -> Failure[RerankFailed]:
    return Failure(RerankFailed(problem, detail))

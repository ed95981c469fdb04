"""Options for those commands that may need a model: which one, and where it answers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from groundkit.requests import ModelEndpoint

F = TypeVar("F", bound=Callable[..., Any])


def endpoint_options(command: F) -> F:
    """`--model-url` and `--model-local`."""
    url = click.option(
        "--model-url",
        metavar="URL",
        help="Where embedders and rerankers of a server answer (or GK_EMBEDDER_URL, GK_RERANKER_URL).",
    )
    local = click.option(
        "--model-local",
        is_flag=True,
        help="Allow that server to be on this machine or network (or GK_EMBEDDER_LOCAL=1, GK_RERANKER_LOCAL=1).",
    )
    return url(local(command))


def rerank_options(command: F) -> F:
    """`--rerank` and `--rerank-download`."""
    name = click.option(
        "--rerank",
        metavar="NAME",
        help='Have a model read the first hits: fastembed:MODEL (extra "rerank"), http:MODEL.',
    )
    download = click.option(
        "--rerank-download", is_flag=True, help="Let fastembed fetch that model, if it is not here."
    )
    return name(download(command))


def endpoint_of(url: str | None, local: bool, download: bool = False) -> "ModelEndpoint | None":
    """What the options say; None where they say nothing."""
    if url is None and not local and not download:
        return None
    from groundkit.requests import ModelEndpoint

    return ModelEndpoint(url, local or None, download)

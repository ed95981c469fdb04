"""Opening collections, and which there are in an index directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from groundkit import config
from groundkit.collection import Collection
from groundkit.compose import ModelOffers, ports_for
from groundkit.core.result import Failure, Success
from groundkit.core.storage import StorageFailure, StorageProblem
from groundkit.errors import error_of
from groundkit.opened import PathLike

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from groundkit.core.ports import Extractor, Ports
    from groundkit.core.retrieval_ports import Embedder, Reranker
    from groundkit.requests import ModelEndpoint
    from groundkit.status import IndexStatus


def open(
    index_directory: PathLike,
    *,
    base: PathLike | None = None,
    collection: str = config.DEFAULT_COLLECTION,
    extractors: Sequence[Extractor] = (),
    embedders: Mapping[str, Callable[[], Embedder]] | None = None,
    rerankers: Mapping[str, Callable[[], Reranker]] | None = None,
    endpoint: ModelEndpoint | None = None,
) -> Collection:
    """A collection in an index directory, without creating or reading anything yet.

    `base` is the directory its sources lie below; without it, the one the collection remembers, or the directory that
    holds the index. Both paths are taken from the working directory. A base that differs from the remembered one is a
    `ConfigurationError` at the next ingest. `extractors` are asked before the built-in ones; see `groundkit.Extractor`.
    `embedders` and `rerankers` are models of one's own by name, and `endpoint` says where those of a server answer, and
    whether that may be on this machine; see `groundkit.Embedder`, `groundkit.Reranker`.
    """
    named = config.collection_name(collection)
    if isinstance(named, Failure):
        raise error_of(named.failure())
    _must_be_extractors(extractors)
    # What it remembers relative to itself must not depend on the way it was reached.
    directory = Path(os.path.realpath(index_directory))
    given = None if base is None else Path(os.path.abspath(base))
    models = ModelOffers(embedders or {}, rerankers or {}, endpoint)
    return Collection(ports_for(directory, collection, extractors, models), directory, collection, given)


def _must_be_extractors(given: Sequence[Extractor]) -> None:
    for number, each in enumerate(given):
        from groundkit.requests import BadExtractor, no_extractor

        wrong = no_extractor(each)
        if wrong is not None:
            raise error_of(BadExtractor(number, wrong))


def list_collections(index_directory: PathLike) -> list[str]:
    """The collections of an index directory, sorted; a dropped one does not count."""
    directory = Path(os.path.abspath(index_directory))
    try:
        names = config.collections_in(directory)
    except OSError as error:
        denied = StorageFailure(StorageProblem.DENIED, directory.name, error.strerror or str(error))
        raise error_of(denied) from error
    return [name for name in names if _exists(ports_for(directory, name))]


def _exists(ports: Ports) -> bool:
    viewed = ports.documents.view()
    if isinstance(viewed, Success):
        viewed.unwrap().close()
    ports.documents.close()
    return isinstance(viewed, Success) or not viewed.failure().absent


def index_status(index_directory: PathLike, collection: str = config.DEFAULT_COLLECTION) -> IndexStatus:
    """Counts, settings and failures of one collection."""
    with open(index_directory, collection=collection) as opened:
        return opened.status()

"""The one composition root: which adapter stands behind which port."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import Factory, frozen

from groundkit.platforms import platform_refused

_refused = platform_refused()
if _refused is not None:
    raise ImportError(_refused)

from groundkit.adapters.files import Files
from groundkit.adapters.sqlite_store import SqliteStore, read_old, read_old_chunks
from groundkit.adapters.system import FileLock, SystemClock, private_directory
from groundkit.adapters.tantivy_index import TantivyIndex
from groundkit.config import absolute_base
from groundkit.core.ports import NoArchive, Ports
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import ReadFailure, ReadProblem, shown
from groundkit.extractors import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from groundkit.core.embedding import EmbedFailed
    from groundkit.core.older import OldChunk, OldStore
    from groundkit.core.ports import (
        Archive,
        Extractions,
        Extractor,
        Fetcher,
        KeptExtractions,
        KeptFiles,
        LexicalIndex,
        LockBusy,
        SourceReader,
    )
    from groundkit.core.reranking import RerankFailed
    from groundkit.core.retrieval_ports import Embedder, Reranker, VectorIndex, VectorKey, VectorRow, VectorSearcher
    from groundkit.core.storage import KeptListing, KeptUnread, StorageFailure
    from groundkit.requests import ModelEndpoint


class _LockInPrivateDirectory:
    """The writer lock; taking it makes the index directory, private to its owner, where there is none."""

    def __init__(self, directory: Path, lock: FileLock) -> None:
        self._directory = directory
        self._lock = lock

    def hold(self, seconds: float) -> Result[AbstractContextManager[None], LockBusy | StorageFailure]:
        made = private_directory(self._directory)
        if isinstance(made, Failure):
            return made
        return self._lock.hold(seconds)


class _KeptLater:
    """Kept files that are loaded with their first use: whoever has no pages pays nothing for them."""

    def __init__(self, load: Callable[[], KeptFiles]) -> None:
        self._load = cache(load)

    def put(self, name: str, data: bytes) -> Result[bool, StorageFailure]:
        return self._load().put(name, data)

    def settle(self) -> Result[None, StorageFailure]:
        return self._load().settle()

    def get(self, name: str) -> Result[bytes, KeptUnread]:
        return self._load().get(name)

    def remove(self, name: str) -> Result[None, StorageFailure]:
        return self._load().remove(name)

    def listed(self) -> Result[KeptListing, StorageFailure]:
        return self._load().listed()

    def discard(self) -> Result[None, StorageFailure]:
        return self._load().discard()


def _snapshots(index_directory: Path, collection: str) -> KeptFiles:
    from groundkit.adapters.snapshot_files import KeptDirectory
    from groundkit.core.snapshots import SNAPSHOTS, is_snapshot_name

    return KeptDirectory(index_directory, collection + SNAPSHOTS, is_snapshot_name)


def _bodies(index_directory: Path, collection: str) -> KeptFiles:
    from groundkit.adapters.snapshot_files import KeptDirectory
    from groundkit.core.snapshots import BODIES, is_body_name

    return KeptDirectory(index_directory, collection + BODIES, is_body_name)


class _VectorsLater:
    """Matrices of vectors, loaded with their first use: a search by words pays nothing for them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loaded: VectorIndex | None = None

    def searcher(
        self, key: VectorKey, load: Callable[[], Result[Iterable[VectorRow], StorageFailure]]
    ) -> Result[VectorSearcher, StorageFailure]:
        return self._index().searcher(key, load)

    def discard(self) -> Result[None, StorageFailure]:
        # Without the package nothing of it can be there, or somebody removed the package: then the files go all the same.
        return self._index().discard() if self._directory.exists() else Success(None)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()

    def _index(self) -> VectorIndex:
        if self._loaded is None:
            from groundkit.adapters.vectors import VectorFiles

            self._loaded = VectorFiles(self._directory)
        return self._loaded


@frozen
class ModelOffers:
    """Models of whoever opens a collection, by name, and where those of a server answer."""

    embedders: Mapping[str, Callable[[], Embedder]] = Factory(dict)
    rerankers: Mapping[str, Callable[[], Reranker]] = Factory(dict)
    endpoint: ModelEndpoint | None = None

    def embedder(self, name: str) -> Result[Embedder, EmbedFailed]:
        from groundkit.embedders import embedder, embedder_endpoint

        return embedder(name, embedder_endpoint(self.endpoint), self.embedders)

    def reranker(self, name: str) -> Result[Reranker, RerankFailed]:
        from groundkit.rerankers import reranker, reranker_endpoint

        download = self.endpoint is not None and self.endpoint.allow_download
        return reranker(name, reranker_endpoint(self.endpoint), self.rerankers, download)


def ports_for(
    index_directory: Path,
    collection: str,
    extractors: Sequence[Extractor] = (),
    models: ModelOffers | None = None,
) -> Ports:
    """The real adapters of one collection. Nothing is opened or created yet."""
    offers = models or ModelOffers()

    @lru_cache(maxsize=2)
    def lexical(language: str) -> LexicalIndex:
        return TantivyIndex(index_directory / f"{collection}.lexical", language)

    @lru_cache(maxsize=1)
    def kept(limit: int) -> KeptExtractions:
        from groundkit.adapters.extraction import ExtractionCache

        return ExtractionCache(index_directory / f"{collection}.cache", limit)

    def sources(base: str) -> Result[SourceReader, ReadFailure]:
        return sources_below(absolute_base(base, index_directory), index_directory)

    return Ports(
        documents=SqliteStore(index_directory, collection),
        lexical=lexical,
        sources=sources,
        clock=SystemClock(),
        lock=_LockInPrivateDirectory(index_directory, FileLock(index_directory / f"{collection}.lock")),
        extractors=Registry(tuple(extractors)),
        extractions=extractions,
        kept=kept,
        snapshots=_KeptLater(lambda: _snapshots(index_directory, collection)),
        bodies=_KeptLater(lambda: _bodies(index_directory, collection)),
        fetcher=web_fetcher,
        archive=archive,
        vectors=_VectorsLater(index_directory / f"{collection}.vectors"),
        embedder=offers.embedder,
        reranker=offers.reranker,
    )


def web_fetcher() -> Fetcher:
    """A fetcher of pages, by the system's resolver."""
    from groundkit.adapters.web.fetcher import WebFetcher
    from groundkit.adapters.web.resolver import SystemResolver

    return WebFetcher(SystemResolver())


def archive() -> Result[Archive, NoArchive]:
    """What makes WARC files."""
    from groundkit.adapters.web.archive import WarcArchive, warc_missing

    command = warc_missing()
    return Failure(NoArchive(command)) if command else Success(WarcArchive())


def snapshots_in(directory: Path) -> KeptFiles:
    """The snapshots in a directory, wherever it lies."""
    from groundkit.adapters.snapshot_files import KeptDirectory

    return KeptDirectory.reader_of(directory)


def extractions(jobs: int) -> Extractions:
    """So many workers, each begun when it is needed."""
    from groundkit.adapters.extraction import WorkerPool

    return WorkerPool(jobs)


def sources_below(base: Path, index_directory: Path | None) -> Result[SourceReader, ReadFailure]:
    """A reader of the files below a directory. The index directory is never walked."""
    try:
        return Success(Files(base, index_directory))
    except (OSError, ValueError) as error:  # a ValueError: NUL or what no name can hold
        said = error.strerror if isinstance(error, OSError) else str(error)
        detail = f"the base directory {shown(base.name)} cannot be opened: {said}"
        return Failure(ReadFailure("", ReadProblem.MISSING, detail))


def old_sources(index_directory: Path, collection: str) -> Result[OldStore, StorageFailure]:
    """What an earlier version left under this name."""
    return read_old(index_directory / f"{collection}.sqlite3")


def old_chunks(index_directory: Path, collection: str, source: str) -> Result[tuple[OldChunk, ...], StorageFailure]:
    """The chunks an earlier version left of one source, in order."""
    return read_old_chunks(index_directory / f"{collection}.sqlite3", source)

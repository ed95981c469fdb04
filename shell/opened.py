"""A collection's files while it is open: how its store, its sources and its snapshots are got at."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, TypeVar

from groundkit import config
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import ChunksOfDocument, StorageFailure
from groundkit.errors import GroundkitError, error_of
from groundkit.extracting import Extracting, process_memo
from groundkit.reading import Reader, settings_if_any, state_if_any, stored_settings

if TYPE_CHECKING:
    from groundkit.core.embedding import EmbeddingIdentity, EmbedFailed
    from groundkit.core.ports import Ports, SourceReader, StoreView
    from groundkit.core.reranking import RerankFailed
    from groundkit.core.retrieval_ports import Embedder, Reranker
    from groundkit.core.sources import ReadFailure
    from groundkit.core.storage import Generation, StoredChunk, StoreState
    from groundkit.elsewhere import Elsewhere
    from groundkit.meaning import Models
    from groundkit.passages import Passages
    from groundkit.reading import ReadRefused
    from groundkit.render import AnyFailure
    from groundkit.requests import NoBaseGiven
    from groundkit.verifying import Extractors, Lookup, OpenSources

PathLike = str | os.PathLike[str]
T = TypeVar("T")

#: Needs no server and no download.
DEFAULT_EMBEDDER = "wordllama"


class Opened:
    """What a collection holds open, and how it reaches what it does not. Opening reads nothing."""

    def __init__(self, ports: Ports, index_directory: Path, name: str, base: Path | None) -> None:
        self._ports = ports
        self._index_directory = index_directory
        self._name = name
        self._base = base
        self._readers: dict[str, Reader] = {}
        self._extracting = Extracting(ports.extractions, process_memo())
        self._settled: StoreState | None = None
        self._embedders: dict[str, Result[tuple[Embedder, EmbeddingIdentity], EmbedFailed]] = {}
        self._rerankers: dict[str, Result[Reranker, RerankFailed]] = {}
        self._searches_by_meaning: Models | None = None
        self._language: str | None = None
        # Several threads search one collection: what it keeps open is made once.
        self._making = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Collection {self._name!r} in {str(self._index_directory)!r}>"

    @property
    def name(self) -> str:
        return self._name

    @property
    def index_directory(self) -> Path:
        return self._index_directory

    @property
    def base(self) -> Path | None:
        """The base directory: as given at opening, or as the collection remembers it."""
        if self._base is not None:
            return self._base
        stored = self._stored_settings()
        if stored is None or stored.base is None:
            return None
        return config.absolute_base(stored.base, self._index_directory)

    @property
    def exists(self) -> bool:
        """Whether there is such a collection: an ingest would go on with it, not make it."""
        return self._stored_settings() is not None

    def close(self) -> None:
        """Close every file and end every worker. Closing twice does nothing."""
        self._extracting.close()
        self._close_models()
        self._ports.documents.close()
        for language in self._readers:
            self._ports.lexical(language).close()
        self._readers.clear()

    def _close_models(self) -> None:
        for made in (*self._embedders.values(), *self._rerankers.values()):
            if isinstance(made, Success):
                found = made.unwrap()
                (found[0] if isinstance(found, tuple) else found).close()
        self._embedders.clear()
        self._rerankers.clear()
        self._ports.vectors.close()

    def _own_embedder(self) -> str:
        """The name of the embedder that the collection's vectors are of, or of what a new one gets."""
        stored = self._or_raise(state_if_any(self._ports.documents))
        return DEFAULT_EMBEDDER if stored is None or stored.manifest is None else stored.manifest.name

    def _models(self) -> Models:
        """What searches by meaning need, loaded once."""
        if self._searches_by_meaning is None:
            from groundkit.meaning import Models

            self._searches_by_meaning = Models(self._embedder, self._ports.vectors, self._reranker)
        return self._searches_by_meaning

    def _embedder(self, name: str) -> Result[tuple[Embedder, EmbeddingIdentity], EmbedFailed]:
        with self._making:
            if name not in self._embedders or isinstance(self._embedders[name], Failure):
                from groundkit.ingest_embedding import embedding_of

                made = embedding_of(self._ports, name)
                self._embedders[name] = (
                    made if isinstance(made, Failure) else Success((made.unwrap().embedder, made.unwrap().identity))
                )
            return self._embedders[name]

    def _reranker(self, name: str) -> Result[Reranker, RerankFailed]:
        with self._making:
            if name not in self._rerankers or isinstance(self._rerankers[name], Failure):
                self._rerankers[name] = self._ports.reranker(name)
            return self._rerankers[name]

    def sources_of(self, paths: Sequence[PathLike]) -> tuple[str, ...]:
        """Paths as sources below the base. Relative ones start there."""
        from groundkit.bases import below_base
        from groundkit.requests import not_a_path

        for each in paths:
            refused = not_a_path(os.fspath(each))
            if refused is not None:
                self._raise(refused)
        base = self.base or self._index_directory.parent
        absolute = tuple(Path(os.path.normpath(base / each)) for each in paths)
        return self._or_raise(below_base(absolute, base))

    def _new_base(self) -> str | None:
        """The base to be remembered with the first local sources; what a collection remembers stays, unless another is given."""
        if self._base is None and self.base is not None:
            return None
        return config.relative_base(self._base or self._index_directory.parent, self._index_directory)

    def _open_sources(self) -> Result[SourceReader, ReadFailure | NoBaseGiven]:
        base = self.base
        if base is None:
            from groundkit.requests import NoBaseGiven

            return Failure(NoBaseGiven())
        return self._ports.sources(config.relative_base(base, self._index_directory))

    def _lookup(self, known: Settings | None = None, soon: bool = False) -> Lookup:
        """How verification gets at the sources; a store that cannot be read is a source that cannot be looked at.

        `known` are the collection's settings, where somebody has just read them. `soon`: not far beyond the source itself.
        """
        from groundkit.verifying import Lookup

        try:
            stored = known or self._stored_settings() or Settings()
        except GroundkitError as error:
            if self._base is None:
                return self._without_base(str(error))
            stored = Settings()
        base = stored.base if self._base is None else config.relative_base(self._base, self._index_directory)
        extractors = self._extractors(stored.cache_bytes)
        opener = None if base is None else self._opener(base)
        return Lookup(
            opener, extractors, stored, self._ingested, self._ports.snapshots, self._elsewhere(opener, stored, soon)
        )

    def _elsewhere(
        self, sources: OpenSources | None, settings: Settings, soon: bool = False
    ) -> Callable[[], Elsewhere]:
        """Where else to look for what is gone; `soon`: not far."""

        def passages() -> Passages | None:
            opened = self._passages_of(settings.language)
            return None if isinstance(opened, Failure) else opened.unwrap()

        def elsewhere() -> Elsewhere:
            from groundkit.elsewhere import NEAR, Elsewhere, Reach

            kinds, reach = self._ports.extractors.kinds, NEAR if soon else Reach()
            return Elsewhere(sources, settings.max_bytes, kinds, passages, reach)

        return elsewhere

    def _without_base(self, why: str) -> Lookup:
        from groundkit.core.sources import ReadFailure, ReadProblem
        from groundkit.verifying import Lookup

        refused = Failure(ReadFailure("", ReadProblem.UNREADABLE, why))
        return Lookup(lambda: refused, self._extractors(0), Settings(), self._ingested, self._ports.snapshots)

    def _extractors(self, cache_bytes: int) -> Extractors:
        from groundkit.verifying import Extractors

        kept = (lambda: self._ports.kept(cache_bytes)) if cache_bytes else None
        return Extractors(self._ports.extractors, self._extracting, kept)

    def _opener(self, base: str) -> OpenSources:
        return lambda: self._ports.sources(base)

    def _ingested(self, document_id: str) -> str | None:
        """The same where a store that cannot be read is one that has nothing to say."""
        try:
            return self._text_of(document_id)
        except GroundkitError:
            return None

    def _text_of(self, document_id: str) -> str | None:
        """The text of a document as it was ingested, if the collection still has this version."""
        from groundkit.core.auditing import rebuilt_text

        stored = self._stored_chunks(document_id)
        return rebuilt_text(stored) if stored else None

    def _stored_chunks(self, document_id: str) -> tuple[StoredChunk, ...]:
        """The chunks of a document in order; none where the collection does not have it."""
        with self._standing() as (view, generation):
            return self._or_raise(view.chunks(ChunksOfDocument(document_id), generation.mark.generation))

    @contextmanager
    def _passages(self) -> Iterator[Passages]:
        """The documents as something to look for texts in."""
        passages = self._or_raise(self._passages_of(self._known().language))
        with closing(passages.pair.view):
            yield passages

    def _passages_of(self, language: str) -> Result[Passages, ReadRefused]:
        from groundkit.passages import Passages

        pair = self._reader(language).pair()
        return pair if isinstance(pair, Failure) else Success(Passages(pair.unwrap(), self._ports.lexical(language)))

    def _stored_settings(self) -> Settings | None:
        return self._or_raise(settings_if_any(self._ports.documents))

    def _known(self) -> Settings:
        """The settings of a collection that exists; an error that lists those which do, otherwise."""
        return self._or_raise(stored_settings(self._ports.documents))

    @contextmanager
    def _standing(self) -> Iterator[tuple[StoreView, Generation]]:
        """What a search would answer from."""
        view, generation = self._standing_view()
        with closing(view):
            yield view, generation

    def _standing_view(self) -> tuple[StoreView, Generation]:
        """The language that was the collection's when last looked at is tried first, and nearly always still is."""
        from groundkit.reading import standing

        language = self._language or self._known().language
        while True:
            view, generation = self._or_raise(standing(self._reader(language), self._ports.documents))
            self._language = view.state.settings.language
            if self._language == language:
                return view, generation
            view.close()
            language = self._language

    def _reader(self, language: str) -> Reader:
        with self._making:
            if language not in self._readers:
                self._readers[language] = Reader(self._ports.documents, self._ports.lexical(language))
            return self._readers[language]

    def _or_raise(self, result: Success[T] | Failure[AnyFailure]) -> T:
        if isinstance(result, Failure):
            self._raise(result.failure())
        return result.unwrap()

    def _raise(self, failure: AnyFailure) -> NoReturn:
        if isinstance(failure, StorageFailure) and failure.absent:
            existing = tuple(name for name in config.collections_in(self._index_directory) if name != self._name)
            failure = config.UnknownCollection(self._name, str(self._index_directory), existing)
        raise error_of(failure)

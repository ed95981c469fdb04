"""The read path: one view of the store paired with one searcher of the same generation. ADR 0006 says why in this order."""

import time
from contextlib import closing
from typing import TypeAlias

from attrs import frozen

from groundkit.core.ports import DocumentStore, LexicalIndex, LexicalSearcher, StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import Generation, LexicalFailure, LexicalProblem, StorageFailure, StoreState

#: Attempts to pair before giving up; a writer would have to publish a generation during each of them.
ATTEMPTS = 200
#: From this attempt on a breath is taken between two of them.
PATIENT_ATTEMPTS = 5


@frozen
class AnalyzerChanged:
    """The index was made by another analyzer than the one at work here."""

    recorded: str
    active: str


@frozen
class NeverPaired:
    """Store and lexical index do not speak of the same generation, and waiting did not help."""

    attempts: int


ReadRefused: TypeAlias = StorageFailure | LexicalFailure | AnalyzerChanged | NeverPaired


def stored_state(documents: DocumentStore) -> Result[StoreState, StorageFailure]:
    viewed = documents.view()
    if isinstance(viewed, Failure):
        return viewed
    with closing(viewed.unwrap()) as view:
        return Success(view.state)


def state_if_any(documents: DocumentStore) -> Result[StoreState | None, StorageFailure]:
    """The same, or None where there is no collection yet."""
    stored = stored_state(documents)
    return Success(None) if isinstance(stored, Failure) and stored.failure().absent else stored


def stored_settings(documents: DocumentStore) -> Result[Settings, StorageFailure]:
    """What a collection remembers."""
    stored = stored_state(documents)
    return stored if isinstance(stored, Failure) else Success(stored.unwrap().settings)


def settings_if_any(documents: DocumentStore) -> Result[Settings | None, StorageFailure]:
    """The same, or None where there is no collection yet."""
    stored = stored_settings(documents)
    return Success(None) if isinstance(stored, Failure) and stored.failure().absent else stored


@frozen(eq=False, repr=False)
class Pair:
    """Rows alive at `generation` and the postings of the same one. Without a searcher the generation has no chunk."""

    view: StoreView
    generation: Generation
    searcher: LexicalSearcher | None


class Reader:
    """Pairs views with searchers and keeps the last searcher for as long as it belongs to an end of the store."""

    def __init__(self, documents: DocumentStore, lexical: LexicalIndex) -> None:
        self._documents = documents
        self._lexical = lexical
        self._cached: tuple[int, LexicalSearcher] | None = None

    def pair(self) -> Result[Pair, ReadRefused]:
        """A consistent pair. The caller closes its view, soon: a long view makes the store's log grow."""
        broken: LexicalFailure | None = None
        for attempt in range(ATTEMPTS):
            viewed = self._documents.view()
            if isinstance(viewed, Failure):
                return viewed
            view = viewed.unwrap()
            paired = self._paired(view)
            if isinstance(paired, Success):
                return paired
            view.close()
            match paired.failure():
                case AnalyzerChanged() as changed:
                    return Failure(changed)
                case LexicalFailure() as failure:
                    # A build that a rebuild has just replaced is missing: a new view names the new one.
                    if failure.problem is LexicalProblem.DENIED or attempt >= 2 * PATIENT_ATTEMPTS:
                        return Failure(failure)
                    broken = failure
                case NeverPaired():
                    broken = None
            if attempt >= PATIENT_ATTEMPTS:
                time.sleep(0.002)
        return Failure(broken or NeverPaired(ATTEMPTS))

    def _paired(self, view: StoreView) -> Result[Pair, LexicalFailure | AnalyzerChanged | NeverPaired]:
        state = view.state
        if state.build == 0:
            return Success(Pair(view, state.current, None))
        found = self._searcher(state)
        if isinstance(found, Failure):
            return found
        searcher = found.unwrap()
        generation = state.generation(searcher.mark)
        if generation is None:
            return Failure(NeverPaired(1))
        if generation.analyzer != self._lexical.analyzer:
            return Failure(AnalyzerChanged(generation.analyzer, self._lexical.analyzer))
        return Success(Pair(view, generation, searcher))

    def _searcher(self, state: StoreState) -> Result[LexicalSearcher, LexicalFailure]:
        if self._cached is not None:
            build, searcher = self._cached
            if build == state.build and state.generation(searcher.mark) is not None:
                return Success(searcher)
        opened = self._lexical.searcher(state.build)
        if isinstance(opened, Success):
            self._cached = (state.build, opened.unwrap())
        return opened


def standing(reader: Reader, documents: DocumentStore) -> Result[tuple[StoreView, Generation], StorageFailure]:
    """A view and the generation that a search would answer from, so that all answers speak of one state.

    Where the lexical index cannot be read, the finished generation: what needs no index still works.
    """
    paired = reader.pair()
    if isinstance(paired, Success):
        pair = paired.unwrap()
        return Success((pair.view, pair.generation))
    viewed = documents.view()
    if isinstance(viewed, Failure):
        return viewed
    return Success((viewed.unwrap(), viewed.unwrap().state.current))

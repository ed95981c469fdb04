"""The write path and recovery, for whoever holds the collection's lock. ADR 0006 says why in this order."""

from collections.abc import Sequence
from typing import TypeAlias

from attrs import frozen

from groundkit.core.changes import LexicalDocument, Write, token_after
from groundkit.core.folding import index_view
from groundkit.core.ports import DocumentStore, LexicalIndex, Ports, StoreView
from groundkit.core.recovery import Finish, Rebuild, Replay, recovery_for
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import LexicalFailure, LexicalProblem, Mark, StorageFailure, StoreState
from groundkit.core.url_kinds import is_page
from groundkit.keeping import Keeper, UnsweptFile, keeper_of
from groundkit.reading import stored_settings

WriteFailure: TypeAlias = StorageFailure | LexicalFailure

#: Code points of chunk text that a rebuild holds in memory at a time.
REBUILD_PAGE = 16_000_000

#: What says nothing about the index's files: no reason to make them anew.
_NOT_DAMAGE = (LexicalProblem.FULL, LexicalProblem.BUSY, LexicalProblem.DENIED, LexicalProblem.FAILED)


@frozen
class Written:
    """The write is accepted. With `pending`, the next writer finishes it; it is not to be reported as undone."""

    mark: Mark
    pending: WriteFailure | None = None


class Writer:
    """One holder of the lock. `settled` is the state the last holder in this process left behind, if it left one.

    Without a keeper there are no files beside the rows, and none can be written.
    """

    def __init__(
        self,
        documents: DocumentStore,
        lexical: LexicalIndex,
        settled: StoreState | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        self._documents = documents
        self._lexical = lexical
        self._left = settled
        self._settled: StoreState | None = None
        self._keeper = keeper

    @property
    def settled(self) -> StoreState | None:
        """The state in which everything was seen to agree; None while something is unfinished."""
        return None if self.unswept else self._settled

    @property
    def unswept(self) -> tuple[UnsweptFile, ...]:
        """Files that should be gone and are not."""
        return tuple(self._keeper.unswept) if self._keeper else ()

    def recover(self, rebuild: str | None = None) -> Result[StoreState, WriteFailure]:
        """Complete or undo what another process left, make the index anew where it cannot be trusted.

        With `rebuild` (a reason), anew in any case.
        """
        left, self._left, self._settled = self._left, None, None
        seen = self._state()
        if isinstance(seen, Failure):
            return seen
        state = seen.unwrap()
        if state.tip.analyzer != self._lexical.analyzer:
            return self._reanalyze(state)
        if left == state and rebuild is None:
            self._swept()  # of a process killed before its rows were accepted, the files are all that there is
            self._settled = state
            return Success(state)
        return self._settle(state, rebuild)

    def write(self, write: Write) -> Result[Written, WriteFailure]:
        """One generation. A failure means that nothing was accepted."""
        if self._settled is None:
            recovered = self.recover()
            if isinstance(recovered, Failure):
                return recovered
        before, self._settled = self._settled, None
        assert before is not None
        staged = self._staged(write)
        if isinstance(staged, Failure):
            return staged
        tip = Mark(before.tip.mark.generation + 1, token_after(before.tip.mark.token, write))
        finished = self._publish(before.build, tip, staged.unwrap())
        if isinstance(finished, Failure):
            retried = self._retry(finished.failure())
            return Success(Written(tip, retried))
        if self._keeper is not None and (self._keeper.unswept or _ends_pages(write)):
            self._keeper.sweep()
        return Success(Written(tip))

    def _staged(self, write: Write) -> Result[tuple[LexicalDocument, ...], StorageFailure]:
        """Files first: no row may name one that is missing. They go again if the rows are not accepted."""
        if self._keeper is None or not write.files:
            assert not write.files
            return self._documents.stage(write)
        put = self._keeper.put(write.files)
        if isinstance(put, Failure):
            return put
        staged = self._documents.stage(write)
        if isinstance(staged, Failure):
            self._keeper.undo(put.unwrap())
        return staged

    def _retry(self, failure: WriteFailure) -> WriteFailure | None:
        """The rows are durable; what is left is recovery's work. A full disk is left to a later writer."""
        if isinstance(failure, LexicalFailure) and failure.problem in _NOT_DAMAGE:
            return failure
        recovered = self.recover()
        return recovered.failure() if isinstance(recovered, Failure) else None

    def _state(self) -> Result[StoreState, StorageFailure]:
        viewed = self._documents.view()
        if isinstance(viewed, Failure):
            return viewed
        view = viewed.unwrap()
        state = view.state
        view.close()
        return Success(state)

    def _publish(self, build: int, mark: Mark, documents: Sequence[LexicalDocument]) -> Result[None, WriteFailure]:
        applied = self._lexical.apply(build, mark, documents)
        if isinstance(applied, Failure):
            return applied
        return self._declare(build)

    def _declare(self, build: int) -> Result[None, WriteFailure]:
        declared = self._documents.declare(build)
        if isinstance(declared, Failure):
            return declared
        seen = self._state()
        if isinstance(seen, Failure):
            return seen
        self._settled = seen.unwrap()
        return Success(None)

    def _reanalyze(self, state: StoreState) -> Result[StoreState, WriteFailure]:
        """Rows counted by another analyzer: count and index everything anew.

        An unfinished write that the old index already holds is declared first, so that the old index stays that of
        `current` and serves until the new one is. One that it does not hold needs no postings of the old kind any more.
        """
        held = self._held(state.build)
        if isinstance(held, Failure):
            return held
        if state.tip.mark != state.current.mark and held.unwrap() == state.tip.mark:
            declared = self._documents.declare(state.build)
            if isinstance(declared, Failure):
                return declared
        recounted = self._documents.recount(self._lexical.analyzer, index_view)
        if isinstance(recounted, Failure):
            return recounted
        seen = self._state()
        if isinstance(seen, Failure):
            return seen
        return self._rebuild(seen.unwrap())

    def _settle(self, state: StoreState, rebuild: str | None) -> Result[StoreState, WriteFailure]:
        held = self._held(state.build)
        if isinstance(held, Failure):
            return held
        match Rebuild(rebuild) if rebuild else recovery_for(state, held.unwrap(), self._lexical.analyzer):
            case Rebuild():
                return self._rebuild(state)
            case Replay():
                waiting = self._documents.outbox(index_view)
                if isinstance(waiting, Failure):
                    return waiting
                applied = self._lexical.apply(state.build, state.tip.mark, waiting.unwrap())
                if isinstance(applied, Failure):
                    return self._after(applied.failure(), state)
            case Finish():
                pass
        return self._compared(state)

    def _after(self, failure: LexicalFailure, state: StoreState) -> Result[StoreState, WriteFailure]:
        return Failure(failure) if failure.problem in _NOT_DAMAGE else self._rebuild(state)

    def _held(self, build: int) -> Result[Mark | None, LexicalFailure]:
        """What the index says it holds; None where it says nothing that can be read."""
        if build == 0:
            return Success(None)
        opened = self._lexical.searcher(build)
        if isinstance(opened, Success):
            return Success(opened.unwrap().mark)
        failure = opened.failure()
        return Failure(failure) if failure.problem in _NOT_DAMAGE else Success(None)

    def _compared(self, state: StoreState) -> Result[StoreState, WriteFailure]:
        """The rows of both sides, id by id: the only thing that notices a delete that was lost without a word."""
        same = self._agrees(state.build, state)
        if isinstance(same, Failure):
            failure = same.failure()
            return self._after(failure, state) if isinstance(failure, LexicalFailure) else Failure(failure)
        if not same.unwrap():
            return self._rebuild(state)
        if state.tip.mark != state.current.mark:
            declared = self._declare(state.build)
            if isinstance(declared, Failure):
                return declared
        return self._tidied(state.build)

    def _agrees(self, build: int, state: StoreState) -> Result[bool, WriteFailure]:
        viewed = self._documents.view()
        if isinstance(viewed, Failure):
            return viewed
        view: StoreView = viewed.unwrap()
        rows = view.live(state.tip.mark.generation)
        view.close()
        if isinstance(rows, Failure):
            return rows
        postings = self._lexical.live(build)
        if isinstance(postings, Failure):
            return postings
        return Success(rows.unwrap() == postings.unwrap())

    def _rebuild(self, state: StoreState) -> Result[StoreState, WriteFailure]:
        """A new build beside the old one, at `tip`; readers go over to it when it is declared."""
        build = state.build + 1
        filled = self._fill(build, state.tip.mark)
        if isinstance(filled, Failure):
            return filled
        same = self._agrees(build, state)
        if isinstance(same, Failure):
            return same
        if not same.unwrap():
            return Failure(LexicalFailure(LexicalProblem.DAMAGED, "a new index does not hold the rows it was given"))
        declared = self._declare(build)
        if isinstance(declared, Failure):
            return declared
        return self._tidied(build)

    def _fill(self, build: int, mark: Mark) -> Result[None, WriteFailure]:
        started = self._lexical.start(build)
        if isinstance(started, Failure):
            return started
        after = ""
        while True:
            page = self._documents.everything(after, REBUILD_PAGE, index_view)
            if isinstance(page, Failure):
                return page
            documents = page.unwrap()
            applied = self._lexical.apply(build, None if documents else mark, documents)
            if isinstance(applied, Failure):
                return applied
            if not documents:
                return Success(None)
            after = documents[-1].document_id

    def _tidied(self, build: int) -> Result[StoreState, WriteFailure]:
        self._lexical.discard(build)  # best effort: what stays is garbage that the next recovery meets again
        self._swept()
        seen = self._state()
        if isinstance(seen, Success):
            self._settled = seen.unwrap()
        return seen

    def _swept(self) -> None:
        if self._keeper is not None:
            self._keeper.sweep()


def _ends_pages(write: Write) -> bool:
    """Whether rows that named files may be gone after this write."""
    records = [*(new.record for new in write.documents), *write.rebound]
    return any(each.fetch is not None for each in records) or any(map(is_page, write.removed))


def recovered_writer(ports: Ports, rebuild: str | None = None) -> Result[tuple[Writer, StoreState], WriteFailure]:
    """A writer of a collection that exists, in its own language, with everything before it finished."""
    settings = stored_settings(ports.documents)
    if isinstance(settings, Failure):
        return settings
    writer = Writer(ports.documents, ports.lexical(settings.unwrap().language), keeper=keeper_of(ports))
    recovered = writer.recover(rebuild)
    return recovered if isinstance(recovered, Failure) else Success((writer, recovered.unwrap()))

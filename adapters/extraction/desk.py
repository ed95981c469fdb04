"""One thread's place in a pool: how a job is done by a worker, and which is tried again."""

import pickle
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from groundkit.adapters.extraction.calling import broken, failed, said
from groundkit.adapters.extraction.codec import decode
from groundkit.adapters.extraction.forked import Forked
from groundkit.adapters.extraction.frames import JOB, JOB_MARK
from groundkit.adapters.extraction.process import Answer, Died, Worker, started
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, checked
from groundkit.core.ports import ExtractionJob
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from groundkit.adapters.extraction.pool import Jobs

Outcome: TypeAlias = Result[Extraction, ExtractionFailed]

#: After so many jobs a worker makes way for a fresh one, for what a library may leave behind in so long a life.
JOBS_OF_A_WORKER = 500
#: What a worker with a past may have failed of because of that past.
_OWING_TO_THE_PAST = (ExtractionProblem.CPU, ExtractionProblem.MEMORY)


class Desk:
    """A worker, or none yet, and the jobs it does one after the other. One thread sits here."""

    def __init__(self, jobs: "Jobs") -> None:
        self._jobs = jobs
        self._worker: Worker | None = None

    def serve(self, ahead: bool) -> None:
        # A worker may die while we write to it; a program that lets this signal end it is not to end of that.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        if ahead:
            with suppress(Exception):  # what goes wrong here goes wrong once more with the job, and is told then
                self._hired()
        while (taken := self._jobs.take()) is not None:
            key, job = taken
            try:
                outcome = self._outcome(job)
            except BaseException as error:  # noqa: BLE001 - whoever waits for this job is not to wait for ever
                outcome = failed(ExtractionProblem.DIED, said(error))
                with suppress(Exception):  # it may be at this job still, and is to answer no other one with it
                    self._dismiss()
            del job, taken
            self._jobs.give(key, outcome)
        self._dismiss()

    def _outcome(self, job: ExtractionJob) -> Outcome:
        parts = _packed(job)
        if parts is None:
            return self._in_a_fork(job)
        first, fresh = self._tried(parts, job)
        if isinstance(first, Failure) and first.failure().problem is ExtractionProblem.NOT_LOADED:
            return self._in_a_fork(job)
        last = self._tried(parts, job)[0] if self._worth_another(first, fresh) else first
        return _told(last) if isinstance(last, Died) else last

    def _in_a_fork(self, job: ExtractionJob) -> Outcome:
        """The job where its extractor is: in a copy of this process."""
        first = self._forked(job)
        by_accident = isinstance(first, Died) and first.problem is ExtractionProblem.DIED
        last = self._forked(job) if by_accident and not self._jobs.closed() else first
        return _told(last) if isinstance(last, Died) else last

    def _forked(self, job: ExtractionJob) -> "Outcome | Died":
        try:
            forked = Forked(job)
        except OSError as error:
            return failed(ExtractionProblem.DIED, f"no process could be started: {error.strerror or error}")
        self._jobs.adopt(forked)
        try:
            ended = forked.run()
        finally:
            self._jobs.bury(forked)
        return ended if isinstance(ended, Died) else _read(ended)

    def _worth_another(self, first: "Outcome | Died", fresh: bool) -> bool:
        """Whether to try once more, in a fresh worker: not what would end the same way."""
        by_accident = isinstance(first, Died) and first.problem is ExtractionProblem.DIED
        return not self._jobs.closed() and (by_accident or (not fresh and _owing_to_the_past(first)))

    def _tried(self, parts: Sequence[bytes], job: ExtractionJob) -> "tuple[Outcome | Died, bool]":
        """What came of it, and whether that was a worker without a past."""
        hired = self._hired()
        if isinstance(hired, Failure):  # one that is killed before it is ready is as much of an accident
            return Died(hired.failure().problem, hired.failure().detail), True
        worker = hired.unwrap()
        fresh = worker.jobs == 0
        ended = worker.run(parts, job.limits)
        outcome = ended if isinstance(ended, Died) else _read(ended)
        if isinstance(ended, Died) or ended.spent or worker.jobs >= JOBS_OF_A_WORKER or _owing_to_the_past(outcome):
            self._dismiss()
        return outcome, fresh

    def _hired(self) -> Result[Worker, ExtractionFailed]:
        if self._worker is not None and self._worker.fit():
            return Success(self._worker)
        self._dismiss()
        coming = started()
        if isinstance(coming, Failure):
            return coming
        self._worker = coming.unwrap()
        self._jobs.adopt(self._worker)
        greeted = self._worker.greet()
        if isinstance(greeted, Failure):
            self._dismiss()
            return greeted
        return Success(self._worker)

    def _dismiss(self) -> None:
        if self._worker is not None:
            self._jobs.bury(self._worker)
        self._worker = None


def _packed(job: ExtractionJob) -> list[bytes] | None:
    """The job as it is written; None if no other process could load its extractor.

    The data stay out of the pickle, so that there is no second copy of them.
    """
    if type(job.extractor).__module__ in ("__main__", "__mp_main__"):
        return None  # to load it there would be to run the user's script again
    try:
        head = pickle.dumps((job.extractor, job.identity, job.hint), pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001 - pickling calls what the extractor defines
        return None
    limits = job.limits
    fixed = JOB.pack(JOB_MARK, len(head), len(job.data), limits.seconds, limits.cpu_seconds, limits.memory)
    return [fixed + head, job.data]


def _read(answer: Answer) -> Outcome:
    """The result in an answer, checked here too: what the worker says it checked is hearsay."""
    value = decode(answer.payload)
    match value:
        case Extraction():
            return checked(value)
        case ExtractionFailed():
            return Failure(value)
        case None:
            return broken("gave an extraction with a wrong value in it")


def _owing_to_the_past(outcome: "Outcome | Died") -> bool:
    if isinstance(outcome, Success):
        return False
    problem = outcome.problem if isinstance(outcome, Died) else outcome.failure().problem
    return problem in _OWING_TO_THE_PAST


def _told(died: Died) -> Failure[ExtractionFailed]:
    again = ", twice" if died.problem is ExtractionProblem.DIED else ""
    return failed(died.problem, died.detail + again)

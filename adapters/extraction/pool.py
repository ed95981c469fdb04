"""A few workers, each with a thread that owns it; jobs in, results out, and who is to be tried again."""

import os
import pickle
import signal
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Thread, current_thread
from typing import TypeAlias

from groundkit.adapters.extraction.calling import broken, failed, said
from groundkit.adapters.extraction.codec import decode
from groundkit.adapters.extraction.forked import Forked
from groundkit.adapters.extraction.frames import IN_WORKER, JOB, JOB_MARK
from groundkit.adapters.extraction.process import Answer, Died, Worker, started
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, checked
from groundkit.core.ports import ExtractionJob
from groundkit.core.result import Failure, Result, Success

Outcome: TypeAlias = Result[Extraction, ExtractionFailed]

#: After so many jobs a worker makes way for a fresh one, for what a library may leave behind in so long a life.
JOBS_OF_A_WORKER = 500
#: What a worker with a past may have failed of because of that past.
_OWING_TO_THE_PAST = (ExtractionProblem.CPU, ExtractionProblem.MEMORY)
#: Seconds that closing waits for each thread. Their processes are dead by then.
_PATIENCE = 5.0


class WorkerPool:
    """`Extractions` in so many worker processes, started when they are first needed and used again.

    Its threads and processes end with `close`, when the pool is forgotten, or with the interpreter. In a process that
    was forked off meanwhile it starts anew, and what was under way has failed there.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = _Jobs(max(1, jobs))
        weakref.finalize(self, self._jobs.close)
        _POOLS.add(self)

    def prepare(self) -> None:
        self._jobs.prepare()

    def room(self) -> bool:
        return self._jobs.room()

    def start(self, key: int, job: ExtractionJob) -> None:
        """See `Extractions`. Raises RuntimeError once the pool is closed."""
        self._jobs.start(key, job)

    def finished(self, wait: bool) -> list[tuple[int, Outcome]]:
        """See `Extractions`. Raises RuntimeError once the pool is closed, also in a thread that was waiting."""
        return self._jobs.finished(wait)

    def close(self) -> None:
        self._jobs.close()


class _Jobs:
    """What the pool and its threads share. Threads know this alone, so a pool can be forgotten while they wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._closed = False
        self._anew()

    def _anew(self) -> None:
        self._changed = Condition()
        self._threads: list[Thread] = []
        self._idle = 0
        self._workers: set[Worker | Forked] = set()
        self._waiting: deque[tuple[int, ExtractionJob]] = deque()
        self._running: list[int] = []
        self._ended: list[tuple[int, Outcome]] = []

    def prepare(self) -> None:
        with self._changed:
            if not (self._threads or self._closed or IN_WORKER in os.environ):
                self._employ(ahead=True)

    def room(self) -> bool:
        with self._changed:
            return len(self._waiting) + len(self._running) + len(self._ended) < 2 * self._most

    def start(self, key: int, job: ExtractionJob) -> None:
        with self._changed:
            self._open()
            if IN_WORKER in os.environ:
                self._ended.append((key, _IN_A_WORKER))
                self._changed.notify_all()
                return
            self._waiting.append((key, job))
            if len(self._waiting) > self._idle and len(self._threads) < self._most:
                self._employ()
            self._changed.notify_all()

    def _employ(self, ahead: bool = False) -> None:
        """One more thread; `ahead` of its first job it gets a worker ready."""
        thread = Thread(target=_Desk(self).serve, args=(ahead,), name="groundkit-extraction", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if not self._threads and not ahead:
                key, _ = self._waiting.pop()
                self._ended.append((key, failed(ExtractionProblem.DIED, said(error))))
            return
        self._threads.append(thread)

    def finished(self, wait: bool) -> list[tuple[int, Outcome]]:
        with self._changed:
            while wait and not self._ended and (self._waiting or self._running) and not self._closed:
                self._changed.wait()
            self._open()
            ended, self._ended = self._ended, []
            return ended

    def _open(self) -> None:
        if self._closed:
            raise RuntimeError("these extractions are closed")

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._ended.clear()
            workers, threads = list(self._workers), list(self._threads)
            self._changed.notify_all()
        for worker in workers:
            worker.kill()
        for thread in threads:
            if thread is not current_thread():
                thread.join(_PATIENCE)

    def take(self) -> tuple[int, ExtractionJob] | None:
        """The next job, waited for; None when there is no more work ever."""
        with self._changed:
            self._idle += 1
            while not self._waiting and not self._closed:
                self._changed.wait()
            self._idle -= 1
            if self._closed:
                return None
            key, job = self._waiting.popleft()
            self._running.append(key)
            return key, job

    def give(self, key: int, outcome: Outcome) -> None:
        with self._changed:
            self._running.remove(key)
            if not self._closed:
                self._ended.append((key, outcome))
            self._changed.notify_all()

    def adopt(self, worker: Worker | Forked) -> None:
        """Know of a worker, so that closing ends it. One that comes too late is killed here."""
        with self._changed:
            self._workers.add(worker)
            closed = self._closed
        if closed:
            worker.kill()

    def bury(self, worker: Worker | Forked) -> None:
        worker.end()
        with self._changed:
            self._workers.discard(worker)

    def closed(self) -> bool:
        return self._closed

    def forked(self) -> None:
        """In the child of a fork, where none of the threads exist and the workers belong to the parent."""
        lost = [*self._running, *(key for key, _ in self._waiting)]
        ended, workers = self._ended, self._workers
        self._anew()
        for worker in workers:
            worker.abandon()
        self._ended = [*ended, *((key, failed(ExtractionProblem.DIED, "the process was forked")) for key in lost)]


_IN_A_WORKER = failed(
    ExtractionProblem.RAISED,
    "a worker process extracts nothing by workers of its own",
)


class _Desk:
    """One thread's place: a worker, or none yet, and the jobs it does one after the other."""

    def __init__(self, jobs: _Jobs) -> None:
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
        ended = forked.run()
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


_POOLS: "weakref.WeakSet[WorkerPool]" = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_POOLS):
        pool._jobs.forked()


os.register_at_fork(after_in_child=_after_fork)

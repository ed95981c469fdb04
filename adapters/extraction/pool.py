"""A few workers, each with a thread that owns it; jobs in, results out."""

import os
import weakref
from collections import deque
from threading import Condition, Thread, current_thread

from groundkit.adapters.extraction.calling import failed, said
from groundkit.adapters.extraction.desk import Desk, Outcome
from groundkit.adapters.extraction.forked import Forked
from groundkit.adapters.extraction.frames import IN_WORKER
from groundkit.adapters.extraction.process import Worker
from groundkit.core.extraction import ExtractionProblem
from groundkit.core.ports import ExtractionJob

#: Seconds that closing waits for each thread. Their processes are dead by then.
_PATIENCE = 5.0


class WorkerPool:
    """`Extractions` in so many worker processes, started when they are first needed and used again.

    Its threads and processes end with `close`, when the pool is forgotten, or with the interpreter. In a process that
    was forked off meanwhile it starts anew, and what was under way has failed there.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = Jobs(max(1, jobs))
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


class Jobs:
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
        thread = Thread(target=Desk(self).serve, args=(ahead,), name="groundkit-extraction", daemon=True)
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


_POOLS: "weakref.WeakSet[WorkerPool]" = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_POOLS):
        pool._jobs.forked()


os.register_at_fork(after_in_child=_after_fork)

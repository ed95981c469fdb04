"""One job in a process forked off for it alone: for extractors that no other process can load.

That is a class of a script, of a prompt or a notebook, of a function, or an object with something in it that cannot be
pickled. A fork copies whatever locks other threads hold at that moment; should the extractor need one of them, its time
runs out.
"""

import os
import resource
import warnings
from contextlib import suppress
from threading import Lock

from groundkit.adapters.extraction.process import BIRTH, NEAR, Ended, Talk, in_bytes, kill_group, why_died
from groundkit.core.ports import ExtractionJob


class Forked:
    """A process that is working on its one job. One thread awaits it; any thread may `kill` it."""

    def __init__(self, job: ExtractionJob) -> None:
        """Begin. Raises OSError if there is no room for a process."""
        self._limits = job.limits
        self._dead = False
        self._lock = Lock()
        self._inherited_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with BIRTH:
            self._from, outbox = os.pipe()
            try:
                self._pid = _fork()
            except OSError:
                os.close(self._from)
                os.close(outbox)
                raise
            if self._pid == 0:
                _work(job, outbox)
            os.close(outbox)
        with suppress(OSError):  # the child does the same; whoever comes first
            os.setpgid(self._pid, self._pid)
        os.set_blocking(self._from, False)

    def run(self) -> Ended:
        """The answer, or how it ended instead. Nothing of it is left."""
        talk = Talk(-1, self._from, [], cap=self._limits.memory)
        in_time = talk.until(self._limits.seconds)
        code, peak = self._end()
        if talk.answer is not None:
            return talk.answer
        near = in_bytes(peak - self._inherited_peak) > NEAR * self._limits.memory
        return why_died(code, talk, in_time, near, self._limits)

    def kill(self) -> None:
        """Send it, and what it started, SIGKILL. Its owner notices."""
        with self._lock:
            if not self._dead:
                kill_group(self._pid)

    def end(self) -> None:
        """Kill it and wait for it. Twice does nothing."""
        with self._lock:
            dead = self._dead
        if not dead:
            self._end()

    def abandon(self) -> None:
        """In a process that was forked off its owner."""
        # One that had ended has closed its pipe, whose number may be that of another one by now.
        if not self._dead:
            self._dead = True
            os.close(self._from)

    def _end(self) -> tuple[int, int]:
        """Exit code, and peak of memory as the system counts it."""
        with self._lock:
            kill_group(self._pid)
            self._dead = True
            os.close(self._from)
            try:
                _, status, used = os.wait4(self._pid, 0)
            except ChildProcessError:  # where SIGCHLD is ignored nobody learns how a process ended
                return 0, 0
            return os.waitstatus_to_exitcode(status), used.ru_maxrss


def _fork() -> int:
    with warnings.catch_warnings():
        # Python warns of forking beside threads. The child does nothing but extract, and is killed if it stands still.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _work(job: ExtractionJob, outbox: int) -> None:
    """Never returns: what is above on this stack belongs to the process this is a copy of."""
    try:
        os.setpgid(0, 0)
        from groundkit.adapters.extraction.worker import work_once

        work_once(job, outbox)
    finally:
        os._exit(70)

"""One worker process as its owner sees it: start, one exchange of job for answer within its limits, a certain end."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock, RLock
from typing import TypeAlias

from attrs import frozen

from groundkit.adapters.extraction.calling import too_much_memory
from groundkit.adapters.extraction.frames import ANSWER, ANSWER_MARK, IN_WORKER
from groundkit.core.extraction import ExtractionFailed, ExtractionProblem
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import ExtractionLimits

#: Seconds for a worker to come up. Generous, for a cold disk; no job's time runs meanwhile.
_START_SECONDS = 60.0
#: Bytes for one read. A pipe holds no more.
_PIECE = 1 << 16
#: A worker that died holding so much of its limit is held to have died of it.
NEAR = 0.7
#: `-P` keeps the working directory from shadowing a module. What goes wrong here is said on standard output.
_BOOTSTRAP = """\
import json, sys
try:
    start = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = start["path"]
    from groundkit.adapters.extraction.worker import main
except BaseException as error:
    sys.exit(print(repr(error)))
main()
"""
#: Bytes of what a process says that is no worker.
_SAID = 300
#: Held while a process and its pipes come to be. No other one is forked off meanwhile, by anybody: it would hold the end
#: that a dead process is known by.
BIRTH = RLock()
os.register_at_fork(before=BIRTH.acquire, after_in_parent=BIRTH.release, after_in_child=BIRTH.release)


@frozen
class Answer:
    """An encoded result, and whether the worker takes no further job."""

    payload: bytes
    spent: bool


@frozen
class Died:
    """The worker is no more, and why."""

    problem: ExtractionProblem
    detail: str


Ended: TypeAlias = Answer | Died


def search_path() -> list[str]:
    """Where this process finds modules, so that a worker finds the same ones."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed, and holds no modules
        here = os.devnull
    entries: list[object] = [*sys.path]
    return [each or here for each in entries if isinstance(each, str)]


class Worker:
    """A process with two pipes. One thread talks with it; any thread may `kill` it. Call `end` when done."""

    def __init__(self) -> None:
        """Start it. Raises OSError if there is no such program, or no room for a process."""
        self.path = search_path()
        self.jobs = 0
        self._dead = False
        self._lock = Lock()
        # What the kernel reports as a process's peak begins with that of whoever started it.
        self._inherited_peak = 0
        with BIRTH:
            self._process = subprocess.Popen(
                [_executable(), "-P", "-c", _BOOTSTRAP],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                env=os.environ | {IN_WORKER: "1", "PYTHONHASHSEED": "0"},
                # A group of its own: Ctrl-C in a terminal is for us, and what it starts itself is killed with it.
                process_group=0,
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)

    @property
    def pid(self) -> int:
        return self._process.pid

    def greet(self) -> Result[None, ExtractionFailed]:
        """Tell it where it is, and wait until it is ready."""
        start = json.dumps({"path": self.path}).encode() + b"\n"
        talk = Talk(self._to, self._from, [start], cap=_PIECE)
        payload = talk.answer.payload if talk.until(_START_SECONDS) and talk.answer else b""
        if payload.isdigit():
            self._inherited_peak = int(payload)
            return Success(None)
        self.end()
        reason = talk.read[:_SAID].decode("utf-8", "replace") or f"{ending(self._process.returncode)}, and said nothing"
        return Failure(_not_started(reason))

    def fit(self) -> bool:
        """Whether it waits for a job: still there, silent, and with the modules that this process has."""
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        return not poll.poll(0) and self.path == search_path()

    def run(self, parts: Sequence[bytes], limits: ExtractionLimits) -> Ended:
        """The answer to a job, or how the worker ended instead. After the latter nothing of it is left."""
        self.jobs += 1
        talk = Talk(self._to, self._from, parts, cap=limits.memory)
        in_time = talk.until(limits.seconds)
        if talk.answer is not None:
            return talk.answer
        peak = self.end()
        near = peak > self._inherited_peak and in_bytes(peak) > NEAR * limits.memory
        return why_died(self._process.returncode, talk, in_time, near, limits)

    def kill(self) -> None:
        """Send it, and what it started, SIGKILL. Its owner notices."""
        with self._lock:
            if not self._dead:
                self._signal()

    def end(self) -> int:
        """Kill it, wait for it, close its pipes. Gives the peak that `wait4` reports. Twice does nothing."""
        with self._lock:
            if self._dead:
                return 0
            # Also one that is gone: until it is waited for its group exists, with what it may have started.
            self._signal()
            self._dead = True
            peak = self._waited()
        self._close()
        return peak

    def abandon(self) -> None:
        """Close the copies of its pipes in a process that was forked off its owner."""
        self._dead = True
        self._process.returncode = 0
        self._close()

    def _signal(self) -> None:
        kill_group(self._process.pid)

    def _waited(self) -> int:
        try:
            _, status, used = os.wait4(self._process.pid, 0)
        except ChildProcessError:  # where SIGCHLD is ignored nobody learns how a process ended
            self._process.returncode = 0
            return 0
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_maxrss

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    known = -code in signal.valid_signals()
    return f"was killed by {signal.Signals(-code).name if known and -code in _NAMED else f'signal {-code}'}"


def why_died(code: int, talk: "Talk", in_time: bool, near: bool, limits: ExtractionLimits) -> Died:
    """What ended a process that gave no answer. `near`: it held nearly as much memory as it may."""
    if not in_time or code == -signal.SIGALRM:
        return Died(ExtractionProblem.TIME, f"took longer than {limits.seconds:g} s; --time-limit raises it")
    if code == -signal.SIGXCPU:
        took = f"took more than {limits.cpu_seconds} s of a processor"
        return Died(ExtractionProblem.CPU, f"{took}; --cpu-limit raises it")
    if talk.over or near:
        return Died(ExtractionProblem.MEMORY, too_much_memory(limits.memory))
    return Died(ExtractionProblem.DIED, f"its process {'sent what is no answer' if talk.garbled else ending(code)}")


def kill_group(pid: int) -> None:
    """SIGKILL to a process that leads a group, and to what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


_NAMED = {int(each) for each in signal.Signals}


def _not_started(reason: str) -> ExtractionFailed:
    detail = f"no worker process could be started with {_executable()}: {reason}"
    return ExtractionFailed(ExtractionProblem.DIED, detail.replace("\n", " "))


def started() -> Result[Worker, ExtractionFailed]:
    """A process that is to become a worker; `greet` it next."""
    try:
        return Success(Worker())
    except OSError as error:
        return Failure(_not_started(error.strerror or str(error)))


def in_bytes(peak: int) -> int:
    return peak if sys.platform == "darwin" else peak * 1024


def _executable() -> str:
    """The interpreter; another one if the program that we are part of said so to `multiprocessing`."""
    spawn = sys.modules.get("multiprocessing.spawn")
    told = spawn.get_executable() if spawn is not None else None
    return os.fsdecode(told or sys.executable or "")


class Talk:
    """Writing a job and reading its answer at once, since a worker may answer, or die, before it has read it all."""

    def __init__(self, to: int, source: int, parts: Sequence[bytes], cap: int) -> None:
        self._to, self._from, self._cap = to, source, cap
        self._left = [memoryview(part) for part in parts if part]
        self.read = bytearray()
        self.answer: Answer | None = None
        self.garbled = self.over = False

    def until(self, seconds: float) -> bool:
        """Talk until there is an answer or none can come. False if that took too long."""
        end = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        if self._left:
            poll.register(self._to, select.POLLOUT)
        while True:
            left = max(0.0, end - time.monotonic())
            ready = {descriptor for descriptor, _ in poll.poll(min(left, 3600.0) * 1000)}
            if not ready and left <= 3600.0:
                return False
            if self._to in ready and not self._write():
                poll.unregister(self._to)
            if self._from in ready and not self._read():
                return True

    def _write(self) -> bool:
        """Whether there is more to write."""
        try:
            written = os.write(self._to, self._left[0])
        except BlockingIOError:
            return True
        except OSError:  # it reads no more; what it has to say comes through the other pipe
            self._left = []
            return False
        self._left[0] = self._left[0][written:]
        if not self._left[0]:
            del self._left[0]
        return bool(self._left)

    def _read(self) -> bool:
        """Whether there is more to read."""
        try:
            piece = os.read(self._from, _PIECE)
        except BlockingIOError:
            return True
        except OSError:
            piece = b""
        self.read += piece
        return bool(piece) and self._more()

    def _more(self) -> bool:
        if len(self.read) < ANSWER.size:
            return not self._wrong(not ANSWER_MARK.startswith(self.read[: len(ANSWER_MARK)]))
        mark, size, spent = ANSWER.unpack_from(self.read)
        self.over = mark == ANSWER_MARK and size > self._cap
        if self.over or self._wrong(mark != ANSWER_MARK or len(self.read) > ANSWER.size + size):
            return False
        if len(self.read) < ANSWER.size + size:
            return True
        # With data left unwritten the next job would be read as the rest of this one.
        self.answer = Answer(bytes(memoryview(self.read)[ANSWER.size :]), spent or bool(self._left))
        return False

    def _wrong(self, wrong: bool) -> bool:
        self.garbled = wrong
        return wrong

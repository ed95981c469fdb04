"""What runs in a worker process: one job after the other, each within its limits.

Started by `process.Worker`, with the pipes as standard input and output; both get out of an extractor's way first.
"""

import math
import os
import pickle
import resource
import runpy
import signal
import sys
import warnings
from contextlib import suppress
from io import BytesIO
from types import ModuleType
from typing import Any, BinaryIO, NoReturn

from groundkit.adapters.extraction.calling import broken, extracted, failed, said, too_much_memory
from groundkit.adapters.extraction.codec import encode
from groundkit.adapters.extraction.frames import ANSWER, ANSWER_MARK, JOB, JOB_MARK
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem
from groundkit.core.result import Result, Success

#: A worker whose peak came above this part of its limit takes no further job: how much room one has is not to depend on
#: what came before it.
SPENT = 0.4
_GUARD = 'put what the script runs below `if __name__ == "__main__":`, or the extractor into a module'
_LONGEST = 10_000_000


def main(argv: list[str], name: str | None, path: str | None) -> NoReturn:
    """Work until the pool closes its end. The rest says what a class of the user's `__main__` is to be loaded from."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _settle()
    script = _Script(argv, name, path)
    _send(outbox, str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss).encode(), spent=False)
    # Not by returning: a thread that an extractor left behind would be waited for.
    with suppress(OSError):
        while _one(inbox, outbox, script):
            pass
    os._exit(0)


def _settle() -> None:
    """Signals and settings that the process which started us may have bent."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for each in (signal.SIGXCPU, signal.SIGALRM, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.resetwarnings()
    warnings.simplefilter("ignore")


def _one(inbox: BinaryIO, outbox: int, script: "_Script") -> bool:
    """Read and answer one job. False when there is nothing more to read."""
    header = inbox.read(JOB.size)
    if len(header) < JOB.size:
        return False
    mark, head_size, data_size, seconds, cpu, memory = JOB.unpack(header)
    if mark != JOB_MARK:
        return False
    _limit(seconds, cpu, memory)
    depth = sys.getrecursionlimit()
    payload = None
    with suppress(MemoryError):
        head, data = inbox.read(head_size), inbox.read(data_size)
        if len(head) + len(data) < head_size + data_size:
            return False
        payload = _answer(head, data, script)
        del data
    spent = payload is None or _spent(memory)
    _send(outbox, _no_room(memory) if payload is None else payload, spent)
    signal.alarm(0)
    sys.setrecursionlimit(depth)
    return not spent


def _no_room(memory: int) -> bytes:
    return encode(failed(ExtractionProblem.MEMORY, too_much_memory(memory)).failure())


def _answer(head: bytes, data: bytes, script: "_Script") -> bytes:
    """The encoded result. Raises MemoryError and nothing else."""
    result = _result(head, data, script)
    try:
        return encode(result.unwrap() if isinstance(result, Success) else result.failure())
    except (TypeError, ValueError, AttributeError) as error:
        return encode(broken(f"gave an extraction with a wrong value in it ({said(error)})").failure())


def _result(head: bytes, data: bytes, script: "_Script") -> Result[Extraction, ExtractionFailed]:
    try:
        extractor, identity, hint = _Unpickler(BytesIO(head), script).load()
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - a module or a script of theirs
        return failed(ExtractionProblem.RAISED, f"the extractor cannot be loaded in a worker process ({said(error)})")
    try:
        return extracted(extractor, identity, data, hint)
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - SystemExit, and KeyboardInterrupt that no keyboard sent
        return failed(ExtractionProblem.RAISED, said(error))


def _send(outbox: int, payload: bytes, spent: bool) -> None:
    for part in (ANSWER.pack(ANSWER_MARK, len(payload), spent), payload):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(outbox, rest) :]


def _limit(seconds: float, cpu: int, memory: int) -> None:
    """Limits from here on. Only the soft ones, so that the next job can have others.

    The alarm is for the day that nobody is there any more to kill us.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + cpu))
    _lower(resource.RLIMIT_AS, memory)
    signal.alarm(math.ceil(min(seconds, _LONGEST)) + 1)


def _lower(what: int, soft: int) -> None:
    hard = resource.getrlimit(what)[1]
    with suppress(OSError, ValueError, OverflowError):  # macOS takes no limit of memory that is below what is in use
        resource.setrlimit(what, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _spent(memory: int) -> bool:
    threading: Any = sys.modules.get("threading")
    return _peak() > SPENT * memory or (threading is not None and threading.active_count() > 1)


def _peak() -> int:
    """Most memory this process ever held, in bytes. What `getrusage` says may be the peak of whoever started us."""
    with suppress(OSError), open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class _Script:
    """The user's main script, loaded once, and only for a class that is defined in it."""

    def __init__(self, argv: list[str], name: str | None, path: str | None) -> None:
        self._argv, self._name, self._path = argv, name, path
        self._failure: str | None = None
        self._tried = False

    def load(self) -> None:
        """Raises ImportError, also the second time: a script is not run again because it failed."""
        if not self._tried:
            self._tried = True
            self._failure = self._run()
        if self._failure is not None:
            raise ImportError(self._failure)

    def _run(self) -> str | None:
        sys.argv = self._argv
        try:
            module = ModuleType("__mp_main__")
            module.__dict__.update(self._names())
        except MemoryError:
            raise
        except BaseException as error:  # noqa: BLE001 - a script of theirs
            return f"its script failed there: {said(error)}; {_GUARD}"
        sys.modules["__main__"] = sys.modules["__mp_main__"] = module
        return None

    def _names(self) -> dict[str, Any]:
        if self._name is not None:
            return runpy.run_module(self._name, run_name="__mp_main__", alter_sys=True)
        if self._path is not None:
            return runpy.run_path(self._path, run_name="__mp_main__")
        raise ImportError("it is in no file")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, script: _Script) -> None:
        super().__init__(file)
        self._script = script

    def find_class(self, module: str, name: str) -> Any:
        if module in ("__main__", "__mp_main__"):
            self._script.load()
        return super().find_class(module, name)

"""What runs in a worker process: one job after the other, each within its limits.

Started by `process.Worker`, with the pipes as standard input and output; both get out of an extractor's way first.
"""

import gc
import math
import os
import pickle
import resource
import signal
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from groundkit.adapters.extraction.calling import broken, extracted, failed, said, too_much_memory
from groundkit.adapters.extraction.codec import encode
from groundkit.adapters.extraction.frames import ANSWER, ANSWER_MARK, IN_WORKER, JOB, JOB_MARK
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint
from groundkit.core.result import Result, Success

if TYPE_CHECKING:  # a worker starts sooner without it
    from groundkit.core.ports import ExtractionJob, Extractor

#: A worker whose peak came above this part of its limit takes no further job: how much room one has is not to depend on
#: what came before it.
SPENT = 0.4
_LONGEST = 10_000_000
#: A tree of a page is a hundred thousand objects that all live to its end: looking for garbage in it again and again takes
#: a third of the time.
_SELDOM = (100_000, 20, 20)


def main() -> NoReturn:
    """Work until the pool closes its end."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.dup(1)
    _put_away(0, 1)
    _settle()
    gc.set_threshold(*_SELDOM)
    _send(outbox, str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss).encode(), spent=False)
    # Not by returning: a thread that an extractor left behind would be waited for.
    with suppress(OSError):
        while _one(inbox, outbox):
            pass
    os._exit(0)


def work_once(job: "ExtractionJob", outbox: int) -> NoReturn:
    """One job in a process that was forked off for it, and so has its extractor already."""
    # Collecting would end things that belong to the process this is a copy of, connections to a database among them.
    gc.disable()
    os.environ[IN_WORKER] = "1"
    _put_away(0, 1, 2)
    # Whatever stands there in this program, a notebook's or a test's.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stdout
    _settle()
    _limit(job.limits.seconds, job.limits.cpu_seconds, _address_space() + job.limits.memory)
    payload = None
    with suppress(MemoryError):
        payload = _encoded(_extracted(job.extractor, job.identity, job.data, job.hint))
    with suppress(OSError):
        _send(outbox, _no_room(job.limits.memory) if payload is None else payload, spent=True)
    os._exit(0)


def _put_away(*descriptors: int) -> None:
    """What an extractor prints goes nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for each in descriptors:
        os.dup2(null, each)


def _address_space() -> int:
    """Bytes that this process has mapped; 0 where the system does not say, and does not limit it either."""
    with suppress(OSError), open("/proc/self/statm", "rb") as pages:
        return int(pages.read().split()[0]) * resource.getpagesize()
    return 0


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


def _one(inbox: BinaryIO, outbox: int) -> bool:
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
        payload = _encoded(_result(head, data))
        del data
    spent = payload is None or _spent(memory)
    _send(outbox, _no_room(memory) if payload is None else payload, spent)
    signal.alarm(0)
    sys.setrecursionlimit(depth)
    return not spent


def _no_room(memory: int) -> bytes:
    return encode(failed(ExtractionProblem.MEMORY, too_much_memory(memory)).failure())


def _encoded(result: Result[Extraction, ExtractionFailed]) -> bytes:
    """Raises MemoryError and nothing else."""
    try:
        return encode(result.unwrap() if isinstance(result, Success) else result.failure())
    except (TypeError, ValueError, AttributeError) as error:
        return encode(broken(f"gave an extraction with a wrong value in it ({said(error)})").failure())


def _result(head: bytes, data: bytes) -> Result[Extraction, ExtractionFailed]:
    try:
        extractor, identity, hint = pickle.loads(head)
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - a module of theirs
        return failed(ExtractionProblem.NOT_LOADED, f"the extractor cannot be loaded in a worker ({said(error)})")
    return _extracted(extractor, identity, data, hint)


def _extracted(extractor: "Extractor", identity: str, data: bytes, hint: Hint) -> Result[Extraction, ExtractionFailed]:
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

"""The twins of `groundkit.adapters.system`: a clock that stands, a lock within one process."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock

from attrs import define, field

from groundkit.core.ports import LockBusy
from groundkit.core.result import Failure, Result, Success


@define
class FrozenClock:
    """Says the same until it is told otherwise."""

    at: str = "2026-01-01T00:00:00Z"

    def now(self) -> str:
        return self.at


@define
class MemoryLock:
    """`WriterLock` for everyone who shares this object."""

    holder: str = "the only process there is"
    _lock: Lock = field(factory=Lock, init=False)

    def hold(self, seconds: float) -> Result[AbstractContextManager[None], LockBusy]:
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            return Failure(LockBusy(self.holder))
        return Success(self._held())

    @contextmanager
    def _held(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._lock.release()

"""The life of one exchange: how long it may still last, and the end that another thread may put to it."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")


class OutOfTime(Exception):
    """The exchange has lasted as long as it may."""


class Stopped(Exception):
    """Somebody ended the exchange."""


class Lifeline:
    """One exchange's deadline, and a way to end it from outside: whatever it waits for, it stops waiting."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds
        self._changed = Condition()
        self._stopped = False
        self._handle: socket.socket | None = None

    def left(self) -> float:
        """Seconds, more than 0. Raises `Stopped` or `OutOfTime` instead."""
        seconds = self._until - monotonic()
        if self._stopped:
            raise Stopped
        if seconds <= 0:
            raise OutOfTime
        return seconds

    def pause(self, seconds: float) -> None:
        """Wait so long, if that much is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped, min(seconds, self.left()))
        self.left()

    def wait_for(self, work: Callable[[], T], discard: Callable[[T], object]) -> T:
        """What a call gives that may block for longer than there is time, or its exception.

        It runs in a thread of its own; what it gives when nobody waits any more is discarded.
        """
        attempt = _Attempt(work, discard, self._changed)
        seconds = self.left()
        Thread(target=attempt.run, name="gk-web-wait", daemon=True).start()
        with self._changed:
            try:
                self._changed.wait_for(lambda: attempt.done or self._stopped, seconds)
            finally:
                attempt.abandoned = True
        if not attempt.done:
            self.left()
            raise OutOfTime
        return attempt.outcome()

    def hold(self, connection: socket.socket) -> None:
        """Shut this connection down when the exchange is stopped. Only a duplicate survives a TLS handshake's wrapping."""
        with self._changed:
            self._let_go()
            self._handle = connection.dup()
            if self._stopped:
                self._shut()

    def stop(self) -> None:
        """End the exchange, from any thread."""
        with self._changed:
            self._stopped = True
            self._shut()
            self._changed.notify_all()

    def end(self) -> None:
        """Nothing is to be shut down any more."""
        with self._changed:
            self._let_go()

    def _shut(self) -> None:
        if self._handle is not None:
            with suppress(OSError):
                self._handle.shutdown(socket.SHUT_RDWR)

    def _let_go(self) -> None:
        if self._handle is not None:
            self._handle.close()
            self._handle = None


class _Attempt(Generic[T]):
    """A call that somebody waits for, until it is abandoned."""

    def __init__(self, work: Callable[[], T], discard: Callable[[T], object], changed: Condition) -> None:
        self._work, self._discard, self._changed = work, discard, changed
        self._given: list[T] = []
        self._error: BaseException | None = None
        self.abandoned = False

    @property
    def done(self) -> bool:
        return bool(self._given) or self._error is not None

    def run(self) -> None:
        given: list[T] = []
        error: BaseException | None = None
        try:
            given.append(self._work())
        except BaseException as raised:  # noqa: BLE001 - raised again in the thread that waits
            error = raised
        with self._changed:
            late = self.abandoned
            if not late:
                self._given, self._error = given, error
                self._changed.notify_all()
        for unwanted in given if late else []:
            self._discard(unwanted)

    def outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return self._given[0]

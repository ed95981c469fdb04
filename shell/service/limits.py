"""What one peer may take of the server: bytes, seconds and connections; and uvicorn's HTTP protocol with a clock on it.

uvicorn waits without end for a request's header, and for a peer that does not read what was written to it. Every state of a
connection here has a deadline, at which its descriptor is free.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import h11
from attrs import frozen
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from groundkit.service.problems import Problem, bad_request

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState


@frozen
class Limits:
    """Bytes of a body and of a header; seconds for each step of a request; connections at once."""

    body: int = 1 << 20
    headers: int = 16 << 10
    header_seconds: float = 10
    body_seconds: float = 10
    send_seconds: float = 20
    answer_seconds: float = 30
    connections: int = 128
    keep_alive: float = 5


def too_many_headers(most: int) -> Problem:
    return Problem("too_many_headers", 431, "The header is too large", f"a request's header has at most {most} bytes")


def too_many_connections(most: int) -> Problem:
    return Problem("busy", 503, "The server is busy", f"{most} connections are open already", "try again in a second")


def problem_response(problem: Problem) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body of a refusal."""
    body = json.dumps(problem.data, ensure_ascii=False).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    return headers, body


class _Hinting(h11.Connection):
    """Keeps the status that h11 suggests for what it could not read, which uvicorn drops."""

    hint = 400

    def next_event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        try:
            return super().next_event()
        except h11.RemoteProtocolError as error:
            self.hint = error.error_status_hint
            raise


class BoundedH11Protocol(H11Protocol):
    """One connection. uvicorn makes them of the class that `bounded` gives."""

    limits = Limits()
    #: Told of each problem that is answered here, where no application and no guard sees it.
    told: Callable[[Problem], None] = staticmethod(lambda _: None)

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn: _Hinting = _Hinting(h11.SERVER, self.limits.headers)
        self.timeout_keep_alive = self.limits.keep_alive  # type: ignore[assignment]
        self._header_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    # -- what asyncio calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # With no buffer to spare, `pause_writing` means that something is left and `resume_writing` that nothing is.
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > self.limits.connections:
            self._refuse(too_many_connections(self.limits.connections))
        else:
            self._watch_header()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        self._stop_stall_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self.limits.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_stall_timer()
        super().resume_writing()

    # -- what uvicorn calls

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_header()

    def send_400_response(self, msg: str) -> None:
        """What h11 cannot read is answered where no answer has begun. uvicorn's message tells nothing."""
        if self.conn.hint == 431:
            self._refuse(too_many_headers(self.limits.headers))
        else:
            self._refuse(bad_request("what was sent is no HTTP/1.1 request"))

    # -- deadlines

    @property
    def _awaits_header(self) -> bool:
        # uvicorn says a cycle is always there, and begins with none.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _watch_header(self) -> None:
        if self.transport.is_closing() or not self._awaits_header:
            self._stop_header_timer()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(self.limits.header_seconds, self._give_up)

    def _give_up(self) -> None:
        """What was answered before may still be on its way: closing waits for it, and `_stall_timer` for that."""
        self._header_timer = None
        if self._awaits_header:
            self.transport.close()

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _refuse(self, problem: Problem) -> None:
        """Answer and close. An application at work on the connection finds its peer gone, and writes nothing behind it."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        self.told(problem)
        headers, body = problem_response(problem)
        started = h11.Response(status_code=problem.status, headers=[*headers, (b"connection", b"close")])
        for event in (started, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()


def bounded(limits: Limits, told: Callable[[Problem], None] = lambda _: None) -> type[BoundedH11Protocol]:
    """The protocol with these limits, as uvicorn wants it: a class."""
    return type("BoundedH11Protocol", (BoundedH11Protocol,), {"limits": limits, "told": staticmethod(told)})

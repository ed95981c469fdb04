"""What stands in front of every surface: rules for headers, bounds for bodies and time, headers of answers, a line in the journal.

ASGI as uvicorn speaks it. The application behind gets requests whole, and never one that was refused.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from groundkit.service.admission import Asked, Refusal, refusal_of, too_large, too_slow
from groundkit.service.journal import Told
from groundkit.service.limits import problem_response
from groundkit.service.problems import our_bug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from groundkit.core.served_hosts import Allowed
    from groundkit.service.journal import Journal
    from groundkit.service.limits import Limits
    from groundkit.service.metrics import Metrics

#: On every answer, whatever the application says.
HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_OURS: Final = frozenset({*(name for name, _ in HEADERS), b"x-request-id", b"server"})
_CLOSE: Final = (b"connection", b"close")
#: WebSocket close code: the policy does not allow it (RFC 6455).
_POLICY: Final = 1008


class PeerGone(Exception):
    """Raised into the application when a peer does not take its answer."""


class Guard:
    """Answers what may not pass itself, with problem details. `token`: every request but `/healthz` has to bring it."""

    def __init__(
        self,
        app: ASGIApp,
        allowed: Allowed,
        token: str | None,
        limits: Limits,
        journal: Journal | None = None,
        metrics: Metrics | None = None,
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._app = app
        self._allowed = allowed
        self._token = token
        self._limits = limits
        self._journal = journal
        self._metrics = metrics
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._noted(scope, _Incoming(receive), send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": _POLICY})

    async def _noted(self, scope: Scope, receive: _Incoming, send: Send) -> None:
        began = time.monotonic()
        told = Told(self._new_id())
        scope.setdefault("state", {})["told"] = told
        answer = _Answer(send, told.request_id, self._limits.send_seconds)
        if self._metrics is not None:
            self._metrics.begun()
        try:
            await self._guarded(scope, receive, answer, told)
        finally:
            self._note(scope["method"], told, answer, time.monotonic() - began)

    async def _guarded(self, scope: Scope, receive: _Incoming, answer: _Answer, told: Told) -> None:
        asked = _asked(scope)
        refusal = refusal_of(asked, self._allowed, self._token, self._limits)
        if refusal is not None:
            await self._refuse(answer, refusal, receive, asked)
            return
        body = await self._body(receive)
        if isinstance(body, Refusal):
            await self._refuse(answer, body, receive, asked)
        elif body is not None:
            await self._pass_on(scope, _replayed(body, receive), answer, told)

    async def _body(self, receive: _Incoming) -> bytes | Refusal | None:
        """The whole of it; None where the peer is gone."""
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while not receive.ended:
                    chunks.append((await receive()).get("body", b""))
                    size += len(chunks[-1])
                    if size > self._limits.body:
                        return Refusal(too_large(self._limits.body))
        except TimeoutError:
            return Refusal(too_slow(self._limits.body_seconds))
        return None if receive.disconnected else b"".join(chunks)

    async def _pass_on(self, scope: Scope, receive: Receive, answer: _Answer, told: Told) -> None:
        try:
            await self._app(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is logged by type and place, and answered
            # A peer that does not read is no bug, in whatever the application wrapped it.
            if not answer.dropped and self._journal is not None:
                self._journal.fault(told.request_id, error)
        # A begun answer cannot be taken back: uvicorn closes the connection of one that is not finished.
        if not answer.begun and not answer.dropped:
            await answer.refuse(Refusal(our_bug()))

    async def _refuse(self, answer: _Answer, refusal: Refusal, receive: _Incoming, asked: Asked) -> None:
        if not asked.has_body:
            await answer.refuse(refusal)
            return
        lingers = refusal.problem.status != 408 and not asked.waits_for_us
        await answer.refuse(refusal, close=True, finish=not lingers)
        if lingers:
            await self._linger(receive)
            await answer.finish()

    async def _linger(self, receive: _Incoming) -> None:
        """Throw away what still comes: a connection closed over unread bytes is reset, and the peer never sees its answer."""
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while not receive.ended:
                    await receive()
        except TimeoutError:
            return

    def _note(self, method: str, told: Told, answer: _Answer, seconds: float) -> None:
        if self._metrics is not None:
            self._metrics.ended(told.operation, told.surface, answer.status, seconds)
            kind = answer.refused or told.problem
            if kind is not None:
                self._metrics.refused(kind)
        if self._journal is not None:
            self._journal.request(told, method, answer.status, seconds * 1000, answer.bytes, answer.refused)


class _Incoming:
    """What comes from the peer, and whether more of its body will."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False
        self.disconnected = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.disconnected = message["type"] == "http.disconnect"
        self.ended = self.disconnected or not message.get("more_body", False)
        return message


class _Answer:
    """The way back to the peer: adds our headers, counts, and gives up on a peer that takes nothing."""

    def __init__(self, send: Send, request_id: str, seconds: float) -> None:
        self._send = send
        self._request_id = request_id
        self._seconds = seconds
        self.status = 0
        self.bytes = 0
        self.dropped = False
        #: The kind of the problem that the guard answered.
        self.refused: str | None = None

    @property
    def begun(self) -> bool:
        return self.status != 0

    async def __call__(self, message: Message) -> None:
        if self.dropped:
            raise PeerGone
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*_kept(message.get("headers", ())), *self._added]}
        self.bytes += len(message.get("body", b""))
        try:
            async with asyncio.timeout(self._seconds):
                await self._send(message)
        except TimeoutError:
            self.dropped = True
            raise PeerGone from None

    @property
    def _added(self) -> list[tuple[bytes, bytes]]:
        return [*HEADERS, (b"x-request-id", self._request_id.encode())]

    async def refuse(self, refusal: Refusal, close: bool = False, finish: bool = True) -> None:
        """Answer the problem, unless the peer is gone. What is not finished is finished by `finish`."""
        self.refused = refusal.problem.kind
        headers, body = problem_response(refusal.problem)
        headers += [*refusal.headers, *((_CLOSE,) if close else ())]
        with suppress(PeerGone):
            await self({"type": "http.response.start", "status": refusal.problem.status, "headers": headers})
            await self({"type": "http.response.body", "body": body, "more_body": not finish})

    async def finish(self) -> None:
        with suppress(PeerGone):
            await self({"type": "http.response.body", "body": b"", "more_body": False})


def _asked(scope: Scope) -> Asked:
    target = len(scope.get("raw_path") or scope["path"].encode()) + len(scope.get("query_string", b""))
    return Asked(scope["method"], scope["path"], target, [(name.lower(), value) for name, value in scope["headers"]])


def _kept(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Without those that we say ourselves, and those that would open answers to pages of other sites."""
    named = [(name.lower(), value) for name, value in headers]
    return [(name, value) for name, value in named if name not in _OURS and not name.startswith(b"access-control-")]


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The whole body at once, and then nothing until the peer is gone."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        while (message := await receive())["type"] != "http.disconnect":
            pass
        return message

    return replay

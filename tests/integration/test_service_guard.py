"""The guard and the bounded protocol over real sockets: what passes, what is refused, and what nobody can take away from others."""

import asyncio
import base64
import io
import json
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from groundkit.core.served_hosts import Allowed, allowed_hosts
from groundkit.service.admission import Asked, refusal_of
from groundkit.service.guard import Guard
from groundkit.service.journal import Journal, quiet_foreign_loggers
from groundkit.service.limits import Limits, bounded
from groundkit.service.metrics import Metrics

TOKEN = "a-token-of-sixteen"
#: Tight enough to be met in a test; what waits for them waits a hundred times as long.
TIGHT = Limits(
    body=2000, headers=2000, header_seconds=0.4, body_seconds=0.4, send_seconds=0.4, connections=8, keep_alive=0.4
)
WIDE = Limits(body=2000, headers=2000)
PATIENCE = 40.0


class Echo:
    """An application of a few paths. `seen` is what it has noticed."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return
        self.seen.append(scope["path"])
        body = (await receive())["body"]
        match scope["path"]:
            case "/boom":
                raise ValueError("the query was: secret")
            case "/late":
                await send(begun())
                await send({"type": "http.response.body", "body": b"half", "more_body": True})
                raise ValueError("the query was: secret")
            case "/none":
                return
            case "/wait":
                self.seen.append((await receive())["type"])
            case "/once":
                await send(begun())
                await send({"type": "http.response.body", "body": bytes(1 << 23)})
            case "/some":
                await answer(send, bytes(50_000))
            case "/much":
                await self._much(send)
            case _:
                await answer(send, json.dumps({"length": len(body), "method": scope["method"]}).encode())

    async def _much(self, send: Send) -> None:
        await send(begun())
        try:
            while True:
                await send({"type": "http.response.body", "body": bytes(1 << 18), "more_body": True})
                await asyncio.sleep(0)
        except Exception as error:
            self.seen.append(type(error).__name__)
            raise


def begun() -> Message:
    # Headers that must not get out.
    forbidden = [(b"Access-Control-Allow-Origin", b"*"), (b"Server", b"echo"), (b"Referrer-Policy", b"unsafe-url")]
    return {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain"), *forbidden]}


async def answer(send: Send, body: bytes) -> None:
    start = begun()
    await send({**start, "headers": [*start["headers"], (b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


class Served:
    def __init__(self, limits: Limits, token: str | None, sends: int | None) -> None:
        self.echo, self.log, self.metrics = Echo(), io.StringIO(), Metrics()
        self.socket = socket.create_server(("127.0.0.1", 0))
        if sends is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sends)
        self.port: int = self.socket.getsockname()[1]
        journal = Journal(self.log)
        self.lines = quiet_foreign_loggers(journal)
        guard = Guard(self.echo, allowed("127.0.0.1", self.port), token, limits, journal, self.metrics)
        config = uvicorn.Config(
            guard,
            http=bounded(limits),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],))
        self.thread.start()
        until(lambda: self.server.started)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        self.socket.close()
        self.lines.restore()

    @property
    def connections(self) -> int:
        return len(self.server.server_state.connections)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def connect(self, receives: int | None = None) -> socket.socket:
        peer = socket.socket()
        if receives is not None:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        peer.settimeout(PATIENCE)
        peer.connect(("127.0.0.1", self.port))
        return peer

    def answers(self) -> bool:
        return status(self.ask(get(self.port))) == 200

    def ask(self, sent: bytes) -> bytes:
        with closing(self.connect()) as peer:
            with suppress(ConnectionError):
                peer.sendall(sent)
            return all_of(peer)


def allowed(host: str, port: int) -> Allowed:
    return allowed_hosts(host, port).unwrap()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.01)


def all_of(peer: socket.socket) -> bytes:
    """What a peer gets until the connection ends, in whatever way."""
    got = b""
    with suppress(ConnectionError):
        while chunk := peer.recv(1 << 16):
            got += chunk
    return got


def status(response: bytes) -> int:
    assert response.startswith(b"HTTP/1.1 "), response[:100]
    return int(response.split(b" ", 2)[1])


def headers_of(response: bytes) -> list[tuple[str, str]]:
    lines = response.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]


def body_of(response: bytes) -> bytes:
    return response.partition(b"\r\n\r\n")[2]


def problem_of(response: bytes) -> dict[str, Any]:
    assert ("content-type", "application/problem+json") in headers_of(response)
    problem: dict[str, Any] = json.loads(body_of(response))
    assert problem["status"] == status(response)
    return problem


def request(port: int, method: str, path: str, headers: list[str], body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *headers, "Connection: close"]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).replace("PORT", str(port)).encode("latin-1") + body


def get(port: int, path: str = "/echo") -> bytes:
    return request(port, "GET", path, ["Host: localhost:PORT"])


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def served(limits: Limits, token: str | None = None, sends: int | None = None) -> Iterator[Served]:
    """`sends`: bytes that the system keeps for a peer that does not read."""
    before = descriptors()
    server = Served(limits, token, sends)
    try:
        yield server
    finally:
        server.stop()
    until(lambda: descriptors() == before)


@pytest.fixture(scope="module")
def wide() -> Iterator[Served]:
    with served(WIDE) as server:
        yield server


@pytest.fixture(scope="module")
def locked() -> Iterator[Served]:
    with served(WIDE, TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def tight() -> Iterator[Served]:
    with served(TIGHT, sends=4096) as server:
        yield server


@pytest.fixture
def unleaked(tight: Served) -> Iterator[Served]:
    """The tight server, which afterwards answers, holds no connection and as many descriptors as before."""
    until(lambda: tight.connections == 0)
    before = descriptors()
    yield tight
    until(lambda: tight.connections == 0)
    until(lambda: descriptors() == before)
    assert tight.answers()


# Rules for headers

HOST = "Host: localhost:PORT"
JSON = "Content-Type: application/json"
BEARER = f"Authorization: Bearer {TOKEN}"


def basic(text: str) -> str:
    return f"Authorization: Basic {base64.b64encode(text.encode()).decode()}"


TABLE: list[tuple[int, str, str, list[str]]] = [
    # Host
    (200, "GET", "/echo", [HOST]),
    (200, "GET", "/echo", ["Host: LOCALHOST:PORT"]),
    (200, "GET", "/echo", ["Host: 127.0.0.1:PORT"]),
    (200, "GET", "/echo", ["Host: [::1]:PORT"]),
    (421, "GET", "/echo", ["Host: localhost"]),
    (421, "GET", "/echo", ["Host: localhost:evil.test"]),
    (421, "GET", "/echo", ["Host: localhost:PORT.evil.test"]),
    (421, "GET", "/echo", ["Host: 127.0.0.1:PORT@evil.test"]),
    (421, "GET", "/echo", ["Host: localhost.:PORT"]),
    (421, "GET", "/echo", ["Host: evil.test:PORT"]),
    (421, "GET", "/echo", ["Host:"]),
    (421, "GET", "/healthz", ["Host: evil.test"]),
    (400, "GET", "/echo", []),
    (400, "GET", "/echo", [HOST, HOST]),
    (400, "GET", "http://evil.test/echo", [HOST]),
    # Origin
    (200, "GET", "/echo", [HOST, "Origin: http://localhost:PORT"]),
    (200, "GET", "/echo", [HOST, "Origin: https://127.0.0.1:PORT"]),
    (403, "GET", "/echo", [HOST, "Origin: null"]),
    (403, "GET", "/echo", [HOST, "Origin: http://localhost:PORT.evil.test"]),
    (403, "GET", "/echo", [HOST, "Origin: http://localhost"]),
    (403, "GET", "/echo", [HOST, "Origin: http://localhost:PORT", "Origin: http://localhost:PORT"]),
    (403, "POST", "/echo", [HOST, "Origin: https://evil.test", JSON]),
    # Sec-Fetch
    (403, "GET", "/echo", [HOST, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"]),
    (403, "GET", "/echo", [HOST, "Sec-Fetch-Site: cross-site"]),
    (200, "GET", "/echo", [HOST, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"]),
    (200, "GET", "/echo", [HOST, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"]),
    # Methods
    (200, "HEAD", "/echo", [HOST]),
    (405, "OPTIONS", "/echo", [HOST, "Access-Control-Request-Method: POST"]),
    (400, "OPTIONS", "*", [HOST]),
    (405, "DELETE", "/echo", [HOST]),
    (405, "DELETE", "/mcp", [HOST]),
    (405, "OPTIONS", "/mcp", [HOST]),
    (405, "get", "/echo", [HOST]),
    # Content-Type
    (200, "POST", "/echo", [HOST, JSON]),
    (200, "POST", "/echo", [HOST, "Content-Type: Application/JSON ; charset=UTF-8"]),
    (415, "POST", "/echo", [HOST]),
    (415, "POST", "/echo", [HOST, "Content-Type: text/plain"]),
    (415, "POST", "/echo", [HOST, "Content-Type: application/x-www-form-urlencoded"]),
    (415, "POST", "/echo", [HOST, "Content-Type: application/json, text/plain"]),
    (415, "POST", "/echo", [HOST, "Content-Type: application/jsonp"]),
    (415, "POST", "/echo", [HOST, "Content-Type: application/json; charset=latin-1"]),
    (415, "POST", "/echo", [HOST, "Content-Type: application/json; boundary=x"]),
    (415, "POST", "/echo", [HOST, JSON, JSON]),
    # No token is asked for, and none disturbs.
    (200, "GET", "/echo", [HOST, "Authorization: Bearer anything"]),
]

TOKENS: list[tuple[int, str, list[str]]] = [
    (200, "/echo", [BEARER]),
    (200, "/echo", [f"Authorization: bearer {TOKEN}"]),
    (200, "/echo", [basic(f"anyone:{TOKEN}")]),
    (200, "/echo", [basic(f":{TOKEN}")]),
    (200, "/healthz", []),
    (401, "/echo", []),
    (401, "/readyz", []),
    (401, "/healthz/", []),
    (401, "/echo", ["Authorization:"]),
    (401, "/echo", [f"Authorization: {TOKEN}"]),
    (401, "/echo", [f"Authorization: Bearer {TOKEN}x"]),
    (401, "/echo", [f"Authorization: Bearer {TOKEN[:-1]}"]),
    (401, "/echo", [f"Authorization: Bearer {TOKEN.upper()}"]),
    (401, "/echo", [f"Authorization: Bearer {TOKEN} {TOKEN}"]),
    (401, "/echo", [f"Authorization: Digest {TOKEN}"]),
    (401, "/echo", [BEARER, BEARER]),
    (401, "/echo", [basic(TOKEN)]),
    (401, "/echo", [basic(f"{TOKEN}:")]),
    (401, "/echo", [f"Authorization: Basic {TOKEN}"]),
    (401, "/echo", ["Authorization: Bearer \xe9\xff"]),
    (421, "/echo", ["Host: evil.test", BEARER]),
]


@pytest.mark.parametrize(("expected", "method", "path", "headers"), TABLE)
def test_a_request_is_answered_or_refused_by_its_header(
    wide: Served, expected: int, method: str, path: str, headers: list[str]
) -> None:
    body = b"{}" if method == "POST" else b""
    reached = len(wide.echo.seen)
    response = wide.ask(request(wide.port, method, path, headers, body))
    assert status(response) == expected
    if expected == 200:
        assert method == "HEAD" or b'"method": "' in response
    else:
        problem_of(response)
        assert len(wide.echo.seen) == reached


@pytest.mark.parametrize(("expected", "path", "headers"), TOKENS)
def test_a_token_is_asked_for(locked: Served, expected: int, path: str, headers: list[str]) -> None:
    named = headers if headers[:1] == ["Host: evil.test"] else [HOST, *headers]
    response = locked.ask(request(locked.port, "GET", path, named))
    assert status(response) == expected
    challenges = [value for name, value in headers_of(response) if name == "www-authenticate"]
    assert challenges == (['Bearer realm="groundkit"', 'Basic realm="groundkit"'] if expected == 401 else [])
    assert TOKEN.encode() not in response


@pytest.mark.parametrize(
    ("kind", "headers"),
    [
        ("misdirected", [(b"host", b"localhost:8080")] * 2),
        ("misdirected", []),
        ("no_token", [(b"host", b"localhost:8080")]),
        ("too_many_headers", [(b"host", b"localhost:8080"), *[(b"x", b"y")] * 100]),
        ("too_many_headers", [(b"host", b"localhost:8080"), (b"x", b"y" * 2000)]),
        (
            "bad_request",
            [(b"host", b"localhost:8080"), (b"content-length", b"-1"), (b"authorization", BEARER[15:].encode())],
        ),
    ],
)
def test_the_rules_hold_whatever_the_server_before_them_lets_through(
    kind: str, headers: list[tuple[bytes, bytes]]
) -> None:
    refused = refusal_of(Asked("GET", "/", 1, headers), allowed("127.0.0.1", 8080), TOKEN, WIDE)
    assert refused is not None and refused.problem.kind == kind


@pytest.mark.parametrize("path", ["/echo", "/boom", "/nobody"])
def test_every_answer_has_the_headers_that_protect_it_and_none_that_opens_it(wide: Served, path: str) -> None:
    host = ["Host: evil.test"] if path == "/nobody" else [HOST]
    found = headers_of(wide.ask(request(wide.port, "GET", path, host)))
    for name, value in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ]:
        assert [each for known, each in found if known == name] == [value]
    names = [name for name, _ in found]
    assert "x-request-id" in names and "server" not in names
    assert not any(name.startswith("access-control-") for name in names)


def test_a_request_has_an_id_of_ours_in_its_answer_and_in_the_journal(wide: Served) -> None:
    found = [
        dict(headers_of(wide.ask(request(wide.port, "GET", "/echo", [HOST, "X-Request-Id: theirs"]))))["x-request-id"]
        for _ in range(2)
    ]
    assert len(set(found)) == 2 and "theirs" not in found
    until(lambda: set(found) <= {event.get("request_id") for event in wide.events})


def test_a_websocket_is_closed_and_never_reaches_the_application() -> None:
    echo = Echo()
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    guard = Guard(echo, allowed("127.0.0.1", 8080), None, WIDE)
    asyncio.run(guard({"type": "websocket", "path": "/", "headers": []}, receive, send))
    assert [each["type"] for each in sent] == ["websocket.close"] and not echo.seen


def test_an_upgrade_is_an_ordinary_request(wide: Served) -> None:
    upgrade = [HOST, "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    assert (
        status(wide.ask(request(wide.port, "GET", "/echo", upgrade).replace(b"n: close", b"n: upgrade, close"))) == 200
    )


# Bugs of ours


@pytest.mark.parametrize("path", ["/boom", "/none"])
def test_an_application_that_fails_is_answered_for_and_nothing_of_its_message_gets_out(wide: Served, path: str) -> None:
    response = wide.ask(get(wide.port, path))
    assert problem_of(response)["type"].endswith("our_bug")
    assert b"secret" not in response
    until(lambda: any(event.get("problem") == "our_bug" for event in wide.events))
    assert "secret" not in wide.log.getvalue()


def test_a_failure_is_written_down_by_type_and_place(wide: Served) -> None:
    wide.ask(get(wide.port, "/boom"))
    until(lambda: any(event["event"] == "our_bug" for event in wide.events))
    fault = next(event for event in wide.events if event["event"] == "our_bug")
    assert fault["error"] == "ValueError" and fault["at"].startswith("integration/test_service_guard.py:")


def test_an_answer_that_breaks_off_is_seen_to(wide: Served) -> None:
    response = wide.ask(get(wide.port, "/late"))
    # Chunked, and without the last chunk: no client takes it for whole.
    assert response.endswith(b"half\r\n") and wide.answers()


# Bodies


def chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)


def posting(port: int, *headers: str) -> bytes:
    return request(port, "POST", "/echo", [HOST, JSON, *headers])


def test_a_body_is_handed_on_whole_up_to_the_limit(tight: Served) -> None:
    for body in (b"", b"x", b"x" * TIGHT.body):
        pieces = [piece for piece in (body[:700], body[700:]) if piece]
        response = tight.ask(posting(tight.port, "Transfer-Encoding: chunked") + chunked(*pieces, b""))
        assert json.loads(body_of(response))["length"] == len(body)


def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(unleaked: Served) -> None:
    response = unleaked.ask(posting(unleaked.port, f"Content-Length: {TIGHT.body + 1}"))
    assert status(response) == 413 and ("connection", "close") in headers_of(response)
    assert status(unleaked.ask(posting(unleaked.port, f"Content-Length: {10**18}"))) == 413


def test_a_peer_that_sends_its_large_body_anyway_sees_why_it_was_refused(wide: Served) -> None:
    body = b"x" * 30_000_000
    with closing(wide.connect()) as peer:
        # Most clients give up at a broken pipe, and look at no answer.
        peer.sendall(posting(wide.port, f"Content-Length: {len(body)}") + body)
        assert problem_of(all_of(peer))["status"] == 413


def test_a_refused_body_that_breaks_is_not_waited_for() -> None:
    with served(Limits(body=2000, body_seconds=900)) as server:
        with closing(server.connect()) as peer:
            peer.sendall(posting(server.port, "Transfer-Encoding: chunked") + chunked(b"x" * 3000))
            assert status(peer.recv(20)) == 413
            peer.sendall(b"zz\r\n")
            all_of(peer)
        until(lambda: server.connections == 0)
        assert server.answers()


def test_a_body_that_turns_out_too_large_is_refused(unleaked: Served) -> None:
    sent = posting(unleaked.port, "Transfer-Encoding: chunked") + chunked(*[b"x" * 500] * 5)
    assert problem_of(unleaked.ask(sent))["status"] == 413
    assert problem_of(unleaked.ask(sent + b"0\r\n\r\n"))["status"] == 413


def test_a_body_that_nobody_waits_for_is_asked_for(unleaked: Served) -> None:
    with closing(unleaked.connect()) as peer:
        peer.sendall(posting(unleaked.port, "Expect: 100-continue", "Content-Length: 2"))
        assert peer.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        peer.sendall(b"{}")
        assert status(all_of(peer)) == 200
    assert status(unleaked.ask(posting(unleaked.port, "Expect: 100-continue", "Content-Length: 9999"))) == 413


# Peers that are slow, large, broken or gone


def drip(peer: socket.socket, head: bytes, drop: bytes) -> bytes:
    """Send a little again and again, until the server has had enough. What it said."""
    peer.sendall(head)
    end = time.monotonic() + PATIENCE
    got = b""
    while time.monotonic() < end:
        with suppress(ConnectionError):
            peer.sendall(drop)
        if select.select([peer], [], [], 0.02)[0]:
            try:
                chunk = peer.recv(1 << 16)
            except ConnectionError:
                return got
            if not chunk:
                return got
            got += chunk
    pytest.fail("the server waits without end")


def test_a_header_that_drips_in_is_not_waited_for(unleaked: Served) -> None:
    with closing(unleaked.connect()) as peer:
        assert drip(peer, b"GET /echo HTTP/1.1\r\nX: ", b"x") == b""


def test_a_body_that_drips_in_is_not_waited_for(unleaked: Served) -> None:
    with closing(unleaked.connect()) as peer:
        assert problem_of(drip(peer, posting(unleaked.port, "Content-Length: 1999"), b"x"))["status"] == 408


def test_a_refused_body_that_drips_in_is_not_waited_for(unleaked: Served) -> None:
    with closing(unleaked.connect()) as peer:
        assert status(drip(peer, posting(unleaked.port, "Content-Length: 9999"), b"x")) == 413


def test_a_connection_that_says_nothing_is_closed(unleaked: Served) -> None:
    with closing(unleaked.connect()) as peer:
        assert all_of(peer) == b""


def kept(port: int) -> bytes:
    """A request that lets the connection live."""
    return get(port).replace(b"Connection: close\r\n", b"")


def test_a_next_header_that_drips_in_is_not_waited_for(unleaked: Served) -> None:
    with closing(unleaked.connect()) as peer:
        assert drip(peer, kept(unleaked.port) + b"GET /echo HTTP/1.1\r\nX: ", b"x").count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize(
    ("limits", "rest"),
    [(Limits(header_seconds=900, keep_alive=0.2), b""), (Limits(header_seconds=0.2, keep_alive=900), b"GET /ec")],
)
def test_a_connection_is_closed_when_it_is_idle_and_when_it_stops_in_its_next_header(
    limits: Limits, rest: bytes
) -> None:
    with served(limits) as server, closing(server.connect()) as peer:
        peer.sendall(kept(server.port) * 2 + rest)
        assert all_of(peer).count(b"HTTP/1.1 200") == 2


@pytest.mark.parametrize("count", [30, 100_000])
def test_a_header_that_is_too_large_is_refused(unleaked: Served, count: int) -> None:
    response = unleaked.ask(request(unleaked.port, "GET", "/echo", [HOST, *["X-Much: " + "x" * 80] * count]))
    # A peer that sends on and on may not see it.
    assert response == b"" or status(response) == 431
    assert response or count > 30
    assert status(unleaked.ask(get(unleaked.port, "/" + "x" * 2000))) == 431


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n\0\0\0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTQ/1.1\r\n\r\n",
        b"GET  /echo HTTP/1.1\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_what_is_no_http_is_answered_once_and_closed(unleaked: Served, sent: bytes) -> None:
    response = unleaked.ask(sent)
    assert problem_of(response)["status"] == 400 and response.count(b"HTTP/1.1 4") == 1


def test_a_broken_body_is_answered_once_and_never_handed_on(unleaked: Served) -> None:
    reached = len(unleaked.echo.seen)
    response = unleaked.ask(posting(unleaked.port, "Transfer-Encoding: chunked") + b"zz\r\nnot a chunk\r\n")
    assert problem_of(response)["status"] == 400 and response.count(b"HTTP/1.1 4") == 1
    assert len(unleaked.echo.seen) == reached


def reset(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


@pytest.mark.parametrize("leave", [socket.socket.close, reset])
def test_a_peer_that_leaves_in_the_middle_of_its_request_takes_nothing_with_it(
    unleaked: Served, leave: Callable[[socket.socket], None]
) -> None:
    for sent in (
        b"GET /ec",
        posting(unleaked.port, "Content-Length: 10") + b"{",
        posting(unleaked.port, "Content-Length: 9999"),
    ):
        peer = unleaked.connect()
        peer.sendall(sent)
        leave(peer)


@pytest.mark.parametrize("leave", [socket.socket.close, reset])
def test_a_peer_that_leaves_before_its_answer_is_told_of(
    unleaked: Served, leave: Callable[[socket.socket], None]
) -> None:
    told = unleaked.echo.seen.count("http.disconnect")
    peer = unleaked.connect()
    reached = unleaked.echo.seen.count("/wait")
    peer.sendall(get(unleaked.port, "/wait"))
    until(lambda: unleaked.echo.seen.count("/wait") > reached)
    leave(peer)
    until(lambda: unleaked.echo.seen.count("http.disconnect") > told)


@pytest.mark.parametrize("leave", [socket.socket.close, reset])
def test_a_peer_that_leaves_in_the_middle_of_its_answer_takes_nothing_with_it(
    unleaked: Served, leave: Callable[[socket.socket], None]
) -> None:
    peer = unleaked.connect()
    peer.sendall(get(unleaked.port, "/once"))
    assert peer.recv(1000)
    leave(peer)


# A little stays in asyncio's buffer, a lot stops the application, what has no end is broken off.
@pytest.mark.parametrize("path", ["/some", "/once", "/much"])
def test_a_peer_that_does_not_read_is_dropped(unleaked: Served, path: str) -> None:
    reached = unleaked.echo.seen.count(path)
    with closing(unleaked.connect(receives=4096)) as peer:
        peer.sendall(get(unleaked.port, path))
        until(lambda: unleaked.echo.seen.count(path) > reached)
        assert unleaked.answers()
        until(lambda: unleaked.connections == 0)
        if path == "/much":
            until(lambda: "PeerGone" in unleaked.echo.seen)


def test_a_peer_that_asks_on_and_on_without_reading_is_dropped(unleaked: Served) -> None:
    with closing(unleaked.connect(receives=4096)) as peer:
        peer.sendall(get(unleaked.port, "/once").replace(b"Connection: close\r\n", b"") * 5)
        until(lambda: unleaked.connections == 1)
        until(lambda: unleaked.connections == 0)


def test_what_is_broken_behind_an_answer_that_nobody_reads_is_answered_once() -> None:
    with served(Limits(body_seconds=0.1, send_seconds=0.6)) as server:
        first = get(server.port, "/once").replace(b"Connection: close\r\n", b"")
        with closing(server.connect(receives=4096)) as peer:
            peer.sendall(first + posting(server.port, "Transfer-Encoding: chunked") + b"zz\r\n")
            until(lambda: server.echo.seen == ["/once"])
            until(lambda: server.connections == 0)
        assert server.answers()
    # uvicorn complains of an application that answers what is answered.
    assert not [event for event in server.events if event["level"] == "error"]


def test_a_slow_reader_that_is_quick_enough_gets_the_whole_answer(wide: Served) -> None:
    with closing(wide.connect(receives=1 << 16)) as peer:
        peer.sendall(get(wide.port, "/once"))
        time.sleep(0.2)
        assert len(all_of(peer)) > 1 << 23


def test_more_connections_than_allowed_are_turned_away_and_the_others_served() -> None:
    with served(Limits(connections=2)) as server:
        first, second, third = (server.connect() for _ in range(3))
        with closing(first), closing(second), closing(third):
            assert problem_of(all_of(third))["status"] == 503
            first.sendall(get(server.port))
            assert status(all_of(first)) == 200
        until(lambda: server.connections == 0)
        assert server.answers()


def test_every_request_is_counted_once_and_none_remains_in_flight(wide: Served) -> None:
    def value(name: str) -> float:
        lines = wide.metrics.text().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))

    until(lambda: value("groundkit_in_flight ") == 0)
    before = value("groundkit_requests_total{"), value('groundkit_refused_total{kind="misdirected"}')
    wide.ask(get(wide.port))
    wide.ask(request(wide.port, "GET", "/echo", ["Host: evil.test"]))
    until(lambda: value("groundkit_requests_total{") == before[0] + 2)
    assert value('groundkit_refused_total{kind="misdirected"}') == before[1] + 1
    until(lambda: value("groundkit_in_flight ") == 0)


def test_the_journal_says_nothing_of_what_was_asked(wide: Served) -> None:
    wide.ask(
        request(
            wide.port, "GET", "/echo?q=confidential", [HOST, "X-Secret: confidential", "User-Agent: conf\x7fidential"]
        )
    )
    wide.ask(request(wide.port, "CONFIDENTIAL", "/confidential", [HOST]))
    wide.ask(b"CONFIDENTIAL\r\n\r\n")
    until(lambda: len(wide.events) > 2)
    assert "confidential" not in wide.log.getvalue().lower()

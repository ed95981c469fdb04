"""Clients of a server on this machine. Each keeps one connection open and asks again once it has its answer.

As a process of its own: a plan (the fields of `Plan`) as JSON on standard input, what came of it (`Burst`) on standard output.
Written for a server that is faster than most: requests are encoded before, and of an answer only its head is read.
"""

import json
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import cycle
from typing import TypeAlias

#: A method, a path and what is sent as JSON.
Request: TypeAlias = tuple[str, str, dict[str, object] | None]

#: How long an answer may take, in seconds.
PATIENCE = 60.0
_RECEIVED = 1 << 18


@dataclass(frozen=True)
class Plan:
    """`clients` ask for `seconds` and until there are `least` answers, the requests one after the other, again and again."""

    port: int
    clients: int
    seconds: float
    least: int
    requests: list[Request]


@dataclass
class Burst:
    """Seconds from the first request to the last answer, those that each answer took, bytes of all bodies, own processor time."""

    elapsed: float = 0.0
    cpu: float = 0.0
    received: int = 0
    latencies: list[float] = field(default_factory=list)


class Bad(Exception):
    """An answer that is none."""


def encoded(port: int, request: Request) -> bytes:
    method, path, asked = request
    body = b"" if asked is None else json.dumps(asked, ensure_ascii=False).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n"
    if asked is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class Connection:
    """Asks one thing at a time. `ConnectionError` where nobody listens or the server hangs up."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""
        self._end = 0

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, request: bytes) -> None:
        self._buffer, self._end = b"", 0
        self._socket.sendall(request)

    def receive(self) -> bytes | None:
        """What has come, if the answer is complete: its body."""
        came = self._socket.recv(_RECEIVED)
        if not came:
            raise ConnectionResetError(f"the server hung up after {self._buffer[:200]!r}")
        self._buffer += came
        if not self._end:
            self._end = _end_of(self._buffer)
        if not self._end or len(self._buffer) < self._end:
            return None
        if not self._buffer.startswith(b"HTTP/1.1 200 "):
            raise Bad(self._buffer[:1000].decode(errors="replace"))
        return self._buffer[self._buffer.index(b"\r\n\r\n") + 4 :]

    def ask(self, request: bytes) -> bytes:
        self.send(request)
        while (body := self.receive()) is None:
            pass
        return body


def _end_of(buffer: bytes) -> int:
    """Where an answer ends; 0 as long as its head is not whole."""
    head, separator, _ = buffer.partition(b"\r\n\r\n")
    if not separator:
        return 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(head) + 4 + int(value)
    raise Bad(f"an answer that does not say its length: {head[:300]!r}")


def asked(plan: Plan) -> Burst:
    """Connections are opened, and each has had an answer, before time is taken."""
    requests = cycle([encoded(plan.port, each) for each in plan.requests])
    connections = [Connection(plan.port) for _ in range(plan.clients)]
    for connection in connections:
        connection.ask(next(requests))
    burst = Burst()
    used, began = time.process_time(), time.perf_counter()
    _ask(plan, connections, requests, burst)
    burst.elapsed, burst.cpu = time.perf_counter() - began, time.process_time() - used
    for connection in connections:
        connection.close()
    return burst


def _ask(plan: Plan, connections: list[Connection], requests: Iterator[bytes], burst: Burst) -> None:
    until = time.perf_counter() + plan.seconds
    sent: dict[Connection, float] = {}
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ, connection)
            sent[connection] = time.perf_counter()
            connection.send(next(requests))
        while sent:
            ready = selector.select(PATIENCE)
            if not ready:
                raise Bad(f"no answer in {PATIENCE:g} s")
            for key, _ in ready:
                body = key.data.receive()
                if body is None:
                    continue
                now = time.perf_counter()
                burst.latencies.append(now - sent.pop(key.data))
                burst.received += len(body)
                if now < until or len(burst.latencies) + len(sent) < plan.least:
                    sent[key.data] = now
                    key.data.send(next(requests))


if __name__ == "__main__":
    read = json.load(sys.stdin)
    try:
        print(json.dumps(asdict(asked(Plan(**read)))))
    except (Bad, OSError) as error:
        sys.exit(f"asked on port {read['port']}: {error}")

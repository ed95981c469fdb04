"""A web server on the loopback interface that plays what it is told, and ways to reach it by public names.

What it does is a function from a request to the bytes that it sends, one after the other; see `page` for honest ones.
"""

import socket
import ssl
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, Self

import httpcore
import trustme
from attrs import define, field, frozen

from groundkit.testing import ScriptedPage

#: Public, and never connected to: `Detour` leads to the loopback interface instead.
ADDRESS = "93.184.215.14"
OTHER_ADDRESS = "93.184.215.15"

#: Yielded instead of bytes: the connection is reset.
RESET = None


@frozen
class Seen:
    """A request as it arrived: the name asked for in TLS, and the head, word for word."""

    name: str
    head: bytes
    server: "WebServer" = field(repr=False, eq=False)

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    def header(self, name: str) -> str:
        return self.headers.get(name.lower(), "")

    @property
    def headers(self) -> dict[str, str]:
        lines = (line.partition(":") for line in self.head.decode("latin-1").split("\r\n")[1:] if line)
        return {name.lower(): value.strip() for name, _, value in lines}

    @property
    def url(self) -> str:
        return f"{'https' if self.server.secure else 'http'}://{self.header('host')}{self.target}"


Trick = Callable[[Seen], Iterable[bytes | None]]


def page(
    body: bytes = b"<p>a page",
    kind: str | None = "text/html; charset=utf-8",
    status: int = 200,
    length: int | None = None,
    **headers: str,
) -> Trick:
    """An honest answer, unless its length is given."""
    named = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"{name}: {value}" for name, value in named.items() if value is not None]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return lambda _: [head(status, *lines) + body]


def scripted(pages: Mapping[str, ScriptedPage]) -> Trick:
    """Serves a script by URL, and says 304 to who has the version already."""

    def answer(seen: Seen) -> Iterable[bytes]:
        found = pages.get(seen.url, ScriptedPage(status=404))
        etag, date = seen.header("if-none-match"), seen.header("if-modified-since")
        if found.status == 200 and (etag == found.etag if etag else date == found.last_modified) and (etag or date):
            return [head(304, *([f"ETag: {found.etag}"] if found.etag else []))]
        return [head(found.status, *(f"{name}: {value}" for name, value in found.sent)) + found.body]

    return answer


def head(status: int, *lines: str) -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status} Said So", *lines, "", "")).encode("latin-1")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


CHUNKED = head(200, "Content-Type: text/html", "Transfer-Encoding: chunked")


class WebServer:
    """Serves in threads, one request for each connection, until it is closed."""

    def __init__(self, play: Trick, tls: ssl.SSLContext | None = None, greet: Trick | None = None) -> None:
        self.seen: list[Seen] = []
        self.connections = 0
        self.closing = Event()
        self._play, self._tls, self._greet = play, tls, greet
        self._lock = Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def secure(self) -> bool:
        return self._tls is not None

    def close(self) -> None:
        self.closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)
        try:
            connection.settimeout(10)
            self._converse(connection)
        except (OSError, ValueError):
            pass  # whoever asked went away, which is what most tricks are for
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _converse(self, raw: socket.socket) -> None:
        if self._greet is not None:
            _send(raw, self._greet(Seen("", b"", self)))
            return
        name: list[str] = []
        connection = raw
        if self._tls is not None:
            connection = self._tls.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
            with self._lock:
                self._open.add(connection)
            NAMES[connection] = name
            connection.do_handshake()
        try:
            seen = Seen("".join(name), _head_of(connection), self)
            self.seen.append(seen)
            _send(connection, self._play(seen))
        finally:
            NAMES.pop(connection, None)
            with self._lock:
                self._open.discard(connection)
            connection.close()


#: Where the name that a TLS client asked for is noted, by connection.
NAMES: dict[socket.socket, list[str]] = {}


def _head_of(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            raise OSError("no request")
        data += more
    return data


def _send(connection: socket.socket, pieces: Iterable[bytes | None]) -> None:
    for piece in pieces:
        if piece is None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        connection.sendall(piece)
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # else what was not read yet would reset the connection


def drip(seen: Seen, data: bytes, seconds: float = 0.05) -> Iterator[bytes]:
    """One byte after the other, slowly, until the server is closed."""
    for byte in data:
        yield bytes((byte,))
        if seen.server.closing.wait(seconds):
            return


def silence(seen: Seen) -> Iterator[bytes]:
    """Nothing, until the server is closed."""
    seen.server.closing.wait(30)
    yield from ()


@define
class Detour:
    """Dials the loopback interface where a public address was asked for, and says that it is that address.

    `ways` leads from port to server; `dialed` has every attempt.
    """

    ways: Mapping[int, int]
    dialed: list[tuple[str, int]] = field(factory=list)
    peer: str = ""

    def dial(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream:
        self.dialed.append((address, port))
        if port not in self.ways:
            raise ConnectionRefusedError(111, "refused")
        stream = httpcore.SyncBackend().connect_tcp("127.0.0.1", self.ways[port], timeout)
        return Elsewhere(stream, (self.peer or address, port))


@frozen
class Elsewhere(httpcore.NetworkStream):
    """A stream that gives another address for its peer's."""

    stream: httpcore.NetworkStream
    peer: tuple[str, int]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, timeout)

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return Elsewhere(self.stream.start_tls(ssl_context, server_hostname, timeout), self.peer)

    def get_extra_info(self, info: str) -> Any:
        return self.peer if info == "server_addr" else self.stream.get_extra_info(info)


def served_with(*leaves: trustme.LeafCert, name_of: Mapping[str, trustme.LeafCert] | None = None) -> ssl.SSLContext:
    """A server's context: the first certificate, or by the name asked for."""
    contexts = {name: served_with(leaf) for name, leaf in (name_of or {}).items()}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaves[0].configure_cert(context)

    def chosen(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> None:
        NAMES[connection].append(name or "")  # type: ignore[index]
        if name in contexts:
            connection.context = contexts[name]

    context.sni_callback = chosen
    return context


def trusted(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    return context

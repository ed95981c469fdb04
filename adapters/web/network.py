"""Connections to judged addresses alone, with a deadline and an allowance of bytes: httpcore's network, pinned.

httpcore takes SNI, the certificate's name and the Host header from the URL and not from here, so they stay those of the host.
"""

import os
import ssl
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any, Final, Protocol

import httpcore
from attrs import define, field, frozen

from groundkit.adapters.web.lifeline import Lifeline, OutOfTime

#: Seconds that one attempt to connect to one address may take.
CONNECTING: Final = 10.0
#: Failures to connect that are shown.
_SHOWN: Final = 3


class NotDialed(Exception):
    """No judged address took the connection. The message says why, for each."""


class Strayed(Exception):
    """A connection to somewhere else than was judged."""


class HeadTooLarge(Exception):
    """More bytes before the response's head was complete than are allowed."""


class ResponseTooLarge(Exception):
    """More bytes on the wire than a page of the allowed size can need."""


class Dialer(Protocol):
    def dial(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream:
        """A connection to an IP address. Raises OSError or httpcore's `ConnectError` and `ConnectTimeout`."""


@frozen
class SystemDialer:
    """Opens sockets. Takes addresses only, so that nothing is looked up."""

    def dial(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream:
        return httpcore.SyncBackend().connect_tcp(str(ip_address(address)), port, timeout)


@define
class Gauge:
    """How much has arrived, and how much may: `head` bytes until the head is complete, then `body` more."""

    head: int
    body: int
    received: int = 0
    _head_ended_at: int | None = None

    def head_is_complete(self) -> None:
        self._head_ended_at = self.received

    def check(self) -> None:
        """Before each read, so that the last one may go beyond."""
        if self._head_ended_at is None:
            if self.received > self.head:
                raise HeadTooLarge
        elif self.received - self._head_ended_at > self.body:
            raise ResponseTooLarge


@define
class PinnedBackend(httpcore.NetworkBackend):
    """The network of one exchange: one host and port, at addresses that were judged. `address` is the one that answered."""

    host: str
    port: int
    addresses: tuple[str, ...]
    dialer: Dialer
    lifeline: Lifeline
    gauge: Gauge
    address: str = ""
    _opened: list[httpcore.NetworkStream] = field(factory=list, init=False)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        if (host, port) != (self.host, self.port):
            raise Strayed
        failures = []
        for address in self.addresses:
            try:
                return self._connected(address)
            except (OSError, httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failures.append(f"{address}: {words_of(error)}")
        raise NotDialed("; ".join(failures[:_SHOWN]))

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        raise Strayed

    def close(self) -> None:
        """Close every connection that was opened."""
        for stream in self._opened:
            stream.close()

    def _connected(self, address: str) -> httpcore.NetworkStream:
        seconds = min(CONNECTING, self.lifeline.left())
        stream = self.lifeline.wait_for(
            lambda: self.dialer.dial(address, self.port, seconds), discard=lambda late: late.close()
        )
        self._opened.append(stream)
        peer = stream.get_extra_info("server_addr")
        if ip_address(peer[0]) != ip_address(address):
            raise Strayed
        connection = stream.get_extra_info("socket")
        if connection is not None:
            self.lifeline.hold(connection)
        self.address = address
        return _Wire(stream, self)

    def opened(self, stream: httpcore.NetworkStream) -> httpcore.NetworkStream:
        """A stream of this exchange, to be closed with it."""
        self._opened.append(stream)
        return _Wire(stream, self)


@frozen
class _Wire(httpcore.NetworkStream):
    """A stream on which nothing outlasts the exchange, and which counts what arrives."""

    _stream: httpcore.NetworkStream
    _network: PinnedBackend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._network.gauge.check()
        seconds = self._network.lifeline.left()
        try:
            data = self._stream.read(max_bytes, seconds)
        except httpcore.TimeoutException:
            raise OutOfTime from None
        self._network.gauge.received += len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        seconds = self._network.lifeline.left()
        try:
            self._stream.write(buffer, seconds)
        except httpcore.TimeoutException:
            raise OutOfTime from None

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        seconds = self._network.lifeline.left()
        try:
            stream = self._stream.start_tls(ssl_context, server_hostname, seconds)
        except httpcore.TimeoutException:
            raise OutOfTime from None
        _heed_the_end(stream)
        return self._network.opened(stream)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _heed_the_end(stream: httpcore.NetworkStream) -> None:
    """Take the end of a connection for that of its data only if TLS says so: anybody on the way can cut it (RFC 9112, 9.8)."""
    connection = stream.get_extra_info("socket")
    if isinstance(connection, ssl.SSLSocket):
        connection.suppress_ragged_eofs = False  # type: ignore[attr-defined] # as wrap_socket sets it


def words_of(error: BaseException) -> str:
    """Why a connection failed, in the system's words for the error alone."""
    if isinstance(error, httpcore.TimeoutException | TimeoutError):
        return "no answer in time"
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, ssl.SSLError):  # its number is OpenSSL's
        return "the connection was closed"
    number = cause.errno if isinstance(cause, OSError) else None
    return os.strerror(number).lower() if number else "the connection failed"

"""One exchange: a request sent to a judged address, and what came back, within the limits."""

import ssl
from collections.abc import Iterable
from typing import Final

import httpcore
from attrs import frozen

from groundkit.adapters.web.coding import Decoder, Undecodable, available, decoder_for
from groundkit.adapters.web.lifeline import Lifeline, OutOfTime, Stopped
from groundkit.adapters.web.network import (
    Dialer,
    Gauge,
    HeadTooLarge,
    NotDialed,
    PinnedBackend,
    ResponseTooLarge,
    Strayed,
    words_of,
)
from groundkit.adapters.web.tls import certificate_words, handshake_words
from groundkit.core.fetching import (
    FetchAnswer,
    Fetched,
    FetchFailed,
    FetchLimits,
    FetchProblem,
    FetchRequest,
    NotModified,
    RawResponse,
)
from groundkit.core.responses import PageHead, judged_head, sendable, too_large
from groundkit.core.result import Failure, Result, Success

ACCEPT: Final = "text/html, application/xhtml+xml, application/pdf, text/markdown;q=0.9, text/plain;q=0.8"
#: What the chunks' own sizes and extensions may add to a body on the wire.
_FRAMING: Final = 1024 * 1024


class TooLarge(Exception):
    """The body grew beyond what may be taken."""


@frozen
class Caller:
    """Who asks, and through what. Without a context nothing is asked over TLS."""

    dialer: Dialer
    context: ssl.SSLContext | None
    user_agent: str


def exchanged(
    caller: Caller, request: FetchRequest, addresses: tuple[str, ...], lifeline: Lifeline
) -> Result[FetchAnswer, FetchFailed]:
    """The answer of the first of these addresses that takes the connection.

    `NOT_CONNECTED` means that not a byte was answered, so that asking again repeats nothing.
    """
    gauge = Gauge(request.limits.headers, 2 * request.limits.body + _FRAMING)
    backend = PinnedBackend(request.url.host, request.url.port, addresses, caller.dialer, lifeline, gauge)
    url = _url(request)
    connection = httpcore.HTTPConnection(
        url.origin, ssl_context=caller.context, http1=True, http2=False, retries=0, network_backend=backend
    )
    try:
        response = connection.handle_request(httpcore.Request("GET", url, headers=_headers(caller, request)))
        gauge.head_is_complete()
        return _answer(request, response, backend)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the seam around what a hostile server makes of three libraries
        return Failure(_translated(error, request.limits, backend))
    finally:
        backend.close()


def _url(request: FetchRequest) -> httpcore.URL:
    """From its parts, so that nothing is parsed or normalised again."""
    url = request.url
    return httpcore.URL(
        scheme=url.scheme.encode(), host=url.host.encode("ascii"), port=url.port, target=url.target.encode("ascii")
    )


def _headers(caller: Caller, request: FetchRequest) -> list[tuple[bytes, bytes]]:
    validators = sendable(request.validators)
    named = (
        ("Host", request.url.authority),
        ("User-Agent", caller.user_agent),
        ("Accept", ACCEPT),
        ("Accept-Encoding", ", ".join(available())),
        ("If-None-Match", validators.etag),
        ("If-Modified-Since", validators.last_modified),
        ("Connection", "close"),
    )
    return [(name.encode(), value.encode("latin-1")) for name, value in named if value]


def _answer(
    request: FetchRequest, response: httpcore.Response, backend: PinnedBackend
) -> Result[FetchAnswer, FetchFailed]:
    if sum(len(name) + len(value) + 4 for name, value in response.headers) > request.limits.headers:
        raise HeadTooLarge
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
    judged = judged_head(request, response.status, headers)
    if isinstance(judged, Failure):
        return judged
    match judged.unwrap():
        case NotModified() as unchanged:
            return Success(unchanged)
        case PageHead() as head:
            body, payload = _read(response.iter_stream(), decoder_for(head.codings), request, backend.lifeline)
            raw = RawResponse(_status_line(response), headers, payload, backend.address) if request.raw else None
            return Success(Fetched(head.status, head.content_type, body, head.validators, raw))


def _read(stream: Iterable[bytes], decoder: Decoder, request: FetchRequest, lifeline: Lifeline) -> tuple[bytes, bytes]:
    """The body decoded, and as it came if that was asked for. Neither may be larger than the limit."""
    body, payload, arrived, most = bytearray(), bytearray(), 0, request.limits.body
    for data in stream:
        arrived += len(data)
        if arrived > most:
            raise TooLarge
        if request.raw:
            payload += data
        for piece in decoder.feed(data):
            lifeline.left()
            if len(body) + len(piece) > most:
                raise TooLarge
            body += piece
        lifeline.left()
    decoder.end()
    return bytes(body), bytes(payload)


def _status_line(response: httpcore.Response) -> str:
    version: bytes = response.extensions["http_version"]
    reason: bytes = response.extensions["reason_phrase"]
    return f"{version.decode('latin-1')} {response.status} {reason.decode('latin-1')}"


def _translated(error: Exception, limits: FetchLimits, backend: PinnedBackend) -> FetchFailed:
    try:
        if not isinstance(error, OutOfTime):
            backend.lifeline.left()
    except Stopped:
        # Whatever a connection that was shut down under it looked like.
        error = Stopped()
    except OutOfTime:
        # A connection that was not made within what was left of the whole.
        error = OutOfTime() if isinstance(error, NotDialed) else error
    return _ours(error, limits) or _theirs(error, backend)


def stopped() -> FetchFailed:
    return FetchFailed(FetchProblem.STOPPED, "fetching was stopped")


def out_of_time(limits: FetchLimits) -> FetchFailed:
    return FetchFailed(FetchProblem.TIME, f"not done within {limits.seconds:g} s; --fetch-seconds raises that")


def _ours(error: Exception, limits: FetchLimits) -> FetchFailed | None:
    """What we ended ourselves."""
    match error:
        case Stopped():
            return stopped()
        case OutOfTime():
            return out_of_time(limits)
        case HeadTooLarge():
            return _head_too_large(limits)
        case TooLarge():
            return too_large(limits.body, "the page is larger")
        case ResponseTooLarge():
            return too_large(limits.body, "more arrives than such a page needs")
        case Undecodable():
            return FetchFailed(FetchProblem.CONTENT_CODING, str(error))
        case Strayed():
            return FetchFailed(FetchProblem.ADDRESS_REFUSED, "the connection is not to the address that was judged")
        case NotDialed():
            return FetchFailed(FetchProblem.NOT_CONNECTED, str(error))
        case _:
            return None


def _theirs(error: Exception, backend: PinnedBackend) -> FetchFailed:
    """What a server or the network did. None of their words: those may quote what was sent."""
    cause = error if isinstance(error, ssl.SSLError) else error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return FetchFailed(FetchProblem.CERTIFICATE, f"{backend.host}: {certificate_words(cause)}")
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return FetchFailed(FetchProblem.PROTOCOL, handshake_words(cause))
    if getattr(cause, "error_status_hint", 0) == 431:
        return FetchFailed(FetchProblem.HEADERS_TOO_LARGE, "the headers or trailers are too large")
    if backend.gauge.received == 0 and isinstance(error, _LOST):
        return FetchFailed(FetchProblem.NOT_CONNECTED, f"{backend.address}: no answer: {_lost_words(error)}")
    if isinstance(error, httpcore.NetworkError | OSError):
        return FetchFailed(FetchProblem.PROTOCOL, f"the response broke off: {words_of(error)}")
    if isinstance(error, httpcore.ProtocolError):
        return FetchFailed(FetchProblem.PROTOCOL, "the response broke off, or is not what HTTP/1.1 allows")
    return FetchFailed(FetchProblem.PROTOCOL, f"the response cannot be read ({type(error).__name__})")


_LOST: Final = (httpcore.NetworkError, httpcore.RemoteProtocolError, OSError)


def _lost_words(error: Exception) -> str:
    return "the connection was closed" if isinstance(error, httpcore.RemoteProtocolError) else words_of(error)


def _head_too_large(limits: FetchLimits) -> FetchFailed:
    detail = f"more than {limits.headers:,} bytes of headers"
    return FetchFailed(FetchProblem.HEADERS_TOO_LARGE, detail)

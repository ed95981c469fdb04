"""What is asked of a fetcher, what it answers with, and why there is nothing. No text here holds a secret of a URL."""

from typing import TypeAlias

from attrs import field, frozen

from groundkit.core.settings import Settings
from groundkit.core.urls import DEFAULT_PORTS, WebUrl
from groundkit.core.web_failures import FetchFailed, FetchProblem, NotFetched

__all__ = [
    "ContentType",
    "FetchAnswer",
    "FetchFailed",
    "FetchLimits",
    "FetchProblem",
    "FetchRequest",
    "Fetched",
    "NotFetched",
    "NotModified",
    "RawResponse",
    "Validators",
    "request_for",
]


@frozen
class FetchLimits:
    """What one exchange may take: bytes of the decoded body, seconds from the look-up to the last byte, bytes of headers."""

    body: int
    seconds: float
    headers: int = 64 * 1024


@frozen
class Validators:
    """What a server said of the version that is stored, word for word; "" where it said nothing."""

    etag: str = ""
    last_modified: str = ""


@frozen
class FetchRequest:
    """A page to be fetched. With validators, `NotModified` may come instead of it; with `raw`, the response as it came.

    `ports` are those that URLs may have here: what is said of a redirect's target depends on them.
    """

    url: WebUrl
    limits: FetchLimits
    validators: Validators | None = None
    raw: bool = False
    ports: tuple[int, ...] = DEFAULT_PORTS


def request_for(
    url: WebUrl, settings: Settings, validators: Validators | None = None, raw: bool = False
) -> FetchRequest:
    """A page to be fetched within a collection's limits."""
    limits = FetchLimits(settings.fetch_bytes, settings.fetch_seconds)
    return FetchRequest(url, limits, validators, raw, settings.fetch_ports)


@frozen
class ContentType:
    """A `Content-Type` header: media type and charset in lower case, and the header as it came, printable; all "" without."""

    media_type: str = ""
    charset: str = ""
    said: str = ""


@frozen
class RawResponse:
    """A response as it came, but for its transfer coding: status line, headers in order, the payload still encoded."""

    status_line: str
    headers: tuple[tuple[str, str], ...]
    payload: bytes = field(repr=False)
    address: str


@frozen
class Fetched:
    """A page: its body decoded from its content coding, what was said of it, and the raw response where it was asked for."""

    status: int
    content_type: ContentType
    body: bytes = field(repr=False)
    validators: Validators
    raw: RawResponse | None = None


@frozen
class NotModified:
    """The server says that the stored version is still the current one."""


FetchAnswer: TypeAlias = Fetched | NotModified

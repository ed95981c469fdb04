"""What the head of a response means: a page to be read, "not modified", or why there is nothing to read.

Judged before a byte of the body is asked for (RFC 9110).
"""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, TypeAlias

from attrs import frozen

from groundkit.core.content_types import agreed, content_type
from groundkit.core.fetching import ContentType, FetchFailed, FetchProblem, FetchRequest, NotModified, Validators
from groundkit.core.logins import leads_to_login
from groundkit.core.masking import masked_url
from groundkit.core.pages import PAGE_KINDS, TAKEN, UNKNOWN_TYPES
from groundkit.core.result import Failure, Result, Success
from groundkit.core.urls import resolved, web_url

Headers: TypeAlias = Sequence[tuple[str, str]]

#: Statuses whose body is the page that was asked for, whole.
_PAGE: Final = (200, 203)
_NOT_WHOLE: Final = {204: "there is no page", 205: "there is no page", 206: "it is a part of the page"}
_LATER: Final = (429, 503)
#: RFC 9110, 10.2.3: seconds, or a date as it is to be sent. Anything else is the server's own words.
_RETRY_AFTER: Final = re.compile(
    r"([0-9]{1,9})|[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
)
_SHOWN: Final = 300


@frozen
class PageHead:
    """A page follows: what it is said to be, the codings of its body in the order they were applied, its validators."""

    status: int
    content_type: ContentType
    codings: tuple[str, ...]
    validators: Validators


def judged_head(request: FetchRequest, status: int, headers: Headers) -> Result[PageHead | NotModified, FetchFailed]:
    """What is to be done about a response with this status and these headers (any case, in order)."""
    said = _by_name(headers)
    if status == 304:
        return _unchanged(request.validators)
    if 300 <= status < 400:
        return Failure(_redirect(request, status, said.get("location", [])))
    if status not in _PAGE:
        return Failure(_no_page(status, said))
    return _page(request, status, said)


def sendable(validators: Validators | None) -> Validators:
    """The validators that can stand in a header as they are, the others left out."""
    if validators is None:
        return Validators()
    return Validators(_in_a_header(validators.etag), _in_a_header(validators.last_modified))


def _unchanged(validators: Validators | None) -> Result[PageHead | NotModified, FetchFailed]:
    if sendable(validators) != Validators():
        return Success(NotModified())
    return Failure(FetchFailed(FetchProblem.UNASKED_304, "304 Not Modified, though nothing was asked about a version"))


def _no_page(status: int, said: Mapping[str, list[str]]) -> FetchFailed:
    detail = _status(status)
    if status in _NOT_WHOLE:
        detail += f": {_NOT_WHOLE[status]}"
    if status in _LATER and (when := _RETRY_AFTER.fullmatch(_first(said, "retry-after"))):
        detail += f"; the server says to try again after {when[0]}{' seconds' if when[1] else ''}"
    return FetchFailed(FetchProblem.STATUS, detail)


def _page(
    request: FetchRequest, status: int, said: Mapping[str, list[str]]
) -> Result[PageHead | NotModified, FetchFailed]:
    header = agreed(said.get("content-type", []))
    if header is None:
        return Failure(FetchFailed(FetchProblem.CONTENT_TYPE, "the server names several content types that differ"))
    kind = content_type(header)
    if (
        kind.said
        and kind.media_type not in PAGE_KINDS
        and (not kind.media_type or kind.media_type not in UNKNOWN_TYPES)
    ):
        return Failure(FetchFailed(FetchProblem.CONTENT_TYPE, f"the page is {_shown(_essence(kind), 80)}; {TAKEN}"))
    length = _length(said.get("content-length", []))
    if length is not None and length > request.limits.body:
        return Failure(too_large(request.limits.body, f"the server declares {length:,} bytes"))
    validators = sendable(Validators(_first(said, "etag"), _first(said, "last-modified")))
    return Success(PageHead(status, kind, _codings(said.get("content-encoding", [])), validators))


def too_large(limit: int, what: str) -> FetchFailed:
    """The failure of a page that is larger than is allowed; `what` says how that showed."""
    return FetchFailed(FetchProblem.TOO_LARGE, f"{what}; at most {limit:,} bytes are taken, --fetch-bytes raises that")


def _redirect(request: FetchRequest, status: int, locations: list[str]) -> FetchFailed:
    if not locations or not locations[0].strip():
        return FetchFailed(FetchProblem.REDIRECT, f"{_status(status)}, without saying where to")
    location = _as_utf8(locations[0].strip())
    target = resolved(request.url, location)
    login = ", and it looks like a login page" if leads_to_login(target) else ""
    shown = _shown(masked_url(target), _SHOWN)
    return FetchFailed(FetchProblem.REDIRECT, f"{_status(status)} to {shown}{login}; {_way_out(target, request.ports)}")


def _way_out(target: str, ports: tuple[int, ...]) -> str:
    match web_url(target, ports):
        case Success():
            return "redirects are not followed: ingest that URL itself if it is the page you mean"
        case Failure(refused):
            return f"that URL would be refused: {refused.detail}"


def _status(status: int) -> str:
    """A status with the standard's name for it, never the server's own words."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status}"


def _by_name(headers: Headers) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {}
    for name, value in headers:
        said.setdefault(name.lower(), []).append(value)
    return said


def _first(said: Mapping[str, list[str]], name: str) -> str:
    return next(iter(said.get(name, ())), "").strip()


def _codings(values: list[str]) -> tuple[str, ...]:
    named = (coding.strip().lower() for value in values for coding in value.split(","))
    return tuple(coding for coding in named if coding and coding != "identity")


def _length(values: list[str]) -> int | None:
    # Twenty digits are more than any limit; more would only cost time.
    digits = values[0].strip()[:20] if values else ""
    return int(digits) if digits.isascii() and digits.isdigit() else None


def _essence(kind: ContentType) -> str:
    return kind.media_type or kind.said


def _in_a_header(value: str) -> str:
    """The value if it is one line of what a header may hold (RFC 9110, 5.5), of a sane length."""
    fits = len(value) <= 1024 and all(" " <= char <= "~" or "\x80" <= char <= "\xff" for char in value)
    return value if fits and value == value.strip() else ""


def _as_utf8(value: str) -> str:
    """A header's bytes, given as Latin-1, as the UTF-8 that servers write there; else as they are."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _shown(text: str, length: int) -> str:
    printable = "".join(char if char.isprintable() else "?" for char in text)
    return printable if len(printable) <= length else f"{printable[:length]}…"

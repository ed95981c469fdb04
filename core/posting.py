"""Asking an endpoint with a JSON document: where it may be, and what can go wrong. Nothing here connects to anything."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, Protocol

from attrs import field, frozen

from groundkit.core.result import Failure, Result, Success
from groundkit.core.secrets import credential_name, decoded, shapes_in


class PostProblem(Enum):
    """`MISSING`: a package; `CONFIGURATION`: the address or the key; `REFUSED`: a status; `ANSWER`: no JSON, or too much."""

    MISSING = "missing"
    CONFIGURATION = "configuration"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    ANSWER = "answer"


@frozen
class PostFailed:
    """Why there is no answer. `detail` holds no key and nothing of what was asked or answered; `status` is 0 without one."""

    problem: PostProblem
    detail: str
    status: int = 0


class Poster(Protocol):
    """One endpoint that takes JSON documents and answers with JSON."""

    def post(self, body: dict[str, object]) -> Result[object, PostFailed]:
        """The answer, as `json` reads it. Its shape is not judged here."""

    def close(self) -> None:
        """End connections. Closing twice does nothing."""


@frozen
class Endpoint:
    """Where a server answers, whether it may be on this machine or network, and the key it wants ("" for none)."""

    url: str
    allow_local: bool = False
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """In lower case; an IPv6 address without its brackets."""
        found = _URL.fullmatch(self.url)
        return found["host"].strip("[]").lower() if found else ""


#: Absolute, with a host, and without a second @ in front of it.
_URL: Final = re.compile(
    r"""(?P<scheme>[a-z][a-z0-9+.-]*)://(?:(?P<login>[^@/?\#]*)@)?(?P<host>\[[0-9a-f:.]+\]|[^:/?\#@\[\]]+)
        (?::(?P<port>[0-9]{0,5}))?(?P<path>(?:/[^?\#]*)?)(?P<rest>(?:[?\#].*)?)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


#: After these a server may answer differently: too much at once, and what stands before it does not reach it.
PASSING: Final = (408, 425, 429, 500, 502, 503, 504)


def endpoint_of(url: str, allow_local: bool, key: str) -> Result[Endpoint, PostFailed]:
    """An endpoint, if its URL is one and its key fits into a header. Without `allow_local`, only https."""
    why = _wrong(url, allow_local)
    if why is not None:
        return _no(why)
    if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
        return _no("the key has characters that no header takes")
    return Success(Endpoint(url, allow_local, key))


def below(url: str, path: str) -> str:
    """The URL, with the path of a service at its end if it does not end in it already."""
    found = _URL.fullmatch(url)
    if found is None:
        return url  # `endpoint_of` says that it is none
    before = found["path"].rstrip("/")
    return url if before.endswith(path) else f"{url[: found.start('path')]}{before}{path}{found['rest']}"


def _wrong(url: str, allow_local: bool) -> str | None:
    if not url.isascii() or any(each <= " " or each in "\\\x7f" for each in url):
        return "the address of the endpoint has characters that no URL has"
    found = _URL.fullmatch(url)
    if found is None or int(found["port"] or 0) > _LAST_PORT:
        return "the address of the endpoint is no URL"
    scheme = found["scheme"].lower()
    if scheme not in ("http", "https"):
        return "the address of the endpoint is no http or https URL"
    if found["login"] is not None or _holds_secret(found["path"], found["rest"]):
        return "the address of the endpoint holds a login: give the key through the environment"
    if scheme == "http" and not allow_local:
        return "the endpoint is not https; only one on this machine or network may be without, if that is allowed"
    return None


#: A parameter that holds what should come through the environment: URLs are logged.
_SECRET: Final = re.compile(r"(?:key|token|secret|sig|pass|auth)", re.IGNORECASE)
#: Names under which some hosts of functions take a key; elsewhere they are harmless.
_ALSO: Final = frozenset(("code", "credential", "cred"))
_LAST_PORT: Final = 65_535


def _holds_secret(path: str, rest: str) -> bool:
    """Written plainly or percent-encoded, in a query or a fragment by its name, anywhere by its shape."""
    seen = decoded(rest)
    names = [
        part.partition("=")[0] for text in (rest, *seen.levels) for part in re.split(r"[?&;#]", text) if "=" in part
    ]
    return (
        not seen.settled
        or any(_SECRET.search(name) or name.lower() in _ALSO or credential_name(name) for name in names)
        or any(any(shapes_in(text)) for text in (path, rest, *decoded(path).levels, *seen.levels))
    )


def _no(detail: str) -> Failure[PostFailed]:
    return Failure(PostFailed(PostProblem.CONFIGURATION, detail))

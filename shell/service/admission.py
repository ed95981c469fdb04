"""Which requests get past the guard, judged by their header alone: every rule in the order in which it is asked."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from groundkit.core.served_hosts import Allowed, host_problem, origin_problem
from groundkit.service.limits import Limits, too_many_headers
from groundkit.service.problems import Problem, bad_request

#: Lines of a header, at most.
MOST_LINES: Final = 100
_METHODS: Final = ("GET", "HEAD", "POST")
#: Paths that say nothing and therefore ask for no token.
_OPEN: Final = ("/healthz",)
_JSON = re.compile(rb'application/json(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?[ \t]*', re.IGNORECASE)
_CREDENTIALS = re.compile(rb"(bearer|basic) +([^ ]+)", re.IGNORECASE)
_CHALLENGES: Final = tuple((b"www-authenticate", scheme + b' realm="groundkit"') for scheme in (b"Bearer", b"Basic"))


@frozen
class Asked:
    """The header of a request as ASGI has it: names in lower case, the target without its query as it was sent."""

    method: str
    path: str
    target_bytes: int
    headers: Sequence[tuple[bytes, bytes]]

    def values(self, name: bytes) -> list[bytes]:
        return [value for each, value in self.headers if each == name]

    @property
    def has_body(self) -> bool:
        return bool(self.values(b"transfer-encoding")) or any(value != b"0" for value in self.values(b"content-length"))

    @property
    def waits_for_us(self) -> bool:
        """Whether the body comes only after a `100 Continue`."""
        return any(value.lower() == b"100-continue" for value in self.values(b"expect"))


@frozen
class Refusal:
    """What is answered instead, with further headers."""

    problem: Problem
    headers: Sequence[tuple[bytes, bytes]] = ()


def refusal_of(asked: Asked, allowed: Allowed, token: str | None, limits: Limits) -> Refusal | None:
    """The first rule that a request breaks; None for one that may be read and answered."""
    problem = _too_long(asked, limits) or _misdirected(asked, allowed) or _foreign(asked, allowed)
    if problem is not None:
        return Refusal(problem)
    if token is not None and asked.path not in _OPEN and not _has_token(asked, token.encode()):
        return Refusal(_no_token(), _CHALLENGES)
    if asked.method not in _METHODS:
        return Refusal(_no_method(_METHODS), [(b"allow", ", ".join(_METHODS).encode())])
    problem = _of_another_type(asked) or _too_much(asked, limits)
    return None if problem is None else Refusal(problem)


def too_large(most: int) -> Problem:
    return Problem("too_large", 413, "The request is too large", f"a request's body has at most {most} bytes")


def too_slow(seconds: float) -> Problem:
    return Problem("too_slow", 408, "The request came too slowly", f"its body was not there within {seconds:g} s")


def _too_long(asked: Asked, limits: Limits) -> Problem | None:
    size = asked.target_bytes + sum(len(name) + len(value) + 4 for name, value in asked.headers)
    if len(asked.headers) > MOST_LINES or size > limits.headers:
        return too_many_headers(limits.headers)
    return None


def _misdirected(asked: Asked, allowed: Allowed) -> Problem | None:
    why = host_problem(allowed, asked.values(b"host"))
    if why is not None:
        return Problem("misdirected", 421, "The request is for another server", why, "--allow-host adds a name")
    # An absolute target names a host of its own, which takes precedence (RFC 9112, 3.2.2).
    return None if asked.path.startswith("/") else bad_request("the target of the request is no path")


def _foreign(asked: Asked, allowed: Allowed) -> Problem | None:
    why = origin_problem(allowed, asked.values(b"origin"))
    if why is None and _is_cross_site(asked):
        why = "a page of another site made the request"
    return None if why is None else Problem("foreign_origin", 403, "Pages of other sites may not ask", why)


def _is_cross_site(asked: Asked) -> bool:
    """Whether another site's page asks by script or embeds the answer. Following a link is the reader's own doing."""
    sites = [value.strip().lower() for value in asked.values(b"sec-fetch-site")]
    return b"cross-site" in sites and asked.values(b"sec-fetch-mode") != [b"navigate"]


def _has_token(asked: Asked, token: bytes) -> bool:
    sent = asked.values(b"authorization")
    found = _CREDENTIALS.fullmatch(sent[0]) if len(sent) == 1 else None
    if found is None:
        return False
    given = found[2] if found[1].lower() == b"bearer" else _password(found[2])
    return given is not None and hmac.compare_digest(given, token)


def _password(encoded: bytes) -> bytes | None:
    """Of RFC 7617's `user:password`, whoever the user is."""
    try:
        user_and_password = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    _, colon, password = user_and_password.partition(b":")
    return password if colon else None


def _no_token() -> Problem:
    return Problem(
        "no_token",
        401,
        "A token is needed",
        "the request has no Authorization header with the server's token",
        "send Authorization: Bearer TOKEN, or the token as the password of Basic",
    )


def _no_method(methods: Sequence[str]) -> Problem:
    return Problem("method", 405, "The method is not allowed", f"allowed here: {', '.join(methods)}")


def _of_another_type(asked: Asked) -> Problem | None:
    """A form of another site cannot send this type without asking first, and is never answered (no CORS)."""
    types = asked.values(b"content-type")
    if asked.method != "POST" or (len(types) == 1 and _JSON.fullmatch(types[0])):
        return None
    return Problem(
        "media_type", 415, "The media type is not supported", "a POST needs Content-Type: application/json, once"
    )


def _too_much(asked: Asked, limits: Limits) -> Problem | None:
    lengths = asked.values(b"content-length")
    if len(lengths) > 1 or not all(each.isdigit() and len(each) <= 20 for each in lengths):
        return bad_request("the Content-Length is no number")
    return too_large(limits.body) if lengths and int(lengths[0]) > limits.body else None

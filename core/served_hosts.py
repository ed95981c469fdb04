"""The hosts a server answers to, and the origins whose pages may ask it: whole spellings from a list, nothing by prefix or suffix.

What a browser sends as `Host` after a name was bound to this machine's address (DNS rebinding), and what a page of another
site sends as `Origin` (RFC 6454), are refused here before anything else looks at the request.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from attrs import frozen

from groundkit.core.result import Failure, Result, Success

#: What the machine calls itself.
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
#: The port that a scheme does not write.
_UNWRITTEN: Final = {"http": 80, "https": 443}
_SERVED = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:]+)(?::(?P<port>[1-9][0-9]{0,4}))?")
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*")


@frozen
class ServedNameRefused:
    """A name that no browser would send, or that means every machine."""

    written: str
    why: str


@frozen
class Allowed:
    """The values of `Host` and `Origin` that pass, in lower case."""

    hosts: frozenset[bytes]
    origins: frozenset[bytes]


def allowed_hosts(bind_host: str, port: int, extra: Iterable[str] = ()) -> Result[Allowed, ServedNameRefused]:
    """What a server on `bind_host` and `port` answers to: loopback, the host itself, and each of `extra`.

    An extra is `name` or `name:port`, the latter for a proxy before the server. A wildcard to bind to is no name.
    """
    pairs = [(name, port) for name in _LOOPBACK]
    bound = bind_host.lower()
    written = [] if _is_wildcard(bound) else [f"[{bound}]" if ":" in bound and not bound.startswith("[") else bound]
    for each in [*written, *extra]:
        pair = _served(each, port)
        if isinstance(pair, Failure):
            return pair
        pairs.append(pair.unwrap())
    return Success(Allowed(frozenset(_hosts(pairs)), frozenset(_origins(pairs))))


def host_problem(allowed: Allowed, hosts: Sequence[bytes]) -> str | None:
    """Why a request with these `Host` headers is not for this server. Nothing of them is repeated."""
    if not hosts:
        return "there is no Host header"
    if len(hosts) > 1:
        return "there is more than one Host header"
    return None if hosts[0].lower() in allowed.hosts else "the Host header names no host this server answers to"


def origin_problem(allowed: Allowed, origins: Sequence[bytes]) -> str | None:
    """Why a page of these `Origin` headers may not ask this server; programs that are no browser send none."""
    if not origins:
        return None
    if len(origins) > 1:
        return "there is more than one Origin header"
    return None if origins[0].lower() in allowed.origins else "the request comes from a page of another origin"


def _is_wildcard(host: str) -> bool:
    return host in ("", "*") or _is_unspecified(host.removeprefix("[").removesuffix("]"))


def _is_unspecified(host: str) -> bool:
    read = _address(host)
    return read is not None and read.is_unspecified


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except AddressValueError:
        return None


def _served(written: str, port: int) -> Result[tuple[str, int], ServedNameRefused]:
    found = _SERVED.fullmatch(written.lower())
    if found is None or int(found["port"] or port) > 65535:
        return Failure(ServedNameRefused(written, "it is neither a name nor a name:port"))
    name = found["name"]
    spelled = _spelled(name)
    if spelled is None:
        return Failure(ServedNameRefused(written, "it is no host name (write other scripts as xn-- labels)"))
    if _is_wildcard(name):
        return Failure(ServedNameRefused(written, "it means every machine"))
    return Success((spelled, int(found["port"] or port)))


def _spelled(name: str) -> str | None:
    """As a browser writes it in a Host header."""
    if name.startswith("["):
        address = _address(name[1:-1])
        return f"[{address.compressed}]" if isinstance(address, IPv6Address) else None
    if name.rpartition(".")[2].isdigit() and _address(name) is None:
        return None
    return name if _NAME.fullmatch(name) else None


def _hosts(pairs: Iterable[tuple[str, int]]) -> Iterable[bytes]:
    for name, port in pairs:
        yield f"{name}:{port}".encode("ascii")
        if port in _UNWRITTEN.values():
            yield name.encode("ascii")


def _origins(pairs: Iterable[tuple[str, int]]) -> Iterable[bytes]:
    for name, port in pairs:
        for scheme, unwritten in _UNWRITTEN.items():
            yield f"{scheme}://{name}:{port}".encode("ascii")
            if port == unwritten:
                yield f"{scheme}://{name}".encode("ascii")

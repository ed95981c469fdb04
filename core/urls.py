"""The shape of URLs: which may be fetched, judged by their text alone."""

import re
import unicodedata
from typing import Final

from attrs import frozen

from groundkit.core.addresses import AddressRefused
from groundkit.core.hosts import HostRefused, host_of
from groundkit.core.masking import credential_in, masked, masked_url
from groundkit.core.result import Failure, Result, Success
from groundkit.core.url_kinds import is_page, is_url
from groundkit.core.web_failures import UrlProblem, UrlRefused

__all__ = ["DEFAULT_PORTS", "UrlProblem", "UrlRefused", "WebUrl", "is_page", "is_url", "masked", "resolved", "web_url"]

DEFAULT_PORTS: Final = (80, 443)

#: Code points of a URL.
LONGEST: Final = 8000

_IMPLIED: Final = {"http": 80, "https": 443}
_MOST_SHOWN: Final = 500

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTHORITY = re.compile(r"[^/?#]*")
_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::(.*))?", re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
#: What a request target may hold (RFC 3986, 3.3 and 3.4, with "[" and "]", which servers take); the rest is encoded.
_ENCODED_IN_TARGET = re.compile(r"[^A-Za-z0-9._~!$&'()*+,;=:@/?%\[\]-]+")

#: RFC 3986, appendix B, with the scheme's grammar: scheme, authority, path, query, fragment. It matches every text.
_REFERENCE = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(//[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?",
    re.DOTALL,
)
#: What stands around a header's value, and around a URL for browsers.
_AROUND: Final = "".join(map(chr, range(0x21)))


@frozen
class WebUrl:
    """A URL that may be fetched. `source` is it as it was given.

    `host` is ASCII in lower case: a name (A-labels), or an address in its usual form, without brackets, if `literal`.
    `target` is path and query, percent-encoded, beginning with "/".
    """

    source: str
    scheme: str
    host: str
    port: int
    target: str
    literal: bool = False

    @property
    def authority(self) -> str:
        """The `Host` header: without the port that the scheme implies."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _IMPLIED[self.scheme] else f"{host}:{self.port}"


#: Why a URL is refused: the problem and its detail, in which no word of the URL stands.
Refusal = tuple[UrlProblem, str]


@frozen
class _Parts:
    source: str
    scheme: str
    authority: str
    target: str
    fragment: str


def web_url(text: str, ports: tuple[int, ...] = DEFAULT_PORTS) -> Result[WebUrl, UrlRefused]:
    """A URL that may be asked for a page, or why not. Any text may be given.

    Refused: schemes but http and https, user information, listed credentials (`core/secrets`), fragments with something in
    them, ports not among `ports`, hosts that are no public address or public name, white space, control characters and
    backslashes, more than `LONGEST` code points. Paths keep their dot segments and what is encoded in them.
    """
    parts = _unfit(text) or _split(text)
    if not isinstance(parts, _Parts):
        return _refused(text, parts)
    found = _guarded(parts) or _located(parts, ports)
    return Success(found) if isinstance(found, WebUrl) else _refused(text, found)


def _refused(text: str, refusal: Refusal) -> Failure[UrlRefused]:
    shown = masked_url(text)
    # Cut after masking, so that no cut can take away what shows a secret for one.
    shown = shown if len(shown) <= _MOST_SHOWN else shown[: _MOST_SHOWN - 1] + "…"
    return Failure(UrlRefused(shown, *refusal))


def _unfit(text: str) -> Refusal | None:
    if len(text) > LONGEST:
        return UrlProblem.TOO_LONG, f"more than {LONGEST} characters"
    if "\\" in text:
        return UrlProblem.MALFORMED, "a backslash"
    if any(char.isspace() or unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp", "Zs") for char in text):
        return UrlProblem.MALFORMED, "white space, a control character or half a character"
    return None


def _split(text: str) -> _Parts | Refusal:
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1].lower() not in _IMPLIED:
        return UrlProblem.SCHEME, "only http:// and https:// are fetched"
    if not text.startswith("//", scheme.end()):
        return UrlProblem.MALFORMED, "no // after the scheme"
    authority = _AUTHORITY.match(text, scheme.end() + 2)
    end = authority.end() if authority else len(text)
    target, _, fragment = text[end:].partition("#")
    return _Parts(text, scheme[1].lower(), text[scheme.end() + 2 : end], target, fragment)


def _guarded(parts: _Parts) -> Refusal | None:
    """What is refused because of what else the URL carries than the way to a page."""
    if "@" in parts.authority:
        return UrlProblem.USERINFO, "user information before the host"
    # Some parsers end an authority at "/" alone.
    if not parts.target.startswith("/") and "@" in (parts.target + "#" + parts.fragment).partition("/")[0]:
        return UrlProblem.USERINFO, 'an "@" before the first "/" after the host'
    credential = credential_in(parts.target) or credential_in(parts.fragment)
    if credential is not None:
        return UrlProblem.CREDENTIAL, credential
    return (UrlProblem.FRAGMENT, "give the URL without its #fragment") if parts.fragment else None


def _located(parts: _Parts, ports: tuple[int, ...]) -> WebUrl | Refusal:
    split = _HOST_AND_PORT.fullmatch(parts.authority)
    if split is None:
        return UrlProblem.HOST, "brackets or colons that are not those of an IPv6 address"
    port = _port(split[2] or "", parts.scheme)
    if port not in ports:
        allowed = ", ".join(map(str, sorted(set(ports))))
        which = f"port {port}" if port else "no port"
        return UrlProblem.PORT, f"{which} is not one of {allowed}, which alone are fetched from (--fetch-port)"
    host = host_of(split[1])
    if isinstance(host, Failure):
        return _host_refusal(host.failure())
    found = host.unwrap()
    return WebUrl(parts.source, parts.scheme, found.name, port, _target(parts.target), found.literal)


def _host_refusal(why: HostRefused | AddressRefused) -> Refusal:
    match why:
        case HostRefused():
            return UrlProblem.HOST, why.why
        case AddressRefused():
            return UrlProblem.ADDRESS, f"{why.address}: {why.why}"


def _port(written: str, scheme: str) -> int:
    """The port; the implied one if none is written; 0 for what is none."""
    if written == "":
        return _IMPLIED[scheme]
    return int(written) if _PORT.fullmatch(written) else 0


def _target(written: str) -> str:
    path = written if written.startswith("/") else "/" + written
    return _ENCODED_IN_TARGET.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), path)


def resolved(base: WebUrl, location: str) -> str:
    """The absolute form of a reference, by its text alone: it may be no URL that is fetched, and may hold secrets.

    Any text may be given; dot segments are removed from what the reference itself says of the path.
    """
    match = _REFERENCE.fullmatch(location.strip(_AROUND))
    scheme, authority, path, query, fragment = match.groups("") if match else ("", "", "", "", "")
    if scheme:
        return f"{scheme}:{authority}{_without_dots(path) if authority else path}{query}{fragment}"
    if authority:
        return f"{base.scheme}:{authority}{_without_dots(path)}{query}{fragment}"
    return f"{base.scheme}://{base.authority}{_below(base.target, path, query)}{fragment}"


def _below(target: str, path: str, query: str) -> str:
    """Path and query of a reference without an authority."""
    base_path, mark, base_query = target.partition("?")
    if path == "":
        return base_path + (query or mark + base_query)
    if not path.startswith("/"):
        path = base_path.rpartition("/")[0] + "/" + path
    return _without_dots(path) + query


def _without_dots(path: str) -> str:
    """RFC 3986, 5.2.4, for a path that begins with "/" or is empty."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        # The first, empty segment stands for the root, which no ".." leaves.
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)

"""The shape of URLs: which may be fetched, judged by their text alone."""

from enum import StrEnum
from typing import Final

from attrs import frozen

from groundkit.core.result import Result

DEFAULT_PORTS: Final = (80, 443)


class UrlProblem(StrEnum):
    SCHEME = "scheme"
    MALFORMED = "malformed"
    HOST = "host"
    ADDRESS = "address_refused"
    PORT = "port"
    USERINFO = "userinfo"
    CREDENTIAL = "credential"
    FRAGMENT = "fragment"
    TOO_LONG = "too_long"


@frozen
class UrlRefused:
    """A URL that is not fetched: `source` is it with its secrets masked, `detail` a sentence's worth of facts."""

    source: str
    problem: UrlProblem
    detail: str

    @property
    def reason(self) -> str:
        return self.problem.value


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
        return host if self.port == {"http": 80, "https": 443}[self.scheme] else f"{host}:{self.port}"


def is_url(text: str) -> bool:
    raise NotImplementedError


def web_url(text: str, ports: tuple[int, ...] = DEFAULT_PORTS) -> Result[WebUrl, UrlRefused]:
    raise NotImplementedError


def masked(text: str) -> str:
    raise NotImplementedError

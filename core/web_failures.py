"""Why a URL gives no page: its shape, or what came of fetching it. No text here holds a secret of a URL."""

from enum import StrEnum

from attrs import frozen


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


class FetchProblem(StrEnum):
    ADDRESS_REFUSED = "address_refused"
    NOT_RESOLVED = "not_resolved"
    NOT_CONNECTED = "not_connected"
    CERTIFICATE = "certificate"
    PROTOCOL = "protocol"
    REDIRECT = "redirect"
    STATUS = "status"
    UNASKED_304 = "unasked_304"
    CONTENT_TYPE = "content_type"
    CONTENT_CODING = "content_coding"
    HEADERS_TOO_LARGE = "headers_too_large"
    TOO_LARGE = "too_large"
    TIME = "time"
    STOPPED = "stopped"


@frozen
class FetchFailed:
    """Why there is no page: `detail` is a sentence's worth of facts, with the way out where there is one."""

    problem: FetchProblem
    detail: str


@frozen
class NotFetched:
    """A page that could not be fetched; its last good version stays."""

    source: str
    why: FetchFailed

    @property
    def reason(self) -> str:
        return self.why.problem.value

    @property
    def detail(self) -> str:
        return self.why.detail

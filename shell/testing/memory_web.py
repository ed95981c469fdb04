"""The twins of `groundkit.adapters.web`: names and pages that stand in a dictionary."""

from collections.abc import Mapping, MutableMapping
from http import HTTPStatus
from threading import Lock

from attrs import define, field, frozen

from groundkit.core.fetching import (
    FetchAnswer,
    Fetched,
    FetchFailed,
    FetchProblem,
    FetchRequest,
    NotModified,
    RawResponse,
    Validators,
)
from groundkit.core.ports import NotResolved
from groundkit.core.responses import PageHead, judged_head, sendable, too_large
from groundkit.core.result import Failure, Result, Success

#: Where every page of a `ScriptedFetcher` comes from.
ADDRESS = "93.184.215.14"


@define
class ScriptedResolver:
    """Gives each name its answers in turn, the last one again and again. What is not listed has no addresses.

    `asked` has every name that was looked up, in order.
    """

    answers: Mapping[str, list[tuple[str, ...]]]
    asked: list[str] = field(factory=list)
    _lock: Lock = field(factory=Lock, init=False)

    def addresses(self, host: str, seconds: float) -> Result[tuple[str, ...], NotResolved]:
        with self._lock:
            self.asked.append(host)
            turn = self.asked.count(host) - 1
        answers = self.answers.get(host)
        if not answers:
            return Failure(NotResolved(f"no addresses for {host}"))
        return Success(answers[min(turn, len(answers) - 1)])


@frozen
class ScriptedPage:
    """What a server answers with. The headers of the fields that are "" are not sent; `headers` come after them."""

    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    etag: str = ""
    last_modified: str = ""
    location: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def sent(self) -> tuple[tuple[str, str], ...]:
        """Every header, in order."""
        named = (
            ("Content-Type", self.content_type),
            ("Content-Length", str(len(self.body))),
            ("ETag", self.etag),
            ("Last-Modified", self.last_modified),
            ("Location", self.location),
        )
        return tuple((name, value) for name, value in named if value) + self.headers


@define
class ScriptedFetcher:
    """Fetches the pages of a mapping from URL (as given) to what its server answers with; others are not found.

    The mapping may change between fetches. `requests` has what was asked for, in order.
    """

    pages: MutableMapping[str, ScriptedPage | FetchFailed]
    requests: list[FetchRequest] = field(factory=list)
    closed: bool = False

    def fetches(self, url: str) -> int:
        """How often a URL was fetched."""
        return sum(request.url.source == url for request in self.requests)

    def fetch(self, request: FetchRequest) -> Result[FetchAnswer, FetchFailed]:
        if self.closed:
            return Failure(FetchFailed(FetchProblem.STOPPED, "fetching was stopped"))
        self.requests.append(request)
        page = self.pages.get(request.url.source, ScriptedPage(status=404))
        if isinstance(page, FetchFailed):
            return Failure(page)
        return _answered(request, _as_asked(page, request.validators))

    def close(self) -> None:
        self.closed = True


def _as_asked(page: ScriptedPage, validators: Validators | None) -> ScriptedPage:
    """What a server sends to one who has a version already (RFC 9110, 13.2.2: the entity tag outranks the date)."""
    has = sendable(validators)
    same = has.etag == page.etag if has.etag else has.last_modified == page.last_modified
    if page.status == 200 and has != Validators() and same:
        return ScriptedPage(status=304, content_type="", etag=page.etag, last_modified=page.last_modified)
    return page


def _answered(request: FetchRequest, page: ScriptedPage) -> Result[FetchAnswer, FetchFailed]:
    judged = judged_head(request, page.status, page.sent)
    if isinstance(judged, Failure):
        return judged
    match judged.unwrap():
        case NotModified() as unchanged:
            return Success(unchanged)
        case PageHead(codings=(coding, *_)):
            return Failure(FetchFailed(FetchProblem.CONTENT_CODING, f"the content coding {coding} is not understood"))
        case PageHead() as head:
            return _body(request, page, head)


def _body(request: FetchRequest, page: ScriptedPage, head: PageHead) -> Result[FetchAnswer, FetchFailed]:
    if len(page.body) > request.limits.body:
        return Failure(too_large(request.limits.body, "the page is larger"))
    raw = (
        RawResponse(f"HTTP/1.1 {head.status} {HTTPStatus(head.status).phrase}", page.sent, page.body, ADDRESS)
        if request.raw
        else None
    )
    return Success(Fetched(head.status, head.content_type, page.body, head.validators, raw))

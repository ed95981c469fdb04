"""Laws of judging the head of a response: total, one line, and silent about secrets."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.core.fetching import FetchLimits, FetchProblem, FetchRequest, NotModified, Validators
from groundkit.core.responses import PageHead, judged_head, sendable
from groundkit.core.result import Failure, Success
from groundkit.core.urls import WebUrl

URL = WebUrl("http://good.test/a/b?c=d", "http", "good.test", 80, "/a/b?c=d")
LATIN = st.text(st.characters(max_codepoint=0xFF))
NAMES = st.sampled_from(
    [
        "Location",
        "content-type",
        "Content-Length",
        "CONTENT-ENCODING",
        "ETag",
        "Last-Modified",
        "Retry-After",
        "X-Other",
    ]
)
HEADERS = st.lists(st.tuples(NAMES, LATIN), max_size=6)
VALIDATORS = st.one_of(st.none(), st.builds(Validators, st.text(), st.text()))
LIMITS = FetchLimits(body=1000, seconds=1)


@given(st.integers(100, 999), HEADERS, VALIDATORS)
@example(200, [("Content-Length", "9" * 5000)], None)
@example(302, [("Location", "http://[")], None)
@example(302, [("Location", "//")], None)
@example(302, [("Location", "x" * 100_000)], None)
@example(200, [("Content-Length", "\xb2")], None)
def test_any_head_is_judged(status: int, headers: list[tuple[str, str]], had: Validators | None) -> None:
    match judged_head(FetchRequest(URL, LIMITS, had), status, headers):
        case Success(NotModified()):
            assert status == 304 and sendable(had) != Validators()
        case Success(PageHead() as page):
            assert status in (200, 203)
            declared = next((value.strip() for name, value in headers if name.lower() == "content-length"), "")
            assert not declared.isascii() or not declared.isdigit() or int(declared[:20]) <= LIMITS.body
            assert sendable(page.validators) == page.validators
        case Failure(failed):
            assert failed.detail.isprintable() and len(failed.detail) < 1000
            assert failed.problem is FetchProblem.REDIRECT or not 300 <= status < 400 or status == 304


@given(
    st.sampled_from([301, 302, 303, 307, 308]),
    st.sampled_from(
        [
            "https://user:{}@good.test/",
            "//user:{}@good.test/x",
            "/x?token={}",
            "/x?a=1&access_token={}&b=2",
            "https://good.test/?api_key={}",
            "/x?next=%2Fy%3Ftoken%3D{}",
            "/x#access_token={}",
        ]
    ),
    st.text("abcdefghij0123456789", min_size=12, max_size=40).map(lambda text: f"Zq{text}"),
)
def test_a_redirect_keeps_the_secrets_of_its_target(status: int, target: str, secret: str) -> None:
    failed = judged_head(FetchRequest(URL, LIMITS), status, [("Location", target.format(secret))])
    assert isinstance(failed, Failure) and secret not in failed.failure().detail


@given(st.text())
def test_what_is_sent_of_validators_is_one_line_as_it_was_said(value: str) -> None:
    sent = sendable(Validators(value, value))
    assert sent.etag == sent.last_modified and sent.etag in ("", value)
    assert not set(sent.etag) & set("\r\n\0") and sent.etag == sent.etag.strip()
    sent.etag.encode("latin-1")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("120", "again after 120 seconds"),
        ("Fri, 31 Dec 2027 23:59:59 GMT", "again after Fri, 31 Dec 2027 23:59:59 GMT"),
        ("soon", ""),
        ("hunter2-s3cr3t", ""),
        ("²", ""),
        ("120\n", "again after 120 seconds"),
    ],
)
def test_when_to_try_again_is_told_where_a_time_is_said_and_nothing_else_is_quoted(value: str, told: str) -> None:
    detail = judged_head(FetchRequest(URL, LIMITS), 503, [("Retry-After", value)]).failure().detail
    assert told in detail
    assert ("again" in detail) == bool(told)

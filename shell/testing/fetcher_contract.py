"""What every `Fetcher` promises. Subclass, say how one is made, and run it with pytest."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundkit.core.fetching import (
    FetchAnswer,
    Fetched,
    FetchFailed,
    FetchLimits,
    FetchProblem,
    FetchRequest,
    NotModified,
    Validators,
)
from groundkit.core.ports import Fetcher
from groundkit.core.result import Failure, Result, Success
from groundkit.core.urls import web_url
from groundkit.testing.memory_web import ScriptedPage

URL = "http://good.test/page?x=1"
ELSEWHERE = "http://good.test/elsewhere"
ETAG, DATE = 'W/"a1"', "Tue, 01 Sep 2026 10:00:00 GMT"
LIMITS = FetchLimits(body=1000, seconds=20)


def asked(url: str = URL, **more: object) -> FetchRequest:
    """A request for a URL that is in order."""
    return FetchRequest(**{"url": web_url(url).unwrap(), "limits": LIMITS, **more})  # type: ignore[arg-type]


def problem_of(result: Result[FetchAnswer, FetchFailed]) -> FetchProblem:
    assert isinstance(result, Failure), result
    assert result.failure().detail.isprintable()
    return result.failure().problem


def page_of(result: Result[FetchAnswer, FetchFailed]) -> Fetched:
    assert isinstance(result, Success), result
    answer = result.unwrap()
    assert isinstance(answer, Fetched), answer
    return answer


class FetcherContract:
    """`serving` gives a fetcher for which these pages stand at these URLs (of http://good.test), and nothing else."""

    @contextmanager
    def serving(self, pages: Mapping[str, ScriptedPage]) -> Iterator[Fetcher]:
        raise NotImplementedError
        yield

    @settings(max_examples=20, suppress_health_check=[HealthCheck.differing_executors])
    @given(body=st.binary(max_size=1000), raw=st.booleans())
    def test_a_page_comes_byte_for_byte_with_what_was_said_of_it(self, body: bytes, raw: bool) -> None:
        stands = ScriptedPage(body, 'Text/HTML; Charset="UTF-8"', etag=ETAG, last_modified=DATE)
        with self.serving({URL: stands}) as fetcher:
            page = page_of(fetcher.fetch(asked(raw=raw)))
        assert (page.status, page.body, page.validators) == (200, body, Validators(ETAG, DATE))
        assert (page.content_type.media_type, page.content_type.charset) == ("text/html", "utf-8")
        assert page.content_type.said == 'Text/HTML; Charset="UTF-8"'
        assert (page.raw is not None) == raw
        if page.raw is not None:
            assert page.raw.payload == body and page.raw.status_line.startswith("HTTP/1.1 200 ")
            assert page.raw.headers == stands.sent

    @pytest.mark.parametrize(
        "kind", ["text/html", "application/xhtml+xml", "application/pdf", "text/plain", "text/markdown", ""]
    )
    def test_pages_of_these_types_and_of_none_are_taken(self, kind: str) -> None:
        with self.serving({URL: ScriptedPage(b"body", kind)}) as fetcher:
            assert page_of(fetcher.fetch(asked())).content_type.media_type == kind

    @pytest.mark.parametrize("kind", ["image/png", "application/json", "text/css", "html", "text/html, text/html"])
    def test_other_types_are_named_and_refused(self, kind: str) -> None:
        with self.serving({URL: ScriptedPage(b"body", kind)}) as fetcher:
            answer = fetcher.fetch(asked())
        assert problem_of(answer) is FetchProblem.CONTENT_TYPE and kind in answer.failure().detail

    def test_two_types_that_differ_are_refused_and_two_that_agree_are_one(self) -> None:
        for second, taken in (("text/html", True), ("text/plain", False)):
            stands = ScriptedPage(b"body", "text/html", headers=(("content-type", second),))
            with self.serving({URL: stands}) as fetcher:
                assert isinstance(fetcher.fetch(asked()), Success) == taken

    def test_a_body_may_have_as_many_bytes_as_the_limit(self) -> None:
        for size, taken in ((1000, True), (1001, False)):
            with self.serving({URL: ScriptedPage(b"x" * size)}) as fetcher:
                answer = fetcher.fetch(asked())
            assert isinstance(answer, Success) if taken else problem_of(answer) is FetchProblem.TOO_LARGE

    @pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 306, 307, 308, 399])
    def test_a_redirect_is_a_failure_that_names_its_target(self, status: int) -> None:
        pages = {URL: ScriptedPage(status=status, location="/elsewhere"), ELSEWHERE: ScriptedPage(b"inner")}
        with self.serving(pages) as fetcher:
            answer = fetcher.fetch(asked())
        assert problem_of(answer) is FetchProblem.REDIRECT
        assert ELSEWHERE in answer.failure().detail and "that URL itself" in answer.failure().detail

    def test_a_redirect_shows_no_secret_and_says_if_its_target_would_be_refused(self) -> None:
        target = "http://user:hunter2@127.0.0.1/?access_token=sesame"
        with self.serving({URL: ScriptedPage(status=302, location=target)}) as fetcher:
            detail = fetcher.fetch(asked()).failure().detail
        assert "hunter2" not in detail and "sesame" not in detail
        assert "would be refused" in detail

    def test_a_redirect_to_a_login_page_is_told(self) -> None:
        cases = {
            "/login?next=%2Fpage": True,
            "/users/sign_in": True,
            "https://accounts.good.test/v3": True,
            "/blog/author": False,
            "/authors?to=login": False,
        }
        for location, login in cases.items():
            with self.serving({URL: ScriptedPage(status=302, location=location)}) as fetcher:
                assert ("login page" in fetcher.fetch(asked()).failure().detail) == login

    def test_a_redirect_without_a_target_is_told(self) -> None:
        with self.serving({URL: ScriptedPage(status=302)}) as fetcher:
            answer = fetcher.fetch(asked())
        assert problem_of(answer) is FetchProblem.REDIRECT and "without saying where" in answer.failure().detail

    @pytest.mark.parametrize("status", [201, 202, 204, 205, 206, 226, 400, 401, 403, 404, 410, 418, 429, 500, 503, 599])
    def test_other_statuses_are_no_pages(self, status: int) -> None:
        with self.serving({URL: ScriptedPage(b"", status=status)}) as fetcher:
            answer = fetcher.fetch(asked())
        assert problem_of(answer) is FetchProblem.STATUS and str(status) in answer.failure().detail

    def test_a_server_that_is_busy_may_say_for_how_long(self) -> None:
        with self.serving({URL: ScriptedPage(status=503, headers=(("Retry-After", "120"),))}) as fetcher:
            assert "120 seconds" in fetcher.fetch(asked()).failure().detail

    @pytest.mark.parametrize("had", [Validators(ETAG, DATE), Validators(ETAG), Validators("", DATE)])
    def test_a_version_that_is_still_current_is_not_sent_again(self, had: Validators) -> None:
        with self.serving({URL: ScriptedPage(b"body", etag=ETAG, last_modified=DATE)}) as fetcher:
            assert fetcher.fetch(asked(validators=had)) == Success(NotModified())

    @pytest.mark.parametrize("had", [Validators('"old"', DATE), Validators("", "an old date"), Validators()])
    def test_another_version_is_sent(self, had: Validators) -> None:
        with self.serving({URL: ScriptedPage(b"body", etag=ETAG, last_modified=DATE)}) as fetcher:
            assert page_of(fetcher.fetch(asked(validators=had))).body == b"body"

    @pytest.mark.parametrize("had", [None, Validators(), Validators("a\r\nX: y"), Validators("é\u0394", "\x00")])
    def test_not_modified_is_believed_only_if_it_was_asked(self, had: Validators | None) -> None:
        with self.serving({URL: ScriptedPage(status=304)}) as fetcher:
            assert problem_of(fetcher.fetch(asked(validators=had))) is FetchProblem.UNASKED_304

    def test_a_coding_that_nobody_knows_is_refused(self) -> None:
        with self.serving({URL: ScriptedPage(b"body", headers=(("Content-Encoding", "rot13"),))}) as fetcher:
            assert problem_of(fetcher.fetch(asked())) is FetchProblem.CONTENT_CODING

    def test_after_closing_nothing_is_fetched(self) -> None:
        with self.serving({URL: ScriptedPage(b"body")}) as fetcher:
            fetcher.close()
            fetcher.close()
            assert problem_of(fetcher.fetch(asked())) is FetchProblem.STOPPED

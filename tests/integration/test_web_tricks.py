"""Every trick once more over TLS: what comes through an encrypted connection is trusted no further."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from itertools import repeat

import brotli
import pytest
import trustme
import zstandard
from web_server import ADDRESS, CHUNKED, Detour, Seen, Trick, WebServer, chunk, drip, head, page, served_with, trusted

from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.core.fetching import (
    FetchAnswer,
    FetchFailed,
    FetchLimits,
    FetchProblem,
    FetchRequest,
    NotModified,
    Validators,
)
from groundkit.core.result import Result
from groundkit.core.urls import web_url
from groundkit.testing import ScriptedResolver
from groundkit.testing.fetcher_contract import page_of, problem_of

#: A body may be so large, and an exchange take so long.
LIMITS = FetchLimits(body=1_000_000, seconds=20)
SHORT = FetchLimits(body=1_000_000, seconds=1)


def bomb(_: Seen) -> Iterator[bytes]:
    """A gigabyte of blanks."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield head(200, "Content-Type: text/html", "Content-Encoding: gzip", "Transfer-Encoding: chunked")
    for _ in range(1024):
        data = squeezed.compress(b" " * (1 << 20))
        if data:
            yield chunk(data)


def slow(seen: Seen) -> Iterator[bytes]:
    yield head(200, "Content-Type: text/html", "Content-Length: 100000")
    yield from drip(seen, b"x" * 100_000)


def endless(_: Seen) -> Iterator[bytes]:
    yield CHUNKED
    yield from repeat(chunk(b"x" * 65536))


def flood(_: Seen) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    yield from repeat(b"X-More: " + b"y" * 1000 + b"\r\n")


def chain(seen: Seen) -> Iterator[bytes]:
    yield head(302, f"Location: {seen.target}x", "Content-Length: 0")


@pytest.fixture(scope="module")
def fetched() -> Callable[..., Result[FetchAnswer, FetchFailed]]:
    """Fetches from a server that plays a trick, and sees that it was asked at most once."""
    authority = trustme.CA()
    certificate = served_with(authority.issue_cert("good.test"))

    def fetch(
        trick: Trick, limits: FetchLimits = LIMITS, had: Validators | None = None
    ) -> Result[FetchAnswer, FetchFailed]:
        resolver = ScriptedResolver({"good.test": [(ADDRESS,), ("127.0.0.1",)]})
        with WebServer(trick, tls=certificate) as server:
            fetcher = WebFetcher(resolver, Detour({443: server.port}), trusted(authority), pause=0.0)
            answer = fetcher.fetch(FetchRequest(web_url("https://good.test/page").unwrap(), limits, had))
            assert len(server.seen) == 1
        assert resolver.asked == ["good.test"]
        return answer

    return fetch


@pytest.mark.parametrize(
    ("trick", "problem"),
    [
        (bomb, FetchProblem.TOO_LARGE),
        (endless, FetchProblem.TOO_LARGE),
        (flood, FetchProblem.HEADERS_TOO_LARGE),
        (page(length=100_000), FetchProblem.PROTOCOL),
        (lambda _: [CHUNKED, b"ff\r\nshort"], FetchProblem.PROTOCOL),
        (page(gzip.compress(b"needle")[:-1], Content_Encoding="gzip"), FetchProblem.CONTENT_CODING),
        (chain, FetchProblem.REDIRECT),
        (lambda _: [head(301, "Location: http://127.0.0.1/", "Content-Length: 0")], FetchProblem.REDIRECT),
        (lambda _: [head(304)], FetchProblem.UNASKED_304),
        (lambda _: [head(404, "Content-Type: text/html", "Content-Length: 6"), b"needle"], FetchProblem.STATUS),
        (lambda _: [head(200, "Content-Type: image/png", "Content-Length: 6"), b"needle"], FetchProblem.CONTENT_TYPE),
    ],
    ids=["bomb", "endless", "flood", "short", "broken chunk", "broken gzip", "chain", "inside", "304", "404", "image"],
)
def test_a_trick_ends_as_it_does_in_the_clear(
    fetched: Callable[..., Result[FetchAnswer, FetchFailed]], trick: Trick, problem: FetchProblem
) -> None:
    assert problem_of(fetched(trick)) is problem


def test_what_drips_ends_with_the_time_of_the_whole(fetched: Callable[..., Result[FetchAnswer, FetchFailed]]) -> None:
    assert problem_of(fetched(slow, SHORT)) is FetchProblem.TIME


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"<p>needle", {"Content_Type": "text/html; charset=utf-8"}),
        (b"<p>needle", {"Content_Type": "text/html; charset=iso-2022-jp"}),
        (b"%PDF-1.4 needle", {"Content_Type": "application/pdf"}),
        (b"needle", {"Content_Type": "text/plain"}),
        (gzip.compress(b"needle"), {"Content_Encoding": "gzip"}),
        (zlib.compress(b"needle"), {"Content_Encoding": "deflate"}),
        (brotli.compress(b"needle"), {"Content_Encoding": "br"}),
        (zstandard.compress(b"needle"), {"Content_Encoding": "zstd"}),
    ],
    ids=["html", "wrong charset", "pdf", "text", "gzip", "deflate", "br", "zstd"],
)
def test_a_page_comes_through_as_it_is(
    fetched: Callable[..., Result[FetchAnswer, FetchFailed]], body: bytes, headers: dict[str, str]
) -> None:
    assert b"needle" in page_of(fetched(page(body, **headers))).body


def test_a_page_without_a_content_type_comes_through_without_one(
    fetched: Callable[..., Result[FetchAnswer, FetchFailed]],
) -> None:
    found = page_of(fetched(lambda _: [head(200, "Content-Length: 9"), b"<p>needle"]))
    assert (found.content_type.media_type, found.body) == ("", b"<p>needle")


def test_not_modified_is_an_answer_to_whoever_asked(fetched: Callable[..., Result[FetchAnswer, FetchFailed]]) -> None:
    assert fetched(lambda _: [head(304)], had=Validators('"1"')).unwrap() == NotModified()

"""What servers do to whoever fetches, and what comes of it. Times are limits that are set, never measured."""

import gzip
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from random import Random
from threading import Event, Thread

import brotli
import httpcore
import pytest
import zstandard
from web_server import ADDRESS, CHUNKED, RESET, Detour, Seen, Trick, WebServer, chunk, drip, head, page, silence

from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.core.fetching import FetchAnswer, FetchFailed, FetchLimits, FetchProblem, Validators
from groundkit.core.result import Result
from groundkit.testing import ScriptedResolver
from groundkit.testing.fetcher_contract import URL, asked, page_of, problem_of

ROOMY = FetchLimits(body=1_000_000, seconds=20)
SHORT = FetchLimits(body=1_000_000, seconds=0.5)
MEMBER = gzip.compress(bytes(1 << 20))


def reaching(server: WebServer, pause: float = 0.0) -> WebFetcher:
    return WebFetcher(ScriptedResolver({"good.test": [(ADDRESS,)]}), Detour({80: server.port}), pause=pause)


@contextmanager
def playing(trick: Trick) -> Iterator[tuple[WebServer, WebFetcher]]:
    with WebServer(trick) as server:
        yield server, reaching(server)


def answer_of(trick: Trick, limits: FetchLimits = ROOMY, raw: bool = False) -> Result[FetchAnswer, FetchFailed]:
    with playing(trick) as (_, fetcher):
        return fetcher.fetch(asked(limits=limits, raw=raw))


def test_only_what_is_needed_is_sent() -> None:
    with playing(page(Set_Cookie="id=1")) as (server, fetcher):
        for had in (None, Validators('"a"', "Tue, 01 Sep 2026 10:00:00 GMT"), Validators("a\nb", "ü\u0394")):
            page_of(fetcher.fetch(asked(validators=had)))
    always = {"host", "user-agent", "accept", "accept-encoding", "connection"}
    first, second, third = (seen.headers for seen in server.seen)
    assert first.keys() == third.keys() == always
    assert second.keys() == always | {"if-none-match", "if-modified-since"}
    assert (first["host"], first["connection"]) == ("good.test", "close")
    assert first["user-agent"].startswith("groundkit/") and "br" in first["accept-encoding"]
    assert {seen.target for seen in server.seen} == {"/page?x=1"}


@pytest.mark.parametrize(
    "url", ["http://good.test", "http://good.test/a/../b/./%2e%2E/c//d?q=%7e&&=ü", "http://good.test/%C3%A9+ "]
)
def test_the_target_is_sent_as_it_is_written(url: str) -> None:
    with playing(page()) as (server, fetcher):
        request = asked(url.strip())
        page_of(fetcher.fetch(request))
    assert server.seen[0].target == request.url.target


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"<p>needle")),
        ("X-GZip", gzip.compress(b"<p>") + gzip.compress(b"needle")),
        ("br", brotli.compress(b"<p>needle")),
        ("zstd", zstandard.compress(b"<p>needle")),
        ("gzip, br", brotli.compress(gzip.compress(b"<p>needle"))),
        ("identity", b"<p>needle"),
    ],
)
def test_codings_are_undone_and_kept_in_what_is_raw(coding: str, body: bytes) -> None:
    found = page_of(answer_of(page(body, Content_Encoding=coding), raw=True))
    assert found.body == b"<p>needle"
    assert found.raw is not None and found.raw.payload == body
    assert ("Content-Encoding", coding) in found.raw.headers
    assert (found.raw.status_line, found.raw.address) == ("HTTP/1.1 200 Said So", ADDRESS)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"needle")[:-1]),
        ("gzip", gzip.compress(b"needle") + b"junk"),
        ("gzip", MEMBER[:500] + b"junk"),
        ("gzip", b"<p>not gzip at all"),
        ("gzip", b""),
        ("br", brotli.compress(b"needle")[:-1]),
        ("zstd", zstandard.compress(b"needle")[:-1]),
        ("gzip, gzip, gzip", gzip.compress(gzip.compress(gzip.compress(b"x")))),
        ("compress", b"x"),
    ],
)
def test_bodies_that_are_not_what_they_are_said_to_be_are_refused(coding: str, body: bytes) -> None:
    assert problem_of(answer_of(page(body, Content_Encoding=coding))) is FetchProblem.CONTENT_CODING


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", MEMBER * 512),
        ("gzip, gzip", gzip.compress(MEMBER * 1024)),
        ("br", brotli.compress(bytes(1 << 24), quality=1)),
        ("zstd", zstandard.compress(bytes(1 << 20)) * 1024),
    ],
)
def test_bombs_are_too_large(coding: str, body: bytes) -> None:
    assert problem_of(answer_of(page(body, Content_Encoding=coding))) is FetchProblem.TOO_LARGE


def test_codings_whose_library_is_missing_are_not_asked_for_and_name_it_when_they_come() -> None:
    program = (
        "import sys; sys.modules['brotli'] = sys.modules['zstandard'] = None\n"
        "from groundkit.adapters.web.coding import Undecodable, available, decoder_for\n"
        "print(*available())\n"
        "for coding in ('br', 'zstd'):\n"
        "    try: decoder_for([coding])\n"
        "    except Undecodable as refused: print(refused)\n"
    )
    paths = os.pathsep.join(filter(None, sys.path))
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    first, *rest = ran.stdout.splitlines()
    assert first == "gzip deflate" and len(rest) == 2
    assert all("pip install 'groundkit[web]'" in line for line in rest)


def endless(_: Seen) -> Iterator[bytes]:
    yield CHUNKED
    yield from repeat(chunk(b"x" * 65536))


def endless_framing(_: Seen) -> Iterator[bytes]:
    yield CHUNKED
    yield from repeat(b"".join(chunk(b"x")[:1] + b";" + b"e" * 900 + b"\r\nx\r\n" for _ in range(50)))


ZIPPED = head(200, "Content-Type: text/html", "Content-Encoding: gzip", "Transfer-Encoding: chunked")


def endless_nothing(_: Seen) -> Iterator[bytes]:
    yield ZIPPED
    yield from repeat(chunk(gzip.compress(b"") * 1000))


def test_chunks_may_not_be_all_framing() -> None:
    failed = answer_of(endless_framing, FetchLimits(body=300_000, seconds=60))
    assert problem_of(failed) is FetchProblem.TOO_LARGE and "more arrives" in failed.failure().detail


def test_a_body_that_its_coding_makes_larger_counts_as_it_comes() -> None:
    body = gzip.compress(Random(1).randbytes(1000))
    failed = answer_of(lambda _: [ZIPPED, chunk(body), b"0\r\n\r\n"], FetchLimits(body=1000, seconds=20))
    assert len(body) > 1000 and problem_of(failed) is FetchProblem.TOO_LARGE


@pytest.mark.parametrize("trick", [endless, endless_nothing])
def test_what_does_not_end_is_too_large(trick: Trick) -> None:
    assert problem_of(answer_of(trick, FetchLimits(body=300_000, seconds=60))) is FetchProblem.TOO_LARGE


def test_a_declared_length_is_refused_before_it_is_read() -> None:
    def never(seen: Seen) -> Iterator[bytes]:
        yield head(200, "Content-Type: text/html", "Content-Length: 1000001")
        yield from silence(seen)

    assert problem_of(answer_of(never)) is FetchProblem.TOO_LARGE


@pytest.mark.parametrize(
    "line", ["Content-Type: image/png", "Content-Type: text/html\r\nContent-Encoding: rot13", "Content-Type: video/mp4"]
)
def test_what_is_not_taken_is_refused_before_it_is_read(line: str) -> None:
    def never(seen: Seen) -> Iterator[bytes]:
        yield head(200, line, "Content-Length: 1000")
        yield from silence(seen)

    assert problem_of(answer_of(never)) in (FetchProblem.CONTENT_TYPE, FetchProblem.CONTENT_CODING)


def drip_body(seen: Seen) -> Iterator[bytes]:
    yield head(200, "Content-Type: text/html", "Content-Length: 100000")
    yield from drip(seen, b"x" * 100_000)


def drip_chunks(seen: Seen) -> Iterator[bytes]:
    yield CHUNKED
    yield from drip(seen, chunk(b"x") * 10_000)


def drip_head(seen: Seen) -> Iterator[bytes]:
    yield from drip(seen, head(200, "X-Long: " + "x" * 10_000))


def drip_informational(seen: Seen) -> Iterator[bytes]:
    while not seen.server.closing.wait(0.05):
        yield head(103)


@pytest.mark.parametrize("trick", [drip_body, drip_chunks, drip_head, drip_informational, silence])
def test_whatever_is_slow_ends_with_the_time_of_the_whole(trick: Trick) -> None:
    assert problem_of(answer_of(trick, SHORT)) is FetchProblem.TIME


def flood_of_headers(_: Seen) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    yield from repeat(b"X-More: " + b"y" * 1000 + b"\r\n")


def one_long_header(_: Seen) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nX-Long: "
    yield from repeat(b"y" * 10_000)


def flood_of_informational(_: Seen) -> Iterator[bytes]:
    yield from repeat(head(103, "Link: </style.css>") * 20)


@pytest.mark.parametrize(
    "trick",
    [
        flood_of_headers,
        one_long_header,
        flood_of_informational,
        page(X_Big="a" * 66_000),
        lambda seen: [CHUNKED, chunk(b"x"), b"0\r\n", b"X-Trailer: y\r\n" * 20_000, b"\r\n"],
    ],
)
def test_headers_have_a_limit(trick: Trick) -> None:
    assert problem_of(answer_of(trick)) is FetchProblem.HEADERS_TOO_LARGE


@pytest.mark.parametrize(
    "trick",
    [
        page(length=100_000),
        lambda seen: [CHUNKED, b"ff\r\nshort"],
        lambda seen: [CHUNKED, b"zz\r\nshort"],
        lambda seen: [head(200, "Content-Type: text/html", "Content-Length: 5", "Content-Length: 6"), b"hello"],
        lambda seen: [b"SSH-2.0-OpenSSH_9.2\r\n"],
        lambda seen: [b"<html>no head at all"],
        lambda seen: [b"HTTP/1.1 200 OK\r\nBad Header\r\n\r\n"],
        lambda seen: [b"HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\n\r\n"],
        lambda seen: [b"HTTP/1.1 200 OK\r\nContent-Type: text"],
        lambda seen: [head(200, "Content-Type: text/html", "Transfer-Encoding: gzip, chunked"), chunk(b"x")],
        lambda seen: [head(200, "Content-Type: text/html", "Content-Length: 50"), b"begun", RESET],
    ],
)
def test_what_breaks_off_or_is_no_http_is_a_failure(trick: Trick) -> None:
    assert problem_of(answer_of(trick)) is FetchProblem.PROTOCOL


def test_a_body_ends_where_its_length_says() -> None:
    assert page_of(answer_of(page(b"<p>needle and more", length=9))).body == b"<p>needle"


def test_a_body_may_end_with_the_connection() -> None:
    assert page_of(answer_of(lambda _: [b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall"])).body == b"all"


def test_a_wrong_charset_passes_as_it_was_declared() -> None:
    found = page_of(answer_of(page("中文".encode(), "text/html; charset=iso-8859-1")))
    assert (found.body, found.content_type.charset) == ("中文".encode(), "iso-8859-1")


def test_a_page_without_a_type_and_pages_of_another_type_than_they_say_are_for_others_to_judge() -> None:
    assert page_of(answer_of(page(b"<p>needle", None))).content_type.media_type == ""
    assert page_of(answer_of(page(b"%PDF-1.4", "text/html"))).body == b"%PDF-1.4"


def test_nothing_that_a_page_says_leads_to_another_request() -> None:
    body = b'<meta http-equiv=refresh content="0;url=/next"><p>needle'
    with playing(page(body, Refresh="0;url=http://127.0.0.1/", Link="</a>; rel=preload")) as (server, fetcher):
        assert page_of(fetcher.fetch(asked())).body == body
    assert len(server.seen) == 1


def test_switching_protocols_is_no_page() -> None:
    trick = page(status=101)
    assert problem_of(answer_of(trick)) in (FetchProblem.STATUS, FetchProblem.PROTOCOL)


def failing(times: int, how: Trick) -> Trick:
    """Goes wrong so many times, then gives a page."""
    done: list[None] = []

    def trick(seen: Seen) -> Iterator[bytes | None]:
        done.append(None)
        yield from how(seen) if len(done) <= times else page()(seen)

    return trick


@pytest.mark.parametrize("how", [lambda _: [RESET], lambda _: []], ids=["reset", "closed"])
def test_a_connection_lost_before_an_answer_is_tried_once_more(how: Trick) -> None:
    with playing(failing(1, how)) as (server, fetcher):
        page_of(fetcher.fetch(asked()))
    assert server.connections == 2
    with playing(failing(2, how)) as (server, fetcher):
        assert problem_of(fetcher.fetch(asked())) is FetchProblem.NOT_CONNECTED
    assert server.connections == 2


@pytest.mark.parametrize(
    "how",
    [
        lambda _: [b"H", RESET],
        lambda _: [b"HTTP/1.1 200 OK\r\n"],
        page(status=503),
        page(status=302, Location="/"),
        page(kind="image/png"),
        lambda _: [b"no http\r\n\r\n"],
        page(b"x", Content_Encoding="gzip"),
    ],
)
def test_what_was_answered_is_not_tried_again(how: Trick) -> None:
    with playing(failing(1, how)) as (server, fetcher):
        problem_of(fetcher.fetch(asked()))
    assert server.connections == 1


def test_a_refused_connection_is_tried_once_more_after_one_look_up() -> None:
    resolver, dialer = ScriptedResolver({"good.test": [(ADDRESS, "93.184.215.15")]}), Detour({})
    answer = WebFetcher(resolver, dialer, pause=0.0).fetch(asked())
    assert problem_of(answer) is FetchProblem.NOT_CONNECTED and "refused" in answer.failure().detail
    assert dialer.dialed == [(ADDRESS, 80), ("93.184.215.15", 80)] * 2
    assert resolver.asked == ["good.test"]


def test_a_retry_needs_time_that_is_left() -> None:
    fetcher = WebFetcher(ScriptedResolver({"good.test": [(ADDRESS,)]}), Detour({}), pause=30.0)
    assert problem_of(fetcher.fetch(asked(limits=SHORT))) is FetchProblem.TIME


def test_proxies_of_the_environment_are_not_asked() -> None:
    program = (
        "import sys; from web_server import *; from groundkit.adapters.web.fetcher import WebFetcher\n"
        "from groundkit.testing import ScriptedResolver; from groundkit.testing.fetcher_contract import asked\n"
        "fetcher = WebFetcher(ScriptedResolver({'good.test': [(ADDRESS,)]}), Detour({80: int(sys.argv[1])}))\n"
        "print(fetcher.fetch(asked()).unwrap().body)"
    )
    with WebServer(page(b"the page")) as server, WebServer(page(b"the proxy")) as proxy:
        names = ("http_proxy", "https_proxy", "all_proxy")
        away = {name: f"http://127.0.0.1:{proxy.port}" for each in names for name in (each, each.upper())}
        paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
        ran = subprocess.run(
            [sys.executable, "-c", program, str(server.port)],
            env={**os.environ, **away, "NO_PROXY": "", "no_proxy": "", "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.stdout.strip() == "b'the page'", ran.stderr
    assert proxy.connections == 0


def test_closing_ends_what_is_under_way() -> None:
    begun = Event()

    def waiting(seen: Seen) -> Iterator[bytes]:
        yield CHUNKED
        seen.server.closing.wait(0.2)  # until whoever asked waits for more
        begun.set()
        yield from silence(seen)

    ended: list[Result[FetchAnswer, FetchFailed]] = []
    with playing(waiting) as (_, fetcher):
        fetches = [Thread(target=lambda: ended.append(fetcher.fetch(asked(limits=ROOMY)))) for _ in range(4)]
        for each in fetches:
            each.start()
        assert begun.wait(10)
        fetcher.close()
        for each in fetches:
            each.join(10)
        # The server still serves: nothing but the closing has ended them.
        assert [problem_of(each) for each in ended] == [FetchProblem.STOPPED] * 4


def test_closing_ends_a_look_up_that_hangs() -> None:
    asked_for, never = Event(), Event()

    class Hanging:
        def addresses(self, host: str, seconds: float) -> Result[tuple[str, ...], object]:
            asked_for.set()
            never.wait(30)
            raise AssertionError

    ended: list[Result[FetchAnswer, FetchFailed]] = []
    fetcher = WebFetcher(Hanging(), Detour({}))  # type: ignore[arg-type]
    thread = Thread(target=lambda: ended.append(fetcher.fetch(asked(limits=ROOMY))))
    thread.start()
    assert asked_for.wait(10)
    fetcher.close()
    thread.join(10)
    assert problem_of(ended[0]) is FetchProblem.STOPPED
    assert problem_of(WebFetcher(Hanging(), Detour({})).fetch(asked(limits=SHORT))) is FetchProblem.TIME  # type: ignore[arg-type]
    never.set()


@pytest.mark.parametrize(("names", "limit"), [(1, 2), (6, 8)])
def test_only_so_many_exchanges_are_under_way_with_one_server_and_in_all(names: int, limit: int) -> None:
    now: list[Seen] = []
    most: list[int] = []
    too_many = Event()

    def counting(seen: Seen) -> Iterator[bytes | None]:
        now.append(seen)
        most.append(len(now))
        if len(now) > limit:
            too_many.set()
        too_many.wait(0.3)  # time for one more to come, were it let
        now.remove(seen)
        yield from page()(seen)

    hosts = [f"good{number}.test" for number in range(names)]
    with WebServer(counting) as server:
        resolver = ScriptedResolver({host: [(ADDRESS,)] for host in hosts})
        fetcher = WebFetcher(resolver, Detour({80: server.port}))
        requests = [asked(f"http://{host}/", limits=ROOMY) for host in hosts * 12][:12]
        fetches = [Thread(target=fetcher.fetch, args=(request,)) for request in requests]
        for each in fetches:
            each.start()
        for each in fetches:
            each.join(20)
    assert max(most) == limit and len(server.seen) == 12


class Recording(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def test_nothing_of_an_exchange_is_logged_and_what_others_do_with_httpcore_is() -> None:
    recording, root = Recording(), logging.getLogger()
    before = root.level
    root.addHandler(recording)
    root.setLevel(logging.DEBUG)
    try:
        with playing(page(status=302, Location="/x?token=sesame", Set_Cookie="id=sesame")) as (server, fetcher):
            problem_of(fetcher.fetch(asked("http://good.test/quiet")))
            assert not any("sesame" in line or "quiet" in line for line in recording.lines), recording.lines
            with httpcore.ConnectionPool() as pool:
                pool.request("GET", f"http://127.0.0.1:{server.port}/theirs")
    finally:
        root.removeHandler(recording)
        root.setLevel(before)
    assert any("sesame" in line for line in recording.lines)


def test_a_failure_never_quotes_what_a_server_sent() -> None:
    for line in ("Loc\0ation: /?token=sesame", "Location /?token=sesame", "Transfer-Encoding: sesame"):
        detail = answer_of(lambda _, line=line: [head(200, line)]).failure().detail  # type: ignore[misc]
        assert "sesame" not in detail


def test_no_connection_is_left_open() -> None:
    kept: list[socket.socket] = []

    class Keeping(Detour):
        def dial(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream:
            stream = super().dial(address, port, timeout)
            kept.append(stream.get_extra_info("socket"))
            return stream

    for trick in (page(), page(status=404), page(kind="image/png"), endless, lambda _: [b"junk\r\n\r\n"]):
        with WebServer(trick) as server:
            WebFetcher(ScriptedResolver({"good.test": [(ADDRESS,)]}), Keeping({80: server.port})).fetch(asked(URL))
    assert len(kept) == 5 and all(each.fileno() == -1 for each in kept)

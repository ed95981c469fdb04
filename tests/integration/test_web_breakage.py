"""What broke once: secrets in what a person typed, pages that were cut off under TLS."""

from pathlib import Path

import pytest
import trustme
from commands import gk, write
from web_server import ADDRESS, CHUNKED, Detour, Seen, Trick, WebServer, chunk, head, page, served_with, trusted
from web_support import page as scripted_page
from web_support import snapshots, web_collection

import groundkit
from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.core.fetching import FetchAnswer, Fetched, FetchFailed, FetchProblem
from groundkit.core.model import Reason, Verdict
from groundkit.core.result import Failure, Result, Success
from groundkit.ingest import BATCH_CHARACTERS
from groundkit.testing import ScriptedPage, ScriptedResolver
from groundkit.testing.fetcher_contract import asked

SECRET = "hunter2hunter2"


@pytest.mark.parametrize(
    "url",
    [f"https://u:{SECRET}@a.example/", f"https://a.example/?token={SECRET}", f" ftp://u:{SECRET}@a.example/"],
)
def test_a_url_taken_for_a_chunk_id_is_shown_without_its_secrets(tmp_path: Path, url: str) -> None:
    gk(write(tmp_path / "kb", a_md="A text."), "ingest", "a.md")
    for form in ("human", "json"):
        shown = gk(tmp_path / "kb", "show", "--format", form, "--", url)
        assert shown.code == 1
        assert SECRET not in shown.out + shown.err
        assert "***" in shown.out + shown.err
    with groundkit.open(tmp_path / "kb" / ".groundkit") as kb:
        assert SECRET not in repr(kb.fetch_chunk(url))


def test_an_unknown_chunk_id_is_shown_as_it_was_given(tmp_path: Path) -> None:
    gk(write(tmp_path / "kb", a_md="A text."), "ingest", "a.md")
    assert "no chunk user:key@x" in gk(tmp_path / "kb", "show", "user:key@x").err


def over_tls(trick: Trick) -> Result[FetchAnswer, FetchFailed]:
    """What comes of a server that ends its connections without saying so in TLS (RFC 8446, 6.1)."""
    authority = trustme.CA()
    with WebServer(trick, tls=served_with(authority.issue_cert("good.test"))) as server:
        resolver = ScriptedResolver({"good.test": [(ADDRESS,)]})
        fetcher = WebFetcher(resolver, Detour({443: server.port}), ssl_context=trusted(authority), pause=0.0)
        return fetcher.fetch(asked("https://good.test/"))


def test_a_page_that_ends_where_its_connection_is_cut_under_tls_is_no_page() -> None:
    """Without a length or chunks only TLS can say that this is the end (RFC 9112, 9.8)."""
    answer = over_tls(lambda _: [head(200, "Content-Type: text/html") + b"<p>The ferry leaves at"])
    assert isinstance(answer, Failure)
    assert answer.failure().problem is FetchProblem.PROTOCOL
    assert "broke off" in answer.failure().detail


@pytest.mark.parametrize("whole", [page(), lambda _: [CHUNKED + chunk(b"<p>a page") + b"0\r\n\r\n"]])
def test_a_page_that_says_where_it_ends_may_be_cut_off_there(whole: Trick) -> None:
    answer = over_tls(whole)
    assert isinstance(answer, Success)
    fetched = answer.unwrap()
    assert isinstance(fetched, Fetched)
    assert fetched.body == b"<p>a page"


@pytest.mark.parametrize("greeting", [[], [b"\x16\x03\x03"]])
def test_a_connection_that_ends_during_the_handshake_was_closed(greeting: list[bytes]) -> None:
    def hang_up(seen: Seen) -> list[bytes]:
        return greeting

    with WebServer(page(), greet=hang_up) as server:
        resolver = ScriptedResolver({"good.test": [(ADDRESS,)]})
        fetcher = WebFetcher(resolver, Detour({443: server.port}), ssl_context=trusted(trustme.CA()), pause=0.0)
        answer = fetcher.fetch(asked("https://good.test/"))
    assert isinstance(answer, Failure)
    assert "exec format" not in answer.failure().detail
    assert answer.failure().problem in (FetchProblem.NOT_CONNECTED, FetchProblem.PROTOCOL)


@pytest.mark.parametrize("directory", ["nowhere\0", "\ud800", "n" * 5000])
def test_a_directory_of_snapshots_that_cannot_be_gives_a_verdict(tmp_path: Path, directory: str) -> None:
    with web_collection(tmp_path / "index", {"https://a.example/": scripted_page("The ferry leaves at noon.")}) as kb:
        kb.ingest("https://a.example/")
        (hit,) = kb.search("ferry")
    found = groundkit.verify_citation(hit.citation, snapshot_dir=directory)
    assert found.verdict is Verdict.UNRESOLVABLE
    assert found.reason in (Reason.SNAPSHOT_MISSING, Reason.SNAPSHOT_CORRUPT)


def test_a_directory_in_the_way_of_a_snapshot_is_set_aside_and_stops_nothing(tmp_path: Path) -> None:
    pages = {f"https://{name}.example/": scripted_page("The ferry leaves at noon.") for name in "ab"}
    with web_collection(tmp_path / "index", pages) as kb:
        kb.ingest("https://a.example/")
        (name,) = snapshots(tmp_path / "index")
        snapshot = tmp_path / "index" / "default.snapshots" / name
        snapshot.unlink()
        snapshot.mkdir()
        (snapshot / "notes.txt").write_text("somebody's")
        report = kb.ingest(list(pages))
        assert (report.rebound, report.added, report.failed) == (1, 1, ())
        assert all(each.verification for each in kb.verify_all())
        (found,) = kb.doctor().findings
        assert found.subject.startswith(f"{name}.aside-")
        assert (snapshot.parent / found.subject / "notes.txt").read_text() == "somebody's"


def test_pages_alone_set_no_base_directory_and_none_is_told(tmp_path: Path) -> None:
    # Fails before anybody is asked, and is noted.
    without = str(tmp_path / "no certificates")
    told = gk(tmp_path, "ingest", "--base-dir", ".", "https://93.184.215.14/", SSL_CERT_FILE=without).err
    assert "new collection" in told
    assert "base directory" not in told
    assert "base directory" in gk(write(tmp_path / "kb", a_md="A text."), "ingest", "-c", "other", "a.md").err


def test_large_pages_are_written_before_more_of_them_are_held(tmp_path: Path) -> None:
    """Each page fills a batch of its own, however many are there already."""
    large = ScriptedPage(b"word \n" * (BATCH_CHARACTERS // 6 + 1), "text/plain")
    pages = {f"https://a.example/{number}": large for number in range(4)}
    with web_collection(tmp_path / "index", pages) as kb:
        kb.ingest(list(pages), chunk_size=100_000)
        assert kb.status().generation == len(pages)

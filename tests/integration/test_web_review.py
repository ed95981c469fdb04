"""Pages beside files, questions about pages that were replaced, and hosts that are asked on several ports."""

from collections.abc import Iterator
from contextlib import closing
from itertools import permutations
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from attrs import evolve
from commands import gk
from web_faults import Fault, Faulty
from web_server import ADDRESS, Detour, Seen, WebServer
from web_server import page as served
from web_support import page, web_collection, web_ports

import groundkit
from groundkit import ConfigurationError
from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.collection import Collection
from groundkit.core.fetching import FetchLimits, FetchRequest
from groundkit.core.fingerprint import text_digest
from groundkit.core.live import LiveState
from groundkit.core.model import Reason, Span
from groundkit.core.urls import web_url
from groundkit.testing import ScriptedResolver

URL = "https://a.example/page"


def test_files_of_a_collection_that_began_with_a_page_lie_beside_its_index(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("The gull sleeps.")
    with web_collection(tmp_path / "index", {URL: page("The ferry leaves at noon.")}) as kb:
        kb.ingest(URL)
        assert kb.base is None
        report = kb.ingest("n.md")
        assert (report.added, report.failed) == (1, ())
        assert kb.base == tmp_path
        assert all(each.verification for each in kb.verify_all())
        assert kb.ingest([URL, "n.md"]).unchanged == 2


def test_a_path_that_is_missing_does_not_stop_a_url_beside_it(tmp_path: Path) -> None:
    ran = gk(tmp_path, "ingest", "missing.md", "http://localhost/page")
    assert ran.code == 1
    assert "failed: missing.md" in ran.err
    assert "failed: http://localhost/page" in ran.err


def test_a_passage_that_still_stands_there_is_live_without_the_version_it_was_cited_from(tmp_path: Path) -> None:
    pages = {URL: page("The ferry leaves at noon.")}
    with web_collection(tmp_path / "index", pages) as kb:
        kb.ingest(URL)
        (cited,) = kb.citations()
        pages[URL] = page("The ferry leaves at noon.\nIt comes back at dusk.")
        kb.ingest(URL)
        assert kb.verify(cited).reason is Reason.SNAPSHOT_MISSING
        (live,) = kb.live_each([cited])
        assert live is not None
        assert live.state is LiveState.SAME


@pytest.mark.parametrize("span", [Span(10_000, 10_010), Span(0, 10)])
def test_a_citation_of_what_the_page_never_said_is_not_live(tmp_path: Path, span: Span) -> None:
    with web_collection(tmp_path / "index", {URL: page("The ferry leaves at noon.")}) as kb:
        kb.ingest(URL)
        (cited,) = kb.citations()
        forged = evolve(cited, span=span, digest=text_digest("It never did."))
        assert not kb.verify(forged)
        (live,) = kb.live_each([forged])
        assert live is not None
        assert live.state is LiveState.UNREACHABLE


def test_all_ports_of_a_host_share_its_turns() -> None:
    now: list[Seen] = []
    most: list[int] = []

    def counting(seen: Seen) -> Iterator[bytes | None]:
        now.append(seen)
        most.append(len(now))
        sleep(0.2)  # time for one more to come, were it let
        now.remove(seen)
        yield from served(b"<p>a page")(seen)

    ports = (80, 8080)
    urls = [web_url(f"http://good.test:{port}/", ports).unwrap() for port in ports * 3]
    with WebServer(counting) as server:
        fetcher = WebFetcher(ScriptedResolver({"good.test": [(ADDRESS,)]}), Detour(dict.fromkeys(ports, server.port)))
        requests = [FetchRequest(url, FetchLimits(1000, 20), ports=ports) for url in urls]
        fetches = [Thread(target=fetcher.fetch, args=(request,)) for request in requests]
        for each in fetches:
            each.start()
        for each in fetches:
            each.join(20)
    assert len(server.seen) == 6
    assert max(most) <= 2


def test_a_refused_url_is_told_beside_a_folder_with_nothing_in_it(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with web_collection(tmp_path / "index", {}, base=tmp_path) as kb:
        report = kb.ingest(["empty", "http://localhost/", "ftp://a.example/"])
        assert [each.source for each in report.failed] == ["ftp://a.example/", "http://localhost/"]
        with pytest.raises(ConfigurationError, match="nothing to ingest"):
            kb.ingest("empty")
        with pytest.raises(ConfigurationError, match="nothing to ingest"):
            kb.ingest([])
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("name", ["../other", "a/b", "", ".", "a\0b"])
def test_no_name_of_a_collection_leads_out_of_the_index_directory(name: str) -> None:
    with pytest.raises(ConfigurationError):
        groundkit.snapshot_dir_for("index", name)


def test_the_doctor_says_so_where_it_could_not_sweep(tmp_path: Path) -> None:
    fault = Fault()
    ports = web_ports(tmp_path / "index", {URL: page("The ferry leaves at noon.")})
    stray = tmp_path / "index" / "default.snapshots" / ("a" * 32)
    with Collection(evolve(ports, snapshots=Faulty(ports.snapshots, fault)), tmp_path / "index", "default", None) as kb:
        kb.ingest(URL)
        stray.write_text("left")
        fault.step, fault.countdown = "remove", 1
        (found,) = kb.doctor().findings
        assert (found.subject, "no space" in found.detail, stray.exists()) == (stray.name, True, True)
        (found,) = kb.doctor().findings
        assert ("no space" in found.detail, stray.exists()) == (False, False)
        assert kb.doctor().healthy


def test_pages_make_the_same_generation_in_whatever_order_they_come(tmp_path: Path) -> None:
    pages = {f"https://{name}.example/": page(f"The {name} leaves at noon.") for name in ("ferry", "boat", "raft")}
    marks = set()
    for number, urls in enumerate(permutations(pages)):
        ports = web_ports(tmp_path / str(number), pages)
        with Collection(ports, tmp_path / str(number), "default", None) as kb:
            kb.ingest(urls)
            with closing(ports.documents.view().unwrap()) as view:
                marks.add(view.state.tip.mark)
    assert len(marks) == 1

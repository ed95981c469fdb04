"""Pages beside files, and questions about pages that were replaced."""

from pathlib import Path

import pytest
from attrs import evolve
from commands import gk
from web_support import page, web_collection

from groundkit.core.fingerprint import text_digest
from groundkit.core.live import LiveState
from groundkit.core.model import Reason, Span

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

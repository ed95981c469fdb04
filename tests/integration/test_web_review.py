"""Pages beside files, and questions about pages that were replaced."""

from pathlib import Path

from commands import gk
from web_support import page, web_collection

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

"""Case 28 by URL: what a server says of a charset helps, and never makes a page of it that nobody wrote."""

from pathlib import Path

import pytest
from shared import shared
from web_support import at_rest, web_collection

from groundkit.testing.memory_web import ScriptedPage

CASES = "cases/28-html-charset"
#: Bytes that no declaration fits.
REFUSED = ("mixed-utf8-with-1252-byte", "x-user-defined")


def _url(file: Path) -> str:
    return f"https://a.example/{file.name}"


@pytest.mark.parametrize("declared", ["text/html", "text/html; charset=utf-8", "text/html; charset=utf-7", ""])
def test_case_28_pages_are_read_by_the_charset_they_are_in(tmp_path: Path, declared: str) -> None:
    files = sorted(shared(CASES).glob("*.html"))
    assert files
    pages = {_url(each): ScriptedPage(each.read_bytes(), declared) for each in files}
    index = tmp_path / "index"
    with web_collection(index, pages) as kb:
        report = kb.ingest(list(pages))
        failed = {each.source for each in report.failed}
        texts = {each.source: kb.search("needle", limit=50) for each in kb.get_document_records()}
        found = {hit.source for hits in texts.values() for hit in hits}
        # Nothing is taken without its text, and nothing but what fits no charset is refused.
        assert found == set(pages) - failed
        assert all(each.verification for each in kb.verify_all())
        for record in kb.get_document_records():
            assert record.fetch is not None
            assert record.fetch.charset not in ("", "utf-7", "x-user-defined")
            kept = (index / "default.snapshots" / record.document_id).read_text("utf-8")
            assert "<script>" not in kept
            assert "needle" in kept
        if declared == "text/html":
            assert {Path(each).stem for each in failed} == set(REFUSED)
    assert at_rest(index)

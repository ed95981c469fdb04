"""The steps of a source's life, each with its verdict: nothing stale is called verified, and no ghost is found."""

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

import groundkit
from groundkit import Citation, Collection, Reason, Verdict

TEXT = "# A\n\nghosttoken one stays here, na\u00efve.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT, "utf-8")
    return tmp_path / "docs"


@pytest.fixture
def kb(docs: Path, tmp_path: Path) -> Iterator[Collection]:
    with groundkit.open(tmp_path / "idx", base=docs) as opened:
        opened.ingest([""])
        yield opened


@pytest.fixture
def cited(kb: Collection) -> Citation:
    (hit,) = kb.search("ghosttoken", verify=True)
    assert hit.verification
    return hit.citation


def test_deleted(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").unlink()
    assert kb.verify(cited).verdict is Verdict.UNRESOLVABLE
    (hit,) = kb.search("ghosttoken", verify=True)
    assert not hit.verification


def test_a_word_changed(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").write_text(TEXT.replace("one", "two"), "utf-8")
    assert kb.verify(cited).verdict is Verdict.DRIFTED


def test_restored_with_another_time(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").unlink()
    (docs / "a.md").write_text(TEXT, "utf-8")
    os.utime(docs / "a.md", (1, 1))
    assert kb.verify(cited)
    assert kb.ingest([""]).unchanged == 1


def test_text_before_it(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").write_text("x" * 499 + "\n" + TEXT, "utf-8")
    assert kb.verify(cited).verdict is Verdict.DRIFTED


def test_a_twin_elsewhere_is_not_the_passage(docs: Path, kb: Collection) -> None:
    sentence = "The twin sentence stands twice.\n"
    (docs / "t.md").write_text(sentence + "\n" + "between\n" * 300 + "\n" + sentence, "utf-8")
    kb.ingest([""], chunk_size=200)
    first = min((hit.citation for hit in kb.search("twin sentence")), key=lambda each: each.span.start)
    (docs / "t.md").write_text("between\n" * 300 + "\n" + sentence, "utf-8")
    assert kb.verify(first).verdict is Verdict.DRIFTED


def test_the_twins_copy_on_the_very_span_is_verified_and_says_that_its_surroundings_changed(
    docs: Path, kb: Collection
) -> None:
    block = "The twin sentence stands twice.\n\n"
    (docs / "t.md").write_text(block + block.replace("\n\n", "\n") + "\nafterwards something else\n" * 40, "utf-8")
    kb.ingest([""], chunk_size=len(block), chunk_overlap=0)
    first = min((hit.citation for hit in kb.search("twin sentence")), key=lambda each: each.span.start)
    cut = (docs / "t.md").read_text("utf-8")[first.span.start : first.span.end]
    (docs / "t.md").write_text(cut + "quite another thing follows now\n", "utf-8")
    seen = kb.verify(first)
    assert (seen.verdict, seen.context_changed) == (Verdict.VERIFIED, True)


def test_renamed(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").rename(docs / "b.md")
    report = kb.ingest([""])
    assert (report.added, report.removed) == (1, 1)
    assert [hit.source for hit in kb.search("ghosttoken")] == ["b.md"]
    assert kb.verify(cited).reason is Reason.SOURCE_MISSING


@pytest.mark.parametrize(
    "kind", [os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere", path)], ids=["directory", "FIFO", "dangling link"]
)
def test_something_else_of_the_same_name(kb: Collection, docs: Path, cited: Citation, kind: object) -> None:
    (docs / "a.md").unlink()
    assert callable(kind)
    kind(docs / "a.md")
    assert kb.verify(cited).verdict is Verdict.UNRESOLVABLE
    kb.ingest([""])
    assert all(not hit.verification for hit in kb.search("ghosttoken", verify=True))


def test_a_failed_reading_does_not_purge(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").write_bytes(b"\xff\xfe")
    report = kb.ingest([""])
    assert [each.source for each in report.failed] == ["a.md"]
    assert [hit.citation for hit in kb.search("ghosttoken")] == [cited]


def test_other_line_ends_are_a_drift(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert kb.verify(cited).verdict is Verdict.DRIFTED


def test_another_unicode_form_is_a_drift(kb: Collection, docs: Path, cited: Citation) -> None:
    changed = unicodedata.normalize("NFD", TEXT)
    assert changed != TEXT
    (docs / "a.md").write_text(changed, "utf-8")
    assert kb.verify(cited).verdict is Verdict.DRIFTED


def test_gone_is_gone(kb: Collection, docs: Path) -> None:
    (docs / "other.md").write_text("something that stays\n", "utf-8")
    (docs / "a.md").unlink()
    assert kb.ingest([""]).removed == 1
    assert kb.search("ghosttoken") == []

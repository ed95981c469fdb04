"""The steps of a source's life, each with its verdict and reason: nothing stale is called verified, and no ghost is found."""

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import environment
from shared import shared

import groundkit
from groundkit import Citation, Collection, Reason, Verdict, Verification
from groundkit.core.model import Span
from groundkit.core.portable import PortableCitation

TEXT = "# A\n\nghosttoken one stays here.\n"
SIZE = len(TEXT)

#: The check with the collection; with the kept citation alone; with one that brings its text along.
WAYS = ("collection", "kept", "portable")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    write(tmp_path / "docs" / "a.md", TEXT)
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


@pytest.fixture
def travelled(kb: Collection, cited: Citation) -> PortableCitation:
    return kb.portable(cited)


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())


def every_way(kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation) -> dict[str, Verification]:
    checks = kb.verify(cited), groundkit.verify_citation(cited, base=docs), groundkit.verify(travelled, base=docs)
    return dict(zip(WAYS, checks, strict=True))


def test_the_case_has_the_steps_that_are_here() -> None:
    steps = json.loads((shared("cases/17-stale-or-ghost-results") / "steps.json").read_text("utf-8"))
    assert len(steps) == 13
    assert TEXT.replace("\n", "\\n") in steps[0]["do"]


def test_cited(kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation) -> None:
    assert cited.span == Span(0, SIZE)
    assert {each.reason for each in every_way(kb, docs, cited, travelled).values()} == {Reason.SAME}


def test_deleted(kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation) -> None:
    (docs / "a.md").unlink()
    for each in every_way(kb, docs, cited, travelled).values():
        assert (each.verdict, each.reason) == (Verdict.UNRESOLVABLE, Reason.SOURCE_MISSING)
        assert each.same_bytes_at is None
    (hit,) = kb.search("ghosttoken", verify=True)
    assert hit.verification is not None
    assert hit.verification.verdict is Verdict.UNRESOLVABLE


def test_a_word_changed(kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation) -> None:
    changed = TEXT.replace("one", "three")
    write(docs / "a.md", changed)
    seen = every_way(kb, docs, cited, travelled)
    assert {each.verdict for each in seen.values()} == {Verdict.DRIFTED}
    # Without the ingested text it cannot be told where a passage went.
    assert [seen[way].reason for way in WAYS] == [Reason.EDITED, Reason.CHANGED, Reason.CHANGED]
    edited = seen["collection"]
    assert edited.span == Span(0, len(changed))
    assert edited.similarity is not None
    assert 0.5 < edited.similarity < 1
    assert (edited.cited, edited.found) == (TEXT, changed)
    assert [(part.change.value, part.text) for part in edited.diff if part.change.value != "same"] == [
        ("removed", "one"),
        ("added", "three"),
    ]
    assert "one" in seen["portable"].detail
    assert all("three" in each.detail for each in seen.values())


def test_restored_with_another_time(kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation) -> None:
    (docs / "a.md").unlink()
    write(docs / "a.md", TEXT)
    os.utime(docs / "a.md", (1, 1))
    assert all(every_way(kb, docs, cited, travelled).values())
    assert kb.ingest([""]).unchanged == 1


@pytest.mark.parametrize("before", ["x" * 499 + "\n", "x" * 500, "\n" * 500], ids=["line", "same line", "blank lines"])
def test_500_characters_before_it(
    kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation, before: str
) -> None:
    write(docs / "a.md", before + TEXT)
    for way, seen in every_way(kb, docs, cited, travelled).items():
        assert (seen.verdict, seen.reason) == (Verdict.DRIFTED, Reason.MOVED), way
        assert seen.span == Span(500, 500 + SIZE)
        assert seen.locator is not None
        assert seen.locator.line == 1 + before.count("\n")
        assert seen.locator.column == (1 if before.endswith("\n") else 501)


def test_500_characters_before_a_passage_with_neighbours(kb: Collection, docs: Path) -> None:
    text = "".join(f"Paragraph number {number} says what rule {number * 7} is.\n\n" for number in range(40))
    write(docs / "a.md", text)
    kb.ingest([""], chunk_size=200)
    citations = list(kb.citations("a.md"))
    travelled = list(kb.portable_each(citations))
    write(docs / "a.md", "x" * 500 + text)
    for citation, portable in zip(citations, travelled, strict=True):
        for way, seen in every_way(kb, docs, citation, portable).items():
            assert seen.reason is Reason.MOVED, (way, citation.span)
            assert seen.span == Span(citation.start_offset + 500, citation.end_offset + 500)


SENTENCE = "The twin sentence stands twice.\n\n"


def twins(kb: Collection, docs: Path, between: str) -> tuple[Citation, PortableCitation]:
    """A citation of the first of two copies, which is a chunk of its own."""
    write(docs / "t.md", SENTENCE + between + SENTENCE.rstrip("\n") + "\n")
    kb.ingest([""], chunk_size=len(SENTENCE), chunk_overlap=0)
    first = min((hit.citation for hit in kb.search("twin sentence", limit=99)), key=lambda each: each.span.start)
    assert first.span == Span(0, len(SENTENCE))
    return first, kb.portable(first)


@pytest.mark.parametrize("lines", [1, 3, 300])
def test_a_twin_elsewhere_is_not_the_passage(docs: Path, kb: Collection, lines: int) -> None:
    between = "".join(f"Line {number} stands between.\n\n" for number in range(lines))
    first, travelled = twins(kb, docs, between)
    write(docs / "t.md", between + SENTENCE.rstrip("\n") + "\n")
    for way, seen in every_way(kb, docs, first, travelled).items():
        assert seen.verdict is Verdict.DRIFTED
        # The collection knows that the other copy stood there before; without it nobody can tell.
        assert seen.reason is (Reason.REMOVED if way == "collection" else Reason.CHANGED)
        assert (seen.span, seen.found) == (None, None)


def test_the_twins_copy_on_the_very_span_is_verified_and_says_that_its_surroundings_changed(
    docs: Path, kb: Collection
) -> None:
    write(docs / "t.md", SENTENCE + SENTENCE + "afterwards something else\n" * 40)
    kb.ingest([""], chunk_size=len(SENTENCE), chunk_overlap=0)
    first = min((hit.citation for hit in kb.search("twin sentence")), key=lambda each: each.span.start)
    travelled = kb.portable(first)
    assert (travelled.occurrence, travelled.occurrences) == (1, 2)
    write(docs / "t.md", SENTENCE + "afterwards something else\n" * 40)
    for seen in every_way(kb, docs, first, travelled).values():
        assert (seen.verdict, seen.reason, seen.context_changed) == (Verdict.VERIFIED, Reason.SAME, True)
        assert "around it changed" in seen.detail


def test_renamed(kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation) -> None:
    (docs / "a.md").rename(docs / "b.md")
    before = every_way(kb, docs, cited, travelled)
    report = kb.ingest([""])
    assert (report.added, report.removed) == (1, 1)
    assert [hit.source for hit in kb.search("ghosttoken")] == ["b.md"]
    for seen in (*before.values(), *every_way(kb, docs, cited, travelled).values()):
        assert (seen.verdict, seen.reason, seen.same_bytes_at) == (
            Verdict.UNRESOLVABLE,
            Reason.SOURCE_MISSING,
            "b.md",
        )
        assert "b.md" in seen.detail


#: Checks in a process of its own, so that one that never ends fails the test.
_CHECK = """
import sys, groundkit
from groundkit.core.model import Citation, FromText, Span
with groundkit.open(sys.argv[1], base=sys.argv[2]) as kb:
    citation = Citation("d" * 32, "c" * 32, "a.md", FromText(), Span(0, 32), "0" * 64)
    for each in (kb.verify(citation), groundkit.verify_citation(citation, base=sys.argv[2])):
        print(each.verdict.value, each.reason.value)
    print([hit.verification.verdict.value for hit in kb.search("ghosttoken", verify=True)])
"""


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _link(path: Path) -> None:
    (path.parent / "real.md").write_bytes(TEXT.encode())
    path.symlink_to("real.md")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (os.mkdir, "source_unreadable"),
        (os.mkfifo, "source_unreadable"),
        (_dangling, "outside_base"),
        (_link, "outside_base"),
    ],
    ids=["directory", "FIFO", "dangling link", "link"],
)
def test_something_else_of_the_same_name(
    kb: Collection, docs: Path, tmp_path: Path, kind: Callable[[Path], None], reason: str
) -> None:
    (docs / "a.md").unlink()
    kind(docs / "a.md")
    done = subprocess.run(
        [sys.executable, "-c", _CHECK, tmp_path / "idx", docs],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.splitlines() == [f"unresolvable {reason}"] * 2 + ["['unresolvable']"]
    kb.ingest([""])
    assert all(not hit.verification for hit in kb.search("ghosttoken", verify=True) if hit.source == "a.md")


def test_a_failed_reading_does_not_purge(kb: Collection, docs: Path, cited: Citation) -> None:
    (docs / "a.md").write_bytes(b"\xff\xfe")
    report = kb.ingest([""])
    assert [each.source for each in report.failed] == ["a.md"]
    assert [hit.citation for hit in kb.search("ghosttoken")] == [cited]
    assert kb.verify(cited).reason is Reason.NOT_TEXT


def test_other_line_ends_are_a_drift(kb: Collection, docs: Path, cited: Citation, travelled: PortableCitation) -> None:
    changed = TEXT.replace("\n", "\r\n")
    write(docs / "a.md", changed)
    seen = every_way(kb, docs, cited, travelled)
    assert [seen[way].reason for way in WAYS] == [Reason.REFORMATTED, Reason.CHANGED, Reason.CHANGED]
    assert seen["collection"].span == Span(0, len(changed))
    assert seen["collection"].found == changed


def test_another_unicode_form_is_a_drift(kb: Collection, docs: Path) -> None:
    text = "# N\n\nghosttoken na\u00efve stays here.\n"
    write(docs / "n.md", text)
    kb.ingest([""])
    (cited,) = kb.citations("n.md")
    travelled = kb.portable(cited)
    changed = unicodedata.normalize("NFD", text)
    assert len(changed) == len(text) + 1
    write(docs / "n.md", changed)
    seen = every_way(kb, docs, cited, travelled)
    assert [seen[way].reason for way in WAYS] == [Reason.REFORMATTED, Reason.CHANGED, Reason.CHANGED]
    assert seen["collection"].span == Span(0, len(changed))


def test_gone_is_gone(kb: Collection, docs: Path) -> None:
    write(docs / "other.md", "something that stays\n")
    (docs / "a.md").unlink()
    assert kb.ingest([""]).removed == 1
    assert kb.search("ghosttoken") == []

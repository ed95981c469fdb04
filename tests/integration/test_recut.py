"""Other chunk sizes are for the whole collection, whichever paths are asked for and whenever the process ends."""

from pathlib import Path

import pytest
from attrs import evolve
from integration.support import contents, fresh, opened, put, state_at

from groundkit.compose import ports_for
from groundkit.core.changes import Write
from groundkit.writing import Writer

FILES = {f"d/{n}.md": f"# Part {n}\n\n" + "The tide turns at the ferry. " * (5 + n) for n in range(6)} | {
    "lone.txt": "A lamp on the rock. " * 40,
    "table.csv": "lamp,rock\n" * 30,
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    put(folder, FILES)
    with opened(folder) as made:
        made.ingest("", as_text=True)
    return folder


def as_fresh(tmp_path: Path, size: int, overlap: int = 0) -> dict[str, object]:
    folder = tmp_path / "fresh"
    put(folder, FILES)
    with opened(folder) as made:
        made.ingest("", as_text=True, chunk_size=size, chunk_overlap=overlap)
    assert not state_at(folder).settings.recut
    return contents(folder)


def test_a_new_size_given_for_one_path_cuts_every_source(base: Path, tmp_path: Path) -> None:
    with opened(base) as made:
        report = made.ingest("d/1.md", as_text=True, chunk_size=100, chunk_overlap=10)
    assert report.updated == len(FILES)
    assert contents(base) == as_fresh(tmp_path, 100, 10)
    assert not state_at(base).settings.recut


def test_a_size_changed_and_not_carried_through_is_by_the_next_ingest_of_anything(base: Path, tmp_path: Path) -> None:
    ports = ports_for(base / ".groundkit", "default")
    settings = evolve(state_at(base).settings, chunk_size=100, recut=True)
    with ports.lock.hold(0).unwrap():
        Writer(ports.documents, ports.lexical("english")).write(Write(settings=settings)).unwrap()
    ports.documents.close()
    with opened(base) as made:
        made.ingest("lone.txt")
    assert contents(base) == as_fresh(tmp_path, 100)


def test_a_source_that_cannot_be_cut_anew_keeps_its_last_good_version_and_is_named(base: Path) -> None:
    before = contents(base)
    (base / "d" / "3.md").write_bytes(b"\xff")
    (base / "d" / "4.md").unlink()
    with opened(base) as made:
        report = made.ingest("lone.txt", chunk_size=100)
        assert [each.source for each in report.failed] == ["d/3.md", "d/4.md"]
        assert report.removed == 0
    after = contents(base)
    assert [source for source in FILES if before[source] == after[source]] == ["d/3.md", "d/4.md"]
    assert not state_at(base).settings.recut


def test_the_same_size_given_again_changes_nothing(tmp_path: Path) -> None:
    with fresh(tmp_path / "docs", FILES, chunk_size=100) as made:
        generation = made.status().generation
        report = made.ingest("lone.txt", chunk_size=100)
        assert (report.unchanged, report.updated, made.status().generation) == (1, 0, generation)


def test_a_file_taken_as_text_in_spite_of_its_first_bytes_is_cut_anew_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("%PDF-1.7 is how such a file begins. " * 20)
    (tmp_path / "b.md").write_text("Something else. " * 40)
    with opened(tmp_path) as collection:
        collection.ingest("", as_text=True)
        assert collection.ingest("b.md", chunk_size=100).failed == ()
        lengths = [each.span.length for each in collection.citations()]
    assert len(lengths) > 10
    assert max(lengths) <= 101

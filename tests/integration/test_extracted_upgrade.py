"""Another version of an extractor: its citations are told so, and the next ingest binds them anew. The end is always the same."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from commands import gk
from extracted_support import (
    HTML,
    MIXED,
    PDF,
    failures,
    found,
    held,
    lines,
    opened,
    ports_at,
    rows,
    tree,
    verdicts,
    world,
)
from integration.support import INDEX, put
from own_extractors import CHANGES, Changed

from groundkit import GroundkitError
from groundkit.core.folding import index_view
from groundkit.testing.sample_extractors import Lines, Raising

FILES = {**MIXED, "more/two.x": lines("two", 2, 30), "more/three.x": lines("three", 4, 8)}
LINES = {source for source in FILES if source.endswith(".x")}
SMALL = {"chunk_size": 300}
QUERIES = ("old rule", "tide", "harbour", "part")


def outbox(base: Path) -> int:
    with closing(ports_at(base).documents) as documents:
        return len(documents.outbox(index_view).unwrap())


def fresh(base: Path, files: dict[str, bytes | str], extractor: Changed, **settings: int) -> tuple[object, object]:
    """What one ingest of these files by this extractor ends in."""
    with world(base, files, extractor, **settings) as collection:
        return held(base), found(collection, *QUERIES)


def test_an_upgrade_makes_exactly_its_own_citations_unresolvable_and_names_both_identities(tmp_path: Path) -> None:
    with world(tmp_path, FILES, Lines("1"), **SMALL) as collection:
        citations = list(collection.citations())
        assert collection.status().inactive == 0
    with opened(tmp_path, Lines("2")) as collection:
        for each in citations:
            verification = collection.verify(each)
            if each.source in LINES:
                assert verification.verdict.value == "unresolvable"
                assert verification.reason.value == "extractor_mismatch"
                assert verification.detail == "recorded extractor x@1, active here: x@2"
            else:
                assert verification
        status = collection.status()
        assert status.inactive == len(LINES)
        bound = {each.identity: (each.documents, each.active) for each in status.extractors}
        assert bound.pop("x@1") == (len(LINES), False)
        assert all(active for _, active in bound.values())
        # Going back is enough, too.
    with opened(tmp_path, Lines("1")) as collection:
        assert all(map(bool, map(collection.verify, citations)))


def test_the_same_text_is_bound_anew_without_a_chunk_being_written(tmp_path: Path) -> None:
    with world(tmp_path, FILES, Lines("1"), **SMALL) as collection:
        state, before = rows(tmp_path)
        citations = list(collection.citations())
    with opened(tmp_path, Lines("2")) as collection:
        report = collection.ingest("")
        assert (report.rebound, report.updated, report.added, report.chunks) == (len(LINES), 0, 0, 0)
        assert report.unchanged == len(FILES) - len(LINES)
        assert outbox(tmp_path) == 0
        after_state, after = rows(tmp_path)
        assert after_state.current.mark.generation == state.current.mark.generation + 1
        assert after_state.build == state.build
        for source, (record, chunks) in after.items():
            assert [(each.row, each.chunk) for each in chunks] == [(each.row, each.chunk) for each in before[source][1]]
            assert record.extractor == ("x@2" if source in LINES else before[source][0].extractor)
        assert verdicts(collection) == {source: {"verified: same"} for source in FILES}
        assert collection.status().inactive == 0
        # A citation that somebody kept still names who made it.
        assert verdicts(collection, citations)["old.x"] == {"unresolvable: extractor_mismatch"}
        assert (held(tmp_path), found(collection, *QUERIES)) == fresh(tmp_path / "fresh", FILES, Changed("2"), **SMALL)


@pytest.mark.parametrize("change", [each for each in CHANGES if each != "nothing"])
def test_what_a_new_version_gives_otherwise_is_taken_over_and_ends_as_a_fresh_ingest(
    tmp_path: Path, change: str
) -> None:
    with world(tmp_path, FILES, Changed("1"), **SMALL):
        before = held(tmp_path)
    new = Changed("2", change)
    with opened(tmp_path, new) as collection:
        report = collection.ingest("")
        assert report.failed == ()
        # Losses stand in no chunk; all else does, and the title is indexed with each.
        places = change not in ("losses", "incomplete")
        assert (report.updated, report.rebound) == ((len(LINES), 0) if places else (0, len(LINES)))
        assert (report.chunks > 0) == places
        end = held(tmp_path), found(collection, *QUERIES)
        assert verdicts(collection) == {source: {"verified: same"} for source in FILES}
    assert end == fresh(tmp_path / "fresh", FILES, new, **SMALL)
    assert {source for source in FILES if end[0][source] != before[source]} == LINES


@pytest.mark.parametrize("change", ["nothing", "page", "text"])
def test_an_upgrade_in_the_same_run_as_other_chunk_sizes_ends_as_a_fresh_ingest(tmp_path: Path, change: str) -> None:
    world(tmp_path, FILES, Changed("1"), **SMALL).close()
    new = Changed("2", change)
    with opened(tmp_path, new) as collection:
        report = collection.ingest("old.x", chunk_size=140, chunk_overlap=20)
        assert (report.updated, report.rebound, report.unchanged) == (len(FILES), 0, 0)
        end = held(tmp_path), found(collection, *QUERIES)
        assert verdicts(collection) == {source: {"verified: same"} for source in FILES}
    assert end == fresh(tmp_path / "fresh", FILES, new, chunk_size=140, chunk_overlap=20)


def test_an_edit_and_an_upgrade_together_end_as_a_fresh_ingest(tmp_path: Path) -> None:
    world(tmp_path, FILES, Changed("1"), **SMALL).close()
    edited = {**FILES, "old.x": lines("old", 3, 13), "more/two.x": FILES["more/two.x"]}
    put(tmp_path, edited)
    (tmp_path / "more/three.x").rename(tmp_path / "more/four.x")
    edited["more/four.x"] = edited.pop("more/three.x")
    with opened(tmp_path, Changed("2")) as collection:
        report = collection.ingest("")
        assert (report.updated, report.rebound, report.added, report.removed) == (1, 1, 1, 1)
        end = held(tmp_path), found(collection, *QUERIES)
    assert end == fresh(tmp_path / "fresh", edited, Changed("2"), **SMALL)


def test_bytes_that_are_not_in_the_text_bind_anew(tmp_path: Path) -> None:
    files = {"page.html": HTML, "other.html": HTML}
    with world(tmp_path, files, **SMALL) as collection:
        put(tmp_path, {"page.html": HTML.replace("<p>", "<!-- note --><p>")})
        assert verdicts(collection) == {source: {"verified: same"} for source in files}
        report = collection.ingest("")
        assert (report.rebound, report.unchanged, report.chunks) == (1, 1, 0)
        record, other = (
            collection.get_document_records("page.html")[0],
            collection.get_document_records("other.html")[0],
        )
        assert record.extraction is not None
        assert other.extraction is not None
        assert record.extraction.source_digest != other.extraction.source_digest
        assert record.extraction.digest == other.extraction.digest


# What would be


@pytest.mark.parametrize("change", ["nothing", "label", "title", "text"])
def test_a_check_says_what_an_ingest_then_does_and_writes_nothing(tmp_path: Path, change: str) -> None:
    world(tmp_path, FILES, Changed("1"), **SMALL).close()
    put(tmp_path, {"new.md": "# New\n", "guide.md": "# Guide, edited\n"})
    (tmp_path / "notes/tide.txt").unlink()
    before = tree(tmp_path / INDEX)
    told = []
    with opened(tmp_path, Changed("2", change)) as collection:
        checked = collection.ingest("", check=True, on_progress=lambda each: told.append((each.source, each.action)))
    assert tree(tmp_path / INDEX) == before
    carried_out = []
    with opened(tmp_path, Changed("2", change)) as collection:
        done = collection.ingest("", on_progress=lambda each: carried_out.append((each.source, each.action)))
    assert checked == done
    assert sorted(told) == sorted(carried_out)
    assert {action for source, action in told if source in LINES} == {"rebound" if change == "nothing" else "updated"}
    assert checked.removed == 1


def test_a_check_tells_failures_and_notes_none(tmp_path: Path) -> None:
    world(tmp_path, FILES, Lines(), **SMALL).close()
    put(tmp_path, {"old.x": "edited"})
    with opened(tmp_path, Raising()) as collection:
        assert set(failures(collection.ingest("", check=True))) == LINES
        assert collection.status().failures == ()


def test_a_check_of_a_collection_that_does_not_exist_makes_none(tmp_path: Path) -> None:
    put(tmp_path, FILES)
    before = tree(tmp_path)
    with opened(tmp_path, Lines()) as collection:
        report = collection.ingest("", check=True)
        assert (report.added, report.failed) == (len(FILES), ())
        assert report.chunks > len(FILES)
        assert tree(tmp_path) == before
        with pytest.raises(GroundkitError):
            collection.status()
    assert tree(tmp_path) == before


def test_the_command_lists_what_would_be_done(tmp_path: Path) -> None:
    base = tmp_path / "in"
    world(base, FILES, Lines(), **SMALL).close()
    put(base, {"guide.md": "# Guide, edited\n", "report.pdf": PDF, "site/tides.html": HTML.replace("twice", "thrice")})
    before = tree(base / INDEX)
    ran = gk(base, "ingest", "guide.md", "site", "report.pdf", "--check")
    assert ran.code == 0
    assert ran.out.startswith("would be updated: guide.md\nwould be updated: site/tides.html\n")
    data = json.loads(gk(base, "ingest", "guide.md", "site", "--check", "--format", "json").stdout)
    assert [each["source"] for each in data["changes"]] == ["guide.md", "site/tides.html"]
    assert tree(base / INDEX) == before


# Determinism


@pytest.mark.slow
def test_number_of_workers_and_hash_seed_change_no_byte_of_what_is_told(tmp_path: Path) -> None:
    files = {name: data for name, data in MIXED.items() if not name.endswith(".x")}
    files |= {f"more/{n}.html": HTML.replace("tide", f"tide{n}") for n in range(3)} | {"more/again.pdf": PDF}
    told = set()
    for jobs, seed in (("1", "0"), ("2", "1"), ("4", "random")):
        base = tmp_path / f"{jobs}-{seed}" / "in"
        put(base, files)
        ran = gk(base, "ingest", ".", "--jobs", jobs, "--format", "json", PYTHONHASHSEED=seed)
        assert ran.code == 0
        query = ("search", "harbour tide water wall", "--limit", "50", "--format", "json")
        told.add((ran.stdout, gk(base, *query, PYTHONHASHSEED=seed).stdout))
    assert len(told) == 1
    ((_, hits),) = told
    assert len({hit["source"] for hit in json.loads(hits)["hits"]}) == len(files)

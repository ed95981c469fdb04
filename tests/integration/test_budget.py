"""What checking the hits of one query may take: what nobody came to look at is unchecked, and never verified."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import gk
from extracted_support import Held, lines, opened, world
from integration.support import put
from own_extractors import Counting

from groundkit import Collection, Reason, RetrievalResult, Verdict
from groundkit.testing.sample_extractors import Lines, Sleeping
from groundkit.verifying import EXTRACTION_WEIGHT

SMALL = {"chunk_size": 120, "chunk_overlap": 0}
#: So many files, each with several passages that a query finds.
FILES = 4


def text(name: str) -> str:
    return (
        "\n\n".join(f"The harbour of {name} has in part {n} a mark at {n * 37} that nobody moved." for n in range(4))
        + "\n"
    )


NAMES = tuple(f"f{n}.md" for n in range(FILES))
SIZE = len(text(NAMES[0]).encode())


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Collection]:
    with world(tmp_path, {name: text(name) for name in NAMES}, **SMALL) as made:
        yield made


def search(kb: Collection, size: int = 1 << 30, seconds: float = 600.0) -> list[RetrievalResult]:
    found = kb.search("harbour mark", limit=99, verify=True, verify_bytes=size, verify_seconds=seconds)
    assert len(found) == 4 * FILES
    return found


def checked_sources(hits: list[RetrievalResult]) -> set[str]:
    """Those of which every hit was checked; of the others no hit was."""
    by_source: dict[str, set[bool]] = {}
    for hit in hits:
        by_source.setdefault(hit.source, set()).add(hit.verification is not None)
    assert all(len(each) == 1 for each in by_source.values())
    return {source for source, (looked,) in by_source.items() if looked}


def test_with_enough_of_it_every_hit_is_checked(kb: Collection) -> None:
    assert {hit.verification.reason for hit in search(kb) if hit.verification} == {Reason.SAME}
    assert checked_sources(search(kb)) == set(NAMES)


def test_so_many_bytes_are_so_many_files_with_all_of_their_hits(kb: Collection) -> None:
    for files in range(FILES + 1):
        hits = search(kb, size=SIZE * files)
        assert checked_sources(hits) == set(NAMES[:files])
        assert {hit.verification.reason for hit in hits if hit.verification is not None} <= {Reason.SAME}


def test_the_best_hits_are_looked_at_first(tmp_path: Path) -> None:
    best = "The harbour mark, the harbour mark, the harbour mark.\n"
    with world(tmp_path, {**{name: text(name) for name in NAMES}, "z.md": best}, **SMALL) as kb:
        hits = kb.search("harbour mark", limit=99, verify=True, verify_bytes=1)
        assert hits[0].source == "z.md"
        assert checked_sources(hits) == {"z.md"}


def test_one_byte_reads_one_file(kb: Collection) -> None:
    assert checked_sources(search(kb, size=1)) == {NAMES[0]}
    assert checked_sources(search(kb, size=SIZE + 1)) == set(NAMES[:2])


def test_nothing_to_spend_leaves_all_unchecked(kb: Collection) -> None:
    for size, seconds in ((0, 600.0), (-1, 600.0), (1 << 30, 0.0), (1 << 30, -1.0), (0, 0.0)):
        assert [hit.verification for hit in search(kb, size, seconds)] == [None] * (4 * FILES)


def test_what_a_budget_leaves_out_changes_no_hit(kb: Collection) -> None:
    def held(hits: list[RetrievalResult]) -> list[Held]:
        return [{"score": hit.score, "text": hit.text, "citation": hit.citation} for hit in hits]

    plain = held(kb.search("harbour mark", limit=99))
    assert plain == held(search(kb)) == held(search(kb, 0)) == held(search(kb, SIZE))


@pytest.mark.parametrize("state", ["edited", "gone"])
def test_what_is_not_looked_at_is_never_called_verified(kb: Collection, tmp_path: Path, state: str) -> None:
    for name in NAMES:
        if state == "edited":
            put(tmp_path, {name: text(name).replace("harbour", "haven")})
        else:
            (tmp_path / name).unlink()
    for size in (0, 1, SIZE, 2 * SIZE, 1 << 30):
        assert not any(hit.verification for hit in search(kb, size))


def test_a_drift_that_nothing_is_left_for_is_told_without_where_the_passage_went(
    kb: Collection, tmp_path: Path
) -> None:
    """It was read with the last of the budget, and to compare it costs time, too."""
    put(tmp_path, {NAMES[0]: "First.\n\n" + text(NAMES[0]).replace("harbour", "haven")})
    size = len((tmp_path / NAMES[0]).read_bytes())
    last = [hit.verification for hit in search(kb, size) if hit.source == NAMES[0]]
    assert {each.reason for each in last if each is not None} == {Reason.CHANGED}
    more = [hit.verification for hit in search(kb, size + 1) if hit.source == NAMES[0]]
    assert {each.reason for each in more if each is not None} == {Reason.EDITED}


def test_containment_costs_nothing(tmp_path: Path) -> None:
    """What may not be looked at is told whatever is left."""
    with world(tmp_path / "docs", {"sub/a.md": text("a")}, **SMALL) as kb:
        pass
    (tmp_path / "docs" / "sub").rename(tmp_path / "elsewhere")
    (tmp_path / "docs" / "sub").symlink_to(tmp_path / "elsewhere")
    with opened(tmp_path / "docs") as kb:
        found = kb.search("harbour", limit=99, verify=True, verify_bytes=1)
        assert {hit.verification.reason for hit in found if hit.verification is not None} == {Reason.OUTSIDE_BASE}


# Extraction


def test_a_byte_to_be_extracted_counts_more(tmp_path: Path) -> None:
    log = tmp_path / "log"
    counting = Counting(str(log))
    files: dict[str, bytes | str] = {name: lines("a") for name in ("a.x", "b.x", "c.x")}
    with world(tmp_path / "docs", files, counting, **SMALL):
        pass
    size = len(lines("a").encode())
    for weighed, sources in ((1, {"a.x"}), (size * (1 + EXTRACTION_WEIGHT) + 1, {"a.x", "b.x"})):
        log.write_text("")
        with opened(tmp_path / "docs", Counting(str(log), "1")) as kb:
            found = kb.search("says rule", limit=999, verify=True, verify_bytes=weighed)
            assert checked_sources(found) == sources
            assert len(found) > 3


def test_the_same_bytes_under_another_name_cost_no_further_extraction(tmp_path: Path) -> None:
    log = tmp_path / "log"
    counting = Counting(str(log))
    with world(tmp_path / "docs", {"a.x": lines("a"), "b.x": lines("a")}, counting, **SMALL) as kb:
        log.write_text("")
        size = len(lines("a").encode())
        found = kb.search("says rule", limit=999, verify=True, verify_bytes=size * (2 + EXTRACTION_WEIGHT))
        assert {hit.verification.reason for hit in found if hit.verification} == {Reason.SAME}
        assert checked_sources(found) == {"a.x", "b.x"}
        assert len(log.read_text().splitlines()) <= 1


def test_a_check_that_is_cut_short_is_unresolvable_and_says_at_what(tmp_path: Path) -> None:
    """A worker that is asleep when the time is over; what it would have said is not known."""
    files: dict[str, bytes | str] = {"a.x": "The harbour sleeps.\n", "b.x": "The harbour sleeps, too.\n"}
    with world(tmp_path, files, Lines(), **SMALL):
        pass
    with opened(tmp_path, Dozing()) as kb:
        found = kb.search("harbour sleeps", limit=99, verify=True, verify_seconds=0.3)
        assert len(found) == 2
        told = {hit.source: hit.verification for hit in found}
        first = told["a.x"]
        assert first is not None
        assert (first.verdict, first.reason) == (Verdict.UNRESOLVABLE, Reason.BUDGET)
        assert "0.3 seconds" in first.detail
        assert told["b.x"] is None
        assert Dozing().identity == Lines().identity


class Dozing(Sleeping):
    """An extractor that takes longer than there is, under the identity of `Lines`."""

    def __init__(self) -> None:
        super().__init__(seconds=30.0)

    @property
    def identity(self) -> str:
        return Lines().identity


def test_bytes_that_run_out_before_an_extraction_leave_it_undone(tmp_path: Path) -> None:
    """The file is read, and then there is nothing left to extract it with."""
    log = tmp_path / "log"
    with world(tmp_path / "docs", {"a.x": lines("a")}, Counting(str(log)), **SMALL):
        pass
    put(tmp_path, {"docs/a.x": lines("b")})
    log.write_text("")
    with opened(tmp_path / "docs", Counting(str(log))) as kb:
        found = kb.search("says rule", limit=999, verify=True, verify_bytes=10)
        told = [hit.verification for hit in found]
        assert len(told) > 3
        assert {None if each is None else each.reason for each in told} == {Reason.BUDGET}
        assert {"10 bytes" in each.detail for each in told if each is not None} == {True}
        assert log.read_text() == ""


def test_without_a_budget_a_check_takes_what_it_takes(kb: Collection) -> None:
    assert all(each.verification for each in kb.verify_all())


# The command line


def test_hits_that_nobody_looked_at_are_unchecked_for_a_person_and_null_for_a_program(
    kb: Collection, tmp_path: Path
) -> None:
    human = gk(tmp_path, "search", "harbour", "mark", "--no-verify").out
    assert human.count("unchecked") == 5
    assert "verified" not in human
    data = json.loads(gk(tmp_path, "search", "harbour", "--no-verify", "--format", "json").out)
    assert [hit["verification"] for hit in data["hits"]] == [None] * 5
    assert ", unchecked, " in gk(tmp_path, "search", "harbour", "--no-verify", "--format", "md").out


def test_a_budget_on_the_command_line(kb: Collection, tmp_path: Path) -> None:
    for option, value in (("--verify-bytes", str(SIZE)), ("--verify-bytes", "0"), ("--verify-seconds", "0")):
        asked = ("search", "harbour mark", "-n", "99", option, value)
        data = json.loads(gk(tmp_path, *asked, "--format", "json").out)
        verdicts = {hit["source"]: hit["verification"] and hit["verification"]["verdict"] for hit in data["hits"]}
        looked = NAMES[:1] if value == str(SIZE) else ()
        assert verdicts == {name: "verified" if name in looked else None for name in NAMES}
    human = gk(tmp_path, "search", "harbour mark", "-n", "99", "--verify-bytes", str(SIZE)).out
    assert (human.count("✓ verified"), human.count("unchecked")) == (4, 4 * (FILES - 1))


def test_what_is_no_number_is_no_budget(kb: Collection, tmp_path: Path) -> None:
    for seconds in ("nan", "-nan", "-1"):
        assert gk(tmp_path, "search", "harbour", "--verify-seconds", seconds).code == 2
    put(tmp_path, {"page.html": "<p>The harbour has a page.</p>"})
    assert gk(tmp_path, "ingest", ".").code == 0
    for seconds in ("inf", "1e300"):
        # Each in a process of its own: what is extracted again is not remembered from before.
        shutil.rmtree(tmp_path / ".groundkit" / "default.cache", ignore_errors=True)
        ran = gk(tmp_path, "search", "harbour", "--verify-seconds", seconds)
        assert ran.code == 0 and "page.html  ✓ verified" in ran.out


def test_hits_are_checked_unless_told_otherwise(kb: Collection, tmp_path: Path) -> None:
    human = gk(tmp_path, "search", "harbour", "mark").out
    assert human.count("✓ verified") == 5
    data = json.loads(gk(tmp_path, "search", "harbour", "--format", "json").out)
    assert {hit["verification"]["verdict"] for hit in data["hits"]} == {"verified"}


def test_a_chunk_is_fetched_although_its_check_takes_too_long(tmp_path: Path) -> None:
    with world(tmp_path, {"a.x": "The harbour sleeps.\n"}, Lines(), **SMALL) as kb:
        (cited,) = kb.citations()
    with opened(tmp_path, Dozing()) as kb:
        fetched = kb.fetch_chunk(cited.chunk_id, in_place=True, verify_seconds=0.3)
        assert fetched.chunk is not None and fetched.chunk.text == "The harbour sleeps.\n"
        assert (fetched.verification.verdict, fetched.verification.reason) == (Verdict.UNRESOLVABLE, Reason.BUDGET)
        assert "0.3 seconds" in fetched.verification.detail
        assert kb.fetch_chunk(cited.chunk_id, verify_seconds=0.0).verification.reason is Reason.BUDGET

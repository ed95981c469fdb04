"""Pages while somebody else is at the collection too: replaced under a reader, by two writers, by one that was killed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import settings
from web_faults import Fault, Faulty, Killed
from web_support import Pages, at_rest, snapshots, web_collection, web_ports

from groundkit.collection import Collection
from groundkit.core.model import Reason
from groundkit.errors import StorageError
from groundkit.testing.memory_web import ScriptedPage

NIGHTLY = settings().max_examples >= 1000
#: Publications beside which the readers look.
TURNS = 25 if not NIGHTLY else 500
URL, OTHER = "https://a.example/page", "https://b.example/other"
QUERIES = ("ferry", "tide harbour", "even", "odd")


def plain(text: str) -> ScriptedPage:
    return ScriptedPage(text.encode(), "text/plain")


class Disturbed:
    """Kept files of which one reading comes at a bad time: something is done right before it, and right after."""

    def __init__(self, real: object, before: Callable[[], object], after: Callable[[], object]) -> None:
        self._real, self._steps = real, [before, after]

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def get(self, name: str) -> object:
        steps, self._steps = self._steps, []
        for step in steps[:1]:
            step()
        read = self._real.get(name)  # type: ignore[attr-defined] # any kept files
        for step in steps[1:]:
            step()
        return read


@pytest.fixture
def disturbed(tmp_path: Path) -> tuple[Collection, str]:
    """Under its first reading of a snapshot the page is replaced, and is what it was again right after."""
    index = tmp_path / "index"
    pages: Pages = {URL: plain("The ferry leaves at noon."), OTHER: plain("Some rock.")}

    def serving(text: str) -> Callable[[], object]:
        def ingested() -> None:
            pages[URL] = plain(text)
            with web_collection(index, pages) as other:
                assert other.ingest(URL).updated == 1

        return ingested

    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER])
        ((chunk,),) = ([each.chunk_id for each in kb.citations(URL)],)
    ports = web_ports(index, pages)
    to_and_fro = serving("The ferry leaves at one."), serving("The ferry leaves at noon.")
    kept = Disturbed(ports.snapshots, *to_and_fro)
    return Collection(evolve(ports, snapshots=kept), index, "default", None), chunk


def test_a_page_that_is_replaced_and_comes_back_is_not_missed_by_a_search(disturbed: tuple[Collection, str]) -> None:
    with disturbed[0] as kb:
        (hit,) = kb.search("ferry noon", verify=True)
        assert hit.verification, hit.verification


def test_a_page_that_is_replaced_and_comes_back_is_not_missed_by_its_chunk(disturbed: tuple[Collection, str]) -> None:
    collection, chunk = disturbed
    with collection as kb:
        assert kb.fetch_chunk(chunk).verification


def test_a_page_that_is_replaced_and_comes_back_is_not_missed_when_all_are_checked(
    disturbed: tuple[Collection, str],
) -> None:
    with disturbed[0] as kb:
        checked = list(kb.verify_all())
        assert {each.citation.source for each in checked} == {URL, OTHER}
        assert all(each.verification for each in checked)


def test_a_page_that_is_removed_meanwhile_is_passed_over_when_all_are_checked(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: plain("Some tide."), OTHER: plain("Some rock.")}
    with web_collection(index, pages) as other:
        other.ingest([URL, OTHER])
        ports = web_ports(index, pages)
        kept = Disturbed(ports.snapshots, lambda: other.remove(URL), lambda: None)
        with Collection(evolve(ports, snapshots=kept), index, "default", None) as kb:
            assert [(each.citation.source, bool(each.verification)) for each in kb.verify_all()] == [(OTHER, True)]


def test_a_snapshot_that_is_lost_is_missed_by_all_who_look(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with web_collection(index, {URL: plain("Some tide.")}) as kb:
        kb.ingest(URL)
        (index / "default.snapshots" / kb.get_document_records()[0].document_id).unlink()
        (hit,) = kb.search("tide", verify=True)
        (checked,) = kb.verify_all()
        found = (hit.verification, checked.verification, kb.fetch_chunk(hit.chunk_id).verification)
        assert [each.reason for each in found if each is not None] == [Reason.SNAPSHOT_MISSING] * 3


def test_what_another_process_left_when_it_was_killed_goes_though_the_rows_are_those_of_before(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: plain("Some tide."), OTHER: plain("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER])
        ports = web_ports(index, {URL: plain("Some other tide.")})
        killed = evolve(ports, documents=Faulty(ports.documents, Fault("stage", 1, "kill before")))
        with Collection(killed, index, "default", None) as other, pytest.raises(Killed):
            other.ingest(URL)
        assert len(snapshots(index)) == 3
        assert kb.ingest(OTHER).unchanged == 1
        assert at_rest(index)


def test_what_a_refused_write_could_not_take_back_goes_with_the_next_one(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: plain("Some tide."), OTHER: plain("Some rock.")}
    stage, remove = Fault(), Fault()
    ports = web_ports(index, pages)
    faulty = evolve(ports, documents=Faulty(ports.documents, stage), snapshots=Faulty(ports.snapshots, remove))
    with Collection(faulty, index, "default", None) as kb:
        kb.ingest([URL, OTHER])
        pages[URL] = plain("Some other tide.")
        stage.step, stage.countdown, remove.step, remove.countdown = "stage", 1, "remove", 1
        with pytest.raises(StorageError):
            kb.ingest(URL)
        assert len(snapshots(index)) == 3
        assert kb.ingest(OTHER).unchanged == 1
        assert at_rest(index)


def test_files_that_could_not_even_be_listed_are_told_of(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: plain("Some tide."), OTHER: plain("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER])
        (index / "default.snapshots").rename(tmp_path / "aside")
        (index / "default.snapshots").symlink_to(tmp_path / "aside")
        (told,) = kb.remove(URL).unswept
        assert str(told).startswith("default.snapshots: ")
        assert "symbolic link" in told.detail
        (index / "default.snapshots").unlink()
        (tmp_path / "aside").rename(index / "default.snapshots")
        assert kb.ingest(OTHER).unswept == ()
        assert at_rest(index)

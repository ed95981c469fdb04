"""Pages while somebody else is at the collection too: replaced under a reader, by two writers, by one that was killed."""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import settings
from integration.support import Hit, answers, ended, python
from web_faults import Fault, Faulty, Killed
from web_support import Pages, at_rest, snapshots, web_collection, web_ports

from groundkit.adapters.system import FileLock
from groundkit.collection import Collection
from groundkit.core.model import Reason, RetrievalResult
from groundkit.core.ports import LockBusy
from groundkit.errors import StorageError
from groundkit.render import sentence
from groundkit.testing.memory_web import ScriptedPage

NIGHTLY = settings().max_examples >= 1000
#: Publications beside which the readers look.
TURNS = 12 if not NIGHTLY else 500
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


COUNTER = "https://counter.example/"
COMING, GOING = "https://coming.example/", "https://going.example/"


def pages_of(word: str) -> dict[str, ScriptedPage]:
    """Pages that change with the word, and some that stay."""
    changing = {
        f"https://{at}.example/": plain(f"# {word} {at}\n\n{word} ferry tide harbour\n\n" * (at + 1)) for at in range(6)
    }
    return changing | {f"https://kept{at}.example/": plain(f"# Kept {at}\n\ntide harbour {at}\n") for at in range(4)}


#: Beside these there are always the counter, whose every text is another and has as many words, and two that come and go.
STATES = pages_of("odd"), pages_of("even")
COUNTED = {COUNTER: plain("count 0")}
FLEETING = {COMING: plain("something fleeting"), GOING: plain("something else that is fleeting")}

_BEGIN = f"""
import json, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from integration.test_web_concurrency import *
index, told = Path(sys.argv[1]), sys.argv[2:]
"""
#: To and fro between two states of the web, a generation each time, or pages that go and come back.
_WRITE = f"""{_BEGIN}
pages = {{}}
with web_collection(index, pages) as kb:
    for turn in range(int(told[0])):
        pages.update(STATES[(turn + 1) % 2] | {{COUNTER: plain(f"count {{turn}}")}})
        report = kb.ingest(list(pages))
        assert report.complete and report.pending is None and not report.unswept
"""
_COME_AND_GO = f"""{_BEGIN}
with web_collection(index, dict(FLEETING)) as kb:
    for turn in range(int(told[0])):
        assert kb.remove(list(FLEETING)).unswept == ()
        assert kb.ingest(list(FLEETING)).complete
"""
#: Looks until it is told to stop; prints how often, each different answer once, and whatever was not verified.
_READ = f"""{_BEGIN}
with web_collection(index, {{}}) as kb:
    print("begun", flush=True)
    count, seen, wrong = 0, {{}}, []
    while not Path(told[0]).exists() or count < 600:
        for query in QUERIES:
            hits = kb.search(query, limit=50, verify=True)
            seen[json.dumps([query, [list(hit_of(each)) for each in hits]])] = None
            wrong += [repr(each) for each in hits if not each.verification]
        checked = list(kb.verify_all())
        wrong += [repr(each) for each in checked if not each.verification]
        count += len(checked)
print(json.dumps([count, [json.loads(each) for each in seen], wrong]))
"""
_INGEST = f"""{_BEGIN}
with web_collection(index, {{url: plain(f"{{url}} ferry") for url in told}}) as kb:
    report = kb.ingest(told, wait=60.0)
    print(report.added, len(report.failed), flush=True)
"""


def hit_of(hit: RetrievalResult) -> Hit:
    return hit.score, hit.chunk_id, hit.source, hit.citation.span.start, hit.citation.span.end, hit.text


@pytest.fixture
def allowed(tmp_path: Path) -> list[dict[str, list[Hit]]]:
    """What may be answered beside the writer that goes to and fro."""
    found = []
    for number, state in enumerate(STATES):
        with web_collection(tmp_path / str(number), dict(state | COUNTED)) as kb:
            kb.ingest([*state, COUNTER])
            found.append(answers(kb, QUERIES, 50))
    return found


def read_beside(writing: str, index: Path, turns: int) -> list[tuple[str, list[Hit]]]:
    """The answers that two readers in processes of their own got meanwhile, after everything that they got verified."""
    stop = index.parent / "stop"
    given: list[tuple[str, list[Hit]]] = []
    with ExitStack() as stack:
        readers = [stack.enter_context(ended(python(_READ, index, stop))) for _ in range(2)]
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "begun\n"
        with ended(python(writing, index, turns)) as writer:
            _, errors = writer.communicate(timeout=600)
            assert writer.returncode == 0, errors
        stop.touch()
        for reader in readers:
            said, errors = reader.communicate(timeout=60)
            assert reader.returncode == 0, errors
            count, seen, wrong = json.loads(said)
            assert wrong == []
            assert count > turns
            given += [(query, [tuple(hit) for hit in listed]) for query, listed in seen]
    return given


@pytest.mark.slow
def test_readers_beside_a_writer_of_pages_see_one_state_or_the_other_and_miss_no_snapshot(
    tmp_path: Path, allowed: list[dict[str, list[Hit]]]
) -> None:
    index = tmp_path / "index"
    with web_collection(index, dict(STATES[0] | COUNTED)) as kb:
        kb.ingest([*STATES[0], COUNTER])
    given = read_beside(_WRITE, index, TURNS)
    assert all(hits in (allowed[0][query], allowed[1][query]) for query, hits in given)
    with web_collection(index, {}) as kb:
        assert answers(kb, QUERIES, 50) == allowed[TURNS % 2]
        assert kb.doctor().healthy
    assert at_rest(index)


@pytest.mark.slow
def test_readers_beside_pages_that_go_and_come_back_miss_no_snapshot(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with web_collection(index, dict(STATES[0] | FLEETING)) as kb:
        kb.ingest([*STATES[0], *FLEETING])
    assert read_beside(_COME_AND_GO, index, TURNS)
    with web_collection(index, {}) as kb:
        assert kb.doctor().healthy
    assert at_rest(index)


@pytest.mark.slow
def test_two_ingests_of_pages_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    index = tmp_path / "index"
    halves = [[f"https://{host}.example/{at}" for at in range(30)] for host in "ab"]
    with ExitStack() as stack:
        writers = [stack.enter_context(ended(python(_INGEST, index, *half))) for half in halves]
        for each in writers:
            said, errors = each.communicate(timeout=120)
            assert (each.returncode, said) == (0, "30 0\n"), errors
    together = {url: plain(f"{url} ferry") for half in halves for url in half}
    with web_collection(tmp_path / "fresh", dict(together)) as wanted, web_collection(index, {}) as kb:
        wanted.ingest(list(together))
        assert answers(kb, ("ferry", "example"), 100) == answers(wanted, ("ferry", "example"), 100)
        assert all(each.verification for each in kb.verify_all())
        assert kb.doctor().healthy
    assert at_rest(index)


def test_a_second_writer_of_pages_that_may_not_wait_says_who_writes(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: plain("Some tide.")}
    with web_collection(index, pages) as kb:
        kb.ingest(URL)
        pages[URL] = plain("Some other tide.")
        with FileLock(index / "default.lock").hold(0).unwrap():
            for work in (kb.ingest, kb.remove, lambda _, wait: kb.drop(wait=wait)):
                with pytest.raises(StorageError) as busy:
                    work(URL, wait=0.0)
                assert isinstance(busy.value.failure, LockBusy)
                assert f"process {os.getpid()} " in sentence(busy.value.failure)
            (hit,) = kb.search("tide", verify=True)
            assert hit.text == "Some tide."
            assert hit.verification
        assert kb.ingest(URL, wait=0.0).updated == 1
    assert at_rest(index)

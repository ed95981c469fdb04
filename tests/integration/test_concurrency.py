"""Several processes at one collection: writers wait or say who writes, readers see one state or the other."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from commands import gk
from hypothesis import settings
from integration.support import INDEX, Answers, answers, contents, ended, fresh, hits, opened, put, python

from groundkit.adapters.system import FileLock
from groundkit.core.ports import LockBusy
from groundkit.errors import GroundkitError, StorageError
from groundkit.render import sentence

pytestmark = pytest.mark.slow

NIGHTLY = settings().max_examples >= 1000
#: Publications beside which the readers search.
TURNS = 12 if not NIGHTLY else 400
QUERIES = ("ferry", "tide harbour", '"ferry tide"', "odd", "even", "kept")

_INGEST = """
import sys, groundkit
with groundkit.open(sys.argv[1], base=sys.argv[2]) as collection:
    report = collection.ingest(sys.argv[3], wait=60.0)
    print(report.added, report.updated, report.removed, flush=True)
"""
#: Goes to and fro between two states of the corpus, a generation each time.
_ALTERNATE = """
import json, pathlib, sys, groundkit
base, states, turns = pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
with groundkit.open(sys.argv[1], base=base) as collection:
    for turn in range(turns):
        wanted = states[(turn + 1) % 2]
        for source in {*states[0], *states[1]} - {*wanted}:
            (base / source).unlink(missing_ok=True)
        for source, text in wanted.items():
            (base / source).parent.mkdir(exist_ok=True)
            (base / source).write_text(text)
        report = collection.ingest("")
        assert report.complete and report.pending is None
"""
#: Searches in one long-lived collection until it is told to stop; prints each different answer once.
_READ = """
import json, os, sys, groundkit
sys.path.insert(0, sys.argv[3])
from integration.support import answers
with groundkit.open(sys.argv[1], base=sys.argv[2]) as collection:
    print("begun", flush=True)
    seen, count = {}, 0
    while not os.path.exists(sys.argv[4]) or count < 600:
        for query in json.loads(sys.argv[5]):
            seen[json.dumps([query, answers(collection, [query], 50)[query]])] = None
            count += 1
print(json.dumps([count, [json.loads(each) for each in seen]]))
"""


#: Goes to and fro between two stemming languages: every chunk is counted anew, every posting made anew.
_CHANGE_LANGUAGE = """
import sys, groundkit
with groundkit.open(sys.argv[1], base=sys.argv[2]) as collection:
    for turn in range(int(sys.argv[3])):
        assert collection.ingest("", language=("german", "english")[turn % 2]).complete
"""


def odd() -> dict[str, str]:
    return _common("odd") | {f"odd/{at}.md": f"ferry odd {at}\n" for at in range(4)}


def even() -> dict[str, str]:
    return _common("even") | {f"even/{at}.md": f"tide even even {at}\n\nferry tide\n" for at in range(3)}


def _common(word: str) -> dict[str, str]:
    changing = {f"changes{at}.md": f"# {word} {at}\n\n{word} ferry tide harbour\n\n" * (at + 1) for at in range(6)}
    return changing | {f"kept{at}.md": f"# Kept {at}\n\ntide harbour {at}\n" for at in range(4)}


def answers_of(place: Path, files: dict[str, str]) -> Answers:
    with fresh(place, files) as collection:
        return answers(collection, QUERIES, 50)


def test_readers_beside_a_writer_see_one_state_or_the_other(tmp_path: Path) -> None:
    states = (odd(), even())
    allowed = [answers_of(tmp_path / str(number), files) for number, files in enumerate(states)]
    base, stop = tmp_path / "base", tmp_path / "stop"
    fresh(base, states[0]).close()
    told = (base / INDEX, base, Path(__file__).parents[1], stop, json.dumps(QUERIES))
    readers = [python(_READ, *told) for _ in range(3)]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "begun\n"
    with ended(python(_ALTERNATE, base / INDEX, base, json.dumps(states), TURNS)) as writer:
        _, errors = writer.communicate(timeout=300)
        assert writer.returncode == 0, errors
    stop.touch()
    for reader in readers:
        said, errors = reader.communicate(timeout=60)
        assert reader.returncode == 0, errors
        count, seen = json.loads(said)
        assert count > TURNS
        for query, listed in seen:
            given = [tuple(hit) for hit in listed]
            assert given in (allowed[0][query], allowed[1][query]), query
    with opened(base) as collection:
        assert collection.doctor().healthy
        assert answers(collection, QUERIES, 50) == allowed[TURNS % 2]


def test_without_the_view_s_generation_an_answer_would_be_mixed(tmp_path: Path) -> None:
    """The oracle of the test above tells a mixture from the two states."""
    states = (odd(), even())
    mixed = answers_of(tmp_path / "mixed", states[0] | {"changes5.md": states[1]["changes5.md"]})
    allowed = [answers_of(tmp_path / str(number), files) for number, files in enumerate(states)]
    assert all(mixed[query] not in (one[query] for one in allowed) for query in ("ferry", "odd", "tide harbour"))


def test_two_ingests_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    files = {f"{folder}/{at}.md": f"{folder} ferry {at}" for folder in ("a", "b") for at in range(40)}
    put(tmp_path, files)
    with (
        ended(python(_INGEST, tmp_path / INDEX, tmp_path, "a")) as first,
        ended(python(_INGEST, tmp_path / INDEX, tmp_path, "b")) as second,
    ):
        for process in (first, second):
            said, errors = process.communicate(timeout=120)
            assert (process.returncode, said) == (0, "40 0 0\n"), errors
    with fresh(tmp_path / "fresh", files) as wanted, opened(tmp_path) as collection:
        assert contents(tmp_path) == contents(tmp_path / "fresh")
        assert answers(collection, ("ferry", "a", "b")) == answers(wanted, ("ferry", "a", "b"))
        assert collection.doctor().healthy


def test_a_second_writer_that_may_not_wait_says_who_writes(tmp_path: Path) -> None:
    fresh(tmp_path, {"a.md": "ferry", "b.md": "tide"}).close()
    put(tmp_path, {"a.md": "harbour"})
    with FileLock(tmp_path / INDEX / "default.lock").hold(0).unwrap():
        for command in (("ingest", "."), ("rm", "a.md"), ("drop", "default", "--yes"), ("doctor", "--repair")):
            ran = gk(tmp_path, *command, "--wait", "0")
            assert (ran.code, ran.out) == (3, ""), command
            assert f"process {os.getpid()} on " in ran.err
            assert len(ran.err.splitlines()) == 1
        with opened(tmp_path) as collection:
            assert [hit.source for hit in collection.search("ferry")] == ["a.md"]  # reading needs no lock
            with pytest.raises(StorageError) as busy:
                collection.ingest("", wait=0.05)
            assert isinstance(busy.value.failure, LockBusy)
            assert str(os.getpid()) in sentence(busy.value.failure)
    assert gk(tmp_path, "ingest", ".", "--wait", "0").code == 0


def test_the_lock_file_of_a_killed_writer_is_no_lock(tmp_path: Path) -> None:
    fresh(tmp_path, {"a.md": "ferry"}).close()
    lock = tmp_path / INDEX / "default.lock"
    hold = """
import sys, time
from pathlib import Path
from groundkit.adapters.system import FileLock
with FileLock(Path(sys.argv[1])).hold(5).unwrap():
    print("held", flush=True)
    time.sleep(60)
"""
    with ended(python(hold, lock)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert f"process {holder.pid} " in gk(tmp_path, "ingest", ".", "--wait", "0").err
        holder.send_signal(signal.SIGKILL)
        holder.wait(timeout=30)
    assert lock.read_text().startswith(f"process {holder.pid} ")
    put(tmp_path, {"b.md": "tide"})
    ran = gk(tmp_path, "ingest", ".", "--wait", "0")
    assert (ran.code, ran.err) == (0, "")
    with opened(tmp_path) as collection:
        assert [hit.source for hit in collection.search("tide")] == ["b.md"]


def test_a_waiting_writer_goes_on_when_the_other_is_done(tmp_path: Path) -> None:
    fresh(tmp_path, {"a.md": "ferry"}).close()
    put(tmp_path, {"a.md": "tide"})
    held = FileLock(tmp_path / INDEX / "default.lock").hold(0).unwrap()
    with held, ended(python(_INGEST, tmp_path / INDEX, tmp_path, "")) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=1.5)
        held.__exit__(None, None, None)
        said, errors = waiting.communicate(timeout=60)
        assert (waiting.returncode, said) == (0, "0 1 0\n"), errors


#: Drops the collection and makes it anew, with the number of the turn as its text.
_RENEW = """
import pathlib, sys, groundkit
base, done = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
for turn in range(1, 1 + int(sys.argv[4])):
    with groundkit.open(sys.argv[1], base=base) as collection:
        collection.drop()
        (base / "a.md").write_text(f"ferry {turn}")
        collection.ingest("")
        done.write_text(str(turn))
"""


def test_a_reader_across_a_drop_and_a_new_beginning_never_serves_the_old_rows(tmp_path: Path) -> None:
    """An answer is of what was dropped last, of what was made since, or refused."""
    base, done, turns = tmp_path / "base", tmp_path / "done", 200 if NIGHTLY else 8
    fresh(base, {"a.md": "ferry 0"}).close()
    with opened(base) as collection, ended(python(_RENEW, base / INDEX, base, done, turns)) as process:
        while process.poll() is None:
            finished = int((done.read_text() if done.exists() else "") or 0)
            try:
                found = [hit.text for hit in collection.search("ferry")]
            except GroundkitError:
                found = []
            assert all(int(text.split()[1]) >= finished for text in found)
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert [hit.text for hit in collection.search("ferry")] == [f"ferry {turns}"]


def test_readers_beside_a_change_of_language_see_one_language_or_the_other(tmp_path: Path) -> None:
    files = {f"{at}.md": f"ferries running {at} harbours tide" for at in range(30)}
    queries = ("ferry", "ferries harbour", '"ferries running"')
    allowed = []
    for language in ("english", "german"):
        with fresh(tmp_path / language, files, language=language) as collection:
            allowed.append(answers(collection, queries, 50))
    assert allowed[0]["ferry"] != allowed[1]["ferry"]
    base = tmp_path / "base"
    with (
        fresh(base, files) as collection,
        ended(python(_CHANGE_LANGUAGE, base / INDEX, base, 100 if NIGHTLY else 6)) as process,
    ):
        while process.poll() is None:
            for query in queries:
                assert hits(collection, query, 50) in (allowed[0][query], allowed[1][query])
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert answers(collection, queries, 50) == allowed[0]
        assert collection.doctor().healthy


def test_threads_share_a_collection(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    states = (odd(), even())
    allowed = [answers_of(tmp_path / str(number), files) for number, files in enumerate(states)]
    base = tmp_path / "base"
    with fresh(base, states[0]) as collection, ThreadPoolExecutor(4) as pool:
        reading = [pool.submit(_many, collection, allowed) for _ in range(3)]
        for turn in range(6):
            wanted = states[(turn + 1) % 2]
            for source in {*states[0], *states[1]} - {*wanted}:
                (base / source).unlink(missing_ok=True)
            put(base, wanted)
            assert collection.ingest("").complete
            time.sleep(0.01)
        assert all(each.result() for each in reading)


def _many(collection: object, allowed: list[Answers]) -> int:
    count = 0
    end = time.monotonic() + 0.8
    while time.monotonic() < end or count < 5:
        for query in QUERIES:
            found = answers(collection, [query], 50)[query]  # type: ignore[arg-type]
            assert found in (allowed[0][query], allowed[1][query]), query
            count += 1
    return count

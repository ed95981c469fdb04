"""The document store and its twin under one contract; what only the real one can suffer: kills, other processes, damage."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from textwrap import dedent

import apsw
import pytest

from groundkit.adapters.sqlite_file import APPLICATION_ID, VERSION
from groundkit.adapters.sqlite_store import SqliteStore
from groundkit.core.ports import DocumentStore
from groundkit.core.result import Failure
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, ChunksByRow, StorageProblem, StoreState, Write
from groundkit.testing.memory_store import Disk, MemoryStore
from groundkit.testing.store_contract import (
    SOURCES,
    StoreContract,
    World,
    looked,
    new_document,
    problem_of,
    read,
)

NAME = "c.sqlite3"


class TestMemoryStore(StoreContract):
    def make(self) -> DocumentStore:
        self.disk: Disk = {}
        return MemoryStore(self.disk)

    def again(self, store: DocumentStore) -> DocumentStore:
        return MemoryStore(self.disk)


class TestSqliteStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.root = tmp_path

    def make(self) -> DocumentStore:
        self.place = Path(mkdtemp(dir=self.root))
        return SqliteStore(self.place, "c")

    def again(self, store: DocumentStore) -> DocumentStore:
        return SqliteStore(self.place, "c")


def world_of(generation: int) -> World:
    """What generation `generation` holds of a store that is rewritten whole each time: no two share a text."""
    sources = [f"{n}.md" for n in range(30)] if generation else []
    return {source: new_document(source, f"{generation} of {source} " * 20, 40) for source in sources}


#: Rewrites the whole store again and again, as `world_of` says.
REWRITER = """
    import sys
    from pathlib import Path
    from groundkit.adapters.sqlite_store import SqliteStore
    from groundkit.core.settings import Settings
    from groundkit.core.storage import Write
    from groundkit.testing.store_contract import new_document

    store = SqliteStore(Path(sys.argv[1]), "c")
    store.create(Settings(), "words/1").unwrap()
    state = store.view().unwrap().state
    generation = state.tip.mark.generation
    if state.tip != state.current:
        store.declare(generation).unwrap()
    print("ready", flush=True)
    while True:
        generation += 1
        texts = {source: f"{generation} of {source} " * 20 for source in (f"{n}.md" for n in range(30))}
        store.stage(Write(tuple(new_document(source, text, 40) for source, text in texts.items()))).unwrap()
        store.declare(generation).unwrap()
        print(generation, flush=True)
"""


def script(source: str, place: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", dedent(source), str(place)], stdout=subprocess.PIPE, text=True)


@contextmanager
def running(source: str, place: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of ours, killed at the end without a chance to tidy up."""
    with script(source, place) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def both_ends_are_whole(store: DocumentStore) -> StoreState:
    view = store.view().unwrap()
    try:
        for end in (view.state.current, view.state.tip):
            world = world_of(end.mark.generation)
            assert read(view, end.mark.generation) == world
            assert end.statistics.chunks == sum(len(new.chunks) for new in world.values())
        return view.state
    finally:
        view.close()


def test_a_writer_killed_at_any_moment_leaves_whole_generations(tmp_path: Path) -> None:
    seen = 0
    for trial in range(8):
        with running(REWRITER, tmp_path) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            assert int(writer.stdout.readline()) > seen
            time.sleep(0.0021 * trial)
        store = SqliteStore(tmp_path, "c")
        state = both_ends_are_whole(store)
        assert state.current.mark.generation <= state.tip.mark.generation <= state.current.mark.generation + 1
        assert state.tip.mark.generation > seen
        seen = state.tip.mark.generation
        assert store.check().unwrap() == ()
        store.close()


def test_readers_beside_a_writer_in_another_process_see_whole_generations(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, "c")
    with running(REWRITER, tmp_path) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        seen: set[int] = set()
        while len(seen) < 5:
            assert writer.poll() is None
            seen.add(both_ends_are_whole(store).tip.mark.generation)


def test_a_store_whose_making_was_killed_is_made_by_the_next(tmp_path: Path) -> None:
    making = """
        import sys
        from pathlib import Path
        from groundkit.adapters.sqlite_store import SqliteStore
        from groundkit.core.settings import Settings

        print("ready", flush=True)
        for n in range(1000):
            place = Path(sys.argv[1]) / str(n)
            place.mkdir()
            SqliteStore(place, "c").create(Settings(), "words/1").unwrap()
    """
    for trial in range(10):
        place = tmp_path / str(trial)
        place.mkdir()
        with running(making, place) as maker:
            assert maker.stdout is not None
            assert maker.stdout.readline() == "ready\n"
            time.sleep(0.011 * trial)
        last = max(place.iterdir(), key=lambda each: int(each.name), default=place)
        store = SqliteStore(last, "c")
        view = store.view()
        assert not isinstance(view, Failure) or view.failure().problem is StorageProblem.MISSING
        store.create(Settings(), "words/1").unwrap()
        assert store.stage(Write((new_document("B.md", "one"),))).unwrap()
        assert raw(last, "PRAGMA journal_mode") == [("wal",)]


def raw(place: Path, statement: str) -> list[tuple[object, ...]]:
    """Past the store, straight into the file."""
    connection = apsw.Connection(str(place / NAME))
    connection.pragma("ignore_check_constraints", statement.startswith("UPDATE"))
    try:
        return list(connection.execute(statement))
    finally:
        connection.close()


def stored(place: Path, texts: dict[str, str]) -> SqliteStore:
    store = SqliteStore(place, "c")
    store.create(Settings(), "words/1").unwrap()
    store.stage(Write(tuple(new_document(source, text) for source, text in texts.items()))).unwrap()
    store.declare(1).unwrap()
    return store


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    stored(tmp_path, {"B.md": "one"}).close()
    assert raw(tmp_path, "PRAGMA application_id") == [(APPLICATION_ID,)] == [(0x676B6974,)]
    assert raw(tmp_path, "PRAGMA user_version") == [(VERSION,)] == [(3,)]
    assert raw(tmp_path, "PRAGMA journal_mode") == [("wal",)]


def test_all_files_are_private(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        store = stored(tmp_path, {"B.md": "one"})
    finally:
        os.umask(previous)
    view = store.view().unwrap()
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    view.close()
    assert modes == {NAME: 0o600, NAME + "-wal": 0o600, NAME + "-shm": 0o600}


@pytest.mark.parametrize(
    ("source_class", "extractor"), [("extracted", None), ("text", "x/1"), ("snapshot", "x/1"), ("extracted", ""), ("web", None)]
)  # fmt: skip
def test_the_tables_refuse_a_class_with_the_wrong_extractor(
    tmp_path: Path, source_class: str, extractor: str | None
) -> None:
    stored(tmp_path, {"B.md": "one"}).close()
    connection = apsw.Connection(str(tmp_path / NAME))
    with pytest.raises(apsw.ConstraintError):
        connection.execute("UPDATE documents SET source_class = ?, extractor = ?", (source_class, extractor))
    connection.close()


def test_the_tables_refuse_two_live_documents_of_a_source(tmp_path: Path) -> None:
    stored(tmp_path, {"B.md": "one", "C.md": "two"}).close()
    with pytest.raises(apsw.ConstraintError):
        raw(tmp_path, "UPDATE documents SET source = 'B.md'")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE chunks SET text = CAST(x'c328' AS TEXT)",
        "UPDATE chunks SET heading = '[\"a'",
        "UPDATE documents SET extractor = 'x/1'",
        "UPDATE documents SET title = CAST(x'ff' AS TEXT)",
    ],
)
def test_rows_that_cannot_be_read_are_damage(tmp_path: Path, damage: str) -> None:
    stored(tmp_path, {"B.md": "one two three"}).close()
    raw(tmp_path, damage)
    view = SqliteStore(tmp_path, "c").view().unwrap()
    rows = tuple(view.live(1).unwrap())
    assert problem_of(view.chunks(ChunksByRow(rows), 1)) is StorageProblem.DAMAGED
    view.close()


def test_a_store_without_its_state_is_damaged(tmp_path: Path) -> None:
    stored(tmp_path, {"B.md": "one"}).close()
    raw(tmp_path, "DELETE FROM state")
    assert problem_of(SqliteStore(tmp_path, "c").view()) is StorageProblem.DAMAGED


def test_a_damaged_page_is_found_by_the_check_or_refused_in_reading(tmp_path: Path) -> None:
    stored(tmp_path, {f"{n}.md": f"text {n} " * 100 for n in range(12)}).close()
    whole = (tmp_path / NAME).read_bytes()
    page = 16 * 1024
    for start in range(page, len(whole), page):
        (tmp_path / NAME).write_bytes(whole[:start] + bytes(64) + whole[start + 64 :])
        answer = SqliteStore(tmp_path, "c").check()
        assert problem_of(answer) is StorageProblem.DAMAGED if isinstance(answer, Failure) else answer.unwrap()


def test_a_state_that_names_a_missing_generation_is_damage(tmp_path: Path) -> None:
    store = stored(tmp_path, {"B.md": "one"})
    raw(tmp_path, "UPDATE state SET cur = -1")
    assert problem_of(store.check()) is StorageProblem.DAMAGED


def test_a_file_put_in_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    stored(tmp_path / "other", {"other.md": "two"}).close()
    store = stored(tmp_path, {"B.md": "one"})
    view = store.view().unwrap()
    assert set(looked(store)) == {"B.md"}
    for suffix in ("-wal", "-shm"):
        (tmp_path / (NAME + suffix)).unlink(missing_ok=True)
    os.replace(tmp_path / "other" / NAME, tmp_path / NAME)
    assert set(looked(store)) == {"other.md"}
    assert [record.source for record in view.records(AllRecords(), 1).unwrap()] == ["B.md"]
    view.close()
    assert set(looked(store)) == {"other.md"}


def test_views_serve_many_threads_beside_a_writer(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, "c")
    store.create(Settings(), "words/1").unwrap()

    def write() -> int:
        for generation in range(1, 13):
            store.stage(Write(tuple(world_of(generation).values()))).unwrap()
            store.declare(generation).unwrap()
        return 12

    with ThreadPoolExecutor(4) as threads:
        writer = threads.submit(write)
        readers = [threads.submit(both_ends_are_whole, store) for _ in range(30)]
        seen = [reader.result().tip.mark.generation for reader in readers]
        assert max(seen) <= writer.result()
    assert both_ends_are_whole(store).current.mark.generation == 12


def test_what_was_removed_is_in_no_file_any_more(tmp_path: Path) -> None:
    secret = "Zanzibar-4711"
    store = stored(tmp_path, {"B.md": secret * 300, "C.md": "other " * 300})
    store.stage(Write(removed=("B.md",))).unwrap()
    store.declare(2).unwrap()
    store.close()
    assert set(looked(SqliteStore(tmp_path, "c"))) == {"C.md"}
    assert [each.name for each in tmp_path.iterdir() if secret.encode() in each.read_bytes()] == []


def test_a_dropped_store_is_removed_when_its_last_reader_is_gone(tmp_path: Path) -> None:
    """Before that, its log may be all that says it was dropped."""
    store = stored(tmp_path, {"B.md": "one"})
    view = SqliteStore(tmp_path, "c").view().unwrap()
    store.drop().unwrap()
    assert problem_of(store.remove_files()) is StorageProblem.BUSY
    assert problem_of(store.view()) is StorageProblem.DROPPED
    assert len(view.live(1).unwrap()) == 1
    view.close()
    store.remove_files().unwrap()
    assert list(tmp_path.iterdir()) == []


def test_many_rows_are_asked_for_at_once(tmp_path: Path) -> None:
    store = stored(tmp_path, dict.fromkeys(SOURCES, "ab " * 7000))
    view = store.view().unwrap()
    rows = tuple(view.live(1).unwrap())
    assert len(rows) > 25_000  # more than SQLite takes as single parameters by default elsewhere
    assert len(view.sizes(rows, 1).unwrap()) == len(rows)
    assert len(view.chunks(ChunksByRow(rows), 1).unwrap()) == len(rows)
    assert len(view.first(rows, 1, 7).unwrap()) == 7
    view.close()


#: Lets the file operation `kind` fail from the Nth on, for every N of a write; prints each problem that was answered.
FAULTS = """
    import sys
    from itertools import count
    from pathlib import Path
    import apsw
    from groundkit.adapters.sqlite_store import SqliteStore
    from groundkit.core.result import Failure
    from groundkit.core.settings import Settings
    from groundkit.core.storage import Write
    from groundkit.testing.store_contract import looked, new_document

    root, kind, error = Path(sys.argv[1]), sys.argv[2], getattr(apsw, sys.argv[3])
    allowed = None
    usual = apsw.vfs_names()[0]

    def one_more(of):
        global allowed
        if of == kind and allowed is not None:
            allowed -= 1
            if allowed < 0:
                raise error("made to fail")

    class File(apsw.VFSFile):
        def xWrite(self, data, offset):
            one_more("write")
            super().xWrite(data, offset)

        def xSync(self, flags):
            one_more("sync")
            # Nothing pulls the plug here, so nothing waits for the disk.

    class Faulty(apsw.VFS):
        def __init__(self):
            super().__init__("faulty", usual, makedefault=True)

        def xOpen(self, name, flags):
            return File(usual, name, flags)

    sys.unraisablehook = lambda _: None  # closing may fail too, where nobody can be told
    faulty = Faulty()
    old = tuple(new_document(f"{n}.md", f"old {n} " * 40, 40) for n in range(4))
    new = tuple(new_document(f"{n}.md", f"new {n} " * 40, 40) for n in range(2, 6))
    worlds = ({e.record.source: e for e in old}, {e.record.source: e for e in (*old, *new)})
    for allowed_at in count():
        place = root / str(allowed_at)
        place.mkdir()
        store = SqliteStore(place, "c")
        store.create(Settings(), "words/1").unwrap()
        store.stage(Write(old)).unwrap()
        store.declare(1).unwrap()
        allowed = allowed_at
        answers = [store.stage(Write(new)), store.declare(2)]
        untouched = allowed >= 0
        seen = looked(store, "tip")
        assert seen in worlds, "neither before nor after"
        allowed = None
        assert looked(SqliteStore(place, "c"), "tip") == seen
        if seen == worlds[0]:
            store.stage(Write(new)).unwrap()
        store.declare(2).unwrap()
        assert looked(store) == worlds[1]
        assert store.check().unwrap() == ()
        store.close()
        for answer in answers:
            if isinstance(answer, Failure):
                print(answer.failure().problem.value)
        if untouched:
            break
    print("trials", allowed_at)
"""


@pytest.mark.parametrize(
    ("kind", "error", "problem"),
    [("write", "FullError", "full"), ("write", "IOError", "failed"), ("sync", "IOError", "failed")],
)
def test_a_disk_that_fails_at_any_operation_leaves_a_whole_generation(
    tmp_path: Path, kind: str, error: str, problem: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", dedent(FAULTS), str(tmp_path), kind, error], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    *problems, last = done.stdout.splitlines()
    assert set(problems) == {problem}
    assert int(last.removeprefix("trials ")) >= 2

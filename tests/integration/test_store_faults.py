"""The store under kills, failing disks, other processes and threads."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from groundkit.adapters.sqlite_store import SqliteStore
from groundkit.core.briefs import VectorCounts
from groundkit.core.changes import Write
from groundkit.core.ports import DocumentStore
from groundkit.core.result import Failure
from groundkit.core.settings import Settings
from groundkit.core.storage import StorageProblem, StoreState
from groundkit.testing.sample_documents import new_document
from groundkit.testing.store_contract import World, read


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
    from groundkit.core.changes import Write
    from groundkit.testing.sample_documents import new_document
    from groundkit.testing.store_contract import EMBEDDER, embedded

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
        documents = tuple(embedded(new_document(source, text, 40)) for source, text in texts.items())
        store.stage(Write(documents, manifest=EMBEDDER)).unwrap()
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
            chunks = sum(len(new.chunks) for new in world.values())
            assert end.statistics.chunks == chunks
            counts = view.vector_counts(end.mark.generation).unwrap()
            assert counts in (VectorCounts(chunks - counts.empty, len(world), 0), VectorCounts(0, 0, chunks))
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
    for trial in range(6):
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
        assert (last / "c.sqlite3-wal").exists()


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


#: Lets the file operation `kind` fail from the Nth on, for every N of a write; prints each problem that was answered.
FAULTS = """
    import sys
    from itertools import count
    from pathlib import Path
    import apsw
    from groundkit.adapters.sqlite_store import SqliteStore
    from groundkit.core.result import Failure
    from groundkit.core.settings import Settings
    from groundkit.core.changes import Write
    from groundkit.testing.sample_documents import new_document
    from groundkit.testing.store_contract import EMBEDDER, embedded, looked, vectors_in

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

    def write_of(documents):
        return Write(tuple(map(embedded, documents)), manifest=EMBEDDER)

    worlds = ({e.record.source: e for e in old}, {e.record.source: e for e in (*old, *new)})
    for allowed_at in count():
        place = root / str(allowed_at)
        place.mkdir()
        store = SqliteStore(place, "c")
        store.create(Settings(), "words/1").unwrap()
        store.stage(write_of(old)).unwrap()
        store.declare(1).unwrap()
        allowed = allowed_at
        answers = [store.stage(write_of(new)), store.declare(2)]
        untouched = allowed >= 0
        seen = looked(store, "tip")
        assert seen in worlds, "neither before nor after"
        allowed = None
        assert looked(SqliteStore(place, "c"), "tip") == seen
        if seen == worlds[0]:
            store.stage(write_of(new)).unwrap()
        store.declare(2).unwrap()
        assert looked(store) == worlds[1]
        assert vectors_in(store) == {
            each.chunk.id: each.vector for new in worlds[1].values() for each in embedded(new).chunks if each.vector
        }
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

"""Matrices of vectors and their twin under one contract, and what only files can suffer: damage, links, a full disk, kills."""

import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundkit.adapters.vectors import VectorFiles
from groundkit.adapters.vectors.format import PAGE
from groundkit.adapters.vectors.matrix import matrix_of
from groundkit.core.embedding import EmbeddingIdentity, cosine
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import VectorIndex, VectorKey, VectorRow
from groundkit.core.storage import Mark, StorageFailure, StorageProblem
from groundkit.core.vectors import SAMPLE, level_of
from groundkit.testing.memory_vectors import MemoryVectors
from groundkit.testing.vector_contract import (
    DIMENSIONS,
    KEY,
    OTHERS,
    VectorIndexContract,
    brute,
    gridded,
    never,
    rows_of,
    searcher_of,
)

ROWS = rows_of({row: gridded([row, 1, row % 7, -1, 2]) for row in range(1, 250)})
QUERY = gridded([3, 1, 4, 1, 5])
NEAREST = brute(QUERY, ROWS, 10)


class TestMemoryVectors(VectorIndexContract):
    def make(self) -> VectorIndex:
        return MemoryVectors()


class TestVectorFiles(VectorIndexContract):
    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _place(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        cls.place = tmp_path_factory.mktemp("contract")

    def make(self) -> VectorIndex:
        return VectorFiles(Path(mkdtemp(dir=self.place)) / "c.vectors")


class TestVectorsWithoutFiles(VectorIndexContract):
    """Where nothing can be written, everything holds all the same."""

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _place(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        cls.place = tmp_path_factory.mktemp("contract")

    def make(self) -> VectorIndex:
        return VectorFiles(self.place / "missing" / "c.vectors")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "c.vectors"


def written(path: Path) -> Path:
    """The one file of a matrix of `ROWS`."""
    assert searcher_of(VectorFiles(path), ROWS).nearest(QUERY, 10) == NEAREST
    (file,) = path.iterdir()
    return file


def nearest_now(path: Path) -> tuple[tuple[int, float], ...]:
    """What a new process would find, which has to make the matrix if the file is not what was written."""
    return searcher_of(VectorFiles(path), ROWS).nearest(QUERY, 10)


def is_whole(path: Path) -> bool:
    """Whether a new process takes the file as it is."""
    return isinstance(VectorFiles(path).searcher(KEY, never), Success)


def test_a_new_process_maps_what_was_written_and_loads_nothing(path: Path) -> None:
    written(path)
    stored = VectorFiles(path).searcher(KEY, never).unwrap()
    assert stored.nearest(QUERY, 10) == NEAREST
    assert stored.level == level_of((each.chunk_id, each.vector) for each in ROWS)
    assert stored.count() == len(ROWS)


def test_files_are_for_their_owner_alone(path: Path) -> None:
    file = written(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@settings(deadline=None)
@given(at=st.integers(0, PAGE + 64) | st.integers(0, 3 * PAGE), bit=st.integers(0, 7))
def test_no_bit_can_be_turned_unnoticed(tmp_path_factory: pytest.TempPathFactory, at: int, bit: int) -> None:
    path = tmp_path_factory.mktemp("flipped") / "c.vectors"
    file = written(path)
    before = file.stat()
    data = bytearray(file.read_bytes())
    data[at % len(data)] ^= 1 << bit
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_whole(path)
    assert nearest_now(path) == NEAREST
    assert is_whole(path)


@pytest.mark.parametrize("size", [0, 1, 100, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, -1])
def test_a_truncated_file_is_made_again(path: Path, size: int) -> None:
    file = written(path)
    os.truncate(file, size if size >= 0 else file.stat().st_size - 1)
    assert not is_whole(path)
    assert nearest_now(path) == NEAREST
    assert is_whole(path)


def test_pages_that_change_places_and_bytes_behind_the_end_are_noticed(path: Path) -> None:
    file = written(path)
    data = file.read_bytes()
    assert len(data) >= 3 * PAGE
    for damaged in (
        data[:PAGE] + data[2 * PAGE : 3 * PAGE] + data[PAGE : 2 * PAGE] + data[3 * PAGE :],
        data[:PAGE] + bytes(PAGE) + data[2 * PAGE :],
        data + b"\0",
        data + bytes(PAGE),
        b"",
        b"something else",
        os.urandom(len(data)),
    ):
        file.write_bytes(damaged)
        assert not is_whole(path)
        assert nearest_now(path) == NEAREST
        assert is_whole(path)


def test_a_file_of_another_key_under_this_name_is_not_believed(path: Path) -> None:
    file = written(path)
    other = searcher_of(VectorFiles(path), rows_of({1: QUERY}), OTHERS[0])
    assert other.nearest(QUERY, 1) == ((1, 1.0),)
    (theirs,) = path.iterdir()
    theirs.rename(file)
    assert not is_whole(path)
    assert nearest_now(path) == NEAREST


def test_older_matrices_go_and_who_has_one_mapped_keeps_it(path: Path) -> None:
    index = VectorFiles(path)
    held = searcher_of(index, ROWS)
    for key in OTHERS:
        searcher_of(VectorFiles(path), rows_of({1: QUERY}), key)
        assert len(list(path.iterdir())) == 1
    assert held.nearest(QUERY, 10) == NEAREST


def test_what_others_put_there_stays_and_what_was_left_half_written_goes_in_time(path: Path) -> None:
    path.mkdir()
    theirs, young, old = path / "notes.txt", path / f".new-{'a' * 16}", path / f".new-{'b' * 16}"
    for each in (theirs, young, old):
        each.write_text("x")
    os.utime(old, (0, 0))
    assert nearest_now(path) == NEAREST
    assert (theirs.exists(), young.exists(), old.exists()) == (True, True, False)
    assert VectorFiles(path).discard() == Success(None)
    assert [each.name for each in path.iterdir()] == ["notes.txt"]
    theirs.unlink()
    assert VectorFiles(path).discard() == Success(None)
    assert not path.exists()


def test_no_link_is_followed(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    path.symlink_to(elsewhere)
    assert nearest_now(path) == NEAREST
    refused = VectorFiles(path).discard()
    assert isinstance(refused, Failure)
    assert refused.failure().problem is StorageProblem.FOREIGN
    assert str(tmp_path) not in refused.failure().detail
    assert [each.name for each in elsewhere.iterdir()] == ["mine.txt"]
    assert path.is_symlink()


def test_a_link_or_a_directory_or_a_pipe_in_the_place_of_a_file_is_not_opened(path: Path, tmp_path: Path) -> None:
    file = written(path)
    sound = tmp_path / "sound"
    file.rename(sound)
    file.symlink_to(sound)
    assert not is_whole(path)
    assert nearest_now(path) == NEAREST
    assert not file.is_symlink()
    file.unlink()
    os.mkfifo(file)
    assert not is_whole(path)
    assert nearest_now(path) == NEAREST
    file.unlink()
    file.mkdir()
    assert nearest_now(path) == NEAREST
    assert VectorFiles(path).discard() == Success(None)
    assert file.is_dir()


def test_a_file_in_the_place_of_the_directory_is_left_alone(path: Path) -> None:
    path.write_text("mine")
    assert nearest_now(path) == NEAREST
    assert isinstance(VectorFiles(path).discard(), Failure)
    assert path.read_text() == "mine"


def test_a_full_disk_costs_the_file_and_nothing_else(path: Path) -> None:
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from groundkit.adapters.vectors import VectorFiles\n"
        "from test_vector_index import NEAREST, QUERY, ROWS\n"
        "from groundkit.testing.vector_contract import searcher_of\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({PAGE + 10}, {PAGE + 10}))\n"
        "assert searcher_of(VectorFiles(Path(sys.argv[1])), ROWS).nearest(QUERY, 10) == NEAREST\n"
    )
    run_python(program, str(path))
    assert list(path.iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert nearest_now(path) == NEAREST


def run_python(program: str, *arguments: str, **environment: str) -> str:
    """What a program prints that can import this module."""
    here = [str(Path(__file__).parent), str(Path(__file__).parent.parent), *filter(None, sys.path)]
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(here)} | environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


WIDE = 256

BITS = """
import sys
import numpy as np
from attrs import evolve
from groundkit.adapters.vectors.matrix import matrix_of
from test_vector_index import wide_rows
rows, query = wide_rows(6000)
matrix = evolve(matrix_of(rows, len(query) // 2), block=int(sys.argv[1]))
some = frozenset(range(1, 6000, 9))
print(matrix.level.hex(), [(row, near.hex()) for row, near in matrix.nearest(query, 6000) + matrix.nearest(query, 99, some)])
"""


def wide_rows(count: int) -> tuple[list[VectorRow], bytes]:
    """Vectors as long as they get, so that sums are as large as they get."""
    drawn = np.random.default_rng(6).standard_normal((count + 1, WIDE))
    drawn *= 4000 / np.linalg.norm(drawn, axis=1, keepdims=True)
    made = [each.tobytes() for each in np.rint(drawn).astype("<i2")]
    return [VectorRow(at, f"{at * 7919 % 10007:05d}", each) for at, each in enumerate(made[:-1], 1)], made[-1]


def test_bits_do_not_depend_on_threads_blocks_or_instructions() -> None:
    answers = {
        run_python(BITS, block, OPENBLAS_NUM_THREADS=threads, **more)
        for threads, block, more in (
            ("1", "262144", {}),
            ("2", "262144", {}),
            ("2", "100000000", {}),
            ("1", "1", {}),
            ("1", "777", {"OPENBLAS_CORETYPE": "Prescott"}),
            ("2", "5000000", {"OPENBLAS_CORETYPE": "Haswell"}),
        )
    }
    assert len(answers) == 1


def test_wide_vectors_have_the_pure_cosines_and_level() -> None:
    rows, query = wide_rows(700)
    matrix = matrix_of(rows, WIDE)
    assert matrix.nearest(query, 700) == brute(query, rows, 700)
    assert len(rows) > SAMPLE
    few = rows[:60]
    assert matrix_of(few, WIDE).level == level_of((each.chunk_id, each.vector) for each in few)
    assert matrix.level == matrix_of(rows[::-1], WIDE).level


def test_the_level_is_of_chunks_chosen_by_id_and_not_by_row() -> None:
    rows, _ = wide_rows(SAMPLE + 200)
    moved = [VectorRow(10_000 - each.row, each.chunk_id, each.vector) for each in rows]
    assert matrix_of(rows, WIDE).level == matrix_of(moved, WIDE).level
    sampled = sorted(rows, key=lambda each: each.chunk_id)[:SAMPLE]
    assert matrix_of(rows, WIDE).level == matrix_of(sampled, WIDE).level


def test_opposite_and_equal_vectors_are_exactly_as_far_as_can_be() -> None:
    _, query = wide_rows(1)
    turned = (-np.frombuffer(query, "<i2")).astype("<i2").tobytes()
    matrix = matrix_of([VectorRow(1, "a", query), VectorRow(2, "b", turned)], WIDE)
    assert matrix.nearest(query, 2) == ((1, 1.0), (2, -1.0))
    assert (cosine(query, query), cosine(query, turned)) == (1.0, -1.0)


MAKE = """
import sys
from pathlib import Path
from groundkit.adapters.vectors import VectorFiles
from test_vector_index import NEAREST, QUERY, ROWS
from groundkit.testing.vector_contract import OTHERS, KEY, searcher_of
print("ready", flush=True)
while True:
    for key in (KEY, *OTHERS):
        assert searcher_of(VectorFiles(Path(sys.argv[1])), ROWS, key).nearest(QUERY, 10) == NEAREST
"""


def test_killed_and_competing_makers_leave_nothing_that_is_believed(path: Path) -> None:
    here = [str(Path(__file__).parent), str(Path(__file__).parent.parent), *filter(None, sys.path)]
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, str(path)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(here)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        for maker in makers:
            assert maker.stdout is not None and maker.stdout.readline() == "ready\n"
        for _ in range(100):
            assert nearest_now(path) == NEAREST
        assert [maker.poll() for maker in makers] == [None, None]
    finally:
        for maker in makers:
            maker.send_signal(signal.SIGKILL)
            maker.wait()
            assert maker.stdout is not None
            maker.stdout.close()
    assert nearest_now(path) == NEAREST
    assert is_whole(path)


def test_threads_make_one_matrix_together(path: Path) -> None:
    index, loads = VectorFiles(path), []
    started = threading.Barrier(6)

    def load() -> Result[Iterable[VectorRow], StorageFailure]:
        loads.append(1)
        return Success(ROWS)

    found = []

    def search() -> None:
        started.wait()
        found.append(index.searcher(KEY, load).unwrap().nearest(QUERY, 10))

    threads = [threading.Thread(target=search) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [NEAREST] * 6
    assert loads == [1]


def test_a_directory_that_is_copied_with_its_collection_is_taken_as_it_is(path: Path, tmp_path: Path) -> None:
    written(path)
    shutil.copytree(path, tmp_path / "copy.vectors")
    assert is_whole(tmp_path / "copy.vectors")


def test_dimensions_are_part_of_the_key(path: Path) -> None:
    written(path)
    wide = VectorKey(KEY.mark, EmbeddingIdentity("drawn", "", DIMENSIONS + 1))
    assert isinstance(VectorFiles(path).searcher(wide, never), Failure)
    assert isinstance(VectorFiles(path).searcher(VectorKey(Mark(3, "token "), KEY.identity), never), Failure)

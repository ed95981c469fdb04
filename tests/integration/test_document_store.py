"""The document store and its twin under one contract; what only the real one has: tables, files, damage."""

import os
import stat
from pathlib import Path
from tempfile import mkdtemp

import apsw
import pytest
from attrs import evolve

from groundkit.adapters.sqlite_store import SqliteStore
from groundkit.adapters.sqlite_store.file import APPLICATION_ID, VERSION
from groundkit.core.ports import DocumentStore
from groundkit.core.result import Failure
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, ChunksByRow, StorageProblem, Write
from groundkit.testing.memory_store import Disk, MemoryStore
from groundkit.testing.sample_documents import SOURCES, new_document
from groundkit.testing.store_contract import StoreContract, looked, problem_of

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


def raw(place: Path, statement: str) -> list[tuple[object, ...]]:
    """Past the store, straight into the file."""
    connection = apsw.Connection(str(place / NAME))
    connection.pragma("ignore_check_constraints", statement.startswith("UPDATE"))
    try:
        return list(connection.execute(statement))
    finally:
        connection.close()


def stored(place: Path, texts: dict[str, str], size: int = 5) -> SqliteStore:
    store = SqliteStore(place, "c")
    store.create(Settings(), "words/1").unwrap()
    store.stage(Write(tuple(new_document(source, text, size) for source, text in texts.items()))).unwrap()
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


def test_a_declared_generation_leaves_no_rows_of_earlier_ones(tmp_path: Path) -> None:
    store = stored(tmp_path, {"B.md": "one two", "C.md": "three"})
    rebound = evolve(new_document("C.md", "three").record, title="new")
    store.stage(Write((new_document("B.md", "four"),), rebound=(rebound,))).unwrap()
    tables = ("documents", "chunks", "generations", "outbox")
    assert [raw(tmp_path, f"SELECT count(*) FROM {table}") for table in tables] == [[(4,)], [(4,)], [(2,)], [(2,)]]
    store.declare(2).unwrap()
    assert [raw(tmp_path, f"SELECT count(*) FROM {table}") for table in tables] == [[(2,)], [(2,)], [(1,)], [(0,)]]


def test_what_was_removed_is_in_no_file_any_more(tmp_path: Path) -> None:
    secret = "Zanzibar-4711"
    store = stored(tmp_path, {"B.md": secret * 300, "C.md": "other " * 300}, size=1300)
    assert secret.encode() in b"".join(each.read_bytes() for each in tmp_path.glob("*-wal"))
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

"""The document store and its twin under one contract; what only the real one has: tables, files, damage."""

import json
import os
import stat
from pathlib import Path
from tempfile import mkdtemp

import apsw
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from groundkit.adapters.sqlite_store import SqliteStore
from groundkit.adapters.sqlite_store.cells import heading_path, heading_tree
from groundkit.adapters.sqlite_store.file import APPLICATION_ID, VERSION
from groundkit.adapters.sqlite_store.schema import NAMED_FILES, SHORT_HEADINGS
from groundkit.core.changes import CountedChunk, Write
from groundkit.core.model import FetchFacts, Locator
from groundkit.core.ports import DocumentStore
from groundkit.core.result import Failure
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, ChunksByPrefix, ChunksByRow, StorageProblem
from groundkit.testing.memory_store import Disk, MemoryStore
from groundkit.testing.sample_documents import SOURCES, new_document, view_of
from groundkit.testing.store_contract import StoreContract, looked, problem_of

NAME = "c.sqlite3"
PAGE = SOURCES[-1]


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


FACTS = {
    "source_digest": "zeroblob(32)", "extraction_digest": "zeroblob(32)", "pages": "0", "losses": "NULL", "incomplete": "0"
}  # fmt: skip


def _with_facts(place: Path, source: str, facts: dict[str, str]) -> None:
    """Past the store; `FACTS` but for those given."""
    cells = ", ".join(f"{column} = {value}" for column, value in (FACTS | facts).items())
    connection = apsw.Connection(str(place / NAME))
    try:
        connection.execute(f"UPDATE documents SET {cells} WHERE source = ?", (source,))
    finally:
        connection.close()


def test_the_tables_take_facts_of_extracted_documents_and_pages_only(tmp_path: Path) -> None:
    stored(tmp_path, dict.fromkeys(SOURCES, "one")).close()
    for source in SOURCES:
        if source in ("a.pdf", PAGE):
            _with_facts(tmp_path, source, {})
        else:
            with pytest.raises(apsw.ConstraintError):
                _with_facts(tmp_path, source, {})


@pytest.mark.parametrize(
    "facts",
    [
        *({column: "NULL"} for column in FACTS if column != "losses"),
        dict.fromkeys(FACTS, "NULL") | {"losses": "'[\"a\"]'"},
        *({column: "zeroblob(31)"} for column in ("source_digest", "extraction_digest")),
        {"pages": "-1"},
        {"incomplete": "2"},
    ],
)
def test_the_tables_refuse_facts_that_are_not_whole(tmp_path: Path, facts: dict[str, str]) -> None:
    stored(tmp_path, {"a.pdf": "one"}).close()
    with pytest.raises(apsw.ConstraintError):
        _with_facts(tmp_path, "a.pdf", facts)


def test_the_tables_take_an_extracted_document_without_facts(tmp_path: Path) -> None:
    stored(tmp_path, {"a.pdf": "one"}).close()
    _with_facts(tmp_path, "a.pdf", dict.fromkeys(FACTS, "NULL"))
    assert looked(SqliteStore(tmp_path, "c"))["a.pdf"].record.extraction is None


def test_only_extracted_documents_take_room_for_facts_and_places(tmp_path: Path) -> None:
    stored(tmp_path, dict.fromkeys(SOURCES, "one two three")).close()
    columns = " OR ".join(f"{column} IS NOT NULL" for column in FACTS)
    assert raw(tmp_path, f"SELECT source FROM documents WHERE {columns}") == [("a.pdf",), (PAGE,)]
    fetched = raw(tmp_path, "SELECT source FROM documents WHERE fetch IS NOT NULL OR body IS NOT NULL")
    assert fetched == [(PAGE,)]
    placed = raw(
        tmp_path, "SELECT DISTINCT d.source FROM chunks c JOIN documents d ON d.number = c.document WHERE place > ''"
    )
    assert placed == [("a.pdf",)]


@pytest.mark.parametrize(
    "cells",
    [
        "fetch = NULL", "source_digest = NULL, extraction_digest = NULL, pages = NULL, incomplete = NULL, losses = NULL",
        "body = x'00'", "source_class = 'text'", "source_class = 'extracted', extractor = 'x/1'",
    ],
)  # fmt: skip
def test_the_tables_refuse_a_page_that_is_not_whole(tmp_path: Path, cells: str) -> None:
    stored(tmp_path, {PAGE: "one"}).close()
    connection = apsw.Connection(str(tmp_path / NAME))
    with pytest.raises(apsw.ConstraintError):
        connection.execute(f"UPDATE documents SET {cells}")
    connection.close()


@pytest.mark.parametrize("source", ["B.md", "a.pdf"])
@pytest.mark.parametrize("cells", ["fetch = '[]'", "body = zeroblob(32)"])
def test_the_tables_take_facts_of_a_fetch_of_pages_only(tmp_path: Path, source: str, cells: str) -> None:
    stored(tmp_path, {source: "one"}).close()
    connection = apsw.Connection(str(tmp_path / NAME))
    with pytest.raises(apsw.ConstraintError):
        connection.execute(f"UPDATE documents SET {cells}")
    connection.close()


def test_files_are_named_without_a_look_at_the_table(tmp_path: Path) -> None:
    """A collection of a hundred thousand texts and no page must not pay for it at every write."""
    stored(tmp_path, dict.fromkeys(SOURCES, "one")).close()
    (plan,) = [row[3] for row in raw(tmp_path, f"EXPLAIN QUERY PLAN {NAMED_FILES}")]
    assert plan == "SCAN documents USING COVERING INDEX documents_fetched"


def test_the_tables_refuse_two_live_documents_of_a_source(tmp_path: Path) -> None:
    stored(tmp_path, {"B.md": "one", "C.md": "two"}).close()
    with pytest.raises(apsw.ConstraintError):
        raw(tmp_path, "UPDATE documents SET source = 'B.md'")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE chunks SET text = CAST(x'c328' AS TEXT)",
        "UPDATE chunks SET heading = 3",
        "UPDATE chunks SET heading = -1",
        "UPDATE documents SET headings = '[\"a'",
        "UPDATE documents SET headings = '7'",
        'UPDATE documents SET headings = \'[0, "a", 0, "b"]\'',
        'UPDATE documents SET headings = \'["a", 1, "b", 2]\'',
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


@pytest.mark.parametrize(
    "place",
    [
        "7", "[", "null", "[]", '[""]', "[1]", "[null]", '["a","b"]', "[true,1]", "[1,true]", "[0,1]", "[2,1]", "[1.0,1]",
        '["1","2"]', '[1,2,"a"]', '[1,2,"a",null]', '[1,2,"a","b",3]', '[1,2,"a","b","c","d"]', '{"a":1}',
        "[" * 100_000, "[" + "9" * 5000 + "]",
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_read_is_damage(tmp_path: Path, place: str) -> None:
    stored(tmp_path, {"a.pdf": "one two three"}).close()
    raw(tmp_path, f"UPDATE chunks SET place = '{place}' WHERE row = 1")
    view = SqliteStore(tmp_path, "c").view().unwrap()
    assert problem_of(view.chunks(ChunksByRow((1,)), 1)) is StorageProblem.DAMAGED
    assert len(view.chunks(ChunksByRow((2,)), 1).unwrap()) == 1
    view.close()


@pytest.mark.parametrize(
    "damage",
    [
        *(f"{column} = NULL" for column in FACTS if column != "losses"),
        "source_digest = x'00'", "extraction_digest = x'00'", "pages = -1", "incomplete = 2",
        "losses = '7'", "losses = '[1]'", "losses = '[\"a\"'",
        "source_digest = NULL, extraction_digest = NULL, pages = NULL, incomplete = NULL, losses = '[\"a\"]'",
        "source_class = 'text', extractor = NULL", "source_class = 'snapshot', extractor = NULL",
        "source_class = 'text'", "extractor = NULL", "extractor = ''", "source_class = 'Extracted'",
    ],
)  # fmt: skip
def test_facts_that_cannot_be_read_are_damage(tmp_path: Path, damage: str) -> None:
    stored(tmp_path, {"a.pdf": "one two three"}).close()
    raw(tmp_path, f"UPDATE documents SET {damage}")
    view = SqliteStore(tmp_path, "c").view().unwrap()
    rows = tuple(view.live(1).unwrap())
    assert problem_of(view.chunks(ChunksByRow(rows), 1)) is StorageProblem.DAMAGED
    assert problem_of(view.records(AllRecords(), 1)) is StorageProblem.DAMAGED
    view.close()


WORDS = '["","","","","",""]'


@pytest.mark.parametrize(
    "damage",
    [
        "fetch = NULL", "body = x'00'", "fetch = NULL, body = zeroblob(32)", "fetch = 7",
        "source_digest = NULL, extraction_digest = NULL, pages = NULL, incomplete = NULL, losses = NULL",
        "source_class = 'text'", "source_class = 'extracted', extractor = 'x/1'", "extractor = 'x/1'",
        *(f"fetch = '{cell}'" for cell in (
            "", "7", "[]", "{}", f"[true,0,null,[],{WORDS}]", f"[200,true,null,[],{WORDS}]", f"[-1,0,null,[],{WORDS}]",
            f"[200,-1,null,[],{WORDS}]", f"[200.0,0,null,[],{WORDS}]", f"[200,0,7,[],{WORDS}]", f"[200,0,null,[7],{WORDS}]",
            f"[200,0,null,[],{WORDS},7]", '[200,0,null,[],["","","","",""]]', '[200,0,null,[],["","","","","",null]]',
            f'[200,0,null,"",{WORDS}]', "[200,0,null,[],null]",
        )),
    ],
)  # fmt: skip
def test_facts_of_a_fetch_that_cannot_be_read_are_damage(tmp_path: Path, damage: str) -> None:
    stored(tmp_path, {PAGE: "one two three"}).close()
    raw(tmp_path, f"UPDATE documents SET {damage}")
    view = SqliteStore(tmp_path, "c").view().unwrap()
    rows = tuple(view.live(1).unwrap())
    assert problem_of(view.chunks(ChunksByRow(rows), 1)) is StorageProblem.DAMAGED
    assert problem_of(view.records(AllRecords(), 1)) is StorageProblem.DAMAGED
    view.close()


def test_facts_of_a_fetch_as_they_are_written_here_are_none(tmp_path: Path) -> None:
    """Else the test before would find damage in anything."""
    stored(tmp_path, {PAGE: "one two three"}).close()
    raw(tmp_path, f"UPDATE documents SET fetch = '[200,0,null,[],{WORDS}]'")
    assert looked(SqliteStore(tmp_path, "c"))[PAGE].record.fetch == FetchFacts(200, "", "", "", "", "", "", 0, None)


@pytest.mark.parametrize("ports", ["", "80,", ",80", "0", "08", "80,443 ", "80;443", "-1", "x", "٨", "80\n"])
def test_ports_that_cannot_be_read_are_damage(tmp_path: Path, ports: str) -> None:
    stored(tmp_path, {}).close()
    connection = apsw.Connection(str(tmp_path / NAME))
    connection.execute("UPDATE state SET fetch_ports = ?", (ports,))
    connection.close()
    assert problem_of(SqliteStore(tmp_path, "c").view()) is StorageProblem.DAMAGED


headings = st.text(max_size=4) | st.sampled_from(("A\x00", '"', "東", "a" * 3000))


@given(st.lists(st.lists(headings, max_size=3).map(tuple), max_size=12))
def test_heading_paths_come_back_from_one_list_in_which_no_branch_stands_twice(paths: list[tuple[str, ...]]) -> None:
    new = new_document("B.md", "x" * len(paths), 1)
    placed = [
        evolve(counted, chunk=evolve(counted.chunk, locator=evolve(counted.chunk.locator, heading_path=path)))
        for counted, path in zip(new.chunks, paths, strict=True)
    ]
    numbers, cell = heading_tree(evolve(new, chunks=tuple(placed)))
    stored = json.loads(cell or "[]")
    assert [heading_path(stored, numbers[path]) for path in paths] == paths
    assert len(stored) == 2 * len({path[:depth] for path in paths for depth in range(1, len(path) + 1)})


def test_headings_too_long_to_come_along_with_each_chunk_are_read_all_the_same(tmp_path: Path) -> None:
    store = stored(tmp_path, {"C.md": "one two three"})
    new = new_document("B.md", "one two three")
    places = [("a" * SHORT_HEADINGS, str(number)) for number in range(len(new.chunks))]
    long = [
        CountedChunk(evolve(each.chunk, locator=Locator(1, 1, path)), *view_of(each.chunk.text, path, new.record.title))
        for each, path in zip(new.chunks, places, strict=True)
    ]
    new = evolve(new, chunks=tuple(long))
    store.stage(Write((new,))).unwrap()
    assert looked(store, "tip") == {"B.md": new, "C.md": new_document("C.md", "one two three")}


@pytest.mark.parametrize("shift", [1, -1])
def test_chunks_that_are_not_in_their_order_are_refused(tmp_path: Path, shift: int) -> None:
    store = stored(tmp_path, {"B.md": "one"})
    new = new_document("C.md", "one two three")
    chunks = (*new.chunks[shift:], *new.chunks[:shift])
    for wrong in (chunks, new.chunks[:shift]):
        assert problem_of(store.stage(Write((evolve(new, chunks=wrong),)))) is StorageProblem.FAILED
    assert set(looked(store, "tip")) == {"B.md"}


def test_ids_that_begin_alike_are_told_apart_and_come_in_their_order(tmp_path: Path) -> None:
    new = new_document("B.md", "one two three four five")
    ids = [f"{'ab' * 12}{number:08x}" for number in (7, 2, 9, 1, 255)]
    alike = [evolve(each, chunk=evolve(each.chunk, id=name)) for each, name in zip(new.chunks, ids, strict=True)]
    store = stored(tmp_path, {"C.md": "other"})
    store.stage(Write((evolve(new, chunks=tuple(alike)),))).unwrap()
    view = store.view().unwrap()
    for prefix in ("ab" * 12, "ab" * 5, "abababa", "ab" * 12 + "000000", "ab" * 12 + "0000000", ids[2], ids[2] + "0"):
        found = [each.chunk.id for each in view.chunks(ChunksByPrefix(prefix, 3), 2).unwrap()]
        assert found == [name for name in sorted(ids) if name.startswith(prefix)][:3]
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

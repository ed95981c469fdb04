"""Whose file it is: stores of earlier and later versions, other programs' files, and files that are none."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from commands import gk

import groundkit
from groundkit.adapters.sqlite_store import SqliteStore
from groundkit.adapters.sqlite_store.file import APPLICATION_ID
from groundkit.adapters.sqlite_store.old import old_chunks, read_old
from groundkit.core.changes import Write
from groundkit.core.model import Span
from groundkit.core.older import OldChunk, OldSource, OldStore
from groundkit.core.ports import DocumentStore
from groundkit.core.result import Failure, Result
from groundkit.core.settings import Settings
from groundkit.core.storage import StorageFailure, StorageProblem
from groundkit.testing.sample_documents import new_document, view_of
from groundkit.testing.store_contract import problem_of

NAME = "c.sqlite3"
PUBLISHED = 0x47524B31


def published(path: Path, application: int, version: int, log: str = "delete") -> None:
    """A store as the earlier groundkit laid it out; classes and extractors came with its version 3."""
    newer = ", source_class TEXT NOT NULL DEFAULT 'text', extractor TEXT" if version >= 3 else ""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", log)
    connection.execute(f"""CREATE TABLE documents (document_id TEXT PRIMARY KEY, source TEXT UNIQUE NOT NULL,
        content_hash TEXT NOT NULL, ingested_at TEXT NOT NULL{newer})""")
    connection.execute("""CREATE TABLE chunks (chunk_id TEXT PRIMARY KEY, document_id TEXT NOT NULL,
        chunk_index INTEGER NOT NULL, content TEXT NOT NULL, start_offset INTEGER NOT NULL,
        end_offset INTEGER NOT NULL, content_hash TEXT NOT NULL, metadata TEXT NOT NULL)""")
    for number, source in enumerate(("/home/b.md", "/home/a.md")):
        connection.execute(
            "INSERT INTO documents (document_id, source, content_hash, ingested_at) VALUES (?, ?, 'h', '2026')",
            (f"d{number}", source),
        )
    for ordinal in (1, 0):
        connection.execute(
            "INSERT INTO chunks VALUES (?, 'd0', ?, ?, ?, ?, 'h', '{}')",
            (f"c{ordinal}", ordinal, f"text {ordinal}", ordinal * 6, ordinal * 6 + 6),
        )
    connection.pragma("application_id", application)
    connection.pragma("user_version", version)
    connection.close()


def other_program(path: Path, log: str = "delete", application: int = 0) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", log)
    connection.pragma("application_id", application)
    connection.execute("CREATE TABLE documents (id TEXT, body TEXT)")
    connection.close()


def own(path: Path, version: int) -> None:
    """A store of ours that says it has another version."""
    store = SqliteStore(path.parent, path.name.removesuffix(".sqlite3"))
    store.create(Settings(), "a").unwrap()
    store.close()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", version)
    connection.close()


def _everything_asked(store: DocumentStore) -> list[Result[object, StorageFailure]]:
    return [
        store.create(Settings(), "a"), store.view(), store.stage(Write()), store.recount("a", view_of),
        store.outbox(view_of), store.everything("", 1, view_of), store.declare(1), store.record_failures((), ()),
        store.check(), store.drop(), store.remove_files(),
    ]  # fmt: skip


def _contents(place: Path) -> dict[str, bytes | None]:
    return {each.name: each.read_bytes() if each.is_file() else None for each in place.iterdir()}


def _stands_off(place: Path) -> StorageFailure:
    """The one failure that everything gives, and not one byte of the directory changed."""
    before = _contents(place)
    store = SqliteStore(place, "c")
    failures = [answer.failure() for answer in _everything_asked(store) if isinstance(answer, Failure)]
    store.close()
    assert len(failures) == 11
    assert len(set(failures)) == 1
    assert _contents(place) == before
    return failures[0]


def _text(path: Path, text: str) -> None:
    path.write_text(text)


OLDER: dict[str, Callable[[Path], None]] = {
    "published 1": lambda path: published(path, 0, 1),
    "published 2": lambda path: published(path, PUBLISHED, 2),
    "published 3": lambda path: published(path, PUBLISHED, 3),
    "published, unstamped": lambda path: published(path, 0, 0),
    "published, with a log": lambda path: published(path, PUBLISHED, 3, "wal"),
    "our 1": lambda path: published(path, APPLICATION_ID, 1),
    "our 2": lambda path: published(path, APPLICATION_ID, 2),
}
FOREIGN: dict[str, Callable[[Path], None]] = {
    "a text": lambda path: _text(path, "SQLite it is not\n" * 100),
    "a short text": lambda path: _text(path, "x"),
    "a directory": Path.mkdir,
    "another program's": other_program,
    "another program's, with a log": lambda path: other_program(path, "wal"),
    "another program's, stamped": lambda path: other_program(path, application=0x47504B47),
    "an SQLite file without tables": lambda path: apsw.Connection(str(path)).pragma("user_version", 1) and None,
    "a pipe": lambda path: os.mkfifo(path),
}


@pytest.mark.parametrize("make", OLDER.values(), ids=OLDER.keys())
def test_older_stores_are_listed_and_read_and_nothing_else(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / NAME)
    failure = _stands_off(tmp_path)
    assert (failure.problem, failure.artefact) == (StorageProblem.OLDER, NAME)
    assert "ingest again" in failure.detail
    old = read_old(tmp_path / NAME).unwrap()
    sources = (OldSource("/home/a.md", "d1", "2026", 0), OldSource("/home/b.md", "d0", "2026", 2))
    assert old == OldStore(old.version, sources)
    assert old_chunks(tmp_path / NAME, "/home/b.md").unwrap() == (
        OldChunk("c0", 0, Span(0, 6), "text 0"),
        OldChunk("c1", 1, Span(6, 12), "text 1"),
    )
    assert old_chunks(tmp_path / NAME, "/home/c.md").unwrap() == ()


@pytest.mark.parametrize("make", OLDER.values(), ids=OLDER.keys())
def test_reading_an_older_store_changes_not_one_byte(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / NAME)
    before = (tmp_path / NAME).read_bytes()
    read_old(tmp_path / NAME).unwrap()
    old_chunks(tmp_path / NAME, "/home/b.md").unwrap()
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN.keys())
def test_foreign_files_are_refused_and_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / NAME)
    if not (tmp_path / NAME).is_fifo():  # reading one would wait for ever
        assert _stands_off(tmp_path).problem is StorageProblem.FOREIGN
    assert problem_of(SqliteStore(tmp_path, "c").view()) is StorageProblem.FOREIGN
    assert problem_of(read_old(tmp_path / NAME)) is StorageProblem.FOREIGN
    assert problem_of(old_chunks(tmp_path / NAME, "x")) is StorageProblem.FOREIGN


def test_a_foreign_file_with_an_unfinished_log_keeps_both(tmp_path: Path) -> None:
    other_program(tmp_path / NAME, "wal")
    connection = apsw.Connection(str(tmp_path / NAME))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute("INSERT INTO documents VALUES ('a', 'b')")
    connection.close()
    before = _contents(tmp_path)
    assert before[NAME + "-wal"]
    assert problem_of(SqliteStore(tmp_path, "c").view()) is StorageProblem.FOREIGN
    after = _contents(tmp_path)
    assert {name: after[name] for name in (NAME, NAME + "-wal")} == {
        name: before[name] for name in (NAME, NAME + "-wal")
    }


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    own(tmp_path / NAME, 4)
    failure = _stands_off(tmp_path)
    assert failure.problem is StorageProblem.NEWER
    assert "4" in failure.detail
    assert problem_of(read_old(tmp_path / NAME)) is StorageProblem.NEWER


def test_an_older_store_of_a_layout_nobody_knows_is_older_and_cannot_be_listed(tmp_path: Path) -> None:
    own(tmp_path / NAME, 2)
    assert _stands_off(tmp_path).problem is StorageProblem.OLDER
    assert problem_of(read_old(tmp_path / NAME)) is StorageProblem.OLDER


def test_a_store_of_today_is_no_older_one(tmp_path: Path) -> None:
    own(tmp_path / NAME, 3)
    assert problem_of(read_old(tmp_path / NAME)) is StorageProblem.FAILED


def test_an_empty_file_is_a_store_not_yet_made(tmp_path: Path) -> None:
    (tmp_path / NAME).touch(0o644)
    store = SqliteStore(tmp_path, "c")
    assert problem_of(store.view()) is StorageProblem.MISSING
    assert problem_of(read_old(tmp_path / NAME)) is StorageProblem.MISSING
    assert _contents(tmp_path) == {NAME: b""}
    store.create(Settings(), "a").unwrap()
    store.stage(Write((new_document("B.md", "one"),))).unwrap()
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_a_log_left_by_another_store_is_not_taken_for_ours(tmp_path: Path) -> None:
    """Else a half-removed store would write its old pages into the new one."""
    store = SqliteStore(tmp_path, "c")
    store.create(Settings(), "a").unwrap()
    store.stage(Write((new_document("B.md", "one"),))).unwrap()
    log = (tmp_path / (NAME + "-wal")).read_bytes()
    assert log
    store.close()
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / (NAME + suffix)).unlink(missing_ok=True)
    (tmp_path / (NAME + "-wal")).write_bytes(log)
    fresh = SqliteStore(tmp_path, "c")
    fresh.create(Settings(), "a").unwrap()
    view = fresh.view().unwrap()
    assert view.state.tip.mark.generation == 0
    assert view.live(0).unwrap() == {}
    assert fresh.check().unwrap() == ()


def test_a_missing_directory_is_a_missing_store(tmp_path: Path) -> None:
    assert problem_of(SqliteStore(tmp_path / "gone", "c").view()) is StorageProblem.MISSING
    assert problem_of(SqliteStore(tmp_path / "gone", "c").create(Settings(), "a")) is StorageProblem.MISSING
    (tmp_path / "file").write_text("x")
    assert problem_of(SqliteStore(tmp_path / "file", "c").view()) is StorageProblem.MISSING


def test_failures_name_the_file_without_its_directory(tmp_path: Path) -> None:
    answer = SqliteStore(tmp_path / "gone", "c").view()
    assert isinstance(answer, Failure)
    assert answer.failure().artefact == NAME
    assert str(tmp_path) not in answer.failure().detail


def test_a_store_opened_read_only_reads_and_changes_nothing(tmp_path: Path) -> None:
    writer = SqliteStore(tmp_path, "c")
    reader = SqliteStore(tmp_path, "c", read_only=True)
    assert problem_of(reader.create(Settings(), "a")) is StorageProblem.DENIED
    assert _contents(tmp_path) == {}
    writer.create(Settings(), "a").unwrap()
    writer.stage(Write((new_document("B.md", "one"),))).unwrap()
    view = reader.view().unwrap()
    assert len(view.live(1).unwrap()) == 1
    view.close()
    for answer in (reader.stage(Write()), reader.declare(1), reader.drop(), reader.recount("a", view_of)):
        assert problem_of(answer) is StorageProblem.DENIED


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_denied(tmp_path: Path) -> None:
    own(tmp_path / NAME, 3)
    (tmp_path / NAME).chmod(0)
    assert problem_of(SqliteStore(tmp_path, "c").view()) is StorageProblem.DENIED


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_command_line_lists_and_shows_an_older_store_and_names_the_remedy(tmp_path: Path, version: int) -> None:
    published(tmp_path / "default.sqlite3", PUBLISHED, version)
    before = _contents(tmp_path)
    listed = gk(tmp_path, "files", "--index-dir", ".", "--format", "paths")
    assert (listed.code, listed.stdout) == (0, b"/home/a.md\n/home/b.md\n")
    assert b"ingest again" in listed.stderr
    shown = gk(tmp_path, "show", "c1", "--index-dir", ".")
    assert shown.code == 0
    assert shown.stdout.endswith(b"text 1\n")
    assert gk(tmp_path, "show", "c9", "--index-dir", ".").code == 1
    for command in (("search", "text"), ("verify", "--all"), ("status",), ("ingest", str(tmp_path)), ("doctor",)):
        refused = gk(tmp_path, *command, "--index-dir", ".")
        assert (refused.code, refused.stdout) == (3, b""), command
        assert b"ingest again" in refused.stderr
    assert _contents(tmp_path).items() >= before.items()


def test_a_damaged_store_can_be_dropped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("tide " * 9000)
    assert gk(tmp_path, "ingest", ".").code == 0
    with open(tmp_path / ".groundkit" / "default.sqlite3", "r+b") as file:
        file.seek(16 * 1024)
        file.write(b"\xa5" * 64 * 1024)
    refused = gk(tmp_path, "search", "tide")
    assert refused.code == 3
    assert b"gk drop" in refused.stderr
    assert gk(tmp_path, "drop", "default", "--yes").code == 0
    assert sorted(each.name for each in (tmp_path / ".groundkit").iterdir()) == ["default.lock"]
    assert gk(tmp_path, "ingest", ".").code == 0
    assert gk(tmp_path, "search", "tide").code == 0


def test_a_file_of_another_program_is_not_dropped(tmp_path: Path) -> None:
    (tmp_path / ".groundkit").mkdir()
    other_program(tmp_path / ".groundkit" / "default.sqlite3")
    before = _contents(tmp_path / ".groundkit")
    assert gk(tmp_path, "drop", "default", "--yes").code == 3
    assert _contents(tmp_path / ".groundkit").items() >= before.items()


def test_a_store_without_the_columns_of_its_number_can_be_dropped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Some tide.")
    with groundkit.open(tmp_path / "index", base=tmp_path) as kb:
        kb.ingest("a.md")
    with closing(sqlite3.connect(tmp_path / "index" / "default.sqlite3")) as store:
        store.execute("ALTER TABLE state DROP COLUMN fetch_bytes")
        store.commit()
    with groundkit.open(tmp_path / "index", base=tmp_path) as kb:
        with pytest.raises(groundkit.StorageError, match="drop"):
            kb.search("tide")
        kb.drop()
        assert kb.ingest("a.md").added == 1

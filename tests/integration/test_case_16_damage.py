"""Damage of every file of a lexical index: found by the doctor, mended by its repair, never wrong hits in silence."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import gk, write

import groundkit

PAGES = {f"page{n}_md": f"# Page {n}\n\nneedle number{n} lorem {'ipsum ' * (n % 7)}dolor.\n" for n in range(60)}
QUERIES = ("needle", "lorem ipsum", "number7", '"needle number7"', "dolor sit")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("whole"), **PAGES)
    with groundkit.open(folder / ".groundkit", base=folder) as kb:
        kb.ingest([""])
        (folder / "page3.md").write_text("needle number3 again\n")
        (folder / "page4.md").unlink()
        kb.ingest([""])
    return folder


def answers(folder: Path) -> list[list[tuple[float, str]]]:
    with groundkit.open(folder / ".groundkit") as kb:
        return [[(hit.score, hit.chunk_id) for hit in kb.search(query, limit=100)] for query in QUERIES]


def lexical_files(folder: Path) -> list[Path]:
    found = [path for path in (folder / ".groundkit" / "default.lexical").rglob("*") if path.is_file()]
    return sorted(path for path in found if not path.name.endswith(".lock"))


def _truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x41
    path.write_bytes(data)


def _is_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: os.truncate(path, 0),
    "half": _truncated,
    "flipped": _flipped,
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0\1\2"),
    "garbage": lambda path: path.write_bytes(os.urandom(path.stat().st_size)),
    "a directory": _is_a_directory,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_damaged_file_is_found_and_mended(whole: Path, tmp_path: Path, damage: str) -> None:
    right = answers(whole)
    for number, original in enumerate(lexical_files(whole)):
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        path = folder / original.relative_to(whole)
        DAMAGE[damage](path)
        said = f"{original.name} {damage}"
        try:
            seen = answers(folder)
        except groundkit.StorageError as error:
            assert "gk doctor --repair" in str(error), f"{said}: {error}"
            seen = None
        with groundkit.open(folder / ".groundkit") as kb:
            diagnosis = kb.doctor()
            # A file that nothing is read from may be missed; one that changes an answer may not.
            if seen is None or seen != right:
                assert not diagnosis.healthy, f"{said}: wrong or no hits, and the doctor finds nothing"
            if original.suffix not in (".json", ".info"):
                assert not diagnosis.healthy, f"{said}: not found"
            assert all(each.repairable for each in diagnosis.findings), f"{said}: {diagnosis.findings}"
            repaired = kb.doctor(repair_index=True)
            assert repaired.healthy, f"{said}: {repaired.findings}"
        assert answers(folder) == right, said
        shutil.rmtree(folder)


def _emptied(path: Path) -> None:
    for each in path.rglob("*"):
        if each.is_file():
            each.unlink()


def _is_a_file(path: Path) -> None:
    shutil.rmtree(path)
    path.touch()


WHOLE_DIRECTORY: dict[str, Callable[[Path], object]] = {
    "emptied": _emptied,
    "gone": shutil.rmtree,
    "a file": _is_a_file,
}


@pytest.mark.parametrize("damage", WHOLE_DIRECTORY)
def test_a_damaged_directory_is_found_and_mended_at_the_command_line(whole: Path, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    WHOLE_DIRECTORY[damage](folder / ".groundkit" / "default.lexical")
    ran = gk(folder, "search", "needle")
    assert (ran.code, ran.out, "gk doctor --repair" in ran.err) == (3, "", True), ran.err
    found = gk(folder, "doctor")
    assert (found.code, "gk doctor --repair" in found.err) == (1, True), found.err
    assert json.loads(gk(folder, "doctor", "--format", "json").out)["healthy"] is False
    assert gk(folder, "verify", "--all").code == 0
    mended = gk(folder, "doctor", "--repair")
    assert mended.code == 0, mended.err
    assert answers(folder) == answers(whole)


def test_a_damaged_index_is_also_mended_by_the_next_ingest(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / ".groundkit" / "default.lexical")
    with groundkit.open(folder / ".groundkit") as kb:
        assert kb.ingest([""]).complete
    assert answers(folder) == answers(whole)


def test_a_damaged_store_is_said_and_not_mended_in_silence(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    store = folder / ".groundkit" / "default.sqlite3"
    data = bytearray(store.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = os.urandom(64)
    store.write_bytes(data)
    for command in (("search", "needle"), ("verify", "--all"), ("ingest", ".")):
        ran = gk(folder, *command)
        assert ran.code == 3, (command, ran.err)
        assert "default.sqlite3" in ran.err
        assert "Traceback" not in ran.err
    assert gk(folder, "doctor").code in (1, 3)


def test_a_list_names_a_store_that_cannot_be_read_beside_the_others(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    (folder / ".groundkit" / "other.sqlite3").write_bytes(b"not a database at all" * 100)
    ran = gk(folder, "list")
    assert ran.code == 3
    assert [line.split()[0] for line in ran.out.splitlines()] == ["collection", "default", "other"]
    told = json.loads(gk(folder, "list", "--format", "json").out)["collections"]
    assert [set(each) for each in told] == [{"collection", "documents", "chunks", "base"}, {"collection", "error"}]

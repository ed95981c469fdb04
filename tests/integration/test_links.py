"""What a link in an index directory leads to is nobody's business of ours: it is neither emptied nor changed."""

import os
from pathlib import Path

import pytest
from commands import gk, write

INDEX = ".groundkit"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    folder = tmp_path / "victim"
    for name in ("2023", "1"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.jpg").write_bytes(b"x")
        (folder / name / "a.jpg").chmod(0o644)
    return folder


def look(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        str(each.relative_to(folder)): (each.stat().st_mode, each.read_bytes() if each.is_file() else None)
        for each in (folder, *sorted(folder.rglob("*")))
    }


@pytest.mark.parametrize("existing", [True, False])
def test_a_linked_lexical_directory_is_replaced_and_what_it_leads_to_stays(
    tmp_path: Path, victim: Path, existing: bool
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    write(base, a_md="# tide\n\nalpha")
    if existing:
        assert gk(base, "ingest", ".").code == 0
        os.rename(base / INDEX / "default.lexical", tmp_path / "away")
    else:
        (base / INDEX).mkdir()
    (base / INDEX / "default.lexical").symlink_to(victim)
    before = look(victim)
    write(base, b_md="beta")
    assert gk(base, "ingest", ".").code == 0
    assert gk(base, "search", "beta").code == 0
    assert gk(base, "doctor", "--repair").code == 0
    assert not (base / INDEX / "default.lexical").is_symlink()
    assert gk(base, "drop", "default", "--yes").code == 0
    assert look(victim) == before
    assert sorted(each.name for each in (base / INDEX).iterdir()) == ["default.lock"]


def test_links_inside_a_build_are_neither_followed_nor_changed(tmp_path: Path, victim: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    write(base, a_md="alpha")
    assert gk(base, "ingest", ".").code == 0
    build = base / INDEX / "default.lexical" / "1"
    (build / "x").symlink_to(victim)
    (build / "y").symlink_to(victim / "1" / "a.jpg")
    (base / INDEX / "default.lexical" / "77").symlink_to(victim)
    before = look(victim)
    write(base, b_md="beta")
    assert gk(base, "ingest", ".").code == 0
    assert gk(base, "doctor", "--repair").code == 0
    assert look(victim) == before
    assert [each.name for each in (base / INDEX / "default.lexical").iterdir()] == ["2"]


def test_a_linked_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, a_md="alpha")
    assert gk(tmp_path / "one", "ingest", ".").code == 0
    (tmp_path / "two" / INDEX).mkdir()
    (tmp_path / "two" / INDEX / "default.sqlite3").symlink_to(tmp_path / "one" / INDEX / "default.sqlite3")
    for command in (("search", "alpha"), ("ingest", "."), ("drop", "default", "--yes")):
        ran = gk(tmp_path / "two", *command)
        assert ran.code == 3, command
        assert "link" in ran.err
    assert gk(tmp_path / "one", "verify", "--all").code == 0


def test_an_index_means_the_same_base_whatever_way_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "deep" / "base").mkdir(parents=True)
    write(tmp_path / "base", a_md="alpha")
    write(tmp_path / "deep" / "base", a_md="other")
    assert gk(tmp_path, "ingest", "base", "--index-dir", "idx", "--base-dir", "base").code == 0
    (tmp_path / "deep" / "way").symlink_to("../idx")
    assert gk(tmp_path, "verify", "--all", "--index-dir", "deep/way").code == 0
    refused = gk(tmp_path, "ingest", "deep/base", "--index-dir", "deep/way")
    assert refused.code == 2
    assert gk(tmp_path, "search", "alpha", "--index-dir", "deep/way").code == 0


@pytest.mark.parametrize(
    "arguments", [("ingest", ""), ("ingest", ".", "--max-bytes", "9223372036854775808"), ("ingest", ".", "")]
)
def test_requests_that_mean_nothing_are_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write(tmp_path, a_md="alpha")
    ran = gk(tmp_path, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert not (tmp_path / INDEX).exists()

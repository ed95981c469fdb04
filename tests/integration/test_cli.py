"""The command line's contract, on real processes: streams, exit codes, and that a refused request creates nothing."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import environment, gk, write

FERRIS = "# Ferris\n\nThe borrow checker rejects aliased mutation.\n\n## Lifetimes\n\nA lifetime names a region.\n"
NOTES = "Plain notes about the tide.\n\nThe tide turns twice a day.\n"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a collection over it, for tests that only read."""
    folder = write(tmp_path_factory.mktemp("kept"), ferris_md=FERRIS, notes_txt=NOTES)
    assert gk(folder, "ingest", ".").code == 0
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same, for tests that change it."""
    made = write(tmp_path / "docs", ferris_md=FERRIS, notes_txt=NOTES)
    assert gk(made, "ingest", ".").code == 0
    return made


def chunk_of(folder: Path, query: str) -> str:
    (line,) = gk(folder, "search", query, "-n", "1", "--format", "jsonl").out.splitlines()
    identifier: str = json.loads(line)["chunk_id"]
    return identifier


# -- what a first ingest makes


def test_the_index_directory_is_its_owners_alone(folder: Path) -> None:
    assert stat.S_IMODE((folder / ".groundkit").stat().st_mode) == 0o700


def test_a_second_ingest_finds_everything_unchanged(folder: Path) -> None:
    again = gk(folder, "ingest", ".")
    assert (again.code, again.err) == (0, "")
    assert again.out == "formats: Markdown 1, text 1\nadded 0, unchanged 2, removed 0, failed 0, chunks 0\n"


def test_removals_are_counted(folder: Path) -> None:
    (folder / "notes.txt").unlink()
    assert "removed 1" in gk(folder, "ingest", ".").out
    assert gk(folder, "search", "tide").code == 1


def test_an_emptied_directory_does_not_wipe_the_collection_unless_told_to(folder: Path) -> None:
    for name in ("notes.txt", "ferris.md"):
        (folder / name).unlink()
    held = gk(folder, "ingest", ".")
    assert held.code == 1
    assert "--prune-all" in held.err
    assert json.loads(gk(folder, "files", "--format", "json").out)["documents"]
    wiped = gk(folder, "ingest", ".", "--prune-all")
    assert (wiped.code, "removed 2" in wiped.out) == (0, True)


# -- exit codes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("search", "borrow"), 0),
        (("search", "borrow", "checker"), 0),
        (("search", "--limit", "1", "borrow"), 0),
        (("search", "borrow", "--limit", "1"), 0),
        (("search", "--", "checker -zeppelin"), 0),
        (("search", "--", "borrow source:*.md"), 0),
        (("search", 'borrow"'), 0),
        (("search", "nosuchfield:borrow AND ("), 0),
        (("search", "*"), 1),
        (("search", "--", "--"), 1),
        (("search", "zeppelin"), 1),
        (("search", "borrow", "--offset", "10"), 1),
        (("show", "zzzz"), 1),
        (("verify", "--all"), 0),
        (("verify", "zzzz"), 1),
        (("list",), 0),
        (("status",), 0),
        (("files",), 0),
        (("files", "--why", "ferris.md"), 0),
        (("files", "--why", "nothing.md"), 1),
        (("rm", "nothing.md"), 1),
        (("doctor",), 0),
        (("--help",), 0),
        (("--version",), 0),
        ((), 2),
        (("serch",), 2),
        (("search",), 2),
        (("search", "--lmit", "3", "x"), 2),
        (("search", "-borrow"), 2),
        (("search", "--", "-borrow"), 2),
        (("search", "source:*.md"), 2),
        (("search", "borrow", "--mode", "dense"), 2),
        (("search", ""), 2),
        (("search", " \t\n"), 2),
        (("search", "x", "--limit", "0"), 2),
        (("search", "x", "--limit", "many"), 2),
        (("search", "x", "-c", "nowhere"), 2),
        (("search", "x", "-c", "../up"), 2),
        (("search", "x", "-c", ""), 2),
        (("search", "x", "--format", "xml"), 2),
        (("show", ""), 2),
        (("verify",), 2),
        (("verify", "--all", "zzzz"), 2),
        (("files", "--why"), 2),
        (("files", "--why", ".."), 2),
        (("drop", "nowhere"), 2),
        (("ingest",), 2),
        (("ingest", "https://example.org/a?token=secret"), 1),
        (("completion", "tcsh"), 2),
    ],
)
def test_exit_codes(kept: Path, arguments: tuple[str, ...], code: int) -> None:
    ran = gk(kept, *arguments)
    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err
    assert "secret" not in ran.err
    if code == 2:
        assert ran.stdout == b""
        assert ran.err.strip()


def test_a_wrong_option_names_the_way_to_the_right_one(kept: Path) -> None:
    said = gk(kept, "search", "--lmit", "3", "x").err
    assert "--limit" in said
    assert "gk search --help" in said
    assert " -- " in gk(kept, "search", "-borrow").err


def test_a_query_of_a_megabyte_is_refused_in_a_sentence(kept: Path) -> None:
    # One argument of a process may hold 128 KB; many may hold more.
    ran = gk(kept, "search", *["word " * 20_000] * 11)
    assert ran.code == 2
    assert len(ran.stderr) < 300
    assert "characters" in ran.err


def test_nothing_to_say_on_stderr_when_all_is_well(kept: Path) -> None:
    for command in (("search", "borrow"), ("verify", "--all"), ("list",), ("status",), ("files",), ("doctor",)):
        assert gk(kept, *command).stderr == b""


def test_notices_and_errors_stay_off_stdout(kept: Path) -> None:
    assert gk(kept, "search", "zeppelin").stdout == b""
    assert gk(kept, "show", "zzzz").stdout == b""


# -- a request that cannot be carried out creates nothing


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "x"),
        ("show", "x"),
        ("verify", "--all"),
        ("list",),
        ("status",),
        ("files",),
        ("rm", "x"),
        ("drop", "x"),
        ("doctor",),
        ("doctor", "--repair"),
        ("ingest", "."),
        ("ingest", "empty"),
        ("ingest", ".", "-c", "no/name"),
        ("ingest", "full", "--chunk-size", "0"),
        ("ingest", "full", "--chunk-size", "100", "--chunk-overlap", "100"),
        ("ingest", "full", "--max-bytes", "0"),
        ("ingest", "full", "--language", "klingon"),
        ("ingest", "full", "--base-dir", "empty"),
        ("ingest", "full", "--base-dir", "nowhere"),
        ("ingest", "full", "--wrong"),
        ("ingest", "/", "--index-dir", "elsewhere"),
    ],
)
def test_a_refused_request_creates_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "empty").mkdir()
    if "full" in arguments:
        write(tmp_path / "full", a_md="text")
    before = sorted(tmp_path.rglob("*"))
    ran = gk(tmp_path, *arguments)
    assert ran.code == 2, ran.err
    assert ran.err.startswith(("gk: ", "Usage: "))
    assert "Traceback" not in ran.err
    assert sorted(tmp_path.rglob("*")) == before


def test_an_unknown_collection_names_those_there_are(kept: Path) -> None:
    assert "default" in gk(kept, "search", "x", "-c", "nowhere").err


# -- which index, which collection, which base


def test_the_index_is_found_on_the_way_up(folder: Path) -> None:
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    assert gk(below, "search", "borrow", "--format", "paths").out == "ferris.md:1:1\n"


def test_the_nearest_index_wins(folder: Path) -> None:
    inner = write(folder / "inner", own_md="borrow nothing")
    assert gk(inner, "ingest", ".", "--index-dir", ".groundkit").code == 0
    assert gk(inner, "search", "nothing", "--format", "paths").out == "own.md:1:1\n"


def test_an_option_wins_over_its_variable(folder: Path, tmp_path: Path) -> None:
    own = str(folder / ".groundkit")
    assert gk(tmp_path, "search", "borrow", GK_INDEX_DIR=own).code == 0
    assert gk(tmp_path, "search", "borrow", "--index-dir", own, GK_INDEX_DIR=str(tmp_path / "no")).code == 0
    assert gk(folder, "search", "borrow", GK_COLLECTION="nowhere").code == 2
    assert gk(folder, "search", "borrow", "-c", "default", GK_COLLECTION="nowhere").code == 0


def test_an_index_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    ran = gk(tmp_path, "search", "x", "--index-dir", "nowhere")
    assert (ran.code, "nowhere" in ran.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_base_is_the_folder_around_the_index_if_the_paths_lie_in_it(tmp_path: Path) -> None:
    write(tmp_path / "a", x_md="needle")
    assert gk(tmp_path, "ingest", "a").code == 0
    assert gk(tmp_path, "search", "needle", "--format", "paths").out == "a/x.md:1:1\n"


def test_the_base_is_the_given_folder_if_it_lies_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "deep", x_md="needle")
    (tmp_path / "desk").mkdir()
    assert gk(tmp_path / "desk", "ingest", "../docs").code == 0
    assert gk(tmp_path / "desk", "search", "needle", "--format", "paths").out == "deep/x.md:1:1\n"


def test_the_base_of_a_single_file_is_its_folder(tmp_path: Path) -> None:
    write(tmp_path / "docs", x_md="needle")
    (tmp_path / "desk").mkdir()
    assert gk(tmp_path / "desk", "ingest", "../docs/x.md").code == 0
    assert gk(tmp_path / "desk", "search", "needle", "--format", "paths").out == "x.md:1:1\n"


def test_the_base_of_several_folders_is_their_common_parent(tmp_path: Path) -> None:
    write(tmp_path / "lib" / "one", x_md="needle")
    write(tmp_path / "lib" / "two", y_md="needle")
    (tmp_path / "desk").mkdir()
    assert gk(tmp_path / "desk", "ingest", "../lib/one", "../lib/two").code == 0
    assert gk(tmp_path / "desk", "files", "--format", "paths").out == "one/x.md\ntwo/y.md\n"


def test_a_given_base_is_remembered(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "deep", x_md="needle")
    assert gk(tmp_path, "ingest", "docs/deep", "--base-dir", "docs").code == 0
    assert gk(tmp_path, "files", "--format", "paths").out == "deep/x.md\n"
    assert gk(tmp_path, "ingest", "docs").code == 0


def test_an_ingest_from_elsewhere_is_refused_with_the_ways_out(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", z_md="needle")
    for arguments in (("../other",), (".", "--base-dir", ".."), ("../other", "--base-dir", "../other")):
        ran = gk(folder, "ingest", *arguments)
        assert ran.code == 2
        assert "--collection" in ran.err
    assert gk(folder, "ingest", "../other", "-c", "second").code == 0
    assert gk(folder, "search", "needle", "-c", "second", "--format", "paths").out == "z.md:1:1\n"


def test_index_and_documents_can_move_together(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "far" / "away"
    moved.parent.mkdir()
    folder.rename(moved)
    assert gk(moved, "verify", "--all").code == 0
    assert gk(moved, "ingest", ".").out.startswith("formats: Markdown 1, text 1\nadded 0, unchanged 2")


def test_verify_can_look_below_another_base(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(folder / "ferris.md", copy)
    ran = gk(folder, "verify", "--all", "--base-dir", str(copy))
    assert ran.code == 1
    assert "source_missing" in ran.out
    assert "unresolvable 1" in ran.out
    assert gk(folder, "verify", "--all").code == 0


# -- sources that cannot be read


def _raw(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


BAD_SOURCES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "not UTF-8": (lambda p: _raw(p, b"fine so far\n\xff\xfe"), "not_text", "12"),
    "NUL": (lambda p: _raw(p, b"a\0b"), "not_text", "1"),
    "too large": (lambda p: _raw(p, b"x" * 5000), "too_large", "5000"),
    "FIFO": (os.mkfifo, "not_regular", "not a regular file"),
    "socket": (_socket, "not_regular", "not a regular file"),
}


@pytest.mark.parametrize("kind", BAD_SOURCES)
def test_a_bad_source_fails_alone_and_keeps_its_last_good_version(folder: Path, kind: str) -> None:
    spoil, reason, told = BAD_SOURCES[kind]
    (folder / "notes.txt").unlink()
    spoil(folder / "notes.txt")
    write(folder, new_md="A fresh page on zeppelins.")
    ran = gk(folder, "ingest", ".", "--max-bytes", "4000")
    assert ran.code == 1
    assert ran.out == "added 1, unchanged 1, removed 0, failed 1, chunks 1\n"
    assert "notes.txt" in ran.err
    assert told in ran.err
    (failure,) = json.loads(gk(folder, "status", "--format", "json").out)["failures"]
    assert (failure["source"], failure["reason"]) == ("notes.txt", reason)
    assert "notes.txt" in gk(folder, "status").out
    hit = json.loads(gk(folder, "search", "tide", "--format", "json").out)["hits"][0]
    assert hit["source"] == "notes.txt"
    assert hit["verification"]["verdict"] == "unresolvable"
    (folder / "notes.txt").unlink()
    write(folder, notes_txt=NOTES)
    assert gk(folder, "ingest", ".").code == 0
    assert json.loads(gk(folder, "status", "--format", "json").out)["failures"] == []


def test_a_named_file_that_is_gone_is_a_failure_and_keeps_what_was_stored(folder: Path) -> None:
    (folder / "notes.txt").unlink()
    ran = gk(folder, "ingest", "notes.txt", "ferris.md", "--format", "json")
    assert ran.code == 1
    (failure,) = json.loads(ran.out)["failed"]
    assert (failure["source"], failure["reason"]) == ("notes.txt", "source_missing")
    assert gk(folder, "search", "tide").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_and_directory_keep_what_they_held(folder: Path) -> None:
    write(folder / "sub", deep_md="Deep water.")
    assert gk(folder, "ingest", ".").code == 0
    (folder / "sub").chmod(0)
    (folder / "notes.txt").chmod(0)
    ran = gk(folder, "ingest", ".")
    (folder / "sub").chmod(0o700)
    assert (ran.code, "removed 0, failed 2" in ran.out) == (1, True)
    assert gk(folder, "search", "water").code == 0


# -- interruptions and closed pipes


def test_a_reader_that_goes_away_ends_it_silently(tmp_path: Path) -> None:
    write(tmp_path, big_md="\n\n".join(f"Paragraph {n} of many words." * 30 for n in range(600)))
    assert gk(tmp_path, "ingest", ".").code == 0
    ran = subprocess.Popen(
        [sys.executable, "-m", "groundkit", "verify", "--all", "--format", "jsonl"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ran.stdout is not None
    assert ran.stderr is not None
    with ran, ran.stdout as out, ran.stderr as err:
        assert json.loads(out.readline())["verification"]["verdict"] == "verified"
        out.close()
        assert err.read() == b""
        assert ran.wait(60) == 141


def test_ctrl_c_says_one_line(tmp_path: Path) -> None:
    for n in range(400):
        (tmp_path / f"{n}.md").write_text(f"# Page {n}\n\n" + "needle and thread " * 800)
    command = [sys.executable, "-m", "groundkit", "ingest", ".", "--wait", "60"]
    ran = subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with ran:
        while not (tmp_path / ".groundkit" / "default.sqlite3").exists():
            assert ran.poll() is None
        ran.send_signal(signal.SIGINT)
        out, err = ran.communicate(timeout=60)
    assert (ran.returncode, out) == (130, b"")
    assert err.decode().splitlines() == ["gk: interrupted; what was committed stays"]
    assert gk(tmp_path, "ingest", ".").code == 0
    assert gk(tmp_path, "doctor").code == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_answer_that_does_not_fit_on_the_disk_is_none(tmp_path: Path, unbuffered: str) -> None:
    (tmp_path / "c.jsonl").write_text('{"schema": 1}\n' * 4000)
    limited = 'ulimit -f 512; exec "$0" -m groundkit verify --file c.jsonl --format json > answer'
    ran = subprocess.run(
        ["sh", "-c", limited, sys.executable],
        cwd=tmp_path,
        env=environment(PYTHONUNBUFFERED=unbuffered),
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, b"the machine said no" in ran.stderr) == (3, True), ran.stderr
    assert 0 < (tmp_path / "answer").stat().st_size <= 512 * 1024


@pytest.mark.parametrize(
    ("command", "code"), [("verify --file -", 2), ("cite", 0), ("cite --hits - notes.txt", 0), ("ingest --from -", 2)]
)
def test_a_closed_standard_input_holds_nothing(kept: Path, command: str, code: int) -> None:
    ran = subprocess.run(
        ["sh", "-c", f'exec "$0" -m groundkit {command} <&-', sys.executable],
        cwd=kept,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, b"Traceback" in ran.stderr) == (code, False), ran.stderr


# -- removing


def test_rm_takes_sources_as_listed_or_as_paths_from_here(folder: Path) -> None:
    write(folder / "sub", a_md="needle", b_md="needle")
    assert gk(folder, "ingest", ".").code == 0
    assert gk(folder / "sub", "rm", "a.md").out == "removed 1\n"
    assert gk(folder, "rm", "sub").out == "removed 1\n"
    mixed = gk(folder, "rm", "ferris.md", "nothing.md")
    assert (mixed.code, mixed.out, "nothing.md" in mixed.err) == (1, "removed 1\n", True)
    assert (folder / "ferris.md").exists()
    assert gk(folder, "files", "--format", "paths").out == "notes.txt\n"


def test_a_dropped_collection_is_unknown_and_leaves_only_its_lock(folder: Path) -> None:
    assert gk(folder, "drop", "default").out == "dropped default\n"
    assert [path.name for path in (folder / ".groundkit").iterdir()] == ["default.lock"]
    assert gk(folder, "search", "borrow").code == 2
    assert gk(folder, "drop", "default").code == 2
    assert gk(folder, "list").code == 1
    assert json.loads(gk(folder, "list", "--format", "json").out)["collections"] == []
    assert gk(folder, "ingest", ".").out.startswith("formats: Markdown 1, text 1\nadded 2")


# -- the machine says no


def test_a_busy_collection_is_exit_3_and_names_its_holder(folder: Path) -> None:
    import fcntl

    with (folder / ".groundkit" / "default.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (("ingest", "."), ("rm", "ferris.md"), ("drop", "default", "-y"), ("doctor", "--repair")):
            ran = gk(folder, *command, "--wait", "0")
            assert ran.code == 3, ran.err
            assert "another process" in ran.err
        assert gk(folder, "search", "borrow").code == 0


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    content = b"not a database at all" * 100
    write(tmp_path, a_md="text")
    (tmp_path / ".groundkit").mkdir(0o700)
    store = tmp_path / ".groundkit" / "default.sqlite3"
    store.write_bytes(content)
    for command in (("search", "x"), ("ingest", "."), ("status",), ("doctor",), ("drop", "default")):
        ran = gk(tmp_path, *command)
        assert (ran.code, "Traceback" in ran.err) == (3, False), ran.err
        assert ran.err.startswith("gk: ")
    assert store.read_bytes() == content


def test_an_index_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a_md="text", index_txt="mine")
    ran = gk(tmp_path, "ingest", "a.md", "--index-dir", "index.txt")
    assert (ran.code, "Traceback" in ran.err) == (3, False), ran.err
    assert (tmp_path / "index.txt").read_text() == "mine"


# -- completion


def test_the_bash_script_completes_commands_and_options(kept: Path, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    shim = tmp_path / "gk"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m groundkit "$@"\n')
    shim.chmod(0o755)
    (tmp_path / "gk.bash").write_text(gk(kept, "completion", "bash").out)
    script = (
        'source "$1"; COMP_WORDS=(gk ver); COMP_CWORD=1; _gk_completion "$2"; echo "${COMPREPLY[@]}"; '
        'COMP_WORDS=(gk search --form); COMP_CWORD=2; COMPREPLY=(); _gk_completion "$2"; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [bash, "-c", script, "-", tmp_path / "gk.bash", shim],
        cwd=kept,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.stdout.decode().split() == ["verify", "--format"], done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_their_script(kept: Path, shell: str) -> None:
    assert "_GK_COMPLETE" in gk(kept, "completion", shell).out


def test_a_mistyped_path_makes_nothing_where_there_is_nothing_yet(tmp_path: Path) -> None:
    for name in ("dosc", "/no/such/place"):
        ran = gk(tmp_path, "ingest", name)
        assert (ran.code, ran.out) == (1, "")
        assert "no such file or directory" in ran.err
        assert name in ran.err
    assert not list(tmp_path.iterdir())


def test_a_new_collection_is_announced_once_with_where_it_is(tmp_path: Path) -> None:
    write(tmp_path, a_md="# tide")
    assert (
        f"new collection default in {tmp_path}/.groundkit, base directory {tmp_path}" in gk(tmp_path, "ingest", ".").err
    )
    assert "new collection" not in gk(tmp_path, "ingest", ".").err


def test_a_source_is_named_by_its_path_from_here_or_as_it_is_listed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path, a_md="# tide")
    gk(tmp_path, "ingest", ".")
    for folder, name in ((tmp_path, "a.md"), (tmp_path / "sub", "../a.md"), (tmp_path / "sub", "a.md")):
        assert gk(folder, "files", name, "--format", "paths").out == "a.md\n"
        assert gk(folder, "files", "--why", name).out.startswith("a.md: taken")
    assert gk(tmp_path / "sub", "files", "b.md").err == "no sources in b.md\n"

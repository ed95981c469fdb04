"""Whatever documents, names and errors hold, a terminal gets no control character; JSON gets the real text."""

import json
import os
import pty
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from commands import Ran, environment, gk
from shared import shared

EVIL = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 back\x08space \x9b2J rtl \u202egnp \u2066iso\u2069 bom \ufeff zero\u200bwidth"
)
NAMES = {
    b"new\nline.md": "new\nline.md",
    b"tab\there.md": "tab\there.md",
    b"esc\x1b[31m.md": "esc\x1b[31m.md",
    "RTL\u202egnp.md".encode(): "RTL\u202egnp.md",
    b"-rf.md": "-rf.md",
    b"$(touch pwned).md": "$(touch pwned).md",
}


def raw(ran: Ran) -> list[str]:
    """The control and format characters, other than line breaks, that a process printed."""
    return [c for c in ran.out + ran.err if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil")
    for name in NAMES:
        (folder / os.fsdecode(name)).write_text(f"# Heading {EVIL}\n\nneedle {EVIL}\n", "utf-8")
    (folder / os.fsdecode(b"bad\xff\x1b[2J.md")).write_text("needle")
    (folder / os.fsdecode(b"not\x1btext.md")).write_bytes(b"\xff")
    (folder / os.fsdecode(b"odd.\x1b[31msuffix")).write_bytes(b"needle")
    (folder / os.fsdecode(b"link\x1b.md")).symlink_to(os.fsdecode(b"to\x1b[31m\xffnowhere"))
    (folder / ".gkignore").write_text("ignored\x1b*\n")
    (folder / "ignored\x1b[31m.md").write_text("needle")
    ran = gk(folder, "ingest", ".")
    assert (ran.code, raw(ran)) == (1, [])
    assert ran.out.startswith(f"added {len(NAMES)}, ")
    return folder


def test_every_name_is_found_and_its_real_text_is_in_the_json(evil: Path) -> None:
    ran = gk(evil, "search", "needle", "-n", "50", "--format", "json")
    hits = json.loads(ran.stdout.decode("utf-8"))["hits"]
    assert {hit["source"] for hit in hits} == set(NAMES.values())
    assert all(EVIL in hit["text"] and hit["verification"]["verdict"] == "verified" for hit in hits)
    assert b"\x1b" not in ran.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("search", "needle", "-n", "50"),
        ("search", "needle", "-n", "50", "--full"),
        ("search", "needle", "-n", "50", "--format", "md"),
        ("search", "needle", "-n", "50", "--format", "paths"),
        ("search", "needle", "-n", "50", "--format", "json"),
        ("search", "needle", "-n", "50", "--format", "jsonl"),
        ("verify", "--all", "-v"),
        ("verify", "--all", "--format", "jsonl"),
        ("files",),
        ("files", "--format", "paths"),
        ("files", "--format", "jsonl"),
        ("files", "--skipped"),
        ("files", "--skipped", "--format", "jsonl"),
        ("files", "--why", "ignored\x1b[31m.md"),
        ("files", "--why", b"bad\xff\x1b[2J.md"),
        ("files", "--why", b"link\x1b.md"),
        ("files", "--why", "nothing\x1b[31m\u202e.md"),
        ("files", b"gone\xff\x1b[31m"),
        ("status",),
        ("status", "--format", "json"),
        ("list",),
        ("doctor",),
        ("show", "\x1b[31mnothing"),
        ("show", b"\xff\x1b"),
        ("verify", "\x1b[31mnothing\n"),
        ("search", "zeppelin\x1b[31m"),
        ("search", b"zeppelin\xff\x1b"),
        ("search", "needle", "-c", "a\x1b[31m\u202e"),
        ("search", "needle", "--\x1b[31moption"),
        ("search", "needle", "--limit", "\x1b[31m\xff"),
        ("search", "needle", "--index-dir", "no\x1b[31m\u202ewhere"),
        ("\x1b[31mcommand",),
        ("rm", "nothing\x1b[31m\n"),
        ("rm", b"nothing\xff\x1b"),
        ("drop", "nothing\x1b"),
        ("ingest", b"gone\xff\x1b[31m.md"),
        ("ingest", "gone\x1b[31m\n.md"),
        ("ingest", "../out\x1b[31m\u202e"),
        ("ingest", "https://exa\x1b[31mmple.org/"),
    ],
    ids=repr,
)
def test_no_command_prints_a_control_character(evil: Path, command: tuple[str | bytes, ...]) -> None:
    ran = gk(evil, *command)
    assert ran.code in (0, 1, 2), ran.err
    assert raw(ran) == []
    assert "Traceback" not in ran.err


def test_errors_keep_to_one_line(evil: Path) -> None:
    for command in (("show", "a\nb\rc"), ("rm", "a\nb"), ("search", "x", "-c", "a\nb")):
        assert len([line for line in gk(evil, *command).err.splitlines() if line != "removed 0"]) == 1


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_no_colour_where_none_is_wanted(evil: Path, setting: dict[str, str]) -> None:
    assert raw(gk(evil, "search", "needle", **setting)) == []


def test_colours_where_they_are_wanted_and_nothing_else(evil: Path) -> None:
    for ran in (gk(evil, "search", "needle", FORCE_COLOR="1"), gk(evil, "search", "needle", "--color", "always")):
        escapes = set(ran.out.split("\x1b")[1:])
        assert escapes
        # Each is a styling of ours, `[…m`; what came from a document was shown, not sent.
        assert all(each.startswith("[") and each[1:].split("m", 1)[0].replace(";", "").isdigit() for each in escapes)
        assert set(raw(ran)) == {"\x1b"}
    assert raw(gk(evil, "search", "needle", "--color", "never", FORCE_COLOR="1")) == []


def on_a_terminal(folder: Path, *arguments: str, answer: str = "", **more: str) -> tuple[int, str]:
    """What a process writes when all its streams are one terminal."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    try:
        started = subprocess.Popen(
            [sys.executable, "-m", "groundkit", *arguments],
            cwd=folder, env=environment(TERM="xterm", **more), stdin=theirs, stdout=theirs, stderr=theirs,
        )  # fmt: skip
    finally:
        os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    return started.wait(60), b"".join(parts).decode()


def test_a_terminal_gets_colours_and_a_progress_bar(evil: Path, tmp_path: Path) -> None:
    code, seen = on_a_terminal(evil, "search", "needle", "-n", "1")
    assert (code, "\x1b[32m✓ verified" in seen) == (0, True)
    assert "\x1b[31mred" not in seen
    for n in range(40):
        (tmp_path / f"{n}.md").write_text("needle")
    code, seen = on_a_terminal(tmp_path, "ingest", ".")
    assert (code, "━" in seen, "added 40" in seen) == (0, True, True)
    assert "\x1b" not in on_a_terminal(evil, "search", "needle", NO_COLOR="1")[1]


def test_a_drop_is_asked_about_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("needle")
    assert gk(tmp_path, "ingest", ".").code == 0
    code, seen = on_a_terminal(tmp_path, "drop", "default", answer="n\n")
    assert (code, "1 documents?" in seen, "nothing dropped" in seen) == (1, True, True)
    assert gk(tmp_path, "list").code == 0
    assert on_a_terminal(tmp_path, "drop", "default", answer="y\n")[0] == 0
    assert gk(tmp_path, "list").code == 1


def test_odd_file_names_are_ingested_or_skipped_with_a_reason(tmp_path: Path) -> None:
    make = shared("cases/18-odd-filenames") / "make.py"
    tree = tmp_path / "tree"
    # It goes down until names get too long, and how it ends depends on where it starts.
    subprocess.run([sys.executable, make, tree], check=False, capture_output=True)
    ran = gk(tmp_path, "ingest", "tree", "--format", "json")
    report = json.loads(ran.out)
    assert (ran.code, report["failed"]) == (0, [])
    there = {os.fsencode(path) for path in tree.rglob("*") if path.is_file() or not path.is_dir()}
    documents = json.loads(gk(tmp_path, "files", "--format", "json").out)["documents"]
    skipped = json.loads(gk(tmp_path, "files", "tree", "--skipped", "--format", "json").out)["skipped"]
    below_base = {os.fsencode(os.path.relpath(os.fsdecode(path), tmp_path)) for path in there}
    taken = {each["source"].encode() for each in documents}
    assert taken <= below_base
    assert len(taken) + len(skipped) == len(below_base)
    assert {each["reason"] for each in skipped} == {"hidden", "name_not_utf8", "unknown_suffix"}
    found = gk(tmp_path, "search", "needle", "-n", "500")
    assert (found.code, raw(found)) == (0, [])
    hits = json.loads(gk(tmp_path, "search", "needle", "-n", "500", "--format", "json").out)["hits"]
    assert {hit["source"].encode() for hit in hits} == taken
    assert {hit["verification"]["verdict"] for hit in hits} == {"verified"}
    assert not (tmp_path / "pwned").exists()

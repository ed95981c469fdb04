"""Real files at their worst: odd names, loops of links, depth, special files, rights, change."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from shared import shared

from groundkit.adapters.files import Files
from groundkit.core.decoding import TextProblem, decode
from groundkit.core.result import Failure, Success
from groundkit.core.sources import ReadProblem
from groundkit.core.walking import (
    Decision,
    Found,
    FoundFailed,
    FoundFile,
    FoundSkipped,
    SkipReason,
    WalkRequest,
    source_of,
)

LIMIT = 10_000_000
ALL = WalkRequest(("",))


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    with closing(Files(tmp_path, tmp_path / "index")) as reader:
        yield reader


def make_case(name: str, target: Path) -> None:
    subprocess.run([sys.executable, shared(f"cases/{name}/make.py"), target], check=True, capture_output=True)


def by_source(found: list[Found]) -> dict[str, Found]:
    told = {source_of(each): each for each in found}
    assert len(told) == len(found)
    return told


def in_child(code: str, *arguments: str | Path) -> str:
    """What a fresh interpreter prints; what it imports is imported before it gives anything up."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_odd_name_is_found_or_passed_over_for_a_reason(files: Files, tmp_path: Path) -> None:
    make_case("18-odd-filenames", tmp_path)
    found = list(files.walk(ALL))
    told = by_source(found)
    on_disk = [os.path.join(folder, name) for folder, _, names in os.walk(os.fsencode(tmp_path)) for name in names]
    assert len(told) == len(on_disk)
    skipped = {each.reason for each in found if isinstance(each, FoundSkipped)}
    assert skipped == {SkipReason.HIDDEN, SkipReason.UNKNOWN_SUFFIX, SkipReason.NAME_NOT_UTF8}
    assert told["bad\\xff\\xfe.txt"] == FoundSkipped("bad\\xff\\xfe.txt", SkipReason.NAME_NOT_UTF8, "bad\\xff\\xfe.txt")
    for each in found:
        assert not isinstance(each, FoundFailed)
        source_of(each).encode("utf-8")
        if isinstance(each, FoundFile):
            assert b"needle" in files.read(each.source, LIMIT).unwrap().data
    assert {"cafe\u0301.md", "caf\u00e9.md", "back\\slash.md", "new\nline.md", "-rf.md", "http:__x.md", "UP.MD"} < {
        each.source for each in found if isinstance(each, FoundFile)
    }


def test_loops_of_links_end_and_lead_nowhere(files: Files, tmp_path: Path) -> None:
    make_case("20-symlink-loop", tmp_path)
    found = list(files.walk(ALL))
    told = by_source(found)
    assert [each.source for each in found if isinstance(each, FoundFile)] == ["a/b/one.md", "c/hard.md", "c/two.md"]
    assert told["rootlink"] == FoundSkipped("rootlink", SkipReason.SYMLINK, "/")
    assert sum(isinstance(each, FoundSkipped) for each in found) == sum(
        (Path(folder) / name).is_symlink() for folder, _, names in _entries(tmp_path) for name in names
    )
    refused = files.read("rootlink/etc/passwd", LIMIT).failure()
    assert (refused.problem, refused.detail) == (ReadProblem.OUTSIDE_BASE, "rootlink is a symbolic link to /")


def _entries(base: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, names in os.walk(base):
        yield folder, folders, [*folders, *names]


def dig(base: Path, depth: int, width: int) -> None:
    """A tree so deep that its paths are too long for the system: in every directory a file and two directories."""
    above = os.open(base, os.O_RDONLY)
    for level in range(depth):
        os.close(os.open("d.md", os.O_CREAT | os.O_WRONLY, dir_fd=above))
        os.mkdir("z", dir_fd=above)
        name = f"{level:0{width}d}"
        os.mkdir(name, dir_fd=above)
        below = os.open(name, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)


def fill_in(base: Path, depth: int, width: int) -> None:
    """Take the tree away again from its top, for what else removes trees recurses or takes long over this one."""
    for level in range(depth):
        (base / "d.md").unlink()
        (base / "z").rmdir()
        (base / f"{level:0{width}d}").rename(base / "top")
        for entry in list((base / "top").iterdir()):
            entry.rename(base / entry.name)
        (base / "top").rmdir()


@pytest.mark.parametrize(("depth", "width"), [(120, 60), (1100, 4)])
def test_depth_costs_neither_recursion_nor_descriptors(tmp_path: Path, depth: int, width: int) -> None:
    dig(tmp_path, depth, width)
    code = """
import resource, sys
from pathlib import Path
from groundkit.adapters.files import Files
from groundkit.core.walking import WalkRequest
resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
files = Files(Path(sys.argv[1]))
found = list(files.walk(WalkRequest(("",))))
sources = [each.source for each in found]
assert sources == sorted(sources)
deepest = max(sources, key=len)
print(len(found), deepest.count("/"), files.read(deepest, 10).unwrap().data, files.explain(deepest).decision.value)
"""
    printed = in_child(code, tmp_path)
    fill_in(tmp_path, depth, width)
    assert printed == f"{depth} {depth - 1} b'' taken\n"


def test_a_walk_that_is_given_up_leaves_no_descriptor_open(files: Files, tmp_path: Path) -> None:
    dig(tmp_path, 40, 2)
    before = len(os.listdir("/dev/fd"))
    walk = files.walk(ALL)
    for _ in range(30):
        next(walk)
    assert len(os.listdir("/dev/fd")) > before
    walk.close()  # type: ignore[attr-defined]
    assert len(os.listdir("/dev/fd")) == before


def put_fifo(path: Path) -> None:
    os.mkfifo(path)


def put_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's address may be no longer than some hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("put", [put_fifo, put_socket, Path.mkdir], ids=["fifo", "socket", "directory"])
def test_what_stands_in_the_place_of_a_file_is_refused_at_once(
    files: Files, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    put(tmp_path / "a.md")
    assert files.read("a.md", LIMIT).failure().problem is ReadProblem.NOT_REGULAR


def test_a_device_is_not_read() -> None:
    with closing(Files(Path("/dev"))) as devices:
        for name in ("zero", "tty", "null"):
            refused = devices.read(name, LIMIT).failure()
            assert refused.problem in (ReadProblem.NOT_REGULAR, ReadProblem.UNREADABLE)
        named = next(devices.walk(WalkRequest(("zero",))))
        assert isinstance(named, FoundFailed)
        assert named.failure.problem is ReadProblem.NOT_REGULAR


def test_a_file_with_holes_of_eight_gigabytes_is_refused_by_its_size(files: Files, tmp_path: Path) -> None:
    with (tmp_path / "sparse.md").open("wb") as sparse:
        sparse.truncate(8 * 1024**3)
    refused = files.read("sparse.md", LIMIT).failure()
    assert refused.problem is ReadProblem.TOO_LARGE
    assert str(8 * 1024**3) in refused.detail


def test_what_cannot_be_opened_fails_and_the_rest_is_found(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to be root, to give its rights up; the rights of others are tested so")
    tmp_path.chmod(0o755)
    for folder in ("closed", "entered", "rules"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text("text")
    (tmp_path / "b.md").write_text("text")
    (tmp_path / "secret.md").write_text("text")
    (tmp_path / "rules" / ".gitignore").write_text("")
    for path, mode in {"closed": 0o000, "entered": 0o711, "secret.md": 0o000, "rules/.gitignore": 0o000}.items():
        (tmp_path / path).chmod(mode)
    code = """
import os, sys
from pathlib import Path
import groundkit.adapters.files.survey
from groundkit.adapters.files import Files
from groundkit.core.result import Success
from groundkit.core.walking import FoundFailed, FoundFile, WalkRequest, source_of
files = Files(Path(sys.argv[1]))
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for each in files.walk(WalkRequest(("",))):
    print(source_of(each), type(each).__name__, files.explain(source_of(each)).decision.value)
    if isinstance(each, FoundFailed):
        print(each.failure.problem.value, each.directory)
for each in files.walk(WalkRequest(("closed/a.md", "entered/a.md", "entered", "closed"))):
    print(source_of(each), type(each).__name__)
for name in ("secret.md", "closed/a.md", "entered/a.md"):
    read = files.read(name, 100)
    print(read.unwrap().data if isinstance(read, Success) else read.failure().problem.value)
"""
    assert in_child(code, tmp_path).splitlines() == [
        "b.md FoundFile taken",
        "closed FoundFailed failed",
        "source_unreadable True",
        "entered FoundFailed failed",
        "source_unreadable True",
        "rules FoundFailed failed",
        "source_unreadable True",
        "secret.md FoundFile taken",
        "closed FoundFailed",
        "closed/a.md FoundFailed",
        "entered FoundFailed",
        "entered/a.md FoundFile",
        "source_unreadable",
        "source_unreadable",
        "b'text'",
    ]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs a file system whose files have no size")
def test_a_file_whose_size_does_not_hold_is_changing() -> None:
    with closing(Files(Path("/proc/self"))) as process:
        assert process.read("status", LIMIT).failure().problem is ReadProblem.CHANGING
        assert process.read("status", 10).failure().problem is ReadProblem.TOO_LARGE


def test_while_a_file_grows_a_read_is_whole_or_refused(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "growing.md"
    path.write_bytes(b"")
    over = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as out:
            while not over.is_set() and out.tell() < LIMIT // 5:
                out.write(b"0123456789" * 100)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        results = [files.read("growing.md", 2 * LIMIT) for _ in range(100)]
    finally:
        over.set()
        writer.join()
    for result in results:
        if isinstance(result, Success):
            assert len(result.unwrap().data) % 1000 == 0
        else:
            assert result.failure().problem is ReadProblem.CHANGING
    assert files.read("growing.md", 2 * LIMIT).unwrap().data == path.read_bytes()


def test_while_a_file_is_rewritten_in_place_no_version_is_mixed(files: Files, tmp_path: Path) -> None:
    path, size = tmp_path / "rewritten.md", 2_000_000
    path.write_bytes(b"a" * size)
    over = threading.Event()

    def rewrite() -> None:
        with path.open("r+b", buffering=0) as out:
            for turn in range(1_000_000):
                if over.is_set():
                    return
                os.pwrite(out.fileno(), b"abcdefgh"[turn % 8 : turn % 8 + 1] * size, 0)
                # Now and then there is time for a whole read.
                over.wait(0.15 if turn % 400 == 399 else 0)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        results = [files.read("rewritten.md", LIMIT) for _ in range(25)]
    finally:
        over.set()
        writer.join()
    results.append(files.read("rewritten.md", LIMIT))
    read = [result.unwrap().data for result in results if isinstance(result, Success)]
    assert read
    assert [len(set(data)) for data in read] == [1] * len(read)
    refused = {result.failure().problem for result in results if isinstance(result, Failure)}
    assert refused <= {ReadProblem.CHANGING}


def test_a_file_with_a_time_of_its_own_is_read(files: Files, tmp_path: Path) -> None:
    for name, time in (("past.md", 0), ("future.md", 4_000_000_000)):
        (tmp_path / name).write_text("text")
        os.utime(tmp_path / name, (time, time))
        assert files.read(name, LIMIT).unwrap().data == b"text"


def test_a_file_that_vanishes_after_the_walk_is_missing(files: Files, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    found = next(files.walk(ALL))
    (tmp_path / "a.md").unlink()
    assert files.read(source_of(found), LIMIT).failure().problem is ReadProblem.MISSING


def test_a_directory_that_is_swapped_never_shows_what_is_outside(tmp_path: Path) -> None:
    base, outside = tmp_path / "base", tmp_path / "outside"
    (base / "d").mkdir(parents=True)
    (base / "d" / "a.md").write_text("inside")
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    (tmp_path / "link").symlink_to(outside)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            os.rename(base / "d", tmp_path / "kept")
            os.rename(tmp_path / "link", base / "d")
            os.rename(base / "d", tmp_path / "link")
            os.rename(tmp_path / "kept", base / "d")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        with closing(Files(base)) as files:
            results = [files.read("d/a.md", LIMIT) for _ in range(3000)]
            walks = [list(files.walk(ALL)) for _ in range(300)]
    finally:
        over.set()
        swapper.join()
    problems = (ReadProblem.OUTSIDE_BASE, ReadProblem.MISSING)
    assert all(
        result.failure().problem in problems if isinstance(result, Failure) else result.unwrap().data == b"inside"
        for result in results
    )
    assert {source_of(each) for walk in walks for each in walk} <= {"d", "d/a.md"}


def test_a_directory_that_was_renamed_is_not_read_under_its_old_name(files: Files, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("old")
    assert files.read("d/a.md", LIMIT).unwrap().data == b"old"
    (tmp_path / "d").rename(tmp_path / "e")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("new")
    assert files.read("d/a.md", LIMIT).unwrap().data == b"new"


def test_the_index_directory_is_not_walked_whatever_its_name(files: Files, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "a.md").write_text("text")
    (tmp_path / "b.md").write_text("text")
    told = by_source(list(files.walk(ALL)))
    assert told["index"] == FoundSkipped("index", SkipReason.INDEX_DIRECTORY, "index")
    assert list(told) == ["b.md", "index"]
    assert files.explain("index/a.md").decision is Decision.SKIPPED
    assert [type(each) for each in files.walk(WalkRequest(("index",)))] == [FoundSkipped]


def test_the_base_may_be_a_link_and_is_opened_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(name)
    (tmp_path / "base").symlink_to("one")
    with closing(Files(tmp_path / "base")) as files:
        (tmp_path / "base").unlink()
        (tmp_path / "base").symlink_to("two")
        assert files.read("a.md", LIMIT).unwrap().data == b"one"


@pytest.mark.parametrize("name", ["gone", "file"])
def test_a_base_that_is_no_directory_is_said_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=name):
        Files(tmp_path / name)


def test_bytes_that_are_no_text_are_refused_with_their_place() -> None:
    folder = shared("cases/23-newline-bom-offsets")
    refused = {
        path.name: answer.failure()
        for path in sorted(folder.glob("*.txt"))
        if isinstance(answer := decode(path.read_bytes()), Failure)
    }
    assert {"cp1252.txt", "latin1.txt", "utf16le-bom.txt", "utf32le.txt", "utf8-broken-tail.txt"} <= set(refused)
    assert {"overlong-surrogate.txt", "utf16be-nobom.txt"} <= set(refused)
    for name, why in refused.items():
        data = (folder / name).read_bytes()
        assert data[why.offset] == why.byte
        data[: why.offset].decode("utf-8")


def test_nul_is_binary_and_other_control_characters_are_text() -> None:
    folder = shared("cases/25-nul-and-control")
    answers = {
        path.name: decode(path.read_bytes())
        for path in folder.iterdir()
        if path.name != "README.md" and path.suffix in (".md", ".txt")
    }
    problems = {name: answer.failure().problem for name, answer in answers.items() if isinstance(answer, Failure)}
    assert set(answers) - set(problems) == {
        "ansi.md", "bidi-override.md", "empty.md", "only-bom.md", "only-space.txt", "zero-width.txt",
    }  # fmt: skip
    assert problems["nul.txt"] is TextProblem.HOLDS_NUL
    assert "binary-named.md" in problems

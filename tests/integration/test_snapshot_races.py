"""Kept files while somebody swaps names under them, while the disk fills up, and while their writer is killed."""

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import settings

from groundkit.adapters.snapshot_files import KeptDirectory
from groundkit.core.result import Failure, Success
from groundkit.core.snapshots import is_snapshot_name
from groundkit.core.storage import KeptListing
from groundkit.testing.kept_contract import NAMES

pytestmark = pytest.mark.slow

DIRECTORY = "c.snapshots"
NAME, OTHER = NAMES[:2]
OURS = (b"the text that was put", b"and another one " * 500)
THEIRS, SECRET = b"theirs", b"what lies outside"
NIGHTLY = settings().max_examples >= 1000
#: Of both races together.
TRIES = 20_000 if NIGHTLY else 4_000
KILLS = 200 if NIGHTLY else 20
NOT_HERE = 77


def kept_in(index: Path) -> KeptDirectory:
    return KeptDirectory(index, DIRECTORY, is_snapshot_name)


def script(source: str, *arguments: str | Path, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    command = [*before, sys.executable, "-B", "-c", dedent(source), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# Of a name: by descriptor, so that it is not itself led outside. Of the directory: a put may make a new one meanwhile.
SWAPPERS = {
    "the name": """
        import os, sys
        from contextlib import suppress
        index, outside, name = sys.argv[1:]
        here = os.open(f"{index}/c.snapshots", os.O_RDONLY)
        with open(os.open("theirs", os.O_WRONLY | os.O_CREAT, dir_fd=here), "wb") as file:
            file.write(b"theirs")
        print("ready", flush=True)
        while True:
            os.symlink(f"{outside}/{name}", "link", dir_fd=here)
            os.replace("link", name, src_dir_fd=here, dst_dir_fd=here)
            os.link("theirs", "file", src_dir_fd=here, dst_dir_fd=here)
            os.replace("file", name, src_dir_fd=here, dst_dir_fd=here)
            # Where it has that very file already, nothing is replaced.
            with suppress(FileNotFoundError):
                os.unlink("file", dir_fd=here)
    """,
    "the directory": """
        import os, sys
        from contextlib import suppress
        from itertools import count
        index, outside, name = sys.argv[1:]
        os.chdir(index)
        print("ready", flush=True)
        for each in count():
            with suppress(OSError):
                os.rename("c.snapshots", "aside")
            with suppress(OSError):
                os.symlink(outside, "c.snapshots")
            with suppress(OSError):
                os.unlink("c.snapshots")
            try:
                os.rename("aside", "c.snapshots")
            except OSError:
                with suppress(OSError):
                    os.rename("c.snapshots", f"trash{each}")
    """,
}


def tried(kept: KeptDirectory, turn: int) -> str:
    """One access, what came of it, and nothing read that was not put here."""
    if turn % 4 == 1:
        put = kept.put(NAME, OURS[turn // 4 % 2])
        return "put" if isinstance(put, Success) else put.failure().problem.value
    if turn % 4 == 3:
        removed = kept.remove(NAME)
        return "removed" if isinstance(removed, Success) else removed.failure().problem.value
    found = kept.get(NAME)
    if isinstance(found, Failure):
        return found.failure().detail
    assert found.unwrap() in (*OURS, THEIRS)
    return "read"


def everything_met(outcomes: Counter[str]) -> bool:
    return all(outcomes[each] for each in ("read", "put", "removed")) and any(
        "symbolic link" in met for met in outcomes
    )


def raced(kept: KeptDirectory) -> Counter[str]:
    """What came of so many accesses, and of more where the two took turns in such a way that some case was not met."""
    outcomes: Counter[str] = Counter()
    for turn in range(100 * TRIES):
        if turn >= TRIES // len(SWAPPERS) and everything_met(outcomes):
            break
        outcomes[tried(kept, turn)] += 1
    return outcomes


@pytest.mark.parametrize("what", SWAPPERS)
def test_nothing_outside_is_read_or_changed_while_names_are_swapped(tmp_path: Path, what: str) -> None:
    index, outside = tmp_path / "index", tmp_path / "outside"
    index.mkdir()
    outside.mkdir()
    (outside / NAME).write_bytes(SECRET)
    before = (os.stat(outside).st_mtime_ns, os.stat(outside / NAME))
    kept = kept_in(index)
    kept.put(NAME, OURS[0]).unwrap()
    child = script(SWAPPERS[what], index, outside, NAME)
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        outcomes = raced(kept)
        assert child.poll() is None
    finally:
        child.kill()
        child.communicate()
    assert os.listdir(outside) == [NAME]
    assert (outside / NAME).read_bytes() == SECRET
    now = os.stat(outside / NAME)
    assert (os.stat(outside).st_mtime_ns, now.st_mtime_ns, now.st_nlink) == (before[0], before[1].st_mtime_ns, 1)
    assert everything_met(outcomes), outcomes


FULL = f"""
    import os, subprocess, sys
    from pathlib import Path
    from groundkit.adapters.snapshot_files import KeptDirectory
    from groundkit.core.result import Success
    from groundkit.core.snapshots import is_snapshot_name
    from groundkit.core.storage import KeptListing, StorageProblem

    place = Path(sys.argv[1])
    mounting = ["mount", "-t", "tmpfs", "-o", "size=256k,nr_inodes=12", "tmpfs", str(place)]
    if subprocess.run(mounting, stderr=subprocess.DEVNULL).returncode:
        sys.exit({NOT_HERE})
    kept = KeptDirectory(place, "{DIRECTORY}", is_snapshot_name)
    old, new = b"old" * 9, b"new" * 20_000
    kept.put("{NAME}", old).unwrap()

    def is_full(*answers):
        assert [each.failure().problem for each in answers] == [StorageProblem.FULL] * len(answers), answers
        assert kept.get("{NAME}") == Success(old)
        assert kept.listed() == Success(KeptListing(("{NAME}",)))

    with open(place / "ballast", "wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4096))
        except OSError:
            pass
    is_full(kept.put("{NAME}", new), kept.put("{OTHER}", new))
    assert kept.settle() == Success(None)
    (place / "ballast").unlink()
    try:
        for number in range(99):
            (place / str(number)).touch()
    except OSError:
        pass
    other = KeptDirectory(place, "d.snapshots", is_snapshot_name)
    is_full(kept.put("{NAME}", new), kept.put("{OTHER}", b""), other.put("{NAME}", b""))
    assert not (place / "d.snapshots").exists()
    for number in range(9):
        (place / str(number)).unlink(missing_ok=True)
    assert kept.put("{NAME}", new) == Success(False)
    assert kept.get("{NAME}") == Success(new)
"""


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """Of bytes, and of names for files and directories; in a name space of its own, where it can be mounted."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    child = script(FULL, tmp_path, before=("unshare", "--map-root-user", "--mount"))
    _, complaint = child.communicate(timeout=60)
    if child.returncode == NOT_HERE or "unshare" in complaint:
        pytest.skip("no disk can be mounted here")
    assert child.returncode == 0, complaint


LIMITED = """
    import resource, sys
    from pathlib import Path
    from groundkit.adapters.snapshot_files import KeptDirectory
    from groundkit.core.snapshots import is_snapshot_name

    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    kept = KeptDirectory(Path(sys.argv[1]), sys.argv[2], is_snapshot_name)
    for name in sys.argv[3:]:
        print(kept.put(name, b"new" * 50_000).failure().problem.value)
"""


def test_a_file_that_cannot_be_written_to_its_end_leaves_what_was_there(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    kept.put(NAME, OURS[0]).unwrap()
    told, complaint = script(LIMITED, tmp_path, DIRECTORY, NAME, OTHER).communicate(timeout=60)
    assert told == "full\nfull\n", complaint
    assert kept.listed() == Success(KeptListing((NAME,)))
    assert kept.get(NAME) == Success(OURS[0])


STEPS = """
    import sys
    from pathlib import Path
    from groundkit.adapters.snapshot_files import KeptDirectory
    from groundkit.core.result import Failure
    from groundkit.core.snapshots import is_snapshot_name

    kept = KeptDirectory(Path(sys.argv[1]), sys.argv[2], is_snapshot_name)
    answers = [kept.put(sys.argv[3], b"new" * 1000)]
    if not isinstance(answers[0], Failure):
        answers.append(kept.settle())
    print(*(each.failure().problem.value for each in answers if isinstance(each, Failure)))
"""
#: A system call that fails, at which time, and what stands under the name afterwards.
BROKEN = (
    ("mkdirat", 1, None),
    ("write", 1, b"old"),
    ("fsync", 1, b"old"),
    ("renameat", 1, b"old"),
    ("fsync", 2, b"new" * 1000),
)


@pytest.mark.parametrize(("call", "when", "left"), BROKEN)
def test_a_disk_that_is_full_at_any_step_leaves_what_was_there(
    tmp_path: Path, call: str, when: int, left: bytes | None
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    kept = kept_in(tmp_path)
    if left is not None:
        kept.put(NAME, b"old").unwrap()
    tracing = (
        "strace",
        "-qq",
        "-o",
        os.devnull,
        "-e",
        f"trace={call}",
        "-e",
        f"inject={call}:error=ENOSPC:when={when}",
    )
    child = script(STEPS, tmp_path, DIRECTORY, NAME, before=tracing)
    told, complaint = child.communicate(timeout=60)
    if child.returncode and "ptrace" in complaint.lower():
        pytest.skip("nothing can be traced here")
    assert told == "full\n", complaint
    assert kept.listed() == Success(KeptListing(() if left is None else (NAME,)))
    assert left is None or kept.get(NAME) == Success(left)


WRITER = """
    import sys
    from itertools import count
    from pathlib import Path
    from groundkit.adapters.snapshot_files import KeptDirectory
    from groundkit.core.snapshots import is_snapshot_name

    kept = KeptDirectory(Path(sys.argv[1]), sys.argv[2], is_snapshot_name)
    for number in count(int(sys.argv[3])):
        kept.put(sys.argv[4 + number % 2], f"{number} ".encode() * 30_000).unwrap()
        kept.settle().unwrap()
        print(number, flush=True)
"""


def whole(data: bytes) -> int:
    """The number that the writer wrote, again and again and to the end."""
    number = int(data.partition(b" ")[0])
    assert data == f"{number} ".encode() * 30_000
    return number


def test_a_killed_writer_leaves_whole_files_and_what_is_known_to_be_unfinished(tmp_path: Path) -> None:
    kept, moments, number = kept_in(tmp_path), random.Random(1), 0
    for _ in range(KILLS):
        child = script(WRITER, tmp_path, DIRECTORY, str(number), NAME, OTHER)
        assert child.stdout is not None and child.stdout.readline()
        time.sleep(moments.uniform(0, 0.05))
        child.kill()
        told = [number, *map(int, child.communicate()[0].split())]
        number = told[-1] + 1
        listed = kept.listed().unwrap()
        assert listed.foreign == () and set(listed.names) <= {NAME, OTHER}
        found = {name: whole(kept.get(name).unwrap()) for name in listed.names}
        assert found[(NAME, OTHER)[told[-1] % 2]] == told[-1]
        assert all(each <= told[-1] + 1 for each in found.values())
    assert kept.put(NAME, OURS[0]) == Success(False)
    assert kept.discard() == Success(None)
    assert list(tmp_path.iterdir()) == []

"""The clock, the writer lock across processes, private directories."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from groundkit.adapters.system import FileLock, SystemClock, private_directory
from groundkit.core.ports import Clock, LockBusy, WriterLock
from groundkit.core.result import Failure, Success
from groundkit.core.storage import StorageFailure, StorageProblem
from groundkit.platforms import platform_refused
from groundkit.testing.memory_system import FrozenClock, MemoryLock
from groundkit.testing.system_contract import ClockContract, WriterLockContract

HOLD = """
import sys
from pathlib import Path
from groundkit.adapters.system import FileLock
with FileLock(Path(sys.argv[1])).hold(0).unwrap():
    print("held", flush=True)
    sys.stdin.read()
"""


class TestSystemClock(ClockContract):
    def make(self) -> Clock:
        return SystemClock()


class TestFrozenClock(ClockContract):
    def make(self) -> Clock:
        return FrozenClock()

    def test_it_says_what_it_was_told(self) -> None:
        clock = FrozenClock()
        clock.at = "2030-01-01T00:00:00Z"
        assert clock.now() == "2030-01-01T00:00:00Z"


class TestFileLock(WriterLockContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self) -> WriterLock:
        return FileLock(Path(tempfile.mkdtemp(dir=self.folder)) / "c.lock")

    def same(self, lock: WriterLock) -> WriterLock:
        assert isinstance(lock, FileLock)
        return FileLock(lock.path)


class TestMemoryLock(WriterLockContract):
    def make(self) -> WriterLock:
        return MemoryLock()

    def same(self, lock: WriterLock) -> WriterLock:
        return lock


def holder(path: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_another_process_is_kept_out_and_told_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "c.lock"
    with holder(path) as process:
        refused = FileLock(path).hold(0).failure()
        assert isinstance(refused, LockBusy)
        assert refused.holder.startswith(f"process {process.pid} on ")
        process.communicate()
    assert isinstance(FileLock(path).hold(0), Success)


def test_a_lock_ends_with_a_holder_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "c.lock"
    with holder(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with FileLock(path).hold(0).unwrap():
        assert path.read_text().startswith(f"process {os.getpid()} on ")


def test_what_the_holder_starts_does_not_hold_on(tmp_path: Path) -> None:
    path = tmp_path / "c.lock"
    with FileLock(path).hold(0).unwrap():
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    with child:
        with FileLock(path).hold(0).unwrap():
            assert child.poll() is None
        child.communicate(b"\n")


def test_the_file_stays_and_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c.lock"
    path.write_bytes(b"\x1b[31m\xff another program's words\nand more" * 100)
    before = path.stat().st_ino
    with FileLock(path).hold(0).unwrap():
        assert path.stat().st_ino == before
    assert (path.stat().st_ino, path.read_bytes()) == (before, b"")


def test_a_new_lock_file_is_its_owners_alone(tmp_path: Path) -> None:
    with FileLock(tmp_path / "c.lock").hold(0).unwrap():
        assert (tmp_path / "c.lock").stat().st_mode & 0o777 == 0o600


def test_a_holders_words_are_made_harmless(tmp_path: Path) -> None:
    path = tmp_path / "c.lock"
    with FileLock(path).hold(0).unwrap():
        path.write_bytes(b"\x1b]0;title\x07 \xff\xe2\x80\xae" + b"x" * 1000)
        refused = FileLock(path).hold(0).failure()
    assert isinstance(refused, LockBusy)
    assert refused.holder.isascii()
    assert refused.holder.isprintable()
    assert len(refused.holder) <= 200


def test_a_lock_file_taken_away_under_its_holder_does_not_fool_the_next(tmp_path: Path) -> None:
    path = tmp_path / "c.lock"
    with FileLock(path).hold(0).unwrap():
        path.unlink()
        with FileLock(path).hold(0).unwrap():
            assert isinstance(FileLock(path).hold(0).failure(), LockBusy)


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "directory", "nowhere"])
def test_what_is_no_lock_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "c.lock"
    match kind:
        case "link":
            (tmp_path / "target").write_text("precious")
            path.symlink_to("target")
        case "dangling":
            path.symlink_to("target")
        case "fifo":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case _:
            path = tmp_path / "gone" / "c.lock"
    refused = FileLock(path).hold(5).failure()
    assert isinstance(refused, StorageFailure)
    assert refused.problem is (StorageProblem.MISSING if kind == "nowhere" else StorageProblem.FOREIGN)
    assert refused.artefact == "c.lock"
    assert str(tmp_path) not in refused.detail
    assert kind != "link" or (tmp_path / "target").read_text() == "precious"
    assert kind != "dangling" or not (tmp_path / "target").exists()


def test_a_private_directory_is_its_owners_alone_whatever_the_mask(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from groundkit.adapters.system import private_directory\n"
    for mask in (0o000, 0o077, 0o777):
        path = tmp_path / f"{mask:o}"
        subprocess.run(
            [sys.executable, "-c", f"{code}os.umask({mask}); private_directory(Path(sys.argv[1]))", path], check=True
        )
        assert path.stat().st_mode & 0o777 == 0o700


def test_an_existing_directory_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.mkdir(mode=0o755)
    mode = path.stat().st_mode
    assert private_directory(path) == Success(None)
    assert path.stat().st_mode == mode


def test_a_private_directory_is_made_with_what_is_above_it_but_not_where_a_file_stands(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert private_directory(tmp_path / "above" / "index") == Success(None)
    assert (tmp_path / "above" / "index").stat().st_mode & 0o777 == 0o700
    answers = [private_directory(tmp_path / name) for name in ("file", "file/index")]
    assert all(isinstance(answer, Failure) for answer in answers)
    assert sorted(os.listdir(tmp_path)) == ["above", "file"]


def test_other_systems_are_refused_by_name() -> None:
    assert platform_refused("linux") is None
    assert platform_refused("darwin") is None
    assert "win32" in (platform_refused("win32") or "")
    assert platform_refused() is None

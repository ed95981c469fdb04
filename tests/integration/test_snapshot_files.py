"""Kept files and their twin under one contract; what only real ones have: links, pipes, permissions, other people's files."""

import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

from groundkit.adapters.snapshot_files import KeptDirectory
from groundkit.core.ports import KeptFiles
from groundkit.core.result import Failure, Result, Success
from groundkit.core.snapshots import body_name, is_body_name, is_snapshot_name
from groundkit.core.storage import KeptListing, KeptProblem, KeptUnread, StorageFailure, StorageProblem
from groundkit.testing import MemoryKeptFiles
from groundkit.testing.kept_contract import CONTENTS, NAMES, KeptFilesContract

DIRECTORY = "c.snapshots"
NAME, OTHER = NAMES[:2]
HALF = ".new-0123456789abcdef"
OURS, SECRET = b"the text that was put", b"what lies outside"


class TestMemoryKeptFiles(KeptFilesContract):
    def make(self) -> KeptFiles:
        return MemoryKeptFiles()


class TestKeptDirectory(KeptFilesContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.root = tmp_path

    def make(self) -> KeptFiles:
        return kept_in(Path(mkdtemp(dir=self.root)))


def kept_in(index: Path) -> KeptDirectory:
    return KeptDirectory(index, DIRECTORY, is_snapshot_name)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A directory beside the index, in which nothing may change."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in (NAME, HALF):
        (outside / name).write_bytes(SECRET)
    (outside / "empty").mkdir()
    with unchanged(outside):
        yield outside


@contextmanager
def unchanged(place: Path) -> Iterator[None]:
    def seen() -> dict[str, tuple[int, int, int, bytes]]:
        found = {each.name: (each.stat(), each.is_file()) for each in (place, *place.iterdir())}
        content = {name: (place / name).read_bytes() if is_file else b"" for name, (_, is_file) in found.items()}
        return {name: (s.st_ino, s.st_mode, s.st_mtime_ns, content[name]) for name, (s, _) in found.items()}

    before = seen()
    yield
    assert seen() == before


def failure_of(answer: Result[object, StorageFailure]) -> StorageFailure:
    assert isinstance(answer, Failure), answer
    return answer.failure()


def unread(answer: Result[bytes, KeptUnread]) -> KeptUnread:
    assert isinstance(answer, Failure), answer
    return answer.failure()


def test_only_a_put_makes_the_directory_and_everything_is_private(index: Path) -> None:
    kept = kept_in(index)
    kept.listed(), kept.get(NAME), kept.remove(NAME), kept.settle(), kept.discard()
    assert list(index.iterdir()) == []
    previous = os.umask(0)
    try:
        kept.put(NAME, OURS).unwrap()
    finally:
        os.umask(previous)
    assert stat.S_IMODE((index / DIRECTORY).stat().st_mode) == 0o700
    assert stat.S_IMODE((index / DIRECTORY / NAME).stat().st_mode) == 0o600
    assert [each.name for each in (index / DIRECTORY).iterdir()] == [NAME]


def test_a_refused_name_makes_no_directory(index: Path) -> None:
    for name in ("..", "../" + NAME, "x"):
        assert isinstance(kept_in(index).put(name, OURS), Failure)
    assert list(index.iterdir()) == []


def test_a_file_with_the_right_content_is_left_alone_and_one_with_another_is_a_new_one(index: Path) -> None:
    kept, file = kept_in(index), index / DIRECTORY / NAME
    kept.put(NAME, OURS).unwrap()
    first = file.stat()
    assert kept.put(NAME, OURS) == Success(False)
    again = file.stat()
    assert (again.st_ino, again.st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    with file.open("rb") as still_open:
        assert kept.put(NAME, OURS[::-1]) == Success(False)
        assert still_open.read() == OURS
    assert file.read_bytes() == OURS[::-1]


def test_names_of_bodies_are_those_of_the_directory_of_bodies(index: Path) -> None:
    bodies = KeptDirectory(index, "c.bodies", is_body_name)
    name = body_name("0" * 64)
    assert bodies.put(name, OURS) == Success(True)
    assert isinstance(bodies.put(NAME, OURS), Failure)
    assert bodies.listed() == Success(KeptListing((name,)))
    assert bodies.get(name) == Success(OURS)


def _socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.open(".", os.O_RDONLY)
        os.chdir(place.parent)  # the path of a socket must be short
        try:
            bound.bind(place.name)
        finally:
            os.fchdir(here)
            os.close(here)


PLANTED: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "a link to a file": (lambda place, outside: place.symlink_to(outside / NAME), "a symbolic link"),
    "a link to a directory": (lambda place, outside: place.symlink_to(outside), "a symbolic link"),
    "a link to nothing": (lambda place, outside: place.symlink_to(outside / "new"), "a symbolic link"),
    "a link to itself": (lambda place, _: place.symlink_to(place.name), "a symbolic link"),
    "a link to a device": (lambda place, _: place.symlink_to("/dev/zero"), "a symbolic link"),
    "a pipe": (lambda place, _: os.mkfifo(place), "a pipe"),
    "a socket": (lambda place, _: _socket(place), ""),
    "a directory": (lambda place, _: place.mkdir(), "a directory"),
}
planted = pytest.mark.parametrize(("plant", "said"), PLANTED.values(), ids=PLANTED.keys())
Plant = Callable[[Path, Path], object]


@planted
def test_what_stands_at_a_name_is_not_read(index: Path, outside: Path, plant: Plant, said: str) -> None:
    kept = kept_in(index)
    kept.put(OTHER, OURS).unwrap()
    plant(index / DIRECTORY / NAME, outside)
    found = unread(kept.get(NAME))
    assert found.problem is KeptProblem.CORRUPT
    assert said in found.detail
    assert kept.get(OTHER) == Success(OURS)


@planted
@pytest.mark.parametrize("data", [OURS, SECRET, b""])
def test_what_stands_at_a_name_is_replaced_and_not_written_to(
    index: Path, outside: Path, plant: Plant, said: str, data: bytes
) -> None:
    """Also where it leads to a file with just the content that is put."""
    kept = kept_in(index)
    kept.put(OTHER, OURS).unwrap()
    plant(index / DIRECTORY / NAME, outside)
    answer = kept.put(NAME, data)
    assert answer == Success(False)
    assert not (index / DIRECTORY / NAME).is_symlink()
    assert kept.get(NAME) == Success(data)
    listed = kept.listed().unwrap()
    assert (listed.names, listed.unfinished) == ((NAME, OTHER), ())
    # A directory may have something in it: it is set aside, and is nobody's file of ours.
    assert [each.startswith(f"{NAME}.aside-") for each in listed.foreign] == [True] * (said == "a directory")


@planted
@pytest.mark.parametrize("name", [NAME, HALF])
def test_what_stands_at_a_name_is_itself_what_is_removed(
    index: Path, outside: Path, plant: Plant, said: str, name: str
) -> None:
    for way in (lambda kept: kept.remove(name), lambda kept: kept.discard()):
        kept = kept_in(index)
        kept.put(OTHER, OURS).unwrap()
        plant(index / DIRECTORY / name, outside)
        listed = kept.listed().unwrap()
        assert name in (listed.foreign if said == "a directory" else listed.names + listed.unfinished)
        answer = way(kept)
        if said == "a directory":
            assert os.listdir(index / DIRECTORY).count(name) == 1
            (index / DIRECTORY / name).rmdir()
        else:
            assert answer == Success(None)
            assert not (index / DIRECTORY / name).is_symlink() and not (index / DIRECTORY / name).exists()


def test_a_hard_link_is_a_file_like_any_other_and_what_it_shares_is_never_written_to(
    index: Path, outside: Path
) -> None:
    kept = kept_in(index)
    kept.put(OTHER, OURS).unwrap()
    secret = outside.parent / "beside"
    secret.write_bytes(SECRET)
    os.link(secret, index / DIRECTORY / NAME)
    assert kept.get(NAME) == Success(SECRET)
    assert kept.put(NAME, OURS) == Success(False)
    assert (kept.get(NAME), secret.read_bytes()) == (Success(OURS), SECRET)
    kept.remove(NAME).unwrap()
    assert secret.read_bytes() == SECRET


IN_ITS_PLACE: dict[str, Plant] = {
    "a link to a directory": lambda place, outside: place.symlink_to(outside),
    "a link to an empty directory": lambda place, outside: place.symlink_to(outside / "empty"),
    "a link to nothing": lambda place, outside: place.symlink_to(outside / "new"),
    "a link to itself": lambda place, _: place.symlink_to(place.name),
    "a file": lambda place, _: place.write_bytes(SECRET),
    "a pipe": lambda place, _: os.mkfifo(place),
}


@pytest.mark.parametrize("plant", IN_ITS_PLACE.values(), ids=IN_ITS_PLACE.keys())
def test_what_stands_in_the_place_of_the_directory_is_refused_and_stays(
    index: Path, outside: Path, plant: Plant
) -> None:
    plant(index / DIRECTORY, outside)
    before = (index / DIRECTORY).lstat()
    kept = kept_in(index)
    answers: list[Result[object, StorageFailure]] = [
        kept.put(NAME, OURS), kept.settle(), kept.remove(NAME), kept.remove(HALF), kept.listed(), kept.discard()
    ]  # fmt: skip
    assert [failure_of(answer).problem for answer in answers] == [StorageProblem.FOREIGN] * len(answers)
    assert len({failure_of(answer).detail for answer in answers}) == 1
    assert unread(kept.get(NAME)).problem is KeptProblem.CORRUPT
    after = (index / DIRECTORY).lstat()
    assert (before.st_ino, before.st_mode, before.st_mtime_ns) == (after.st_ino, after.st_mode, after.st_mtime_ns)
    assert list(index.iterdir()) == [index / DIRECTORY]


def test_the_index_directory_itself_may_be_reached_by_a_link(index: Path) -> None:
    (index.parent / "way").symlink_to(index)
    assert kept_in(index.parent / "way").put(NAME, OURS) == Success(True)
    assert kept_in(index).get(NAME) == Success(OURS)


def test_what_lies_there_is_told_apart(index: Path) -> None:
    kept, place = kept_in(index), index / DIRECTORY
    kept.put(NAME, OURS).unwrap()
    for name in (HALF, ".new-", ".new-x", HALF + "0", "note.txt", OTHER + "0", "ü"):
        (place / name).touch()
    (place / OTHER).mkdir()
    Path(os.fsdecode(os.fsencode(place) + b"/\xff")).touch()
    foreign = sorted((".new-", ".new-x", HALF + "0", "note.txt", OTHER + "0", "ü", OTHER, "\\xff"))
    assert kept.listed() == Success(KeptListing((NAME,), (HALF,), tuple(foreign)))
    assert kept.remove(HALF) == Success(None)
    assert kept.discard() == Success(None)
    assert kept.listed() == Success(KeptListing((), (), tuple(foreign)))


def test_discarding_takes_the_directory_if_nothing_else_lies_in_it(index: Path) -> None:
    kept = kept_in(index)
    for name, data in zip(NAMES, CONTENTS, strict=False):
        kept.put(name, data).unwrap()
    (index / DIRECTORY / HALF).touch()
    assert kept.discard() == Success(None)
    assert list(index.iterdir()) == []
    assert kept.put(NAME, OURS) == Success(True)


def test_what_is_larger_than_any_page_is_not_read(index: Path) -> None:
    kept = KeptDirectory(index, DIRECTORY, is_snapshot_name, limit=len(OURS))
    kept.put(NAME, OURS).unwrap()
    kept.put(OTHER, OURS + b".").unwrap()
    assert kept.get(NAME) == Success(OURS)
    assert unread(kept.get(OTHER)).problem is KeptProblem.CORRUPT


def test_failures_name_the_file_and_no_directory_above(tmp_path: Path, index: Path) -> None:
    (index / DIRECTORY).symlink_to(tmp_path)
    (tmp_path / "file").touch()
    for place in (index, tmp_path / "gone", tmp_path / "file", tmp_path / "file" / "below"):
        kept, reader = kept_in(place), KeptDirectory.reader_of(place / DIRECTORY)
        answers = (
            kept.put(NAME, OURS),
            kept.listed(),
            kept.discard(),
            kept.get(NAME),
            kept.put("../x", OURS),
            reader.get(NAME),
        )
        for answer in answers:
            if isinstance(answer, Failure):
                told = answer.failure()
                assert str(tmp_path) not in repr(told) and told.detail
        assert isinstance(kept.put(NAME, OURS), Failure)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_is_forbidden_is_told_and_changes_nothing(index: Path) -> None:
    kept = kept_in(index)
    kept.put(NAME, OURS).unwrap()
    (index / DIRECTORY).chmod(0o500)
    try:
        answers: tuple[Result[object, StorageFailure], ...] = (
            kept.put(NAME, SECRET),
            kept.put(OTHER, SECRET),
            kept.remove(NAME),
        )
        assert [failure_of(answer).problem for answer in answers] == [StorageProblem.DENIED] * 3
        assert kept.get(NAME) == Success(OURS)
        (index / DIRECTORY / NAME).chmod(0)
        assert unread(kept.get(NAME)).problem is KeptProblem.CORRUPT
    finally:
        (index / DIRECTORY).chmod(0o700)


def test_a_directory_that_somebody_names_is_read_and_never_changed(index: Path) -> None:
    kept_in(index).put(NAME, OURS).unwrap()
    reader = KeptDirectory.reader_of(index / DIRECTORY)
    with unchanged(index / DIRECTORY):
        assert reader.get(NAME) == Success(OURS)
        assert unread(reader.get(OTHER)).problem is KeptProblem.MISSING
        assert unread(reader.get("../" + NAME)).problem is KeptProblem.MISSING
        assert reader.listed() == Success(KeptListing((NAME,)))
        answers: tuple[Result[object, StorageFailure], ...] = (
            reader.put(OTHER, OURS),
            reader.remove(NAME),
            reader.discard(),
        )
        assert [failure_of(answer).problem for answer in answers] == [StorageProblem.DENIED] * 3
    assert unread(KeptDirectory.reader_of(index / "gone").get(NAME)).problem is KeptProblem.MISSING
    assert KeptDirectory.reader_of(index / "gone").listed() == Success(KeptListing())


def test_a_directory_that_somebody_names_is_no_link_and_may_lie_behind_one(index: Path, outside: Path) -> None:
    (index / "link").symlink_to(outside)
    for way in (index / "link", Path(f"{index}/link/"), Path(f"{index}/link/.")):
        reader = KeptDirectory.reader_of(way)
        assert unread(reader.get(NAME)).problem is KeptProblem.CORRUPT
        assert failure_of(reader.listed()).problem is StorageProblem.FOREIGN
    for way in (outside, index / "link" / ".." / "outside", outside / "."):
        assert KeptDirectory.reader_of(way).get(NAME) == Success(SECRET)
    (outside.parent / "way").symlink_to(outside.parent)
    assert KeptDirectory.reader_of(outside.parent / "way" / "outside").get(NAME) == Success(SECRET)


@planted
def test_what_stands_at_a_name_in_a_directory_that_somebody_names_is_not_read(
    index: Path, outside: Path, plant: Plant, said: str
) -> None:
    plant(index / NAME, outside)
    found = unread(KeptDirectory.reader_of(index).get(NAME))
    assert found.problem is KeptProblem.CORRUPT
    assert said in found.detail

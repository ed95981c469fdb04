"""Extractions on disk: given back as they were, or not at all."""

import hashlib
import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from groundkit.adapters.extraction import ExtractionCache
from groundkit.core.extraction import Anchor, Extraction, Page
from groundkit.core.outline import Heading
from groundkit.core.ports import KeptExtractions
from groundkit.testing.extraction_contract import KeptContract
from groundkit.testing.memory_extraction import MemoryKept
from groundkit.testing.strategies import texts

MEGABYTE = 1_000_000
KNOWN = Extraction(
    "One\ntext", "One", (Page(0, "i"), Page(4, "ii")), (Heading(1, "One", 0, 4),), (Anchor(4, "a"),), ("a loss",), True
)


class TestExtractionCache(KeptContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "c.cache"

    def make(self) -> KeptExtractions:
        return ExtractionCache(self.folder, MEGABYTE)


class TestMemoryKept(KeptContract):
    def make(self) -> KeptExtractions:
        return MemoryKept()


def digest(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def noise(size: int) -> Extraction:
    """A text that takes about so many bytes when it is compressed."""
    return Extraction(os.urandom(size).hex())


def the_file(folder: Path) -> Path:
    [file] = folder.iterdir()
    return file


def prepared(folder: Path, limit: int = MEGABYTE) -> ExtractionCache:
    cache = ExtractionCache(folder, limit)
    cache.prepare()
    return cache


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "c.cache"


@given(texts(), st.text(st.characters(exclude_categories=["Cs"])))
def test_what_was_put_is_given_back_to_the_same_bytes_and_identity_alone(text: str, identity: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        cache = prepared(Path(temporary) / "c.cache")
        kept = evolve(KNOWN, text=text + "One\ntext")
        cache.put(digest(1), identity, kept)
        again = ExtractionCache(Path(temporary) / "c.cache", MEGABYTE)
        assert cache.get(digest(1), identity) == again.get(digest(1), identity) == kept
        assert cache.get(digest(2), identity) is None
        assert cache.get(digest(1), identity + "+1") is None


def test_nothing_is_made_by_asking_and_what_is_made_is_private(folder: Path) -> None:
    cache = ExtractionCache(folder, MEGABYTE)
    cache.put(digest(1), "x@1", KNOWN)
    assert cache.get(digest(1), "x@1") is None
    cache.retain(set())
    assert not folder.exists()
    cache.prepare()
    cache.put(digest(1), "x@1", KNOWN)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(the_file(folder).stat().st_mode) == 0o600


def test_a_later_extraction_takes_the_place_of_an_earlier_one(folder: Path) -> None:
    cache = prepared(folder)
    for text in ("first", "second"):
        cache.put(digest(1), "x@1", Extraction(text))
    assert cache.get(digest(1), "x@1") == Extraction("second")
    assert the_file(folder).name.startswith(f"{digest(1)}.")


def test_a_file_with_any_bit_flipped_is_none(folder: Path) -> None:
    cache = prepared(folder)
    cache.put(digest(1), "x@1", KNOWN)
    file = the_file(folder)
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 1 << position % 8]) + whole[position + 1 :])
        assert cache.get(digest(1), "x@1") is None
    file.write_bytes(whole)
    assert cache.get(digest(1), "x@1") == KNOWN


def test_a_torn_file_is_none(folder: Path) -> None:
    cache = prepared(folder)
    cache.put(digest(1), "x@1", KNOWN)
    file = the_file(folder)
    whole = file.read_bytes()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        assert cache.get(digest(1), "x@1") is None


def test_a_file_under_the_name_of_another_is_none(folder: Path) -> None:
    cache = prepared(folder)
    cache.put(digest(1), "x@1", KNOWN)
    whole = the_file(folder).read_bytes()
    for number, identity in ((2, "x@1"), (1, "x@2")):
        cache.put(digest(number), identity, KNOWN)
        for file in folder.iterdir():
            file.write_bytes(whole)
        assert cache.get(digest(number), identity) is None
        assert cache.get(digest(1), "x@1") == KNOWN


@pytest.mark.parametrize("kind", ["folder", "link", "fifo"])
def test_what_is_no_file_of_ours_is_none_and_blocks_nobody(folder: Path, kind: str) -> None:
    cache = prepared(folder)
    cache.put(digest(1), "x@1", KNOWN)
    file = the_file(folder)
    file.rename(folder.parent / "elsewhere")
    if kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to(folder.parent / "elsewhere")
    else:
        os.mkfifo(file)
    assert cache.get(digest(1), "x@1") is None
    cache.put(digest(1), "x@1", KNOWN)
    assert cache.get(digest(1), "x@1") == (None if kind == "folder" else KNOWN)


def test_beyond_the_limit_the_least_recently_used_go(folder: Path) -> None:
    cache = prepared(folder, 100_000)
    for number in range(6):
        cache.put(digest(number), "x@1", noise(24_000))
        for position, file in enumerate(sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime_ns)):
            os.utime(file, (position, position))
        assert cache.get(digest(0), "x@1") is not None  # used again each time, so never the one to go
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 100_000
    assert cache.get(digest(5), "x@1") is not None
    assert cache.get(digest(1), "x@1") is None


def test_one_that_is_larger_than_the_limit_drives_nothing_out(folder: Path) -> None:
    cache = prepared(folder, 20_000)
    cache.put(digest(1), "x@1", KNOWN)
    cache.put(digest(2), "x@1", noise(100_000))
    assert cache.get(digest(2), "x@1") is None
    assert cache.get(digest(1), "x@1") == KNOWN


def test_what_a_killed_process_left_half_written_goes_in_time(folder: Path) -> None:
    folder.mkdir()
    old, new = folder / ".new-old", folder / ".new-new"
    for half in (old, new):
        half.write_bytes(b"half")
    os.utime(old, (0, 0))
    ExtractionCache(folder, MEGABYTE).put(digest(1), "x@1", KNOWN)
    assert not old.exists()
    assert new.exists()


def test_retaining_removes_all_that_was_made_of_other_bytes_and_no_more(folder: Path) -> None:
    cache = prepared(folder)
    for number in (1, 2):
        for identity in ("x@1", "x@2"):
            cache.put(digest(number), identity, KNOWN)
    cache.retain({digest(2)})
    assert [cache.get(digest(1), identity) for identity in ("x@1", "x@2")] == [None, None]
    assert [cache.get(digest(2), identity) for identity in ("x@1", "x@2")] == [KNOWN, KNOWN]


def test_discarding_leaves_nothing_but_what_is_not_ours(folder: Path) -> None:
    cache = prepared(folder)
    cache.discard()
    cache.put(digest(1), "x@1", KNOWN)
    cache.discard()
    assert not folder.exists()
    cache.prepare()
    cache.put(digest(1), "x@1", KNOWN)
    (folder / "note.txt").write_bytes(b"somebody's")
    cache.discard()
    assert [each.name for each in folder.iterdir()] == ["note.txt"]


def test_a_digest_that_is_none_names_no_file(folder: Path) -> None:
    cache = prepared(folder)
    for wrong in ("", "..", "../" * 3 + "etc/passwd", digest(1).upper(), digest(1) + "\n", digest(1)[1:]):
        cache.put(wrong, "x@1", KNOWN)
        assert cache.get(wrong, "x@1") is None
    assert not [*folder.iterdir()]


@pytest.mark.parametrize("place", ["/dev/full", "/dev/null", "/proc/self"])
def test_a_place_that_takes_nothing_is_borne(place: str) -> None:
    cache = prepared(Path(place) / "c.cache")
    cache.put(digest(1), "x@1", KNOWN)
    cache.retain(set())
    assert cache.get(digest(1), "x@1") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_an_unwritable_directory_is_borne(folder: Path) -> None:
    cache = prepared(folder)
    cache.put(digest(1), "x@1", KNOWN)
    folder.chmod(0o500)
    try:
        cache.put(digest(2), "x@1", KNOWN)
        cache.retain(set())
        assert (cache.get(digest(1), "x@1"), cache.get(digest(2), "x@1")) == (KNOWN, None)
    finally:
        folder.chmod(0o700)


def test_many_threads_get_what_they_put_or_nothing(folder: Path) -> None:
    cache = prepared(folder, 60_000)
    wrong: list[int] = []

    def work(first: int) -> None:
        for number in range(first, first + 30):
            kept = Extraction(f"text {number} " * 200)
            cache.put(digest(number), "x@1", kept)
            if cache.get(digest(number), "x@1") not in (kept, None):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 10, 20, 30)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []

"""Links planted where a collection keeps its pages, and swapped under it: nothing outside is read, changed or unlinked."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import gk
from hypothesis import settings
from web_support import Pages, at_rest, bodies, snapshots, web_collection

from groundkit.collection import Collection
from groundkit.core.model import Reason
from groundkit.errors import ConfigurationError, GroundkitError, IngestionError, StorageError
from groundkit.render import exit_code_of
from groundkit.testing.memory_web import ScriptedPage

NIGHTLY = settings().max_examples >= 1000
ROUNDS = 12 if not NIGHTLY else 600
URL, OTHER, THIRD = "https://a.example/page", "https://b.example/other", "https://c.example/"
URLS = (URL, OTHER, THIRD)
#: What may become of a citation while somebody swaps names; never what stands outside, which would be an altered snapshot.
REASONS = {Reason.SAME, Reason.SNAPSHOT_MISSING, Reason.SNAPSHOT_CORRUPT}


def plain(text: str) -> ScriptedPage:
    return ScriptedPage(text.encode(), "text/plain")


def web(number: int) -> Pages:
    """Three pages, of which two are others in each version."""
    return {URL: plain(f"Some tide {number}."), OTHER: plain(f"Some rock {number}."), THIRD: plain("Some lamp.")}


class Outside:
    """A directory with files of the names that are kept, of other texts, and one that looks half-written."""

    def __init__(self, place: Path, names: set[str]) -> None:
        self.place = place
        place.mkdir()
        for name in (*names, ".new-0123456789abcdef", "notes.txt"):
            (place / name).write_text(f"what lies outside as {name}")
        self._before = self._state()

    def _state(self) -> dict[str, tuple[object, ...]]:
        found: dict[str, tuple[object, ...]] = {".": (os.stat(self.place).st_mtime_ns,)}
        for each in self.place.iterdir():
            facts = each.lstat()
            found[each.name] = (facts.st_mode, facts.st_nlink, facts.st_mtime_ns, facts.st_ino, each.read_text())
        return found

    @property
    def untouched(self) -> bool:
        return self._state() == self._before


def is_typed(error: GroundkitError) -> bool:
    """An error that says what is wrong, with an exit code of its own."""
    return isinstance(error, StorageError | ConfigurationError | IngestionError) and exit_code_of(error.failure) in (
        2,
        3,
    )


@pytest.fixture
def index(tmp_path: Path) -> Path:
    made = tmp_path / ".groundkit"
    with web_collection(made, web(0)) as kb:
        assert kb.ingest(URLS, keep_bodies=True).complete
    return made


@pytest.fixture
def outside(tmp_path: Path, index: Path) -> Outside:
    return Outside(tmp_path / "outside", snapshots(index) | bodies(index))


def replaced(place: Path, outside: Outside) -> None:
    """A directory, or one file in it, by a link."""
    place.rename(place.with_name("aside") if place.is_dir() else place.parent.parent / "aside")
    place.symlink_to(outside.place if place.suffix in (".snapshots", ".bodies") else outside.place / place.name)


def planted(index: Path, where: str) -> Path:
    if where in ("snapshots", "bodies"):
        return index / f"default.{where}"
    kind = where.split()[-1]
    return next(each for each in sorted((index / f"default.{kind}").iterdir()))


WHERE = ("snapshots", "bodies", "a name in snapshots", "a name in bodies")
WORK: dict[str, Callable[[Collection], object]] = {
    "ingest": lambda kb: kb.ingest(URLS, keep_bodies=True),
    "verify all": lambda kb: [*kb.verify_all()],
    "search": lambda kb: kb.search("some", verify=True),
    "remove": lambda kb: kb.remove(URLS),
    "doctor": lambda kb: kb.doctor(),
    "repair": lambda kb: kb.doctor(repair_index=True),
    "drop": lambda kb: kb.drop(),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("number", [0, 1])
def test_a_planted_link_leads_nowhere(index: Path, outside: Outside, where: str, work: str, number: int) -> None:
    """With pages that are the same, and with others."""
    replaced(planted(index, where), outside)
    with web_collection(index, web(number)) as kb:
        try:
            WORK[work](kb)
        except GroundkitError as error:
            assert is_typed(error), error
        if kb.exists:
            assert {each.verification.reason for each in kb.verify_all()} <= REASONS
    assert outside.untouched


@pytest.mark.parametrize("where", WHERE)
def test_a_planted_link_is_told_of_and_ends_no_command_with_a_bug(index: Path, outside: Outside, where: str) -> None:
    replaced(planted(index, where), outside)
    is_body, is_directory = where.endswith("bodies"), " " not in where
    told = {
        ("verify", "--all"): 0 if is_body else 1,
        ("search", "tide"): 0,
        ("doctor",): 1,
        ("rm", URL): 0,
        ("drop", "default", "--yes"): 3 if is_directory else 0,
    }
    for command, code in told.items():
        ran = gk(index.parent, *command)
        assert ran.code == code, (command, ran)
        assert "Traceback" not in ran.err
    assert outside.untouched


def test_a_link_that_goes_is_no_trouble_any_more(index: Path, outside: Outside) -> None:
    place = index / "default.snapshots"
    replaced(place, outside)
    with web_collection(index, web(1)) as kb:
        with pytest.raises(StorageError, match="symbolic link"):
            kb.ingest(URLS, keep_bodies=True)
        assert {each.source for each in kb.get_document_records()} == {*URLS}
        place.unlink()
        place.with_name("aside").rename(place)
        assert kb.ingest(URLS, keep_bodies=True).updated == 2
        assert all(each.verification for each in kb.verify_all())
        assert kb.doctor().healthy
    assert at_rest(index)
    assert outside.untouched


_SWAP = """
import os, sys
from contextlib import suppress
from itertools import count
index, outside = sys.argv[1:3]
os.chdir(index)
print("ready", flush=True)
for turn in count():
    for name in ("default.snapshots", "default.bodies"):
        with suppress(OSError):
            os.rename(name, f"{name}-aside")
        with suppress(OSError):
            os.symlink(outside, name)
        with suppress(OSError):
            os.unlink(name)
        try:
            os.rename(f"{name}-aside", name)
        except OSError:
            with suppress(OSError):
                os.rename(f"{name}-aside", f"trash-{turn}-{name}")
        # By descriptor, so that this is not itself led outside.
        with suppress(OSError):
            here = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                for each in os.listdir(here)[: turn % 3]:
                    os.symlink(f"{outside}/{each}", "planted", dir_fd=here)
                    os.replace("planted", each, src_dir_fd=here, dst_dir_fd=here)
            finally:
                os.close(here)
"""


@contextmanager
def swapping(index: Path, outside: Outside) -> Iterator[None]:
    """Directories and names are links for a moment, again and again."""
    command = [sys.executable, "-c", _SWAP, str(index), str(outside.place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as swapper:
        try:
            assert swapper.stdout is not None
            assert swapper.stdout.readline() == "ready\n"
            yield
            assert swapper.poll() is None
        finally:
            swapper.kill()


@pytest.mark.slow
def test_nothing_outside_is_touched_while_links_are_swapped_under_all_that_is_done(
    index: Path, outside: Outside
) -> None:
    outcomes: Counter[str] = Counter()
    with swapping(index, outside):
        for turn in range(20 * ROUNDS):
            # More rounds where the two took turns in such a way that no link was ever met.
            if turn >= ROUNDS and any(each.endswith("refused") for each in outcomes):
                break
            for name, work in WORK.items():
                if name == "drop" and turn % 4:
                    continue
                with web_collection(index, web(turn)) as kb:
                    try:
                        found = work(kb)
                    except GroundkitError as error:
                        assert is_typed(error), error
                        outcomes[f"{name} refused"] += 1
                        continue
                    outcomes[name] += 1
                    if name == "verify all":
                        assert {each.verification.reason for each in found} <= REASONS  # type: ignore[attr-defined]
                    if name == "search":
                        assert {each.verification.reason for each in found} <= REASONS  # type: ignore[attr-defined]
            assert outside.untouched
    assert outside.untouched
    assert {"ingest", "verify all", "search", "remove", "doctor"} <= outcomes.keys(), outcomes
    assert any(each.endswith("refused") for each in outcomes), outcomes
    tidied(index)
    with web_collection(index, web(ROUNDS)) as kb:
        kb.ingest(URLS)
        kb.doctor(repair_index=True)
        assert kb.ingest(URLS).complete
        assert all(each.verification for each in kb.verify_all())
        assert kb.doctor().healthy, kb.doctor()
    assert at_rest(index)
    assert outside.untouched


def tidied(index: Path) -> None:
    """What the swapper left is its own business: links in the place of directories, and `planted` in them."""
    for name in ("default.snapshots", "default.bodies"):
        if (index / name).is_symlink():
            (index / name).unlink()
        (index / name / "planted").unlink(missing_ok=True)

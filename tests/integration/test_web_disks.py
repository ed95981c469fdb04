"""Pages where the disk says no: it is full, a directory cannot be written to, a file cannot be unlinked."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve
from commands import gk
from web_faults import Fault, Faulty, Killed
from web_support import at_rest, web_collection, web_ports

from groundkit.collection import Collection
from groundkit.core.storage import StorageFailure, StorageProblem
from groundkit.errors import StorageError
from groundkit.testing.memory_web import ScriptedPage

URL, OTHER = "https://a.example/page", "https://b.example/other"
NOT_HERE = 77


def plain(text: str) -> ScriptedPage:
    return ScriptedPage(text.encode(), "text/plain")


_BEGIN = f"""
import subprocess, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from integration.test_web_disks import *
place = Path(sys.argv[1])

def mounted(*how):
    if subprocess.run(["mount", *how], stderr=subprocess.DEVNULL).returncode:
        sys.exit({NOT_HERE})
"""


def in_its_own_name_space(script: str, *arguments: object) -> str:
    """What a process says that may mount what only it sees; skipped where that is not permitted."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    command = ["unshare", "--map-root-user", "--mount", sys.executable, "-c", _BEGIN + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == NOT_HERE or (done.returncode and done.stderr.startswith("unshare:")):
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 0, done.stderr
    return done.stdout


def version(number: int) -> dict[str, ScriptedPage]:
    """Twelve pages of which each second one is another in each version; long enough to fill a small disk."""
    text = [f"version {number if at % 2 else 0} of page {at}: ferry tide {at * at}\n" * 200 for at in range(12)]
    return {f"https://{at}.example/": plain(each) for at, each in enumerate(text)}


def full(error: StorageError) -> bool:
    return getattr(error.failure, "problem", None) is not None and error.failure.problem.value == "full"  # type: ignore[attr-defined]


#: Leaves less and less of the disk free, and ingests each time.
_FULL = """
mounted("-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place))
index, ballast, pages = place / "index", place / "ballast", dict(version(0))

def fill(free):
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - free))

with web_collection(index, pages) as kb:
    kb.ingest(list(pages), keep_bodies=True)
told, held = [], 0
for number, free in enumerate(range(0, int(sys.argv[2]), int(sys.argv[3])), 1):
    before = {each.source: each.document_id for each in kb.get_document_records()}
    pages.update(version(number))
    with web_collection(index, pages) as kb:
        fill(free)
        try:
            report = kb.ingest(list(pages), keep_bodies=True)
        except StorageError as error:
            assert full(error), error
            told.append("refused")
        else:
            assert report.updated == 6
            told.append("pending" if report.pending else "done")
    ballast.unlink()
    with web_collection(index, pages) as kb:
        after = {each.source: each.document_id for each in kb.get_document_records()}
        assert (after == before) or told[-1] != "refused"
        assert all(each.verification for each in kb.verify_all())
        kb.ingest("https://0.example/", keep_bodies=True)
        assert at_rest(index), (free, told)
        assert kb.doctor().healthy
        assert kb.ingest(list(pages), keep_bodies=True).complete
        assert at_rest(index)
        assert kb.doctor().healthy
print(*told)
"""


def test_a_disk_that_is_full_leaves_what_was_there_and_files_as_rows(tmp_path: Path) -> None:
    told = in_its_own_name_space(_FULL, tmp_path, 1_200_000, 40_000).split()
    assert {"refused", "done"} <= set(told), told


def test_a_first_ingest_on_a_full_disk_is_refused_and_the_next_one_is_whole(tmp_path: Path) -> None:
    in_its_own_name_space(
        """
mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place))
index, pages = place / "index", version(0)
with web_collection(index, pages) as kb:
    try:
        kb.ingest(list(pages))
        sys.exit("it fitted")
    except StorageError as error:
        assert full(error), error
    mounted("-o", "remount,size=8m", str(place))
    assert kb.ingest(list(pages)).complete
    assert kb.doctor().healthy
    assert at_rest(index)
""",
        tmp_path,
    )


def test_a_directory_that_cannot_be_written_to_keeps_its_files_for_the_next_write(tmp_path: Path) -> None:
    """A new page is refused, one that goes goes; its files are told of until they can be unlinked."""
    index, pages = tmp_path / "index", {URL: plain("Some tide."), OTHER: plain("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER], keep_bodies=True)
        ids = {each.source: each.document_id for each in kb.get_document_records()}
    said = in_its_own_name_space(
        """
index, kept = place / "index", place / "index" / "default.snapshots"
mounted("--bind", str(kept), str(kept))
mounted("-o", "remount,bind,ro", str(kept))
pages = {URL: plain("Some tide."), OTHER: plain("Some other rock.")}
with web_collection(index, pages) as kb:
    try:
        kb.ingest(OTHER)
        sys.exit("it was written")
    except StorageError as error:
        print(error.failure.problem.value)
    assert [each.text for each in kb.search("rock", verify=True) if each.verification] == ["Some rock."]
    removed = kb.remove(URL)
    assert removed.removed == (URL,)
    print(*(each.name for each in removed.unswept))
with web_collection(index, {OTHER: plain("Some rock.")}) as kb:
    for _ in range(2):
        report = kb.ingest(OTHER)
        assert report.unchanged == 1
        print(*(each.name for each in report.unswept), *(each.detail for each in report.unswept), sep=": ")
    (finding,) = kb.doctor().findings
    print(finding.subject)
""",
        tmp_path,
    )
    told = f"{ids[URL]}: Read-only file system"
    assert said.splitlines() == ["denied", ids[URL], told, told, ids[URL]]
    assert not at_rest(index)
    with web_collection(index, pages) as kb:
        assert kb.ingest(OTHER).unswept == ()
        assert kb.doctor().healthy
    assert at_rest(index)


@contextmanager
def immutable(path: Path) -> Iterator[None]:
    changing = ["chattr", "+i", path]
    if shutil.which("chattr") is None or subprocess.run(changing, capture_output=True, check=False).returncode:
        pytest.skip("no file can be made immutable here")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", path], check=True)


def test_a_file_that_cannot_be_unlinked_is_told_of_until_it_can(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: plain("Some tide."), OTHER: plain("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER], keep_bodies=True)
        old = kb.get_document_records(URL)[0].document_id
        with immutable(index / "default.snapshots" / old):
            pages[URL] = plain("Some other tide.")
            report = kb.ingest(URL, keep_bodies=True)
            assert (report.updated, [each.name for each in report.unswept]) == (1, [old])
            assert [each.name for each in kb.ingest(OTHER).unswept] == [old]
            assert [hit.text for hit in kb.search("tide", verify=True) if hit.verification] == ["Some other tide."]
            assert [each.name for each in kb.remove(OTHER).unswept] == [old]
        assert kb.ingest(URL).unswept == ()
        assert kb.doctor().healthy
    assert at_rest(index)


def test_a_drop_that_cannot_unlink_a_file_says_so_and_is_finished_by_the_next_one(tmp_path: Path) -> None:
    index, pages = tmp_path / ".groundkit", {URL: plain("Some tide."), OTHER: plain("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER], keep_bodies=True)
        with immutable(index / "default.snapshots" / kb.get_document_records(URL)[0].document_id):
            with pytest.raises(StorageError) as refused:
                kb.drop()
            assert isinstance(refused.value.failure, StorageFailure)
            assert refused.value.failure.problem is StorageProblem.DENIED
            assert not kb.exists
        kb.drop()
    assert {each.name for each in index.iterdir()} == {"default.lock"}


@pytest.mark.parametrize("step", ["drop", "discard", "remove_files"])
def test_a_drop_that_was_killed_is_finished_from_the_command_line(tmp_path: Path, step: str) -> None:
    index, pages = tmp_path / ".groundkit", {URL: plain("Some tide.")}
    ports = web_ports(index, pages)
    with web_collection(index, pages) as kb:
        kb.ingest(URL, keep_bodies=True)
    fault = Fault(step, 1, "kill after" if step == "drop" else "kill before")
    faulty = evolve(
        ports,
        documents=Faulty(ports.documents, fault),
        snapshots=Faulty(ports.snapshots, fault),
        bodies=Faulty(ports.bodies, fault),
    )
    with Collection(faulty, index, "default", None) as kb, pytest.raises(Killed):
        kb.drop()
    ran = gk(tmp_path, "drop", "default", "--yes")
    assert (ran.code, ran.out) == (0, "dropped default\n"), ran.err
    assert {each.name for each in index.iterdir()} == {"default.lock"}
    assert gk(tmp_path, "drop", "default", "--yes").code == 2

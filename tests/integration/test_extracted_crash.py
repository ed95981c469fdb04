"""Laws 9, 11 and 12 where workers extract: `gk ingest` killed or interrupted at any moment, twice at once, or looked at."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from attrs import evolve, frozen
from commands import environment
from hypothesis import settings
from integration.support import COLLECTION, INDEX, Answers, Launcher, answers, contents, plainly, put
from pdf_builder import pdf, prose

from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.config import UnknownCollection
from groundkit.core.extraction import Hint
from groundkit.core.fingerprint import text_digest
from groundkit.core.kinds import Loader, kind_of
from groundkit.core.model import DocumentRecord, Reason
from groundkit.core.result import Failure
from groundkit.core.storage import AllRecords
from groundkit.errors import GroundkitError
from groundkit.extractors import Registry
from groundkit.testing import InlineExtractions

pytestmark = pytest.mark.slow

#: In the gate over both tests that kill, and at night.
KILLS = 16 if settings().max_examples < 1000 else 500
QUERIES = ("ferry", "tide harbour", '"ferry tide"', "old", "new", "kept", "alpha beta")
#: Seconds within which a worker whose owner is gone has to be gone too. It notices at once; a busy machine may not.
PATIENCE = 30.0
PROC = Path("/proc")

#: Small batches, so that there is much to be killed between. What was printed was acknowledged.
_GK = """
import os, sys
import groundkit.ingest
from groundkit.cli import main
groundkit.ingest.BATCH_DOCUMENTS = 3
_, place, os.environ["GK_TEST_MARK"] = sys.argv
os.chdir(place)
for path in ("papers", "."):
    sys.argv = ["gk", "ingest", path, "--base-dir", ".", "--jobs", "2"]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
    print("told", path, flush=True)
"""
Files = Mapping[str, bytes]


def old() -> dict[str, bytes]:
    return _common("old") | {f"gone/{at}{end}": data for end, data in _formats("gone", 0).items() for at in range(2)}


def new() -> dict[str, bytes]:
    return _common("new") | {f"papers/added{end}": data for end, data in _formats("added new", 1).items()}


def _common(word: str) -> dict[str, bytes]:
    changing = {f"papers/{at}{end}": data for at in range(3) for end, data in _formats(f"{word} {at}", at).items()}
    return changing | {f"kept/{at}{end}": data for at in range(2) for end, data in _formats(f"kept {at}", at).items()}


def _formats(word: str, more: int) -> dict[str, bytes]:
    """The same words as Markdown, PDF and HTML; `more` makes it longer."""
    said = f"{word} ferry tide"
    pages = [f"{said} page {page}\n{words}" for page, words in enumerate(prose(1 + more, lines=12))]
    paragraphs = "".join(f"<p id=p{at}>{said} harbour</p>" for at in range(10 * more + 1))
    return {
        ".md": f"# {word}\n\n{said}\n\n".encode() * (more + 1),
        ".pdf": pdf(pages, title=word),
        ".html": f"<!doctype html><title>{word}</title><h1>{word}</h1>{paragraphs}".encode(),
    }


def inline(base: Path) -> Collection:
    """A collection that starts no process, for looking and for comparing."""
    ports = evolve(ports_for(base / INDEX, COLLECTION), extractions=lambda _: InlineExtractions())
    return Collection(ports, base / INDEX, COLLECTION, base)


@frozen
class Seen:
    contents: dict[str, object]
    answers: Answers

    @staticmethod
    def of(base: Path) -> "Seen":
        with inline(base) as collection:
            return Seen(contents(base), answers(collection, QUERIES, limit=50))


class Oracle:
    """What a fresh collection of some files holds and answers, and which bytes a record was made from."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._known: dict[frozenset[tuple[str, bytes]], tuple[Seen, list[DocumentRecord]]] = {}
        versions = [*old().items(), *new().items()]
        self._made_from = {(source, sha256(data).hexdigest()): data for source, data in versions}

    def of(self, files: Files) -> tuple[Seen, list[DocumentRecord]]:
        key = frozenset(files.items())
        if key not in self._known:
            base = self._place / str(len(self._known))
            put(base, files or {"none.md": b""})
            with inline(base) as collection:
                assert collection.ingest("").complete
                if not files:
                    collection.remove("none.md")
                self._known[key] = Seen.of(base), timeless(collection)
        return self._known[key]

    def files(self, records: tuple[DocumentRecord, ...]) -> dict[str, bytes]:
        digests = {
            each.source: each.extraction.source_digest if each.extraction else each.text_digest for each in records
        }
        return {source: self._made_from[source, digest] for source, digest in digests.items()}


def timeless(collection: Collection) -> list[DocumentRecord]:
    return [evolve(each, ingested_at="") for each in collection.get_document_records()]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    launched = Launcher(tmp_path_factory.mktemp("launcher"))
    yield launched
    launched.close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the old state."""
    base = tmp_path_factory.mktemp("prepared")
    put(base, old())
    with inline(base) as collection:
        assert collection.ingest("").complete
    return base


def copied(prepared: Path, place: Path, files: Files) -> Path:
    shutil.copytree(prepared / INDEX, place / INDEX)
    put(place, files)
    return place


def marked(mark: str) -> list[str]:
    """The processes that inherited this mark and are no mere entries of a table; none where that cannot be asked."""
    found = []
    for each in PROC.glob("[0-9]*/environ"):
        try:
            if f"GK_TEST_MARK={mark}".encode() in each.read_bytes().split(b"\0"):
                found.append(each.parent.name)
        except OSError:  # it ended meanwhile, or is another user's
            continue
    return found


def all_are_gone(mark: str) -> bool:
    end = time.monotonic() + PATIENCE
    while marked(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def shows_a_committed_state(base: Path, oracle: Oracle) -> dict[str, bytes]:
    """Rows are those of the finished generation, answers those of one end or the other; gives what was accepted."""
    ports = ports_for(base / INDEX, COLLECTION)
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):  # as the error that it is at the public face
        with inline(base) as collection:
            collection.status()
    try:
        with closing(viewed.unwrap()) as view:
            ends = (view.state.current, view.state.tip)
            current, tip = (oracle.files(view.records(AllRecords(), each.mark.generation).unwrap()) for each in ends)
    finally:
        ports.documents.close()
    found = Seen.of(base)
    assert found.contents == oracle.of(current)[0].contents
    assert found.answers in (oracle.of(current)[0].answers, oracle.of(tip)[0].answers)
    return tip


def ends_like_a_fresh_one(base: Path, files: Files, oracle: Oracle) -> None:
    """The next ingest completes by itself, and nothing shows that there was a kill."""
    with inline(base) as collection:
        report = collection.ingest("")
        assert report.complete
        assert report.pending is None
        assert collection.doctor().healthy
        assert all(each.verification for each in collection.verify_all())
        assert (Seen.of(base), timeless(collection)) == oracle.of(files)
    names = {each.name for each in (base / INDEX).iterdir()}
    ends = (".sqlite3", ".sqlite3-wal", ".sqlite3-shm", ".lexical", ".cache", ".lock")
    assert names <= {f"{COLLECTION}{end}" for end in ends}


def as_told(found: Files, said: str) -> bool:
    """Whether everything is there that was acknowledged."""
    if "told ." in said:
        return found == new()
    papers = {source: data for source, data in new().items() if source.startswith("papers/")}
    return "told papers" not in said or papers.items() <= found.items()


def moments(name: str, share: int, length: float) -> list[float]:
    """One random moment in each of equal parts of a run. Seeded; where it falls in the work varies all the same."""
    chance, count = random.Random(name), KILLS // share
    return [(part + chance.random()) * length / count for part in range(count)]


def test_a_first_ingest_killed_at_any_moment(tmp_path: Path, launcher: Launcher, oracle: Oracle) -> None:
    put(tmp_path / "timed", new())
    length = launcher.run(_GK, tmp_path / "timed", tmp_path / "timed").seconds
    assert Seen.of(tmp_path / "timed") == oracle.of(new())[0]
    kills = 0
    for number, moment in enumerate(moments("first", 2, length)):
        base = tmp_path / str(number)
        put(base, new())
        ended = launcher.run(_GK, base, base, after=moment)
        assert ended.code in (0, -9), ended.said
        kills += ended.code == -9
        assert all_are_gone(str(base))
        try:
            found = shows_a_committed_state(base, oracle)
        except GroundkitError as error:  # killed before there was a collection
            assert isinstance(error.failure, UnknownCollection)
            assert "told" not in ended.said
        else:
            assert as_told(found, ended.said)
        ends_like_a_fresh_one(base, new(), oracle)
    assert kills > KILLS // 8


def test_an_ingest_over_an_older_state_killed_twice(
    tmp_path: Path, launcher: Launcher, oracle: Oracle, prepared: Path
) -> None:
    timed = copied(prepared, tmp_path / "timed", new())
    length = launcher.run(_GK, timed, timed).seconds
    kills = 0
    for number, moment in enumerate(moments("again", 4, length)):
        base = copied(prepared, tmp_path / str(number), new())
        said = ""
        for after in (moment, length * 0.5):
            ended = launcher.run(_GK, base, base, after=after)
            assert ended.code in (0, -9), ended.said
            kills += ended.code == -9
            said += ended.said
            assert all_are_gone(str(base))
            assert as_told(shows_a_committed_state(base, oracle), said)
        ends_like_a_fresh_one(base, new(), oracle)
    assert kills > KILLS // 6


def started(base: Path, *arguments: str) -> "subprocess.Popen[str]":
    """`gk ingest` as a shell starts it: a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "groundkit", "ingest", "--base-dir", ".", "--jobs", "2", *arguments],
        cwd=base,
        env=environment(GK_TEST_MARK=str(base)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def test_control_c_ends_it_in_one_line_and_its_workers_with_it(tmp_path: Path, oracle: Oracle) -> None:
    """The terminal signals the whole group. At work by the time there is an index directory: what came before is Python's."""
    interrupted = 0
    for number in range(KILLS // 4):
        base = tmp_path / str(number)
        put(base, new())
        with started(base, ".") as process:
            while not (base / INDEX).exists() and process.poll() is None:
                time.sleep(0.005)
            while number % 2 and PROC.is_dir() and len(marked(str(base))) < 2 and process.poll() is None:
                time.sleep(0.005)  # until a worker is there
            time.sleep(number * 0.06)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            said, errors = process.communicate(timeout=60)
        if process.returncode != 0:
            interrupted += 1
            assert (process.returncode, said) == (130, ""), errors
            assert errors == "gk: interrupted; what was committed stays\n"
        assert all_are_gone(str(base))
        try:
            shows_a_committed_state(base, oracle)
        except GroundkitError as error:
            assert isinstance(error.failure, UnknownCollection)
        ends_like_a_fresh_one(base, new(), oracle)
    assert interrupted


def test_two_ingests_at_once_are_one_after_the_other(tmp_path: Path, oracle: Oracle) -> None:
    put(tmp_path, new())
    with started(tmp_path, ".", "--wait", "60") as first, started(tmp_path, "papers", "--wait", "60") as second:
        for process in (first, second):
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors
    assert all_are_gone(str(tmp_path))
    with inline(tmp_path) as collection:
        assert collection.ingest("").unchanged == len(new())
    ends_like_a_fresh_one(tmp_path, new(), oracle)


def text_now(source: str, data: bytes) -> str:
    kind = kind_of(source)
    assert kind is not None
    if kind.loader is not Loader.EXTRACTOR:
        return data.decode()
    return Registry().reader_of(kind.media_type).unwrap().extractor.extract(data, Hint(kind.media_type)).unwrap().text


def test_verification_beside_an_ingest_says_what_the_files_say(tmp_path: Path, prepared: Path, oracle: Oracle) -> None:
    """Of documents of either state. That the text is extracted in another process beside it changes no verdict."""
    base = copied(prepared, tmp_path / "base", old() | new())
    texts = {source: text_now(source, data) for source, data in (old() | new()).items()}
    reasons: list[Reason] = []
    with inline(base) as collection, started(base, ".") as process:
        while process.poll() is None or not reasons:
            for each in collection.verify_all():
                cited = each.citation
                same = text_digest(texts[cited.source][cited.span.start : cited.span.end]) == cited.digest
                assert plainly(each.verification.reason) is (Reason.SAME if same else Reason.CHANGED), each
                reasons.append(plainly(each.verification.reason))
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert all(each.verification for each in collection.verify_all())
    assert Reason.CHANGED in reasons
    assert all_are_gone(str(base))
    ends_like_a_fresh_one(base, old() | new(), oracle)

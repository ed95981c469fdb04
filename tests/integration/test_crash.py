"""Law 12: whoever is killed at any moment leaves a collection that opens, answers from a committed state, and goes on."""

import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings
from integration.support import (
    COLLECTION,
    INDEX,
    Answers,
    Ended,
    Launcher,
    answers,
    contents,
    fresh,
    opened,
    put,
    state_at,
)

from groundkit.compose import ports_for
from groundkit.config import UnknownCollection
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import DocumentRecord
from groundkit.core.result import Failure
from groundkit.core.storage import AllRecords
from groundkit.errors import GroundkitError

pytestmark = pytest.mark.slow

#: Sixty kills in the gate over all tests here, a thousand at night.
KILLS = 60 if settings().max_examples < 1000 else 1000
QUERIES = ("ferry", "tide harbour", '"ferry tide"', "old", "new", "kept")

#: Small batches, so that there is much to be killed between. What was printed was acknowledged.
_INGEST = """
import sys
import groundkit, groundkit.ingest
groundkit.ingest.BATCH_DOCUMENTS = 4
with groundkit.open(sys.argv[1], base=sys.argv[2]) as collection:
    for path in ("changes", "kept", ""):
        report = collection.ingest(path)
        print(path or "all", "pending" if report.pending else "", flush=True)
"""
_REMOVE = """
import sys
import groundkit
with groundkit.open(sys.argv[1], base=sys.argv[2]) as collection:
    for folder in ("gone", "changes/1.md", "kept/1.md"):
        collection.remove(folder)
        print(folder, flush=True)
"""
_CHANGE_LANGUAGE = """
import sys
import groundkit
with groundkit.open(sys.argv[1], base=sys.argv[2]) as collection:
    for language in ("german", "english", "german"):
        collection.ingest("", language=language)
        print(language, flush=True)
"""
_DROP = """
import sys
import groundkit
with groundkit.open(sys.argv[1], base=sys.argv[2]) as collection:
    collection.drop()
    print("dropped", flush=True)
"""
_GK = """
import os, sys
import groundkit.ingest
from groundkit.cli import main
groundkit.ingest.BATCH_DOCUMENTS = 3
os.chdir(sys.argv.pop(1))
sys.exit(main())
"""


def old() -> dict[str, str]:
    gone = {f"gone/{at}.md": f"ferry {at}\n" for at in range(3)}
    return gone | _common("old")


def new() -> dict[str, str]:
    return _common("new") | {"changes/added.md": "# Added\n\nnew\n"}


def _common(word: str) -> dict[str, str]:
    changes = {f"changes/{at}.md": f"# {word} {at}\n\n{word} ferry tide\n\n" * (at + 1) for at in range(7)}
    return changes | {f"kept/{at}.md": f"# Kept {at}\n\ntide harbour {at}\n" for at in range(4)}


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    launched = Launcher(tmp_path_factory.mktemp("launcher"))
    yield launched
    launched.close()


class Oracle:
    """What a fresh collection of some documents holds and answers; remembered, since few sets of them occur."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._known: dict[frozenset[tuple[str, str]], tuple[dict[str, object], Answers]] = {}

    def of(self, files: dict[str, str]) -> tuple[dict[str, object], Answers]:
        key = frozenset(files.items())
        if key not in self._known:
            base = self._place / str(len(self._known))
            with fresh(base, files or {"none.md": ""}) as collection:
                if not files:
                    collection.remove("none.md")
                self._known[key] = contents(base), answers(collection, QUERIES, limit=50)
        return self._known[key]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))


def seen(base: Path) -> tuple[dict[str, object], Answers]:
    with opened(base) as collection:
        return contents(base), answers(collection, QUERIES, limit=50)


def held(base: Path, *versions: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The text of each document that is held, each one of these versions: in the finished generation, and at the tip."""
    ports = ports_for(base / INDEX, COLLECTION)
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):  # as the error that it is at the public face
        with opened(base) as collection:
            collection.status()
    try:
        with closing(viewed.unwrap()) as view:
            ends = (view.state.current, view.state.tip)
            listed = [view.records(AllRecords(), each.mark.generation).unwrap() for each in ends]
    finally:
        ports.documents.close()
    current, tip = ({each.source: text_of(each, versions) for each in records} for records in listed)
    return current, tip


def text_of(record: DocumentRecord, versions: tuple[dict[str, str], ...]) -> str:
    texts = {files[record.source] for files in versions if record.source in files}
    (found,) = (text for text in texts if text_digest(text) == record.text_digest)
    return found


def shows_a_committed_state(base: Path, oracle: "Oracle", *versions: dict[str, str]) -> dict[str, str]:
    """Rows are those of the finished generation, answers those of one end or the other; gives what was accepted."""
    current, tip = held(base, *versions)
    rows, answered = seen(base)
    assert rows == oracle.of(current)[0]
    assert answered in (oracle.of(current)[1], oracle.of(tip)[1])
    return tip


def moments(name: str, share: int, length: float) -> list[float]:
    """One random moment in each of equal parts of a run. Seeded; where it falls in the work varies all the same."""
    chance, count = random.Random(name), KILLS // share
    return [(part + chance.random()) * length / count for part in range(count)]


def copied(prepared: Path, place: Path, files: dict[str, str]) -> Path:
    shutil.copytree(prepared / INDEX, place / INDEX)
    put(place, files)
    return place


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the old state."""
    base = tmp_path_factory.mktemp("prepared")
    fresh(base, old()).close()
    return base


def ends_like_a_fresh_one(base: Path, files: dict[str, str], oracle: Oracle) -> None:
    """The next ingest completes by itself, and nothing shows that there was a kill."""
    with opened(base) as collection:
        report = collection.ingest("")
        assert report.complete
        assert report.pending is None
        assert collection.doctor().healthy
    assert seen(base) == oracle.of(files)
    names = {each.name for each in (base / INDEX).iterdir()}
    assert names <= {f"{COLLECTION}{end}" for end in (".sqlite3", ".sqlite3-wal", ".sqlite3-shm", ".lexical", ".lock")}
    builds = [each.name for each in (base / INDEX / f"{COLLECTION}.lexical").iterdir() if each.name.isdecimal()]
    assert builds == [str(state_at(base).build)]


def acknowledged(ended: Ended) -> list[str]:
    assert ended.code in (0, -9), ended.said
    assert "pending" not in ended.said
    return ended.said.split()


def as_told(found: dict[str, str], told: list[str]) -> bool:
    """Whether everything is there that was acknowledged."""
    if "all" in told:
        return found == new()
    return all(found.get(source) == text for source, text in new().items() if source.split("/")[0] in told)


def test_a_first_ingest_killed_at_any_moment(tmp_path: Path, launcher: Launcher, oracle: Oracle) -> None:
    put(tmp_path / "timed", new())
    length = launcher.run(_INGEST, tmp_path / "timed" / INDEX, tmp_path / "timed").seconds
    kills = 0
    for number, moment in enumerate(moments("first", 6, length)):
        base = tmp_path / str(number)
        put(base, new())
        ended = launcher.run(_INGEST, base / INDEX, base, after=moment)
        kills += ended.code == -9
        told = acknowledged(ended)
        try:
            found = shows_a_committed_state(base, oracle, new())
        except GroundkitError as error:  # killed before there was a collection
            assert isinstance(error.failure, UnknownCollection)
            assert not told
        else:
            assert as_told(found, told)
        ends_like_a_fresh_one(base, new(), oracle)
    assert kills > KILLS // 12


def test_an_ingest_over_an_older_state_killed_twice(
    tmp_path: Path, launcher: Launcher, oracle: Oracle, prepared: Path
) -> None:
    length = launcher.run(_INGEST, copied(prepared, tmp_path / "timed", new()) / INDEX, tmp_path / "timed").seconds
    kills = 0
    for number, moment in enumerate(moments("again", 5, length)):
        base = copied(prepared, tmp_path / str(number), new())
        told: list[str] = []
        for after in (moment, length * 0.4):
            ended = launcher.run(_INGEST, base / INDEX, base, after=after)
            kills += ended.code == -9
            told += acknowledged(ended)
            found = shows_a_committed_state(base, oracle, old(), new())
            assert as_told(found, told)
        ends_like_a_fresh_one(base, new(), oracle)
    assert kills > KILLS // 5


def test_a_removal_killed_at_any_moment(tmp_path: Path, launcher: Launcher, oracle: Oracle, prepared: Path) -> None:
    length = launcher.run(_REMOVE, copied(prepared, tmp_path / "timed", old()) / INDEX, tmp_path / "timed").seconds
    for number, moment in enumerate(moments("remove", 10, length)):
        base = copied(prepared, tmp_path / str(number), old())
        told = acknowledged(launcher.run(_REMOVE, base / INDEX, base, after=moment))
        found = shows_a_committed_state(base, oracle, old())
        for source in found:
            assert not any(source == name or source.startswith(f"{name}/") for name in told)
        assert set(old()) - set(found) <= {"gone/0.md", "gone/1.md", "gone/2.md", "changes/1.md", "kept/1.md"}
        ends_like_a_fresh_one(base, old(), oracle)


def test_a_drop_killed_at_any_moment(tmp_path: Path, launcher: Launcher, oracle: Oracle, prepared: Path) -> None:
    length = launcher.run(_DROP, copied(prepared, tmp_path / "timed", old()) / INDEX, tmp_path / "timed").seconds
    for number, moment in enumerate(moments("drop", 10, length)):
        base = copied(prepared, tmp_path / str(number), new())
        told = acknowledged(launcher.run(_DROP, base / INDEX, base, after=moment))
        try:
            found = shows_a_committed_state(base, oracle, old())
        except GroundkitError as error:
            assert isinstance(error.failure, UnknownCollection)
        else:
            assert not told
            assert found == old()
        ends_like_a_fresh_one(base, new(), oracle)


def test_a_change_of_language_killed_at_any_moment(tmp_path: Path, launcher: Launcher, prepared: Path) -> None:
    length = launcher.run(
        _CHANGE_LANGUAGE, copied(prepared, tmp_path / "timed", old()) / INDEX, tmp_path / "timed"
    ).seconds
    allowed = []
    for language in ("german", "english"):
        with fresh(tmp_path / language, old(), language=language) as collection:
            allowed.append((contents(tmp_path / language), answers(collection, QUERIES, limit=50)))
    for number, moment in enumerate(moments("language", 6, length)):
        base = copied(prepared, tmp_path / str(number), old())
        told = acknowledged(launcher.run(_CHANGE_LANGUAGE, base / INDEX, base, after=moment))
        assert seen(base)[1] in [each[1] for each in allowed]
        with opened(base) as collection:
            collection.ingest("")
            language = collection.status().settings.language
            assert collection.doctor().healthy
        assert language in ("english", "german", "english", "german")[len(told) : len(told) + 2]
        assert seen(base) == allowed[("german", "english").index(language)]


def test_an_interrupted_ingest_says_so_in_one_line_and_keeps_what_was_committed(
    tmp_path: Path, launcher: Launcher, oracle: Oracle
) -> None:
    put(tmp_path / "timed", new())
    arguments = ("ingest", ".", "--base-dir", ".")
    length = launcher.run(_GK, tmp_path / "timed", *arguments).seconds
    interrupted = 0
    for number in range(6):
        base = tmp_path / str(number)
        put(base, new())
        ended = launcher.run(_GK, base, *arguments, after=length * (0.2 + number / 9), signal="SIGINT")
        if ended.code != 0:
            interrupted += 1
            assert ended.code == 130, ended.said
            assert ended.said == "gk: interrupted; what was committed stays\n"
        try:
            shows_a_committed_state(base, oracle, new())
        except GroundkitError as error:
            assert isinstance(error.failure, UnknownCollection)
        ends_like_a_fresh_one(base, new(), oracle)
    assert interrupted

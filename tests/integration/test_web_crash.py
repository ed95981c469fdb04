"""Laws 9, 11 and 12 where pages are fetched: whoever is killed leaves rows whose files are there, and the next is at rest."""

import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from attrs import evolve, frozen
from hypothesis import settings
from integration.support import INDEX, Answers, Launcher, answers, contents
from web_driver import URLS
from web_server import Seen, WebServer, scripted
from web_support import at_rest, bodies, named, snapshots, web_ports

from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.config import UnknownCollection
from groundkit.core.result import Failure
from groundkit.core.storage import AllRecords
from groundkit.errors import GroundkitError
from groundkit.testing import InlineExtractions
from groundkit.testing.memory_web import ScriptedPage

pytestmark = pytest.mark.slow

#: Trials in the gate over all tests here, and at night.
TRIALS = 60 if settings().max_examples < 1000 else 1000
QUERIES = ("ferry", "tide harbour", '"ferry tide"', "old", "new", "kept", "gone", "failing")

_DRIVE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from web_driver import main
main(*sys.argv[1:])
"""
_PRELOAD = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
import bs4, httpcore, warcio, web_driver
import groundkit.adapters.html.extractor, groundkit.adapters.html.text, groundkit.adapters.web.archive
import groundkit.drop, groundkit.retaining
"""

CHANGED, HTML, KEPT, FAILING, ADDED, GONE = (
    URLS[0:7],
    URLS[7:9],
    URLS[9:15],
    URLS[15:18],
    URLS[18:20],
    URLS[20:24],
)
#: Half of the changing ones, some that stay, all that fail now; the first two are acknowledged before the rest begins.
STEPS = ("ingest:4:12:keep", "remove:20:24", "ingest:0:20")
Web = Mapping[str, ScriptedPage]


def plain(text: str, **how: str) -> ScriptedPage:
    return ScriptedPage(text.encode(), "text/plain; charset=utf-8", **how)


def _said(url: str, word: str, repeated: int) -> str:
    return f"# {word} {url}\n\n{word} ferry tide\n\n" * repeated


def _common(word: str) -> dict[str, ScriptedPage]:
    """With and without an entity tag."""
    changing = {url: plain(_said(url, word, at + 1), etag=f'"{word}"' * (at % 2)) for at, url in enumerate(CHANGED)}
    html = {url: ScriptedPage(f"<title>{word}</title><h1>{word}</h1><p>{url} ferry tide".encode()) for url in HTML}
    kept = {url: plain(f"kept tide harbour {at}\n", etag='"kept"' * (at % 2)) for at, url in enumerate(KEPT)}
    return changing | html | kept


OLD: Web = (
    _common("old")
    | {url: plain(f"failing {url} ferry\n") for url in FAILING}
    | {url: plain(f"gone {url} ferry\n") for url in GONE}
)
#: Of a first ingest and of a later one; the former has no page that fails.
FIRST: Web = _common("new") | {url: plain(f"added new {url}\n") for url in ADDED}
NEW: Web = FIRST | {
    FAILING[0]: ScriptedPage(status=503),
    FAILING[1]: ScriptedPage(b"GIF89a", "image/gif"),
    FAILING[2]: ScriptedPage(b"?", "text/plain", headers=(("Content-Encoding", "rot13"),)),
}
#: What a later ingest ends in: a page that fails keeps its last good version.
LATER: Web = FIRST | {url: OLD[url] for url in FAILING}


class Site:
    """A server whose pages may be others for the next trial."""

    def __init__(self) -> None:
        self.pages: Web = {}
        self.server = WebServer(self._play)

    def _play(self, seen: Seen) -> object:
        return scripted(self.pages)(seen)

    def serving(self, pages: Web) -> str:
        self.pages = pages
        return str(self.server.port)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.server.close()


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    launched = Launcher(tmp_path_factory.mktemp("launcher"), _PRELOAD)
    yield launched
    launched.close()


def beside(base: Path, pages: Web | None = None) -> Collection:
    """The collection in this process, with these pages."""
    ports = web_ports(base / INDEX, dict(pages or {}))
    return Collection(evolve(ports, extractions=lambda _: InlineExtractions()), base / INDEX, "default", None)


def exists(base: Path) -> bool:
    with beside(base) as collection:
        return collection.exists


@frozen
class Whole:
    """What a fresh collection of some pages holds and answers."""

    contents: dict[str, object]
    answers: Answers


class Oracle:
    def __init__(self, place: Path) -> None:
        self._place = place
        self._known: dict[str, Whole] = {}

    def of(self, name: str, pages: Web) -> Whole:
        if name not in self._known:
            base = self._place / name
            with beside(base, pages) as collection:
                report = collection.ingest(list(pages))
                assert report.failed == ()
                self._known[name] = Whole(contents(base), answers(collection, QUERIES, limit=50))
        return self._known[name]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the old state; of some pages the raw responses are kept, too."""
    base = tmp_path_factory.mktemp("prepared")
    with beside(base, OLD) as collection:
        assert collection.ingest([*CHANGED, *FAILING, *GONE[:2]], keep_bodies=True).failed == ()
        assert collection.ingest(list(OLD)).failed == ()
    assert at_rest(base / INDEX)
    assert len(bodies(base / INDEX)) == 12
    return base


def copied(prepared: Path, place: Path) -> Path:
    shutil.copytree(prepared / INDEX, place / INDEX)
    return place


def held(base: Path) -> dict[str, str]:
    """The digest of the body of each page that is accepted. Nothing of it, once the collection is gone."""
    ports = ports_for(base / INDEX, "default")
    try:
        viewed = ports.documents.view()
        if isinstance(viewed, Failure):
            return {}
        with closing(viewed.unwrap()) as view:
            records = view.records(AllRecords(), view.state.tip.mark.generation).unwrap()
            return {each.source: each.extraction.source_digest for each in records if each.extraction}
    finally:
        ports.documents.close()


def is_version(found: Mapping[str, str], url: str, *webs: Web) -> bool:
    return url in found and any(found[url] == sha256(web[url].body).hexdigest() for web in webs if url in web)


def shows_a_committed_state(base: Path, oracle: Oracle, *webs: tuple[str, Web]) -> dict[str, str]:
    """Every page is of one of these webs, whole; no row names a missing file; every citation verifies."""
    rows, raw = named(base / INDEX)
    assert rows <= snapshots(base / INDEX)
    assert raw <= bodies(base / INDEX)
    with beside(base) as collection:
        collection.status()
        documents = {url: shape for url, shape in contents(base).items() if url}
        allowed = [oracle.of(*each).contents for each in webs]
        assert all(shape in [each.get(url) for each in allowed] for url, shape in documents.items())
        checked = list(collection.verify_all())
        assert all(each.verification for each in checked)
        for hits in (collection.search(query, limit=50, verify=True) for query in QUERIES[:4]):
            assert all(hit.verification for hit in hits)
            assert {hit.source for hit in hits} <= {each.citation.source for each in checked}
    return held(base)


def ends_like_a_fresh_one(base: Path, web: Web, end: Whole) -> None:
    """The next writer leaves everything at rest, and nothing shows that there was a kill."""
    index = base / INDEX
    with beside(base, web) as collection:
        collection.ingest(KEPT[0])
        assert at_rest(index)
        assert collection.doctor().healthy
        collection.remove(GONE)
        assert collection.ingest(list(web)).unswept == ()
        assert at_rest(index)
        assert collection.doctor().healthy
        assert all(each.verification for each in collection.verify_all())
        assert Whole(contents(base), answers(collection, QUERIES, limit=50)) == end
    ends = (".sqlite3", ".sqlite3-wal", ".sqlite3-shm", ".lexical", ".lock", ".snapshots", ".bodies")
    assert {each.name for each in index.iterdir()} <= {f"default{end}" for end in ends}


def acknowledged(ended: object) -> list[str]:
    assert ended.code in (0, -9), ended.said  # type: ignore[attr-defined]
    return ended.said.split()  # type: ignore[attr-defined, no-any-return]


def as_told(found: Mapping[str, str], told: list[str], before: Web = {}) -> bool:  # noqa: B006 - nobody changes it
    """Everything that was acknowledged is there or gone, and a page that failed keeps what it had."""
    ended = FIRST if not before else LATER
    for step in told:
        name, *which = step.split(":")
        urls = URLS[int(which[0]) : int(which[1])]
        if name == "remove":
            assert not found.keys() & set(urls)
        else:
            assert all(is_version(found, url, ended) for url in urls if url in ended)
    return all(is_version(found, url, before, ended) for url in before if url not in GONE)


def moments(name: str, count: int, begin: float, end: float) -> list[float]:
    """One random moment in each of equal parts of a run. Seeded; where it falls in the work varies all the same."""
    chance = random.Random(name)
    return [begin + (part + chance.random()) * (end - begin) / count for part in range(count)]


def test_a_first_ingest_killed_at_any_moment(tmp_path: Path, site: Site, launcher: Launcher, oracle: Oracle) -> None:
    port, end = site.serving(FIRST), oracle.of("first", FIRST)
    length = launcher.run(_DRIVE, tmp_path / "timed" / INDEX, port, *STEPS).seconds
    kills, trials = 0, TRIALS // 6
    for number, moment in enumerate(moments("first", trials, 0, length)):
        base = tmp_path / str(number)
        ended = launcher.run(_DRIVE, base / INDEX, port, *STEPS, after=moment)
        kills += ended.code == -9
        told = acknowledged(ended)
        if exists(base):
            assert as_told(shows_a_committed_state(base, oracle, ("first", FIRST)), told)
        else:
            assert not told
        ends_like_a_fresh_one(base, FIRST, end)
    assert kills > trials // 2


def test_a_later_ingest_killed_and_the_next_one_too(
    tmp_path: Path, site: Site, launcher: Launcher, oracle: Oracle, prepared: Path
) -> None:
    port, end = site.serving(NEW), oracle.of("later", LATER)
    webs = (("old", OLD), ("later", LATER))
    timed = copied(prepared, tmp_path / "timed")
    length = launcher.run(_DRIVE, timed / INDEX, port, *STEPS).seconds
    ends_like_a_fresh_one(timed, NEW, end)
    kills, trials = 0, TRIALS // 2
    # Every other trial has a second kill; half of these come early, where the first one's work is finished or undone.
    seconds = moments("recovery", trials, 0, length / 3), moments("second", trials, 0, length)
    for number, moment in enumerate(moments("later", trials, 0, length)):
        base = copied(prepared, tmp_path / str(number))
        told: list[str] = []
        for after in (moment, seconds[number % 4 // 2][number])[: 1 + number % 2]:
            ended = launcher.run(_DRIVE, base / INDEX, port, *STEPS, after=after)
            kills += ended.code == -9
            told += acknowledged(ended)
            assert as_told(shows_a_committed_state(base, oracle, *webs), told, OLD)
        ends_like_a_fresh_one(base, NEW, end)
        shutil.rmtree(base)
    assert kills > trials // 2


def test_a_removal_killed_at_any_moment(
    tmp_path: Path, site: Site, launcher: Launcher, oracle: Oracle, prepared: Path
) -> None:
    port, end = site.serving(NEW), oracle.of("later", LATER)
    steps = [f"remove:{at}:{at + 2}" for at in (20, 0, 15, 22)]
    length = launcher.run(_DRIVE, copied(prepared, tmp_path / "timed") / INDEX, port, *steps).seconds
    for number, moment in enumerate(moments("remove", TRIALS // 6, 0, length)):
        base = copied(prepared, tmp_path / str(number))
        told = acknowledged(launcher.run(_DRIVE, base / INDEX, port, *steps, after=moment))
        found = shows_a_committed_state(base, oracle, ("old", OLD))
        gone = {url for step in told for url in URLS[int(step.split(":")[1]) : int(step.split(":")[2])]}
        assert not gone & found.keys()
        assert {*OLD} - {*found} <= {*URLS[20:24], *URLS[0:2], *URLS[15:17]}
        # What was removed and fails now is not there any more.
        with beside(base, OLD) as collection:
            collection.ingest(FAILING)
            assert at_rest(base / INDEX)
        ends_like_a_fresh_one(base, NEW, end)


def test_a_drop_killed_at_any_moment(
    tmp_path: Path, site: Site, launcher: Launcher, oracle: Oracle, prepared: Path
) -> None:
    """It was not begun, or the collection is unknown; dropping again, or a new beginning, finishes it."""
    port, end = site.serving(FIRST), oracle.of("first", FIRST)
    length = launcher.run(_DRIVE, copied(prepared, tmp_path / "timed") / INDEX, port, "drop").seconds
    kept_whole = 0
    for number, moment in enumerate(moments("drop", TRIALS // 6, 0, length)):
        base = copied(prepared, tmp_path / str(number))
        told = acknowledged(launcher.run(_DRIVE, base / INDEX, port, "drop", after=moment))
        there = exists(base)
        assert not (there and told)
        if there:
            kept_whole += 1
            assert shows_a_committed_state(base, oracle, ("old", OLD)).keys() == OLD.keys()
        if there or number % 2:
            with beside(base) as collection:
                try:
                    collection.drop()
                except GroundkitError as error:
                    assert isinstance(error.failure, UnknownCollection)
            assert {each.name for each in (base / INDEX).iterdir()} <= {"default.lock"}
        ends_like_a_fresh_one(base, FIRST, end)
    assert kept_whole < TRIALS // 6

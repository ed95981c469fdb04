"""Law 11 and its neighbours: a real collection, driven at random beside a plain model of what it must hold."""

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

import pytest
from attrs import evolve
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from integration.support import INDEX, answers, contents, law_breaks, opened, plainly, put, stored

import groundkit
from groundkit.compose import ports_for
from groundkit.core.model import Reason, Verification
from groundkit.core.settings import Settings, SettingsChange
from groundkit.errors import ConfigurationError
from groundkit.ingest import IngestReport, IngestRequest, NothingToIngest, ingest
from groundkit.testing.memory_system import FrozenClock
from groundkit.testing.strategies import texts

LARGEST = 20_000
NAMES = ("a.md", "b.txt", "sub/c.md", "sub/d.txt", "sub/é 東.md", "sub.md", "z.markdown", "picture.bin")
WORDS = ("ferry", "harbour", "tide", "naïve", "東", "borrow", "checker", "Straße")
QUERIES = (
    *WORDS,
    "ferry tide harbour",
    '"ferry tide"',
    '"the borrow"',
    '"東"',
    "borrow checker",
    "the",
    "same passage",
    "nowhere",
)

_sentences = st.lists(st.sampled_from((*WORDS, "the", ".", "\n\n", "# ")), max_size=60).map(" ".join)
good = (_sentences | texts()).map(lambda text: text.replace("\0", "").encode())
bad = st.sampled_from((b"\xff\xfea", b"ferry \xc3", b"ferry\0tide", b"tide " * 5_000))


def readable(data: bytes) -> bool:
    try:
        return len(data) <= LARGEST and "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def taken(source: str, as_text: bool = False) -> bool:
    return as_text or not source.endswith(".bin")


class Machine(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.place = Path(mkdtemp(prefix="gk-model-"))
        self.base = self.place / "base"
        self.base.mkdir()
        self.disk: dict[str, bytes] = {}
        self.held: dict[str, bytes] = {}
        self.ways: dict[str, tuple[int, bool]] = {}
        self.failing: set[str] = set()
        self.size, self.language = 120, "english"
        self.exists = False
        self.collection = opened(self.base)

    # -- the world changes

    @rule(source=st.sampled_from(NAMES), data=good | good | good | bad)
    def write(self, source: str, data: bytes) -> None:
        self.disk[source] = data
        put(self.base, {source: data})

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        source = data.draw(st.sampled_from(sorted(self.disk)))
        old = self.disk[source]
        at = data.draw(st.integers(0, len(old)))
        gone = data.draw(st.integers(0, 40))
        self.write(
            source, old[:at] + data.draw(st.sampled_from((b"", b"tide", b" ferry tide ", b"\xff"))) + old[at + gone :]
        )

    @precondition(lambda self: self.disk)
    @rule(data=st.data(), to=st.sampled_from(NAMES))
    def rename(self, data: st.DataObject, to: str) -> None:
        source = data.draw(st.sampled_from(sorted(self.disk)))
        content = self.disk[source]
        self.delete(source)
        self.write(to, content)

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def delete_one(self, data: st.DataObject) -> None:
        self.delete(data.draw(st.sampled_from(sorted(self.disk))))

    def delete(self, source: str) -> None:
        del self.disk[source]
        (self.base / source).unlink()

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def empty(self, data: st.DataObject) -> None:
        self.write(data.draw(st.sampled_from(sorted(self.disk))), b"")

    # -- the collection is told

    @rule(
        size=st.sampled_from((None, None, None, 60, 300)),
        language=st.sampled_from((None, None, None, "english", "german", "none")),
        as_text=st.sampled_from((False, False, False, True)),
    )
    def ingest_all(self, size: int | None, language: str | None, as_text: bool) -> None:
        found = {source: data for source, data in self.disk.items() if taken(source, as_text)}
        self.size, self.language = size or self.size, language or self.language
        if not found and not self.held:
            with pytest.raises(ConfigurationError) as refused:
                self._ingest("", as_text)
            assert isinstance(refused.value.failure, NothingToIngest)
            return
        report = self._ingest("", as_text)
        failing = {source for source, data in found.items() if not readable(data)}
        assert {each.source for each in report.failed} == failing
        gone = set(self.held) - set(found)
        self.failing = failing
        if found:
            assert (report.removed, report.held_back) == (len(gone), ())
            for source in gone:
                del self.held[source]
        else:
            assert (report.removed, report.held_back) == (0, tuple(sorted(gone)))
        for source in set(found) - failing:
            self._take(source, as_text)

    @rule(source=st.sampled_from(NAMES[:-1]), as_text=st.sampled_from((False, False, True)))
    def ingest_one(self, source: str, as_text: bool) -> None:
        report = self._ingest(source, as_text)
        if source in self.disk and readable(self.disk[source]):
            assert not report.failed
            self.failing.discard(source)
            self._take(source, as_text)
        else:
            assert [each.source for each in report.failed] == [source]
            self.failing.add(source)

    def _ingest(self, path: str, as_text: bool) -> IngestReport:
        report = self.collection.ingest(
            path, chunk_size=self.size, max_bytes=LARGEST, language=self.language, as_text=as_text
        )
        self.exists = True
        assert report.pending is None
        return report

    def _take(self, source: str, as_text: bool) -> None:
        self.held[source], self.ways[source] = self.disk[source], (self.size, as_text)

    @precondition(lambda self: self.exists)
    @rule(source=st.sampled_from((*NAMES, "sub")))
    def remove(self, source: str) -> None:
        meant = sorted(each for each in self.held if each == source or each.startswith(f"{source}/"))
        lost = {each for each in self.failing if each == source or each.startswith(f"{source}/")}
        removed = self.collection.remove(source)
        assert list(removed.removed) == meant
        assert set(removed.forgotten) == lost - set(meant)
        assert removed.unknown == (() if meant or lost else (source,))
        for each in meant:
            del self.held[each]
        self.failing -= lost

    @rule()
    def reopen(self) -> None:
        self.collection.close()
        self.collection = groundkit.open(self.base / INDEX) if self.exists else opened(self.base)

    # -- what must hold

    @precondition(lambda self: self.exists)
    @rule()
    def every_citation_is_judged_as_the_disk_says(self) -> None:
        for checked in self.collection.verify_all():
            citation = checked.citation
            cited = self.held[citation.source].decode()[citation.span.start : citation.span.end]
            expected = self._reason(citation.source, citation.span.start, citation.span.end, cited)
            assert plainly(checked.verification.reason) is expected, (citation, checked.verification)
            if checked.verification.reason is Reason.MOVED:
                place = checked.verification.span
                assert place is not None
                assert self.disk[citation.source].decode()[place.start : place.end] == cited

    def _reason(self, source: str, start: int, end: int, cited: str) -> Reason:
        data = self.disk.get(source)
        if data is None:
            return Reason.SOURCE_MISSING
        if len(data) > LARGEST:
            return Reason.TOO_LARGE
        if not readable(data):
            return Reason.NOT_TEXT
        return Reason.SAME if data.decode()[start:end] == cited else Reason.CHANGED

    @precondition(lambda self: self.exists)
    @rule(query=st.sampled_from(QUERIES))
    def hits_quote_what_was_ingested(self, query: str) -> None:
        for hit in self.collection.search(query, limit=3, verify=True):
            assert self.held[hit.source].decode()[hit.citation.span.start : hit.citation.span.end] == hit.text
            assert isinstance(hit.verification, Verification)

    @invariant()
    def the_texts_last_taken_are_held(self) -> None:
        if not self.exists:
            return
        found = stored(self.base)
        assert set(found) == set(self.held)
        for source, chunks in found.items():
            assert not law_breaks(self.held[source].decode(), chunks, Settings(self.ways[source][0]))
        assert {each.source for each in self.collection.status().failures} == self.failing

    def _way(self) -> tuple[int, bool] | None:
        """How all of it was ingested, if all was in the same way and would be again."""
        ways = {self.ways[each] for each in self.held}
        return ways.pop() if len(ways) == 1 and {size for size, _ in ways} == {self.size} else None

    @precondition(lambda self: self._way() is not None)
    @rule()
    def it_equals_a_fresh_collection_of_what_it_holds(self) -> None:
        place, way = Path(mkdtemp(dir=self.place)), self._way()
        assert way is not None
        put(place, self.held)
        with opened(place) as new:
            new.ingest("", chunk_size=way[0], max_bytes=LARGEST, language=self.language, as_text=way[1])
            assert contents(self.base) == contents(place)
            assert answers(self.collection, QUERIES) == answers(new, QUERIES)
        shutil.rmtree(place)

    def teardown(self) -> None:
        if not hasattr(self, "place"):
            return
        try:
            if self.held:
                self._settle()
        finally:
            self.collection.close()
            shutil.rmtree(self.place)

    def _settle(self) -> None:
        """Every file readable, everything told: now all of it must be verified, healthy, and as if made afresh."""
        for source, data in list(self.disk.items()):
            if taken(source) and not readable(data):
                self.write(source, b"the tide is out")
        if not any(map(taken, self.disk)):
            self.write("a.md", b"the ferry is in")
        self.ingest_all(None, None, False)
        assert all(checked.verification for checked in self.collection.verify_all())
        assert self.collection.doctor().healthy
        self.it_equals_a_fresh_collection_of_what_it_holds()


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=max(15, settings().max_examples // 3),
    stateful_step_count=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_a_failure_is_forgotten_once_its_file_is_gone(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "ferry", "b.md": b"\xff", "sub/c.md": b"\xff"})
    with opened(tmp_path) as collection:
        collection.ingest("")
        (tmp_path / "b.md").unlink()
        (tmp_path / "sub/c.md").unlink()
        collection.ingest(["a.md", "sub"])
        assert [each.source for each in collection.status().failures] == ["b.md"]
        collection.ingest("")
        assert collection.status().failures == ()


def test_a_refused_ingest_leaves_the_settings_as_they_were(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "ferries", "b/picture.bin": ""})
    with opened(tmp_path) as collection:
        collection.ingest("a.md")
        before = collection.status()
        with pytest.raises(ConfigurationError):
            collection.ingest("b", chunk_size=77, language="german")
        assert collection.status() == before
        with pytest.raises(ConfigurationError):
            collection.ingest("a.md", chunk_size=1, language="german")
        assert collection.status() == before


def told(base: Path, clock: FrozenClock, as_text: bool) -> IngestReport:
    ports = evolve(ports_for(base / INDEX, "default"), clock=clock)
    report, _ = ingest(ports, IngestRequest(("",), as_text, change=SettingsChange(base="..")), None, None).unwrap()
    return report


def test_the_same_chunks_are_rebound_and_keep_the_time_at_which_they_were_stored(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "ferry and tide", "b.md": "# Ferry\n\nand tide"})
    clock = FrozenClock("2026-01-01T00:00:00Z")
    assert told(tmp_path, clock, as_text=False).added == 2
    clock.at = "2027-01-01T00:00:00Z"
    report = told(tmp_path, clock, as_text=True)
    assert (report.rebound, report.updated, report.unchanged) == (1, 1, 0)
    with opened(tmp_path) as collection:
        a, b = collection.get_document_records()
        assert (a.ingested_at, b.ingested_at) == ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
        assert (a.media_type, b.media_type) == ("text/plain", "text/plain")
        assert [hit.locator.heading_path for hit in collection.search("ferry")] == [(), ()]


def test_a_folder_in_which_only_something_unreadable_is_left_is_no_empty_one(tmp_path: Path) -> None:
    put(tmp_path, {"sub/a.md": "ferry", "b.md": "tide"})
    with opened(tmp_path) as collection:
        collection.ingest("")
        (tmp_path / "sub/a.md").unlink()
        assert collection.ingest("sub").held_back == ("sub/a.md",)
        os.mkfifo(tmp_path / "sub/c.md")
        report = collection.ingest("sub")
        assert (report.removed, report.held_back) == (1, ())
        assert [each.source for each in report.failed] == ["sub/c.md"]

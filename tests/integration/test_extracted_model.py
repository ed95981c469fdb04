"""Laws 4 to 9 and 11 where some sources are extracted: a real collection, driven at random beside a plain model of it.

Two extractors of the test's own, each in many versions, of which some change something and some do not; either may be
missing or broken for a while. Everything else is real, but for the clock and the worker processes.
"""

import shutil
from collections.abc import Iterable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

import pytest
from attrs import Factory, define, evolve, frozen
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from integration.support import COLLECTION, INDEX, plainly, put

import groundkit
from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.core.extraction import (
    Anchor,
    Extraction,
    ExtractionFailed,
    ExtractionProblem,
    Hint,
    Page,
    checked,
    extraction_digest,
)
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Citation, DocumentRecord, ExtractionFacts, Reason, SourceClass
from groundkit.core.outline import Heading
from groundkit.core.ports import Extractor, Ports
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import AllRecords, ChunksOfDocument, StoredChunk
from groundkit.errors import GroundkitError
from groundkit.extractors import Registry
from groundkit.ingest import IngestReport, NothingToIngest
from groundkit.testing import FrozenClock, InlineExtractions
from groundkit.testing.sample_extractors import Lines
from groundkit.testing.strategies import texts

LARGEST = 5_000
#: One format with a suffix of its own, one whose suffix is known whoever reads it.
MEDIA = {"lines": "application/x-lines", "print": "application/pdf"}
SUFFIXES = {".md": "text/markdown", ".txt": "text/plain", ".x": MEDIA["lines"], ".pdf": MEDIA["print"]}
READERS = {media_type: name for name, media_type in MEDIA.items()}
NAMES = ("a.md", "b.txt", "c.x", "sub/d.x", "sub/e.txt", "f.pdf", "sub/g.pdf", "sub/h.x")
WORDS = ("ferry", "tide", "harbour", "naïve", "東")
QUERIES = (*WORDS, '"ferry tide"', "FERRY harbour", "nowhere")


@frozen
class Sheet:
    """`Lines` but for percent signs, which are not in the text, and what a version makes otherwise: the text, or the places
    in it, or what is told of it, or whether it can."""

    name: str
    version: str

    @property
    def identity(self) -> str:
        return f"{self.name}/{self.version}"

    @property
    def media_types(self) -> frozenset[str]:
        return frozenset({MEDIA[self.name]})

    @property
    def suffixes(self) -> dict[str, str]:
        return {".x": MEDIA["lines"]} if self.name == "lines" else {}

    def extract(self, data: bytes, hint: Hint) -> Result[Extraction, ExtractionFailed]:
        if self.version == "choosy" and b"harbour" in data:
            return Failure(ExtractionFailed(ExtractionProblem.RAISED, "does not like harbours"))
        plain = Lines(loud=self.version == "loud").extract(data.replace(b"%", b""), hint)
        return plain if isinstance(plain, Failure) else Success(self._otherwise(plain.unwrap()))

    def _otherwise(self, plain: Extraction) -> Extraction:
        lacks = "tide" in plain.text
        match self.version:
            case "headings":
                return evolve(plain, headings=tuple(evolve(each, text=each.text + "!") for each in plain.headings))
            case "levels":
                levels = tuple(evolve(each, level=1 + at % 3) for at, each in enumerate(plain.headings))
                return evolve(plain, headings=levels)
            case "moved":
                return evolve(plain, headings=tuple(map(_shorter, plain.headings)))
            case "labels":
                return evolve(plain, pages=tuple(Page(each.start, f"p.{each.label}") for each in plain.pages))
            case "pages":
                return evolve(
                    plain, pages=(Page(0), *(Page(min(each.start + 1, len(plain.text))) for each in plain.pages))
                )
            case "anchors":
                return evolve(plain, anchors=tuple(Anchor(each.start, each.name.upper()) for each in plain.anchors))
            case "title":
                return evolve(plain, title="A title")
            case "losses":
                return evolve(plain, losses=("a picture",))
            case "lacking":
                return evolve(plain, losses=("page 2",) if lacks else (), incomplete=lacks)
            case _:
                return plain


def _shorter(heading: Heading) -> Heading:
    return evolve(heading, start=heading.start + 1)


VERSIONS = (
    "1", "2", "1", "3", "loud", "headings", "levels", "moved", "labels", "pages", "anchors", "title", "losses",
    "lacking", "lacking", "choosy",
)  # fmt: skip
MISSING, BROKEN = "missing", "broken"


@frozen
class Broken:
    """An extractor whose library has a fault, so that it cannot even say who it is."""

    name: str

    @property
    def identity(self) -> str:
        raise RuntimeError("cannot be read")

    @property
    def media_types(self) -> frozenset[str]:
        return frozenset({MEDIA[self.name]})

    @property
    def suffixes(self) -> dict[str, str]:
        return Sheet(self.name, "1").suffixes

    def extract(self, data: bytes, hint: Hint) -> Result[Extraction, ExtractionFailed]:
        raise AssertionError("nobody may ask it")


@frozen
class Held:
    """What the collection must have taken a source as."""

    data: bytes
    size: int
    media_type: str
    identity: str | None

    @property
    def extraction(self) -> Extraction:
        assert self.identity is not None
        return extracted(self.identity, self.data).unwrap()

    @property
    def text(self) -> str:
        return self.data.decode() if self.identity is None else self.extraction.text

    @property
    def incomplete(self) -> bool:
        return self.identity is not None and self.extraction.incomplete


def extracted(identity: str, data: bytes) -> Result[Extraction, ExtractionFailed]:
    name, _, version = identity.partition("/")
    done = Sheet(name, version).extract(data, Hint(MEDIA[name]))
    return done if isinstance(done, Failure) else checked(done.unwrap())


def suffix(source: str) -> str:
    return source[source.rindex(".") :]


def below(path: str, source: str) -> bool:
    return path in ("", source) or source.startswith(f"{path}/")


@define
class Live:
    """A collection that is open, and the ports it stands on."""

    base: Path
    clock: FrozenClock
    extractors: tuple[Extractor, ...]
    ports: Ports = Factory(lambda self: self._ports(), takes_self=True)
    face: Collection = Factory(
        lambda self: Collection(self.ports, self.base / INDEX, COLLECTION, self.base), takes_self=True
    )

    def _ports(self) -> Ports:
        real = ports_for(self.base / INDEX, COLLECTION)
        registry = Registry(self.extractors, offers=())
        return evolve(real, clock=self.clock, extractors=registry, extractions=lambda _: InlineExtractions())

    def stored(self) -> dict[str, tuple[DocumentRecord, tuple[StoredChunk, ...]]]:
        with closing(self.ports.documents.view().unwrap()) as view:
            at = view.state.current.mark.generation
            records = view.records(AllRecords(), at).unwrap()
            return {
                each.source: (each, view.chunks(ChunksOfDocument(each.document_id), at).unwrap()) for each in records
            }

    def everything(self) -> object:
        """All there is to say of it, to the last generation, time and failure."""
        return self.stored(), self.face.status()

    def contents(self) -> object:
        """All that may not depend on its history."""
        timeless = {
            source: (evolve(record, ingested_at=""), [(each.chunk, each.tokens) for each in chunks])
            for source, (record, chunks) in self.stored().items()
        }
        status = self.face.status()
        return timeless, status.chunks, status.tokens, status.extractors, status.incomplete

    def answers(self) -> object:
        return [self.face.search(query, limit=5) for query in QUERIES]


_lines = st.sampled_from(
    (*WORDS, "ferry tide", ".", "\n\n", "\n# Ferry\n", "\n# Tide ", "\n\f", "\f# Pier\n", "\n[pier]\n", "\n[quay]\n")
)
structured = st.lists(_lines, min_size=8, max_size=40).map(" ".join)
good = (structured | texts().map(lambda text: text.replace("\0", ""))).map(str.encode)
bad = st.sampled_from((b"\xff\xfea", b"ferry \xc3", b"tide " * 2_000))


class Machine(RuleBasedStateMachine):
    @initialize(files=st.fixed_dictionaries({source: structured.map(str.encode) for source in NAMES[:-2]}))
    def begin(self, files: dict[str, bytes]) -> None:
        self.place = Path(mkdtemp(prefix="gk-model-"))
        self.base = self.place / "base"
        (self.base / "sub").mkdir(parents=True)
        self.disk: dict[str, bytes] = {}
        self.held: dict[str, Held] = {}
        self.failing: dict[str, str] = {}
        self.versions = dict.fromkeys(MEDIA, "1")
        self.size, self.language, self.exists, self.ingests = 120, "english", False, 0
        self.clock = FrozenClock("0")
        self.live = self._opened(self.base)
        for source, data in files.items():
            self.write(source, data)

    def _opened(self, base: Path, identities: Iterable[str] | None = None) -> Live:
        """With the extractors as they are now, or those of these identities."""
        if identities is None:
            identities = [f"{name}/{version}" for name, version in self.versions.items() if version != MISSING]
        named = [each.split("/") for each in identities]
        made = tuple(Broken(name) if version == BROKEN else Sheet(name, version) for name, version in named)
        return Live(base, self.clock, made)

    # -- the world changes

    @rule(source=st.sampled_from(NAMES), data=good | bad)
    def write(self, source: str, data: bytes) -> None:
        self.disk[source] = data
        put(self.base, {source: data})

    @precondition(lambda self: self.disk)
    @rule(data=st.data(), by=st.sampled_from((b"", b"tide", b" ferry harbour ", b"\n# Ferry\n", b"\n\f", b"\xff")))
    def edit(self, data: st.DataObject, by: bytes) -> None:
        source = data.draw(st.sampled_from(sorted(self.disk)))
        old = self.disk[source]
        at = data.draw(st.integers(0, len(old)))
        self.write(source, old[:at] + by + old[at + data.draw(st.integers(0, 30)) :])

    @precondition(lambda self: self.disk)
    @rule(data=st.data(), to=st.sampled_from(NAMES))
    def rename(self, data: st.DataObject, to: str) -> None:
        source = data.draw(st.sampled_from(sorted(self.disk)))
        content = self.disk[source]
        self._delete(source)
        self.write(to, content)

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self._delete(data.draw(st.sampled_from(sorted(self.disk))))

    def _delete(self, source: str) -> None:
        del self.disk[source]
        (self.base / source).unlink()

    @rule(name=st.sampled_from(sorted(MEDIA)), version=st.sampled_from(VERSIONS))
    def upgrade(self, name: str, version: str) -> None:
        self.versions[name] = version
        self.reopen()

    @rule(name=st.sampled_from(sorted(MEDIA)), how=st.sampled_from((MISSING, BROKEN)))
    def lose(self, name: str, how: str) -> None:
        self.upgrade(name, how)

    @rule()
    def reopen(self) -> None:
        self.live.face.close()
        self.live = self._opened(self.base)

    def _identity(self, media_type: str) -> str | None:
        """Who reads this now."""
        name = READERS.get(media_type, "")
        return None if self.versions.get(name, MISSING) in (MISSING, BROKEN) else f"{name}/{self.versions[name]}"

    # -- the collection is told

    @rule(
        size=st.sampled_from((None, None, None, 60, 300)),
        strict=st.sampled_from((False, False, True)),
        check=st.booleans(),
    )
    def ingest_all(self, size: int | None, strict: bool, check: bool) -> None:
        self.ingest("", size, None, as_text=False, strict=strict, check=check)
        self._what_was_taken_is_verified()

    @rule(
        name=st.sampled_from(sorted(MEDIA)),
        version=st.sampled_from(VERSIONS),
        check=st.booleans(),
        remark=st.booleans(),
    )
    def upgrade_and_ingest(self, name: str, version: str, check: bool, remark: bool) -> None:
        self.upgrade(name, version)
        for source in [each for each in self.disk if remark and READERS.get(SUFFIXES[suffix(each)]) == name]:
            self.write(source, b"%" + self.disk[source])
        self.ingest("", None, None, as_text=False, strict=False, check=check)
        self._what_was_taken_is_verified()

    def _what_was_taken_is_verified(self) -> None:
        kept = {*self.failing, *(set(self.held) - set(self.disk))}
        for each in self.live.face.verify_all() if self.exists else ():
            assert each.verification or each.citation.source in kept

    @rule(
        path=st.sampled_from(("", "sub", *NAMES)),
        size=st.sampled_from((None, None, None, None, 60, 300)),
        language=st.sampled_from((None, None, None, "english", "german")),
        as_text=st.sampled_from((False, False, False, False, True)),
        strict=st.sampled_from((False, False, True)),
        check=st.booleans(),
    )
    def ingest(
        self, path: str, size: int | None, language: str | None, as_text: bool, strict: bool, check: bool
    ) -> None:
        told = self._checked(path, size, language, as_text, strict) if check else None
        before = self.live.stored() if self.exists else {}
        self.ingests += 1
        self.clock.at = str(self.ingests)
        expected = self._foreseen(path, size, as_text, strict)
        done = self._done(path, size, language, as_text, strict, check=False)
        assert told in (None, done)
        if expected is None:
            assert isinstance(done, NothingToIngest), done
            return
        recounted = language not in (None, self.language)
        self.size, self.language, self.exists = size or self.size, language or self.language, True
        self._carry_out(path, expected)
        if isinstance(done, IngestReport):
            self._as_reported(done, before, expected, recounted)
        else:
            assert strict
            assert getattr(done, "source", None) in expected.failed

    def _done(
        self, path: str, size: int | None, language: str | None, as_text: bool, strict: bool, check: bool
    ) -> object:
        """The report, or the failure that was raised."""
        try:
            report = self.live.face.ingest(
                path,
                chunk_size=size or self.size,
                language=language or self.language,
                as_text=as_text,
                strict=strict,
                check=check,
                max_bytes=LARGEST,
                jobs=1,
            )
            return evolve(report, skipped=())  # the index directory is not there before the first ingest
        except GroundkitError as error:
            return error.failure

    def _checked(self, path: str, size: int | None, language: str | None, as_text: bool, strict: bool) -> object:
        """What a check says, which changes nothing."""
        before = self.live.everything() if self.exists else None
        told = self._done(path, size, language, as_text, strict, check=True)
        assert (self.live.everything() if self.exists else None) == before
        assert (self.base / INDEX).exists() == self.exists
        return told

    def _foreseen(self, path: str, size: int | None, as_text: bool, strict: bool) -> "Foreseen | None":
        """What this ingest must do; None if it has nothing to do and refuses."""
        here = [each for each in self.disk if below(path, each)]
        wanted = {each: "text/plain" if as_text else SUFFIXES[suffix(each)] for each in here}
        unread = {each for each, media_type in wanted.items() if self._unknown(media_type)}
        foreseen = Foreseen()
        if path in NAMES and path not in here:
            foreseen.failed[path] = "source_missing"
        for each in unread:
            if each == path:
                foreseen.failed[each] = "unknown_suffix"
            elif each in self.held and self.held[each].identity is not None:
                foreseen.failed[each] = "extractor_missing"
        told = {each: media_type for each, media_type in wanted.items() if each not in unread}
        known = {each for each in self.held if below(path, each)}
        if not (told or foreseen.failed or known):
            return None
        gone = known - set(told) - set(foreseen.failed)
        foreseen.removed, foreseen.held_back = (gone, set()) if told or foreseen.failed else (set(), gone)
        if size not in (None, self.size) and self.exists:
            told |= {each: held.media_type for each, held in self.held.items() if not below(path, each)}
        for source, media_type in told.items():
            self._attempt(foreseen, source, media_type, size or self.size, strict)
        return foreseen

    def _unknown(self, media_type: str) -> bool:
        return media_type == MEDIA["lines"] and self.versions["lines"] == MISSING

    def _attempt(self, foreseen: "Foreseen", source: str, media_type: str, size: int, strict: bool) -> None:
        data = self.disk.get(source)
        if data is None:
            foreseen.failed[source] = "source_missing"
        elif len(data) > LARGEST:
            foreseen.failed[source] = "too_large"
        elif media_type in READERS and self._identity(media_type) is None:
            foreseen.failed[source] = "extractor_missing"
        else:
            held = Held(data, size, media_type, self._identity(media_type))
            why = _refused(held, strict)
            if why is None:
                foreseen.taken[source] = held
            else:
                foreseen.failed[source] = why

    def _carry_out(self, path: str, foreseen: "Foreseen") -> None:
        for source in foreseen.removed:
            del self.held[source]
        kept = {source: why for source, why in self.failing.items() if not below(path, source)}
        self.failing = {source: why for source, why in kept.items() if source not in foreseen.taken} | foreseen.failed
        self.held |= foreseen.taken

    def _as_reported(
        self,
        report: IngestReport,
        before: dict[str, tuple[DocumentRecord, tuple[StoredChunk, ...]]],
        foreseen: "Foreseen",
        recounted: bool,
    ) -> None:
        assert report.pending is None
        assert {each.source for each in report.failed} == set(foreseen.failed)
        assert set(report.gone) == foreseen.removed
        assert set(report.held_back) == foreseen.held_back
        lossy = {source for source, held in foreseen.taken.items() if held.identity and held.extraction.losses}
        assert {each.source for each in report.losses} <= lossy
        after = self.live.stored()
        known = set(before) & set(foreseen.taken)
        kept = {source for source in known if _cut(before[source]) == _cut(after[source])}
        for source in foreseen.taken:  # what need not be done anew keeps its rows and its time
            old = before[source] if source in kept else None
            assert after[source][0].ingested_at == (self.clock.at if old is None else old[0].ingested_at)
            assert old is None or recounted or _rows(old) == _rows(after[source])
        same = {source for source in kept if before[source][0] == after[source][0]}
        counts = report.added, report.updated, report.rebound, report.unchanged
        assert counts == (len(foreseen.taken) - len(known), len(known - kept), len(kept - same), len(same))

    @precondition(lambda self: self.exists)
    @rule(source=st.sampled_from((*NAMES, "sub")))
    def remove(self, source: str) -> None:
        meant = sorted(each for each in self.held if below(source, each))
        removed = self.live.face.remove(source)
        assert (list(removed.removed), removed.unknown) == (meant, () if meant else (source,))
        for each in meant:
            del self.held[each]
            self.failing.pop(each, None)

    # -- what must hold

    @precondition(lambda self: self.exists)
    @rule()
    def every_citation_is_judged_as_the_disk_and_the_extractors_say(self) -> None:
        seen: set[str] = set()
        for each in self.live.face.verify_all():
            self._judged(each.citation, each.verification.reason, each.verification.detail)
            seen.add(each.citation.source)
        assert seen == {source for source, held in self.held.items() if held.text}

    def _judged(self, citation: Citation, reason: Reason, detail: str) -> None:
        held = self.held[citation.source]
        expected = self._reason(citation, held)
        assert plainly(reason) is expected, (citation, detail)
        if reason is Reason.EXTRACTOR_MISMATCH:
            active = self._identity(held.media_type) or "none"
            assert f"recorded extractor {held.identity}, active here: {active}" in detail

    def _reason(self, citation: Citation, held: Held) -> Reason:
        data = self.disk.get(citation.source)
        if held.identity is not None and self._identity(held.media_type) != held.identity:
            return Reason.EXTRACTOR_MISMATCH
        if data is None:
            return Reason.SOURCE_MISSING
        if len(data) > LARGEST:
            return Reason.TOO_LARGE
        if _refused(evolve(held, data=data), strict=False) is not None:
            return Reason.NOT_TEXT if held.identity is None else Reason.EXTRACTION_FAILED
        start, end = citation.span.start, citation.span.end
        same = evolve(held, data=data).text[start:end] == held.text[start:end]
        return Reason.SAME if same else Reason.CHANGED

    @precondition(lambda self: self.exists)
    @rule(query=st.sampled_from(QUERIES))
    def hits_say_what_was_ingested_and_by_whom(self, query: str) -> None:
        for hit in self.live.face.search(query, limit=3, verify=True):
            held = self.held[hit.source]
            assert held.text[hit.citation.span.start : hit.citation.span.end] == hit.text
            assert (hit.source_class, hit.extractor, hit.incomplete) == (_class(held), held.identity, held.incomplete)
            assert hit.verification is not None
            self._judged(hit.citation, hit.verification.reason, hit.verification.detail)
            fetched = self.live.face.fetch_chunk(hit.chunk_id)
            assert (fetched.citation, fetched.verification) == (hit.citation, hit.verification)

    @invariant()
    def what_was_taken_is_held_as_it_was_recorded(self) -> None:
        if not self.exists:
            return
        stored = self.live.stored()
        assert set(stored) == set(self.held)
        for source, (record, chunks) in stored.items():
            held = self.held[source]
            assert (record.media_type, record.source_class, record.extractor) == (
                held.media_type, _class(held), held.identity,
            )  # fmt: skip
            assert record.extraction == _facts(held)
            assert (record.length, record.text_digest) == (len(held.text), text_digest(held.text))
            assert all(held.text[each.chunk.span.start : each.chunk.span.end] == each.chunk.text for each in chunks)
        status = self.live.face.status()
        assert {each.source: each.reason for each in status.failures} == self.failing
        assert {each.source for each in status.incomplete} == {
            each for each, held in self.held.items() if held.incomplete
        }
        unbound = [held for held in self.held.values() if held.identity not in (None, self._identity(held.media_type))]
        assert status.inactive == len(unbound)

    @precondition(lambda self: self.held and {each.size for each in self.held.values()} == {self.size})
    @rule()
    def it_equals_a_fresh_collection_of_what_it_holds(self) -> None:
        """Each source taken as it was, by who took it: in several ingests, for no one has two versions of an extractor."""
        place = Path(mkdtemp(dir=self.place))
        put(place, {source: held.data for source, held in self.held.items()})
        for identity, as_text in {_way(source, held) for source, held in self.held.items()}:
            new = self._opened(place, [identity] if identity else [])
            with new.face:
                sources = [each for each, held in self.held.items() if _way(each, held) == (identity, as_text)]
                new.face.ingest(
                    sources, chunk_size=self.size, language=self.language, max_bytes=LARGEST, as_text=as_text, jobs=1
                )
        new = self._opened(place)
        with new.face:
            assert self.live.contents() == new.contents()
            assert self.live.answers() == new.answers()
        shutil.rmtree(place)

    def teardown(self) -> None:
        if not hasattr(self, "place"):
            return
        try:
            if self.held:
                self._settle()
        finally:
            self.live.face.close()
            shutil.rmtree(self.place)

    def _settle(self) -> None:
        """Everything readable, its readers there, all of it told: now all is verified, healthy, and as if made afresh."""
        self.versions = dict.fromkeys(MEDIA, "2")
        self.reopen()
        for source, data in list(self.disk.items()):
            if len(data) > LARGEST or not _is_utf8(data):
                self.write(source, b"the tide is out")
        if not self.disk:
            self.write("c.x", b"the ferry is in")
        self.ingest("", None, None, as_text=False, strict=False, check=True)
        assert all(each.verification for each in self.live.face.verify_all())
        assert not self.failing
        assert self.live.face.doctor().healthy
        self.it_equals_a_fresh_collection_of_what_it_holds()


@define
class Foreseen:
    """What an ingest must do to each source."""

    taken: dict[str, Held] = Factory(dict)
    failed: dict[str, str] = Factory(dict)
    removed: set[str] = Factory(set)
    held_back: set[str] = Factory(set)


def _refused(held: Held, strict: bool) -> str | None:
    """Why bytes are not taken, if they are not."""
    if held.identity is None:
        return None if _is_utf8(held.data) else "not_text"
    done = extracted(held.identity, held.data)
    if isinstance(done, Failure):
        return done.failure().problem.value
    return "incomplete" if strict and done.unwrap().incomplete else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _class(held: Held) -> SourceClass:
    return SourceClass.TEXT if held.identity is None else SourceClass.EXTRACTED


def _facts(held: Held) -> ExtractionFacts | None:
    if held.identity is None:
        return None
    made = held.extraction
    digest = sha256(held.data).hexdigest()
    return ExtractionFacts(digest, extraction_digest(made), len(made.pages), made.losses, made.incomplete)


def _way(source: str, held: Held) -> tuple[str | None, bool]:
    return held.identity, held.media_type != SUFFIXES[suffix(source)]


def _rows(stored: tuple[DocumentRecord, tuple[StoredChunk, ...]]) -> list[int]:
    return [each.row for each in stored[1]]


def _cut(stored: tuple[DocumentRecord, tuple[StoredChunk, ...]]) -> object:
    record, chunks = stored
    return record.document_id, [each.chunk for each in chunks]


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=max(16, settings().max_examples // 4),
    stateful_step_count=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_a_file_that_new_sizes_made_be_read_again_has_not_failed_any_more(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "ferry", "b.md": "tide"})
    with groundkit.open(tmp_path / INDEX, base=tmp_path) as collection:
        collection.ingest("")
        put(tmp_path, {"a.md": b"\xff"})
        collection.ingest("")
        assert [each.source for each in collection.status().failures] == ["a.md"]
        put(tmp_path, {"a.md": "harbour"})
        assert collection.ingest("b.md", chunk_size=99).updated == 1
        assert collection.status().failures == ()


def test_the_files_of_a_broken_extractor_fail_though_it_alone_knows_their_suffix(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "ferry", "c.x": "tide"})
    with Live(tmp_path, FrozenClock(), (Sheet("lines", "1"),)).face as collection:
        assert collection.ingest("").complete
    put(tmp_path, {"d.x": "harbour"})
    with Live(tmp_path, FrozenClock(), (Broken("lines"),)).face as collection:
        report = collection.ingest("")
        assert ([each.source for each in report.failed], report.gone) == (["c.x", "d.x"], ())
        assert len(collection.get_document_records()) == 2


def told(base: Path, data: bytes, version: str) -> Live:
    """A collection of this one source, up to date with this version."""
    put(base, {"c.x": data})
    live = Live(base, FrozenClock(), (Sheet("lines", version),))
    live.face.ingest("", chunk_size=60, jobs=1)
    return live


@pytest.mark.parametrize(
    ("version", "remark"), [*((each, b"") for each in sorted(set(VERSIONS))), ("1", b"%"), ("2", b"%")]
)
def test_every_upgrade_gives_what_a_fresh_collection_holds(tmp_path: Path, version: str, remark: bytes) -> None:
    data = "".join(f"# Ferry {at}\n[pier{at}]\nthe tide {at} and the quay\n\f" for at in range(6)).encode()
    told(tmp_path / "old", data, "1").face.close()
    upgraded, new = told(tmp_path / "old", remark + data, version), told(tmp_path / "new", remark + data, version)
    with upgraded.face, new.face:
        assert upgraded.contents() == new.contents()
        assert upgraded.answers() == new.answers()
        assert all(each.verification for each in upgraded.face.verify_all())

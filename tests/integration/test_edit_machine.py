"""Laws 5 and 6 on disk: files edited, swapped, lost and replaced at random, and every citation held against what they say.

What the files must say is known from the edits. Citations are collected at several times, so that of some the version that
was cited is at hand and of others it is not; and each is asked about in a collection and without one.
"""

import os
import re
import shutil
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import TypeAlias

import pytest
from attrs import Factory, define, evolve, frozen
from edit_support import borne_out, places_between
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from integration.support import COLLECTION, INDEX, put

import groundkit
from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import CONTEXT, Citation, Reason, SourceClass, Span, Verdict, Verification
from groundkit.core.portable import PortableCitation
from groundkit.core.verdicts import VERDICT_OF
from groundkit.errors import GroundkitError
from groundkit.testing.edit_strategies import edits, prose, prose_of
from groundkit.testing.edits import (
    Breaks,
    ByteOrderMark,
    Delete,
    Duplicate,
    Edit,
    Insert,
    Move,
    Normalise,
    Overlay,
    Recase,
    Replace,
    Rewrap,
    Traced,
    Truncate,
    edited,
    place_of,
    text_of,
    traced,
)
from groundkit.testing.memory_extraction import InlineExtractions
from groundkit.testing.sample_extractors import Lines
from groundkit.testing.strategies import texts

#: The last one is extracted.
NAMES = ("a.md", "b.txt", "sub/c.txt", "d.x")
ELSEWHERE = ("e.md", "sub/f.txt", "sub/g.x", *NAMES)
CHUNK = 160
BAD = (b"\xff\xfea\0b\0", b"ferry \xc3", b"%PDF-1.4 \xff")


class Odd(StrEnum):
    """What may stand in a file's place."""

    DIRECTORY = "directory"
    FIFO = "FIFO"
    LINK = "link"


#: A text with the origin of each sign in the version that was ingested last, bytes that are no text, or no file.
Content: TypeAlias = Traced | bytes | Odd


@frozen
class Held:
    """A citation with what it was taken from."""

    citation: Citation
    portable: PortableCitation
    old: str

    @property
    def span(self) -> Span:
        return self.citation.span

    @property
    def cited(self) -> str:
        return self.old[self.span.start : self.span.end]


def bytes_of(content: Content | None) -> bytes | None:
    """What is in a file, None where there is none."""
    if isinstance(content, tuple):
        return text_of(content).encode()
    return content if isinstance(content, bytes) else None


def read_as(source: str, content: Content | None) -> str | Reason:
    """The text of a source, or why it has none."""
    match content:
        case None:
            return Reason.SOURCE_MISSING
        case Odd.LINK:
            return Reason.OUTSIDE_BASE
        case Odd():
            return Reason.SOURCE_UNREADABLE
        case bytes():
            return Reason.EXTRACTION_FAILED if source.endswith(".x") else Reason.NOT_TEXT
        case tuple():
            text = text_of(content)
            if source.endswith(".x"):
                return text.replace("\0", "\ufffd")
            return Reason.NOT_TEXT if "\0" in text else text


@define
class Disk:
    """The files below a base directory, and what is in them."""

    base: Path
    files: dict[str, Content] = Factory(dict)

    def write(self, source: str, content: Content) -> None:
        self.clear(source)
        path = self.base / source
        match content:
            case Odd.DIRECTORY:
                path.mkdir()
            case Odd.FIFO:
                os.mkfifo(path)
            case Odd.LINK:
                path.symlink_to(self.base.parent / "outside")
            case _:
                path.write_bytes(bytes_of(content) or b"")
        self.files[source] = content

    def clear(self, source: str) -> None:
        path = self.base / source
        if self.files.pop(source, None) is Odd.DIRECTORY:
            path.rmdir()
        else:
            path.unlink(missing_ok=True)

    def with_bytes(self, data: bytes) -> set[str]:
        return {source for source, content in self.files.items() if bytes_of(content) == data}


def collection_at(base: Path) -> Collection:
    ports = evolve(ports_for(base / INDEX, COLLECTION, (Lines(),)), extractions=lambda _: InlineExtractions())
    return Collection(ports, base / INDEX, COLLECTION, base)


def within(citation: Citation, old: str, span: Span) -> Citation:
    """A citation of another stretch of the same document."""
    before, after = old[max(0, span.start - CONTEXT) : span.start], old[span.end : span.end + CONTEXT]
    digest = text_digest(old[span.start : span.end])
    return evolve(citation, span=span, digest=digest, before=before, after=after)


class Machine(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 1 << 30))
    def begin(self, seed: int) -> None:
        self.place = Path(mkdtemp(prefix="gk-edits-"))
        (self.place / "base" / "sub").mkdir(parents=True)
        (self.place / "outside").write_text(prose_of(seed))
        self.disk = Disk(self.place / "base")
        self.collection = collection_at(self.disk.base)
        self.held: list[Held] = []
        self.at_hand: dict[str, str] = {}
        self.lost: dict[str, Content] = {}
        for at, source in enumerate(NAMES):
            self.disk.write(source, traced(prose_of(seed + at)))
        self.ingest()
        for each in list(self.collection.citations())[:: 3 + seed % 3][:5]:
            self._hold(each)

    # -- the world changes

    @rule(data=st.data(), source=st.sampled_from(NAMES))
    def edit(self, data: st.DataObject, source: str) -> None:
        content = self.disk.files.get(source)
        assume(isinstance(content, tuple))
        assert isinstance(content, tuple)
        edit: Edit = data.draw(edits(len(content)))
        self.disk.write(source, edited(content, edit))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), times=st.integers(1, 3))
    def edit_a_passage_and_what_stands_around_it(self, data: st.DataObject, times: int) -> None:
        held = data.draw(st.sampled_from(self.held))
        content = self.disk.files.get(held.citation.source)
        assume(isinstance(content, tuple))
        assert isinstance(content, tuple)
        for _ in range(times):
            content = edited(content, data.draw(_edits_near(held.span)))
        self.disk.write(held.citation.source, content)

    @rule(source=st.sampled_from(NAMES), text=prose() | texts())
    def write(self, source: str, text: str) -> None:
        self.disk.write(source, traced(text) if source not in self.disk.files else _new(text))

    @rule(one=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
    def swap(self, one: str, other: str) -> None:
        first, second = self.disk.files.get(one), self.disk.files.get(other)
        assume(one != other and isinstance(first, tuple) and isinstance(second, tuple))
        assert isinstance(first, tuple)
        assert isinstance(second, tuple)
        self.disk.write(one, _new(text_of(second)))
        self.disk.write(other, _new(text_of(first)))

    @rule(source=st.sampled_from(NAMES), to=st.sampled_from(ELSEWHERE))
    def rename(self, source: str, to: str) -> None:
        content = self.disk.files.get(source)
        assume(isinstance(content, tuple) and source != to)
        assert isinstance(content, tuple)
        self.disk.clear(source)
        self.disk.write(to, _new(text_of(content)))

    @rule(source=st.sampled_from(NAMES))
    def delete(self, source: str) -> None:
        content = self.disk.files.get(source)
        assume(isinstance(content, tuple))
        assert isinstance(content, tuple)
        self.lost[source] = content
        self.disk.clear(source)

    @rule(source=st.sampled_from(NAMES), moment=st.integers(0, 2_000_000_000))
    def restore(self, source: str, moment: int) -> None:
        """The same bytes again, in another file of another time."""
        content = self.lost.get(source, self.disk.files.get(source))
        assume(isinstance(content, tuple))
        assert isinstance(content, tuple)
        self.disk.write(source, content)
        os.utime(self.disk.base / source, (moment, moment))

    @rule(source=st.sampled_from(NAMES), odd=st.sampled_from(list(Odd)))
    def replace_by_something_else(self, source: str, odd: Odd) -> None:
        content = self.disk.files.get(source)
        if isinstance(content, tuple):
            self.lost[source] = content
            if odd is Odd.LINK:  # what it leads to says the same
                (self.place / "outside").write_bytes(bytes_of(content) or b"")
        self.disk.write(source, odd)

    @rule(source=st.sampled_from(NAMES), data=st.sampled_from(BAD))
    def spoil(self, source: str, data: bytes) -> None:
        self.disk.write(source, data)

    # -- the collection is told

    @rule()
    def ingest(self) -> None:
        """What the files say now is at hand, and what was before is not."""
        try:
            self.collection.ingest("", chunk_size=CHUNK, jobs=1)
        except GroundkitError as error:
            assert not any(isinstance(each, tuple) for each in self.disk.files.values()), error
            return
        self.at_hand = {}
        for record in self.collection.get_document_records():
            self.at_hand[record.document_id] = self.collection.document_text(record.document_id) or ""
            now = read_as(record.source, self.disk.files.get(record.source))
            if not isinstance(now, Reason) and isinstance(content := self.disk.files[record.source], tuple):
                assert self.at_hand[record.document_id] == now
                self.disk.files[record.source] = traced(text_of(content))
        self.lost = {source: _new(text_of(each)) for source, each in self.lost.items() if isinstance(each, tuple)}

    @precondition(lambda self: self.at_hand)
    @rule(data=st.data(), whole=st.booleans())
    def collect(self, data: st.DataObject, whole: bool) -> None:
        citations = [each for each in self.collection.citations() if each.source in NAMES]
        assume(citations)
        chosen = data.draw(st.sampled_from(citations))
        old = self.at_hand[chosen.document_id]
        if not whole:
            start = data.draw(st.integers(chosen.span.start, chosen.span.end - 1))
            end = data.draw(st.integers(start + 1, min(len(old), start + 300)))
            chosen = within(chosen, old, Span(start, end))
        self._hold(chosen)

    def _hold(self, citation: Citation) -> None:
        if citation.source in NAMES:
            old = self.at_hand[citation.document_id]
            self.held = [*self.held[-7:], Held(citation, self.collection.portable(citation), old)]

    # -- what must hold

    @invariant()
    def every_citation_is_judged_as_the_files_say(self) -> None:
        if not hasattr(self, "held"):
            return
        together = [each.verification for each in self.collection.verify_each(each.citation for each in self.held)]
        for held, verification in zip(self.held, together, strict=True):
            self._judged(held, verification, held.citation.document_id in self.at_hand)
            self._helped(held, verification)
            uncollected = groundkit.verify(held.portable, base=self.disk.base, extractors=(Lines(),))
            self._judged(held, uncollected, at_hand=False)
            self._as_one_place_says(held, uncollected)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def an_answer_does_not_depend_on_who_else_is_asked_about(self, data: st.DataObject) -> None:
        order = data.draw(st.permutations(self.held))
        checks = {id(held): check for held, check in zip(order, self._each(order), strict=True)}
        for held in order[:4]:
            alone = self.collection.verify(held.citation)
            assert checks[id(held)] == alone
            brought = self.collection.verify(held.portable)
            self._judged(held, brought, held.citation.document_id in self.at_hand)
            if held.citation.document_id in self.at_hand:
                assert brought == alone
            plain = groundkit.verify(held.citation, base=self.disk.base, extractors=(Lines(),))
            self._judged(held, plain, at_hand=False)

    def _each(self, order: Iterable[Held]) -> list[Verification]:
        return [each.verification for each in self.collection.verify_each(each.citation for each in order)]

    @precondition(lambda self: self.at_hand)
    @rule()
    def every_chunk_is_judged_as_the_files_say(self) -> None:
        for each in self.collection.verify_all():
            old, source = self.at_hand[each.citation.document_id], each.citation.source
            now = read_as(source, self.disk.files.get(source))
            if isinstance(now, Reason):
                assert each.verification.reason is now
            else:
                borne_out(each.verification, old, now, each.citation.span)
                assert each.verification.reason is not Reason.CHANGED

    def _judged(self, held: Held, verification: Verification, at_hand: bool) -> None:
        """The verdict, and where the passage is said to be."""
        now = read_as(held.citation.source, self.disk.files.get(held.citation.source))
        if isinstance(now, Reason):
            assert verification.reason is now, (verification, now)
            assert verification.verdict is VERDICT_OF[now] is Verdict.UNRESOLVABLE
            assert verification.detail.strip()
            assert (verification.span, verification.candidates) == (None, ())
            if verification.found_in is not None:  # another document with the whole text of the version
                assert now is Reason.SOURCE_MISSING
                other, citation = verification.found_in, held.citation
                text = self.collection.document_text(other.document_id)
                assert text is not None
                assert other.span == citation.span
                assert text_digest(text[other.span.start : other.span.end]) == citation.digest
            return
        assert verification.same_bytes_at is None
        borne_out(verification, held.old, now, held.span)
        known = {Reason.MOVED, Reason.REFORMATTED, Reason.EDITED, Reason.AMBIGUOUS, Reason.REMOVED}
        assert verification.reason in {Reason.SAME} | (known if at_hand else {Reason.MOVED, Reason.CHANGED})
        if verification.span is not None:
            assert verification.locator is not None
            ends = [
                0,
                *(found.end() for found in re.finditer("\r\n|\r|\n", now) if found.end() <= verification.span.start),
            ]
            place = len(ends), verification.span.start - ends[-1] + 1
            assert (verification.locator.line, verification.locator.column) == place
        if at_hand:
            self._where_it_went(held, verification, now)

    def _where_it_went(self, held: Held, verification: Verification, now: str) -> None:
        """A passage that nobody touched, and that stands once, is where it is."""
        content = self.disk.files[held.citation.source]
        assert isinstance(content, tuple)
        place = place_of(content, self.at_hand[held.citation.document_id], held.span)
        once = all(text.find(held.cited) == text.rfind(held.cited) for text in (held.old, now))
        if place is None or place == held.span or not once or held.span.length < 20 or not held.cited.strip():
            return
        assert (verification.reason, verification.span) in ((Reason.MOVED, place), (Reason.SAME, None)), verification

    def _as_one_place_says(self, held: Held, verification: Verification) -> None:
        """Without the old text: one place between both neighbours, or no place."""
        now = read_as(held.citation.source, self.disk.files.get(held.citation.source))
        assert (verification.found_in, verification.candidates, verification.similarity) == (None, (), None)
        if isinstance(now, Reason) or verification:
            return
        places = places_between(now, held.citation, held.cited)
        if verification.reason is Reason.MOVED:
            assert places == [verification.span]
        else:
            telling = held.citation.before or held.citation.after or len(held.cited) >= 20
            assert len(places) != 1 or not telling or now.count(held.cited) > 30

    def _helped(self, held: Held, verification: Verification) -> None:
        """What is said of other files is true, and it is said where it can be."""
        same = self.disk.with_bytes(held.old.encode())
        if verification.same_bytes_at is not None:
            assert verification.reason is Reason.SOURCE_MISSING
            assert verification.same_bytes_at in same
        elif verification.reason is Reason.SOURCE_MISSING:
            # Of an extracted source only a record tells what bytes it had.
            known = held.citation.source_class is SourceClass.TEXT or held.citation.document_id in self.at_hand
            assert not (known and same and "\ufffd" not in held.old), (held, same)
        if verification.found_in is not None:
            found = verification.found_in
            assert verification.reason in (Reason.REMOVED, Reason.CHANGED)
            assert found.source != held.citation.source
            content, stored = self.disk.files.get(found.source), self.at_hand[found.document_id]
            extracted = found.source.endswith(".x")
            there = stored if extracted else text_of(content) if isinstance(content, tuple) else ""
            assert there[found.span.start : found.span.end] == held.cited.strip()

    def teardown(self) -> None:
        if hasattr(self, "place"):
            self.collection.close()
            shutil.rmtree(self.place)


def _edits_near(span: Span) -> st.SearchStrategy[Edit]:
    """Edits that a reader would make there, or that an editor makes of a whole file."""
    near, within_it = st.integers(0, span.end + 40), st.integers(span.start, span.end)
    added = prose() | st.text("ab \n.é東", min_size=1, max_size=12)
    return st.one_of(
        st.builds(Insert, st.integers(0, span.start), added),
        st.builds(Insert, near, added),
        st.builds(Replace, within_it, st.integers(1, 8), added),
        st.builds(Delete, near, st.integers(1, 30)),
        st.builds(Delete, st.just(span.start), st.just(span.length)),
        st.builds(Move, st.just(span.start), st.just(span.length), near),
        st.builds(Duplicate, st.just(span.start), st.just(span.length), near),
        st.builds(Overlay, near, st.just(span.length), st.just(span.start)),
        st.builds(Rewrap, st.integers(20, 90)),
        st.builds(Normalise, st.sampled_from(("NFC", "NFD", "NFKC"))),
        st.builds(Breaks, st.sampled_from(("\n", "\r\n", "\r"))),
        st.builds(ByteOrderMark, st.booleans()),
    )


def _new(text: str) -> Traced:
    """A text that no sign of the ingested one is in."""
    return tuple(evolve(sign, origin=None) for sign in traced(text))


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=max(12, settings().max_examples // 4),
    stateful_step_count=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


# -- what a machine meets too seldom


def world(base: Path, files: dict[str, bytes | str]) -> Collection:
    put(base, files)
    made = collection_at(base)
    made.ingest("", chunk_size=CHUNK, jobs=1)
    return made


def test_a_file_that_changes_between_two_looks_is_read_again(tmp_path: Path) -> None:
    """Within one run, too: only neighbours share a reading."""
    with world(
        tmp_path, {"a.md": prose_of(1), "b.md": prose_of(2), "c.x": prose_of(3), "d.x": prose_of(4)}
    ) as collection:
        for one, other in (("a.md", "b.md"), ("c.x", "d.x")):
            first, second = next(collection.citations(one)), next(collection.citations(other))
            checks = collection.verify_each([first, second, first, second, first])
            assert next(checks).verification
            put(tmp_path, {one: "X" + prose_of(1)})
            assert next(checks).verification
            assert not next(checks).verification
            put(tmp_path, {other: "X" + prose_of(2)})
            assert not next(checks).verification
            put(tmp_path, {one: prose_of(1) if one == "a.md" else prose_of(3)})
            assert next(checks).verification


@pytest.mark.parametrize("source", ["a.md", "c.x"])
def test_where_a_passage_went_is_said_of_the_text_that_was_read_last(tmp_path: Path, source: str) -> None:
    old = prose_of(1)
    with world(tmp_path, {source: old, "b.md": prose_of(2)}) as collection:
        citation, between = next(collection.citations(source)), next(collection.citations("b.md"))
        checks = collection.verify_each([citation, between] * 3)
        for first in ("X", "One.\n\nTwo.\n", "\ufeff\r\n"):
            put(tmp_path, {source: first + old})
            verification = next(checks).verification
            place = Span(citation.span.start + len(first), citation.span.end + len(first))
            assert (verification.reason, verification.span) == (Reason.MOVED, place)
            assert verification.locator is not None
            assert verification.locator.line == first.count("\n") + 1
            assert next(checks).verification


@pytest.mark.parametrize("source", ["a.md", "c.x"])
def test_a_file_of_the_same_size_and_time_is_still_read(tmp_path: Path, source: str) -> None:
    with world(tmp_path, {"a.md": prose_of(1), "c.x": prose_of(3)}) as collection:
        citation = next(collection.citations(source))
        before = (tmp_path / source).stat()
        old = (tmp_path / source).read_bytes()
        assert collection.verify(citation)
        at = len(old[:4000].decode(errors="ignore")[: citation.span.start + 3].encode())
        changed = old[:at] + bytes([old[at] ^ 1]) + old[at + 1 :]
        (tmp_path / source).write_bytes(changed)
        os.utime(tmp_path / source, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert collection.verify(citation).verdict is not Verdict.VERIFIED
        (tmp_path / source).write_bytes(old)
        assert collection.verify(citation)


def test_two_files_that_are_swapped_are_told_apart(tmp_path: Path) -> None:
    """Each passage stands in the other file then, and that is said, and verifies nothing."""
    one, other = prose_of(1), prose_of(2)
    with world(tmp_path, {"a.md": one, "b.md": other}) as collection:
        citations = list(collection.citations())
        put(tmp_path, {"a.md": other, "b.md": one})
        for each in collection.verify_each(citations):
            source, cited = each.citation.source, {"a.md": one, "b.md": other}[each.citation.source]
            passage = cited[each.citation.span.start : each.citation.span.end].strip()
            assert each.verification.verdict is Verdict.DRIFTED
            if len(passage.encode()) >= 20:
                assert each.verification.found_in is not None
                found = each.verification.found_in
                assert found.source == {"a.md": "b.md", "b.md": "a.md"}[source]
                assert cited[found.span.start : found.span.end] == passage


#: What editors and tools make of a whole file, to be undone as well as done.
OF_A_WHOLE_FILE: dict[str, Edit] = {
    "a byte order mark": ByteOrderMark(True),
    "CRLF": Breaks("\r\n"),
    "CR": Breaks("\r"),
    "decomposed": Normalise("NFD"),
    "composed": Normalise("NFC"),
    "compatible and composed": Normalise("NFKC"),
    "compatible and decomposed": Normalise("NFKD"),
    "capitals": Recase("upper"),
    "wrapped": Rewrap(40),
    "truncated": Truncate(333),
    "twice": Duplicate(0, 10**6, 10**6),
    "a letter first": Insert(0, "a"),
    "a blank first": Insert(0, " "),
    "a line break last": Insert(10**6, "\n"),
}


@pytest.mark.parametrize("name", OF_A_WHOLE_FILE)
@pytest.mark.parametrize("undone", [False, True])
@pytest.mark.parametrize("source", ["a.md", "c.x"])
def test_a_file_edited_as_a_whole_is_judged_by_its_code_points(
    tmp_path: Path, name: str, undone: bool, source: str
) -> None:
    plain = "The ﬁrst cafe\u0301 of １２３ Ångström.\n\n" + prose_of(1, 5, 6)
    old, new = plain, text_of(edited(traced(plain), OF_A_WHOLE_FILE[name]))
    assert old != new
    old, new = (new, old) if undone else (old, new)
    with world(tmp_path, {source: old}) as collection:
        citations = list(collection.citations())
        pieces = [within(each, old, Span(each.span.start, each.span.start + 9)) for each in citations]
        (tmp_path / source).write_bytes(new.encode())
        for each in collection.verify_each([*citations, *pieces]):
            borne_out(each.verification, old, new, each.citation.span)
            assert each.verification.reason is not Reason.CHANGED
            portable = collection.portable(each.citation)
            borne_out(groundkit.verify(portable, base=tmp_path, extractors=(Lines(),)), old, new, each.citation.span)
        reasons = {each.verification.reason for each in collection.verify_each(citations)}
        assert reasons != {Reason.REMOVED}


@pytest.mark.parametrize("text", ["", "\ufeff", "a", "\n"])
def test_whatever_little_is_left_of_a_file_gets_a_verdict(tmp_path: Path, text: str) -> None:
    with world(tmp_path, {"a.md": prose_of(1), "c.x": prose_of(3)}) as collection:
        citations = list(collection.citations())
        put(tmp_path, {"a.md": text, "c.x": text})
        for each in collection.verify_each(citations):
            assert each.verification.reason is Reason.REMOVED, each
            portable = collection.portable(each.citation)
            alone = groundkit.verify(portable, base=tmp_path, extractors=(Lines(),))
            assert alone.reason is Reason.CHANGED


def test_a_missing_file_s_bytes_are_found_whatever_the_file_is_called(tmp_path: Path) -> None:
    with world(tmp_path, {"a.md": prose_of(1), "c.x": prose_of(3)}) as collection:
        citations = list(collection.citations())
        portables = [collection.portable(each) for each in citations]
        (tmp_path / "sub").mkdir()
        (tmp_path / "a.md").rename(tmp_path / "sub" / "new name.log")
        (tmp_path / "c.x").rename(tmp_path / "moved.x")
        for each, portable in zip(collection.verify_each(citations), portables, strict=True):
            expected = {"a.md": "sub/new name.log", "c.x": "moved.x"}[each.citation.source]
            assert (each.verification.reason, each.verification.same_bytes_at) == (Reason.SOURCE_MISSING, expected)
            alone = groundkit.verify(portable, base=tmp_path, extractors=(Lines(),))
            text = each.citation.source_class is SourceClass.TEXT
            assert (alone.reason, alone.same_bytes_at) == (Reason.SOURCE_MISSING, expected if text else None)
        (tmp_path / "sub" / "new name.log").write_text(prose_of(1) + " ")
        (verification, *_) = (each.verification for each in collection.verify_each(citations))
        assert (verification.reason, verification.same_bytes_at) == (Reason.SOURCE_MISSING, None)


@pytest.mark.parametrize("seed", range(4))
def test_many_edits_of_one_file_are_judged_alike_in_every_way(tmp_path: Path, seed: int) -> None:
    """All of a document's citations at once, one by one, in another order, and those that travelled."""
    chance = Random(seed)
    old = "\n\n".join(prose_of(seed * 10 + at) for at in range(3))
    with world(tmp_path, {"a.md": old}) as collection:
        citations = list(collection.citations())
        new = list(old)
        for _ in range(12):
            at = chance.randrange(len(new))
            new[at : at + chance.choice((0, 0, 9, 60))] = chance.choice(("", "x", "a new sentence. ", "\r\n"))
        now = "".join(new)
        (tmp_path / "a.md").write_bytes(now.encode())
        together = [each.verification for each in collection.verify_all()]
        for citation, verification in zip(citations, together, strict=True):
            borne_out(verification, old, now, citation.span)
        assert together == [collection.verify(each) for each in citations]
        assert together[::-1] == [each.verification for each in collection.verify_each(citations[::-1])]
        assert together == [each.verification for each in collection.verify_each(map(collection.portable, citations))]
        assert len({each.reason for each in together}) > 1


SOURCES = (
    "a.md",
    "c.x",
    "",
    ".",
    "..",
    "a.md/",
    "a.md/b",
    "sub",
    "../a.md",
    "/etc/passwd",
    "a\0b",
    "a\ud800.md",
    "x" * 5000,
    "é.md",
    "http://x/",
)
SPANS = (Span(0, 5), Span(-5, 3), Span(-5, -3), Span(3, 3), Span(9, 2), Span(0, 10**30), Span(10**30, 10**31))


@pytest.mark.parametrize("span", SPANS, ids=str)
def test_a_forged_citation_gets_a_verdict_like_any_other(tmp_path: Path, span: Span) -> None:
    """And none but one that is true is verified, with the text it was cited from at hand or without."""
    with world(tmp_path, {"a.md": prose_of(1), "c.x": prose_of(3), "sub/b.md": prose_of(2)}) as collection:
        for genuine in (next(collection.citations("a.md")), next(collection.citations("c.x"))):
            for source in SOURCES:
                forged = evolve(genuine, source=source, span=span, digest=text_digest(prose_of(1)[:5]))
                true = source == "a.md" and span == Span(0, 5)
                for verification in (
                    collection.verify(forged),
                    collection.verify(evolve(forged, before=None, after=None)),
                    groundkit.verify(forged, base=tmp_path, extractors=(Lines(),)),
                ):
                    assert verification.detail.strip()
                    assert verification.verdict is VERDICT_OF[verification.reason]
                    assert true or not verification
                    assert verification or not (true and genuine.source_class is SourceClass.TEXT)


@pytest.mark.parametrize("source", ["a.md", "c.x"])
def test_a_passage_that_never_stood_at_its_span_is_not_traced_from_there(tmp_path: Path, source: str) -> None:
    """The version that is cited is at hand and says something else there, so nobody knows what became of the passage."""
    with world(tmp_path, {source: prose_of(1)}) as collection:
        forged = [evolve(each, digest=text_digest("never said")) for each in collection.citations()]
        put(tmp_path, {source: "X" + prose_of(1)})
        for each in collection.verify_each(forged):
            assert (each.verification.verdict, each.verification.reason) == (Verdict.DRIFTED, Reason.CHANGED)
            assert (each.verification.span, each.verification.cited) == (None, None)

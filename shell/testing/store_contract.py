"""What every document store keeps, real or in memory: subclass, and give `make` and `again`."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from attrs import evolve, frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundkit.core.briefs import VectorCounts
from groundkit.core.changes import (
    ChunkVector,
    CountedChunk,
    LexicalDocument,
    NewDocument,
    SourceFailure,
    Write,
    token_after,
    token_after_recount,
)
from groundkit.core.embedding import EmbeddingIdentity
from groundkit.core.fingerprint import digest_of
from groundkit.core.model import (
    Chunk,
    DocumentRecord,
    ExtractionFacts,
    FetchFacts,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    PageRange,
    SourceClass,
)
from groundkit.core.ports import DocumentStore, StoreView
from groundkit.core.result import Failure, Result
from groundkit.core.settings import Settings
from groundkit.core.storage import (
    AllRecords,
    ChunksByPrefix,
    ChunksByRow,
    ChunksOfDocument,
    NamedFiles,
    RecordOfDocument,
    RecordOfSource,
    Statistics,
    StorageFailure,
    StorageProblem,
    StoredChunk,
)
from groundkit.testing.sample_documents import (
    HOSTILE,
    SOURCES,
    facts_of,
    fetch_of,
    letters_of,
    new_document,
    view_in,
    view_of,
)

#: The real store and the twin both run these, and every write of the real one waits for its disk.
shared = settings(
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
    max_examples=max(20, settings.default.max_examples // 2) if settings.default else 20,
)

ANALYZER = "words/1"
texts = st.sampled_from(
    (
        "",
        "one two three four",
        "one two\x00three\r\nfour",
        "e\u0301 \U0001f642 東京\u2028x",
        " ",
        "aa " * 9,
        "\ufeffzwei",
    )
)


words = st.text(max_size=4) | st.sampled_from(("\x00", '"', "'", "\\", "[1]", "\U0001f642", "null", "東" * 300))
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
facts = st.none() | st.builds(
    ExtractionFacts, digests, digests, st.integers(0, 2**40), st.lists(words, max_size=3).map(tuple), st.booleans()
)
identities = words.filter(str.strip)
fetches = st.builds(
    FetchFacts, st.integers(0, 999), words, words, words, words, words, words, st.integers(0, 2**40), st.none() | words,
    st.lists(words, max_size=3).map(tuple), st.just("") | digests,
)  # fmt: skip
ranges = st.builds(lambda first, more, *labels: PageRange(first, first + more, *labels),
                   st.integers(1, 2**40), st.integers(0, 3), words, words)  # fmt: skip
locators = st.builds(
    Locator, st.integers(1, 9), st.integers(1, 9), st.lists(words, max_size=2).map(tuple), st.none() | ranges, words
)


@frozen
class Put:
    text: str
    size: int
    stamp: int


@frozen
class Rebind:
    stamp: int


@frozen
class Drop:
    pass


Action: TypeAlias = Put | Rebind | Drop
puts = st.builds(Put, texts, st.sampled_from((3, 5, 40)), st.integers(0, 1))
actions = st.one_of(puts, st.builds(Rebind, st.integers(2, 4)), st.just(Drop()))
#: What one write does to which source.
steps = st.dictionaries(st.sampled_from(SOURCES), actions, max_size=4)
#: Live documents by source.
World: TypeAlias = dict[str, NewDocument]


def write_for(world: World, step: Mapping[str, Action]) -> Write:
    """The write that carries out a step; a source that is not there cannot be rebound."""
    documents = [new_document(source, a.text, a.size, a.stamp) for source, a in step.items() if isinstance(a, Put)]
    rebound = [
        rebound_by(world[source].record, action.stamp)
        for source, action in step.items()
        if isinstance(action, Rebind) and source in world
    ]
    removed = [source for source, action in step.items() if isinstance(action, Drop)]
    return Write(tuple(documents), tuple(rebound), tuple(removed))


def rebound_by(record: DocumentRecord, stamp: int) -> DocumentRecord:
    """The record as later rules make it, or a later extractor. Its title is indexed with its chunks, and stays."""
    later = evolve(record, media_type=f"text/t{stamp}", fingerprint=digest_of((f"f{stamp}",)))
    match record.source_class:
        case SourceClass.TEXT:
            return later
        case SourceClass.EXTRACTED:
            return evolve(later, provenance=FromExtractor(f"x/{stamp}"), extraction=facts_of(record.text_digest, stamp))
        case SourceClass.SNAPSHOT:
            text = record.text_digest
            return evolve(later, extraction=facts_of(text, stamp), fetch=fetch_of(text, stamp))


def world_after(world: World, write: Write) -> World:
    after = {source: new for source, new in world.items() if source not in write.removed}
    after |= {record.source: evolve(after[record.source], record=record) for record in write.rebound}
    return after | {new.record.source: new for new in write.documents}


def changed_ids(world: World, write: Write) -> list[str]:
    """Documents whose chunk rows a write ends or makes."""
    ending = [
        world[each] for each in (*write.removed, *(new.record.source for new in write.documents)) if each in world
    ]
    return sorted({new.record.document_id for new in (*ending, *write.documents) if new.chunks})


def statistics_of(world: World) -> tuple[int, int]:
    sizes = [counted.tokens for new in world.values() for counted in new.chunks]
    return len(sizes), sum(sizes)


def read(view: StoreView, at: int) -> World:
    """The world as the view shows it, every way of asking compared with every other."""
    records = view.records(AllRecords(), at).unwrap()
    assert [record.source for record in records] == sorted(record.source for record in records)
    live = view.live(at).unwrap()
    stored = view.chunks(ChunksByRow(tuple(live)), at).unwrap()
    assert {each.row: each.chunk.document_id for each in stored} == live
    assert view.sizes(tuple(live), at).unwrap() == {each.row: each.tokens for each in stored}
    world: World = {}
    for record in records:
        assert view.records(RecordOfSource(record.source), at).unwrap() == (record,)
        assert view.records(RecordOfDocument(record.document_id), at).unwrap() == (record,)
        chunks = view.chunks(ChunksOfDocument(record.document_id), at).unwrap()
        assert all(each.record == record for each in chunks)
        assert {each.row for each in chunks} == {row for row, owner in live.items() if owner == record.document_id}
        counted = tuple(CountedChunk(each.chunk, view_in(each)[0], each.tokens) for each in chunks)
        world[record.source] = NewDocument(record, counted)
    assert len(live) == sum(len(new.chunks) for new in world.values())
    return world


#: Class, extractor and facts of a source.
Told: TypeAlias = tuple[str, str | None, ExtractionFacts | None, FetchFacts | None]


def reported(view: StoreView, at: int, source: str) -> Told:
    """What is told of a source, of which its record and each of its chunks say the same."""
    (record,) = view.records(RecordOfSource(source), at).unwrap()
    stored = view.chunks(ChunksOfDocument(record.document_id), at).unwrap()
    said = {
        (each.source_class.value, each.extractor, each.extraction, each.fetch)
        for each in (record, *(e.record for e in stored))
    }
    assert len(stored) == record.chunks and len(said) == 1
    return said.pop()


def kept(world: World) -> NamedFiles:
    """The files that the documents of a world name."""
    pages = [new.record for new in world.values() if new.record.fetch is not None]
    bodies = {record.fetch.kept_body for record in pages if record.fetch is not None}
    return NamedFiles(frozenset(record.document_id for record in pages), frozenset(bodies - {""}))


def both(one: NamedFiles, other: NamedFiles) -> NamedFiles:
    return NamedFiles(one.snapshots | other.snapshots, one.bodies | other.bodies)


def looked(store: DocumentStore, of: str = "current") -> World:
    view = store.view().unwrap()
    generation = view.state.current if of == "current" else view.state.tip
    world = read(view, generation.mark.generation)
    view.close()
    return world


def rebuilt(store: DocumentStore, characters: int) -> list[LexicalDocument]:
    """Everything, batch by batch."""
    found: list[LexicalDocument] = []
    after = ""
    while batch := store.everything(after, characters, view_of).unwrap():
        found += batch
        after = batch[-1].document_id
    return found


def problem_of(answer: Result[object, StorageFailure]) -> StorageProblem:
    assert isinstance(answer, Failure), answer
    return answer.failure().problem


class StoreContract:
    """`make` gives a store in a new place, `again` another one in the same place."""

    make: Callable[[], DocumentStore]
    again: Callable[[DocumentStore], DocumentStore]

    def created(self, documents: Iterable[NewDocument] = (), told: Settings | None = None) -> DocumentStore:
        store = self.make()
        store.create(told or Settings(), ANALYZER).unwrap()
        if documents := tuple(documents):
            store.stage(Write(documents)).unwrap()
            store.declare(1).unwrap()
        return store

    def test_reading_makes_nothing(self) -> None:
        store = self.make()
        answers: list[Result[object, StorageFailure]] = [
            store.view(), store.stage(Write()), store.recount(ANALYZER, view_of), store.outbox(view_of),
            store.everything("", 1, view_of), store.declare(1), store.record_failures((), ()), store.check(),
            store.drop(), store.remove_files(), self.again(store).view(),
        ]  # fmt: skip
        assert [problem_of(answer) for answer in answers] == [StorageProblem.MISSING] * len(answers)

    def test_a_new_store_is_at_generation_0_and_remembers_its_settings(self) -> None:
        told = Settings(100, 7, "none", 9, "../docs/ü", True, 2, 3, 2**36, 5, 2**30, 3600, (8443, 1, 65535))
        store = self.created(told=told)
        state = store.view().unwrap().state
        assert (state.settings, state.build, state.current) == (told, 0, state.tip)
        assert (state.tip.mark.generation, state.tip.analyzer, state.tip.statistics) == (0, ANALYZER, Statistics())
        assert looked(store) == {}

    def test_creating_again_leaves_everything_as_it_is(self) -> None:
        store = self.created([new_document("B.md", "one two")])
        before = store.view().unwrap().state
        self.again(store).create(Settings(chunk_size=99), "other").unwrap()
        assert store.view().unwrap().state == before

    @shared
    @given(st.lists(st.tuples(steps, st.booleans()), max_size=6), st.sampled_from((1, 7, 1000)))
    def test_every_generation_is_what_its_writes_say(
        self, history: list[tuple[dict[str, Action], bool]], characters: int
    ) -> None:
        store = self.created()
        world: World = {}
        held: list[tuple[StoreView, World]] = []
        for build, (step, keep) in enumerate(history, 1):
            if keep:
                view = self.again(store).view().unwrap()
                held.append((view, read(view, view.state.tip.mark.generation)))
            write = write_for(world, step)
            before = store.view().unwrap().state
            staged = store.stage(write).unwrap()
            after = world_after(world, write)
            between = store.view().unwrap()
            assert between.state.current == before.current == before.tip
            assert between.state.tip.mark.token == token_after(before.tip.mark.token, write)
            assert read(between, before.tip.mark.generation) == world
            assert read(between, before.tip.mark.generation + 1) == after
            assert between.named_files().unwrap() == both(kept(world), kept(after))
            held.append((between, after))
            self._outbox_is(store, staged, changed_ids(world, write), between)
            self._counted(between, after)
            store.declare(build).unwrap()
            now = store.view().unwrap().state
            assert (now.current, now.tip, now.build) == (between.state.tip, between.state.tip, build)
            assert looked(store) == after
            assert self._named(store) == kept(after)
            assert store.outbox(view_of).unwrap() == ()
            self._everything_is(store, after, characters)
            for view, seen in held:
                assert read(view, view.state.tip.mark.generation) == seen
            world = after
        for view, _ in held:
            view.close()
        assert store.check().unwrap() == ()
        store.close()

    def _outbox_is(
        self, store: DocumentStore, staged: tuple[LexicalDocument, ...], ids: list[str], view: StoreView
    ) -> None:
        assert [each.document_id for each in staged] == ids
        assert self.again(store).outbox(view_of).unwrap() == staged
        at = view.state.tip.mark.generation
        for told in staged:
            stored = view.chunks(ChunksOfDocument(told.document_id), at).unwrap()
            assert [(row.row, row.view) for row in told.rows] == [(e.row, view_in(e)[0]) for e in stored]

    def _counted(self, view: StoreView, world: World) -> None:
        counts = view.state.tip.statistics
        assert (counts.chunks, counts.tokens) == statistics_of(world)
        longest = [counted.tokens for new in world.values() for counted in new.chunks]
        assert counts.longest >= max(longest) if longest else counts.longest == 0

    def _everything_is(self, store: DocumentStore, world: World, characters: int) -> None:
        found = rebuilt(store, characters)
        having = {new.record.document_id: new for new in world.values() if new.chunks}
        assert [each.document_id for each in found] == sorted(having)
        for each in found:
            assert [row.view for row in each.rows] == [chunk.view for chunk in having[each.document_id].chunks]

    def test_an_unfinished_write_refuses_the_next_until_it_is_declared(self) -> None:
        store = self.created()
        store.stage(Write((new_document("B.md", "one two"),))).unwrap()
        assert problem_of(store.stage(Write((new_document("a.pdf", "x"),)))) is StorageProblem.BUSY
        assert set(looked(store, "tip")) == {"B.md"}
        store.declare(1).unwrap()
        store.stage(Write((new_document("a.pdf", "x"),))).unwrap()
        assert set(looked(store, "tip")) == {"B.md", "a.pdf"}

    def test_a_refused_write_leaves_nothing(self) -> None:
        store = self.created([new_document("B.md", "one two")])
        other, third = new_document("B.md", "other"), new_document("a.pdf", "x")
        twice = Write((third, other, new_document("B.md", "third")))
        same = Write((third, NewDocument(other.record, (*other.chunks, *other.chunks))))
        unknown = Write((third,), rebound=(new_document("a/ü.txt", "y").record,))
        changed = Write((third,), rebound=(other.record,))
        for write in (twice, same, unknown, changed):
            assert problem_of(store.stage(write)) is StorageProblem.FAILED
            state = store.view().unwrap().state
            assert state.tip == state.current
            assert set(looked(store)) == {"B.md"}

    def test_facts_that_do_not_go_with_the_class_are_refused(self) -> None:
        store = self.created([new_document("B.md", "one two")])
        other, facts, fetch = new_document("a/ü.txt", "other"), facts_of("other", 0), fetch_of("other", 0)
        pairings = (
            (FromText(), facts, None), (FromText(), None, fetch), (FromText(), facts, fetch),
            (FromExtractor("x/1"), None, fetch), (FromExtractor("x/1"), facts, fetch),
            (FromSnapshot(), None, None), (FromSnapshot(), facts, None), (FromSnapshot(), None, fetch),
        )  # fmt: skip
        for origin, extraction, fetched in pairings:
            wrong = evolve(other.record, provenance=origin, extraction=extraction, fetch=fetched)
            write = Write((new_document("a.pdf", "x"), evolve(other, record=wrong)))
            assert problem_of(store.stage(write)) is StorageProblem.FAILED
            state = store.view().unwrap().state
            assert state.tip == state.current
            assert set(looked(store, "tip")) == {"B.md"}

    def test_rows_are_never_given_twice(self) -> None:
        store = self.created()
        seen: set[int] = set()
        for build in range(4):
            told = store.stage(Write((new_document("B.md", "one two three", 3 + build % 2),))).unwrap()
            rows = {row.row for each in told for row in each.rows}
            assert rows and not rows & seen and min(rows) > max(seen, default=0)
            seen |= rows
            store.declare(build).unwrap()
            store.stage(Write(removed=("B.md",))).unwrap()
            store.declare(build).unwrap()

    def test_settings_are_part_of_a_write(self) -> None:
        store = self.created()
        told = Settings(base="..", time_limit=7, cpu_limit=86_400, memory_limit=2**30 + 1, cache_bytes=5)
        told = evolve(told, fetch_bytes=1, fetch_seconds=2, fetch_ports=(80,))
        assert store.stage(Write(settings=told)).unwrap() == ()
        assert store.view().unwrap().state.settings == told

    def test_every_class_comes_back_with_its_own_extractor_over_rebinding_and_recounting(self) -> None:
        documents = [new_document(source, "one two three four") for source in SOURCES]
        text = "one two three four"
        first: dict[str, Told] = dict.fromkeys(SOURCES, ("text", None, None, None))
        first |= {
            "a.pdf": ("extracted", "x/1", facts_of(text, 0), None),
            SOURCES[-1]: ("snapshot", None, facts_of(text, 0), fetch_of(text, 0)),
        }
        text = documents[0].record.text_digest
        later = first | {
            "a.pdf": ("extracted", "x/2", facts_of(text, 2), None),
            SOURCES[-1]: ("snapshot", None, facts_of(text, 2), fetch_of(text, 2)),
        }
        store = self.created(documents)
        self._reported_are(store, first)
        reader = self.again(store).view().unwrap()
        store.stage(Write(rebound=tuple(rebound_by(new.record, 2) for new in documents))).unwrap()
        self._reported_are(store, later)
        self._reported_are(store, first, before_tip=1)
        store.declare(2).unwrap()
        store.recount("letters/1", letters_of).unwrap()
        self._reported_are(store, later)
        store.declare(3).unwrap()
        self._reported_are(self.again(store), later)
        assert {source: reported(reader, 1, source) for source in SOURCES} == first

    def _reported_are(
        self,
        store: DocumentStore,
        expected: Mapping[str, Told],
        before_tip: int = 0,
    ) -> None:
        view = store.view().unwrap()
        at = view.state.tip.mark.generation - before_tip
        assert {source: reported(view, at, source) for source in SOURCES} == expected
        view.close()

    def test_an_extracted_document_made_by_hand_needs_no_facts(self) -> None:
        new = new_document("a.pdf", "one two three")
        new = evolve(new, record=evolve(new.record, provenance=FromExtractor("x@1"), extraction=None))
        store = self.created([new])
        self._is_by_hand(store, new)
        store.stage(Write(rebound=(rebound_by(new.record, 2),))).unwrap()
        store.declare(2).unwrap()
        assert looked(store)["a.pdf"].record.extraction == facts_of(new.record.text_digest, 2)
        store.stage(Write(rebound=(new.record,))).unwrap()
        store.declare(3).unwrap()
        self._is_by_hand(store, new)

    def _is_by_hand(self, store: DocumentStore, new: NewDocument) -> None:
        assert looked(store) == {"a.pdf": new}
        view = store.view().unwrap()
        at = view.state.current.mark.generation
        assert reported(view, at, "a.pdf") == ("extracted", "x@1", None, None)

    @shared
    @given(identities, facts, st.lists(locators, max_size=6), identities, facts)
    def test_facts_and_places_come_back_to_the_letter(
        self,
        identity: str,
        known: ExtractionFacts | None,
        places: list[Locator],
        later_identity: str,
        later_known: ExtractionFacts | None,
    ) -> None:
        new = new_document("a.pdf", "x" * len(places), 1)
        chunks = tuple(
            CountedChunk(chunk, *view_of(chunk.text, chunk.locator.heading_path, new.record.title))
            for chunk in (
                evolve(counted.chunk, locator=locator) for counted, locator in zip(new.chunks, places, strict=True)
            )
        )
        record = evolve(new.record, provenance=FromExtractor(identity), extraction=known)
        new = NewDocument(record, chunks)
        later = evolve(record, provenance=FromExtractor(later_identity), extraction=later_known)
        store = self.created([new])
        assert looked(store) == {"a.pdf": new}
        store.stage(Write(rebound=(later,))).unwrap()
        assert (looked(store), looked(store, "tip")) == ({"a.pdf": new}, {"a.pdf": NewDocument(later, chunks)})
        store.declare(2).unwrap()
        store.recount(ANALYZER, view_of).unwrap()
        assert looked(store, "tip") == {"a.pdf": NewDocument(later, chunks)}
        store.close()

    @shared
    @given(texts, facts.filter(bool), fetches, facts.filter(bool), fetches)
    def test_facts_of_a_fetch_come_back_to_the_letter(
        self,
        text: str,
        known: ExtractionFacts,
        fetch: FetchFacts,
        later_known: ExtractionFacts,
        later_fetch: FetchFacts,
    ) -> None:
        new = new_document(SOURCES[-1], text)
        new = evolve(new, record=evolve(new.record, extraction=known, fetch=fetch))
        later = evolve(new.record, extraction=later_known, fetch=later_fetch)
        store = self.created([new])
        assert looked(store) == {SOURCES[-1]: new}
        store.stage(Write(rebound=(later,))).unwrap()
        assert (looked(store), looked(store, "tip")) == ({SOURCES[-1]: new}, {SOURCES[-1]: evolve(new, record=later)})
        store.declare(2).unwrap()
        store.recount(ANALYZER, view_of).unwrap()
        assert looked(store, "tip") == {SOURCES[-1]: evolve(new, record=later)}
        store.close()

    def test_files_are_named_until_the_rows_that_name_them_are_purged(self) -> None:
        """Also by what was replaced, rebound or removed, and by what only a view of before still shows."""
        others = [new_document(source, "one") for source in SOURCES[:-1]]
        old, new = (new_document(SOURCES[-1], text, stamp=2) for text in ("old", "new"))
        bare = evolve(new.record, fetch=fetch_of(HOSTILE, 0))
        store = self.created(others)
        assert self._named(store) == NamedFiles()
        steps = (
            (Write((old,)), kept({"": old})),
            (Write((new,)), kept({"": new})),
            (Write(rebound=(bare,)), NamedFiles(frozenset({bare.document_id}))),
            (Write(removed=(SOURCES[-1],)), NamedFiles()),
            (Write((old,)), kept({"": old})),
        )
        before = NamedFiles()
        for build, (write, after) in enumerate(steps, 2):
            view = self.again(store).view().unwrap()
            store.stage(write).unwrap()
            assert self._named(store) == both(before, after)
            store.declare(build).unwrap()
            assert self._named(store) == after
            assert view.named_files().unwrap() == before
            view.close()
            before = after
        store.recount("letters/1", letters_of).unwrap()
        assert self._named(store) == before

    def _named(self, store: DocumentStore) -> NamedFiles:
        view = store.view().unwrap()
        named = view.named_files().unwrap()
        view.close()
        return named

    def test_a_document_without_chunks_is_a_document(self) -> None:
        store = self.created([new_document("B.md", "")])
        assert store.view().unwrap().state.current.statistics == Statistics()
        assert set(looked(store)) == {"B.md"}
        assert store.stage(Write(removed=("B.md",))).unwrap() == ()

    def test_a_recount_gives_every_chunk_a_new_row_and_count(self) -> None:
        texts = dict.fromkeys(SOURCES, "one two three") | {"empty.md": ""}
        store = self.created([new_document(source, text) for source, text in texts.items()])
        before = store.view().unwrap()
        old = before.live(before.state.tip.mark.generation).unwrap()
        store.recount("letters/1", letters_of).unwrap()
        view = store.view().unwrap()
        at = view.state.tip.mark.generation
        assert view.state.current == before.state.current
        assert view.state.tip.mark.token == token_after_recount(before.state.tip.mark.token, "letters/1")
        assert view.state.tip.analyzer == "letters/1"
        assert view.state.tip.statistics == Statistics(len(old), 13 * len(SOURCES), 5)
        fresh = view.live(at).unwrap()
        assert not set(fresh) & set(old)
        assert view.live(at - 1).unwrap() == old
        assert set(view.sizes(tuple(fresh), at).unwrap().values()) == {5, 3}
        assert self._texts(view, at) == self._texts(view, at - 1)
        assert view.records(AllRecords(), at).unwrap() == view.records(AllRecords(), at - 1).unwrap()
        assert store.outbox(view_of).unwrap() == ()
        store.declare(2).unwrap()
        assert [row.row for each in rebuilt(store, 1) for row in each.rows] and looked(store).keys() == texts.keys()

    def _texts(self, view: StoreView, at: int) -> list[Chunk]:
        stored = view.chunks(ChunksByRow(tuple(sorted(view.live(at).unwrap()))), at).unwrap()
        return [each.chunk for each in stored]

    def test_a_recount_may_follow_an_unfinished_write(self) -> None:
        store = self.created([new_document("B.md", "one two")])
        store.stage(Write((new_document("B.md", "three"),))).unwrap()
        store.recount("letters/1", letters_of).unwrap()
        assert store.outbox(view_of).unwrap() == ()
        state = store.view().unwrap().state
        assert state.tip.mark.generation == state.current.mark.generation + 2
        assert [chunk.chunk.text for chunk in looked(store)["B.md"].chunks] == ["one t", "wo"]
        store.declare(2).unwrap()
        assert [chunk.chunk.text for chunk in looked(store)["B.md"].chunks] == ["three"]

    def _full(self) -> tuple[StoreView, int, list[StoredChunk]]:
        """A view of many chunks, and all of them by (source, start)."""
        store = self.created([new_document(source, "abc def " * 5, 3) for source in reversed(SOURCES)])
        view = store.view().unwrap()
        at = view.state.current.mark.generation
        stored = view.chunks(ChunksByRow(tuple(view.live(at).unwrap())), at).unwrap()
        return view, at, sorted(stored, key=lambda each: (each.record.source, each.chunk.span.start))

    def test_the_first_rows_are_first_by_source_and_start(self) -> None:
        view, at, stored = self._full()
        rows = [each.row for each in stored]
        some = rows[1::3]
        for limit in (0, 1, 5, 1000):
            assert view.first(some, at, limit).unwrap() == tuple(some[:limit])
            assert view.first([*reversed(some), *some, 10**9, -1], at, limit).unwrap() == tuple(some[:limit])
        assert view.first((), at, 3).unwrap() == ()

    def test_chunks_come_in_the_order_asked_for_without_those_that_are_not_alive(self) -> None:
        view, at, stored = self._full()
        asked = [stored[3], stored[0], stored[7]]
        rows = (10**9, *(each.row for each in asked), -4)
        assert view.chunks(ChunksByRow(rows), at).unwrap() == tuple(asked)
        assert view.sizes(rows, at).unwrap() == {each.row: each.tokens for each in asked}
        assert view.chunks(ChunksByRow(()), at).unwrap() == ()

    def test_a_part_of_a_document_is_asked_for_by_ordinal(self) -> None:
        view, at, stored = self._full()
        name = stored[0].chunk.document_id
        mine = tuple(each for each in stored if each.chunk.document_id == name)
        for first, number in ((0, None), (2, None), (2, 3), (0, 0), (100, 2)):
            end = None if number is None else first + number
            assert view.chunks(ChunksOfDocument(name, first, number), at).unwrap() == mine[first:end]
        for unknown in ("0" * 32, name[:31], name + "0", name.upper() + "A", "", "%"):
            assert view.chunks(ChunksOfDocument(unknown), at).unwrap() == ()
            assert view.records(RecordOfDocument(unknown), at).unwrap() == ()

    def test_chunks_are_found_by_the_beginning_of_their_id(self) -> None:
        view, at, stored = self._full()
        by_id = sorted(stored, key=lambda each: each.chunk.id)
        name = by_id[4].chunk.id
        beginnings = [name[:length] for length in (1, 2, 3, 9, 10, 11, 31, 32)]
        no_ids = [
            "zz",
            "%",
            "_",
            name + "0",
            name.upper() + " ",
            " " + name,
            name[:2] + " " + name[2:4],
            "０",
            "A",
            "F",
        ]
        for prefix, limit in (("", 3), ("0", 0), *((each, 1000) for each in (*beginnings, *no_ids)), (name[:1], 2)):
            wanted = tuple(each for each in by_id if each.chunk.id.startswith(prefix))[:limit]
            assert view.chunks(ChunksByPrefix(prefix, limit), at).unwrap() == wanted

    def test_failures_are_remembered_until_cleared(self) -> None:
        store = self.created()
        first, second = (SourceFailure(source, "not_text", "byte 3 \x00", "2026-01-01T00:00:00Z") for source in "ba")
        store.record_failures((), (first, second)).unwrap()
        assert store.view().unwrap().failures().unwrap() == (second, first)
        again = evolve(first, reason="too_large")
        store.record_failures(("a", "unknown"), (again,)).unwrap()
        view = store.view().unwrap()
        assert view.failures().unwrap() == (again,)
        assert view.state.tip.mark.generation == 0

    def test_a_closed_view_answers_nothing(self) -> None:
        store = self.created([new_document("B.md", "one")])
        view = store.view().unwrap()
        view.close()
        view.close()
        assert problem_of(view.live(1)) is StorageProblem.FAILED
        assert problem_of(view.named_files()) is StorageProblem.FAILED
        assert problem_of(view.records(AllRecords(), 1)) is StorageProblem.FAILED

    def test_a_dropped_store_reads_as_dropped_to_everybody(self) -> None:
        store = self.created([new_document("B.md", "one")])
        assert problem_of(store.remove_files()) is StorageProblem.FAILED
        store.drop().unwrap()
        store.drop().unwrap()
        for handle in (store, self.again(store)):
            answers: list[Result[object, StorageFailure]] = [
                handle.view(), handle.stage(Write()), handle.recount("x", view_of), handle.outbox(view_of),
                handle.everything("", 1, view_of), handle.declare(1), handle.record_failures((), ()),
            ]  # fmt: skip
            assert [problem_of(answer) for answer in answers] == [StorageProblem.DROPPED] * len(answers)
        store.remove_files().unwrap()
        assert problem_of(self.again(store).view()) is StorageProblem.MISSING

    def test_creating_a_dropped_store_starts_anew_and_open_readers_notice(self) -> None:
        store = self.created([new_document("B.md", "one")])
        reader = self.again(store)
        assert set(looked(reader)) == {"B.md"}
        for finished in (False, True):
            store.drop().unwrap()
            if finished:
                store.remove_files().unwrap()
            store.create(Settings(chunk_size=50), ANALYZER).unwrap()
            view = reader.view().unwrap()
            assert (view.state.tip.mark.generation, view.state.settings.chunk_size) == (0, 50)
            view.close()
            assert looked(reader) == looked(store) == {}

    def test_views_outlive_the_handle_that_gave_them(self) -> None:
        store = self.created([new_document("B.md", "one")])
        view = store.view().unwrap()
        store.close()
        assert set(read(view, view.state.tip.mark.generation)) == {"B.md"}
        view.close()
        assert set(looked(store)) == {"B.md"}

    # Vectors

    def test_vectors_belong_to_their_chunks_and_go_with_them(self) -> None:
        old, other = embedded(new_document("B.md", "one two three four")), new_document("C.md", "zwei")
        store = self.created()
        store.stage(Write((old, other), manifest=EMBEDDER)).unwrap()
        store.declare(1).unwrap()
        assert counted(store) == VectorCounts(len(old.chunks) - 1, 1, len(other.chunks))
        assert vectors_in(store) == {each.chunk.id: each.vector for each in old.chunks if each.vector}
        store.recount("letters/1", letters_of).unwrap()
        store.declare(2).unwrap()
        assert vectors_in(store) == {each.chunk.id: each.vector for each in old.chunks if each.vector}
        store.stage(Write(rebound=(rebound_by(old.record, 2),))).unwrap()
        store.declare(3).unwrap()
        assert counted(store) == VectorCounts(len(old.chunks) - 1, 1, len(other.chunks))
        new = embedded(new_document("B.md", "five"))
        store.stage(Write((new,), removed=("C.md",), manifest=EMBEDDER)).unwrap()
        store.declare(4).unwrap()
        assert vectors_in(store) == {each.chunk.id: each.vector for each in new.chunks if each.vector}
        assert store.check().unwrap() == ()
        store.close()

    def test_what_lacks_a_vector_is_found_and_filled_and_the_generation_before_does_not_see_it(self) -> None:
        new = new_document("B.md", "one two three four")
        store = self.created([new])
        view = store.view().unwrap()
        at = view.state.current.mark.generation
        lacking = view.lacking(at, 0, 2).unwrap()
        assert [each.chunk for each in lacking] == [each.chunk for each in new.chunks[:2]]
        rest = view.lacking(at, lacking[-1].row, 99).unwrap()
        assert [each.chunk for each in rest] == [each.chunk for each in new.chunks[2:]]
        view.close()
        filled = tuple(ChunkVector(each.row, vector_of(each.chunk.ordinal)) for each in (*lacking, *rest))
        store.stage(Write(vectors=filled, manifest=EMBEDDER)).unwrap()
        view = store.view().unwrap()
        assert view.vector_counts(at).unwrap() == VectorCounts(0, 0, len(new.chunks))
        assert view.vectors(at, 0, 99).unwrap() == ()
        assert [each.chunk for each in view.lacking(at, 0, 99).unwrap()] == [each.chunk for each in new.chunks]
        assert view.lacking(at + 1, 0, 99).unwrap() == ()
        view.close()
        assert problem_of(store.stage(Write())) is StorageProblem.BUSY
        store.declare(1).unwrap()
        assert counted(store) == VectorCounts(len(new.chunks) - 1, 1, 0)
        view = store.view().unwrap()
        assert view.state.manifest == EMBEDDER
        rows = view.vectors(at + 1, 0, 1).unwrap()
        assert len(rows) == 1
        assert [*rows, *view.vectors(at + 1, rows[0].row, 99).unwrap()] == list(view.vectors(at + 1, 0, 99).unwrap())
        view.close()
        store.stage(Write(forget_vectors=True)).unwrap()
        store.declare(1).unwrap()
        assert counted(store) == VectorCounts(0, 0, len(new.chunks))
        store.close()

    def test_vectors_of_two_embedders_never_mix(self) -> None:
        new = embedded(new_document("B.md", "one two"))
        store = self.created()
        assert problem_of(store.stage(Write((new,)))) is StorageProblem.FAILED
        store.stage(Write((new,), manifest=EMBEDDER)).unwrap()
        store.declare(1).unwrap()
        more = embedded(new_document("C.md", "drei"))
        wrong = (
            Write((more,), manifest=evolve(EMBEDDER, model="other")),
            Write((more,), manifest=evolve(EMBEDDER, digest="b")),
            Write((evolve(more, chunks=(evolve(more.chunks[0], vector=b"\x01\x00"),)),), manifest=EMBEDDER),
            Write(vectors=(ChunkVector(1, vector_of(1)),), manifest=EMBEDDER),
            Write(vectors=(ChunkVector(999, vector_of(1)),), manifest=EMBEDDER),
            Write(removed=("B.md",), manifest=evolve(EMBEDDER, model="other")),
            Write(removed=("B.md",), vectors=(ChunkVector(1, vector_of(1)),), manifest=EMBEDDER),
        )
        for each in wrong:
            assert problem_of(store.stage(each)) is StorageProblem.FAILED
            assert set(looked(store, "tip")) == {"B.md"}
        store.stage(Write((more,), manifest=EMBEDDER)).unwrap()
        store.declare(1).unwrap()
        store.close()

    def test_a_chunk_is_given_one_vector(self) -> None:
        store = self.created([new_document("B.md", "one")])
        view = store.view().unwrap()
        (row,) = view.live(view.state.current.mark.generation).unwrap()
        view.close()
        twice = Write(vectors=(ChunkVector(row, vector_of(2)), ChunkVector(row, vector_of(3))), manifest=EMBEDDER)
        assert problem_of(store.stage(twice)) is StorageProblem.FAILED
        assert problem_of(store.stage(evolve(twice, vectors=twice.vectors[:1], manifest=None))) is StorageProblem.FAILED
        store.stage(evolve(twice, vectors=twice.vectors[:1])).unwrap()
        store.declare(1).unwrap()
        for vectors in (twice.vectors[:1], twice.vectors[1:]):
            assert problem_of(store.stage(evolve(twice, vectors=vectors))) is StorageProblem.FAILED
        assert list(vectors_in(store).values()) == [vector_of(2)]
        store.close()

    def test_another_embedder_may_follow_in_the_write_that_forgets_the_first(self) -> None:
        other = EmbeddingIdentity("other", "m", 1, "b")
        kept, new = embedded(new_document("B.md", "one")), new_document("C.md", "two")
        store = self.created()
        store.stage(Write((kept,), manifest=EMBEDDER)).unwrap()
        store.declare(1).unwrap()
        chunk = evolve(new.chunks[0], vector=b"\x01\x02")
        store.stage(Write((evolve(new, chunks=(chunk,)),), manifest=other, forget_vectors=True)).unwrap()
        store.declare(1).unwrap()
        assert vectors_in(store) == {chunk.chunk.id: chunk.vector}
        assert counted(store) == VectorCounts(1, 0, 1)
        view = store.view().unwrap()
        assert view.state.manifest == other
        view.close()
        store.close()

    @given(
        documents=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=6),
        after=st.integers(0, 30),
        limit=st.integers(0, 9),
    )
    @settings(max_examples=25, suppress_health_check=[HealthCheck.differing_executors])
    def test_a_page_of_what_lacks_vectors_is_the_first_rows_after_that_have_none(
        self, documents: list[tuple[int, int]], after: int, limit: int
    ) -> None:
        """Each document's first chunks have a vector, or its last ones; some are made anew and some rebound."""
        store = self.created()
        had: set[str] = set()
        for number, (letters, without) in enumerate(documents):
            new = new_document(f"{number % 4}.md", f"{number}bcde" * letters)
            ordinals = range(without, 9) if number % 2 else range(9 - without)
            chunks = tuple(
                evolve(each, vector=vector_of(each.chunk.ordinal)) if each.chunk.ordinal in ordinals else each
                for each in new.chunks
            )
            had |= {each.chunk.id for each in chunks if each.vector is not None}
            store.stage(Write((evolve(new, chunks=chunks),), manifest=EMBEDDER)).unwrap()
            store.declare(1).unwrap()
            if without % 3 == 0:
                store.stage(Write(rebound=(rebound_by(new.record, 2),))).unwrap()
                store.declare(1).unwrap()
        view = store.view().unwrap()
        at = view.state.tip.mark.generation
        stored = view.chunks(ChunksByRow(tuple(sorted(view.live(at).unwrap()))), at).unwrap()
        lacking = [each for each in stored if each.chunk.id not in had]
        assert view.lacking(at, after, limit).unwrap() == tuple([e for e in lacking if e.row > after][:limit])
        counts = view.vector_counts(at).unwrap()
        assert counts.lacking == len(lacking)
        assert counts.embedded + counts.empty + counts.lacking == len(stored)
        view.close()
        store.close()

    def test_conditions_see_what_records_and_chunks_say(self) -> None:
        documents = [new_document(source, "one two three four") for source in SOURCES]
        store = self.created([*documents, new_document("empty.md", "")])
        view = store.view().unwrap()
        at = view.state.current.mark.generation
        records, briefs = view.records(AllRecords(), at).unwrap(), view.briefs(at).unwrap()
        assert [
            (each.document_id, each.source, each.source_class, each.media_type, each.ingested_at, each.chunks)
            for each in briefs
        ] == [
            (each.document_id, each.source, each.source_class.value, each.media_type, each.ingested_at, each.chunks)
            for each in records
        ]
        stored = view.chunks(ChunksByRow(tuple(view.live(at).unwrap())), at).unwrap()
        for brief in briefs:
            rows = {each.row for each in stored if each.chunk.document_id == brief.document_id}
            assert rows == set(range(brief.first_row, brief.first_row + brief.chunks))
        admitting: tuple[Callable[[tuple[str, ...]], bool], ...] = (
            lambda path: len(path) == 1,
            lambda path: not path,
            lambda path: "東" in path,
        )
        some = frozenset(each.document_id for each in briefs[:2])
        for documents_wanted in (None, some, frozenset[str]()):
            for admits in admitting:
                wanted = {
                    each.row
                    for each in stored
                    if documents_wanted is None or each.chunk.document_id in documents_wanted
                    if admits(each.chunk.locator.heading_path)
                }
                assert view.rows_under(documents_wanted, at, admits).unwrap() == wanted
        view.close()
        store.close()


EMBEDDER = EmbeddingIdentity("hash", "", 2, "a")


def vector_of(number: int) -> bytes:
    """A vector for each number; for 1, that of a text in which the embedder finds nothing."""
    return b"" if number == 1 else bytes((number % 250, 1, 7, 0))


def embedded(new: NewDocument) -> NewDocument:
    return evolve(new, chunks=tuple(evolve(each, vector=vector_of(each.chunk.ordinal)) for each in new.chunks))


def counted(store: DocumentStore) -> VectorCounts:
    view = store.view().unwrap()
    counts = view.vector_counts(view.state.current.mark.generation).unwrap()
    view.close()
    return counts


def vectors_in(store: DocumentStore) -> dict[str, bytes]:
    view = store.view().unwrap()
    rows = view.vectors(view.state.current.mark.generation, 0, 999).unwrap()
    view.close()
    return {each.chunk_id: each.vector for each in rows}

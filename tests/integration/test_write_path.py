"""The write path of ADR 0006: each of its claims, and writers that leave a step out, which must be caught.

What only tantivy can do wrong (lost deletes, leftovers of a kill) is tested with the adapter itself.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from integration.write_support import (
    Answering,
    Died,
    Disk,
    Dying,
    MemoryDisk,
    RealDisk,
    Script,
    disagreements,
    made,
    sources,
    state_of,
    texts_found,
    write,
)

from groundkit.core.changes import LexicalDocument, Write
from groundkit.core.folding import index_view
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import LexicalFailure, LexicalProblem, Mark, StorageFailure, StorageProblem, StoreState
from groundkit.reading import Reader
from groundkit.testing.sample_documents import new_document
from groundkit.writing import WriteFailure, Writer

DISKS = (MemoryDisk, RealDisk)
BEFORE = write(a="ferry one", b="tide two", c="harbour three")
#: Replaces, removes, adds and rebinds at once.
CHANGE = Write(
    documents=(new_document("a", "ferry again", 40), new_document("d", "new four", 40)),
    rebound=(new_document("c", "harbour three", 40, stamp=1).record,),
    removed=("b",),
)


@pytest.fixture(params=DISKS, ids=lambda kind: kind.__name__)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    made_disk = made(request.param(tmp_path))
    writer_of(made_disk).write(BEFORE).unwrap()
    return made_disk


def writer_of(disk: Disk, language: str = "english", kind: type[Writer] = Writer) -> Writer:
    return kind(disk.documents(), disk.lexical(language))


def found(disk: Disk, query: str, language: str = "english") -> list[str]:
    lexical = disk.lexical(language)
    return [source for source, _ in texts_found(Reader(disk.documents(), lexical), lexical, query)]


def full(*_: object) -> Failure[LexicalFailure]:
    return Failure(LexicalFailure(LexicalProblem.FULL, "No space left on device"))


# Steps


def test_a_write_is_whole_when_it_is_reported(disk: Disk) -> None:
    before = state_of(disk)
    written = writer_of(disk).write(CHANGE).unwrap()
    assert written.pending is None
    assert written.mark == state_of(disk).current.mark
    assert written.mark.generation == before.tip.mark.generation + 1
    assert disagreements(disk) == []
    assert (found(disk, "ferry"), found(disk, "tide"), found(disk, "new")) == (["a"], [], ["d"])


def test_a_writer_goes_on_without_looking_at_everything_again(disk: Disk) -> None:
    def never(*_: object) -> object:
        raise AssertionError("recovery compared ids between two writes of one holder")

    writer = writer_of(disk)
    writer.write(CHANGE).unwrap()
    quick = Writer(disk.documents(), Answering(disk.lexical(), live=never), writer.settled)  # type: ignore[arg-type]
    quick.write(write(e="five")).unwrap()
    quick.write(write(f="six")).unwrap()
    assert disagreements(disk) == []
    with pytest.raises(AssertionError):
        Writer(disk.documents(), Answering(disk.lexical(), live=never)).recover()  # type: ignore[arg-type]


def test_a_state_that_somebody_else_moved_on_is_looked_at_again(disk: Disk) -> None:
    mine = writer_of(disk)
    mine.recover().unwrap()
    writer_of(disk).write(CHANGE).unwrap()
    again = Writer(disk.documents(), disk.lexical(), mine.settled)
    again.write(write(e="five")).unwrap()
    assert disagreements(disk) == []
    assert set(sources(disk)) == {"a", "c", "d", "e"}


def test_a_stage_that_is_refused_leaves_nothing(disk: Disk) -> None:
    refusal = StorageFailure(StorageProblem.FULL, "c.sqlite3", "full")
    documents = Answering(disk.documents(), stage=lambda _: Failure(refusal))
    before = state_of(disk)
    assert Writer(documents, disk.lexical()).write(CHANGE) == Failure(refusal)  # type: ignore[arg-type]
    assert state_of(disk) == before
    assert disagreements(disk) == []


@pytest.mark.parametrize("problem", [LexicalProblem.FULL, LexicalProblem.BUSY, LexicalProblem.DENIED])
def test_a_write_whose_index_has_no_room_is_accepted_and_finished_by_the_next_writer(
    disk: Disk, problem: LexicalProblem
) -> None:
    refusal = LexicalFailure(problem, "no")
    lexical = Answering(disk.lexical(), apply=lambda *_: Failure(refusal))
    writer = Writer(disk.documents(), lexical)  # type: ignore[arg-type]
    written = writer.write(CHANGE).unwrap()
    assert written.pending == refusal
    assert written.mark == state_of(disk).tip.mark
    assert disagreements(disk) == ["unfinished", "the index names another generation", "the outbox is not empty"]
    assert found(disk, "ferry tide") == ["a", "b"]  # the finished generation is what is served meanwhile
    assert writer.write(write(e="five")) == Failure(refusal)  # and nothing else is accepted on top of it
    assert writer_of(disk).write(write(e="five")).unwrap().pending is None
    assert disagreements(disk) == []
    assert set(sources(disk)) == {"a", "c", "d", "e"}
    assert state_of(disk).build == 1  # a full disk is not damage


def test_an_index_that_breaks_under_a_write_is_made_anew_at_once(disk: Disk) -> None:
    def breaks(build: int, *told: object) -> Result[None, LexicalFailure]:
        if build == 1:
            return Failure(LexicalFailure(LexicalProblem.DAMAGED, "panicked"))
        return disk.lexical().apply(build, *told)  # type: ignore[arg-type]

    lexical = Answering(disk.lexical(), apply=breaks)
    assert Writer(disk.documents(), lexical).write(CHANGE).unwrap().pending is None  # type: ignore[arg-type]
    assert (disagreements(disk), state_of(disk).build) == ([], 2)


def test_a_declaration_that_fails_leaves_an_accepted_write(disk: Disk) -> None:
    refusal = StorageFailure(StorageProblem.FULL, "c.sqlite3", "full")
    documents = Answering(disk.documents(), declare=lambda _: Failure(refusal))
    written = Writer(documents, disk.lexical()).write(CHANGE).unwrap()  # type: ignore[arg-type]
    assert written.pending == refusal
    assert found(disk, "ferry tide") == ["a"]  # the index is at the tip, and so is what is served
    writer_of(disk).recover().unwrap()
    assert (disagreements(disk), state_of(disk).build) == ([], 1)


# Death at every step


def dying(disk: Disk, work: Callable[[Writer], object], script: Script, language: str = "english") -> None:
    work(Writer(Dying(disk.documents(), script), Dying(disk.lexical(language), script)))  # type: ignore[arg-type]


def places(make: Callable[[], Disk], work: Callable[[Writer], object], language: str = "english") -> list[str]:
    script = Script()
    dying(make(), work, script, language)
    return script.steps


def changed(writer: Writer) -> None:
    writer.write(CHANGE).unwrap()


def rebuilt(writer: Writer) -> None:
    writer.recover(rebuild="a test").unwrap()


def begun(kind: type[MemoryDisk] | type[RealDisk], place: Path) -> Callable[[], Disk]:
    disk = made(kind(place))
    writer_of(disk).write(BEFORE).unwrap()
    return disk.copied


OLD, NEW = {"a", "b", "c"}, {"a", "c", "d"}


@pytest.mark.parametrize("kind", DISKS)
def test_a_write_that_dies_at_any_step_is_undone_before_its_rows_and_finished_after(
    kind: type[MemoryDisk] | type[RealDisk], tmp_path: Path
) -> None:
    make = begun(kind, tmp_path)
    steps = places(make, changed)
    accepted = steps.index("after stage")
    assert [each for each in steps if each.startswith("after")] == [
        "after discard",
        "after stage",
        "after apply",
        "after declare",
    ]
    for at in range(len(steps)):
        disk = make()
        with pytest.raises(Died):
            dying(disk, changed, Script(at))
        wanted = NEW if at >= accepted else OLD
        assert set(sources(disk)) == wanted
        assert set(found(disk, "ferry tide harbour new")) in (OLD, wanted)
        writer_of(disk).recover().unwrap()
        assert disagreements(disk) == [], steps[at]
        assert set(sources(disk)) == set(found(disk, "ferry tide harbour new")) == wanted
        writer_of(disk).write(write(e="five")).unwrap()
        assert disagreements(disk) == []


@pytest.mark.parametrize("work", [changed, rebuilt])
def test_a_recovery_that_dies_too_is_finished_by_the_third(work: Callable[[Writer], object], tmp_path: Path) -> None:
    make = begun(MemoryDisk, tmp_path)
    for first in range(len(places(make, work))):
        second = 0
        while True:
            disk = make()
            with pytest.raises(Died):
                dying(disk, work, Script(first))
            accepted = sources(disk)
            try:
                dying(disk, rebuilt, Script(second))
            except Died:
                writer_of(disk).recover().unwrap()
            else:
                break
            assert (disagreements(disk), sources(disk)) == ([], accepted)
            second += 1
        assert second > 4


# What recovery looks at


def index_at(disk: RealDisk, build: int) -> Path:
    return disk.place / "c.lexical" / str(build)


@pytest.fixture
def real(tmp_path: Path) -> RealDisk:
    real = RealDisk(tmp_path)
    made(real)
    writer_of(real).write(BEFORE).unwrap()
    return real


def test_nothing_to_do_leaves_the_build(disk: Disk) -> None:
    for _ in range(3):
        writer_of(disk).recover().unwrap()
    assert (disagreements(disk), state_of(disk).build) == ([], 1)


def test_a_missing_index_is_made_anew_and_the_pointer_goes_over(real: RealDisk) -> None:
    shutil.rmtree(real.place / "c.lexical")
    writer_of(real).recover().unwrap()
    assert (disagreements(real), state_of(real).build) == ([], 2)
    assert found(real, "ferry") == ["a"]


def test_an_unreadable_index_is_made_anew(real: RealDisk) -> None:
    (index_at(real, 1) / "meta.json").write_bytes(b"{")
    writer_of(real).recover().unwrap()
    assert (disagreements(real), state_of(real).build) == ([], 2)


def test_an_index_that_names_no_generation_is_made_anew(disk: Disk) -> None:
    disk.lexical().apply(1, None, ()).unwrap()
    writer_of(disk).recover().unwrap()
    assert (disagreements(disk), state_of(disk).build) == ([], 2)


def of_number_only(writer: Writer, state: StoreState, held: Mark | None) -> Mark | None:
    for end in (state.tip.mark, state.current.mark):
        if held is not None and held.generation == end.generation:
            return end
    return held


class ByNumber(Writer):
    """Left out: the token. Takes an index for its own by the number of its generation, and does not compare ids."""

    def _held(self, build: int) -> Result[Mark | None, LexicalFailure]:
        seen = self._state()
        held = super()._held(build)
        assert isinstance(seen, Success)
        assert isinstance(held, Success)
        return Success(of_number_only(self, seen.unwrap(), held.unwrap()))

    def _agrees(self, build: int, state: StoreState) -> Result[bool, WriteFailure]:
        return Success(True)


class WithoutComparing(Writer):
    """Left out: the comparison of ids."""

    def _agrees(self, build: int, state: StoreState) -> Result[bool, WriteFailure]:
        return Success(True)


def copied_over(real: RealDisk, tmp_path: Path) -> None:
    """Another collection's index, which stands at a generation of the same number."""
    other = RealDisk(tmp_path)
    made(other)
    writer_of(other).write(write(a="other ferry", x="other tide", y="other harbour")).unwrap()
    assert state_of(other).tip.mark.generation == state_of(real).tip.mark.generation
    shutil.rmtree(real.place / "c.lexical")
    shutil.copytree(other.place / "c.lexical", real.place / "c.lexical")


def test_an_index_of_the_same_number_from_elsewhere_is_not_taken_for_ours(real: RealDisk, tmp_path: Path) -> None:
    copied_over(real, tmp_path)
    writer_of(real).recover().unwrap()
    assert (disagreements(real), state_of(real).build) == ([], 2)
    copied_over(real, tmp_path)
    writer_of(real, kind=WithoutComparing).recover().unwrap()  # the token alone tells
    assert disagreements(real) == []


def test_without_the_token_a_foreign_index_would_be_served(real: RealDisk, tmp_path: Path) -> None:
    copied_over(real, tmp_path)
    writer_of(real, kind=ByNumber).recover().unwrap()
    assert disagreements(real) != []


def lose_a_delete(disk: Disk) -> None:
    """A removed document stays in the index, whose mark says that it is gone: what a reused opstamp does in tantivy."""
    keeps = disk.lexical()

    def without_deletes(build: int, mark: Mark | None, told: tuple[LexicalDocument, ...]) -> object:
        return keeps.apply(build, mark, [each for each in told if each.rows])

    writer = Writer(disk.documents(), Answering(keeps, apply=without_deletes))  # type: ignore[arg-type]
    writer.write(write("b")).unwrap()
    assert disagreements(disk) == ["the index holds other rows"]


def test_comparing_ids_notices_a_lost_delete(disk: Disk) -> None:
    lose_a_delete(disk)
    writer_of(disk).recover().unwrap()
    assert (disagreements(disk), state_of(disk).build) == ([], 2)
    assert found(disk, "tide ferry") == ["a"]


def test_without_comparing_ids_a_lost_delete_stays(disk: Disk) -> None:
    lose_a_delete(disk)
    writer_of(disk, kind=WithoutComparing).recover().unwrap()
    assert disagreements(disk) == ["the index holds other rows"]


def test_a_document_gone_from_the_index_alone_is_noticed(disk: Disk) -> None:
    lexical, mark = disk.lexical(), state_of(disk).tip.mark
    lexical.apply(1, mark, [LexicalDocument(sources(disk)["a"], ())]).unwrap()
    writer_of(disk).recover().unwrap()
    assert (disagreements(disk), found(disk, "ferry")) == ([], ["a"])


def test_the_outbox_is_replayed_where_the_index_stands_at_the_finished_generation(disk: Disk) -> None:
    told: list[Any] = []
    disk.documents().stage(CHANGE).unwrap()
    lexical = disk.lexical()

    def apply(*asked: Any) -> object:
        told.append(asked)
        return lexical.apply(*asked)

    Writer(disk.documents(), Answering(lexical, apply=apply)).recover().unwrap()  # type: ignore[arg-type]
    ((build, mark, documents),) = told
    assert (build, mark) == (1, state_of(disk).tip.mark)
    assert {each.document_id for each in documents} >= {sources(disk)["a"], sources(disk)["d"]}
    assert sources(disk)["c"] not in {each.document_id for each in documents}  # only its record changed
    assert disagreements(disk) == []


def test_a_full_disk_is_no_damage_and_starts_no_rebuild(disk: Disk) -> None:
    disk.documents().stage(CHANGE).unwrap()
    lexical = Answering(disk.lexical(), apply=full)
    assert Writer(disk.documents(), lexical).recover() == full()  # type: ignore[arg-type]
    assert disk.builds() == {1}
    lexical = Answering(disk.lexical(), searcher=full)
    assert Writer(disk.documents(), lexical).recover() == full()  # type: ignore[arg-type]
    assert disk.builds() == {1}
    writer_of(disk).recover().unwrap()
    assert (disagreements(disk), state_of(disk).build) == ([], 1)


def test_a_rebuild_is_not_declared_before_it_holds_what_it_was_given(disk: Disk) -> None:
    lexical = Answering(disk.lexical(), live=lambda _: Success({}))
    refused = Writer(disk.documents(), lexical).recover(rebuild="a test")  # type: ignore[arg-type]
    assert isinstance(refused, Failure)
    assert state_of(disk).build == 1
    assert found(disk, "ferry") == ["a"]


# Another analyzer


def settled_in(disk: Disk, language: str) -> Writer:
    writer = writer_of(disk, language)
    writer.recover().unwrap()
    writer.write(Write(settings=Settings(language=language))).unwrap()
    return writer


def test_another_analyzer_recounts_and_rebuilds_without_reading_a_source(disk: Disk) -> None:
    ids = sources(disk)
    settled_in(disk, "german")
    state = state_of(disk)
    assert (state.current.analyzer, state.build) == (disk.lexical("german").analyzer, 2)
    assert (disagreements(disk, "german"), sources(disk)) == ([], ids)
    assert found(disk, "ferry", "german") == ["a"]


def unfinished(tmp_path: Path, applied: bool) -> RealDisk:
    """A write is accepted, and the index may hold it already."""
    disk = RealDisk(tmp_path)
    made(disk)
    writer_of(disk).write(BEFORE).unwrap()
    told = disk.documents().stage(write(w="ferries running")).unwrap()
    if applied:
        disk.lexical().apply(1, state_of(disk).tip.mark, told).unwrap()
    return disk


@pytest.mark.parametrize("applied", [False, True])
def test_a_change_of_analyzer_that_dies_never_leaves_postings_of_one_under_the_name_of_another(
    applied: bool, tmp_path: Path
) -> None:
    """Whoever comes next may be of either language, and may die too."""
    script, prepared = Script(), unfinished(tmp_path, applied)
    dying(prepared.copied(), recovered, script, "german")
    for at in range(len(script.steps)):
        disk, language = prepared.copied(), ("english", "german")[at % 2]
        assert served(disk) == {"english": ["a", "w"] if applied else ["a"], "german": None}
        for place, who in ((at, "german"), (at // 2, language)):
            with suppress(Died):
                dying(disk, recovered, Script(place), who)
            assert [each for each in served(disk).values() if each is not None] in ([["a"]], [["a", "w"]])
        writer_of(disk, language).recover().unwrap()
        assert disagreements(disk, language) == []
        assert served(disk) == {language: ["a", "w"], OTHER[language]: None}


def recovered(writer: Writer) -> None:
    writer.recover().unwrap()


def test_a_recount_that_died_is_followed_by_a_rebuild_and_not_by_an_empty_outbox(tmp_path: Path) -> None:
    for recounts in (["german"], ["german", "english"]):
        disk = unfinished(tmp_path, applied=False)
        for language in recounts:
            disk.documents().recount(disk.lexical(language).analyzer, index_view).unwrap()
        script = Script()
        dying(disk, recovered, script, language)
        assert "before start" in script.steps[:1]
        assert disagreements(disk, language) == []


OTHER = {"english": "german", "german": "english"}


def served(disk: Disk) -> dict[str, list[str] | None]:
    """What is found by a reader of each language; None where it is refused."""
    answered: dict[str, list[str] | None] = {}
    for language in OTHER:
        pair = Reader(disk.documents(), disk.lexical(language)).pair()
        if isinstance(pair, Success):
            pair.unwrap().view.close()
        answered[language] = sorted(found(disk, QUERY, language)) if isinstance(pair, Success) else None
    return answered


#: Its stem is another one in German, so that postings of the wrong analyzer show.
QUERY = "ferry ferries"


def test_an_analyzer_changed_before_the_first_write_is_the_recorded_one(tmp_path: Path) -> None:
    for kind in DISKS:
        disk = made(kind(tmp_path))  # killed here
        writer = settled_in(disk, "german")
        writer.write(BEFORE).unwrap()
        assert state_of(disk).current.analyzer == disk.lexical("german").analyzer
        assert disagreements(disk, "german") == []
        assert found(disk, "ferry", "german") == ["a"]


def test_a_rebuild_in_pages_is_the_same_as_one_in_a_single_page(disk: Disk) -> None:
    documents = disk.documents()

    def one_at_a_time(after: str, _: int, view_of: Any) -> object:
        return documents.everything(after, 1, view_of)

    before = evolve(state_of(disk), build=2)
    Writer(Answering(documents, everything=one_at_a_time), disk.lexical()).recover(rebuild="a test").unwrap()  # type: ignore[arg-type]
    assert (disagreements(disk), state_of(disk)) == ([], before)


def test_a_settled_state_is_not_settled_for_another_analyzer(disk: Disk) -> None:
    english = writer_of(disk)
    english.recover().unwrap()
    german = Writer(disk.documents(), disk.lexical("german"), english.settled)
    german.write(write(w="ferries")).unwrap()
    assert state_of(disk).current.analyzer == disk.lexical("german").analyzer
    assert (disagreements(disk, "german"), state_of(disk).build) == ([], 2)


def test_what_another_process_left_unfinished_is_finished_by_a_writer_that_was_settled_before(disk: Disk) -> None:
    mine = writer_of(disk)
    mine.recover().unwrap()
    disk.documents().stage(CHANGE).unwrap()
    again = Writer(disk.documents(), disk.lexical(), mine.settled)
    again.write(write(e="five")).unwrap()
    assert disagreements(disk) == []
    assert set(sources(disk)) == NEW | {"e"}

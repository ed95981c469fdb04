"""The read path of ADR 0006: each of its claims, and readers that leave a step out, which must be caught.

What another process does between two steps of a reader is done here at exactly that moment.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration.support import fresh, hits, opened, put
from integration.write_support import (
    Answering,
    Disk,
    MemoryDisk,
    RealDisk,
    made,
    state_of,
    texts_found,
    write,
)

from groundkit.compose import ports_for
from groundkit.core.ports import DocumentStore, LexicalIndex
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import LexicalFailure, LexicalProblem, StoreState
from groundkit.drop import drop
from groundkit.errors import GroundkitError
from groundkit.reading import ATTEMPTS, AnalyzerChanged, NeverPaired, Pair, Reader
from groundkit.search import SearchRequest, search
from groundkit.writing import Writer

DISKS = (MemoryDisk, RealDisk)
STATES = tuple({name: f"ferry {word} {name}" for name in "abcdef"} for word in ("one", "two", "three"))


@pytest.fixture(params=DISKS, ids=lambda kind: kind.__name__)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    made_disk = made(request.param(tmp_path))
    publish(made_disk, 0)
    return made_disk


def publish(disk: Disk, state: int) -> None:
    Writer(disk.documents(), disk.lexical()).write(write(**STATES[state])).unwrap()


def answer_of(state: int) -> list[tuple[str, str]]:
    return sorted(STATES[state].items())


def once(action: Callable[[], object]) -> Callable[[], object]:
    """The action at the first call, nothing later."""
    left = [action]
    return lambda: left.pop()() if left else None


def after_view(documents: DocumentStore, happens: Callable[[], object]) -> Any:
    """A store beside which something happens as soon as a view was taken."""

    def view() -> object:
        taken = documents.view()
        happens()
        return taken

    return Answering(documents, view=view)


def before_view(documents: DocumentStore, happens: Callable[[], object]) -> Any:
    def view() -> object:
        happens()
        return documents.view()

    return Answering(documents, view=view)


def outcome(reader: Reader, lexical: LexicalIndex) -> object:
    """What is found, or the failure's name."""
    answered = search(reader, lexical, SearchRequest("ferry", 100))
    if isinstance(answered, Failure):
        return type(answered.failure()).__name__
    return [(hit.source, hit.text) for hit in answered.unwrap().hits]


def reader_of(disk: Disk, kind: type[Reader] = Reader) -> tuple[Reader, LexicalIndex]:
    lexical = disk.lexical()
    return kind(disk.documents(), lexical), lexical


# Both ends, and nothing else


def test_a_reader_follows_every_finished_write(disk: Disk) -> None:
    reader, lexical = reader_of(disk)
    for state in (0, 1, 2, 0):
        publish(disk, state)
        assert texts_found(reader, lexical, "ferry") == answer_of(state)


def test_the_finished_generation_is_served_while_the_next_is_staged(disk: Disk) -> None:
    reader, lexical = reader_of(disk)
    told = disk.documents().stage(write(**STATES[1])).unwrap()
    for each in (reader, Reader(disk.documents(), lexical)):
        assert texts_found(each, lexical, "ferry") == answer_of(0)
    state = state_of(disk)
    disk.lexical().apply(state.build, state.tip.mark, told).unwrap()
    assert texts_found(reader, lexical, "ferry") == answer_of(0)  # it may keep its searcher: that end is still there
    assert texts_found(Reader(disk.documents(), lexical), lexical, "ferry") == answer_of(1)
    disk.documents().declare(state.build).unwrap()
    assert texts_found(reader, lexical, "ferry") == answer_of(1)


class Unchecked(Reader):
    """Left out: any check that the two belong together."""

    def _paired(self, view: Any) -> Result[Pair, Any]:
        searcher = self._lexical.searcher(view.state.build).unwrap()
        return Success(Pair(view, view.state.current, searcher))


class OnlyNotNewer(Unchecked):
    """Left out: the other side of the check. Starts again when the index is ahead, and takes what is behind."""

    def _paired(self, view: Any) -> Result[Pair, Any]:
        found = self._searcher_kept(view.state)
        if found.mark.generation > view.state.tip.mark.generation:
            return Failure(NeverPaired(1))
        return Success(Pair(view, view.state.generation(found.mark) or view.state.current, found))

    def _searcher_kept(self, state: StoreState) -> Any:
        if self._cached is None:
            self._cached = (state.build, self._lexical.searcher(state.build).unwrap())
        return self._cached[1]


class SearcherFirst(Reader):
    """Out of order: the searcher before the view, and no look at which generation it is of."""

    def pair(self) -> Result[Pair, Any]:
        build = self._documents.view().unwrap().state.build
        searcher = self._lexical.searcher(build).unwrap()
        view = self._documents.view().unwrap()
        return Success(Pair(view, view.state.current, searcher))


class ByNumber(Reader):
    """Left out: the token."""

    def _paired(self, view: Any) -> Result[Pair, Any]:
        searcher = self._lexical.searcher(view.state.build).unwrap()
        for end in (view.state.current, view.state.tip):
            if end.mark.generation == searcher.mark.generation:
                return Success(Pair(view, end, searcher))
        return Failure(NeverPaired(1))


def test_an_index_ahead_of_the_view_is_refused_and_a_new_view_taken(disk: Disk) -> None:
    def twice() -> None:
        publish(disk, 1)
        publish(disk, 2)

    lexical = disk.lexical()
    assert outcome(Reader(after_view(disk.documents(), once(twice)), lexical), lexical) == answer_of(2)
    assert (
        outcome(Unchecked(after_view(disk.documents(), once(lambda: publish(disk, 0))), lexical), lexical)
        == "GhostRows"
    )


def test_an_index_behind_the_view_is_not_used_any_more(disk: Disk) -> None:
    reader, lexical = reader_of(disk)
    assert outcome(reader, lexical) == answer_of(0)
    careless = OnlyNotNewer(disk.documents(), lexical)
    assert outcome(careless, lexical) == answer_of(0)
    publish(disk, 1)
    assert outcome(reader, lexical) == answer_of(1)
    assert outcome(careless, lexical) == "GhostRows"


def test_a_view_taken_after_the_searcher_has_lost_its_rows(disk: Disk) -> None:
    views = iter((lambda: None, lambda: publish(disk, 1)))
    lexical = disk.lexical()
    careless = SearcherFirst(before_view(disk.documents(), lambda: next(views)()), lexical)
    assert outcome(careless, lexical) == "GhostRows"
    views = iter((lambda: publish(disk, 2), lambda: publish(disk, 0)))
    careful = Reader(before_view(disk.documents(), lambda: next(views, lambda: None)()), lexical)
    assert outcome(careful, lexical) == answer_of(2)


def test_a_foreign_index_of_the_same_number_is_never_served(tmp_path: Path) -> None:
    ours, theirs = made(RealDisk(tmp_path)), made(RealDisk(tmp_path))
    publish(ours, 0)
    Writer(theirs.documents(), theirs.lexical()).write(write(**dict.fromkeys("uvwxyz", "tide"))).unwrap()
    shutil.rmtree(ours.place / "c.lexical")
    shutil.copytree(theirs.place / "c.lexical", ours.place / "c.lexical")
    lexical = ours.lexical()
    wrong = search(ByNumber(ours.documents(), lexical), lexical, SearchRequest("tide")).unwrap().hits
    assert [hit.text for hit in wrong][:1] == [STATES[0]["a"]]  # a hit without the word that was asked for
    assert outcome(Reader(ours.documents(), lexical), lexical) == "NeverPaired"
    Writer(ours.documents(), ours.lexical()).recover().unwrap()
    assert outcome(Reader(ours.documents(), lexical), lexical) == answer_of(0)


def test_a_write_in_every_attempt_does_not_starve_a_reader(disk: Disk) -> None:
    """The searcher of the last attempt is kept, and the next view has moved on to it."""
    published = [0]

    def next_one() -> None:
        published.append((published[-1] + 1) % 3)
        publish(disk, published[-1])

    lexical = disk.lexical()
    reader = Reader(after_view(disk.documents(), next_one), lexical)
    for _ in range(3):
        assert outcome(reader, lexical) == answer_of(published[-2])
    assert len(published) < 8


def test_writes_on_both_sides_of_every_view_end_in_a_failure_and_not_in_a_mixture(tmp_path: Path) -> None:
    disk = made(MemoryDisk(tmp_path))
    publish(disk, 0)
    number = iter(range(10 * ATTEMPTS))

    def next_one() -> None:
        publish(disk, next(number) % 3)

    lexical = disk.lexical()
    reader = Reader(before_view(after_view(disk.documents(), next_one), next_one), lexical)
    assert reader.pair() == Failure(NeverPaired(ATTEMPTS))


# Long views


def test_a_pair_held_through_ten_writes_stays_itself(disk: Disk) -> None:
    reader, lexical = reader_of(disk)
    pair = reader.pair().unwrap()
    held = Answering(
        reader, pair=lambda: Success(Pair(Answering(pair.view, close=lambda: None), pair.generation, pair.searcher))
    )  # type: ignore[arg-type]
    for number in range(10):
        publish(disk, (number + 1) % 3)
        assert outcome(held, lexical) == answer_of(0)  # type: ignore[arg-type]
    pair.view.close()
    assert outcome(reader, lexical) == answer_of(1)


# Builds


def test_a_rebuild_takes_the_reader_over_to_the_new_build(disk: Disk) -> None:
    reader, lexical = reader_of(disk)
    assert outcome(reader, lexical) == answer_of(0)
    for build in (2, 3):
        Writer(disk.documents(), disk.lexical()).recover(rebuild="a test").unwrap()
        assert outcome(reader, lexical) == answer_of(0)
        assert disk.builds() == {build} == {reader.pair().unwrap().view.state.build}


def test_a_searcher_of_a_build_that_was_found_wrong_is_let_go_though_its_generation_stands(disk: Disk) -> None:
    """A delete was lost in the index, whose mark says nothing of it."""
    keeps, reader = disk.lexical(), Reader(disk.documents(), disk.lexical())
    without_deletes = Answering(
        keeps, apply=lambda build, mark, told: keeps.apply(build, mark, [each for each in told if each.rows])
    )
    Writer(disk.documents(), without_deletes).write(write("a")).unwrap()  # type: ignore[arg-type]
    assert outcome(reader, keeps) == "GhostRows"
    Writer(disk.documents(), disk.lexical()).recover().unwrap()
    assert outcome(reader, keeps) == answer_of(0)[1:]


def test_a_build_replaced_between_view_and_opening_is_looked_for_again(disk: Disk) -> None:
    def rebuild() -> None:
        Writer(disk.documents(), disk.lexical()).recover(rebuild="a test").unwrap()

    lexical = disk.lexical()
    assert outcome(Reader(after_view(disk.documents(), once(rebuild)), lexical), lexical) == answer_of(0)


def test_a_missing_index_stays_an_error_until_somebody_writes(tmp_path: Path) -> None:
    disk = made(RealDisk(tmp_path))
    publish(disk, 0)
    shutil.rmtree(disk.place / "c.lexical")
    reader, lexical = reader_of(disk)
    missing = reader.pair().failure()
    assert isinstance(missing, LexicalFailure)
    assert missing.problem is LexicalProblem.MISSING
    publish(disk, 1)
    assert outcome(reader, lexical) == answer_of(1)


def test_a_hit_without_a_live_row_is_reported_and_never_dropped(disk: Disk) -> None:
    """Rows gone from the store behind the index's back: here by an index that was told of rows which never were."""
    state, lexical = state_of(disk), disk.lexical()
    other = made(type(disk)(Path(disk.place).parent) if isinstance(disk, RealDisk) else MemoryDisk(Path()))  # type: ignore[call-arg]
    Writer(other.documents(), other.lexical()).write(write(**dict.fromkeys("abcdefgh", "ferry"))).unwrap()
    told = other.documents().everything("", 10_000, lambda text, _, __: (text, 0)).unwrap()
    lexical.apply(state.build, state.current.mark, told).unwrap()
    assert outcome(Reader(disk.documents(), lexical), lexical) == "GhostRows"


# Analyzers


def test_an_index_of_another_analyzer_is_refused_with_both_names(disk: Disk) -> None:
    german = disk.lexical("german")
    refused = Reader(disk.documents(), german).pair()
    assert refused == Failure(AnalyzerChanged(disk.lexical().analyzer, german.analyzer))


def test_a_new_language_serves_at_once_and_a_killed_change_of_it_serves_on(tmp_path: Path) -> None:
    """The analyzer changes in one transaction, the setting in another: between them a collection still answers."""
    with fresh(tmp_path, {"a.md": "ferries running"}) as collection:
        assert len(collection.search("ferry")) == 1
        ports = ports_for(collection.index_directory, "default")
        Writer(ports.documents, ports.lexical("german")).recover().unwrap()
        assert state_german(ports.documents)
        assert [hit.source for hit in collection.search("ferries running")] == ["a.md"]
        collection.ingest("", language="german")
        assert len(collection.search("ferries")) == 1
        assert collection.search("ferry") == []
        assert collection.doctor().healthy
        collection.ingest("", language="english")
        assert len(collection.search("ferry")) == 1


def state_german(documents: DocumentStore) -> bool:
    view = documents.view().unwrap()
    state = view.state
    view.close()
    return "german" in state.current.analyzer and state.settings == Settings(base="..")


# Dropped and made again


def test_a_reader_held_across_a_drop_and_a_new_beginning_reads_the_new_one(tmp_path: Path) -> None:
    with fresh(tmp_path, {"a.md": "ferry one", "b.md": "ferry two"}) as held:
        assert len(held.search("ferry")) == 2
        view = ports_for(held.index_directory, "default").documents.view().unwrap()
        view.close()
        with opened(tmp_path) as other:
            other.drop()
            with pytest.raises(GroundkitError):
                held.search("ferry")
            put(tmp_path, {"a.md": "ferry three", "b.md": "tide"})
            other.ingest("")
        assert [(source, text) for _, _, source, _, _, text in hits(held, "ferry")] == [("a.md", "ferry three")]
        assert [each.source for each in held.get_document_records()] == ["a.md", "b.md"]


def test_a_collection_dropped_and_made_again_from_the_same_files_is_read_anew(tmp_path: Path) -> None:
    files = {"a.md": "ferry one", "b.md": "ferry two"}
    with fresh(tmp_path, files) as held:
        before = hits(held, "ferry")
        assert isinstance(drop(ports_for(held.index_directory, "default"), 1.0), Success)
        with opened(tmp_path) as other:
            other.ingest("")
        assert hits(held, "ferry") == before
        with opened(tmp_path) as other:
            put(tmp_path, {"a.md": "tide"})
            other.ingest("")
        assert [source for _, _, source, *_ in hits(held, "ferry")] == ["b.md"]

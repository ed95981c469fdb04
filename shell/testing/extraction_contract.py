"""What every `Extractions` promises. Subclass, say how one is made, and run it with pytest."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundkit.core.extraction import Extraction, ExtractionProblem, checked
from groundkit.core.ports import Extractions, KeptExtractions
from groundkit.core.result import Success
from groundkit.testing.sample_extractors import (
    HINT,
    Bare,
    Eating,
    Exiting,
    Lines,
    Misplacing,
    Mistyping,
    Nothing,
    Raising,
    Recursing,
    Refusing,
    all_of,
    job,
    one_of,
    problem_of,
)
from groundkit.testing.strategies import texts


class ExtractionsContract:
    """`make` gives extractions that nobody else uses."""

    def make(self) -> Extractions:
        raise NotImplementedError

    @pytest.fixture
    def extractions(self) -> Iterator[Extractions]:
        with closing(self.make()) as made:
            yield made

    def test_getting_ready_begins_nothing_and_spoils_nothing(self, extractions: Extractions) -> None:
        extractions.prepare()
        extractions.prepare()
        assert extractions.finished(wait=True) == []
        assert one_of(extractions, job(Lines(), b"text")).unwrap().text == "text"
        extractions.prepare()
        assert one_of(extractions, job(Lines(), b"more")).unwrap().text == "more"

    def test_every_key_comes_back_exactly_once(self, extractions: Extractions) -> None:
        kinds = [Lines(), Raising(), Nothing(), Refusing()]
        for key in range(24):
            extractions.start(key, job(kinds[key % 4], str(key).encode()))
        results = all_of(extractions, 24)
        assert sorted(key for key, _ in results) == list(range(24))
        assert all(outcome.unwrap().text == str(key) for key, outcome in results if key % 4 == 0)
        assert extractions.finished(wait=True) == extractions.finished(wait=False) == []

    def test_there_is_room_until_enough_is_under_way(self, extractions: Extractions) -> None:
        started = 0
        while extractions.room():
            extractions.start(started, job(Lines()))
            started += 1
        assert started >= 1
        all_of(extractions, started)
        assert extractions.room()

    def test_a_result_is_what_the_extractor_gives_when_called_directly(self, extractions: Extractions) -> None:
        @settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
        @given(texts() | st.just("# One\n[a]\n\f# Two\n"), st.booleans())
        def check(text: str, loud: bool) -> None:
            extractor, data = Lines("2", loud), text.encode("utf-8", "surrogatepass")
            direct = extractor.extract(data, HINT)
            expected = checked(direct.unwrap()) if isinstance(direct, Success) else direct
            assert one_of(extractions, job(extractor, data)) == expected

        check()

    def test_bytes_of_any_size_arrive_whole(self, extractions: Extractions) -> None:
        for size in (0, 1, 65_535, 65_536, 3_000_000):
            assert len(one_of(extractions, job(Lines(), b"x" * size)).unwrap().text) == size

    def test_a_failure_comes_back_as_it_is_in_one_line(self, extractions: Extractions) -> None:
        outcome = one_of(extractions, job(Refusing()))
        assert problem_of(outcome) == (ExtractionProblem.NO_TEXT, "there is no text in it")

    def test_an_exception_is_a_failure_that_names_it(self, extractions: Extractions) -> None:
        outcome = one_of(extractions, job(Raising()))
        assert problem_of(outcome) == (ExtractionProblem.RAISED, "ValueError: a bug of two lines")
        problem, detail = problem_of(one_of(extractions, job(Recursing())))
        assert problem is ExtractionProblem.RAISED
        assert detail.startswith("RecursionError")
        problem, detail = problem_of(one_of(extractions, job(Exiting(politely=True))))
        assert (problem, detail) == (ExtractionProblem.RAISED, "SystemExit: 3")

    def test_want_of_memory_is_told_as_that(self, extractions: Extractions) -> None:
        assert problem_of(one_of(extractions, job(Eating(size=1 << 60))))[0] is ExtractionProblem.MEMORY

    def test_another_identity_than_the_recorded_one_is_refused_with_both_named(self, extractions: Extractions) -> None:
        problem, detail = problem_of(one_of(extractions, job(Lines("2"), identity="x@1")))
        assert problem is ExtractionProblem.IDENTITY_CHANGED
        assert "x@1" in detail
        assert "x@2" in detail

    def test_what_is_no_extraction_is_a_broken_result(self, extractions: Extractions) -> None:
        for extractor in (Nothing(), Misplacing(), Mistyping()):
            assert problem_of(one_of(extractions, job(extractor)))[0] is ExtractionProblem.BROKEN_RESULT

    def test_an_extraction_without_its_wrapping_is_taken(self, extractions: Extractions) -> None:
        assert one_of(extractions, job(Bare(), b"bare")) == Success(Extraction("bare"))

    def test_closing_twice_does_nothing_and_closed_ones_take_no_job(self) -> None:
        extractions = self.make()
        extractions.start(0, job(Lines()))
        extractions.close()
        extractions.close()
        with pytest.raises(RuntimeError):
            extractions.start(1, job(Lines()))
        with pytest.raises(RuntimeError):
            extractions.finished(wait=True)


class KeptContract:
    """What every store of kept extractions keeps, real or in memory: subclass, and give `make`."""

    def make(self) -> KeptExtractions:
        raise NotImplementedError

    def test_nothing_is_kept_before_there_is_a_place_for_it(self) -> None:
        kept = self.make()
        kept.put("0" * 64, "x@1", Extraction("text"))
        assert kept.get("0" * 64, "x@1") is None

    def test_what_was_put_is_given_back_for_the_same_bytes_and_identity(self) -> None:
        kept = self.make()
        kept.prepare()
        kept.put("0" * 64, "x@1", Extraction("one", title="t"))
        assert kept.get("0" * 64, "x@1") == Extraction("one", title="t")
        assert kept.get("0" * 64, "x@2") is None
        assert kept.get("1" * 64, "x@1") is None

    def test_retaining_keeps_what_was_made_of_these_bytes_by_whichever_extractor(self) -> None:
        kept = self.make()
        kept.prepare()
        for digest in ("0" * 64, "1" * 64):
            for identity in ("x@1", "x@2"):
                kept.put(digest, identity, Extraction(f"{digest[0]} {identity}"))
        kept.retain({"1" * 64})
        assert [kept.get("0" * 64, each) for each in ("x@1", "x@2")] == [None, None]
        assert [kept.get("1" * 64, each) for each in ("x@1", "x@2")] == [Extraction("1 x@1"), Extraction("1 x@2")]

    def test_discarding_leaves_nothing_and_no_place(self) -> None:
        kept = self.make()
        kept.prepare()
        kept.put("0" * 64, "x@1", Extraction("text"))
        kept.discard()
        kept.discard()
        kept.put("1" * 64, "x@1", Extraction("text"))
        assert (kept.get("0" * 64, "x@1"), kept.get("1" * 64, "x@1")) == (None, None)

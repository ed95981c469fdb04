"""What an extractor gives is stored clean, bounded and in place, or not at all; and when two extractions are the same."""

from hashlib import sha256
from itertools import pairwise
from typing import Any

from attrs import evolve, fields
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.extraction import (
    ANCHOR_LIMIT,
    LABEL_LIMIT,
    LOSS_LIMIT,
    LOSSES_LIMIT,
    TITLE_LIMIT,
    Anchor,
    Extraction,
    ExtractionFailed,
    ExtractionProblem,
    ExtractorMissing,
    IncompleteRefused,
    NotExtracted,
    Page,
    checked,
    clean,
    extraction_digest,
    told,
)
from groundkit.core.outline import HEADING_LIMIT, Heading
from groundkit.core.result import Failure, Success

#: Any code points, lone surrogates and NUL among them.
anything = st.text(st.characters() | st.sampled_from("\0\ud800\udfff \n\x85\u2028"), max_size=40)
#: A few texts, so that two draws are often alike.
few = st.sampled_from(("", "a", "ab", "b", "1", "1:a", "0", "a\nb"))
long = st.integers(0, 700).map(lambda count: "wide word " * (count // 9))


def usable(text: str) -> bool:
    """Whether a store and UTF-8 take it."""
    return "\0" not in text and not any("\ud800" <= each <= "\udfff" for each in text)


def one_line(text: str) -> bool:
    return usable(text) and text == " ".join(text.split())


@given(anything)
def test_cleaning_replaces_what_nothing_can_store_and_moves_nothing(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    for before, after in zip(text, cleaned, strict=True):
        assert after == (before if usable(before) else "\ufffd")
    cleaned.encode()
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_text_that_is_clean_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.lists(anything | long | few, max_size=40))
def test_losses_are_told_once_in_order_short_and_not_too_many(losses: list[str]) -> None:
    said = told(losses)
    assert len(said) <= LOSSES_LIMIT
    assert len(set(said)) == len(said)
    assert all(one_line(each) and len(each) <= LOSS_LIMIT for each in said)
    first = list(dict.fromkeys(" ".join(clean(each).split())[:LOSS_LIMIT].rstrip() for each in losses))
    if len(first) > LOSSES_LIMIT:
        assert said == (*first[: LOSSES_LIMIT - 1], f"and {len(first) - LOSSES_LIMIT + 1} more")
    else:
        assert said == tuple(first)


@given(st.lists(anything, max_size=40))
def test_losses_that_were_told_are_told_the_same_again(losses: list[str]) -> None:
    assert told(told(losses)) == told(losses)


starts = st.integers(-1, 45)


@st.composite
def given_extractions(draw: st.DrawFn) -> Extraction:
    """As extractors give them, right or wrong; mostly in order."""
    in_order = draw(st.sampled_from((sorted, sorted, sorted, list)))
    page_starts = in_order(draw(st.lists(starts, max_size=4)))
    anchor_starts = in_order(draw(st.lists(starts, max_size=4)))
    edges = in_order(draw(st.lists(starts, max_size=6)))
    return Extraction(
        draw(anything),
        draw(anything | long),
        tuple(Page(at, draw(anything | long)) for at in page_starts),
        tuple(
            Heading(draw(st.integers(0, 7)) if draw(st.booleans()) else 1, draw(anything | long), start, end)
            for start, end in zip(edges[::2], edges[1::2], strict=False)
        ),
        tuple(Anchor(at, draw(anything | long)) for at in anchor_starts),
        tuple(draw(st.lists(anything, max_size=3))),
        draw(st.booleans()),
    )


def sound(extraction: Extraction) -> bool:
    """Whether every place lies in the text and in order, said once more."""
    length = len(extraction.text)
    pages, anchors = ([each.start for each in group] for group in (extraction.pages, extraction.anchors))
    spans = [(each.start, each.end) for each in extraction.headings]
    return (
        all(at in range(length + 1) for at in (*pages, *anchors))
        and pages == sorted(pages)
        and anchors == sorted(anchors)
        and all(0 <= start <= end <= length for start, end in spans)
        and all(each.level in range(1, 7) for each in extraction.headings)
        and all(one[1] <= two[0] and one[0] < two[0] for one, two in pairwise(spans))
    )


@given(given_extractions())
def test_an_extraction_is_taken_exactly_when_its_places_are_sound(extraction: Extraction) -> None:
    taken = checked(extraction)
    assert isinstance(taken, Success) == sound(extraction)
    if isinstance(taken, Failure):
        assert taken.failure().problem is ExtractionProblem.BROKEN_RESULT
        assert taken.failure().detail


@given(given_extractions())
def test_what_is_taken_is_clean_bounded_and_in_the_same_places(extraction: Extraction) -> None:
    taken = checked(extraction)
    if isinstance(taken, Failure):
        return
    made = taken.unwrap()
    assert made.text == clean(extraction.text)
    assert made.incomplete == extraction.incomplete
    assert one_line(made.title)
    assert len(made.title) <= TITLE_LIMIT
    assert [each.start for each in made.pages] == [each.start for each in extraction.pages]
    assert all(one_line(each.label) and len(each.label) <= LABEL_LIMIT for each in made.pages)
    where = [(each.level, each.start, each.end) for each in extraction.headings]
    assert [(each.level, each.start, each.end) for each in made.headings] == where
    assert all(one_line(each.text) and len(each.text) <= HEADING_LIMIT for each in made.headings)
    assert all(usable(each.name) and 0 < len(each.name) <= ANCHOR_LIMIT for each in made.anchors)
    assert not any(character.isspace() for each in made.anchors for character in each.name)
    assert set(made.anchors) <= {evolve(each, name=clean(each.name)) for each in extraction.anchors}


@given(given_extractions())
def test_checking_twice_is_checking_once(extraction: Extraction) -> None:
    taken = checked(extraction)
    if isinstance(taken, Success):
        assert checked(taken.unwrap()) == taken


small = st.integers(0, 2)
similar = st.builds(
    Extraction,
    few,
    few,
    st.lists(st.builds(Page, small, few), max_size=2).map(tuple),
    st.lists(st.builds(Heading, small, few, small, small), max_size=2).map(tuple),
    st.lists(st.builds(Anchor, small, few), max_size=2).map(tuple),
    st.lists(few, max_size=2).map(tuple),
    st.booleans(),
)


@given(similar, similar)
def test_two_extractions_have_one_digest_exactly_when_they_are_equal(one: Extraction, other: Extraction) -> None:
    assert (extraction_digest(one) == extraction_digest(other)) == (one == other)


@given(similar, st.sampled_from([each.name for each in fields(Extraction)]), similar)
def test_each_field_of_an_extraction_enters_its_digest(one: Extraction, name: str, other: Extraction) -> None:
    changed: Any = {name: getattr(other, name)}
    assume(getattr(one, name) != getattr(other, name))
    assert extraction_digest(evolve(one, **changed)) != extraction_digest(one)


@given(similar)
def test_what_stands_in_one_group_is_not_taken_for_what_stands_in_another(one: Extraction) -> None:
    page, anchor = Page(1, "x"), Anchor(1, "x")
    assert extraction_digest(evolve(one, pages=(page,), anchors=())) != extraction_digest(
        evolve(one, pages=(), anchors=(anchor,))
    )
    assert extraction_digest(evolve(one, title="x", losses=())) != extraction_digest(
        evolve(one, title="", losses=("x",))
    )


WHOLE = Extraction("text", "T", (Page(0, "i"),), (Heading(1, "H", 0, 2),), (Anchor(1, "a"),), ("lost",), True)
ONE_CELL_ELSE = [
    evolve(WHOLE, pages=(Page(1, "i"),)), evolve(WHOLE, pages=(Page(0, "ii"),)),
    evolve(WHOLE, anchors=(Anchor(2, "a"),)), evolve(WHOLE, anchors=(Anchor(1, "b"),)),
    *(evolve(WHOLE, headings=(each,)) for each in (Heading(2, "H", 0, 2), Heading(1, "I", 0, 2), Heading(1, "H", 1, 2),
                                                   Heading(1, "H", 0, 3))),
    evolve(WHOLE, losses=("lost", "lost")), evolve(WHOLE, incomplete=False), evolve(WHOLE, text="texT"),
]  # fmt: skip


def test_every_cell_of_an_extraction_enters_its_digest() -> None:
    digests = {extraction_digest(each) for each in (WHOLE, *ONE_CELL_ELSE)}
    assert len(digests) == 1 + len(ONE_CELL_ELSE)


def test_a_digest_is_that_of_every_process() -> None:
    fields = b"4:text1:T1:11:11:11:01:i5:1 0 21:H1:11:a4:lost4:True"
    assert extraction_digest(WHOLE) == sha256(fields).hexdigest()


reasons = (
    st.builds(ExtractionFailed, st.sampled_from(ExtractionProblem), few)
    | st.builds(ExtractorMissing, few, few, few)
    | st.builds(IncompleteRefused, st.lists(few, max_size=2).map(tuple))
)


@given(st.builds(NotExtracted, few, reasons))
def test_every_refusal_has_a_reason_of_its_kind_and_what_it_was_told(refused: NotExtracted) -> None:
    match refused.why:
        case ExtractionFailed(problem, detail):
            assert (refused.reason, refused.detail) == (problem.value, detail)
        case ExtractorMissing(_, detail, command):
            assert refused.reason == "extractor_missing"
            assert refused.detail == (f"{detail}; {command}" if command else detail)
        case IncompleteRefused(losses):
            assert refused.reason == "incomplete"
            assert all(each in refused.detail for each in losses)


def test_only_what_another_attempt_may_mend_is_passing() -> None:
    passing = {each for each in ExtractionProblem if ExtractionFailed(each, "").passing}
    assert passing == {ExtractionProblem.TIME, ExtractionProblem.DIED, ExtractionProblem.IDENTITY_CHANGED}

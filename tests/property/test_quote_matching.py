"""How a quotation stands in a text."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.model import Span
from groundkit.core.quotations import quotations_of
from groundkit.core.quote_matching import (
    LEAST_SIMILAR,
    MOST_PARTS,
    NearKind,
    Searchable,
    exact_count,
    exact_match,
    near_match,
    parts_of,
    squashed,
)
from groundkit.core.relocation_distance import likeness

WORDS = st.sampled_from(
    ["the", "tide", "rises", "twice", "a", "day", "unable", "able", "港の灯", "e\u0301t", "3.14", "don’t"]
)
BLANKS = st.sampled_from([" ", "\n", "  ", "\r\n", "\t", " \n  ", "\u00a0"])
TEXTS = st.lists(st.tuples(WORDS, BLANKS), min_size=1, max_size=60).map(lambda pairs: "".join(map("".join, pairs)))
SPARE = "a pier of old stone stood in the sea and nobody knew who had built it there or when that was"


def whole(text: str) -> Span:
    return Span(0, len(text))


def exact(quote: str, text: str) -> str | None:
    found = exact_match(quote, Searchable.of(text))
    return None if found is None else text[found.span.start : found.span.end]


def near(quote: str, text: str) -> tuple[NearKind | None, str] | None:
    found = near_match(quote, text, (whole(text),))
    return None if found is None else (found.kind, text[found.span.start : found.span.end])


@given(st.text() | TEXTS)
def test_the_squashed_text_is_the_text_with_one_blank_for_each_run_and_leads_back(text: str) -> None:
    within = Searchable.of(text)
    assert within.squashed == re.sub(r"\s+", " ", text)
    for at, sign in enumerate(within.squashed):
        if sign != " ":
            span = within.span(at, at + 1)
            assert text[span.start : span.end] == sign


@given(TEXTS, st.data())
def test_whatever_a_text_holds_stands_in_it_however_it_is_wrapped(text: str, data: st.DataObject) -> None:
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    quote = text[start:end].strip()
    assume(quote and not re.search(r"\.\.\.|…", quote))
    wrapped = re.sub(r"\s+", lambda _: data.draw(BLANKS), quote)
    found = exact_match(wrapped, Searchable.of(text))
    assert found is not None
    assert squashed(text[found.span.start : found.span.end]) == squashed(quote)
    assert not text[found.span.start].isspace()
    assert not text[found.span.end - 1].isspace()
    assert exact_count(wrapped, Searchable.of(text)) >= 1


@given(TEXTS, st.text(min_size=1))
def test_only_what_a_text_holds_stands_in_it(text: str, quote: str) -> None:
    found = exact(quote, text)
    if found is not None and len(parts_of(quote)) <= 1 and "…" not in quote and "..." not in quote:
        assert squashed(found) == squashed(quote)
    if squashed(quote) and squashed(quote) in Searchable.of(text).squashed:
        assert found is not None


def test_a_place_within_a_word_is_not_what_was_said() -> None:
    assert exact_match("able to swim", Searchable.of("He was unable to swim.")) is not None
    cut = exact_match("able to swim", Searchable.of("He was unable to swim."))
    assert cut is not None and cut.kind is NearKind.CUT
    better = exact_match("able to swim", Searchable.of("unable to swim, able to swim"))
    assert better is not None and (better.kind, better.span) == (None, Span(16, 28))
    number = exact_match("the sum of 12", Searchable.of("the sum of 1234"))
    assert number is not None and number.kind is NearKind.CUT
    mark = exact_match("in the cafe", Searchable.of("in the cafe\u0301"))
    assert mark is not None and mark.kind is NearKind.CUT
    signs = exact_match("港の灯は", Searchable.of("夜の港の灯は見える"))
    assert signs is not None and signs.kind is None


@pytest.mark.parametrize("sign", ["…", "...", "[…]", "[...]", " … ", "(...)", ". . ."])
def test_an_ellipsis_parts_what_must_stand_in_this_order(sign: str) -> None:
    text = "first the tide rises, then the moon, then the tide falls, and so on. the tide falls"
    assert exact(f"the tide rises{sign}the tide falls", text) == text[6:56]
    assert exact(f"the tide falls{sign}the tide rises", text) is None
    assert exact(f"{sign}the moon{sign}", text) == "the moon"
    assert exact(f"then the{sign}then the{sign}then the", text) is None


def test_the_shortest_stretch_with_all_parts_is_it() -> None:
    text = "a storm came. far away. a storm came. then a calm"
    assert exact("a storm came … a calm", text) == "a storm came. then a calm"


def test_an_ellipsis_of_the_source_is_one_of_its_letters() -> None:
    assert exact("and so … it went", "yes and so … it went") == "and so … it went"


@pytest.mark.parametrize(
    "quote",
    [
        "The tide is “not” a wave", "the tide is 'not' a wave", "the tide is not a wave", "the tide is **not** a wave",
        "the tide is not a wave.", "the tide is _not_ a wave,", "THE TIDE IS NOT A WAVE", "the ｔide is not a wave",
    ],
)  # fmt: skip
def test_what_differs_in_form_only_is_near(quote: str) -> None:
    text = f'{SPARE}; the tide is \n"not" a wave - or so. {SPARE}'
    assert exact(quote, text) is None
    found = near(quote, text)
    assert found is not None
    assert (found[0], squashed(found[1])) == (NearKind.FORM, 'the tide is "not" a wave')


def test_dashes_and_breaks_between_signs_that_need_no_blanks_are_form() -> None:
    assert near("an old – very old — pier", "it was an old - very old --- pier") == (
        NearKind.FORM,
        "an old - very old --- pier",
    )
    assert near("港の灯は見える", "夜、港の灯\nは見える。") == (NearKind.FORM, "港の灯\nは見える")


def test_what_has_other_words_is_near_as_far_as_it_is_alike() -> None:
    text = f"{SPARE}. The tide rises twice a day at the old pier of stone. {SPARE}."
    found = near_match("the tide rises three times a day at the old pier", text, (whole(text),))
    assert found is not None
    assert found.kind is NearKind.EDITED
    assert text[found.span.start : found.span.end] == "The tide rises twice a day at the old pier"
    assert LEAST_SIMILAR <= found.similarity < 1
    assert near("a lamp burned in every window of the town", text) is None


def test_long_quotations_are_compared_by_words() -> None:
    told = " ".join(f"word{number} and {number * 7}" for number in range(400))
    text = f"{SPARE} {told} {SPARE}"
    changed = told.replace("word200", "another thing").replace("word300 ", "")
    found = near_match(changed, text, (whole(text),))
    assert found is not None and found.kind is NearKind.EDITED
    assert found.similarity > 0.9
    assert text[found.span.start : found.span.end] == told


def test_parts_may_be_near_each_by_itself() -> None:
    text = f"{SPARE}. The tide rises twice a day. {SPARE}. The moon pulls at the sea all night long."
    found = near_match("The tide rises twice a day … the moon pulls on the sea all night", text, (whole(text),))
    assert found is not None
    assert found.kind is NearKind.EDITED
    first = found.parts[0]
    assert text[first.start : first.end] == "The tide rises twice a day"
    assert near("the moon pulls at the sea all night … the tide rises twice a day", text) is None


@given(st.text() | TEXTS, st.text() | TEXTS)
def test_every_quotation_of_every_text_has_an_answer(quote: str, text: str) -> None:
    within = Searchable.of(text)
    for found in (exact_match(quote, within), near_match(quote, text, (whole(text), Span(0, 0)))):
        if found is not None:
            assert 0 <= found.span.start < found.span.end <= len(text)
            assert found.span.start == found.parts[0].start and found.span.end == found.parts[-1].end
            assert 0 <= found.similarity <= 1
            assert sorted(found.parts) == list(found.parts)
    assert (exact_count(quote, within) > 0) == (exact_match(quote, within) is not None)


def test_so_many_parts_are_looked_for_and_no_more() -> None:
    text = "ab " * 200
    assert exact(" … ".join(["ab"] * MOST_PARTS), text) is not None
    assert exact(" … ".join(["ab"] * (MOST_PARTS + 1)), text) is None


@pytest.mark.parametrize("apart", ["\n\n", ". ", "; "])
def test_the_most_alike_of_what_is_near_is_found(apart: str) -> None:
    years = ["1698", "1568 and 1580", "1759", "1795", "15 79", "157", "2579"]
    for first in range(len(years)):
        text = f"{apart}".join(f"they lit it in {year}" for year in years[first:] + years[:first])
        for quote in ("they lit it in 1578", "they lit it in 2578", "lit it in 1797", "lit it in 1579"):
            found = near_match(quote, text, (whole(text),))
            assert found is not None
            ends = {match.end() for match in re.finditer(r"\w+", text)}
            starts = {match.start() for match in re.finditer(r"\w+", text)}
            best = max(likeness(quote, squashed(text[start:end])) for start in starts for end in ends if start < end)
            assert found.similarity == best


def test_a_short_part_is_compared_with_more_than_what_shares_most_words() -> None:
    text = "\n".join(f"they lit it in {year}" for year in (1698, 1608, 1618, 1628, 1638, 1759))
    zones = [Span(match.start(), match.end()) for match in re.finditer(r"[^\n]+", text)]
    found = near_match("they lit it in 1579", text, zones)
    assert found is not None
    assert text[found.span.start : found.span.end] == "they lit it in 1759"


def test_a_desert_of_blanks_takes_no_longer_than_other_text() -> None:
    blanks = " " * 1_000_000
    assert parts_of(f"the tide{blanks}rises … twice") == ("the tide rises", "twice")
    quoted = quotations_of(f"{blanks}\n“the tide rises{blanks}twice a day”{blanks}\n-{blanks}\n1.{blanks}x")
    assert [squashed(each.text) for each in quoted.quotations] == ["the tide rises twice a day"]

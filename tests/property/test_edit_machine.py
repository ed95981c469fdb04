"""Laws 5 and 6 under scripts of edits whose outcome is known: never falsely verified, and always one verdict that is borne out."""

import unicodedata
from collections import Counter
from random import Random

import pytest
from attrs import evolve
from edit_support import borne_out, cited_at, places_between
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.drift import explained
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import CONTEXT, Reason, Span, Verdict, Verification
from groundkit.core.relocation import Alignment, aligned, relocate
from groundkit.core.verdicts import TextFound, judge
from groundkit.testing.edit_strategies import edits, paragraph, prose, prose_of, scripts
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
    Replace,
    Rewrap,
    Traced,
    Truncate,
    carried_out,
    copied,
    edited,
    intact_stretch,
    kept,
    place_of,
    text_of,
    traced,
)
from groundkit.testing.strategies import texts

#: Signs that fold, compose or part lines, so that a little edit changes much of what a comparison may look at.
FOLDING = st.text(st.sampled_from("ab é\u0301\n\r東ガｶﾞﬁ한\u1112\u1161\u11ab\ufeffＡß. "), max_size=60)
TEXTS = (prose() | texts() | FOLDING).filter(bool)
WHOLE = Span(0, 1 << 30)


@st.composite
def stretches(draw: st.DrawFn, text: str, least: int = 1) -> Span:
    start = draw(st.integers(0, len(text) - least))
    return Span(start, draw(st.integers(start + least, min(len(text), start + least + 400))))


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, Traced, Span]:
    """A text, what some edits made of it, and a passage of the first."""
    old = draw(TEXTS)
    return old, carried_out(traced(old), draw(scripts(len(old)))), draw(stretches(old))


def told(alignment: Alignment, span: Span) -> Verification:
    """The whole answer on a passage of the old text, which is at hand, as a collection gives it."""
    old, new = alignment.old, alignment.new
    citation, cited = cited_at(old, span), old[span.start : span.end]
    verdict = judge(citation, TextFound(new), cited)
    if verdict.verdict is not Verdict.DRIFTED:
        return verdict
    return explained(citation, verdict, relocate(alignment, span), cited, new)


def answer(old: str, new: str, span: Span) -> Verification:
    return told(aligned(old, new), span)


# -- the machine itself


#: Edits that put signs elsewhere and let none become another.
MOVING = (Insert, Delete, Replace, Move, Duplicate, Overlay, ByteOrderMark, Truncate)


@given(TEXTS, st.data())
def test_a_sign_that_has_an_origin_is_the_one_that_stood_there(old: str, data: st.DataObject) -> None:
    script = data.draw(st.lists(edits(len(old)).filter(lambda edit: isinstance(edit, MOVING)), max_size=5))
    signs = carried_out(traced(old), script)
    assert all(sign.origin is None or sign.char == old[sign.origin] for sign in signs)
    originals = [sign.origin for sign in signs if sign.origin is not None and not sign.copy]
    assert len(originals) == len(set(originals))
    assert sum(sign.origin is None for sign in signs) + kept(signs, WHOLE) + copied(signs, WHOLE) == len(signs)


@given(TEXTS, st.sampled_from(("NFC", "NFD", "NFKC", "NFKD")))
def test_a_text_is_normalised_as_unicode_says(old: str, form: str) -> None:
    edit = Normalise(form)  # type: ignore[arg-type]  # one of the four
    assert text_of(edited(traced(old), edit)) == unicodedata.normalize(form, old)


@given(TEXTS, st.sampled_from(("\n", "\r\n", "\r")))
def test_line_breaks_become_what_is_asked_for_and_nothing_else_changes(old: str, mark: str) -> None:
    plain = old.replace("\r\n", "\n").replace("\r", "\n")
    edit = Breaks(mark)  # type: ignore[arg-type]  # one of the three
    assert text_of(edited(traced(old), edit)) == plain.replace("\n", mark)


@given(TEXTS, st.integers(1, 90))
def test_a_text_that_is_wrapped_anew_has_the_same_words(old: str, width: int) -> None:
    assert text_of(edited(traced(old), Rewrap(width))).split() == old.split()


@given(histories())
def test_what_stands_whole_is_what_stood_there(history: tuple[str, Traced, Span]) -> None:
    old, signs, span = history
    place = place_of(signs, old, span)
    if place is not None:
        assert text_of(signs)[place.start : place.end] == old[span.start : span.end]
        assert kept(signs, span) >= span.length


# -- law 5: never falsely verified


@given(histories())
def test_a_passage_is_verified_exactly_when_its_text_stands_at_its_span(history: tuple[str, Traced, Span]) -> None:
    old, signs, span = history
    new, cited = text_of(signs), old[span.start : span.end]
    citation = cited_at(old, span)
    for at_hand in (None, cited, "another text", ""):
        for context in (citation, evolve(citation, before=None, after=None)):
            verdict = judge(context, TextFound(new), at_hand)
            assert bool(verdict) is (new[span.start : span.end] == cited)


@given(TEXTS, st.data())
def test_one_code_point_that_differs_within_the_span_is_enough(old: str, data: st.DataObject) -> None:
    span = data.draw(stretches(old))
    at = data.draw(st.integers(span.start, span.end - 1))
    other = data.draw(st.sampled_from("ab \n\r\u0301\ufeff\u200b東é") | st.characters(exclude_categories=["Cs"]))
    assume(other != old[at])
    borne_out(answer(old, old[:at] + other + old[at + 1 :], span), old, old[:at] + other + old[at + 1 :], span)
    assert not answer(old, old[:at] + other + old[at + 1 :], span)


#: A passage, and what a lenient comparison would take for it, of the same length or not.
LOOKALIKES = {
    "composed": ("caf\u00e9 au lait", "cafe\u0301 au lait"),
    "decomposed": ("cafe\u0301 au lait", "caf\u00e9 au lait"),
    "another sign of one form": ("5 \u212b wide", "5 \u00c5 wide"),
    "compatible": ("of\ufb01ce hours", "office hours"),
    "full width": ("\uff21\uff22\uff23", "ABC"),
    "line breaks of two signs": ("one\ntwo\nthree", "one\r\ntwo\r\nthree"),
    "line breaks of another sign": ("one\ntwo\nthree", "one\rtwo\rthree"),
    "case": ("The Tide", "the tide"),
    "white space": ("the tide turns", "the\u00a0tide turns"),
    "an invisible sign": ("the tide turns", "the tide\u200bturns"),
    "a look-alike letter": ("the tide", "the tid\u0435"),
    "the order of marks": ("a\u0323\u0301 x", "a\u0301\u0323 x"),
    "the same length": ("it burns until 1759", "it burns until 1579"),
}


@pytest.mark.parametrize("name", LOOKALIKES)
@pytest.mark.parametrize("rest", ["", " and so on, until the end of the text that is here."])
def test_what_only_looks_the_same_is_not_the_same(name: str, rest: str) -> None:
    cited, instead = LOOKALIKES[name]
    old, new, span = f"{cited}{rest}", f"{instead}{rest}", Span(0, len(cited))
    verification = answer(old, new, span)
    assert verification.verdict is Verdict.DRIFTED
    borne_out(verification, old, new, span)


@given(prose(), st.booleans())
def test_a_byte_order_mark_moves_everything_by_one(old: str, first: bool) -> None:
    marked = text_of(edited(traced(old), ByteOrderMark(True)))
    before, now = (old, marked) if first else (marked, old)
    step = 1 if first else -1
    whole = Span(0, len(old)) if first else Span(1, len(marked))
    found = answer(before, now, whole)
    assert (found.reason, found.span) == (Reason.MOVED, Span(whole.start + step, whole.end + step))


# -- law 6: one verdict always, and all that is said of it is true


@given(histories())
def test_every_answer_is_borne_out_by_the_two_texts(history: tuple[str, Traced, Span]) -> None:
    old, signs, span = history
    borne_out(answer(old, text_of(signs), span), old, text_of(signs), span)


@given(histories(), st.data())
def test_an_answer_is_the_same_whatever_was_asked_before(
    history: tuple[str, Traced, Span], data: st.DataObject
) -> None:
    old, signs, span = history
    asked = aligned(old, text_of(signs))
    first = told(asked, span)
    for _ in range(2):
        told(asked, data.draw(stretches(old)))
    assert told(asked, span) == first == answer(old, text_of(signs), span)


@given(histories(), st.integers(-5, 2000), st.integers(-5, 2000))
def test_any_span_at_all_gets_a_verdict(history: tuple[str, Traced, Span], start: int, end: int) -> None:
    old, signs, _ = history
    span, new = Span(start, end), text_of(signs)
    citation = evolve(cited_at(old, Span(0, 1)), span=span, digest=text_digest(old[max(0, start) : max(0, end)]))
    for evidence in (TextFound(old), TextFound(new), TextFound("")):
        found = judge(citation, evidence)
        assert found.detail
        assert bool(found) is (
            0 <= start < end <= len(evidence.text) and text_digest(evidence.text[start:end]) == citation.digest
        )


# -- ground truth: where the passage really went


def _once(text: str, cited: str) -> bool:
    at = text.find(cited)
    return at >= 0 and text.find(cited, at + 1) < 0


@given(prose(), texts() | prose() | FOLDING, st.data())
def test_an_untouched_passage_behind_an_insertion_is_moved_to_where_it_is(
    old: str, added: str, data: st.DataObject
) -> None:
    span = data.draw(stretches(old, least=20))
    at = data.draw(st.integers(0, span.start))
    signs = edited(traced(old), Insert(at, added))
    new, cited = text_of(signs), old[span.start : span.end]
    assume(added and _once(old, cited) and _once(new, cited))
    found = answer(old, new, span)
    assert (found.reason, found.span) == (Reason.MOVED, place_of(signs, old, span))


@given(prose(), st.data())
def test_a_unique_passage_that_no_edit_touched_is_said_to_be_where_it_is(old: str, data: st.DataObject) -> None:
    span = data.draw(stretches(old, least=20))
    signs = carried_out(traced(old), data.draw(scripts(len(old))))
    new, cited = text_of(signs), old[span.start : span.end]
    place = place_of(signs, old, span)
    assume(place is not None and _once(old, cited) and _once(new, cited))
    found = answer(old, new, span)
    assert (found.reason, found.span) == ((Reason.SAME, None) if place == span else (Reason.MOVED, place))


def _twins(chance: Random) -> tuple[list[str], str, int, int]:
    """Paragraphs of which two have a sentence in common, to the letter; the sentence, and which they are."""
    parts = [paragraph(chance) for _ in range(9)]
    one, other = chance.sample(range(9), 2)
    sentence = paragraph(chance)
    parts[one], parts[other] = (f"{parts[at]} {sentence} {paragraph(chance)}" for at in (one, other))
    return parts, sentence, one, other


def _elsewhere(chance: Random, parts: list[str], spared: tuple[int, int]) -> list[Edit]:
    """Edits of paragraphs that are not spared, from the last to the first, so that offsets hold."""
    found: list[Edit] = []
    at = len("\n\n".join(parts))
    for number in reversed(range(len(parts))):
        at -= len(parts[number])
        if number not in spared and chance.random() < 0.4:
            inner = at + chance.randint(0, len(parts[number]) // 2)
            new = paragraph(chance)
            found.append(chance.choice((Insert(inner, new), Delete(inner, 20), Replace(inner, 30, new[:40]))))
        at -= 2
    return found


@pytest.mark.parametrize("seed", range(60))
def test_a_deleted_passage_is_never_where_its_twin_stands(seed: int) -> None:
    chance = Random(seed)
    parts, sentence, one, other = _twins(chance)
    old = "\n\n".join(parts)
    start = old.find(sentence) if one < other else old.rfind(sentence)
    span = Span(start, start + len(sentence))
    signs = carried_out(traced(old), _elsewhere(chance, parts, (one, other)))
    place = place_of(signs, old, span)
    assert place is not None
    signs = edited(signs, Delete(place.start, place.length))
    found = answer(old, text_of(signs), span)
    borne_out(found, old, text_of(signs), span)
    assert kept(signs, span) == copied(signs, span) == 0
    assert sentence in text_of(signs)
    assert found.reason is Reason.REMOVED


@pytest.mark.parametrize("seed", range(60))
def test_a_passage_stays_found_when_its_twin_is_deleted(seed: int) -> None:
    chance = Random(seed)
    parts, sentence, one, other = _twins(chance)
    old = "\n\n".join(parts)
    at, twin = (old.find(sentence), old.rfind(sentence))[:: 1 if one < other else -1]
    span = Span(at, at + len(sentence))
    signs = carried_out(traced(old), _elsewhere(chance, parts, (one, other)))
    place = place_of(signs, old, Span(twin, twin + len(sentence)))
    assert place is not None
    signs = edited(signs, Delete(place.start, place.length))
    found, stands = answer(old, text_of(signs), span), place_of(signs, old, span)
    assert (found.reason, found.span) == ((Reason.SAME, None) if stands == span else (Reason.MOVED, stands))


@given(histories())
def test_what_was_deleted_and_copied_nowhere_is_not_said_to_have_moved(history: tuple[str, Traced, Span]) -> None:
    """Unless a text that is equal to the letter came about somewhere by chance, which no reader could tell from a move."""
    old, signs, span = history
    new, cited = text_of(signs), old[span.start : span.end]
    assume(kept(signs, span) == copied(signs, span) == 0)
    found = answer(old, new, span)
    if cited not in new:
        assert found.reason not in (Reason.SAME, Reason.MOVED)
    if found:
        assert new[span.start : span.end] == cited


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("over", [False, True])
def test_a_copy_that_lands_on_the_old_span_is_verified_in_other_surroundings(seed: int, over: bool) -> None:
    """Equal text at the cited span is verified, whoever put it there; that its neighbours changed is told."""
    old = prose_of(seed)
    span = Span(len(old) // 3, len(old) // 3 + 30)
    copy = Overlay(span.start, span.length, span.start) if over else Duplicate(span.start, span.length, span.start)
    signs = edited(edited(traced(old), copy), Insert(span.end, " no more "))
    found = answer(old, text_of(signs), span)
    assert (found.reason, found.context_changed, found.span) == (Reason.SAME, True, None)
    assert intact_stretch(signs, span) is None


# -- without the text that was ingested


#: So many places with the same words are looked at, and what has no neighbours is told by itself from so many code points on.
MOST_PLACES, TELLING = 64, 20


@given(histories())
def test_without_the_old_text_only_one_place_between_both_neighbours_is_moved(
    history: tuple[str, Traced, Span],
) -> None:
    old, signs, span = history
    new, cited, citation = text_of(signs), old[span.start : span.end], cited_at(old, span)
    for at_hand in (cited, None):
        found = judge(citation, TextFound(new), at_hand)
        places = places_between(new, citation, cited)
        assert found.reason in (Reason.SAME, Reason.MOVED, Reason.CHANGED)
        if found.reason is Reason.MOVED:
            assert [found.span] == places
            assert found.found == found.cited == cited
        elif found.reason is Reason.CHANGED:
            word = cited if at_hand else citation.before or citation.after or ""
            many = new.count(word) > MOST_PLACES // 2 if word else True
            alone = not (citation.before or citation.after) and (not at_hand or len(cited) < TELLING)
            assert len(places) != 1 or many or alone
            assert found.span is None


@given(histories())
def test_without_neighbours_nothing_is_said_to_have_moved(history: tuple[str, Traced, Span]) -> None:
    old, signs, span = history
    citation = cited_at(old, span)
    for bare in (
        evolve(citation, before=None),
        evolve(citation, after=None),
        evolve(citation, before=None, after=None),
    ):
        assert judge(bare, TextFound(text_of(signs)), old[span.start : span.end]).reason in (
            Reason.SAME,
            Reason.CHANGED,
        )


@given(prose(), texts() | prose(), st.data())
def test_without_the_old_text_an_untouched_passage_with_its_neighbours_is_moved(
    old: str, added: str, data: st.DataObject
) -> None:
    span = data.draw(stretches(old))
    at = data.draw(st.integers(0, max(0, span.start - CONTEXT)))
    signs = edited(traced(old), Insert(at, added))
    new, citation, cited = text_of(signs), cited_at(old, span), old[span.start : span.end]
    assume(added and at < span.start and new[span.start : span.end] != cited)
    assume(len(places_between(new, citation, cited)) == 1 and new.count(cited) < MOST_PLACES // 2)
    found = judge(citation, TextFound(new), cited)
    assert (found.reason, found.span) == (Reason.MOVED, place_of(signs, old, span))


# -- the machine reaches what it is for


def test_scripts_bring_about_every_reason() -> None:
    chance = Random(5)
    seen: Counter[Reason] = Counter()
    for seed in range(150):
        old = prose_of(seed)
        start = chance.randrange(len(old) - 40)
        span = Span(start, start + 40)
        for script in _shaped(chance, old, span):
            new = text_of(carried_out(traced(old), script))
            found = answer(old, new, span)
            borne_out(found, old, new, span)
            seen[found.reason] += 1
    assert all(seen[reason] >= 10 for reason in _OF_DRIFT), seen


_OF_DRIFT = (Reason.SAME, Reason.MOVED, Reason.REFORMATTED, Reason.EDITED, Reason.AMBIGUOUS, Reason.REMOVED)


def _shaped(chance: Random, old: str, span: Span) -> list[tuple[Edit, ...]]:
    """Scripts that each mean to bring about one thing."""
    other, block = paragraph(chance), (max(0, span.start - 80), span.length + 160)
    away = (Delete(*block), Insert(len(old), "\n\n"), Insert(len(old), other))
    return [
        (Insert(span.end, other),),
        (Insert(0, other),),
        (Insert(0, other[:5]), Normalise("NFD"), Breaks("\r\n")),
        (Replace(span.start + 15, 3, other[:4]),),
        (Duplicate(*block, len(old)), Duplicate(*block, len(old) + block[1]), *away[:1]),
        (Delete(span.start, span.length),),
    ]

"""Laws of relocation: what is said of a passage when the text around it, or it, was changed in a known way."""

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Span
from groundkit.core.relocation import (
    Alignment,
    Ambiguous,
    Edited,
    Moved,
    OutOfBudget,
    Reformatted,
    Relocation,
    Removed,
    Same,
    aligned,
    relocate,
)
from groundkit.core.relocation_tokens import same_words
from groundkit.testing.strategies import texts

raw = st.one_of(texts(), st.text(st.sampled_from("ab é\u0301\n\r東ガｶﾞ\ud800\x00ﬁ한\u1112\u1161\u11abก่. ")), st.text())
seeds = st.integers(0, 1 << 30)

SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ri",
    "so",
    "tu",
    "va",
    "we",
    "xi",
    "yo",
    "zu",
]


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the text after pieces of it were taken out, put elsewhere, or replaced by others."""
    old = new = draw(raw)
    for _ in range(draw(st.integers(0, 4))):
        at, to = sorted((draw(st.integers(0, len(new))), draw(st.integers(0, len(new)))))
        piece, place = new[at:to], draw(st.integers(0, len(new)))
        new = draw(
            st.sampled_from((new[:at] + new[to:], new[:place] + piece + new[place:], new[:at] + draw(raw) + new[to:]))
        )
    return old, new


pairs = st.one_of(changed(), st.tuples(raw, raw))


def _span(data: st.DataObject, text: str) -> Span:
    start = data.draw(st.integers(0, len(text) - 1))
    return Span(start, data.draw(st.integers(start + 1, len(text))))


def _words(chance: Random, count: int) -> list[str]:
    return ["".join(chance.choice(SYLLABLES) for _ in range(chance.randint(1, 3))) for _ in range(count)]


def _paragraph(chance: Random) -> str:
    return " ".join(_words(chance, chance.randint(20, 40))) + "."


def _paragraphs(chance: Random, count: int = 12) -> list[str]:
    return [_paragraph(chance) for _ in range(count)]


def _joined(parts: list[str]) -> str:
    return "\n\n".join(parts)


def _at(parts: list[str], number: int) -> Span:
    start = sum(len(part) + 2 for part in parts[:number])
    return Span(start, start + len(parts[number]))


def _reworded(chance: Random, text: str, share: float) -> str:
    """The text with other words for some of its own, at least one."""
    words = text.split(" ")
    chosen = {at for at in range(1, len(words) - 1) if chance.random() < share} or {len(words) // 2}
    return " ".join(_words(chance, 1)[0] if at in chosen else word for at, word in enumerate(words))


def _check(alignment: Alignment, span: Span, found: Relocation) -> None:
    """What holds of every answer."""
    old, new = alignment.old, alignment.new
    cited = old[span.start : span.end]
    assert (new[span.start : span.end] == cited) == isinstance(found, Same)
    match found:
        case Moved(place):
            assert new[place.start : place.end] == cited
        case Reformatted(place):
            assert same_words(new[place.start : place.end], cited)
        case Edited(place, similarity):
            assert 0 <= place.start < place.end <= len(new)
            assert 0.4 <= similarity <= 1
        case Ambiguous(candidates):
            assert len(candidates) > 1
            assert list(candidates) == sorted(set(candidates))
            assert all(0 <= place.start < place.end <= len(new) for place in candidates)
        case Removed():
            assert alignment.complete
        case Same() | OutOfBudget():
            pass


@given(raw.filter(bool), st.data())
def test_a_text_that_did_not_change_has_every_passage_at_its_place(text: str, data: st.DataObject) -> None:
    assert relocate(aligned(text, text), _span(data, text)) == Same()


@given(pairs.filter(lambda pair: bool(pair[0])), st.data())
def test_every_span_of_every_text_has_one_answer_that_its_text_bears_out(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    alignment, span = aligned(*pair), _span(data, pair[0])
    _check(alignment, span, relocate(alignment, span))


@given(pairs.filter(lambda pair: bool(pair[0])), st.data())
def test_an_answer_does_not_depend_on_what_was_asked_before(pair: tuple[str, str], data: st.DataObject) -> None:
    alignment, span, other = aligned(*pair), _span(data, pair[0]), _span(data, pair[0])
    first = relocate(alignment, span)
    relocate(alignment, other)
    assert relocate(alignment, span) == first == relocate(aligned(*pair), span)


@given(pairs.filter(lambda pair: bool(pair[0])), st.data(), st.integers(0, 2000))
def test_a_budget_changes_no_answer_but_to_none(pair: tuple[str, str], data: st.DataObject, budget: int) -> None:
    alignment, span = aligned(*pair), _span(data, pair[0])
    assert relocate(alignment, span, budget) in (OutOfBudget(), relocate(alignment, span))


@given(pairs.filter(lambda pair: bool(pair[0])), st.data(), st.integers(0, 200))
def test_a_passage_is_not_called_removed_by_an_alignment_that_ran_out(
    pair: tuple[str, str], data: st.DataObject, budget: int
) -> None:
    alignment, span = aligned(*pair, budget=budget), _span(data, pair[0])
    _check(alignment, span, relocate(alignment, span))


@given(raw.filter(bool), st.integers(1, 40), st.data())
def test_what_is_put_before_moves_a_passage_by_its_length(text: str, count: int, data: st.DataObject) -> None:
    assume("\ue000" not in text)
    inserted = "\ue000" * count + "\n"
    span = _span(data, text)
    expected = Moved(Span(span.start + len(inserted), span.end + len(inserted)))
    found = relocate(aligned(text, inserted + text), span)
    assert found == expected or (
        found == Same() and (inserted + text)[span.start : span.end] == text[span.start : span.end]
    )


@given(raw.filter(bool), raw, st.data())
def test_what_is_put_behind_moves_nothing(text: str, added: str, data: st.DataObject) -> None:
    assert relocate(aligned(text, text + added), _span(data, text)) == Same()


@given(seeds, st.booleans(), st.data())
def test_a_deleted_passage_is_removed_though_its_like_remains(seed: int, near: bool, data: st.DataObject) -> None:
    chance = Random(seed)
    parts = _paragraphs(chance)
    gone, twin = 4, data.draw(st.sampled_from([0, 1, 2, 6, 7, 8, 11]))
    parts[twin] = _reworded(chance, parts[gone], 0.1) if near else parts[gone]
    old, new = _joined(parts), _joined(parts[:gone] + parts[gone + 1 :])
    whole = _at(parts, gone)
    start = data.draw(st.integers(whole.start, whole.end - 20))
    span = Span(start, data.draw(st.integers(start + 20, whole.end)))
    assert relocate(aligned(old, new), span) == Removed()


@given(seeds)
def test_a_passage_keeps_its_place_when_its_like_is_deleted(seed: int) -> None:
    chance = Random(seed)
    parts = _paragraphs(chance)
    parts[2] = parts[8]
    left = parts[:2] + parts[3:]
    assert relocate(aligned(_joined(parts), _joined(left)), _at(parts, 8)) == Moved(_at(left, 7))


@given(
    st.lists(st.sampled_from(["One", "two", "thrEe", "é", "ß", "x1", "東", "京", ".", ","]), min_size=2, max_size=40),
    st.data(),
)
def test_white_space_and_case_reformat_a_passage(words: list[str], data: st.DataObject) -> None:
    old, new = " ".join(words), "\n\t".join(words).swapcase().replace("SS", "ß")
    start = data.draw(st.integers(0, len(words) - 2))
    end = data.draw(st.integers(start + 2, len(words)))
    at = len(" ".join(words[:start])) + (start > 0)
    place = len("\n\t".join(words[:start])) + 2 * (start > 0)
    length = len(" ".join(words[start:end]))
    found = relocate(aligned(old, new), Span(at, at + length))
    assert found == Reformatted(Span(place, place + length + end - start - 1))


@given(seeds, st.integers(0, 11), st.integers(0, 10))
def test_a_moved_paragraph_is_found_where_it_went(seed: int, source: int, target: int) -> None:
    parts = _paragraphs(Random(seed))
    assume(source != target)
    left = parts[:source] + parts[source + 1 :]
    moved = [*left[:target], parts[source], *left[target:]]
    assert relocate(aligned(_joined(parts), _joined(moved)), _at(parts, source)) == Moved(_at(moved, target))


@given(seeds)
def test_a_quote_under_twenty_code_points_is_not_found_by_search_alone(seed: int) -> None:
    parts = _paragraphs(Random(seed))
    moved = [*parts[:3], *parts[4:9], parts[3], *parts[9:]]
    whole = _at(parts, 3)
    assert relocate(aligned(_joined(parts), _joined(moved)), Span(whole.start, whole.start + 19)) == Removed()


@given(seeds)
def test_two_new_copies_of_a_lost_passage_between_its_neighbours_are_ambiguous(seed: int) -> None:
    chance = Random(seed)
    parts = _paragraphs(chance)
    block = parts[3:6]
    left = [*parts[:3], *parts[6:9], *block, _paragraph(chance), *block, *parts[9:]]
    expected = Ambiguous((_at(left, 7), _at(left, 11)))
    assert relocate(aligned(_joined(parts), _joined(left)), _at(parts, 4)) == expected


def _overlap(one: Span, other: Span) -> float:
    shared = max(0, min(one.end, other.end) - max(one.start, other.start))
    return shared / (one.length + other.length - shared)


@pytest.mark.parametrize("seed", range(40))
def test_an_edited_passage_is_found_where_it_stands(seed: int) -> None:
    chance = Random(seed)
    parts = _paragraphs(chance)
    edited = list(parts)
    edited[5] = _reworded(chance, parts[5], 0.2)
    edited[9] = _reworded(chance, parts[9], 0.3)
    edited[2:2] = _paragraphs(chance, chance.randint(1, 5))
    place = _at(edited, len(edited) - 7)
    found = relocate(aligned(_joined(parts), _joined(edited)), _at(parts, 5))
    assert isinstance(found, Edited)
    assert _overlap(found.span, place) > 0.8


@pytest.mark.parametrize("seed", range(20))
def test_a_passage_that_moved_and_was_edited_is_found_where_it_went(seed: int) -> None:
    chance = Random(seed)
    parts = _paragraphs(chance)
    left = [*parts[:3], *parts[4:9], _reworded(chance, parts[3], 0.08), *parts[9:]]
    found = relocate(aligned(_joined(parts), _joined(left)), _at(parts, 3))
    assert isinstance(found, Edited)
    assert _overlap(found.span, _at(left, 8)) > 0.8


@pytest.mark.parametrize("seed", range(20))
def test_a_passage_with_three_of_eight_words_replaced_is_found_between_its_neighbours(seed: int) -> None:
    chance = Random(seed)
    parts = _paragraphs(chance)
    words = parts[5].split(" ")
    start = len(" ".join(words[:8])) + 1
    span = Span(_at(parts, 5).start + start, _at(parts, 5).start + start + len(" ".join(words[8:16])))
    put = _words(chance, 8)
    edited = [*words[:8], *(put[at] if at in (1, 3, 6) else words[8 + at] for at in range(8)), *words[16:]]
    changed = [*parts[:2], _paragraph(chance), *parts[2:5], " ".join(edited), *parts[6:]]
    place = Span(_at(changed, 6).start + start, _at(changed, 6).start + start + len(" ".join(edited[8:16])))
    found = relocate(aligned(_joined(parts), _joined(changed)), span)
    assert isinstance(found, Edited)
    assert _overlap(found.span, place) > 0.8


@pytest.mark.parametrize("seed", range(20))
def test_a_short_passage_that_moved_is_found_though_it_and_what_was_before_it_changed(seed: int) -> None:
    chance = Random(seed)
    parts = _paragraphs(chance)
    words = _words(chance, 20)
    parts[3] = " ".join(words)
    edited = ["one", "other", *words[2:9], *_words(chance, 1), *words[10:]]
    left = [*parts[:3], *parts[4:9], " ".join(edited), *parts[9:]]
    span, place = (
        Span(_at(each, at).start + len(" ".join(said[:5])) + 1, _at(each, at).start + len(" ".join(said[:15])))
        for each, at, said in ((parts, 3, words), (left, 8, edited))
    )
    found = relocate(aligned(_joined(parts), _joined(left)), span)
    assert isinstance(found, Edited)
    assert _overlap(found.span, place) > 0.8


@given(seeds, st.data())
def test_what_a_cut_left_of_a_passage_is_not_the_passage(seed: int, data: st.DataObject) -> None:
    chance = Random(seed)
    words = _words(chance, 40)
    at, count = data.draw(st.integers(5, 10)), data.draw(st.integers(8, 12))
    # The same words stand before the cut and at its end, so either could be the ones that are left.
    words[at - 2 : at] = words[at + count - 2 : at + count]
    start = len(" ".join(words[:at])) + 1
    span = Span(start, start + len(" ".join(words[at : at + count])))
    old, new = " ".join(words), " ".join(words[:at] + words[at + count :])
    assert relocate(aligned(old, new), span) == Removed()


def test_an_edited_sentence_of_chinese_is_found() -> None:
    before, after = "春天来了，花园里的花都开了。", "孩子们在树下唱歌，老人坐在长椅上看报纸。"
    old = f"{before}小猫从屋顶上跳下来，跑到河边喝水。{after}"
    new = f"今天天气很好。{before}小猫从屋顶上跳下来，走到湖边喝水。{after}"
    found = relocate(aligned(old, new), Span(len(before), len(old) - len(after)))
    assert isinstance(found, Edited)
    assert new[found.span.start : found.span.end] == "小猫从屋顶上跳下来，走到湖边喝水。"


@pytest.mark.parametrize("separator", ["\n", "\n\n", " "])
def test_like_items_of_a_list_keep_apart_when_one_is_deleted(separator: str) -> None:
    items = [f"The method item_{name} takes the key {name} and gives its value." for name in "abcdefg"]
    old = separator.join(items)
    for gone in range(1, 6):
        new = separator.join(items[:gone] + items[gone + 1 :])
        alignment = aligned(old, new)
        for number, item in enumerate(items):
            at = old.find(item)
            found = relocate(alignment, Span(at, at + len(item)))
            place = new.find(item)
            if number == gone:
                assert found == Removed()
            else:
                assert found == (Same() if place == at else Moved(Span(place, place + len(item))))


HOSTILE = {
    "one token": ("a " * 100_000, "a " * 40_000 + "b " + "a " * 40_000 + "c " + "a " * 20_000),
    "one letter": ("a" * 200_000, "b" + "a" * 90_000 + "b" + "a" * 90_000),
    "two letters": (
        "".join(f"{chr(97 + at * 7919 % 26)}{chr(97 + at * at % 23)} " for at in range(66_000)),
        "".join(f"{chr(97 + at * 104729 % 26)}{chr(97 + at * at % 19)} " for at in range(66_000)),
    ),
    "reversed": (
        " ".join(str(at * 7919 % 10007) for at in range(20_000)),
        " ".join(str(at * 7919 % 10007) for at in range(20_000))[::-1],
    ),
    "ideographs": (
        "".join(chr(0x4E00 + at * 7919 % 997) for at in range(50_000)),
        "".join(chr(0x4E00 + at * 104729 % 991) for at in range(50_000)),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_answered_within_the_budget(name: str) -> None:
    alignment = aligned(*HOSTILE[name])
    for span in (Span(0, 40), Span(30_000, 30_400), Span(10_000, 40_000), Span(1, len(alignment.old))):
        _check(alignment, span, relocate(alignment, span))


@pytest.mark.parametrize(
    ("old", "new", "span", "found"),
    [
        ("na\u00efve the tide", "NAI\u0308VE the tide", Span(3, 14), Reformatted(Span(4, 15))),
        ("ab \ufb01ne words", "ab fine words", Span(4, 8), Moved(Span(5, 9))),
    ],
)
def test_a_span_that_begins_within_a_word_of_another_length_is_cut_where_its_letters_are(
    old: str, new: str, span: Span, found: Relocation
) -> None:
    assert relocate(aligned(old, new), span) == found


def test_a_passage_that_came_back_at_two_new_places_may_be_at_either() -> None:
    parts = [
        f"Paragraph {n} says that lighthouse {n * 17} burns {n + 3} hours, kept by {n * 31}.\n\n" for n in range(12)
    ]
    start = sum(map(len, parts[:5]))
    span = Span(start, start + len(parts[5]))
    kept = "".join(parts[:5] + parts[6:])
    new = f"{kept}Between.\n\n{parts[5]}Between two.\n\n{parts[5]}"
    found = relocate(aligned("".join(parts), new), span)
    assert isinstance(found, Ambiguous)
    assert {new[each.start : each.end] for each in found.candidates} == {parts[5]}


@pytest.mark.parametrize(
    "part",
    [
        "第{n}段说明灯塔{a}号每晚亮灯{b}小时,守塔人的编号为{c}。\n\n",
        "第{n}段落は灯台{a}号が毎晩{b}時間光ると述べ、守りの番号は{c}です。\n\n",
        "{n}번째 단락은 등대 {a}호가 매일 밤 {b}시간 켜진다고 하며 번호는 {c}입니다.\n\n",
        "Paragraph {n} says that lighthouse {a} burns {b} hours, kept by {c}.\n\n",
    ],
)
def test_a_paragraph_that_moved_to_the_end_is_found_though_its_last_break_is_another(part: str) -> None:
    parts = [part.format(n=n, a=n * 17, b=n + 3, c=n * 31) for n in range(12)]
    start = sum(map(len, parts[:5]))
    span = Span(start, start + len(parts[5]))
    old = "".join(parts).rstrip("\n") + "\n"
    kept = "".join(parts[:5] + parts[6:]).rstrip("\n")
    new = f"{kept}\n\n{parts[5].rstrip(chr(10))}\n"
    found = relocate(aligned(old, new), span)
    assert isinstance(found, Reformatted | Moved), found
    assert new[found.span.start : found.span.end].strip() == parts[5].strip()


@pytest.mark.parametrize("marks", ["", "\u0301\u0302"])
def test_of_a_part_of_one_endless_word_nobody_says_that_it_is_gone(marks: str) -> None:
    word = "".join(f"{sign}{marks}" for each in range(300) for sign in text_digest(str(each)) if sign.isalpha())
    new = "".join(sign if at % 700 else "q" for at, sign in enumerate(word))
    alignment = aligned(word, new)
    for start in range(0, len(word) - 500, 450):
        assert not isinstance(relocate(alignment, Span(start, start + 500)), Removed)


def test_a_whole_word_that_is_gone_is_gone() -> None:
    old = "Before it. Donaudampfschifffahrtsgesellschaft sailed. Behind it."
    at = old.index("Donau")
    found = relocate(aligned(old, "Before it. Nobody sailed. Behind it."), Span(at, at + 34))
    assert not isinstance(found, OutOfBudget), found

"""Laws of alignments: what the blocks of two texts say, in which order, and within which work."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.alignment import Alignment, aligned, blocks_within
from groundkit.core.alignment_runs import Work, equal_ahead, runs_between
from groundkit.core.relocation_distance import distance, nearest_beginning, nearest_within
from groundkit.core.relocation_tokens import folded, same_words, tokens
from groundkit.testing.strategies import texts

raw = st.one_of(texts(), st.text(st.sampled_from("ab é\u0301\n\r東ガｶﾞ\ud800\x00ﬁ한\u1112\u1161\u11abก่")), st.text())
few = st.lists(st.integers(0, 3), max_size=24)
words = st.lists(st.sampled_from(["one", "two", "three", "four", "five", "six", ".", ",", "東", "京"]), max_size=60)


def _edited(draw: st.DrawFn) -> tuple[str, str]:
    old = draw(words)
    new = list(old)
    for _ in range(draw(st.integers(0, 4))):
        at, to = sorted((draw(st.integers(0, len(new))), draw(st.integers(0, len(new)))))
        new[at:to] = draw(st.lists(st.sampled_from(["one", "nine", "ten"]), max_size=5))
    return draw(st.sampled_from((" ", "\n"))).join(old), draw(st.sampled_from((" ", "\n"))).join(new)


pairs = st.one_of(st.tuples(raw, raw), raw.map(lambda text: (text, text)), st.composite(_edited)())


def _covers(alignment: Alignment, side: int) -> list[tuple[int, int]]:
    only = alignment.only_new if side else alignment.only_old
    return sorted([*only, *((block[2 * side], block[2 * side + 1]) for block in alignment.blocks)])


@given(pairs)
def test_blocks_rise_in_both_texts_and_say_the_same_words(pair: tuple[str, str]) -> None:
    old, new = pair
    alignment = aligned(old, new)
    end = second_end = 0
    for block in alignment.blocks:
        assert end <= block[0] < block[1] <= len(old)
        assert second_end <= block[2] < block[3] <= len(new)
        end, second_end = block[1], block[3]
        one, other = old[block[0] : block[1]], new[block[2] : block[3]]
        assert one == other or same_words(one, other)


@given(pairs)
def test_blocks_and_what_is_only_on_one_side_make_up_each_text(pair: tuple[str, str]) -> None:
    alignment = aligned(*pair)
    for side, text in enumerate(pair):
        at = 0
        for start, end in _covers(alignment, side):
            assert start == at < end
            at = end
        assert at == len(text)


@given(raw)
def test_a_text_is_one_block_of_itself(text: str) -> None:
    alignment = aligned(text, text)
    assert alignment.complete
    assert alignment.blocks == (((0, len(text), 0, len(text)),) if text else ())


@given(pairs)
def test_the_same_two_texts_give_the_same_alignment(pair: tuple[str, str]) -> None:
    assert aligned(*pair) == aligned(*pair)


@given(pairs, st.one_of(st.integers(0, 40), st.integers(0, 4000)))
def test_a_budget_that_runs_out_takes_blocks_away_and_says_so(pair: tuple[str, str], budget: int) -> None:
    short, full = aligned(*pair, budget=budget), aligned(*pair)
    assert full.complete
    assert not short.complete or short.blocks == full.blocks
    for block in short.blocks:
        one, other = pair[0][block[0] : block[1]], pair[1][block[2] : block[3]]
        assert one == other or same_words(one, other)


@given(pairs, st.data())
def test_the_blocks_within_a_span_are_those_that_share_a_code_point_with_it(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    alignment = aligned(*pair)
    start = data.draw(st.integers(0, len(pair[0])))
    end = data.draw(st.integers(start, len(pair[0])))
    shared = [block for block in alignment.blocks if set(range(*block[:2])) & set(range(start, end))]
    assert blocks_within(alignment, start, end) == shared


HOSTILE = {
    "one token over and over": ("a " * 100_000, "a " * 40_000 + "b " + "a " * 40_000 + "c " + "a " * 20_000),
    "one letter over and over": ("a" * 200_000, "a" * 90_000 + "b" + "a" * 90_000),
    "white space": (" \n" * 100_000, "\n " * 100_000),
    "two tokens": (
        "".join("ab"[at * at % 7 % 2] + " " for at in range(50_000)),
        "".join("ba"[at * at % 11 % 2] + " " for at in range(50_000)),
    ),
    "two letters": (
        "".join(f"{chr(97 + at * 7919 % 26)}{chr(97 + at * at % 23)} " for at in range(66_000)),
        "".join(f"{chr(97 + at * 104729 % 26)}{chr(97 + at * at % 19)} " for at in range(66_000)),
    ),
    "reversed": (
        " ".join(str(at * 7919 % 10007) for at in range(20_000)),
        " ".join(str(at * 7919 % 10007) for at in range(20_000))[::-1],
    ),
    "marks": ("\u0301" * 100_000, "x" + "\u0301" * 90_000),
    "nothing": ("", "word " * 40_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_cost_a_number_of_steps_that_grows_with_their_length(name: str) -> None:
    old, new = HOSTILE[name]
    alignment = aligned(old, new, budget=8 * (len(old) + len(new)))
    assert alignment.complete


@given(few, few)
def test_runs_are_equal_stretches_in_order(one: list[int], other: list[int]) -> None:
    runs, done = runs_between(one, other, Work(10_000))
    assert done
    at = place = 0
    for start, second, length in runs:
        assert start >= at and second >= place and length > 0
        assert one[start : start + length] == other[second : second + length]
        at, place = start + length, second + length


@given(few, few, few)
def test_what_both_begin_and_end_with_is_in_the_runs(head: list[int], middle: list[int], tail: list[int]) -> None:
    runs, _ = runs_between([*head, *tail], [*head, *middle, *tail], Work(10_000))
    assert sum(length for _, _, length in runs) == len(head) + len(tail)


@given(raw)
def test_tokens_cover_everything_but_white_space_in_order(text: str) -> None:
    found = tokens(text, 0, len(text))
    at = 0
    for start, end in zip(found.starts, found.ends, strict=True):
        assert text[at:start].strip() == "" and start < end
        at = end
    assert text[at:].strip() == ""


@given(raw, raw)
def test_tokens_of_a_stretch_have_offsets_of_the_whole_text(before: str, text: str) -> None:
    alone, within = tokens(text, 0, len(text)), tokens(before + text, len(before), len(before) + len(text))
    assert within.keys == alone.keys
    assert within.starts == [at + len(before) for at in alone.starts]


@given(st.text(st.sampled_from("東京日本アー々한국어、。"), min_size=1))
def test_each_character_of_chinese_japanese_and_korean_is_a_token(text: str) -> None:
    assert len(tokens(text, 0, len(text)).keys) == len(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("ガ", "カ\u3099"),
        ("ｶﾞｷ", "ガキ"),
        ("Ｆｉｎ", "ﬁn"),
        ("é\nß", "E\u0301 SS"),
    ],
)
def test_forms_of_one_text_are_the_same_words(one: str, other: str) -> None:
    assert same_words(one, other)
    assert len(tokens(one, 0, len(one)).keys) == len(tokens(other, 0, len(other)).keys)


@pytest.mark.parametrize(("one", "other"), [("now here", "nowhere"), ("a b", "a. b"), ("東京", "京東"), ("a", "")])
def test_other_words_are_not_the_same(one: str, other: str) -> None:
    assert not same_words(one, other)


@given(raw)
def test_folding_again_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def _by_table(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, sign in enumerate(one, 1):
        corner, row[0] = row[0], at
        for place, there in enumerate(other, 1):
            corner, row[place] = row[place], min(corner + (sign != there), row[place] + 1, row[place - 1] + 1)
    return row[-1]


letters = st.text(st.sampled_from("abc\ud800"), max_size=14)


@given(letters, letters)
def test_the_distance_is_that_of_the_table(one: str, other: str) -> None:
    assert distance(one, other) == _by_table(one, other)


@given(letters, letters)
def test_no_beginning_is_nearer_than_the_nearest(pattern: str, text: str) -> None:
    size, apart = nearest_beginning(pattern, text)
    assert apart == _by_table(pattern, text[:size]) == min(_by_table(pattern, text[:at]) for at in range(len(text) + 1))


@given(letters, letters, st.integers(0, 14))
def test_no_stretch_is_nearer_than_the_nearest(pattern: str, text: str, most: int) -> None:
    stretches = [text[at:to] for at in range(len(text) + 1) for to in range(at, len(text) + 1)]
    least = min(_by_table(pattern, each) for each in stretches)
    nearest = nearest_within(pattern, text, most)
    assert (nearest is None) == (least > most)
    if nearest is not None:
        start, end, apart = nearest
        assert apart == _by_table(pattern, text[start:end]) == least


@given(few, few, st.data())
def test_what_is_equal_ahead_ends_where_the_first_items_differ(
    one: list[int], other: list[int], data: st.DataObject
) -> None:
    one, other = one * 4, (one * 4)[: data.draw(st.integers(0, 96))] + other
    at, place = data.draw(st.integers(0, len(one))), data.draw(st.integers(0, len(other)))
    most = data.draw(st.integers(0, min(len(one) - at, len(other) - place)))
    pairs = zip(one[at : at + most], other[place : place + most], strict=True)
    expected = next((number for number, (item, there) in enumerate(pairs) if item != there), most)
    assert equal_ahead(one, other, at, place, most) == expected


def _long(chance: Random, count: int) -> list[list[str]]:
    """Paragraphs as lists of words, together longer than what is laid beside each other word by word at once."""
    return [[f"{chance.choice('abcdefgh')}{chance.randrange(4000)}" for _ in range(60)] for _ in range(count)]


def _spaced(chance: Random, paragraphs: list[list[str]], blanks: list[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text with some of these blanks between words, and where each word stands."""
    text, places = "", []
    for paragraph in paragraphs:
        for word in paragraph:
            places.append((len(text), len(text) + len(word)))
            text += word + chance.choice(blanks)
        text = text.rstrip() + "\n\n"
    return text, places


@pytest.mark.parametrize("seed", range(12))
def test_other_white_space_in_a_long_text_leaves_every_word_beside_itself(seed: int) -> None:
    chance = Random(seed)
    paragraphs = _long(chance, 50)
    old, here = _spaced(chance, paragraphs, [" "] * 9 + ["\n"])
    new, there = _spaced(chance, paragraphs, [" ", " ", " \t", "\r\n", "\n  ", "\u3000"])
    beside = {
        at: place
        for block in aligned(old, new).blocks
        for at, place in zip(range(*block[:2]), range(*block[2:]), strict=False)
    }
    assert all(beside.get(one[0]) == other[0] for one, other in zip(here, there, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_letters_that_white_space_parts_otherwise_are_other_words_in_a_long_text_too(seed: int) -> None:
    chance = Random(seed)
    paragraphs = _long(chance, 50)
    old, here = _spaced(chance, paragraphs, [" "])
    joined = chance.randrange(50)
    parted = [["".join(each)] if at == joined else each for at, each in enumerate(paragraphs)]
    new, _ = _spaced(chance, parted, ["\n"])
    covered = {at for block in aligned(old, new).blocks for at in range(*block[:2])}
    assert [at // 60 for at, place in enumerate(here) if place[0] not in covered] == [joined] * 60

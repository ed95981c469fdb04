"""Laws of the word diff."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.core.alignment_runs import Work, runs_between
from groundkit.core.word_diff import Change, DiffPart, word_diff

ANY = st.text(st.characters(exclude_categories=()), max_size=60)
#: Few words and much white space, so that texts have something in common.
PIECES = st.sampled_from(
    [
        "a",
        "an",
        "the",
        "quick",
        "brown",
        "fox",
        ",",
        ".",
        "的",
        "語",
        "한",
        "é",
        "é",
        "́",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "-",
    ]
)
WORDY = st.lists(PIECES, max_size=40).map("".join)
PAIRS = st.one_of(st.tuples(ANY, ANY), st.tuples(WORDY, WORDY))


def joined(parts: tuple[DiffPart, ...], without: Change) -> str:
    return "".join(part.text for part in parts if part.change is not without)


def shown(old: str, new: str) -> str:
    marks = {Change.SAME: "{}", Change.REMOVED: "[-{}-]", Change.ADDED: "{{+{}+}}"}
    return "".join(marks[part.change].format(part.text) for part in word_diff(old, new))


@given(PAIRS)
@example(("a\r\n\r\nb", "a\n\nb"))
@example(("\ud800", "\ud800 \udfff"))
def test_the_parts_make_up_both_texts(pair: tuple[str, str]) -> None:
    old, new = pair
    parts = word_diff(old, new)
    assert joined(parts, Change.ADDED) == old
    assert joined(parts, Change.REMOVED) == new


@given(PAIRS)
def test_no_part_is_empty_and_no_two_neighbours_are_of_one_kind(pair: tuple[str, str]) -> None:
    parts = word_diff(*pair)
    assert all(part.text for part in parts)
    assert all(one.change is not other.change for one, other in pairwise(parts))


@given(PAIRS)
def test_what_is_removed_stands_before_what_takes_its_place(pair: tuple[str, str]) -> None:
    changes = [part.change for part in word_diff(*pair)]
    assert (Change.ADDED, Change.REMOVED) not in set(pairwise(changes))


@given(PAIRS)
def test_the_same_texts_give_the_same_answer(pair: tuple[str, str]) -> None:
    assert word_diff(*pair) == word_diff(*pair)


@given(st.one_of(ANY, WORDY))
def test_equal_texts_are_one_part(text: str) -> None:
    assert word_diff(text, text) == ((DiffPart(Change.SAME, text),) if text else ())


@given(WORDY, WORDY)
def test_a_text_that_only_grew_at_an_end_lost_nothing(text: str, more: str) -> None:
    changes = {part.change for part in word_diff(text + " ", f"{text} {more}")}
    assert Change.REMOVED not in changes


@given(PAIRS)
def test_no_white_space_stands_alone_between_replaced_words(pair: tuple[str, str]) -> None:
    parts = word_diff(*pair)
    for before, part, behind in zip(parts, parts[1:], parts[2:], strict=False):
        if part.change is Change.SAME and not part.text.strip():
            # Only where one of them is white space itself.
            assert not (before.text.strip() and behind.text.strip())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("the quick brown fox", "the slow red fox", "the [-quick brown-]{+slow red+} fox"),
        ("the brown fox", "the quick brown fox", "the {+quick +}brown fox"),
        ("the quick brown fox", "the brown fox", "the [-quick -]brown fox"),
        ("foobar x", "foobaz x", "[-foobar-]{+foobaz+} x"),
        ("one two", "one\ntwo", "one[- -]{+\n+}two"),
        ("one\r\ntwo", "one\ntwo", "one[-\r-]\ntwo"),
        ("one  two", "one two", "one [- -]two"),
        ("Only 12 m high.", "Only 15 m high.", "Only [-12-]{+15+} m high."),
        ("foo, bar ends", "baz, qux ends", "[-foo, bar-]{+baz, qux+} ends"),
        ("alpha of beta is", "gamma of delta is", "[-alpha of beta-]{+gamma of delta+} is"),
        ("alpha beta gamma delta", "alpha gamma delta epsilon", "alpha [-beta -]gamma delta{+ epsilon+}"),
        ("東京は日本の首都である", "京都は日本の古都である", "[-東-]京{+都+}は日本の[-首-]{+古+}都である"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("old", "new", "[-old-]{+new+}"),
        ("Case", "case", "[-Case-]{+case+}"),
        ("a b c", "a, b, c", "a{+,+} b{+,+} c"),
    ],
)
def test_a_person_reads_it_like_this(old: str, new: str, expected: str) -> None:
    assert shown(old, new) == expected


def test_a_long_text_is_compared_by_lines_and_what_lies_between_them_by_words() -> None:
    lines = [f"line {at} says {at * 7919 % 40_009}" for at in range(30_000)]
    old = "\n".join(lines)
    new = "\n".join([*lines[:9_000], "inserted line", *lines[9_000:20_000], "line 20000 says less", *lines[20_001:]])
    changed = [part for part in word_diff(old, new) if part.change is not Change.SAME]
    assert changed == [
        DiffPart(Change.ADDED, "inserted line\n"),
        DiffPart(Change.REMOVED, str(20_000 * 7919 % 40_009)),
        DiffPart(Change.ADDED, "less"),
    ]


def test_a_long_text_without_a_common_line_is_replaced() -> None:
    old = "one " * 100_000
    assert [part.change for part in word_diff(old, f"{old}more")] == [Change.REMOVED, Change.ADDED]


def test_texts_in_which_nothing_stands_once_take_linear_work() -> None:
    one, other = [0, 1] * 60_000, [1, 0, 0] * 40_000
    assert runs_between(one, other, Work(20 * (len(one) + len(other))))[1]
    old, new = (" ".join(map(str, side)) for side in (one, other))
    parts = word_diff(old, new)
    assert (joined(parts, Change.ADDED), joined(parts, Change.REMOVED)) == (old, new)

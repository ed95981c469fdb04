"""Laws of where a text may be cut."""

from unicodedata import category, unidata_version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.boundaries import BOUNDARY_RULES, Boundaries
from groundkit.testing.strategies import CLUSTERS, hostile_texts

_FLAG = "🇩🇪"


@given(st.lists(st.sampled_from([each for each in CLUSTERS if each != "\u1100\u1161\u11a8"]), max_size=40))
def test_a_text_may_be_cut_exactly_between_its_characters(clusters: list[str]) -> None:
    text = "".join(clusters)
    joints, at = {0}, 0
    for each in clusters:
        at += len(each)
        joints.add(at)
    boundaries = Boundaries(text)
    assert {at for at in range(len(text) + 1) if boundaries.may_cut(at)} == joints


@given(hostile_texts())
def test_no_cut_tears_a_character_apart(text: str) -> None:
    boundaries = Boundaries(text)
    for at in range(1, len(text)):
        if boundaries.may_cut(at):
            before, after = text[at - 1], text[at]
            assert before + after != "\r\n"
            assert category(after) not in {"Mn", "Mc", "Me"}
            assert "\u200d" not in (before, after)


@given(st.integers(0, 40), st.sampled_from(["", "a", "\u0301", "日"]))
def test_flags_are_paired_from_the_start_of_their_run(count: int, lead: str) -> None:
    boundaries = Boundaries(lead + "🇩" * count)
    cuts = [at for at in range(count + 1) if boundaries.may_cut(len(lead) + at)]
    assert cuts == sorted({*range(0, count, 2), count})


def _naive_cut(boundaries: Boundaries, low: int, wish: int, limit: int) -> int | None:
    allowed = [at for at in range(low + 1, limit + 1) if boundaries.may_cut(at)]
    return max((at for at in allowed if at <= wish), default=min(allowed, default=None))


@given(st.data(), hostile_texts().filter(lambda text: len(text) > 2))
def test_a_cut_is_the_last_boundary_before_the_wish_or_the_first_behind_it(data: st.DataObject, text: str) -> None:
    low = data.draw(st.integers(0, len(text) - 2))
    limit = data.draw(st.integers(low + 2, len(text)))
    wish = data.draw(st.integers(low + 1, limit))
    boundaries = Boundaries(text)
    expected = _naive_cut(boundaries, low, wish, limit)
    found = boundaries.cut(low, wish, limit)
    if expected is not None:
        assert found == expected
    else:
        assert low < found <= limit
        assert limit - found <= 1
        assert text[found - 1 : found + 1] != "\r\n"


@pytest.mark.parametrize(
    "text", ["\u0301" * 300, "a" + "\u200d" * 300, "\u1100" * 300], ids=["marks", "joiners", "jamo"]
)
def test_a_character_longer_than_the_limit_is_cut_by_force(text: str) -> None:
    assert Boundaries(text).cut(1, 100, 200) == 200


@pytest.mark.parametrize(
    "pair", ["각\u11a8", "\u1100\u1100", "\u1161\u1161", "\u11a8\u11a8", "가\u1161", "\ua960\u1161", "\ud7b0\ud7cb"]
)
def test_a_hangul_syllable_stays_whole(pair: str) -> None:
    assert not Boundaries(pair).may_cut(1)


@pytest.mark.parametrize("pair", ["각가", "\u11a8\u1100", "각\u1161", "\u1161\u1100", "a\u1100", _FLAG[0] + "a"])
def test_neighbours_that_are_two_characters_may_be_parted(pair: str) -> None:
    assert Boundaries(pair).may_cut(1)


def test_not_even_force_parts_a_line_break() -> None:
    assert Boundaries("a" + "\u200d" * 98 + "\r\nb").cut(0, 50, 100) == 99


def test_the_rules_name_their_unicode_version() -> None:
    assert BOUNDARY_RULES.endswith(f"unicode/{unidata_version}")


class _CountedText(str):
    """Counts how many of its characters are looked at."""

    looks = 0

    def __getitem__(self, key):  # type: ignore[no-untyped-def,override]
        type(self).looks += 1
        return super().__getitem__(key)


def test_the_cost_of_a_question_does_not_grow_with_the_run_of_flags() -> None:
    text = _CountedText("🇩" * 200_000)
    boundaries = Boundaries(text)
    _CountedText.looks = 0
    assert not boundaries.may_cut(199_999)
    assert _CountedText.looks <= 4

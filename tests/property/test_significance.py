"""Laws of the paired randomisation test."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.significance import MOST_EXACT, PERMUTATIONS, compared, split_mix

VALUES = st.integers(0, 100).map(lambda each: each / 100)
PAIRS = st.lists(st.tuples(VALUES, VALUES), max_size=40)


def of(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [mine for mine, _ in pairs], [other for _, other in pairs]


@given(PAIRS)
def test_p_is_a_chance_that_is_never_nothing(pairs: list[tuple[float, float]]) -> None:
    found = compared(*of(pairs))
    assert 0 < found.p <= 1
    assert found.wins + found.ties + found.losses == found.pairs == len(pairs)
    assert found.wins == sum(mine > other for mine, other in pairs)
    assert found.losses == sum(mine < other for mine, other in pairs)


@given(PAIRS)
def test_the_other_way_round_it_is_the_same_chance_and_the_opposite_difference(
    pairs: list[tuple[float, float]],
) -> None:
    ours, theirs = of(pairs)
    there, back = compared(ours, theirs), compared(theirs, ours)
    assert (there.p, there.difference) == (back.p, -back.difference)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_decides_nothing(pairs: list[tuple[float, float]], random: object) -> None:
    other = list(pairs)
    random.shuffle(other)  # type: ignore[attr-defined]
    assert compared(*of(pairs)) == compared(*of(other))


@given(PAIRS, st.lists(VALUES, max_size=10))
def test_pairs_that_do_not_differ_change_no_chance(pairs: list[tuple[float, float]], same: list[float]) -> None:
    assert compared(*of([*pairs, *zip(same, same, strict=True)])).p == compared(*of(pairs)).p


@given(st.lists(st.tuples(VALUES, VALUES), max_size=8))
def test_few_pairs_are_counted_out(pairs: list[tuple[float, float]]) -> None:
    steps = [round(100 * mine) - round(100 * other) for mine, other in pairs]
    signed = [sum(map(int.__mul__, steps, signs)) for signs in product((1, -1), repeat=len(steps))]
    found = compared(*of(pairs))
    assert found.exact
    assert found.p == sum(abs(each) >= abs(sum(steps)) for each in signed) / len(signed)


@pytest.mark.parametrize("count", [13, 16, 17, 24, 300])
def test_many_pairs_that_all_point_one_way_are_no_chance(count: int) -> None:
    found = compared([0.5] * count, [0.25] * count)
    assert not found.exact
    assert 1 / (PERMUTATIONS + 1) <= found.p <= 10 / (PERMUTATIONS + 1)


def test_random_signs_come_near_what_counting_out_gives() -> None:
    """Thirteen pairs are drawn for; counted out by hand they are 2^13 assignments."""
    steps = [9, -4, 7, 3, -2, 8, 5, -6, 4, 1, 2, -3, 6]
    assert len(steps) == MOST_EXACT + 1
    signed = [sum(map(int.__mul__, steps, signs)) for signs in product((1, -1), repeat=len(steps))]
    true = sum(abs(each) >= abs(sum(steps)) for each in signed) / len(signed)
    found = compared([each / 100 for each in steps], [0.0] * len(steps))
    assert not found.exact
    # Four standard deviations of the share of 10,000 draws.
    assert found.p == pytest.approx(true, abs=4 * (true * (1 - true) / PERMUTATIONS) ** 0.5)


def test_chances_of_no_difference_are_spread_evenly() -> None:
    """Where there is none, p below 0.05 comes up about as often as that says."""
    below, state = 0, 1
    for _ in range(100):
        ours = []
        for _ in range(20):
            state = (state + 0x9E3779B97F4A7C15) % 2**64
            ours.append(split_mix(state) / 2**64)
        below += compared(ours, [0.5] * 20).p < 0.05
    assert 1 <= below <= 14


def test_the_generator_is_split_mix_64() -> None:
    """The first numbers from seed 1234567, as its authors' code gives them."""
    step = 0x9E3779B97F4A7C15
    found = [split_mix((1234567 + step * nth) % 2**64) for nth in range(1, 4)]
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_another_seed_draws_other_signs() -> None:
    ours = [each / 100 for each in (9, -4, 7, 3, -2, 8, 5, -6, 4, 1, 2, -3, 6)]
    chances = {compared(ours, [0.0] * len(ours), seed).p for seed in range(8)}
    assert len(chances) > 1

"""Laws of merging: each hit in one group, groups that neither touch nor overlap, whatever the order of the hits."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.merging import groups
from groundkit.core.model import Span

spans = st.tuples(st.integers(0, 40), st.integers(1, 8)).map(lambda each: Span(each[0], each[0] + each[1]))
hits = st.lists(st.tuples(st.sampled_from("ab"), spans), max_size=12)


@given(hits)
def test_groups_part_the_hits(found: list[tuple[str, Span]]) -> None:
    made = groups(found)
    assert sorted(number for group in made for number in group) == list(range(len(found)))
    assert all(len({found[number][0] for number in group}) == 1 for group in made)


@given(hits)
def test_groups_are_whole_stretches_that_do_not_touch(found: list[tuple[str, Span]]) -> None:
    stretches = []
    for group in groups(found):
        covered = {place for number in group for place in range(found[number][1].start, found[number][1].end + 1)}
        assert covered == set(range(min(covered), max(covered) + 1))
        stretches.append((found[group[0]][0], min(covered), max(covered)))
    for document in "ab":
        ends = sorted((start, end) for name, start, end in stretches if name == document)
        assert all(before[1] < after[0] for before, after in pairwise(ends))


@given(hits, st.randoms(use_true_random=False))
def test_the_order_of_the_hits_does_not_matter(found: list[tuple[str, Span]], draw: object) -> None:
    shuffled = list(range(len(found)))
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    one = {frozenset(group) for group in groups(found)}
    other = {frozenset(shuffled[number] for number in group) for group in groups([found[each] for each in shuffled])}
    assert one == other

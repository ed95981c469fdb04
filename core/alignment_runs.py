"""Runs that two sequences have in common, in order: unique shingles, then the longest increasing subsequence of their places.

What stands once on each side is taken for the same; that is done for long shingles first and for shorter ones between them, so a
short coincidence never outweighs a long one (patience diff, refined). Short gaps are closed by a longest common subsequence.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

from attrs import define

#: Equal stretches: where it begins in the one, in the other, and how long it is.
Run: TypeAlias = tuple[int, int, int]
#: A gap between runs: `[start, end)` in the one, `[start, end)` in the other.
Gap: TypeAlias = tuple[int, int, int, int]

Item = TypeVar("Item")
Packed: TypeAlias = str | tuple[int, ...]

#: Items compared at once, at most; the last number that a text can hold.
_STRIDE = 1 << 16
_LAST_CODE = 0x10FFFF
#: Lengths of shingles with the longest gap they are looked for in: few tokens prove little in a long text.
_SHINGLES = ((8, 1 << 62), (4, 1 << 62), (2, 4096), (1, 256))
#: Items on each side of a gap that a longest common subsequence may close, and the share of the shorter side it must have.
_SHORT_GAP = 256
_SHARE = 1 / 3


class OutOfWork(Exception):
    """The budget of steps is spent. Caught where the budget was opened."""


@define
class Work:
    """What is left of a budget of steps. A step is roughly one item looked at once."""

    left: int

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutOfWork


def equal_ahead(one: Sequence[Item], other: Sequence[Item], at: int, place: int, most: int) -> int:
    """How many items, at most so many, are the same from two places on: by ever longer slices, then by halves of the last."""
    done, size = 0, 8
    while done < most:
        step = min(size, most - done)
        if one[at + done : at + done + step] == other[place + done : place + done + step]:
            done, size = done + step, min(2 * size, _STRIDE)
            continue
        while step > 1:
            half = step // 2
            if one[at + done : at + done + half] == other[place + done : place + done + half]:
                done, step = done + half, step - half
            else:
                step = half
        break
    return done


def _once(items: Sequence[Hashable]) -> dict[Hashable, int]:
    """Where each item stands that stands there once."""
    last = dict(zip(items, range(len(items)), strict=True))
    if len(last) == len(items):
        return last
    first = dict(zip(reversed(items), reversed(range(len(items))), strict=True))
    return {item: at for item, at in last.items() if first[item] == at}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A longest subsequence of the pairs in which the second rises as the first does."""
    if all(one[1] < other[1] for one, other in pairwise(pairs)):
        return pairs
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        before.append(ends[length - 1] if length else -1)
        if length == len(tops):
            tops.append(place)
            ends.append(at)
        else:
            tops[length], ends[length] = place, at
    chosen = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def anchors(one: Sequence[Hashable], other: Sequence[Hashable], wanted: Callable[[int], bool]) -> list[tuple[int, int]]:
    """Places of items that stand once on each side, as many as keep their order; those that are `wanted` by their first."""
    there = _once(other)
    pairs = [(at, there.get(item, -1)) for item, at in _once(one).items()]
    return _rising([pair for pair in pairs if pair[1] >= 0 and wanted(pair[0])])


def grown(
    one: Sequence[Item], other: Sequence[Item], gap: Gap, found: list[tuple[int, int]], width: int = 1
) -> list[Run]:
    """The runs around anchors: each as long as both sides go on equally, without crossing another."""
    start, end, second_start, second_end = gap
    runs: list[Run] = []
    for number, (at, place) in enumerate(found):
        if at < start or place < second_start:
            continue
        stop, second_stop = end, second_end
        for later, second_later in found[number + 1 : number + 2]:
            if later - at != second_later - place:
                stop, second_stop = max(later, at + width), max(second_later, place + width)
        while at > start and place > second_start and one[at - 1] == other[place - 1]:
            at, place = at - 1, place - 1
        length = equal_ahead(one, other, at, place, min(stop - at, second_stop - place))
        if length:
            runs.append((at, place, length))
            start, second_start = at + length, place + length
    return runs


def gaps(runs: list[Run], whole: Gap) -> list[Gap]:
    """What lies between the runs and has something on both sides."""
    start, end, second_start, second_end = whole
    found = []
    for at, place, length in [*runs, (end, second_end, 0)]:
        if start < at and second_start < place:
            found.append((start, at, second_start, place))
        start, second_start = at + length, place + length
    return found


def runs_between(one: Sequence[int], other: Sequence[int], work: Work) -> tuple[list[Run], bool]:
    """The common runs of two sequences in order, and whether the work sufficed; those found until then are kept."""
    whole = (0, len(one), 0, len(other))
    runs: list[Run] = []
    try:
        work.spend(3 * (len(one) + len(other)))
        first, second = _packed(one, other)
        runs = _ends(first, second)
        for width, longest in _SHINGLES:
            for gap in gaps(runs, whole):
                if gap[1] - gap[0] + gap[3] - gap[2] <= 2 * longest:
                    runs.extend(_between(first, second, width, gap, work))
            runs.sort()
        for gap in gaps(runs, whole):
            runs.extend(_closed(first, second, gap, work))
        runs.sort()
    except OutOfWork:
        return sorted(runs), False
    return runs, True


def _packed(one: Sequence[int], other: Sequence[int]) -> tuple[Packed, Packed]:
    """The numbers as code points of a text, whose slices are cheap; as they are where there are too many for that."""
    if max(max(one, default=0), max(other, default=0)) > _LAST_CODE:
        return tuple(one), tuple(other)
    return "".join(map(chr, one)), "".join(map(chr, other))


def _ends(one: Packed, other: Packed) -> list[Run]:
    """What both begin with and what both end with."""
    shorter = min(len(one), len(other))
    head = equal_ahead(one, other, 0, 0, shorter)
    tail = equal_ahead(one[::-1], other[::-1], 0, 0, shorter - head)
    found = [(0, 0, head), (len(one) - tail, len(other) - tail, tail)]
    return [run for run in found if run[2]]


def _between(one: Packed, other: Packed, width: int, gap: Gap, work: Work) -> list[Run]:
    start, end, second_start, second_end = gap
    work.spend(end - start + second_end - second_start)
    here = [one[at : at + width] for at in range(start, end - width + 1)]
    there = [other[at : at + width] for at in range(second_start, second_end - width + 1)]
    found = [(start + at, second_start + place) for at, place in anchors(here, there, lambda _: True)]
    return grown(one, other, gap, found, width)


def _closed(one: Packed, other: Packed, gap: Gap, work: Work) -> list[Run]:
    """A longest common subsequence of a short gap, where it is more than a coincidence."""
    start, end, second_start, second_end = gap
    size, second_size = end - start, second_end - second_start
    if max(size, second_size) > _SHORT_GAP:
        return []
    work.spend(size + 2 * second_size)
    pairs = _subsequence(one[start:end], other[second_start:second_end])
    if len(pairs) < _SHARE * min(size, second_size):
        return []
    return [(start + at, second_start + place, 1) for at, place in pairs]


def _subsequence(one: Packed, other: Packed) -> list[tuple[int, int]]:
    """Places of a longest common subsequence; a row of the table is one integer (Hyyrö 2004)."""
    places: dict[object, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << at
    mask = (1 << len(one)) - 1
    row, rows = mask, [mask]
    for item in other:
        hit = row & places.get(item, 0)
        row = ((row + hit) | (row - hit)) & mask
        rows.append(row)
    pairs = []
    at, place = len(one) - 1, len(other)
    # A zero bit says that the length grows there. Going back, an item pairs where it grew in this row and not before.
    while at >= 0 and place > 0:
        if rows[place] >> at & 1:
            at -= 1
        elif rows[place - 1] >> at & 1:
            pairs.append((at, place - 1))
            at, place = at - 1, place - 1
        else:
            place -= 1
    return pairs[::-1]

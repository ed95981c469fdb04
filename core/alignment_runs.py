"""Runs that two sequences have in common, in order: unique shingles, then the longest increasing subsequence of their places.

What stands once on each side is taken for the same; that is done for long shingles first and for shorter ones between them, so a
short coincidence never outweighs a long one (patience diff, refined). Short gaps are closed by a longest common subsequence.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import define

#: Equal stretches: where it begins in the one, in the other, and how long it is.
Run: TypeAlias = tuple[int, int, int]
#: A gap between runs: `[start, end)` in the one, `[start, end)` in the other.
Gap: TypeAlias = tuple[int, int, int, int]

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


def shingles(one: Sequence[int], other: Sequence[int]) -> dict[int, tuple[Sequence[int], Sequence[int]]]:
    """For each length of shingle, a number for the shingle at each place; equal shingles have equal numbers."""
    levels: dict[int, tuple[Sequence[int], Sequence[int]]] = {1: (one, other)}
    for width in (1, 2, 4):
        ids: dict[tuple[int, int], int] = {}
        first, second = (
            [ids.setdefault(pair, len(ids)) for pair in zip(side, side[width:], strict=False)] for side in levels[width]
        )
        levels[2 * width] = (first, second)
    return levels


def _once(items: Sequence[int], start: int, end: int) -> dict[int, int]:
    """Where each item stands, −1 for those that stand there more than once."""
    places: dict[int, int] = {}
    for at in range(start, end):
        item = items[at]
        places[item] = -1 if item in places else at
    return places


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A longest subsequence of the pairs in which the second rises as the first does."""
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


def anchors(one: Sequence[int], other: Sequence[int], gap: Gap, wanted: Callable[[int], bool]) -> list[tuple[int, int]]:
    """Places of items that are `wanted` and stand once on each side of the gap, as many as keep their order."""
    start, end, second_start, second_end = gap
    there = _once(other, second_start, second_end)
    here = _once(one, start, end)
    pairs = [(at, there.get(item, -1)) for item, at in here.items() if at >= 0 and wanted(item)]
    return _rising([pair for pair in pairs if pair[1] >= 0])


def grown(
    one: Sequence[int], other: Sequence[int], gap: Gap, found: list[tuple[int, int]], width: int = 1
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
        to, second_to = at, place
        while to < stop and second_to < second_stop and one[to] == other[second_to]:
            to, second_to = to + 1, second_to + 1
        if to > at:
            runs.append((at, place, to - at))
            start, second_start = to, second_to
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
        levels = shingles(one, other)
        runs = _ends(one, other)
        for width, longest in _SHINGLES:
            for gap in gaps(runs, whole):
                if gap[1] - gap[0] + gap[3] - gap[2] <= 2 * longest:
                    runs.extend(_between(levels, width, gap, work))
            runs.sort()
        for gap in gaps(runs, whole):
            runs.extend(_closed(one, other, gap, work))
        runs.sort()
    except OutOfWork:
        return sorted(runs), False
    return runs, True


def _ends(one: Sequence[int], other: Sequence[int]) -> list[Run]:
    """What both begin with and what both end with."""
    shorter = min(len(one), len(other))
    head = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    rest = shorter - head
    tail = next((back for back in range(rest) if one[-1 - back] != other[-1 - back]), rest)
    found = [(0, 0, head), (len(one) - tail, len(other) - tail, tail)]
    return [run for run in found if run[2]]


def _between(levels: dict[int, tuple[Sequence[int], Sequence[int]]], width: int, gap: Gap, work: Work) -> list[Run]:
    start, end, second_start, second_end = gap
    work.spend(end - start + second_end - second_start)
    if min(end - start, second_end - second_start) < width:
        return []
    inner = (start, end - width + 1, second_start, second_end - width + 1)
    found = anchors(*levels[width], inner, lambda _: True)
    return grown(*levels[1], gap, found, width)


def _closed(one: Sequence[int], other: Sequence[int], gap: Gap, work: Work) -> list[Run]:
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


def _subsequence(one: Sequence[int], other: Sequence[int]) -> list[tuple[int, int]]:
    """Places of a longest common subsequence; a row of the table is one integer (Hyyrö 2004)."""
    places: dict[int, int] = {}
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

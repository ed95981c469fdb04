"""Two versions of a text laid beside each other: which stretches of the one stand in the other, in order.

One alignment serves every span of the old text. White space, case and compatibility forms make no difference to what is the same.
Linear-logarithmic in the lengths; bounded by a budget of steps, never by a clock.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TypeAlias

from attrs import field, frozen

from groundkit.core.alignment_paragraphs import paired, respaced
from groundkit.core.alignment_runs import OutOfWork, Run, Work, anchors, equal_ahead, grown, runs_between
from groundkit.core.alignment_slides import settled
from groundkit.core.model import Span
from groundkit.core.relocation_tokens import Tokens, tokens

#: Steps that one alignment may take: about 4 for each code point of text that has no line in common, far fewer else.
ALIGNMENT_STEPS = 32_000_000

#: Lines with fewer code points are too common to be anchors.
_LONG_LINE = 32
#: Code points compared at once at the ends of two texts, and how far back a word's beginning is looked for.
_STRIDE = 1 << 16
_WORD = 256

#: Stretches that are the same: `[start, end)` of the old text, `[start, end)` of the new.
Block: TypeAlias = tuple[int, int, int, int]
#: Two neighbouring tokens, and where they stand.
Seeds: TypeAlias = dict[tuple[str, str], list[int]]


@frozen
class Alignment:
    """The common stretches of two texts, in the order of both, and what is new on each side.

    `complete` is false where the budget ran out: what the blocks say still holds, and what they do not say is unknown.
    """

    old: str = field(repr=False)
    new: str = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    complete: bool
    #: `[start, end)` of stretches of the new text that no block covers, and of the old text.
    only_new: tuple[tuple[int, int], ...] = field(repr=False)
    only_old: tuple[tuple[int, int], ...] = field(repr=False)
    #: Places of pairs of tokens in these stretches: where an edited passage may have gone to, or come from.
    new_seeds: Seeds = field(repr=False, eq=False)
    old_seeds: Seeds = field(repr=False, eq=False)


def aligned(old: str, new: str, budget: int = ALIGNMENT_STEPS) -> Alignment:
    """Lay two versions of a text beside each other. Total for any two texts; the same two always give the same."""
    return aligned_within(old, new, Work(budget))


def aligned_within(old: str, new: str, work: Work) -> Alignment:
    """The alignment of two texts, taken from a budget that is opened already."""
    head, tail = _common_ends(old, new)
    whole = (head, len(old) - tail, head, len(new) - tail)
    lines, done = _lines(old, new, whole, work)
    blocks: list[Block] = [*lines, (0, head, 0, head), (whole[1], len(old), whole[3], len(new))]
    for gap in _between(lines, whole):
        found, enough = _gap(old, new, gap, work)
        blocks.extend(found)
        done = done and enough
    blocks, enough = settled(old, new, sorted(block for block in blocks if block[0] < block[1]), work)
    done = done and enough
    only_old = _uncovered([(block[0], block[1]) for block in blocks], len(old))
    only_new = _uncovered([(block[2], block[3]) for block in blocks], len(new))
    seeds: list[Seeds] = []
    for text, uncovered in ((new, only_new), (old, only_old)):
        # Nothing can have moved where one side lost nothing, or the other won nothing.
        found_seeds, enough = _seeds(text, uncovered if only_old and only_new else (), work)
        seeds.append(found_seeds)
        done = done and enough
    return Alignment(old, new, tuple(blocks), done, only_new, only_old, *seeds)


def blocks_within(alignment: Alignment, start: int, end: int) -> list[Block]:
    """The blocks that share code points with `[start, end)` of the old text."""
    first = bisect_right(alignment.blocks, start, key=lambda block: block[1])
    last = bisect_right(alignment.blocks, end - 1, key=lambda block: block[0])
    return list(alignment.blocks[first:last]) if start < end else []


def shifts_around(alignment: Alignment, span: Span) -> tuple[int, int]:
    """How far the nearest aligned code points before a span of the old text and behind it have moved."""
    blocks = alignment.blocks
    before = bisect_left(blocks, span.start, key=lambda block: block[1])
    behind = bisect_left(blocks, span.end, key=lambda block: block[0])
    # The one that holds the beginning, or ends there, or ends before it.
    before -= not (before < len(blocks) and blocks[before][0] < span.start)
    first = blocks[before][3] - blocks[before][1] if before >= 0 else 0
    last = blocks[behind][2] - blocks[behind][0] if behind < len(blocks) else len(alignment.new) - len(alignment.old)
    return first, last


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """How many code points both texts begin with, back to a white space, and end with, on to a white space."""
    if old == new:
        return len(old), 0
    shorter = min(len(old), len(new))
    head = _equal(shorter, lambda start, end: old[start:end] == new[start:end])
    rest = shorter - head
    tail = _equal(
        rest, lambda start, end: old[len(old) - end : len(old) - start] == new[len(new) - end : len(new) - start]
    )
    head = next((at for at in range(head, max(head - _WORD, 0), -1) if old[at - 1].isspace()), head)
    ahead = next((at for at in range(tail, max(tail - _WORD, 0), -1) if old[len(old) - at].isspace()), tail)
    return head, ahead


def _equal(most: int, same: Callable[[int, int], bool]) -> int:
    """The largest size up to which two texts are the same, by halving the stretch in which they first differ."""
    low = 0
    while low < most and same(low, min(low + _STRIDE, most)):
        low = min(low + _STRIDE, most)
    high = min(low + _STRIDE, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(low, middle) else (low, middle - 1)
    return low


def _lines(old: str, new: str, whole: Block, work: Work) -> tuple[list[Block], bool]:
    """Lines that stand once on each side, and the equal ones around them: most of a text, and cheap."""
    ids: dict[str, int] = {}
    sides: list[list[int]] = []
    edges: list[list[int]] = []
    try:
        work.spend((whole[1] - whole[0] + whole[3] - whole[2]) // 16 + 2)
    except OutOfWork:
        return [], False
    for text, start, end in ((old, whole[0], whole[1]), (new, whole[2], whole[3])):
        parts = text[start:end].split("\n")
        sides.append([ids.setdefault(part, len(ids)) for part in parts])
        places = [start]
        for part in parts:
            places.append(places[-1] + len(part) + 1)
        edges.append(places)
    long = [len(line.strip()) >= _LONG_LINE for line in ids]
    gap = (0, len(sides[0]), 0, len(sides[1]))
    runs = grown(sides[0], sides[1], gap, anchors(sides[0], sides[1], lambda at: long[sides[0][at]]))
    return [_line_block(edges, run, whole) for run in runs], True


def _line_block(edges: list[list[int]], run: Run, whole: Block) -> Block:
    """The code points of a run of lines. The last line of a side has no break of its own."""
    at, place, count = run
    start, second = edges[0][at], edges[1][place]
    end, second_end = edges[0][at + count], edges[1][place + count]
    over = max(end - whole[1], second_end - whole[3], 0)
    return start, end - over, second, second_end - over


def _between(blocks: list[Block], whole: Block) -> list[Block]:
    start, second = whole[0], whole[2]
    found = []
    for block in [*blocks, (whole[1], whole[1], whole[3], whole[3])]:
        if start < block[0] and second < block[2]:
            found.append((start, block[0], second, block[2]))
        start, second = block[1], block[3]
    return found


def _gap(old: str, new: str, gap: Block, work: Work) -> tuple[list[Block], bool]:
    """The common stretches of a gap: by paragraphs that were wrapped anew, then by words."""
    blocks: list[Block] = []
    done = True
    try:
        pairs = paired(old, new, gap, work)
        rest = _between(pairs, gap)
        for pair in pairs:
            found = respaced(old, new, pair, work)
            blocks.extend(found or ())
            rest.extend([pair] if found is None else [])
    except OutOfWork:
        return blocks, False
    for each in rest:
        found, enough = _words(old, new, each, work)
        blocks.extend(found)
        done = done and enough
    return blocks, done


def _words(old: str, new: str, gap: Block, work: Work) -> tuple[list[Block], bool]:
    """The common stretches of a gap, by its tokens."""
    try:
        work.spend(gap[1] - gap[0] + gap[3] - gap[2])
    except OutOfWork:
        return [], False
    here, there = tokens(old, gap[0], gap[1]), tokens(new, gap[2], gap[3])
    ids: dict[str, int] = {}
    one, other = ([ids.setdefault(key, len(ids)) for key in side.keys] for side in (here, there))
    runs, done = runs_between(one, other, work)
    return [block for run in runs for block in _blocks(old, new, here, there, run)], done


def _blocks(old: str, new: str, here: Tokens, there: Tokens, run: Run) -> list[Block]:
    """A run of tokens as stretches that are letter for letter the same, as far as they are; else token by token."""
    at, place, count = run
    whole = (here.starts[at], here.ends[at + count - 1], there.starts[place], there.ends[place + count - 1])
    if old[whole[0] : whole[1]] == new[whole[2] : whole[3]]:
        return [whole]
    found: list[Block] = []
    stop = at + count
    while at < stop:
        more = _straight(old, new, here, there, at, place, stop - at)
        found.append((here.starts[at], here.ends[at + more], there.starts[place], there.ends[place + more]))
        at, place = at + more + 1, place + more + 1
    return found


def _straight(old: str, new: str, here: Tokens, there: Tokens, at: int, place: int, count: int) -> int:
    """How many tokens of a run behind its first are, with what parts them, letter for letter the same on both sides."""
    end, second_end = here.ends[at], there.ends[place]
    if end - here.starts[at] != second_end - there.starts[place]:
        return 0
    most = min(here.ends[at + count - 1] - end, there.ends[place + count - 1] - second_end)
    same = equal_ahead(old, new, end - 1, second_end - 1, most + 1) - 1
    last = bisect_right(here.ends, end + same, at + 1, at + count) - at - 1
    # The same letters make the same tokens, but for the last: it may go on.
    while last > 0 and here.ends[at + last] - end != there.ends[place + last] - second_end:
        last -= 1
    return max(last, 0)


def _uncovered(covered: list[tuple[int, int]], length: int) -> tuple[tuple[int, int], ...]:
    at = 0
    found = []
    for start, end in [*covered, (length, length)]:
        if at < start:
            found.append((at, start))
        at = end
    return tuple(found)


def _seeds(text: str, stretches: tuple[tuple[int, int], ...], work: Work) -> tuple[Seeds, bool]:
    """Where each pair of neighbouring tokens stands in the stretches."""
    found: Seeds = {}
    try:
        for start, end in stretches:
            work.spend(end - start)
            if text[start:end].isspace():
                continue
            part = tokens(text, start, end)
            for pair, at in zip(zip(part.keys, part.keys[1:], strict=False), part.starts, strict=False):
                places = found.get(pair)
                if places is None:
                    found[pair] = [at]
                else:
                    places.append(at)
    except OutOfWork:
        return found, False
    return found, True

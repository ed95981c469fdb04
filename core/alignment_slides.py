"""Where an insertion or deletion lies, when the letters leave it open: between `a b` and `a b a b` anything may be the new part.

A person takes whole paragraphs, lines and sentences out and puts them in, so of all the places the one at the strongest breaks is
taken.
"""

from typing import TypeAlias

from groundkit.core.alignment_runs import OutOfWork, Work

Block: TypeAlias = tuple[int, int, int, int]

#: So far an insertion or deletion is moved either way.
_REACH = 4096
_SENTENCE_ENDS = ".!?…。！？:;"


def settled(old: str, new: str, blocks: list[Block], work: Work) -> tuple[list[Block], bool]:
    """The blocks, grown over the white space between them, joined where nothing parts them, and parted at the best places.

    Says whether the work sufficed; where it does not, they are parted where they were.
    """
    made: list[Block] = []
    done = True
    for block in blocks:
        if not made:
            made.append(block)
            continue
        earlier, later = _spread(old, new, made[-1], block)
        try:
            earlier, later = _slid(old, new, earlier, later, work)
        except OutOfWork:
            done = False
        if later[0] == earlier[1] and later[2] == earlier[3] and _straight(earlier) and _straight(later):
            made[-1] = (earlier[0], later[1], earlier[2], later[3])
            continue
        made[-1:] = [part for part in (earlier, later) if part[0] < part[1]]
    return made, done


def _straight(block: Block) -> bool:
    return block[1] - block[0] == block[3] - block[2]


def _spread(old: str, new: str, earlier: Block, later: Block) -> tuple[Block, Block]:
    """Both blocks, with the equal white space at the ends of the gap between them."""
    start, end, second, second_end = earlier[1], later[0], earlier[3], later[2]
    while start < end and second < second_end and old[start] == new[second] and old[start].isspace():
        start, second = start + 1, second + 1
    while start < end and second < second_end and old[end - 1] == new[second_end - 1] and old[end - 1].isspace():
        end, second_end = end - 1, second_end - 1
    return (earlier[0], start, earlier[2], second), (end, later[1], second_end, later[3])


def _slid(old: str, new: str, earlier: Block, later: Block, work: Work) -> tuple[Block, Block]:
    """Both blocks, parted at the best of the places where the same letters may be left out or put in."""
    gap, second_gap = later[0] - earlier[1], later[2] - earlier[3]
    if (gap == 0) == (second_gap == 0):
        return earlier, later
    text, start, end = (old, earlier[1], later[0]) if gap else (new, earlier[3], later[2])
    back = _alike(old, new, earlier, -1)
    ahead = _alike(old, new, later, 1)
    by = _best_shift(text, start, end, back, ahead, work)
    return (
        (earlier[0], earlier[1] + by, earlier[2], earlier[3] + by),
        (later[0] + by, later[1], later[2] + by, later[3]),
    )


def _alike(old: str, new: str, block: Block, side: int) -> int:
    """How many code points at the beginning (1) or end (−1) of a block may be taken from it: none if they differ in case."""
    size = min(block[1] - block[0], block[3] - block[2], _REACH)
    if side > 0:
        same = old[block[0] : block[0] + size] == new[block[2] : block[2] + size]
    else:
        same = old[block[1] - size : block[1]] == new[block[3] - size : block[3]]
    return size if same else 0


def _best_shift(text: str, start: int, end: int, back: int, ahead: int, work: Work) -> int:
    low = next((by for by in range(back) if text[start - 1 - by] != text[end - 1 - by]), back)
    high = next((by for by in range(ahead) if text[start + by] != text[end + by]), ahead)
    work.spend(4 * (low + high))
    if low == high == 0:
        return 0
    return max(range(-low, high + 1), key=lambda by: (_break(text, start + by) + _break(text, end + by), -abs(by), by))


def _break(text: str, at: int) -> int:
    """How strong a break stands before an offset: paragraph, line, sentence, word, none."""
    before, last = text[max(0, at - 2) : at], text[at - 1 : at] if at else ""
    if at == 0 or at == len(text) or before == "\n\n" or (last == "\n" and before[0] in "\r\n"):
        return 8
    if last == "\n":
        return 5
    if last.isspace():
        return 3 if before[0] in _SENTENCE_ENDS else 1
    return 2 if last in "。！？" else 0

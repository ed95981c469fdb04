"""Paragraphs that differ in their white space alone: a text that was wrapped anew, or whose line breaks are of another kind.

They are most of such a text, and laying them beside each other word by word would cost ten times as much.
"""

import re
from itertools import pairwise
from typing import TypeAlias

from groundkit.core.alignment_runs import Work, anchors, equal_ahead, grown

Block: TypeAlias = tuple[int, int, int, int]

#: Shorter gaps are laid beside each other by their words at once.
_LARGE = 8192
#: Paragraphs with fewer code points are too common to be anchors.
_LONG = 32
_BREAK = re.compile(r"\n\s*\n")
_BLANKS = re.compile(r"\s*")


def paired(old: str, new: str, gap: Block, work: Work) -> list[Block]:
    """Paragraphs of a gap with the same letters in the same order, and the equal ones around them."""
    if min(gap[1] - gap[0], gap[3] - gap[2]) < _LARGE:
        return []
    work.spend((gap[1] - gap[0] + gap[3] - gap[2]) // 8)
    ids: dict[str, int] = {}
    sides: list[list[int]] = []
    places: list[list[tuple[int, int]]] = []
    for text, start, end in ((old, *gap[:2]), (new, *gap[2:])):
        found = _paragraphs(text, start, end)
        keys = ("".join(text[each[0] : each[1]].split()) for each in found)
        sides.append([ids.setdefault(key, len(ids)) for key in keys])
        places.append(found)
    long = [len(key) >= _LONG for key in ids]
    one, other = sides
    runs = grown(one, other, (0, len(one), 0, len(other)), anchors(one, other, lambda at: long[one[at]]))
    return [(*places[0][at + step], *places[1][place + step]) for at, place, length in runs for step in range(length)]


def _paragraphs(text: str, start: int, end: int) -> list[tuple[int, int]]:
    breaks = [match.span() for match in _BREAK.finditer(text, start, end)]
    edges = [(start, start), *breaks, (end, end)]
    return [(one[1], other[0]) for one, other in pairwise(edges) if one[1] < other[0]]


def respaced(old: str, new: str, pair: Block, work: Work) -> list[Block] | None:
    """The equal stretches of two paragraphs with the same words, None where white space parts their letters otherwise."""
    start, end, second, second_end = pair
    work.spend((end - start + second_end - second) // 8)
    if old[start:end] == new[second:second_end]:
        return [pair]
    if old[start:end].split() != new[second:second_end].split():
        return None
    found: list[Block] = []
    while True:
        start, second = _word(old, start, end), _word(new, second, second_end)
        if start == end:
            return found
        work.spend(4)
        same = equal_ahead(old, new, start, second, min(end - start, second_end - second))
        same = len(old[start : start + same].rstrip())
        found.append((start, start + same, second, second + same))
        start, second = start + same, second + same


def _word(text: str, start: int, end: int) -> int:
    """Where the next word begins."""
    match = _BLANKS.match(text, start, end)
    return match.end() if match else start

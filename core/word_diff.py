"""Two versions of a passage, word by word, for a person to read."""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

if TYPE_CHECKING:
    from groundkit.core.alignment_runs import Work

#: Steps that one comparison may take: all that passages of some megabytes need. What they do not reach counts as replaced.
_STEPS = 16_000_000
#: Code points up to which texts are compared by words at once. Longer ones are by lines, then by words what lies between.
_BY_WORDS = 1 << 17
#: Code points up to which a word alone among replaced ones is replaced with them.
_ISLAND = 3

#: What is the same letter for letter: `[start, end)` of the old text, `[start, end)` of the new.
_Block: TypeAlias = tuple[int, int, int, int]
#: Where the units of `text[start:end]` stand.
_Units: TypeAlias = Callable[[str, int, int], list[tuple[int, int]]]


class Change(StrEnum):
    """What became of a stretch."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@frozen
class DiffPart:
    """A stretch of the old text, of the new one, or of both."""

    change: Change
    text: str


def word_diff(old: str, new: str) -> tuple[DiffPart, ...]:
    """What is the same, removed and added, in order: what is removed before what takes its place.

    The parts that are not `ADDED` make up the old text, those that are not `REMOVED` the new one; none is empty, and no two
    neighbours are of one kind. Words are never cut; white space is compared as it is. Linear-logarithmic in the lengths; of
    megabytes without a line in common it is not looked for words that are.
    """
    if old == new:
        return (DiffPart(Change.SAME, old),) if old else ()
    return tuple(_parts(old, new, _without_islands(old, new, _joined(old, new, _equal_words(old, new)))))


def _equal_words(old: str, new: str) -> list[_Block]:
    """What both texts have in the order of both: words, and of texts that are long the whole lines before them."""
    # A search loads this module and compares nothing.
    from groundkit.core.alignment_runs import Work

    whole, work = (0, len(old), 0, len(new)), Work(_STEPS)
    if _is_near(whole):
        return _equal_units(old, new, whole, _words, work)
    lines = _equal_units(old, new, whole, _lines, work)
    near = [gap for gap in _between(lines, whole) if _is_near(gap)]
    return sorted(lines + [block for gap in near for block in _equal_units(old, new, gap, _words, work)])


def _is_near(gap: _Block) -> bool:
    return max(gap[1] - gap[0], gap[3] - gap[2]) <= _BY_WORDS


def _between(blocks: list[_Block], whole: _Block) -> list[_Block]:
    """What lies between the blocks and has something on both sides."""
    edges = [(0, 0, 0, 0), *blocks, (whole[1], whole[1], whole[3], whole[3])]
    found = [(one[1], other[0], one[3], other[2]) for one, other in pairwise(edges)]
    return [gap for gap in found if gap[0] < gap[1] and gap[2] < gap[3]]


def _equal_units(old: str, new: str, gap: _Block, units: _Units, work: "Work") -> list[_Block]:
    from groundkit.core.alignment_runs import runs_between

    here, there = units(old, gap[0], gap[1]), units(new, gap[2], gap[3])
    ids: dict[str, int] = {}
    one, other = (
        [ids.setdefault(text[start:end], len(ids)) for start, end in side] for text, side in ((old, here), (new, there))
    )
    runs, _ = runs_between(one, other, work)
    return [
        block
        for at, place, length in runs
        for block in _blocks(old, new, here[at : at + length], there[place : place + length])
    ]


def _blocks(old: str, new: str, here: list[tuple[int, int]], there: list[tuple[int, int]]) -> list[_Block]:
    """A run of units as one block, where the white space in it is the same as well, or each for itself."""
    start, end, second, second_end = here[0][0], here[-1][1], there[0][0], there[-1][1]
    if old[start:end] == new[second:second_end]:
        return [(start, end, second, second_end)]
    return [(*one, *other) for one, other in zip(here, there, strict=True)]


def _words(text: str, start: int, end: int) -> list[tuple[int, int]]:
    from groundkit.core.relocation_tokens import tokens

    found = tokens(text, start, end)
    return list(zip(found.starts, found.ends, strict=True))


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines from their first sign on; those without any are white space between others."""
    return [line.span() for line in re.compile(r"\S[^\n]*").finditer(text, start, end)]


def _joined(old: str, new: str, words: list[_Block]) -> list[_Block]:
    """The blocks of the words with the white space around them that is the same, too."""
    blocks: list[_Block] = [(0, 0, 0, 0)]
    for start, end, second, second_end in [*words, (len(old), len(old), len(new), len(new))]:
        before, second_before = blocks[-1][1], blocks[-1][3]
        head = _blanks_after(old, before, start, new, second_before, second)
        before, second_before = before + head, second_before + head
        if (before, second_before) == (start, second):
            blocks[-1] = (blocks[-1][0], end, blocks[-1][2], second_end)
            continue
        blocks[-1] = (blocks[-1][0], before, blocks[-1][2], second_before)
        tail = _blanks_before(old, before, start, new, second_before, second)
        blocks.append((start - tail, end, second - tail, second_end))
    return blocks


def _blanks_after(old: str, at: int, end: int, new: str, place: int, second_end: int) -> int:
    most = min(end - at, second_end - place)
    return next((n for n in range(most) if old[at + n] != new[place + n] or not old[at + n].isspace()), most)


def _blanks_before(old: str, start: int, at: int, new: str, second_start: int, place: int) -> int:
    most = min(at - start, place - second_start)
    return next(
        (n for n in range(most) if old[at - 1 - n] != new[place - 1 - n] or not old[at - 1 - n].isspace()), most
    )


def _without_islands(old: str, new: str, blocks: list[_Block]) -> list[_Block]:
    """The blocks without the short ones on both sides of which words are replaced: nobody reads a text that alternates."""
    kept = blocks[:1]
    for at, block in enumerate(blocks[1:-1], start=1):
        island = _is_short(old[block[0] : block[1]])
        if not (island and _replaces(old, new, kept[-1], block) and _replaces(old, new, block, blocks[at + 1])):
            kept.append(block)
    return kept + blocks[1:][-1:]


def _is_short(text: str) -> bool:
    words = text.split()
    signs = sum(map(str.isalnum, text))
    # Signs without a letter say little however many there are; several words do say something.
    return not signs or (len(words) == 1 and len(words[0]) <= _ISLAND and (signs == 1 or text.isascii()))


def _replaces(old: str, new: str, block: _Block, following: _Block) -> bool:
    """Whether between two blocks something else than white space stands on both sides."""
    removed, added = old[block[1] : following[0]], new[block[3] : following[2]]
    return bool(removed and added and not removed.isspace() and not added.isspace())


def _parts(old: str, new: str, blocks: list[_Block]) -> Iterator[DiffPart]:
    at = place = 0
    for start, end, second, second_end in [*blocks, (len(old), len(old), len(new), len(new))]:
        stretches = (
            (Change.REMOVED, old[at:start]),
            (Change.ADDED, new[place:second]),
            (Change.SAME, old[start:end]),
        )
        yield from (DiffPart(change, text) for change, text in stretches if text)
        at, place = end, second_end

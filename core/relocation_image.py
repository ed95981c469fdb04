"""Where a passage lies in the new text by what stands around and within it: its image under an alignment."""

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise

from attrs import evolve, frozen

from groundkit.core.alignment import Alignment, Block, blocks_within
from groundkit.core.alignment_runs import Work
from groundkit.core.model import Span
from groundkit.core.relocation_distance import cost, distance, nearest_beginning
from groundkit.core.relocation_tokens import folded

#: Texts of gaps up to so many code points are compared letter by letter; longer ones count as different throughout.
_COMPARED = 2048
#: An edited word counts as kept, as far as it is, from this likeness on.
_NEAR = 0.6
_BLANK = re.compile(r"\s")


@frozen
class Image:
    """A stretch of the new text, and how much of the passage it holds. Counts are code points that are not white space."""

    span: Span
    size: int
    kept: int
    distance: int
    #: Differences of offsets at which the larger part of the passage stands.
    shift: int | None

    def similarity(self, new: str) -> float:
        """1 − distance / the longer of passage and image, from 0 to 1."""
        longest = max(self.size, _visible(new[self.span.start : self.span.end]))
        return max(0.0, 1 - self.distance / longest) if longest else 0.0


def longest_image(length: int) -> int:
    """How long the image of a passage may be."""
    return (16 * length) // 10 + 20


def image_of(alignment: Alignment, span: Span, work: Work) -> Image | None:
    """The image of a span of the old text, None where nothing of it is aligned. Linear in the span."""
    work.spend(span.length // 16 + 1)
    pieces = [_clipped(alignment, block, span) for block in blocks_within(alignment, span.start, span.end)]
    work.spend(8 * len(pieces))
    pieces = _compact(pieces, longest_image(span.length))
    if not pieces:
        return None
    old, new = alignment.old, alignment.new
    weights = [_visible(old[piece[0] : piece[1]]) for piece in pieces]
    heaviest = max(range(len(pieces)), key=lambda at: (weights[at], -at))
    size = _visible(old[span.start : span.end])
    shift = pieces[heaviest][2] - pieces[heaviest][0] if 2 * weights[heaviest] >= size else None
    image = Image(Span(pieces[0][2], pieces[-1][3]), size, sum(weights), 0, shift)
    for earlier, later in pairwise(pieces):
        image = _with_gap(image, old[earlier[1] : later[0]], new[earlier[3] : later[2]], work)
    return _with_ends(alignment, span, pieces, image, work)


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


def _clipped(alignment: Alignment, block: Block, span: Span) -> Block:
    """The part of a block that lies in the span. A token of another length on both sides is cut where as much of its folded form
    lies before the cut."""
    start, end = max(block[0], span.start), min(block[1], span.end)
    if block[1] - block[0] == block[3] - block[2]:
        return start, end, block[2] + start - block[0], block[2] + end - block[0]
    place, place_end = (_cut(alignment, block, at) for at in (start, end))
    return start, end, place, max(place, place_end)


def _cut(alignment: Alignment, block: Block, at: int) -> int:
    """The offset in the new text's token that an offset in the old one's is nearest to."""
    if at in (block[0], block[1]):
        return block[2] if at == block[0] else block[3]
    held = len(folded(alignment.old[block[0] : at]))
    there = range(block[3] - block[2])
    return (
        block[2]
        + bisect_right(there, held, key=lambda size: len(folded(alignment.new[block[2] : block[2] + size])))
        - 1
    )


def _compact(pieces: list[Block], longest: int) -> list[Block]:
    """The neighbouring pieces that together are no longer than the limit in the new text, and most of the passage."""
    if not pieces or pieces[-1][3] - pieces[0][2] <= longest:
        return pieces
    best, best_range, weight, first = 0, (0, 0), 0, 0
    for at, piece in enumerate(pieces):
        weight += piece[1] - piece[0]
        while first <= at and piece[3] - pieces[first][2] > longest:
            weight -= pieces[first][1] - pieces[first][0]
            first += 1
        if weight > best:
            best, best_range = weight, (first, at + 1)
    return pieces[best_range[0] : best_range[1]]


def _with_gap(image: Image, one: str, other: str, work: Work) -> Image:
    """The image, with what was put between two of its pieces in place of what stood there."""
    work.spend((len(one) + len(other)) // 16)
    one, other = ("".join(folded(side).split()) for side in (one, other))
    longest = max(len(one), len(other))
    if longest > _COMPARED or not (one and other):
        return evolve(image, distance=image.distance + longest)
    work.spend(cost(len(one), len(other)))
    apart = distance(one, other)
    near = longest - apart >= _NEAR * longest
    return evolve(image, distance=image.distance + apart, kept=image.kept + (max(0, len(one) - apart) if near else 0))


def _with_ends(alignment: Alignment, span: Span, pieces: list[Block], image: Image, work: Work) -> Image:
    """The image, grown over what stands in place of the passage's beginning and end, where these are not aligned."""
    old, new, blocks = alignment.old, alignment.new, alignment.blocks
    first, last = pieces[0], pieces[-1]
    before = bisect_left(blocks, first[1], key=lambda block: block[1]) - 1
    after = before + len(pieces) + 1
    old_start, new_start = (blocks[before][1], blocks[before][3]) if before >= 0 else (0, 0)
    old_end, new_end = (blocks[after][0], blocks[after][2]) if after < len(blocks) else (len(old), len(new))
    head = old[max(span.start, old_start) : first[0]]
    tail = old[last[1] : min(span.end, old_end)]
    missed = _visible(old[span.start : max(span.start, old_start)]) if span.start < old_start else 0
    missed += _visible(old[min(span.end, old_end) : span.end]) if old_end < span.end else 0
    # No more of a gap is looked at than could be in place of the part: gaps may be as long as the text.
    grown_back = _grown(head[::-1], new[max(new_start, first[2] - _window(head)) : first[2]][::-1], work)
    grown_on = _grown(tail, new[last[3] : min(new_end, last[3] + _window(tail))], work)
    start, end = first[2] - grown_back, last[3] + grown_on
    image = evolve(image, span=Span(start, end), distance=image.distance + missed)
    image = _with_gap(image, head, new[start : first[2]], work)
    return _with_gap(image, tail, new[last[3] : end], work)


def _window(part: str) -> int:
    return 2 * len(part) + 16


def _grown(part: str, window: str, work: Work) -> int:
    """How much of what stands there is in place of the part, up to the end of a word."""
    if not part or not window:
        return 0
    if len(part) > _COMPARED:
        return min(len(part), len(window))
    work.spend(cost(len(part), len(window)))
    size, _ = nearest_beginning(flat(part), flat(window))
    while 0 < size < len(window) and window[size - 1].isalnum() and window[size].isalnum() and not part[-1:].isspace():
        size += 1
    return size


def flat(text: str) -> str:
    """The text in lower case and with blanks for white space, where that keeps every offset."""
    flat = _BLANK.sub(" ", text.lower())
    return flat if len(flat) == len(text) else text

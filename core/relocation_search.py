"""Where a passage may have gone that no longer stands where it stood: the places that are new in the new text and look like it."""

from bisect import bisect_right
from itertools import pairwise

from attrs import frozen

from groundkit.core.alignment import Alignment, Seeds, aligned_within
from groundkit.core.alignment_runs import OutOfWork, Work
from groundkit.core.model import CONTEXT, Span
from groundkit.core.relocation_distance import cost, likeness, nearest_within
from groundkit.core.relocation_image import flat, image_of
from groundkit.core.relocation_tokens import Tokens, tokens

#: Places a pair of tokens, or the passage itself, may have before it tells nothing.
_COMMON = 64
#: A share of a passage's pairs that stands together wherever it went: with 4 words of 10 edited it is a third.
_TOGETHER = 1 / 10
#: Windows that are looked at closely.
_WINDOWS = 6
_LONG_WINDOWS = 2
#: Passages up to this length are compared letter by letter, longer ones by their tokens.
_SHORT = 2048
#: An edited passage may have so many errors for each code point, and must have so many code points.
_ERRORS = 0.4
_LEAST_EDITED = 32
#: A lost passage that is so much more like a place than another is its origin, whatever stands around it.
_CLEARLY = 0.05
#: Code points that a search for a string gets through in a step.
_FOUND = 256
#: Code points beside a place that show which words it cuts.
_WORD = 64
_CONTEXT_COST = 4 * CONTEXT


@frozen
class Candidate:
    """A stretch of the new text: how like the passage it is and how like what stands around it is, from 0 to 1."""

    span: Span
    similarity: float
    context: float

    @property
    def score(self) -> float:
        return self.similarity + self.context


@frozen
class Side:
    """A text as a place to search in: what of it has no counterpart in the other text."""

    text: str
    only: tuple[tuple[int, int], ...]
    seeds: Seeds


def candidates(alignment: Alignment, span: Span, work: Work) -> list[Candidate]:
    """New places of the passage, best context first. A place more than half of which the old text already had is none."""
    new = Side(alignment.new, alignment.only_new, alignment.new_seeds)
    found = []
    for place in _places(alignment.old, span, new, work):
        if not held_before(alignment, place.span, span) and not _elsewhere(alignment, place, span, work):
            found.append(place)
    return sorted(found, key=lambda place: (-place.context, -place.similarity, place.span))


def sole_place(alignment: Alignment, cited: str, work: Work) -> Span | None:
    """Where a passage that stood once in the old text stands in the new one, if it stands there letter for letter once."""
    old, new = alignment.old, alignment.new
    work.spend((len(old) + len(new)) // _FOUND)
    at = new.find(cited)
    if at < 0 or new.find(cited, at + 1) >= 0 or old.find(cited, old.find(cited) + 1) >= 0:
        return None
    return Span(at, at + len(cited))


def is_other_passage(alignment: Alignment, place: Span, similarity: float, span: Span, work: Work) -> bool:
    """Whether what stands at a place is nearer to another passage, lost by the old text, than to the one at the span."""
    if not _LEAST_EDITED <= place.length <= _SHORT:
        return False
    rivals = _rivals(alignment, place, span, work)
    return any(rival.similarity > similarity for rival in rivals)


def context_likeness(one: str, span: Span, other: str, place: Span, work: Work) -> float:
    """How like each other the surroundings of two stretches are, from 0 to 1.

    A passage at the edge of a paragraph that moved keeps what stands on its other side, so the better side counts twice.
    """
    work.spend(_CONTEXT_COST)
    before = likeness(_before(one, span), _before(other, place))
    behind = likeness(_behind(one, span), _behind(other, place))
    return (before + behind + max(before, behind)) / 3


def _before(text: str, span: Span) -> str:
    return flat(text[max(0, span.start - CONTEXT) : span.start])


def _behind(text: str, span: Span) -> str:
    return flat(text[span.end : span.end + CONTEXT])


def _places(source: str, span: Span, side: Side, work: Work) -> list[Candidate]:
    """Places of `source[span]` in what only the other side has: letter for letter, and nearly."""
    cited = source[span.start : span.end]
    # At another end of a text or paragraph it has other breaks around it.
    exact = _exact(cited, side, work) or (_exact(cited.strip(), side, work) if cited.strip() not in ("", cited) else [])
    near = _near(cited, side, work) if span.length >= _LEAST_EDITED else []
    found: list[tuple[Span, float]] = [(place, 1.0) for place in exact]
    for place, similarity in sorted(near, key=lambda each: (-each[1], each[0])):
        if all(_shared(place, taken) * 2 <= place.length for taken, _ in found):
            found.append((place, similarity))
    return [
        Candidate(place, similarity, context_likeness(source, span, side.text, place, work))
        for place, similarity in found
    ]


def _shared(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _exact(cited: str, side: Side, work: Work) -> list[Span]:
    """Where the passage stands letter for letter, half of it or more in what only this side has."""
    found: list[Span] = []
    work.spend(len(side.only))
    if cited not in side.text:
        return found
    for start, end in _zones(side.only, len(cited), len(side.text)):
        work.spend((end - start) // _FOUND)
        at = side.text.find(cited, start, end)
        while at >= 0:
            if len(found) == _COMMON:
                raise OutOfWork
            found.append(Span(at, at + len(cited)))
            at = side.text.find(cited, at + 1, end)
    return found


def _zones(only: tuple[tuple[int, int], ...], length: int, size: int) -> list[tuple[int, int]]:
    """The stretches of a text in which a place of this length may lie with half of it in what only this side has."""
    reach = length // 2 + 1
    zones: list[tuple[int, int, int]] = []
    for start, end in only:
        low, high, mass = max(0, start - reach), min(size, end + reach), end - start
        if zones and low <= zones[-1][1]:
            low, mass = zones[-1][0], mass + zones[-1][2]
            zones.pop()
        zones.append((low, high, mass))
    return [(low, high) for low, high, mass in zones if 2 * mass >= length]


def _near(cited: str, side: Side, work: Work) -> list[tuple[Span, float]]:
    """Stretches that hold the passage with few errors, found by the pairs of tokens they share with it."""
    found = []
    for start, end in _windows(cited, side, work):
        refined = _refined(cited, side.text, start, end, work)
        if refined is not None and refined[1] >= 1 - _ERRORS:
            found.append(refined)
    return found


def _windows(cited: str, side: Side, work: Work) -> list[tuple[int, int]]:
    """Where the pairs of tokens of a passage stand together, most of them first."""
    here = tokens(cited, 0, len(cited))
    work.spend(len(cited))
    width = max(len(cited) // 4, 8)
    votes: dict[int, int] = {}
    common = telling = 0
    for pair, offset in zip(pairwise(here.keys), here.starts, strict=False):
        places = side.seeds.get(pair, ())
        if len(places) > _COMMON:
            common += 1
            continue
        telling += 1
        work.spend(len(places))
        for at in places:
            bucket = (at - offset) // width
            votes[bucket] = votes.get(bucket, 0) + 1
    if common and not votes:
        # It may stand in too many places to look at: that it is gone cannot be said.
        raise OutOfWork
    both = {bucket: count + votes.get(bucket + 1, 0) for bucket, count in votes.items()}
    best = [bucket for bucket, count in both.items() if count >= _TOGETHER * telling]
    best.sort(key=lambda bucket: (-both[bucket], bucket))
    del best[_WINDOWS if len(cited) <= _SHORT else _LONG_WINDOWS :]
    work.spend(4 * len(votes))
    reach = len(cited) // 4 + 8
    size = len(side.text)
    edges = [(bucket * width - reach, (bucket + 2) * width + len(cited) + reach) for bucket in best]
    return [(max(0, start), min(size, end)) for start, end in edges if start < size and end > 0]


def _refined(cited: str, text: str, start: int, end: int, work: Work) -> tuple[Span, float] | None:
    """The stretch of a window that is nearest to the passage, and how like it that is."""
    window = text[start:end]
    if len(cited) <= _SHORT:
        work.spend(2 * cost(len(cited), len(window)))
        nearest = nearest_within(flat(cited), flat(window), int(_ERRORS * len(cited)))
        if nearest is None or nearest[0] == nearest[1]:
            return None
        low, high, apart = nearest
        return _whole_words(text, Span(start + low, start + high)), 1 - apart / len(cited)
    image = image_of(aligned_within(cited, window, work), Span(0, len(cited)), work)
    if image is None:
        return None
    return Span(start + image.span.start, start + image.span.end), image.similarity(window)


def _whole_words(text: str, place: Span) -> Span:
    """A place without the part of a word that it begins or ends with, if there is more of it."""
    part = tokens(text, max(0, place.start - _WORD), min(len(text), place.end + _WORD))
    begin, stop = place.start, place.end
    if _is_within(part, begin):
        begin = next((start for start in part.starts if start >= begin), stop)
    if _is_within(part, stop):
        stop = next((end for end in reversed(part.ends) if end <= stop), begin)
    return Span(begin, stop) if 2 * (stop - begin) > place.length else place


def _is_within(part: Tokens, at: int) -> bool:
    number = bisect_right(part.starts, at) - 1
    return number >= 0 and part.starts[number] < at < part.ends[number]


def held_before(alignment: Alignment, place: Span, span: Span) -> bool:
    """Whether more than half of a place stood in the old text already, outside the passage."""
    held = 0
    blocks = alignment.blocks
    for at in range(bisect_right(blocks, place.start, key=lambda block: block[3]), len(blocks)):
        start, _, second, second_end = blocks[at]
        if second >= place.end:
            break
        low, high = max(second, place.start), min(second_end, place.end)
        within = _shared(span, Span(start + low - second, start + high - second))
        held += high - low - min(within, high - low)
    return 2 * held > place.length


def _elsewhere(alignment: Alignment, place: Candidate, span: Span, work: Work) -> bool:
    """Whether another passage that the old text lost is a better origin of a new place than the passage."""
    return any(
        rival.score >= place.score or rival.similarity > place.similarity + _CLEARLY
        for rival in _rivals(alignment, place.span, span, work)
    )


def _rivals(alignment: Alignment, place: Span, span: Span, work: Work) -> list[Candidate]:
    """Other passages that the old text lost and that a place of the new text may come from."""
    old = Side(alignment.old, alignment.only_old, alignment.old_seeds)
    return [
        rival
        for rival in _places(alignment.new, place, old, work)
        if 2 * _shared(rival.span, span) <= min(rival.span.length, span.length) and _is_lost(old, rival.span)
    ]


def _is_lost(side: Side, place: Span) -> bool:
    """Whether half of a place or more is in what only this side has."""
    lost = 0
    for at in range(bisect_right(side.only, place.start, key=lambda only: only[1]), len(side.only)):
        if side.only[at][0] >= place.end:
            break
        lost += _shared(place, Span(*side.only[at]))
    return 2 * lost >= place.length

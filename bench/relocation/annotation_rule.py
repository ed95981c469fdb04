"""The rule by which annotation tools find a quotation again, written from its description.

A W3C annotation keeps a TextPositionSelector (offsets) and a TextQuoteSelector (the exact text, and 32 code points before and
behind it). A tool takes the position if the exact text stands there. Else it takes every exact occurrence, or, where there is none, the
stretches with the fewest edits, if these are no more than half of the quotation's length (and 256). Each is scored: 50 for the
quotation, 20 for what stands before, 20 for what stands behind, 2 for the position; the best score wins. Nothing is ever called gone
that has a stretch near enough. https://www.w3.org/TR/annotation-model/#selectors; weights and limits as the Hypothesis client has them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

CONTEXT = 32
MOST_ERRORS = 256
_QUOTE, _PREFIX, _SUFFIX, _POSITION = 50, 20, 20, 2


@dataclass(frozen=True)
class Selector:
    """What an annotation keeps of its target."""

    exact: str
    prefix: str
    suffix: str
    start: int


@dataclass(frozen=True)
class Match:
    """`[start, end)` of a text, and how many edits it is away from what was looked for."""

    start: int
    end: int
    errors: int


def selector(text: str, start: int, end: int) -> Selector:
    return Selector(text[start:end], text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT], start)


@lru_cache(maxsize=1)
def anchored(text: str, wanted: Selector) -> Match | None:
    """Where the tool says the quotation stands."""
    size = len(wanted.exact)
    if text[wanted.start : wanted.start + size] == wanted.exact:
        return Match(wanted.start, wanted.start + size, 0)
    found = _matches(text, wanted.exact, min(MOST_ERRORS, size // 2))
    return max(found, key=lambda match: _score(text, wanted, match), default=None)


def _score(text: str, wanted: Selector, match: Match) -> float:
    before = text[max(0, match.start - len(wanted.prefix)) : match.start]
    behind = text[match.end : match.end + len(wanted.suffix)]
    quote = 1 - match.errors / len(wanted.exact)
    position = 1 - abs(match.start - wanted.start) / len(text)
    sides = _PREFIX * _likeness(before, wanted.prefix) + _SUFFIX * _likeness(behind, wanted.suffix)
    return _QUOTE * quote + sides + _POSITION * position


def _likeness(text: str, wanted: str) -> float:
    """How much of the wanted text is somewhere in the text. Without context, all of it."""
    if not wanted:
        return 1.0
    return 1 - min((match.errors for match in _matches(text, wanted, len(wanted))), default=len(wanted)) / len(wanted)


def _matches(text: str, wanted: str, most: int) -> list[Match]:
    """The exact occurrences, or else the stretches with the fewest errors."""
    found = []
    at = text.find(wanted)
    while at >= 0:
        found.append(Match(at, at + len(wanted), 0))
        at = text.find(wanted, at + 1)
    return found or _nearest(text, wanted, most)


def _nearest(text: str, wanted: str, most: int) -> list[Match]:
    fewest, ends = most, list[int]()
    for end, errors in _errors(text, wanted, anywhere=True):
        if errors < fewest:
            fewest, ends = errors, []
        if errors == fewest:
            ends.append(end)
    return [Match(_start(text, wanted, end, fewest), end, fewest) for end in ends]


def _start(text: str, wanted: str, end: int, errors: int) -> int:
    """Of the stretches with so many errors that end there, the beginning of the longest."""
    back = text[max(0, end - len(wanted) - errors) : end][::-1]
    return end - max(size for size, found in _errors(back, wanted[::-1], anywhere=False) if found == errors)


def _errors(text: str, wanted: str, anywhere: bool) -> Iterator[tuple[int, int]]:
    """For each end in the text the fewest errors of a stretch that ends there; it begins at 0, or `anywhere`.

    A column of the table of edits is two integers: where it rises by one from row to row, and where it falls (Myers 1999).
    """
    rows: dict[str, int] = {}
    for at, sign in enumerate(wanted):
        rows[sign] = rows.get(sign, 0) | 1 << at
    every, last = (1 << len(wanted)) - 1, 1 << len(wanted) - 1
    rises, falls, errors = every, 0, len(wanted)
    for end, sign in enumerate(text, 1):
        equal = rows.get(sign, 0)
        vertical = equal | falls
        equal |= ((equal & rises) + rises) ^ rises
        more = falls | every & ~(equal | rises)
        less = rises & equal
        errors += (more & last != 0) - (less & last != 0)
        more = more << 1 | (not anywhere)
        less <<= 1
        rises = (less | ~(vertical | more)) & every
        falls = more & vertical & every
        yield end, errors

"""The stretch of a passage that says most of what was asked, and where in it the words stand. Offsets are code points."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import pairwise

from attrs import frozen

from groundkit.core.model import Span

#: Words as far as marking goes, but for their marks: what the index parts further is looked at sign by sign.
_WORD = re.compile(r"\w+")
#: Letters that fold to marks on the sign before, or to a mark and a letter.
_MARKS = "\uff9e\uff9f\u0e33\u0eb3"
#: How far a cut may move to stand between two words, as a part of the size.
_GIVE = 8


@frozen
class Snippet:
    """`span` is the stretch, `marks` the words in it that were asked for: ascending, disjoint, all in code points of the text
    that the snippet is of."""

    span: Span
    marks: tuple[Span, ...]


def snippet(text: str, wanted: AbstractSet[str], terms_of: Callable[[str], Sequence[str]], size: int) -> Snippet:
    """About `size` code points of a text around most of the wanted terms; the beginning where it has none."""
    found = places(text, wanted, cache(terms_of))
    if len(text) <= size:
        return Snippet(Span(0, len(text)), _joined(found))
    first, last = densest(found, size)
    start = max(0, min(first - max(size - (last - first), 0) // 2, len(text) - size))
    start, end = _between_words(text, start, min(len(text), start + size), size // _GIVE)
    return Snippet(Span(start, end), _joined([each for each in found if start <= each[0] and each[1] <= end]))


def places(text: str, wanted: AbstractSet[str], terms_of: Callable[[str], Sequence[str]]) -> list[tuple[int, int, str]]:
    """Start, end and term of every word that is wanted; in scripts without blanks, of every sign."""
    found: list[tuple[int, int, str]] = []
    for start, end in _words(text):
        terms = terms_of(text[start:end])
        if len(terms) == 1:
            found += [(start, end, term) for term in terms if term in wanted]
        elif wanted & set(terms):
            found += _signs(text[start:end], start, wanted, terms_of)
    return found


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Runs of letters and digits with the marks on them: an accent by itself parts no word."""
    word = _WORD.search(text)
    while word is not None:
        start, end = word.span()
        while end < len(text) and _is_mark(text[end]):
            more = _WORD.match(text, end + 1)
            end = end + 1 if more is None else more.end()
        yield start, end
        word = _WORD.search(text, end)


def _is_mark(sign: str) -> bool:
    return sign > "\x7f" and (unicodedata.category(sign)[0] == "M" or sign in _MARKS)


def _signs(
    word: str, start: int, wanted: AbstractSet[str], terms_of: Callable[[str], Sequence[str]]
) -> list[tuple[int, int, str]]:
    """Each sign with the marks on it."""
    begins = [at for at, sign in enumerate(word) if not at or not _is_mark(sign)]
    parts = [(at, end, terms_of(word[at:end])) for at, end in pairwise([*begins, len(word)])]
    return [(start + at, start + end, terms[0]) for at, end, terms in parts if terms and set(terms) <= wanted]


def _joined(found: Sequence[tuple[int, int, str]]) -> tuple[Span, ...]:
    """The places as spans, those that touch as one."""
    spans: list[Span] = []
    for start, end, _ in found:
        if spans and spans[-1].end == start:
            spans[-1] = Span(spans[-1].start, end)
        else:
            spans.append(Span(start, end))
    return tuple(spans)


def densest(found: Sequence[tuple[int, int, str]], size: int) -> tuple[int, int]:
    """From where to where the stretch goes that holds most different terms, then most; the first of those."""
    best, stretch = (0, 0), (0, 0)
    counts: dict[str, int] = {}
    last = 0
    for first, (start, _, term) in enumerate(found):
        while last < len(found) and found[last][1] <= start + size:
            counts[found[last][2]] = counts.get(found[last][2], 0) + 1
            last += 1
        if last <= first:  # one word longer than the whole stretch
            last = first + 1
            continue
        worth = len(counts), last - first
        if worth > best:
            best, stretch = worth, (start, found[last - 1][1])
        counts[term] -= 1
        if not counts[term]:
            del counts[term]
    return stretch


def _between_words(text: str, start: int, end: int, give: int) -> tuple[int, int]:
    """The stretch with its cuts moved inwards to the next blank, if there is one near, and never within a cluster."""
    from groundkit.core.boundaries import Boundaries

    allowed = Boundaries(text).may_cut
    if start:
        blank = next((at + 1 for at in range(start, min(start + give, end)) if text[at].isspace()), None)
        start = next(filter(allowed, range(start, end)), end) if blank is None else blank
    if end < len(text):
        blank = next((at for at in range(end, max(end - give, start), -1) if text[at].isspace()), None)
        end = next(filter(allowed, range(end, start, -1)), start) if blank is None else blank
    return start, max(end, start)

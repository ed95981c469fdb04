"""Text directives of URLs: the words by which a browser finds a passage in a page and marks it.

Source: WICG, URL Fragment Text Directives. What browsers take for a word decides whether they find anything at all.
"""

import re
import unicodedata
from typing import Final

from attrs import frozen

from groundkit.core.model import CONTEXT, Citation, Span
from groundkit.core.percent import UNRESERVED, encoded

#: Code points of a passage that is looked for as one term; of the ends of any other; of its neighbourhood.
LONGEST: Final = 200
ENDS: Final = 60
BESIDE: Final = 32
#: A shorter term may stand in many places, and in other letter case, so that it has its neighbourhood with it.
SHORT: Final = 40

#: "-" and "," have a meaning between terms.
_IN_TERM: Final = UNRESERVED - {0x2D}

#: Where a term ends: no browser finds line breaks, controls or halves of characters, and whether several blanks are one
#: depends on the page's style.
_CUT = re.compile(r"[ \t]{2,}|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufff9-\uffff\ud800-\udfff]+")
_BLANKS: Final = (
    " \t\n\x0b\x0c\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
#: Between letters or digits these do not end a word (Unicode Standard Annex 29: MidLetter, MidNum, MidNumLet and quotes).
_MIDDLE: Final = frozenset("'\".,:;·‘’․﹒＇．״\u2027")
#: Scripts that set no blanks between words: their word boundaries are in the browser's dictionaries alone.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
)


def text_directive(citation: Citation, text: str, document: str | None = None) -> str:
    """`text=[prefix-,]start[,end][,-suffix]` of a passage; "" where no browser could find it.

    A passage within one line and up to `LONGEST` code points is one term; of any other the terms are the ends of its first
    and its last line. Terms are whole words, and of a part of a word the whole of it. A passage that begins or ends within
    a run of Chinese, Japanese or the like is found by its neighbourhood, since browsers look for words of a dictionary.
    """
    passage = _passage(citation, text, document)
    around = passage.around
    pieces = _pieces(around, passage.start, passage.end) or _pieces(around, *_outwards(passage))
    terms = _terms(around, pieces) if pieces else []
    if not terms or (passage.begins_amid and all(map(_goes_on, around[: terms[0].start]))):
        return ""  # of marks alone before it, nobody knows what they stand on
    words = around[terms[0].start : terms[0].end]
    stands_earlier = document is not None and document.find(words, 0, max(0, citation.span.start)) >= 0
    return _directive(passage, terms, stands_earlier)


@frozen
class _Passage:
    """A passage with what stands on both sides of it, where that may begin and end amid a word."""

    around: str
    start: int
    end: int

    @property
    def begins_amid(self) -> bool:
        return self.start >= CONTEXT

    @property
    def ends_amid(self) -> bool:
        return len(self.around) - self.end >= CONTEXT


def _passage(citation: Citation, text: str, document: str | None) -> _Passage:
    start, end = citation.span.start, citation.span.end
    if document is not None and start >= 0 and document[start:end] == text:
        begin = max(0, start - CONTEXT)
        return _Passage(document[begin : end + CONTEXT], start - begin, start - begin + len(text))
    before = citation.before or ""
    return _Passage(before + text + (citation.after or ""), len(before), len(before) + len(text))


def _pieces(around: str, start: int, end: int) -> list[tuple[int, int]]:
    """The stretches of the passage that can stand in a term and hold a word."""
    cuts = [edge for cut in _CUT.finditer(around, start, end) for edge in cut.span()]
    edges = [start, *cuts, end]
    pieces = (_whole_words(around, *pair) for pair in zip(edges[::2], edges[1::2], strict=True))
    return [(begin, stop) for begin, stop in pieces if _holds_word(around[begin:stop])]


def _whole_words(around: str, begin: int, stop: int) -> tuple[int, int]:
    while begin < stop and (around[begin] in _BLANKS or _cuts_word(around, begin)):
        begin += 1
    while begin < stop and (around[stop - 1] in _BLANKS or _cuts_word(around, stop)):
        stop -= 1
    return begin, stop


def _outwards(passage: _Passage) -> tuple[int, int]:
    """The word that a passage is a part of; nothing of one that goes on beyond the neighbourhood."""
    begin, stop = passage.start, passage.end
    while _cuts_word(passage.around, begin):
        begin -= 1
    while _cuts_word(passage.around, stop):
        stop += 1
    if (begin == 0 and passage.begins_amid) or (stop == len(passage.around) and passage.ends_amid):
        return begin, begin
    return begin, stop


def _cuts_word(around: str, at: int) -> bool:
    return _is_inside(around, at) and not _is_open(around, at)


def _holds_word(words: str) -> bool:
    return any(map(str.isalnum, words))


def _is_word(sign: str) -> bool:
    """Letters, digits, "_" and the letters of flags."""
    return sign.isalnum() or sign == "_" or "\U0001f1e6" <= sign <= "\U0001f1ff"


def _goes_on(sign: str) -> bool:
    """Whether this belongs to what stands before it: marks, joiners, formatting, skin tones (rule WB4)."""
    if sign < "\xad":
        return False
    category = unicodedata.category(sign)
    return category[0] == "M" or (category == "Cf" and sign != "\u200b") or "\U0001f3fb" <= sign <= "\U0001f3ff"


def _is_inside(around: str, at: int) -> bool:
    """Whether a word, as browsers know them, goes on from before this place to behind it."""
    if not 0 < at < len(around):
        return False
    if _goes_on(around[at]) or around[at - 1] == "\u200d":
        return True
    left = _base(around, range(at - 1, -1, -1))
    if around[left : left + 1] in _MIDDLE:
        left = _base(around, range(left - 1, -1, -1))
    elif around[at] in _MIDDLE:
        at = _base(around, range(at + 1, len(around)))
    return _is_word(around[left : left + 1]) and _is_word(around[at : at + 1])


def _base(around: str, places: range) -> int:
    """The first of these places where something begins, or behind the text."""
    return next((at for at in places if not _goes_on(around[at])), len(around))


def _is_open(around: str, at: int) -> bool:
    """Whether a passage that begins or ends here does so within a run of signs without blanks."""
    if not _is_inside(around, at) or _goes_on(around[at]):
        return False
    return bool(_UNSPACED.match(around, at - 1) and _UNSPACED.match(around, at))


def _is_edge(around: str, at: int, outermost: int) -> bool:
    """Whether a term may end here, with the outermost sign that it has then."""
    return around[outermost] not in _BLANKS and not _is_inside(around, at)


def _end_of_head(around: str, begin: int, stop: int) -> int | None:
    """Behind the last whole word within `ENDS` code points, or else the first one; None of a word without end."""
    if stop - begin <= ENDS:
        return stop
    places = (*range(begin + ENDS, begin, -1), *range(begin + ENDS + 1, min(stop, begin + LONGEST // 2) + 1))
    return next((at for at in places if _is_edge(around, at, at - 1) and _holds_word(around[begin:at])), None)


def _begin_of_tail(around: str, begin: int, stop: int) -> int | None:
    if stop - begin <= ENDS:
        return begin
    places = (*range(stop - ENDS, stop), *range(stop - ENDS - 1, max(begin, stop - LONGEST // 2) - 1, -1))
    return next((at for at in places if _is_edge(around, at, at) and _holds_word(around[at:stop])), None)


def _terms(around: str, pieces: list[tuple[int, int]]) -> list[Span]:
    (first, stop), (begin, last) = pieces[0], pieces[-1]
    if len(pieces) == 1 and last - first <= LONGEST:
        return [Span(first, last)]
    head, tail = _end_of_head(around, first, stop), _begin_of_tail(around, begin, last)
    return [] if head is None or tail is None else [Span(first, head), Span(tail, last)]


def _directive(passage: _Passage, terms: list[Span], stands_earlier: bool) -> str:
    around, first, last = passage.around, terms[0], terms[-1]
    opens, closes = _is_open(around, first.start), _is_open(around, last.end)
    is_vague = stands_earlier or first.length < SHORT
    before = _before(passage, first.start) if is_vague or opens else ""
    if len(terms) == 1:
        wants_after = closes or stands_earlier or (is_vague and not before)
    else:
        wants_after = closes or _ends_sooner(around, first, last)
    after = _after(passage, last.end) if wants_after else ""
    if (opens and not before) or (closes and not after):
        return ""
    shown = [_term(around[term.start : term.end]) for term in terms]
    return "text=" + ",".join([f"{_term(before)}-"] * bool(before) + shown + [f"-{_term(after)}"] * bool(after))


def _term(words: str) -> str:
    return encoded(words.strip(_BLANKS), _IN_TERM)


def _ends_sooner(around: str, first: Span, last: Span) -> bool:
    """Whether the passage holds its own last term before its end, where a browser would stop."""
    words, passage = around[last.start : last.end].casefold(), around[first.end : last.end].casefold()
    return passage.find(words) < len(passage) - len(words)


def _before(passage: _Passage, at: int) -> str:
    """The last words before this place, on the line that ends there or the one before."""
    around = passage.around
    stop = len(around[:at].rstrip(_BLANKS))
    floor = max(0, stop - CONTEXT)
    floor = max((cut.end() for cut in _CUT.finditer(around, floor, stop)), default=floor)
    for most in (BESIDE, CONTEXT):
        begin = max(floor, stop - most)
        while begin < stop and (_is_inside(around, begin) or (begin == 0 and passage.begins_amid)):
            begin += 1
        if _holds_word(around[begin:stop]):
            return around[begin:stop]
    return ""


def _after(passage: _Passage, at: int) -> str:
    around = passage.around
    start = len(around) - len(around[at:].lstrip(_BLANKS))
    ceiling = min(len(around), start + CONTEXT)
    ceiling = min((cut.start() for cut in _CUT.finditer(around, start, ceiling)), default=ceiling)
    for most in (BESIDE, CONTEXT):
        stop = min(ceiling, start + most)
        while stop > start and (_is_inside(around, stop) or (stop == len(around) and passage.ends_amid)):
            stop -= 1
        if _holds_word(around[start:stop]):
            return around[start:stop]
    return ""

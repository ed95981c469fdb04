"""Cutting a text into chunks: spans that cover it, in order, with whole characters, at the best places there are.

The format only says where sections and blocks lie (`outline`); what is merged and where it is cut is the same for all.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import islice

from attrs import frozen

from groundkit.core import markdown
from groundkit.core.boundaries import BOUNDARY_RULES, Boundaries
from groundkit.core.fingerprint import chunk_id
from groundkit.core.model import Chunk, Document, Locator, Span
from groundkit.core.outline import STEPS_LIMIT, Outline, Section
from groundkit.core.settings import Settings
from groundkit.core.spans import line_view, quote

#: Name and recipe number: the number grows with every change that moves a cut.
CHUNKER = "chunks/2"

_PARAGRAPH_GAP = re.compile(r"\n(?:[ \t]*\n)+")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
_REST_OF_LINE = re.compile(r"[^\S\n]*(?:\n(?:[ \t]*\n)*)?")
_BLANKS = re.compile(r"\s*")

#: Levels below blocks, best first: what stands before a break. Each demands a character behind it, so that a match that
#: may look at one character beyond the wished cut never ends beyond it. A no-break space is no place to break.
_PARAGRAPH = r"\n[ \t]*\n(?=[ \t]*[^ \t\n])"
_LINE = r"\n(?=[\s\S])"
_SENTENCE = r"""(?:[.!?…][)\]}"'’”»›]*+[^\S\xa0\u2007\u202f]++|[。！？｡][)\]}"'’”」』）】》〉]*+\s*+)(?=\S)"""
_WORD = r"[^\S\xa0\u2007\u202f](?=\S)"


@frozen
class _Level:
    """`last` finds the last break of a stretch, by greed; `following` the first one."""

    last: re.Pattern[str]
    following: re.Pattern[str]


def _level(pattern: str) -> _Level:
    return _Level(re.compile("(?s:.*)" + pattern), re.compile(pattern))


_LEVELS = tuple(_level(each) for each in (_PARAGRAPH, _LINE, _SENTENCE, _WORD))
_SENTENCES, _WORDS = _LEVELS[2].following, _LEVELS[3].following


def chunker_identity(settings: Settings, media_type: str) -> str:
    """What decides where a text is cut, for the processing fingerprint."""
    sizes = f"size/{settings.chunk_size}+overlap/{settings.chunk_overlap}+limit/{settings.hard_limit}"
    return f"{CHUNKER}+{sizes}+{BOUNDARY_RULES}+{media_type}"


def plain_outline(text: str) -> Outline:
    """The outline of text without a format: one section, blocks parted by blank lines, `STEPS_LIMIT` of them at most."""
    gaps = islice(_PARAGRAPH_GAP.finditer(line_view(text)), STEPS_LIMIT)
    return Outline(breaks=tuple(gap.end() for gap in gaps if gap.end() < len(text)))


#: How the text of a media type is outlined; others are plain.
OUTLINES: dict[str, Callable[[str], Outline]] = {"text/markdown": markdown.parse}


def outline_of(text: str, media_type: str) -> Outline:
    return OUTLINES.get(media_type, plain_outline)(text)


def chunk_spans(text: str, media_type: str, settings: Settings) -> list[tuple[Span, tuple[str, ...]]]:
    """The spans of a text's chunks in order, each with its heading path.

    They cover the text; starts and ends strictly increase; neighbours share at most `chunk_overlap` code points; none is
    empty, and an empty text has none. A chunk is longer than `chunk_size` only by the white space at its end or by one
    character that cannot be cut, and never longer than `hard_limit`. Linear in the text.
    """
    return cut_outline(text, outline_of(text, media_type), settings)


def cut_outline(text: str, outline: Outline, settings: Settings) -> list[tuple[Span, tuple[str, ...]]]:
    """`chunk_spans` of a text whose outline is known."""
    boundaries = Boundaries(text)
    cutter = _Cutter(
        line_view(text),
        boundaries,
        _allowed(outline.breaks, boundaries),
        [
            (start, end)
            for start, end in outline.whole
            if end - start <= settings.chunk_size and boundaries.may_cut(start)
        ],
        settings.chunk_size,
        settings.chunk_overlap,
        settings.hard_limit,
    )
    return [
        (span, path)
        for begin, stop, path in _stretches(text, outline.sections, boundaries, settings.chunk_size)
        for span in cutter.pieces(begin, stop)
    ]


def chunks(document: Document, settings: Settings, outline: Outline | None = None) -> tuple[Chunk, ...]:
    """The chunks of a document, with ids, places in the order and locators. `outline`, where it is at hand already."""
    text, view = document.text, line_view(document.text)
    made: list[Chunk] = []
    line, line_start, seen = 1, 0, 0
    for span, path in cut_outline(text, outline or outline_of(text, document.media_type), settings):
        # Lines are counted on from chunk to chunk, so that all together look at the text once.
        line += view.count("\n", seen, span.start)
        line_start = max(line_start, view.rfind("\n", seen, span.start) + 1)
        seen = span.start
        locator = Locator(line, seen - line_start + 1, path)
        made.append(Chunk(chunk_id(document.id, span), document.id, len(made), span, quote(text, span), locator))
    return tuple(made)


def _allowed(breaks: tuple[int, ...], boundaries: Boundaries) -> tuple[int, ...]:
    if boundaries.text.isascii():
        return breaks
    return tuple(at for at in breaks if boundaries.may_cut(at))


def _stretches(
    text: str, sections: tuple[Section, ...], boundaries: Boundaries, size: int
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Sections as `(start, end, heading path)`; one without a body goes with the next, as long as both headings fit."""
    begin = 0
    for place, section in enumerate(sections):
        following = sections[place + 1] if place + 1 < len(sections) else None
        end = following.start if following else len(text)
        if following and not boundaries.may_cut(end):
            continue
        bare = not text[section.body : end].strip()
        if following and bare and following.body - begin <= size:
            continue
        if begin < end:
            yield begin, end, section.heading_path
        begin = end


@frozen
class _Cutter:
    """Cuts stretches of one text. `whole` are the ranges that fit into a chunk and are not to be cut."""

    view: str
    boundaries: Boundaries
    breaks: tuple[int, ...]
    whole: list[tuple[int, int]]
    size: int
    overlap: int
    hard_limit: int

    def pieces(self, begin: int, end: int) -> list[Span]:
        if end - begin <= self.size:
            return [Span(begin, end)]
        made, start, floor = [], begin, self._lead(begin)
        while end - start > self.size:
            cut = self._with_blanks(self._cut(start, floor, end), start, end)
            made.append(Span(start, cut))
            if cut == end:
                return made
            start, floor = self._next_start(start, cut), cut
        made.append(Span(start, end))
        return made

    def _lead(self, begin: int) -> int:
        """Where the blanks end that a stretch begins with, no place to cut unless only that keeps a range whole."""
        wish = begin + self.size
        behind = _end(_BLANKS, self.view, begin, wish)
        place = bisect_right(self.whole, (behind, len(self.view))) - 1
        crowded = place >= 0 and self.whole[place][1] > wish
        return begin if crowded or behind == wish else behind

    def _cut(self, start: int, floor: int, end: int) -> int:
        """The best place in `(floor, start + size]`, by level; a break too early for its chunk to be worth it is passed
        over if what follows it must be cut anyway."""
        wish = self._outside(start + self.size, floor)
        if wish == floor:
            wish = start + self.size
        early = start + self.size // 2
        place = bisect_right(self.breaks, wish) - 1
        if place >= 0 and self.breaks[place] > floor:
            found = self.breaks[place]
            following = self.breaks[place + 1] if place + 1 < len(self.breaks) else end
            if found >= early or min(following, end) - found <= self.size or self._whole_at(found):
                return found
            floor = found
        for level in _LEVELS:
            match = level.last.match(self.view, floor, wish + 1)
            found = self._outside(match.end(), floor) if match else floor
            if found == floor or not self.boundaries.may_cut(found):
                continue
            if found >= early or end - found <= self.size or self._whole_at(found):
                return found
            if level.following.search(self.view, found, found + self.size + 1):
                return found
            floor = found
        return self.boundaries.cut(floor, wish, min(start + self.hard_limit, end))

    def _outside(self, at: int, floor: int) -> int:
        """The place itself; within a range to be kept whole, that range's start, or `floor` where it begins before."""
        place = bisect_right(self.whole, (at, 0)) - 1
        if place < 0 or self.whole[place][1] <= at:
            return at
        return max(self.whole[place][0], floor)

    def _whole_at(self, at: int) -> tuple[int, int] | None:
        """The range to be kept whole that begins here."""
        place = bisect_right(self.whole, (at, 0))
        return self.whole[place] if place < len(self.whole) and self.whole[place][0] == at else None

    def _with_blanks(self, cut: int, start: int, end: int) -> int:
        """The cut behind the white space that would else begin the next chunk; indentation stays with its line."""
        if not self.view[cut : cut + 1].isspace():
            return cut
        limit = min(start + self.hard_limit, end)
        behind = _end(_BLANKS, self.view, cut, limit)
        if behind < end:
            line_begins = self.view[cut - 1] == "\n"
            behind = _end(_BLANK_LINES if line_begins else _REST_OF_LINE, self.view, cut, limit)
        return behind if self.boundaries.may_cut(behind) else cut

    def _next_start(self, start: int, cut: int) -> int:
        """Back from the cut by at most the overlap: to a sentence, a word, a character; not into a range kept whole."""
        if self.overlap == 0:
            return cut
        back = self._back(start, cut)
        place = bisect_right(self.whole, (back, 0)) - 1
        if place < 0 or self.whole[place][1] <= back:
            return back
        behind = self.whole[place][1]
        return behind if behind < cut and self.boundaries.may_cut(behind) else cut

    def _back(self, start: int, cut: int) -> int:
        kept = self._whole_at(cut)
        low = max(start + 1, cut - self.overlap, kept[1] - self.size if kept else 0)
        for pattern in (_SENTENCES, _WORDS):
            match = pattern.search(self.view, low - 1, cut)
            if match and low <= match.end() < cut and self.boundaries.may_cut(match.end()):
                return match.end()
        return next((at for at in range(low, cut) if self.boundaries.may_cut(at)), cut)


def _end(pattern: re.Pattern[str], text: str, at: int, limit: int) -> int:
    """Where a match ends of a pattern that also matches the empty text."""
    found = pattern.match(text, at, limit)
    return found.end() if found else at

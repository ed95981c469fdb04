"""The quotations of a text, and the marks that say where they are from. Markdown is known as far as people quote with it.

Nothing in code, in the target of a link or in a tag is a quotation. Every step is linear in the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import evolve, field, frozen

from groundkit.core.inner_marks import apart_marks, marks_inside, marks_of_line, without_marks
from groundkit.core.markers import HIDDEN, HIDDEN_LINK, Marker, attribution_targets, markers_in
from groundkit.core.model import Span
from groundkit.core.quotable import (
    ATTRIBUTION,
    LINES,
    LINK,
    QUOTE_LINE,
    TAG,
    Block,
    blanked,
    without_code,
    without_links,
)
from groundkit.core.quotation_marks import next_place, paired
from groundkit.core.references import Entry, references

#: Quotations of fewer words are passed over: titles, terms, irony. A sign of a script without blanks is half a word.
LEAST_WORDS = 3


@frozen
class Quotation:
    """A quoted stretch of a text, without its marks. `texts` are the ways to read what is quoted, the likeliest first.

    `markers` are the numbers of the marks that belong to it, `inner` those of what looks like marks within it: `texts` are
    without them, and `raw` has them as letters, as they are where the source has the same. `block`: it stands in lines of
    its own.
    """

    span: Span
    texts: tuple[str, ...]
    markers: tuple[int, ...] = ()
    block: bool = False
    inner: tuple[int, ...] = ()
    raw: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.texts[0]


@frozen
class Quoting:
    """What a text quotes, in order, its marks, its own lists by label, and how many quotations were too short to be told."""

    quotations: tuple[Quotation, ...]
    markers: tuple[Marker, ...]
    references: dict[str, tuple[Entry, ...]] = field(repr=False)
    passed_over: int


_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
_SIGN = re.compile(rf"[^\W{_NO_BLANKS}]+(?:['’.-][^\W{_NO_BLANKS}]+)*|(?P<sign>[{_NO_BLANKS}])")

_ALL_MARKS = re.compile(r"(?: {0,3}> ?)+")
_ALERT = re.compile(r"\s*\[!\w+\][^\n]*\s*")
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(000[0-9a-f]{5}))")

_SENTENCE_END = re.compile(r"""[.!?…][)\]"'”’»*_]*\s|[。！？]|\n[ \t]*\n""")
_BEHIND = re.compile(r"[\s.,;:!?*_）)。、，]{0,8}")


def quotations_of(text: str) -> Quoting:
    """What a text quotes and marks. Offsets are code points of the text. Total."""
    unbroken = _one_break(text)
    lines = [match.span() for match in LINES.finditer(unbroken)]
    hidden, blocks = without_code(unbroken, lines)
    entries, labels = references(unbroken, hidden)
    marks = _marks(unbroken, hidden, {label.start for label in labels})
    plain = without_links(hidden)
    found = [*_tagged(unbroken, plain), *_inline(unbroken, blanked(plain, TAG, HIDDEN))]
    apart = list(_apart(found))
    starts = [each.outer.start for each in apart]
    placed = [_marked(_bared(each, unbroken, marks), plain, marks, starts) for each in apart]
    quoted = [_block(unbroken, block) for block in blocks]
    return _gathered([*placed, *(each for each in quoted if each is not None)], marks, entries)


def _one_break(text: str) -> str:
    """Every line break as LF, where that keeps every offset."""
    return text.replace("\r\n", " \n").replace("\r", "\n")


@frozen
class _Found:
    """A quotation with the marks that belong to it. `outer` is its span with its quotation marks or lines."""

    quotation: Quotation
    outer: Span
    marks: tuple[Marker, ...] = ()
    inner: tuple[Marker, ...] = ()

    @property
    def is_told(self) -> bool:
        return is_long_enough(self.quotation.text)


def _gathered(found: Sequence[_Found], marks: Sequence[Marker], entries: dict[str, tuple[Entry, ...]]) -> Quoting:
    """Everything in order; marks that count only behind a quotation are left out where there is none."""
    blocks = sorted(each.outer for each in found if each.quotation.block)
    kept = {mark.span: mark for mark in marks if not mark.loose and not _within(blocks, mark.span)}
    for each in found:
        inner = each.inner if each.is_told else ()
        kept.update((mark.span, evolve(mark, loose=False)) for mark in (*each.marks, *inner))
    ordered = [kept[span] for span in sorted(kept)]
    numbers = {mark.span: number for number, mark in enumerate(ordered)}
    told = tuple(
        evolve(
            each.quotation,
            markers=tuple(numbers[mark.span] for mark in each.marks),
            inner=tuple(numbers[mark.span] for mark in each.inner),
        )
        for each in sorted(found, key=lambda each: each.quotation.span)
        if each.is_told
    )
    return Quoting(told, tuple(ordered), entries, len(found) - len(told))


def _within(spans: Sequence[Span], span: Span) -> bool:
    at = bisect_right(spans, span.start, key=lambda each: each.start) - 1
    return at >= 0 and span.end <= spans[at].end


def is_long_enough(quote: str) -> bool:
    """Whether a quotation has `LEAST_WORDS` words."""
    halves = 0
    for match in _SIGN.finditer(quote):
        halves += 1 if match["sign"] else 2
        if halves >= 2 * LEAST_WORDS:
            return True
    return False


def _marks(text: str, hidden: str, labels: set[int]) -> list[Marker]:
    """The marks of a text by place."""
    found = markers_in(text, blanked(hidden, LINK, HIDDEN_LINK))
    return apart_marks(text, hidden, (mark for mark in found if mark.span.start not in labels))


def _block(text: str, block: Block) -> _Found | None:
    """A block quotation with what the line that names its origin names; None for a box of a note."""
    lines = _trimmed(text, [_content(text, line) for line in block.lines])
    if not lines or _ALERT.match(text, *lines[0]):
        return None
    marks: tuple[Marker, ...] = ()
    if block.below is not None:
        marks = _attributed(text, *block.below)
    elif len(lines) > 1 and ATTRIBUTION.match(text, *lines[-1]):
        marks = _attributed(text, *lines[-1])
        lines = _trimmed(text, lines[:-1])
    found = [mark for line in lines for mark in marks_of_line(text, *line)]
    inner = marks_inside(text, lines[0][0], lines[-1][1], found)
    raw = _readings([text[start:end] for start, end in lines])
    texts = _readings([without_marks(text, start, end, inner) for start, end in lines]) if inner else raw
    first, last = text[slice(*lines[0])], text[slice(*lines[-1])]
    span = Span(lines[0][0] + len(first) - len(first.lstrip()), lines[-1][0] + len(last.rstrip()))
    outer = Span(block.lines[0][0], (block.below or block.lines[-1])[1])
    if not texts[0]:
        return None
    return _Found(Quotation(span, texts, (), True, (), raw if inner else ()), outer, marks, inner)


def _readings(contents: Sequence[str]) -> tuple[str, ...]:
    """The ways to read the lines of a block quotation."""
    once = "\n".join(contents).strip()
    flat = "\n".join(_ALL_MARKS.sub("", line, count=1) if _ALL_MARKS.match(line) else line for line in contents).strip()
    plain = _ESCAPED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), once)
    return tuple(dict.fromkeys((once, flat, plain)))


def _content(text: str, line: tuple[int, int]) -> tuple[int, int]:
    """Where a line of a block quotation stands without its mark and its break."""
    mark = QUOTE_LINE.match(text, *line)
    assert mark is not None
    return mark.end(), max(mark.end(), line[1] - (text[line[1] - 1] == "\n"))


def _trimmed(text: str, lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The lines without those at the ends that hold nothing."""
    first, last = 0, len(lines)
    while first < last and not text[slice(*lines[first])].strip():
        first += 1
    while first < last and not text[slice(*lines[last - 1])].strip():
        last -= 1
    return lines[first:last]


def _attributed(text: str, begin: int, end: int) -> tuple[Marker, ...]:
    """The marks of a line that names an origin; `[1]` and the like count there as everywhere."""
    dash = ATTRIBUTION.match(text, begin, end)
    assert dash is not None
    rest, start = text[dash.end() : end].rstrip(), dash.end()
    marks = [mark for mark in markers_in(rest, rest) if not mark.loose and not mark.text.startswith("`")]
    found = [Marker(Span(start + mark.span.start, start + mark.span.end), mark.text, mark.targets) for mark in marks]
    return tuple(found) or tuple(
        Marker(Span(start + span.start, start + span.end), rest[span.start : span.end], (target,))
        for span, target in attribution_targets(rest)
    )


# -- quotations within paragraphs


def _apart(found: Sequence[_Found]) -> Iterator[_Found]:
    """Quotations that do not overlap: the outer ones."""
    end = -1
    for each in sorted(found, key=lambda each: (each.outer.start, -each.outer.end)):
        if each.outer.start >= end:
            yield each
            end = each.outer.end


def _tagged(text: str, plain: str) -> Iterator[_Found]:
    """What stands between `<q>` and `</q>` or `<blockquote>` and its end."""
    for name in ("q", "blockquote"):
        end = 0
        for opening in re.finditer(rf"<{name}(?:\s[^<>]{{0,2000}})?>", plain, re.IGNORECASE):
            if opening.start() < end:
                continue
            closing = re.compile(f"</{name}>", re.IGNORECASE).search(plain, opening.end())
            if closing is None:
                break
            end = closing.end()
            inside = text[opening.end() : closing.start()]
            start = opening.end() + len(inside) - len(inside.lstrip())
            quote = " ".join(TAG.sub("", inside).split())
            if quote:
                span = Span(start, opening.end() + len(inside.rstrip()))
                yield _Found(Quotation(span, (quote,), (), name == "blockquote"), Span(opening.start(), end))


#: What closes what opens. Straight and single marks have rules of their own.
def _inline(text: str, plain: str) -> Iterator[_Found]:
    start = 0
    for gap in re.finditer(r"\n[ \t]*\n|\Z", plain):
        for opening, closing in paired(plain, start, gap.start()):
            inside = text[opening + 1 : closing]
            left = opening + 1 + len(inside) - len(inside.lstrip())
            quote = inside.strip()
            if quote:
                yield _Found(Quotation(Span(left, left + len(quote)), (quote,)), Span(opening, closing + 1))
        start = gap.end()


# -- which marks belong to a quotation


def _bared(found: _Found, text: str, marks: Sequence[Marker]) -> _Found:
    """A quotation of a paragraph without the marks that stand in it."""
    quotation, (start, end) = found.quotation, (found.quotation.span.start, found.quotation.span.end)
    first = bisect_left(marks, start, key=lambda mark: mark.span.start)
    behind = bisect_left(marks, end, key=lambda mark: mark.span.start)
    inner = marks_inside(text, start, end, marks[first:behind])
    if not inner:
        return found
    bare = without_marks(text, start, end, inner).strip()
    if text[found.outer.start] == "<":
        bare = " ".join(TAG.sub("", bare).split())
    if not bare:
        return found
    return evolve(found, quotation=evolve(quotation, texts=(bare,), raw=quotation.texts), inner=inner)


def _marked(found: _Found, plain: str, marks: Sequence[Marker], others: Sequence[int]) -> _Found:
    """A quotation with the marks directly behind it, or the first ones of the same sentence before the next quotation."""
    end = found.outer.end
    touch = _BEHIND.match(plain, end)
    near = touch.end() if touch is not None and "\n\n" not in touch[0] else end
    number = bisect_left(marks, end, key=lambda mark: mark.span.start)
    if number == len(marks):
        return found
    if marks[number].span.start > near:
        stop = _SENTENCE_END.search(plain, end, end + 1000)
        limit = stop.start() if stop else end + 1000
        limit = min(limit, next_place(others, end - 1) or limit)
        while number < len(marks) and marks[number].loose and marks[number].span.start < limit:
            number += 1
        if number == len(marks) or marks[number].span.start >= limit:
            return found
    chain = [marks[number]]
    for before, mark in pairwise(marks[number : number + 32]):
        if plain[before.span.end : mark.span.start].strip(" ,;&"):
            break
        chain.append(mark)
    return evolve(found, marks=tuple(chain))

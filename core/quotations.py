"""The quotations of a text, and the marks that say where they are from. Markdown is known as far as people quote with it.

Nothing in code, in the target of a link or in a tag is a quotation. Every step is linear in the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import evolve, field, frozen

from groundkit.core.markers import HIDDEN, HIDDEN_LINK, Marker, Target, attribution_targets, markers_in, references
from groundkit.core.model import Span

#: Quotations of fewer words are passed over: titles, terms, irony. A sign of a script without blanks is half a word.
LEAST_WORDS = 3


@frozen
class Quotation:
    """A quoted stretch of a text, without its marks. `texts` are the ways to read what is quoted, the likeliest first.

    `markers` are the numbers of the marks that belong to it. `block`: it stands in lines of its own.
    """

    span: Span
    texts: tuple[str, ...]
    markers: tuple[int, ...] = ()
    block: bool = False

    @property
    def text(self) -> str:
        return self.texts[0]


@frozen
class Quoting:
    """What a text quotes, in order, its marks, its own lists by label, and how many quotations were too short to be told."""

    quotations: tuple[Quotation, ...]
    markers: tuple[Marker, ...]
    references: dict[str, Target] = field(repr=False)
    passed_over: int


_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
_SIGN = re.compile(rf"[^\W{_NO_BLANKS}]+(?:['’.-][^\W{_NO_BLANKS}]+)*|(?P<sign>[{_NO_BLANKS}])")

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" *(?:[-+*]|\d{1,9}[.)])? *(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_QUOTE_LINE = re.compile(r" {0,3}> ?")
_ALL_MARKS = re.compile(r"(?: {0,3}> ?)+")
_ALERT = re.compile(r"\s*\[!\w+\][^\n]*\s*")
_ATTRIBUTION = re.compile(r"[ \t>]*(?:—|―|–|--(?!-))[ \t]*(?=\S)")
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(000[0-9a-f]{5}))")

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>|<![^<>]{0,2000}>")
_LINK = re.compile(r"(?<=\])\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_LINK_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n^]{1,200}\]:[ \t]*\S+[^\n]*", re.MULTILINE)
_SENTENCE_END = re.compile(r"""[.!?…][)\]"'”’»*_]*\s|[。！？]|\n[ \t]*\n""")
_BEHIND = re.compile(r"[\s.,;:!?*_）)。、，]{0,8}")


def quotations_of(text: str) -> Quoting:
    """What a text quotes and marks. Offsets are code points of the text. Total."""
    unbroken = _one_break(text)
    lines = [match.span() for match in _LINES.finditer(unbroken)]
    hidden, blocks = _without_code(unbroken, lines)
    entries, labels = references(unbroken, hidden)
    marks = _marks(unbroken, hidden, {label.start for label in labels})
    plain = _without_links(hidden)
    found = [*_tagged(unbroken, plain), *_inline(unbroken, _blanked(plain, _TAG, HIDDEN))]
    apart = list(_apart(found))
    starts = [each.outer.start for each in apart]
    placed = [_marked(each, plain, marks, starts) for each in apart]
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


@frozen
class _Block:
    """The lines of a block quotation, and where the line below it begins and ends."""

    lines: tuple[tuple[int, int], ...]
    below: tuple[int, int] | None


def _gathered(found: Sequence[_Found], marks: Sequence[Marker], entries: dict[str, Target]) -> Quoting:
    """Everything in order; marks that count only behind a quotation are left out where there is none."""
    blocks = sorted(each.outer for each in found if each.quotation.block)
    kept = {mark.span: mark for mark in marks if not mark.loose and not _within(blocks, mark.span)}
    for each in found:
        kept.update((mark.span, evolve(mark, loose=False)) for mark in each.marks)
    ordered = [kept[span] for span in sorted(kept)]
    numbers = {mark.span: number for number, mark in enumerate(ordered)}
    quotations = [
        evolve(each.quotation, markers=tuple(numbers[mark.span] for mark in each.marks))
        for each in sorted(found, key=lambda each: each.quotation.span)
    ]
    told = tuple(each for each in quotations if is_long_enough(each.text))
    return Quoting(told, tuple(ordered), entries, len(quotations) - len(told))


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


# -- what is hidden, and block quotations


def _without_code(text: str, lines: Sequence[tuple[int, int]]) -> tuple[str, list[_Block]]:
    """The text with code and block quotations hidden, line breaks kept, and the block quotations."""
    parts: list[str] = []
    blocks: list[_Block] = []
    at = _front_matter(text, lines)
    parts += (_hide(text[start:end]) for start, end in lines[:at])
    while at < len(lines):
        start, end = lines[at]
        fence = _FENCE.match(text, start, end)
        behind = at + 1
        if fence is not None:
            behind = _fence_end(text, lines, at, fence[1])
            parts += (_hide(text[slice(*line)]) for line in lines[at:behind])
        elif _QUOTE_LINE.match(text, start, end):
            while behind < len(lines) and _QUOTE_LINE.match(text, *lines[behind]):
                behind += 1
            named = behind < len(lines) and _ATTRIBUTION.match(text, *lines[behind]) is not None
            blocks.append(_Block(tuple(lines[at:behind]), lines[behind] if named else None))
            behind += named
            parts += (_hide(text[slice(*line)]) for line in lines[at:behind])
        else:
            parts.append(text[start:end])
        at = behind
    return _without_inline_code("".join(parts)), blocks


def _front_matter(text: str, lines: Sequence[tuple[int, int]]) -> int:
    """How many lines of YAML a text begins with."""
    if not lines or text[slice(*lines[0])].lstrip("\ufeff").rstrip() != "---":
        return 0
    for at, line in enumerate(lines[1:200], 1):
        if text[slice(*line)].rstrip() in ("---", "..."):
            return at + 1
    return 0


def _fence_end(text: str, lines: Sequence[tuple[int, int]], at: int, mark: str) -> int:
    """The line behind the one that closes a fence; the end where nothing does."""
    for number in range(at + 1, len(lines)):
        line = text[slice(*lines[number])].strip()
        if len(line) >= len(mark) and line == mark[0] * len(line):
            return number + 1
    return len(lines)


def _hide(stretch: str, sign: str = HIDDEN) -> str:
    return re.sub(r"[^\n]", sign, stretch)


def _without_inline_code(text: str) -> str:
    """Runs of backticks that have a partner as long in their paragraph, with all between them, hidden."""
    runs = [match.span() for match in re.finditer(r"`+", text)]
    gaps = [match.start() for match in re.finditer(r"\n[ \t]*\n", text)]
    partners: dict[tuple[int, int], list[int]] = {}
    for number, (start, end) in enumerate(runs):
        partners.setdefault((bisect_right(gaps, start), end - start), []).append(number)
    parts: list[str] = []
    done = number = 0
    while number < len(runs):
        start, end = runs[number]
        alike = partners[bisect_right(gaps, start), end - start]
        later = bisect_right(alike, number)
        if later == len(alike):
            number += 1
            continue
        closing = runs[alike[later]][1]
        parts += (text[done:start], _hide(text[start:closing]))
        done, number = closing, alike[later] + 1
    return "".join([*parts, text[done:]])


def _blanked(text: str, pattern: re.Pattern[str], sign: str) -> str:
    return pattern.sub(lambda match: _hide(match[0], sign), text)


def _without_links(text: str) -> str:
    return _blanked(_blanked(text, _LINK_DEFINITION, HIDDEN_LINK), _LINK, HIDDEN_LINK)


def _marks(text: str, hidden: str, labels: set[int]) -> list[Marker]:
    """The marks of a text by place; of two that overlap, the one that begins first, of those the longer one."""
    found = sorted(
        (mark for mark in markers_in(text, _blanked(hidden, _LINK, HIDDEN_LINK)) if mark.span.start not in labels),
        key=lambda mark: (mark.span.start, -mark.span.end, mark.loose),
    )
    kept: list[Marker] = []
    for mark in found:
        end = kept[-1].span.end if kept else 0
        is_link = end < mark.span.start and text[mark.span.start - 1] == "]"
        if end <= mark.span.start and not is_link and not _in_fence(hidden, text, mark):
            kept.append(mark)
    return kept


def _in_fence(hidden: str, text: str, mark: Marker) -> bool:
    """Whether a mark in backticks stands in code of more than itself."""
    if not mark.text.startswith("`"):
        return False
    start, end = mark.span.start, mark.span.end
    before = start > 0 and hidden[start - 1] == HIDDEN
    return before or (end < len(text) and hidden[end] == HIDDEN)


def _block(text: str, block: _Block) -> _Found | None:
    """A block quotation with what the line that names its origin names; None for a box of a note."""
    lines = _trimmed(text, [_content(text, line) for line in block.lines])
    if not lines or _ALERT.match(text, *lines[0]):
        return None
    marks: tuple[Marker, ...] = ()
    if block.below is not None:
        marks = _attributed(text, *block.below)
    elif len(lines) > 1 and _ATTRIBUTION.match(text, *lines[-1]):
        marks = _attributed(text, *lines[-1])
        lines = _trimmed(text, lines[:-1])
    contents = [text[start:end] for start, end in lines]
    once = "\n".join(contents).strip()
    flat = "\n".join(_ALL_MARKS.sub("", line, count=1) if _ALL_MARKS.match(line) else line for line in contents).strip()
    plain = _ESCAPED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), once)
    start = lines[0][0] + len(contents[0]) - len(contents[0].lstrip())
    span = Span(start, lines[-1][0] + len(contents[-1].rstrip()))
    outer = Span(block.lines[0][0], (block.below or block.lines[-1])[1])
    return _Found(Quotation(span, tuple(dict.fromkeys((once, flat, plain))), (), True), outer, marks)


def _content(text: str, line: tuple[int, int]) -> tuple[int, int]:
    """Where a line of a block quotation stands without its mark and its break."""
    mark = _QUOTE_LINE.match(text, *line)
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
    dash = _ATTRIBUTION.match(text, begin, end)
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
            quote = " ".join(_TAG.sub("", inside).split())
            if quote:
                span = Span(start, opening.end() + len(inside.rstrip()))
                yield _Found(Quotation(span, (quote,), (), name == "blockquote"), Span(opening.start(), end))


#: What closes what opens. Straight and single marks have rules of their own.
_PAIRS = {
    "“": "”",
    "„": "“”",
    "‟": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
    "‘": "’",
    "‚": "‘’",
    '"': '"',
}
_MARK = re.compile("[" + "".join(_PAIRS) + "]")
_SIGNS = "".join(dict.fromkeys("".join(f"{opening}{closing}" for opening, closing in _PAIRS.items())))
_ANY_MARK = re.compile(f"[{_SIGNS}]")
_OPENS_BEHIND = frozenset("([{<—–-―/=:,;*_>|“„«‹「『‘‚（【、。，：" + HIDDEN_LINK)


def _inline(text: str, plain: str) -> Iterator[_Found]:
    start = 0
    for gap in re.finditer(r"\n[ \t]*\n|\Z", plain):
        for opening, closing in _paired(plain, start, gap.start()):
            inside = text[opening + 1 : closing]
            left = opening + 1 + len(inside) - len(inside.lstrip())
            quote = inside.strip()
            if quote:
                yield _Found(Quotation(Span(left, left + len(quote)), (quote,)), Span(opening, closing + 1))
        start = gap.end()


def _paired(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The quotation marks of one paragraph that belong together; those within a quotation are its own."""
    places: dict[str, list[int]] = {sign: [] for sign in _SIGNS}
    for match in _ANY_MARK.finditer(text, start, end):
        places[match[0]].append(match.start())
    at = start
    while True:
        opening = _MARK.search(text, at, end)
        if opening is None:
            return
        at = opening.end()
        if not _may_open(text, opening.start()):
            continue
        closing = _closing(text, opening.start(), places)
        if closing is not None:
            yield opening.start(), closing
            at = closing + 1


def _before(text: str, at: int) -> str:
    return text[at - 1] if at else " "


def _behind(text: str, at: int) -> str:
    return text[at + 1] if at + 1 < len(text) else " "


def _may_open(text: str, at: int) -> bool:
    sign, before, behind = text[at], _before(text, at), _behind(text, at)
    starts = before.isspace() or before in _OPENS_BEHIND
    if sign in '"‘':
        return starts and not behind.isspace()
    if sign in "»›":
        return starts and not behind.isspace()
    return True


def _closing(text: str, opening: int, places: dict[str, list[int]]) -> int | None:
    sign = text[opening]
    if sign == '"':
        return _straight(text, opening, places[sign])
    if sign == "‘":
        return _single(text, opening, places)
    if sign in "“「『":
        return _nested(opening, places[sign], places[_PAIRS[sign]])
    if sign == "‚":
        return next((at for at in _from(places, "‘’", opening) if not _behind(text, at).isalnum()), None)
    candidates = [_next(places[each], opening) for each in _PAIRS[sign]]
    return min((at for at in candidates if at is not None), default=None)


def _from(places: dict[str, list[int]], signs: str, opening: int) -> Iterator[int]:
    """The places of some signs behind an opening mark, up to the next mark like it."""
    following = _next(places["‚"], opening)
    at: int | None = opening
    while at is not None:
        at = min((place for place in (_next(places[sign], at) for sign in signs) if place is not None), default=None)
        if at is None or (following is not None and at > following):
            return
        yield at


def _next(places: Sequence[int], at: int) -> int | None:
    number = bisect_right(places, at)
    return places[number] if number < len(places) else None


def _nested(opening: int, openings: Sequence[int], closings: Sequence[int]) -> int | None:
    """The partner of a mark whose like may stand within its quotation; the nearest closing one where they do not add up."""
    opened, closed = bisect_right(openings, opening), bisect_right(closings, opening)
    first, depth = closed, 1
    while closed < len(closings):
        while opened < len(openings) and openings[opened] < closings[closed]:
            depth += 1
            opened += 1
        depth -= 1
        if depth == 0:
            return closings[closed]
        if closed - first > 8:
            break
        closed += 1
    return closings[first] if first < len(closings) else None


def _straight(text: str, opening: int, places: Sequence[int]) -> int | None:
    """The next mark that closes. One behind a digit is an inch where another follows that closes; a new opening one says
    that this one was none."""
    number = bisect_right(places, opening)
    while number < len(places):
        at = places[number]
        closes = not _before(text, at).isspace() and not _behind(text, at).isalnum()
        opens = _may_open(text, at)
        if opens and not closes:
            return None
        following = places[number + 1] if number + 1 < len(places) else None
        inch = _before(text, at).isdigit() and following is not None and not _may_open(text, following)
        if closes and not inch:
            return at
        number += 1
    return None


def _single(text: str, opening: int, places: dict[str, list[int]]) -> int | None:
    """The next single mark that is no apostrophe; behind an s it may be one, if another follows before the next quotation."""
    closings, following = places["’"], _next(places["‘"], opening)
    number = bisect_right(closings, opening)
    doubtful: int | None = None
    while number < len(closings) and (following is None or closings[number] < following):
        at = closings[number]
        number += 1
        if _behind(text, at).isalnum() or _before(text, at).isspace():
            continue
        if _before(text, at) in "sS" and _behind(text, at).isspace():
            doubtful = at if doubtful is None else doubtful
            continue
        return at
    return doubtful


# -- which marks belong to a quotation


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
        limit = min(limit, _next(others, end - 1) or limit)
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

"""How a quotation stands in a text: letter for letter, nearly, or not at all.

A quotation is wrapped otherwise than its source, so any run of white space is one blank. An ellipsis says that something is left
out: what stands before and behind it must stand in this order.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate

from attrs import field, frozen

from groundkit.core.alignment import aligned_within
from groundkit.core.alignment_runs import OutOfWork, Work
from groundkit.core.model import Span
from groundkit.core.relocation_distance import cost, ends_within, likeness, nearest_beginning
from groundkit.core.relocation_image import flat, image_of
from groundkit.core.relocation_tokens import Tokens, tokens

#: What a stretch must have in common with a quotation to be near it.
LEAST_SIMILAR = 0.6
#: Longer quotations are not looked for where they are changed; up to `_BY_LETTER` they are compared letter by letter.
MOST_COMPARED, _BY_LETTER = 20_000, 2048
#: Quotations with more parts between ellipses are looked for as they stand only.
MOST_PARTS = 64
#: Places of one part that are tried as the beginning of a quotation with ellipses, or are counted.
_PLACES = 256
#: The share of a quotation's different words that a stretch must have to be compared.
_SHARED = 0.4
#: Stretches of one text that are compared in any case, those that share most words; letter by letter, further ones for so
#: many steps.
_COMPARED, _COMPARING = 2, 100_000
#: Whole words of a stretch that a near passage is tried to end with.
_ENDS = 12
#: Steps that one comparison by words may take.
_STEPS = 2_000_000

_ELLIPSIS = re.compile(r"\[\s*(?:…|\.\s?\.\s?\.)\s*\]|\(\s*(?:…|\.\s?\.\s?\.)\s*\)|…|\.\.\.+|\. \. \.")
_WORD = re.compile(r"[^\W_]")
_BLANKS = re.compile(r"\s\s+|[^\S ]")

#: Signs that a quotation may have or lack: quotation marks and apostrophes, Markdown's emphasis, what is not seen.
_PASSED_OVER = frozenset("\"'`´“”„‟«»‹›‘’‚‛「」『』＂＇*_~\\\xad\u200b\u200c\u200d\u2060\ufeff")
_DASHES = dict.fromkeys("‐‑‒–—―−﹘﹣－", "-") | {"...": ".", "..": "."}
_REPEATED = frozenset("-.")
_END_MARKS = frozenset(",.;:!?")
#: Letters and digits that a word goes on with; not those of scripts without blanks between words.
_CONTINUES = re.compile(
    r"[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc]"
)


class NearKind(StrEnum):
    """In what a stretch differs from a quotation that is near it."""

    #: Only in case, compatibility forms, quotation marks, dashes, emphasis signs, or the mark at the quotation's end.
    FORM = "form"
    #: In nothing, but it begins or ends within a word, whose rest may say the opposite.
    CUT = "cut"
    EDITED = "edited"


@frozen
class QuoteMatch:
    """Where a quotation stands: from its first to its last code point, and each part between ellipses.

    `kind` is None where it stands there letter for letter. `similarity` is from 0 to 1.
    """

    span: Span
    parts: tuple[Span, ...]
    kind: NearKind | None = None
    similarity: float = 1.0


@frozen
class Searchable:
    """A text in which each run of white space is one blank, and the way back to its offsets. Built in linear time."""

    text: str = field(repr=False)
    squashed: str = field(repr=False)
    #: Behind each blank that stands for something else: its offset in `squashed`, and how far behind the text is there.
    _behind: list[int] = field(repr=False)
    _shifts: list[int] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "Searchable":
        parts: list[str] = []
        behind, shifts = [0], [0]
        done = length = 0
        for run in _BLANKS.finditer(text):
            parts += (text[done : run.start()], " ")
            length += run.start() - done + 1
            done = run.end()
            behind.append(length)
            shifts.append(done - length)
        parts.append(text[done:])
        return cls(text, "".join(parts), behind, shifts)

    def span(self, start: int, end: int) -> Span:
        """The stretch of the text for one of `squashed` that is not empty and neither begins nor ends with a blank."""
        return Span(self._back(start), self._back(end - 1) + 1)

    def _back(self, at: int) -> int:
        return at + self._shifts[bisect_right(self._behind, at) - 1]

    def places(self, part: str) -> Iterator[int]:
        """Where a squashed part stands in `squashed`, each place, also those that overlap."""
        at = self.squashed.find(part) if part else -1
        while at >= 0:
            yield at
            at = self.squashed.find(part, at + 1)


def squashed(quote: str) -> str:
    """A quotation as it is looked for: each run of white space one blank, none at its ends."""
    return " ".join(quote.split())


def parts_of(quote: str) -> tuple[str, ...]:
    """The parts of a quotation between its ellipses, squashed; those without a letter or digit are none."""
    return tuple(part for part in map(squashed, _ELLIPSIS.split(quote)) if _WORD.search(part))


def exact_match(quote: str, within: Searchable) -> QuoteMatch | None:
    """Where a quotation stands letter for letter, whole words before others; of a quotation with ellipses the shortest stretch."""
    whole = squashed(quote)
    if not whole:
        return None
    found = _best_place(whole, within)
    if found is not None:
        return found
    parts = parts_of(quote)
    if len(parts) > 1:
        return _in_order(parts, within) if len(parts) <= MOST_PARTS else None
    return _only_part(parts, whole, within)


def _only_part(parts: Sequence[str], whole: str, within: Searchable) -> QuoteMatch | None:
    """A quotation with ellipses at its ends only."""
    return _best_place(parts[0], within) if parts and parts[0] != whole else None


def exact_count(quote: str, within: Searchable) -> int:
    """How often a quotation stands letter for letter, `_PLACES` at most; one with ellipses counts once."""
    whole = squashed(quote)
    count = sum(1 for _, _ in zip(within.places(whole), range(_PLACES), strict=False))
    if count:
        return count
    parts = parts_of(quote)
    if len(parts) == 1 and parts[0] != whole:
        return sum(1 for _, _ in zip(within.places(parts[0]), range(_PLACES), strict=False))
    return int(exact_match(quote, within) is not None)


def _best_place(part: str, within: Searchable) -> QuoteMatch | None:
    first: QuoteMatch | None = None
    for at, _ in zip(within.places(part), range(_PLACES), strict=False):
        span = within.span(at, at + len(part))
        if not _cuts_a_word(within.text, span):
            return QuoteMatch(span, (span,))
        first = first or QuoteMatch(span, (span,), NearKind.CUT)
    return first


def _cuts_a_word(text: str, span: Span) -> bool:
    return any(0 < at < len(text) and _goes_on(text, at) for at in (span.start, span.end))


def _goes_on(text: str, at: int) -> bool:
    """Whether a word, or a character with its marks, goes on at a place within a text."""
    if _CONTINUES.match(text, at - 1) and _CONTINUES.match(text, at):
        return True
    return text[at] >= "\u0300" and unicodedata.category(text[at])[0] == "M"


def _in_order(parts: Sequence[str], within: Searchable) -> QuoteMatch | None:
    """The shortest stretch that has the parts one behind the other: each place of the first, then whatever comes next."""
    found: list[tuple[bool, int, list[int]]] = []
    starts = [-1] * len(parts)
    for first, _ in zip(within.places(parts[0]), range(_PLACES), strict=False):
        starts[0] = first
        for number in range(1, len(parts)):
            least = starts[number - 1] + len(parts[number - 1])
            # What still stands behind the part before it has everything behind it in order, too.
            if starts[number] >= least:
                break
            starts[number] = within.squashed.find(parts[number], least)
            if starts[number] < 0:
                return _shortest(found, parts, within)
        spans = _spans(starts, parts, within)
        found.append((any(_cuts_a_word(within.text, span) for span in spans), starts[-1] - first, list(starts)))
    return _shortest(found, parts, within)


def _shortest(found: list[tuple[bool, int, list[int]]], parts: Sequence[str], within: Searchable) -> QuoteMatch | None:
    if not found:
        return None
    cut, _, starts = min(found)
    spans = _spans(starts, parts, within)
    return QuoteMatch(Span(spans[0].start, spans[-1].end), spans, NearKind.CUT if cut else None)


def _spans(starts: Sequence[int], parts: Sequence[str], within: Searchable) -> tuple[Span, ...]:
    return tuple(within.span(at, at + len(part)) for at, part in zip(starts, parts, strict=True))


def near_match(quote: str, text: str, zones: Sequence[Span]) -> QuoteMatch | None:
    """The stretch of these zones of a text that is nearest to a quotation without an exact place, if one is near.

    What differs in its form only goes before what has other words. Quotations over `MOST_COMPARED` are near nothing.
    """
    parts = parts_of(quote)
    if len(quote) > MOST_COMPARED or len(parts) > MOST_PARTS:
        return None
    if len(parts) < 2:
        return _nearest(parts[0] if parts else squashed(quote), text, zones)
    return _parts_nearby(parts, text, zones)


def _nearest(part: str, text: str, zones: Sequence[Span]) -> QuoteMatch | None:
    wanted = _forms(tokens(part, 0, len(part)), Span(0, len(part))).keys
    if not wanted:
        return None
    likely = _likely(frozenset(wanted), text, zones)
    for here in likely:
        span = _same_form(wanted, here)
        if span is not None:
            return QuoteMatch(span, (span,), NearKind.FORM)
    compared = (_edited(part, text, zone) for zone in _worth_comparing(part, [here.zone for here in likely]))
    found = [near for near in compared if near is not None and near[1] >= LEAST_SIMILAR]
    if not found:
        return None
    span, similarity = min(found, key=lambda near: (-near[1], near[0]))
    return QuoteMatch(span, (span,), NearKind.EDITED, similarity)


def _worth_comparing(part: str, zones: Sequence[Span]) -> Iterator[Span]:
    """The first zones, and of a short part all that there is time for: it shares as many words with what is less alike."""
    yield from zones[:_COMPARED]
    spent = sum(cost(len(part), zone.length) for zone in zones[:_COMPARED])
    for zone in zones[_COMPARED:]:
        spent += cost(len(part), zone.length)
        if spent > _COMPARING or len(part) > _BY_LETTER:
            return
        yield zone


def _likely(wanted: frozenset[str], text: str, zones: Sequence[Span]) -> list["_Forms"]:
    """The zones with so many of the wanted words that looking closer may be worth it, most first."""
    ranked = []
    for number, zone in enumerate(zones):
        here = _forms(tokens(text, zone.start, zone.end), zone)
        shared = len(wanted.intersection(here.keys))
        if shared >= _SHARED * len(wanted):
            ranked.append((-shared, number, here))
    return [here for _, _, here in sorted(ranked, key=lambda each: each[:2])]


def _parts_nearby(parts: Sequence[str], text: str, zones: Sequence[Span]) -> QuoteMatch | None:
    """Each part where it is nearest, if they stand in order. The parts weigh by their length."""
    found: list[QuoteMatch] = []
    for part in parts:
        behind = found[-1].span.end if found else 0
        ahead = [Span(max(zone.start, behind), zone.end) for zone in zones if zone.end > behind]
        near = _exact_in(part, text, ahead) or _nearest(part, text, ahead)
        if near is None:
            return None
        found.append(near)
    weight = sum(map(len, parts))
    similarity = sum(near.similarity * len(part) for near, part in zip(found, parts, strict=True)) / weight
    kind = NearKind.EDITED if any(near.kind is NearKind.EDITED for near in found) else NearKind.FORM
    return QuoteMatch(
        Span(found[0].span.start, found[-1].span.end), tuple(near.span for near in found), kind, similarity
    )


def _exact_in(part: str, text: str, zones: Sequence[Span]) -> QuoteMatch | None:
    for zone in zones:
        found = exact_match(part, Searchable.of(text[zone.start : zone.end]))
        if found is not None:
            span = Span(found.span.start + zone.start, found.span.end + zone.start)
            return QuoteMatch(span, (span,))
    return None


@frozen
class _Forms:
    """What of a text counts where only the form may differ, and the code points that each of it stands on."""

    keys: list[str]
    starts: list[int]
    ends: list[int]
    zone: Span


def _forms(stood: Tokens, zone: Span) -> _Forms:
    """The keys of tokens without what a quotation may have or lack."""
    forms = _Forms([], [], [], zone)
    for key, start, end in zip(stood.keys, stood.starts, stood.ends, strict=True):
        form = _DASHES.get(key, key).strip("_")
        if not form or form in _PASSED_OVER or (form in _REPEATED and forms.keys[-1:] == [form]):
            continue
        forms.keys.append(form)
        forms.starts.append(start)
        forms.ends.append(end)
    return forms


def _same_form(part: Sequence[str], here: _Forms) -> Span | None:
    """Where a zone has the part up to what `NearKind.FORM` says."""
    wanted = list(part)
    while wanted and wanted[-1] in _END_MARKS:
        wanted.pop()
    at = "\n".join(["", *here.keys, ""]).find("\n".join(["", *wanted, ""])) if wanted else -1
    if at < 0:
        return None
    starts = list(accumulate((len(key) + 1 for key in here.keys), initial=1))
    first = bisect_right(starts, at + 1) - 1
    return Span(here.starts[first], here.ends[first + len(wanted) - 1])


def _edited(part: str, text: str, zone: Span) -> tuple[Span, float] | None:
    """The stretch of a zone that is nearest to the part, whole words, and how like it that is."""
    if len(part) > _BY_LETTER:
        return _edited_long(part, text, zone)
    within = Searchable.of(text[zone.start : zone.end])
    wanted, there = flat(part), flat(within.squashed)
    best: tuple[Span, float] | None = None
    for end in _likely_ends(wanted, there):
        size, _ = nearest_beginning(wanted[::-1], there[:end][::-1][: 2 * len(wanted)])
        low, high = end - size, end
        while low < high and (there[low] == " " or (not _is_sign(part[0]) and _is_sign(there[low]))):
            low += 1
        if low < high:
            found = within.span(low, high)
            span = _whole_words(text, Span(found.start + zone.start, found.end + zone.start), zone)
            similarity = likeness(wanted, flat(squashed(text[span.start : span.end])))
            if best is None or similarity > best[1]:
                best = span, similarity
    return best


def _likely_ends(part: str, text: str) -> list[int]:
    """Where in a text whole words end that may end what is near, the nearest first.

    A part of a word may be nearer than all of it, and the mark behind it, too: where they end says little.
    """
    scores = ends_within(part, text)
    most = int((1 - LEAST_SIMILAR) * len(part))
    signs = _is_sign(part[-1])
    near = sorted(
        (score, at + 1)
        for at, score in enumerate(scores)
        if score <= most and text[at] != " " and (signs or not _is_sign(text[at]))
    )
    ends = (end for _, end in near if end == len(text) or not _goes_on(text, end))
    return [end for end, _ in zip(ends, range(_ENDS), strict=False)]


def _is_sign(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


def _edited_long(part: str, text: str, zone: Span) -> tuple[Span, float] | None:
    window, work = text[zone.start : zone.end], Work(_STEPS)
    try:
        image = image_of(aligned_within(part, window, work), Span(0, len(part)), work)
    except OutOfWork:
        return None
    if image is None or image.span.length == 0:
        return None
    found = Span(zone.start + image.span.start, zone.start + image.span.end)
    return found, image.similarity(window)


def _whole_words(text: str, span: Span, zone: Span) -> Span:
    start, end = span.start, span.end
    while zone.start < start and _goes_on(text, start):
        start -= 1
    while end < zone.end and _goes_on(text, end):
        end += 1
    return Span(start, end)

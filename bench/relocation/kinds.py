"""Kinds of edit, each with what makes it hard: from an old text and a quote in it to a new text that knows its origins.

A kind may put something into the old text first (a twin, a list of like items), so it also says where the quote stands then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from marked import (
    Marked,
    decomposed,
    enclosing,
    misspelt,
    moved,
    new,
    original,
    paragraphs,
    rejoined,
    reworded,
    rewrapped,
    spelt,
)
from sources import text_of


class Unfit(Exception):
    """This text and quote cannot be edited so."""


@dataclass(frozen=True)
class Edited:
    """The old text, the quote in it at `[start, end)`, and the new text."""

    old: str
    start: int
    end: int
    new: Marked


Kind: TypeAlias = Callable[[Random, str, int, int], Edited]

#: How far around a quote a re-wrapping with edits goes.
_AROUND = 600
#: Texts that share so many code points around a quote share it.
_PIECE = 30


def _twin(chance: Random, quote: str, near: bool) -> str:
    return reworded(chance, new(quote), 0.12).text if near else quote


def _twinned(chance: Random, text: str, start: int, end: int, near: bool) -> tuple[Edited, tuple[int, int]]:
    """The text with a twin of the quote in it, and where: a paragraph by itself, or within one."""
    quote, twin = text[start:end], _twin(chance, text[start:end], near)
    first, last = enclosing(text, start, end)
    other = [each for each in paragraphs(text) if each[1] <= first or each[0] >= last]
    if not other or (twin == quote and near):
        raise Unfit
    at, to = chance.choice(other)
    whole = chance.random() < 0.5
    blank = text.find(" ", at, to)
    at = at if whole else blank if blank >= 0 else to
    added = f"{twin}\n\n" if whole else f" {twin} "
    text = text[:at] + added + text[at:]
    by = len(added) if at <= start else 0
    return Edited(text, start + by, end + by, original(text)), (at, at + len(added))


def _without_quote(edit: Edited) -> Edited:
    return Edited(edit.old, edit.start, edit.end, original(edit.old).without(edit.start, edit.end))


def _changed(text: str, start: int, end: int, changed: Marked) -> Edited:
    return Edited(text, start, end, changed)


def deleted_with_twin(chance: Random, text: str, start: int, end: int) -> Edited:
    return _without_quote(_twinned(chance, text, start, end, near=chance.random() < 0.5)[0])


def duplicate_elsewhere(chance: Random, text: str, start: int, end: int) -> Edited:
    """A copy of the quote is put elsewhere; the quote itself stays, as it was or edited."""
    share = chance.choice((0, 0.05, 0.15))
    first, last = enclosing(text, start, end)
    at = chance.choice([0, *(each[0] for each in paragraphs(text) if each[1] <= first or each[0] >= last)])
    changed = original(text).edited(start, end, lambda part: reworded(chance, part, share))
    at += len(changed) - len(text) if at > start else 0
    return _changed(text, start, end, changed.with_inserted(at, new(f"{text[start:end]}\n\n")))


def rewrapped_and_edited(chance: Random, text: str, start: int, end: int) -> Edited:
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    changed = original(text).edited(first, last, lambda part: rewrapped(chance, reworded(chance, part, 0.3)))
    return _changed(text, start, end, changed)


def _moved_with(share: float) -> Kind:
    def kind(chance: Random, text: str, start: int, end: int) -> Edited:
        return _changed(text, start, end, moved(chance, original(text), *enclosing(text, start, end), share))

    return kind


def deleted(chance: Random, text: str, start: int, end: int) -> Edited:
    return _without_quote(_changed(text, start, end, original(text)))


def paragraph_deleted_with_twin(chance: Random, text: str, start: int, end: int) -> Edited:
    edit, _ = _twinned(chance, text, start, end, near=chance.random() < 0.5)
    first, last = enclosing(edit.old, edit.start, edit.end)
    return _changed(edit.old, edit.start, edit.end, edit.new.without(first, last + 2))


def paragraph_deleted_with_like_paragraph(chance: Random, text: str, start: int, end: int) -> Edited:
    """The whole paragraph has a like one, right behind it or far off, as passages made from one template do."""
    first, last = enclosing(text, start, end)
    twin = reworded(chance, new(text[first:last]), chance.choice((0.03, 0.1, 0.3))).text + "\n\n"
    other = [each[0] for each in paragraphs(text) if each[1] <= first or each[0] >= last]
    at = chance.choice((min(last + 2, len(text)), chance.choice(other)))
    if twin.strip() == text[first:last].strip() or at == len(text):
        raise Unfit
    text = text[:at] + twin + text[at:]
    by = len(twin) if at <= start else 0
    changed = original(text).without(first + by, last + by + 2)
    return _changed(text, start + by, end + by, changed)


def twin_deleted(chance: Random, text: str, start: int, end: int) -> Edited:
    edit, twin = _twinned(chance, text, start, end, near=chance.random() < 0.5)
    return _changed(edit.old, edit.start, edit.end, edit.new.without(*twin))


def twin_moved_quote_deleted(chance: Random, text: str, start: int, end: int) -> Edited:
    edit, (at, to) = _twinned(chance, text, start, end, near=chance.random() < 0.5)
    first, last = enclosing(edit.old, at, to)
    if first < edit.end and edit.start < last + 2:
        raise Unfit
    block = edit.new.part(first, last) + new("\n\n")
    stretches = sorted(((first, last + 2), (edit.start, edit.end)), reverse=True)
    rest = edit.new
    for stretch in stretches:
        rest = rest.without(*stretch)
    return _changed(edit.old, edit.start, edit.end, rest.with_inserted(chance.choice(paragraphs(rest.text))[0], block))


def moved_with_twin(chance: Random, text: str, start: int, end: int) -> Edited:
    edit, _ = _twinned(chance, text, start, end, near=chance.random() < 0.5)
    first, last = enclosing(edit.old, edit.start, edit.end)
    return _changed(edit.old, edit.start, edit.end, moved(chance, edit.new, first, last))


def edited_words(chance: Random, text: str, start: int, end: int) -> Edited:
    share = chance.choice((0.1, 0.2, 0.3))
    return _changed(text, start, end, original(text).edited(start, end, lambda part: reworded(chance, part, share)))


def edited_letters(chance: Random, text: str, start: int, end: int) -> Edited:
    share = chance.choice((0.02, 0.1))
    return _changed(text, start, end, original(text).edited(start, end, lambda part: misspelt(chance, part, share)))


def edited_beside_copy(chance: Random, text: str, start: int, end: int) -> Edited:
    """The quote is edited and stays; a copy of it, as it was or edited otherwise, is put elsewhere."""
    copy = reworded(chance, new(text[start:end]), chance.choice((0, 0.1))) + new("\n\n")
    first, last = enclosing(text, start, end)
    at = chance.choice([0, *(each[0] for each in paragraphs(text) if each[1] <= first or each[0] >= last)])
    changed = original(text).edited(start, end, lambda part: reworded(chance, part, 0.1))
    at += len(changed) - len(text) if at > start else 0
    return _changed(text, start, end, changed.with_inserted(at, copy))


def replaced(chance: Random, text: str, start: int, end: int) -> Edited:
    """Another paragraph of the text stands in its place."""
    first, last = chance.choice([each for each in paragraphs(text) if each[1] < start - 500 or each[0] > end + 500])
    changed = original(text)
    return _changed(text, start, end, changed.part(0, start) + new(text[first:last]) + changed.part(end))


def swapped(chance: Random, text: str, start: int, end: int) -> Edited:
    """Its paragraph and the next one change places."""
    first, last = enclosing(text, start, end)
    behind = text.find("\n\n", last + 2)
    if behind < 0:
        raise Unfit
    whole = original(text)
    block = whole.part(last + 2, behind) + new("\n\n") + whole.part(first, last)
    return _changed(text, start, end, whole.part(0, first) + block + whole.part(behind))


@dataclass(frozen=True)
class _Listed:
    """A text with a list of items like the quote, which is one of them; their stretches; its number."""

    text: str
    start: int
    end: int
    items: list[tuple[int, int]]
    mine: int


def _listed(chance: Random, text: str, start: int, end: int, share: float) -> _Listed:
    quote, separator = text[start:end].replace("\n", " "), chance.choice(("\n", "\n\n"))
    count = chance.randrange(3, 12)
    mine = chance.randrange(count)
    lines = [quote if at == mine else _twin_of(chance, quote, share) for at in range(count)]
    if lines.count(quote) > 1:
        raise Unfit
    at = chance.choice(paragraphs(text))[0]
    items, to = [], at
    for line in lines:
        items.append((to, to + 2 + len(line) + len(separator)))
        to = items[-1][1]
    body = "".join(f"- {line}{separator}" for line in lines)
    begin = items[mine][0] + 2
    return _Listed(f"{text[:at]}{body}\n\n{text[at:]}", begin, begin + len(quote), items, mine)


def _twin_of(chance: Random, quote: str, share: float) -> str:
    return reworded(chance, new(quote), share).text


def item_deleted(chance: Random, text: str, start: int, end: int) -> Edited:
    made = _listed(chance, text, start, end, chance.choice((0.05, 0.15, 0.3)))
    return _changed(made.text, made.start, made.end, original(made.text).without(*made.items[made.mine]))


def neighbour_deleted(chance: Random, text: str, start: int, end: int) -> Edited:
    made = _listed(chance, text, start, end, chance.choice((0.05, 0.15, 0.3)))
    other = made.items[made.mine - 1] if made.mine else made.items[1]
    return _changed(made.text, made.start, made.end, original(made.text).without(*other))


def item_inserted(chance: Random, text: str, start: int, end: int) -> Edited:
    made = _listed(chance, text, start, end, chance.choice((0.05, 0.15, 0.3)))
    item = original(made.text).part(*made.items[made.mine])
    added = reworded(chance, new(item.text), 0.15)
    if added.text == item.text:
        raise Unfit
    return _changed(
        made.text, made.start, made.end, original(made.text).with_inserted(chance.choice(made.items)[0], added)
    )


def items_shuffled(chance: Random, text: str, start: int, end: int) -> Edited:
    made = _listed(chance, text, start, end, 0.15)
    whole, order = original(made.text), list(made.items)
    chance.shuffle(order)
    changed = whole.part(0, made.items[0][0])
    for item in order:
        changed = changed + whole.part(*item)
    return _changed(made.text, made.start, made.end, changed + whole.part(made.items[-1][1]))


def item_edited(chance: Random, text: str, start: int, end: int) -> Edited:
    made = _listed(chance, text, start, end, 0.15)
    changed = original(made.text).edited(made.start, made.end, lambda part: reworded(chance, part, 0.15))
    return _changed(made.text, made.start, made.end, changed)


def _whole(change: Callable[[Random, Marked], Marked]) -> Kind:
    def kind(chance: Random, text: str, start: int, end: int) -> Edited:
        return _changed(text, start, end, change(chance, original(text)))

    return kind


def other_text(chance: Random, text: str, start: int, end: int) -> Edited:
    """Nothing is left. The other text must not have a piece of the passage, as one with the same page in it would."""
    other = text_of(chance)
    if any(text[at : at + _PIECE] in other for at in range(max(0, start - _PIECE), end, _PIECE // 2)):
        raise Unfit
    return _changed(text, start, end, new(other))


def _truncated(chance: Random, text: Marked) -> Marked:
    return text.part(0, chance.randrange(len(text)))


#: The five the project measures itself by.
NAMED: dict[str, Kind] = {
    "deleted, a twin stays": deleted_with_twin,
    "duplicate elsewhere": duplicate_elsewhere,
    "re-wrapped, 30 % edited": rewrapped_and_edited,
    "paragraph moved": _moved_with(0),
    "paragraph moved, 10 % edited": _moved_with(0.1),
}
HARDER: dict[str, Kind] = {
    "deleted": deleted,
    "paragraph deleted, a twin stays": paragraph_deleted_with_twin,
    "paragraph deleted, a like paragraph stays": paragraph_deleted_with_like_paragraph,
    "twin deleted, the quote stays": twin_deleted,
    "deleted, its twin moved": twin_moved_quote_deleted,
    "moved, a twin stays": moved_with_twin,
    "paragraph moved, 20 % edited": _moved_with(0.2),
    "10 to 30 % of its words edited": edited_words,
    "2 to 10 % of its letters edited": edited_letters,
    "edited, a copy elsewhere": edited_beside_copy,
    "another paragraph in its place": replaced,
    "swapped with the next paragraph": swapped,
    "one of like items, deleted": item_deleted,
    "one of like items, its neighbour deleted": neighbour_deleted,
    "one of like items, another put in": item_inserted,
    "one of like items, all in another order": items_shuffled,
    "one of like items, edited": item_edited,
    "all re-wrapped": _whole(lambda chance, text: rewrapped(chance, text)),
    "all on one line": _whole(lambda _, text: rejoined(text)),
    "CRLF": _whole(lambda _, text: spelt(text, lambda sign: "\r\n" if sign == "\n" else sign)),
    "NFKD": _whole(lambda _, text: spelt(text, decomposed)),
    "upper case": _whole(lambda _, text: spelt(text, str.upper)),
    "byte order mark": _whole(lambda _, text: new("\ufeff") + text),
    "truncated": _whole(_truncated),
    "another text": other_text,
}

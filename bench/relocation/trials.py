"""One trial: a text, a quote in it, an edit whose every code point has a known origin, and what is right to say of the quote."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from annotation_rule import anchored, selector
from kinds import Kind, Unfit
from marked import Marked, revised
from sources import text_of

from groundkit.core.model import Span
from groundkit.core.relocation import Edited, Moved, Reformatted, Same, aligned, relocate

#: The passage still stands there if so much of it does; what is left of it is one place if it is not much longer.
KEPT = 0.5
#: Overlap of an anchor and the passage's code points (those in both over those in either) above which it is the passage, and
#: from which it is it neatly.
NEAR, NEAT = 0.5, 0.8
#: Edits elsewhere in the text, at most.
_REVISIONS = 8
_TRIES = 200

RIGHT, LOOSE, WRONG, LOST = "right", "loose", "wrong", "lost"


@dataclass(frozen=True)
class Trial:
    """`place` is where the passage's code points stand in the new text, in order; None if it is gone."""

    old: str
    new: str
    span: Span
    place: tuple[int, ...] | None


#: Says where the passage stands, or that it does not.
Rule: TypeAlias = Callable[[Trial], Span | None]


class Undecided(Exception):
    """What would be right to say of this edit is a matter of taste, or nobody would ask."""


def trials(
    seed: int, name: str, kind: Kind, length: int, count: int, language: str, redrawn: Counter[str]
) -> Iterator[Trial]:
    """So many trials of a kind. Those that say nothing are drawn again and counted by why."""
    for number in range(count):
        for attempt in range(_TRIES):
            chance = Random(f"{seed}/{name}/{length}/{language}/{number}/{attempt}")
            try:
                yield _trial(chance, kind, length, language)
            except (Unfit, Undecided) as why:
                redrawn[str(why) or "does not fit"] += 1
            else:
                break


def _trial(chance: Random, kind: Kind, length: int, language: str) -> Trial:
    text = text_of(chance, language)
    edit = kind(chance, text, *_quote(chance, text, length, bool(language)))
    changed = revised(chance, edit.new, chance.randrange(_REVISIONS))
    span = Span(edit.start, edit.end)
    quote = edit.old[edit.start : edit.end]
    if changed.text[edit.start : edit.end] == quote:
        raise Undecided("the quote's text stands at its span")
    return Trial(edit.old, changed.text, span, _place(changed, span, quote))


def _quote(chance: Random, text: str, length: int, dense: bool) -> tuple[int, int]:
    """About so many code points, mostly letters (in a language without blanks: of its own), between the edges of words."""
    for _ in range(_TRIES):
        start = chance.randrange(len(text) - length - 100)
        while start < len(text) - length - 50 and start and _within_word(text, start):
            start += 1
        end = start + length
        while end < len(text) and end < start + length + 20 and _within_word(text, end):
            end += 1
        quote = text[start:end]
        letters = sum(sign.isalpha() and (not dense or sign > "\u2e80") for sign in quote)
        if quote.strip() == quote and letters > (0.5 if dense else 0.6) * len(quote):
            return start, end
    raise Unfit("no such quote")


def _within_word(text: str, at: int) -> bool:
    return text[at - 1].isalnum() and text[at].isalnum() and text[at - 1].isascii() and text[at].isascii()


def _place(changed: Marked, span: Span, quote: str) -> tuple[int, ...] | None:
    """Where the passage's code points stand, or others in their place, if at least half of them do."""
    at = tuple(place for place, origin in enumerate(changed.origins) if span.start <= origin < span.end)
    if len({changed.origins[place] for place in at}) < KEPT * span.length:
        if quote in changed.text and not _is_old(changed, changed.text.find(quote), len(quote)):
            raise Undecided("the passage was lost and a copy put elsewhere")
        return None
    if at[-1] + 1 - at[0] > 2 * span.length + 40:
        raise Undecided("the passage was torn apart")
    return at


def _is_old(changed: Marked, at: int, length: int) -> bool:
    """Whether the old text had what stands there."""
    return sum(origin >= 0 for origin in changed.origins[at : at + length]) > length // 2


def ours(trial: Trial) -> Span | None:
    """This project's rule. It knows the whole old text."""
    match relocate(aligned(trial.old, trial.new), trial.span):
        case Same():
            return trial.span
        case Moved(place) | Reformatted(place) | Edited(place, _):
            return place
        case _:
            return None


def tools(trial: Trial) -> Span | None:
    """The rule of annotation tools. It knows the quote, 32 code points on each side of it, and its position."""
    return _by_tools(trial, 1 / 2)


def strict_tools(trial: Trial) -> Span | None:
    """The same with half as many errors allowed."""
    return _by_tools(trial, 1 / 4)


def _by_tools(trial: Trial, errors: float) -> Span | None:
    found = anchored(trial.new, selector(trial.old, trial.span.start, trial.span.end))
    if found is None or found.errors > errors * trial.span.length:
        return None
    return Span(found.start, found.end)


def judged(trial: Trial, found: Span | None) -> str:
    if found is None:
        return RIGHT if trial.place is None else LOST
    shared = overlap(found, trial.place or ())
    return WRONG if shared <= NEAR else RIGHT if shared >= NEAT else LOOSE


def overlap(found: Span, place: tuple[int, ...]) -> float:
    both = bisect_left(place, found.end) - bisect_left(place, found.start)
    return both / (found.length + len(place) - both)

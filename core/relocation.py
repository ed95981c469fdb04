"""What became of a passage: from an old text, today's text and a span of the old one to where it stands now, if it does.

An answer is help for a person; it never makes a drifted citation a verified one. A passage that was deleted is `Removed`, whatever
looks like it elsewhere: what stood in the old text beside the passage is never taken for it.
"""

from typing import TypeAlias

from attrs import frozen

from groundkit.core.alignment import Alignment, aligned, shifts_around
from groundkit.core.alignment_runs import OutOfWork, Work
from groundkit.core.model import Span
from groundkit.core.relocation_image import Image, image_of, longest_image
from groundkit.core.relocation_search import (
    Candidate,
    candidates,
    context_likeness,
    held_before,
    is_other_passage,
    sole_place,
)
from groundkit.core.relocation_tokens import lies_in_a_token, same_words

__all__ = [
    "Alignment",
    "Ambiguous",
    "Edited",
    "Moved",
    "OutOfBudget",
    "Reformatted",
    "Relocation",
    "Removed",
    "Same",
    "aligned",
    "relocate",
]

#: Steps that one span may take, whatever was asked before.
RELOCATION_STEPS = 2_000_000

#: What an image must have kept of a passage, and how like it be, to be the passage edited; what is enough between its neighbours.
_SIMILARITY = 0.5
_LESS = 0.4
#: How like the surroundings of a place must be to be those of the passage, and by how much more than at the next place.
_CONTEXT = 0.6
_LEAD = 0.15
#: A place less like the passage than this must have more of its surroundings.
_LIKE = 0.75
_MORE_CONTEXT = 0.7
#: The only place like a passage that is gone may have less of them.
_SOLE_CONTEXT = 0.4
#: Code points of a passage that one new place must have to be told by itself, whatever stands around it.
_PLAIN = 64
#: With this share of a passage at its place, a copy elsewhere is a copy.
_REMNANT = 1 / 3
#: Shorter quotes say too little to be found by search alone.
_SEARCHED = 20


@frozen
class Same:
    """The new text has the passage at the very span."""


@frozen
class Moved:
    """The passage stands letter for letter at another span of the new text."""

    span: Span


@frozen
class Reformatted:
    """The passage stands there up to white space, case or compatibility forms."""

    span: Span


@frozen
class Edited:
    """The passage stands there with other words in part. `similarity` is from 0 to 1."""

    span: Span
    similarity: float


@frozen
class Ambiguous:
    """Each of these places could be the passage, and none more than the next. In the order of the text."""

    candidates: tuple[Span, ...]


@frozen
class Removed:
    """The passage is gone."""


@frozen
class OutOfBudget:
    """Where the passage went was not found out within the steps allowed."""


Relocation: TypeAlias = Same | Moved | Reformatted | Edited | Ambiguous | Removed | OutOfBudget


def relocate(alignment: Alignment, span: Span, budget: int = RELOCATION_STEPS) -> Relocation:
    """What became of a span of the old text. Total, and the same whatever was asked before."""
    cited = alignment.old[span.start : span.end]
    if alignment.new[span.start : span.end] == cited:
        return Same()
    try:
        work = Work(budget)
        image = image_of(alignment, span, work)
        found = None if image is None else _in_place(alignment, span, cited, image, work)
        found = found or _beside(alignment, span, cited)
        return _better(alignment, span, found, work) if found else _elsewhere(alignment, span, cited, image, work)
    except OutOfWork:
        return OutOfBudget()


def _in_place(alignment: Alignment, span: Span, cited: str, image: Image, work: Work) -> Relocation | None:
    """The passage as the image that the alignment gives it, if that is near enough."""
    if image.shift is not None and span.start + image.shift >= 0:
        place = Span(span.start + image.shift, span.end + image.shift)
        if alignment.new[place.start : place.end] == cited:
            return Moved(place)
    if image.span.length > longest_image(span.length):
        return None
    similarity = image.similarity(alignment.new)
    alike = min(image.kept / max(image.size, 1), similarity)
    if alike < _SIMILARITY and not (alike >= _LESS and _lies_between(alignment, span, image.span, work)):
        return None
    found = _named(alignment, cited, image.span, similarity)
    if isinstance(found, Edited) and is_other_passage(alignment, image.span, similarity, span, work):
        return None
    return found


def _better(alignment: Alignment, span: Span, found: Relocation, work: Work) -> Relocation:
    """What was found in place, unless the passage's surroundings or the passage itself plainly stand elsewhere.

    A copy put right before a passage takes its place in an alignment, and so do like items of a list that is put in another order.
    """
    if not isinstance(found, Moved | Edited) or span.length < _SEARCHED:
        return found
    cited = alignment.old[span.start : span.end]
    context = context_likeness(alignment.old, span, alignment.new, found.span, work)
    if context < _CONTEXT - _LEAD:
        others = [place for place in candidates(alignment, span, work) if place.similarity >= _LIKE]
        first, second = (*(place.context for place in others[:2]), 0.0, 0.0)[:2]
        if first >= max(_CONTEXT, context + _LEAD, second + _LEAD):
            return _named(alignment, cited, others[0].span, others[0].similarity)
    if isinstance(found, Edited):
        sole = sole_place(alignment, cited, work)
        if sole is not None and (held_before(alignment, sole, span) or _fits(alignment, span, sole, work)):
            return Moved(sole)
    return found


def _lies_between(alignment: Alignment, span: Span, place: Span, work: Work) -> bool:
    """Whether a place is about as long as the passage and stands between its neighbours. What is left of a cut is shorter."""
    return 2 * place.length >= span.length and _fits(alignment, span, place, work)


def _fits(alignment: Alignment, span: Span, place: Span, work: Work) -> bool:
    return context_likeness(alignment.old, span, alignment.new, place, work) >= _CONTEXT


def _beside(alignment: Alignment, span: Span, cited: str) -> Moved | None:
    """The passage where what stands next to it puts it, for texts that have few tokens or none."""
    for shift in shifts_around(alignment, span):
        place = Span(span.start + shift, span.end + shift)
        found = alignment.new[place.start : place.end] if place.start >= 0 else ""
        if found == cited and not held_before(alignment, place, span):
            return Moved(place)
    return None


def _named(alignment: Alignment, cited: str, place: Span, similarity: float) -> Relocation:
    """Moved, reformatted or edited, by what stands at the place."""
    found = alignment.new[place.start : place.end]
    if found == cited:
        return Moved(place)
    if same_words(found, cited):
        return Reformatted(place)
    return Edited(place, similarity)


def _elsewhere(alignment: Alignment, span: Span, cited: str, image: Image | None, work: Work) -> Relocation:
    """The passage at a place that is new in the new text, if one stands out."""
    # What is a part of one word alone is not compared: words are.
    nowhere = (
        Removed() if alignment.complete and not lies_in_a_token(alignment.old, span.start, span.end) else OutOfBudget()
    )
    if span.length < _SEARCHED:
        return nowhere
    sole = sole_place(alignment, cited, work)
    remains = image is not None and _remains(alignment, span, image, work)
    if sole is not None and (not remains or held_before(alignment, sole, span)):
        return Moved(sole)
    found = candidates(alignment, span, work)
    like = [place for place in found if place.similarity >= _LIKE]
    near = [place for place in found if place.context >= (_CONTEXT if place in like else _MORE_CONTEXT)]
    if not near and len(like) == 1 and not remains and _is_plain(alignment, span, like[0], work):
        near = like
    exact = [place for place in like if alignment.new[place.span.start : place.span.end] == cited]
    if not near and len(exact) > 1 and not remains:
        return Ambiguous(tuple(sorted(place.span for place in exact)))
    rivals = [place for place in near if place.context > near[0].context - _LEAD]
    if len(rivals) > 1:
        return Ambiguous(tuple(sorted(place.span for place in rivals)))
    return _named(alignment, cited, near[0].span, near[0].similarity) if near else nowhere


def _remains(alignment: Alignment, span: Span, image: Image, work: Work) -> bool:
    """Whether so much of the passage stands at its place that a copy elsewhere does not say that it moved."""
    if image.kept < _REMNANT * image.size:
        return False
    return not is_other_passage(alignment, image.span, image.similarity(alignment.new), span, work)


def _is_plain(alignment: Alignment, span: Span, place: Candidate, work: Work) -> bool:
    """Whether a place has so much of the passage, and of nothing else that was lost, that it must be the passage."""
    cited, found = (text[at.start : at.end] for text, at in ((alignment.old, span), (alignment.new, place.span)))
    much = place.similarity * span.length >= _PLAIN or place.context >= _SOLE_CONTEXT or same_words(cited, found)
    return much and not is_other_passage(alignment, place.span, place.similarity - _LEAD, span, work)

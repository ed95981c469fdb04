"""Where a drifted passage went, as a verification: the table of reasons, from what was found when two texts were compared."""

from attrs import evolve

from groundkit.core.model import Citation, Reason, Span, Verification
from groundkit.core.relocation import (
    Ambiguous,
    Edited,
    Moved,
    OutOfBudget,
    Reformatted,
    Relocation,
    Removed,
    Same,
)
from groundkit.core.verdicts import VERDICT_OF, alike, difference_of, moved_to, said_at, sole_place_between


def explained(citation: Citation, changed: Verification, relocation: Relocation, cited: str, now: str) -> Verification:
    """What became of a passage whose text, `cited`, does not stand at its span of `now` any more. `changed` is the verdict
    that says no more than that."""
    match relocation:
        case Moved(place):
            return moved_to(citation, place, now)
        case Reformatted(place):
            said = f"only white space, case or letter forms changed; at {_at(place)} now"
            return _placed(citation, Reason.REFORMATTED, said, place, cited, now)
        case Edited(place, similarity):
            difference = difference_of(cited, now[place.start : place.end])
            said = f"{difference} ({alike(similarity)}, at {_at(place)} now)"
            return evolve(
                _placed(citation, Reason.EDITED, said, place, cited, now), similarity=round(similarity, _DIGITS)
            )
        case Ambiguous(candidates):
            places = ", ".join(map(_at, candidates))
            return _drifted(
                citation, Reason.AMBIGUOUS, f"several places could be the passage: {places}", cited, candidates
            )
        case Removed():
            gone = "the passage is gone"
            if cited in now:
                gone = f"{gone}; the same text stands elsewhere, and nothing says that it is this passage"
            return _drifted(citation, Reason.REMOVED, gone, cited)
        case OutOfBudget():
            sole = sole_place_between(citation, now, cited)
            if sole is not None:
                return moved_to(citation, sole, now)
            given_up = (
                "where the passage went was not found out: the texts differ too much to compare them in bounded time"
            )
            return evolve(changed, detail=f"{changed.detail}; {given_up}", cited=cited)
        case Same():
            return changed


#: Of a similarity, so that a detail and a number say the same on every machine.
_DIGITS = 6


def _drifted(
    citation: Citation, reason: Reason, said: str, cited: str, candidates: tuple[Span, ...] = ()
) -> Verification:
    detail = f"{said_at(citation)}: {said}"
    return Verification(VERDICT_OF[reason], reason, detail, candidates=candidates, cited=cited)


def _placed(citation: Citation, reason: Reason, said: str, place: Span, cited: str, now: str) -> Verification:
    return evolve(_drifted(citation, reason, said, cited), span=place, found=now[place.start : place.end])


def _at(span: Span) -> str:
    return f"{span.start}–{span.end}"

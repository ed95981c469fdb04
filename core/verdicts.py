"""Evidence to verdict: one total function, and one table that says which verdict a reason has."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve, field, frozen

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import CONTEXT, Citation, Reason, Span, Verdict, Verification
from groundkit.core.sources import ReadFailure, ReadProblem
from groundkit.core.storage import KeptProblem, KeptUnread

if TYPE_CHECKING:
    from groundkit.core.extraction import ExtractionFailed, ExtractorMissing

VERDICT_OF: dict[Reason, Verdict] = {
    Reason.SAME: Verdict.VERIFIED,
    Reason.MOVED: Verdict.DRIFTED,
    Reason.REFORMATTED: Verdict.DRIFTED,
    Reason.EDITED: Verdict.DRIFTED,
    Reason.AMBIGUOUS: Verdict.DRIFTED,
    Reason.REMOVED: Verdict.DRIFTED,
    Reason.CHANGED: Verdict.DRIFTED,
} | dict.fromkeys(
    (
        Reason.SOURCE_MISSING,
        Reason.SOURCE_UNREADABLE,
        Reason.NOT_TEXT,
        Reason.TOO_LARGE,
        Reason.NAME_NOT_UTF8,
        Reason.OUTSIDE_BASE,
        Reason.NO_BASE,
        Reason.EXTRACTOR_MISMATCH,
        Reason.EXTRACTION_FAILED,
        Reason.NO_SNAPSHOT_DIR,
        Reason.SNAPSHOT_MISSING,
        Reason.SNAPSHOT_CORRUPT,
        Reason.UNKNOWN_DOCUMENT,
        Reason.UNKNOWN_CHUNK,
        Reason.CITATION_REFUSED,
        Reason.BUDGET,
    ),
    Verdict.UNRESOLVABLE,
)

_REASON_OF_PROBLEM: dict[ReadProblem, Reason] = {
    ReadProblem.MISSING: Reason.SOURCE_MISSING,
    ReadProblem.UNREADABLE: Reason.SOURCE_UNREADABLE,
    ReadProblem.NOT_REGULAR: Reason.SOURCE_UNREADABLE,
    ReadProblem.NOT_TEXT: Reason.NOT_TEXT,
    ReadProblem.TOO_LARGE: Reason.TOO_LARGE,
    ReadProblem.OUTSIDE_BASE: Reason.OUTSIDE_BASE,
    ReadProblem.CHANGING: Reason.SOURCE_UNREADABLE,
    ReadProblem.UNKNOWN_SUFFIX: Reason.SOURCE_UNREADABLE,
    ReadProblem.NAME_NOT_UTF8: Reason.NAME_NOT_UTF8,
    ReadProblem.MISLABELLED: Reason.EXTRACTION_FAILED,
}


_REASON_OF_SNAPSHOT = {
    KeptProblem.MISSING: Reason.SNAPSHOT_MISSING,
    KeptProblem.CORRUPT: Reason.SNAPSHOT_CORRUPT,
}


#: The way out. Of a version that was replaced or removed there is none: its snapshot went with it.
_HINT_OF_SNAPSHOT = {
    KeptProblem.MISSING: "; this version was replaced or removed, or it is lost and `gk doctor --repair` writes it again",
    KeptProblem.CORRUPT: "; `gk doctor --repair` writes it again",
}


@frozen
class TextFound:
    """The source's text as it stands now."""

    text: str = field(repr=False)


@frozen
class NoText:
    """The source has no text now, and why."""

    failure: ReadFailure


@frozen
class NoBase:
    """A local source, and no base directory to look below."""


@frozen
class ExtractorInactive:
    """The text was made by this extractor, and it is not at work here; `active` is what is, or None; `missing` says why."""

    recorded: str
    active: str | None
    missing: ExtractorMissing | None = None


@frozen
class NotReExtracted:
    """The recorded extractor is at work and gave no text."""

    source: str
    failure: ExtractionFailed


@frozen
class NoSnapshots:
    """A fetched source, and no directory of snapshots to look in."""


@frozen
class SnapshotFound:
    """The text of a page's snapshot as it stands now."""

    text: str = field(repr=False)


@frozen
class SnapshotUnread:
    """A page's snapshot that is not there, or has no text."""

    failure: KeptUnread


@frozen
class OutOfBudget:
    """The check was cut short."""

    limit: str


#: Places with the same text before them that are looked at for a passage that moved.
_PLACES = 64
#: Code points of a text that needs no neighbours to be told from others.
_TELLING = 20

Evidence: TypeAlias = (
    TextFound
    | NoText
    | NoBase
    | ExtractorInactive
    | NotReExtracted
    | NoSnapshots
    | SnapshotFound
    | SnapshotUnread
    | OutOfBudget
)


def _verification(reason: Reason, detail: str, context_changed: bool = False) -> Verification:
    return Verification(VERDICT_OF[reason], reason, detail, context_changed)


def judge(citation: Citation, evidence: Evidence, cited: str | None = None, look: bool = True) -> Verification:
    """The verdict. Verified exactly when the text at the cited span has the cited digest.

    `cited` is the cited text where it is at hand: it makes a drift's detail say what changed, and decides nothing. With `look`,
    a passage that is not at its place is looked for between the neighbours that were recorded with it.
    """
    match evidence:
        case TextFound(text):
            return _compared(citation, text, cited, look)
        case NoText(failure):
            # What keeps all sources from being read names none.
            detail = f"{failure.source or citation.source}: {failure.detail}"
            return _verification(_REASON_OF_PROBLEM[failure.problem], detail)
        case NoBase():
            return _verification(Reason.NO_BASE, f"no base directory is given to look for {citation.source}")
        case ExtractorInactive(recorded, active, missing):
            detail = f"recorded extractor {recorded}, active here: {active or 'none'}"
            return _verification(Reason.EXTRACTOR_MISMATCH, f"{detail} ({missing.said})" if missing else detail)
        case NotReExtracted(source, failed):
            return _verification(Reason.EXTRACTION_FAILED, f"{source}: {failed.detail}")
        case NoSnapshots():
            return _verification(
                Reason.NO_SNAPSHOT_DIR, "no snapshot directory is given; pass it to check this citation"
            )
        case SnapshotFound(text):
            return _snapshot(citation, text, cited, look)
        case SnapshotUnread(failure):
            reason, hint = _REASON_OF_SNAPSHOT[failure.problem], _HINT_OF_SNAPSHOT[failure.problem]
            return _verification(reason, f"{citation.source}: its snapshot: {failure.detail}{hint}")
        case OutOfBudget(limit):
            return _verification(Reason.BUDGET, f"the check was cut short at {limit}")


def _snapshot(citation: Citation, text: str, cited: str | None, look: bool) -> Verification:
    """A page is held against its snapshot, which nobody should have changed: that it differs says so of the snapshot."""
    found = _compared(citation, text, cited, look)
    return found if found else altered(found)


def altered(found: Verification) -> Verification:
    """A drift of a page: it is its snapshot that changed."""
    return evolve(found, detail=f"local snapshot altered: {found.detail}")


def unknown_chunk(chunk_id: str) -> Verification:
    """The verdict on an id that the collection does not know."""
    return _verification(Reason.UNKNOWN_CHUNK, f"the collection knows no chunk {chunk_id}")


def unknown_document(document_id: str) -> Verification:
    """The verdict on a version that the collection does not know."""
    return _verification(Reason.UNKNOWN_DOCUMENT, f"the collection does not have the version {document_id}")


def _compared(citation: Citation, text: str, cited: str | None, look: bool) -> Verification:
    start, end = citation.span.start, citation.span.end
    found = text[start:end] if 0 <= start < end <= len(text) else None
    if found is not None and text_digest(found) == citation.digest:
        return _same(citation, text)
    if cited is not None and text_digest(cited) != citation.digest:
        cited = None
    place = sole_place_between(citation, text, cited) if look and start < end else None
    if place is not None:
        return moved_to(citation, place, text)
    if end <= start:
        now = "nothing is cited"
    elif start < 0:
        now = "there is no such place"
    elif found is None:
        now = f"the text ends at {len(text)}"
    elif cited is not None:
        now = difference_of(cited, found)
    else:
        now = f"now reads {_beginning(found)}"
    return evolve(_verification(Reason.CHANGED, f"{said_at(citation)}: {now}"), cited=cited)


def said_at(citation: Citation) -> str:
    """Where a citation was, as details begin."""
    return f"{citation.source} at {citation.span.start}–{citation.span.end}"


def moved_to(citation: Citation, place: Span, text: str) -> Verification:
    """The cited text stands at another place, letter for letter."""
    words = text[place.start : place.end]
    detail = f"{said_at(citation)}: the cited text stands at {place.start}–{place.end} now"
    return evolve(_verification(Reason.MOVED, detail), span=place, cited=words, found=words)


#: What differs is never told as the same.
_MOST_ALIKE = 0.99


def alike(similarity: float) -> str:
    """How like each other two texts that are not the same are, as people read it."""
    return f"{min(similarity, _MOST_ALIKE):.0%} alike"


def difference_of(cited: str, found: str, around: int = 24) -> str:
    """The first place where two texts that are not the same part, with some of both."""
    shorter = min(len(cited), len(found))
    first = next((at for at in range(shorter) if cited[at] != found[at]), shorter)
    rest = shorter - first
    last = next((back for back in range(rest) if cited[-1 - back] != found[-1 - back]), rest)
    start = max(0, first - around)
    old, new = (_beginning(each[start : max(len(each) - last + around, 0)], start > 0) for each in (cited, found))
    return f"{old} has other white space now" if _same_but_for_blanks(cited, found, first) else f"{old} is now {new}"


def _same_but_for_blanks(cited: str, found: str, first: int) -> bool:
    """Whether two texts differ in white space alone, from `first` on. One of the same length may end earlier or later for that."""
    shorter, longer = sorted((" ".join(cited.split()), " ".join(found.split())), key=len)
    within = 2 * len(shorter) > len(longer) and first < min(len(cited.rstrip()), len(found.rstrip()))
    return shorter == longer or (len(cited) == len(found) and within and longer.startswith(shorter))


def _beginning(text: str, cut: bool = False, limit: int = 60) -> str:
    """The first code points of a text on one line; `cut`: there was more before."""
    line = " ".join(text[: 2 * limit].split())
    return f"“{'…' if cut else ''}{line[:limit]}{'…' if len(line) > limit or len(text) > 2 * limit else ''}”"


def sole_place_between(citation: Citation, text: str, cited: str | None = None) -> Span | None:
    """The one other place where the cited text stands between the neighbours that were recorded with it.

    What is recorded as nothing was an end of the document, and fits anywhere; what is not recorded fits nowhere. Where both
    ends were, the text itself must say enough. Looks at a bounded number of places, by `cited` where that is at hand, or
    where it is what the text ends with.
    """
    before, after, length = citation.before, citation.after, citation.span.length
    if before is None or after is None:
        return None
    if cited is None and not (before or after) and text_digest(text[-length:]) == citation.digest:
        cited = text[-length:]
    if not (before or after) and (cited is None or length < _TELLING):
        return None
    word, shift = (cited, 0) if cited is not None else (before, len(before)) if before else (after, -length)
    places: list[Span] = []
    at = text.find(word)
    for _ in range(_PLACES):
        if at < 0:
            return places[0] if len(places) == 1 else None
        start = at + shift
        end = start + length
        beside = start >= 0 and text.startswith(after, end) and text.endswith(before, 0, start)
        if beside and text_digest(text[start:end]) == citation.digest:
            places.append(Span(start, end))
        at = text.find(word, at + 1)
    return None


def _same(citation: Citation, text: str) -> Verification:
    start, end = citation.span.start, citation.span.end
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    changed = citation.before not in (None, before) or citation.after not in (None, after)
    detail = f"{citation.source} at {start}–{end} says the same"
    return _verification(Reason.SAME, f"{detail}; the text around it changed" if changed else detail, changed)

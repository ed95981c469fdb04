"""What all reports share: rows and their totals, what is told of a row, and how much of a passage is shown."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from tempfile import SpooledTemporaryFile
from typing import TypeAlias

from attrs import Factory, define, frozen

from groundkit.core.live import Live, LiveState
from groundkit.core.model import Citation, Reason, Span, Verdict, Verification
from groundkit.core.word_diff import Change, DiffPart

#: A name (a chunk id, or what somebody asked for), the citation if there is one, what was found, what its page says now.
Row: TypeAlias = tuple[str, Citation | None, Verification, Live | None]

MARKS = {Verdict.VERIFIED: "✓", Verdict.DRIFTED: "≠", Verdict.UNRESOLVABLE: "✗"}

#: What stands over rows without a citation.
NO_SOURCE = "Without a source"

#: Bytes of a report that are kept in memory until its totals are known; more lie in a temporary file.
_IN_MEMORY = 8 << 20
#: Code points that are shown of each end of a stretch that is the same, and of one that is not; parts of one passage.
_SAME_END, _CHANGED_END, _PARTS = 240, 1000, 200
_CANDIDATES = 5
#: Code points that are shown of a passage that is the same as before: enough to know it again.
_KNOWN_AGAIN = 160
#: The most that is said of what was edited: there is no such thing as nearly the same and wholly alike.
_LIKEST = 0.999


@define
class Totals:
    """How many rows there were of each kind."""

    verdicts: Counter[Verdict] = Factory(Counter)
    reasons: Counter[Reason] = Factory(Counter)
    lives: Counter[LiveState] = Factory(Counter)

    def watching(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, each counted as it passes."""
        for row in rows:
            self.add(row)
            yield row

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(self.verdicts + other.verdicts, self.reasons + other.reasons, self.lives + other.lives)

    def add(self, row: Row) -> None:
        _, _, verification, live = row
        self.verdicts[verification.verdict] += 1
        self.reasons[verification.reason] += 1
        self.lives.update([live.state] if live else [])

    @property
    def rows(self) -> int:
        return self.verdicts.total()

    @property
    def unverified(self) -> int:
        return self.rows - self.verdicts[Verdict.VERIFIED]

    @property
    def why(self) -> list[tuple[Reason, int]]:
        """What drifted or cannot be resolved, by reason, as far as there is any."""
        return [(each, self.reasons[each]) for each in Reason if each is not Reason.SAME and self.reasons[each]]


@frozen
class Stretch:
    """A part of a passage as it is shown; `omitted` code points behind it are not."""

    change: Change
    text: str
    omitted: int = 0


def by_source(rows: Iterable[Row]) -> Iterator[tuple[str | None, Iterator[Row]]]:
    """Neighbours that cite the same source together; None for those without a citation."""
    return groupby(rows, lambda row: None if row[1] is None else row[1].source)


def is_told(row: Row) -> bool:
    """Whether more is said of a row than that it is one of those that are verified."""
    _, _, verification, live = row
    return not verification or (live is not None and live.state is not LiveState.SAME)


def place_of(row: Row) -> str:
    """Where a citation stands, or else its name."""
    name, citation, _, _ = row
    return name if citation is None else citation.place


def span_text(span: Span) -> str:
    return f"[{span.start}, {span.end})"


def facts(row: Row) -> list[tuple[str, str]]:
    """What is known of a row beside its verdict, by name. Spans are code points."""
    name, citation, verification, live = row
    found_in = verification.found_in
    told = (
        ("citation", "" if citation is None else name),
        ("cited span", "" if citation is None else span_text(citation.span)),
        ("line and column now", _line_and_column(verification)),
        ("span now", "" if verification.span is None else span_text(verification.span)),
        ("similarity", "" if verification.similarity is None else f"{min(verification.similarity, _LIKEST):.3f}"),
        ("could be", _candidates(verification.candidates)),
        ("found in", "" if found_in is None else f"{found_in.source} {span_text(found_in.span)}"),
        ("same bytes at", verification.same_bytes_at or ""),
        ("surroundings", "changed" if verification.context_changed else ""),
        ("document", "incomplete" if citation is not None and citation.incomplete else ""),
        ("live", "" if live is None else str(live)),
    )
    return [(fact, value) for fact, value in told if value]


def _line_and_column(verification: Verification) -> str:
    now = verification.locator
    return "" if now is None else f"{now.line}:{now.column}"


def _candidates(spans: tuple[Span, ...]) -> str:
    shown = ", ".join(map(span_text, spans[:_CANDIDATES]))
    return f"{shown} and {len(spans) - _CANDIDATES} more" if len(spans) > _CANDIDATES else shown


def is_unchanged(verification: Verification) -> bool:
    """Whether a passage moved and is otherwise as it was cited."""
    cited = verification.cited
    return verification.reason is Reason.MOVED and cited is not None and cited == verification.found


def note_of(verification: Verification) -> str:
    """What is said in place of a diff that would show nothing, where the detail does not say it."""
    note = ""
    if is_unchanged(verification):
        note = "moved, its text is unchanged"
    elif verification.reason is Reason.REFORMATTED:
        note = "only white space, case or letter forms changed"
    return "" if note in verification.detail else note


def passage(verification: Verification) -> list[Stretch]:
    """The passage then and now, as far as it is known, without the middle of stretches that are long."""
    parts = _passage(verification)
    if len(parts) == 1:
        only = parts[0]
        same = only.change is Change.SAME and verification.reason in (Reason.MOVED, Reason.REFORMATTED)
        return list(_begun(only) if same else _shortened(only, _CHANGED_END))
    shown = [
        piece
        for part in parts[:_PARTS]
        for piece in _shortened(part, _SAME_END if part.change is Change.SAME else _CHANGED_END)
    ]
    return [*shown, *_rest(parts[_PARTS:])]


def _rest(parts: tuple[DiffPart, ...]) -> Iterator[Stretch]:
    """The parts that are too many, of each version for itself."""
    for change, other in ((Change.REMOVED, Change.ADDED), (Change.ADDED, Change.REMOVED)):
        omitted = sum(len(part.text) for part in parts if part.change is not other)
        if omitted:
            yield Stretch(change, "", omitted)


def _passage(verification: Verification) -> tuple[DiffPart, ...]:
    cited, found = verification.cited, verification.found
    diff = verification.diff
    if diff:
        return _without_blanks(diff) if verification.reason is Reason.REFORMATTED else diff
    if cited and found is None:
        # Without a sign it would read as what stands there now.
        return (DiffPart(Change.REMOVED, cited),)
    same = cited or found
    return (DiffPart(Change.SAME, same),) if same else ()


def _without_blanks(parts: Iterable[DiffPart]) -> tuple[DiffPart, ...]:
    """The parts with white space as it is now, wherever nothing else changed. No two neighbours of one kind that is the same."""
    kept: list[DiffPart] = []
    for changed, run in groupby(parts, lambda part: part.change is not Change.SAME):
        some = list(run)
        if changed and all(part.text.isspace() for part in some):
            some = [DiffPart(Change.SAME, part.text) for part in some if part.change is Change.ADDED]
        for part in some:
            if kept and part.change is kept[-1].change is Change.SAME:
                part = DiffPart(Change.SAME, kept.pop().text + part.text)
            kept.append(part)
    return tuple(kept)


def _begun(part: DiffPart) -> Iterator[Stretch]:
    omitted = len(part.text) - _KNOWN_AGAIN
    if omitted <= _KNOWN_AGAIN // 4:
        yield Stretch(part.change, part.text)
    else:
        yield Stretch(part.change, part.text[:_KNOWN_AGAIN], omitted)


def _shortened(part: DiffPart, end: int) -> Iterator[Stretch]:
    omitted = len(part.text) - 2 * end
    # To say that a few are missing takes as much room as they do.
    if omitted <= end // 2:
        yield Stretch(part.change, part.text)
    else:
        yield Stretch(part.change, part.text[:end], omitted)
        yield Stretch(part.change, part.text[-end:])


def counted(number: int, what: str) -> str:
    """`1 source`, `1,200 sources`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def spooled() -> SpooledTemporaryFile[str]:
    """A file for pieces that are told later than they are made."""
    return SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="")


def pieces_of(kept: SpooledTemporaryFile[str]) -> Iterator[str]:
    """Pieces of at most a mebibyte."""
    kept.seek(0)
    return iter(lambda: kept.read(1 << 20), "")


def headed(body: Iterable[str], head: Callable[[], Iterable[str]]) -> Iterator[str]:
    """A body behind a head that only the end of the body can tell."""
    with spooled() as kept:
        for piece in body:
            kept.write(piece)
        yield from chain(head(), pieces_of(kept))

"""Rows that are told as one: neighbours of which nothing else is to be said than of the first."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby

from attrs import evolve

from groundkit.core.model import Citation, SourceClass, Verdict
from groundkit.reports.rows import Row, counted, facts, is_unchanged, place_of, span_text

#: Fewer neighbours are told each for itself.
FEWEST = 3


def told_together(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows of one source in their order: those alone that have something of their own to tell.

    Together are neighbours that moved by one distance, and neighbours that cannot be resolved for one reason with one detail.
    """
    told: list[list[Row]] = []
    for said, some in groupby(rows, _said):
        alike = list(some)
        told += [[row] for row in alike] if said is None or len(alike) < FEWEST else [alike]
    return told


def _said(row: Row) -> Hashable:
    """What is to be said of a row beside its place, and nothing of one that has more to tell."""
    _, citation, verification, live = row
    more = live, citation is not None and citation.incomplete
    if verification.verdict is Verdict.UNRESOLVABLE:
        return verification, *more
    distance = _distance(row)
    if distance is None:
        return None
    return evolve(verification, detail="", span=None, locator=None, cited=None, found=None), distance, *more


def _distance(row: Row) -> int | None:
    """By how many code points a passage moved that is otherwise unchanged."""
    _, citation, verification, _ = row
    if citation is None or verification.span is None or not is_unchanged(verification):
        return None
    return verification.span.start - citation.span.start


def detail_of(rows: Sequence[Row]) -> str:
    """The sentence on rows that are told as one."""
    distance = _distance(rows[0])
    if len(rows) == 1 or distance is None:
        return rows[0][2].detail
    return (
        f"all moved {counted(abs(distance), 'code point')} {'back' if distance < 0 else 'on'}, their text is unchanged"
    )


def common_facts(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """What is known of all the rows."""
    first, *others = (facts(row) for row in rows)
    return [fact for fact in first if all(fact in other for other in others)]


def place_in_source(row: Row) -> str:
    """Where a citation stood in its source, and where it stands now if that is told by lines and columns."""
    _, citation, verification, _ = row
    if citation is None:
        return place_of(row)
    now = verification.locator if citation.source_class is SourceClass.TEXT else None
    return f"{_short(citation)} → {now.line}:{now.column}" if now else _short(citation)


def _short(citation: Citation) -> str:
    return citation.place.removeprefix(citation.source).lstrip(": ") or span_text(citation.span)

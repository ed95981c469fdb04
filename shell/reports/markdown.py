"""A verification as Markdown, for the summary of a job or a comment.

What comes from documents stands in code spans and fenced blocks alone: there it is no markup, no link, no mention, no reference.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from groundkit.core.live import LiveState
from groundkit.core.model import Verdict, Verification
from groundkit.reports.rows import (
    MARKS,
    NO_SOURCE,
    Row,
    Totals,
    by_source,
    counted,
    headed,
    is_told,
    note_of,
    passage,
    place_of,
)
from groundkit.reports.signs import one_line
from groundkit.reports.text_diff import diff_lines
from groundkit.reports.together import common_facts, detail_of, place_in_source, told_together

#: Bytes of UTF-8 that are told: the summary of a step on GitHub holds 1 MiB.
MOST = 1_000_000
#: Places of one entry that are named.
_PLACES = 40

_FENCES = re.compile("`+")


def markdown_report(rows: Iterable[Row], most: int = MOST) -> Iterator[str]:
    """The pieces of a report that has a table of totals and what is not verified, `most` bytes of that and no more."""
    totals = Totals()
    yield from headed(_bounded(_sources(totals.watching(rows)), most), lambda: _head(totals))


def _head(totals: Totals) -> Iterator[str]:
    whole = "every citation is verified" if totals.rows else "there was nothing to check"
    outcome = (
        f"{totals.unverified:,} of {counted(totals.rows, 'citation')} not verified" if totals.unverified else whole
    )
    yield f"## Citations: {outcome}\n\n| verdict | citations |\n| --- | ---: |\n"
    yield from (f"| {MARKS[verdict]} {verdict.value} | {totals.verdicts[verdict]} |\n" for verdict in Verdict)
    if totals.why:
        yield "\n| reason | citations |\n| --- | ---: |\n"
        yield from (f"| {reason.value} | {count} |\n" for reason, count in totals.why)
    if totals.lives:
        yield "\n| live page | citations |\n| --- | ---: |\n"
        yield from (f"| {state.value} | {totals.lives[state]} |\n" for state in LiveState)


def _bounded(pieces: Iterable[tuple[str, int]], most: int) -> Iterator[str]:
    """Pieces up to a number of bytes, and how many rows the others would have told."""
    left, untold = most, 0
    for piece, rows in pieces:
        left -= len(piece.encode())
        if left >= 0:
            yield piece
        else:
            # Nothing behind a gap, or a row would stand below the heading of another source.
            left, untold = -1, untold + rows
    if untold:
        yield f"\n{counted(untold, 'more citation')} not shown: the report would be too long.\n"


def _sources(rows: Iterable[Row]) -> Iterator[tuple[str, int]]:
    """Pieces of Markdown with the number of rows that each tells."""
    for source, cited in by_source(rows):
        totals = Totals()
        told = told_together([row for row in totals.watching(cited) if is_told(row)])
        if told:
            name = NO_SOURCE if source is None else code(source)
            count = f"{totals.unverified:,} of {totals.rows:,} not verified"
            heading = f"\n### {name}: {count if totals.unverified else 'verified, but changed where it is live'}\n"
            yield from chain([(heading, 0)], ((_entry(rows), len(rows)) for rows in told))


def _entry(rows: Sequence[Row]) -> str:
    _, _, verification, _ = first = rows[0]
    verdict = verification.verdict
    where = code(place_of(first)) if len(rows) == 1 else counted(len(rows), "citation")
    head = f"\n**{MARKS[verdict]} {verdict.value}** ({verification.reason.value}) {where}\n"
    told = [f"\n- {code(detail_of(rows))}\n", *(f"- {fact}: {code(value)}\n" for fact, value in common_facts(rows))]
    return "".join([head, *told, _places(rows) if len(rows) > 1 else _passage(verification)])


def _places(rows: Sequence[Row]) -> str:
    named = ", ".join(map(place_in_source, rows[:_PLACES]))
    more = f" and {len(rows) - _PLACES} more" if len(rows) > _PLACES else ""
    return f"- places: {code(named)}{more}\n"


def _passage(verification: Verification) -> str:
    note = note_of(verification)
    lines = diff_lines(passage(verification))
    return "".join([f"- {note}\n" if note else "", "\n" if lines else "", _fenced(lines)])


def code(text: str) -> str:
    """A code span that holds the text on one line, whatever it is."""
    shown = one_line(text) or " "
    fence = "`" * (_longest(shown) + 1)
    # One blank at each end is taken away again, where both ends have one and something else stands between.
    pad = " " if shown[0] in " `" or shown[-1] in " `" else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _fenced(lines: list[str]) -> str:
    """A block of a diff that no line can end."""
    if not lines:
        return ""
    text = "\n".join(lines)
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}diff\n{text}\n{fence}\n"


def _longest(text: str) -> int:
    return max(map(len, _FENCES.findall(text)), default=0)

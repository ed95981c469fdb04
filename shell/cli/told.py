"""What `gk verify` says to a person: a paragraph for each citation, one for many that share their fate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import click
from attrs import define

from groundkit.cli.common import badge, incomplete_mark, place, style
from groundkit.cli.printable import one_line
from groundkit.core.live import LiveState
from groundkit.core.model import Citation, Locator, Reason, SourceClass, Verdict, Verification
from groundkit.core.verdicts import alike

if TYPE_CHECKING:
    from groundkit.cli.checks import Row

#: A label that is safe to print as a link to what the citation cites, or to where it stands now.
Linked: TypeAlias = Callable[[str, Citation, Locator | None], str]

#: So many neighbours with one fate are told together.
_MANY = 4

_TINTS = {
    LiveState.SAME: "green",
    LiveState.MOVED: "yellow",
    LiveState.EDITED: "yellow",
    LiveState.REMOVED: "red",
    LiveState.UNREACHABLE: "magenta",
}


def tell(rows: Iterable[Row], verbose: bool, color: bool, linked: Linked) -> None:
    """Print what is to be said of each row: of what is verified nothing, unless somebody asked for it."""
    told = (row for row in rows if verbose or _is_told(row))
    if verbose:
        for row in told:
            _print(row, color, linked)
        return
    for run in _runs(told):
        if run.count >= _MANY:
            _print_many(run, color, linked)
        else:
            for row in run.first:
                _print(row, color, linked)


@define
class _Run:
    """Neighbours with one fate: the first few of them, the last, and how many there are."""

    fate: tuple[object, ...] | None
    first: list[Row]
    last: Row
    count: int = 1

    def add(self, row: Row) -> None:
        self.count += 1
        self.last = row
        if len(self.first) < _MANY:
            self.first.append(row)


def _runs(rows: Iterable[Row]) -> Iterator[_Run]:
    """The rows as they come; those with one fate when the last of them has come."""
    run: _Run | None = None
    for row in rows:
        fate = _fate(row)
        if run is not None and fate == run.fate:
            run.add(row)
            continue
        if run is not None:
            yield run
        run = _Run(fate, [row], row)
        if fate is None:
            yield run
            run = None
    if run is not None:
        yield run


def _is_told(row: Row) -> bool:
    return row.asked or not row.verification or (row.live is not None and row.live.state is not LiveState.SAME)


def _fate(row: Row) -> tuple[object, ...] | None:
    """What neighbours have in common that are told together; None for a row that is told by itself."""
    verification, citation = row.verification, row.citation
    if citation is None or row.asked or row.live is not None:
        return None
    if verification.reason is Reason.MOVED and verification.span is not None:
        return citation.source, Reason.MOVED, verification.span.start - citation.span.start
    if verification.verdict is Verdict.UNRESOLVABLE:
        return citation.source, verification.reason, verification.detail
    return None


def _print(row: Row, color: bool, linked: Linked) -> None:
    citation, verification = row.citation, row.verification
    where = one_line(row.name)
    if citation is not None and citation.locator is not None:
        where = f"{linked(place(citation), citation, None)}{_now(row, linked)} {one_line(row.name)}"
    mark = incomplete_mark(citation is not None and citation.incomplete, color)
    click.echo(f"{badge(verification, color)}  {where}{mark}")
    if not print_diff(verification, color):
        click.echo(f"   {one_line(verification.detail)}")
    if row.live is not None:
        said = style(row.live.state.value, color, fg=_TINTS[row.live.state])
        click.echo(f"   live: {said}: {one_line(row.live.detail)}")


def _print_many(run: _Run, color: bool, linked: Linked) -> None:
    row, last = run.first[0], run.last
    assert row.citation is not None
    assert last.citation is not None
    mark = incomplete_mark(row.citation.incomplete, color)
    from_to = f"{linked(place(row.citation), row.citation, None)} … {linked(place(last.citation), last.citation, None)}"
    click.echo(f"{badge(row.verification, color)}  {from_to}  {run.count} citations{mark}")
    click.echo(f"   {_of_all(row.verification, row.citation)}; -v lists them")


def _of_all(verification: Verification, citation: Citation) -> str:
    if verification.span is None:
        return one_line(verification.detail)
    shift = verification.span.start - citation.span.start
    points = "1 code point" if abs(shift) == 1 else f"{abs(shift)} code points"
    return f"each cited text stands {points} {'further on' if shift > 0 else 'before its place'} now"


def print_diff(verification: Verification, color: bool) -> bool:
    """The words of an edited passage then and now, if there are any to show."""
    parts, span = verification.diff, verification.span
    if verification.reason is not Reason.EDITED or not parts or span is None:
        return False
    from groundkit.cli.diffs import diff_line

    click.echo(f"   {alike(verification.similarity or 0)}, at {span.start}–{span.end} now: {diff_line(parts, color)}")
    return True


def _now(row: Row, linked: Linked) -> str:
    """Where a passage stands now, if that is told by lines and columns and is another place."""
    now, citation = row.verification.locator, row.citation
    if now is None or citation is None or citation.locator is None or citation.source_class is not SourceClass.TEXT:
        return ""
    if (now.line, now.column) == (citation.locator.line, citation.locator.column):
        return ""
    return f" → {linked(f'{now.line}:{now.column}', citation, now)}"

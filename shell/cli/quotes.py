"""What checking a text ends in, printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from groundkit.cite_values import AnswerCheck, MarkerCheck, QuoteCheck, QuoteState
from groundkit.cli.common import badge, place, print_json, print_json_line, style
from groundkit.cli.printable import one_line
from groundkit.core.quote_matching import NearKind
from groundkit.core.verdicts import alike
from groundkit.core.word_diff import Change, DiffPart, word_diff

if TYPE_CHECKING:
    from groundkit.cli.told import Linked

_MARKS = {QuoteState.EXACT: ("✓", "green"), QuoteState.NEAR: ("≠", "yellow"), QuoteState.NOWHERE: ("✗", "red")}
#: Code points of a quotation that its line shows.
_SHOWN = 100


def told(checked: AnswerCheck, form: str, verbose: bool, color: bool, linked: Linked) -> int:
    """Print every quotation and every mark; the exit code."""
    rows: list[QuoteCheck | MarkerCheck] = [*checked.quotations, *checked.markers]
    rows.sort(key=lambda row: row.span)
    match form:
        case "json":
            quotations = [quote_data(each) for each in checked.quotations]
            marks = [marker_data(each) for each in checked.markers]
            print_json({"totals": _totals(checked), "quotations": quotations, "markers": marks})
        case "jsonl":
            for row in rows:
                is_quote = isinstance(row, QuoteCheck)
                data = quote_data(row) if isinstance(row, QuoteCheck) else marker_data(row)
                print_json_line({"type": "quotation" if is_quote else "marker", **data})
        case _:
            for row in rows:
                if isinstance(row, QuoteCheck):
                    if verbose or not row or row.detail:
                        print_quote(row, color, f"{row.line}:{row.column}", linked)
                elif not row:
                    _print_marker(row, color)
            click.echo(_summary(checked))
    if not rows:
        short = f"; {checked.passed_over} too short to be told" if checked.passed_over else ""
        click.echo(f"gk: no quotation and no mark found{short}", err=True)
    return 0 if checked else 1


def _totals(checked: AnswerCheck) -> dict[str, int]:
    unknown = sum(1 for each in checked.markers if not each)
    return {
        **{state.value: checked.count(state) for state in QuoteState},
        "markers": len(checked.markers),
        "unknown_markers": unknown,
        "passed_over": checked.passed_over,
    }


def _summary(checked: AnswerCheck) -> str:
    totals = _totals(checked)
    said = ", ".join(f"{state.value} {totals[state.value]}" for state in QuoteState)
    marks = f"; marks {totals['markers']}, unknown {totals['unknown_markers']}" if checked.markers else ""
    short = f"; {checked.passed_over} too short to be told" if checked.passed_over else ""
    return f"quotations: {said}{marks}{short}"


def print_quote(check: QuoteCheck, color: bool, at: str, linked: Linked) -> None:
    """One quotation for a person; `at` is its place in the text."""
    sign, tint = _MARKS[check.state]
    head = style(f"{sign} {check.state.value}{_kind(check)}", color, fg=tint)
    where = "" if check.citation is None else f"  {linked(place(check.citation), check.citation, None)}"
    marks = "".join(f" {one_line(mark.text)}" for mark in check.markers)
    click.echo(f"{at}{'  ' if at else ''}{head}{where}{_verdict(check, color)}{style(marks, color, dim=True)}")
    click.echo(f"   {_quotation_line(check, color)}")
    for said in _remarks(check, linked):
        click.echo(f"   {said}")


def _kind(check: QuoteCheck) -> str:
    """What does not stand there as it is quoted is never wholly like it."""
    if check.state is not QuoteState.NEAR or check.similarity is None:
        return ""
    how = f", {alike(check.similarity)}" if check.kind is NearKind.EDITED else ""
    return f" ({check.kind}{how})"


def _verdict(check: QuoteCheck, color: bool) -> str:
    """The verdict is on what the source says: beside a misquotation, that it is verified would only mislead."""
    if check.verification is None or (check.verification and check.state is QuoteState.NEAR):
        return ""
    return f"  {badge(check.verification, color)}"


def _quotation_line(check: QuoteCheck, color: bool) -> str:
    """The quotation, or in what it differs from its source."""
    parts = _printed_diff(check)
    if any(part.change is not Change.SAME for part in parts):
        from groundkit.cli.diffs import diff_line

        return f"source → quotation: {diff_line(parts, color)}"
    return f"“{one_line(check.quote if len(check.quote) <= _SHOWN else f'{check.quote[: _SHOWN - 1]}…')}”"


def _printed_diff(check: QuoteCheck) -> list[DiffPart]:
    """Word by word, without differences of white space and without what the quotation says that it leaves out."""
    from groundkit.core.quote_matching import parts_of, squashed

    if check.state is not QuoteState.NEAR or check.found is None:
        return []
    stood, quoted = check.found_parts, parts_of(check.quote)
    if len(stood) != len(quoted):
        stood, quoted = (check.found,), (check.quote,)
    found: list[DiffPart] = []
    for old, new in zip(stood, quoted, strict=True):
        found += [DiffPart(Change.SAME, " … ")] if found else []
        found += word_diff(squashed(old), squashed(new))
    return found


def _remarks(check: QuoteCheck, linked: Linked) -> Iterator[str]:
    if check.detail:
        yield one_line(check.detail)
    if check.elsewhere is not None:
        yield f"it stands elsewhere: {linked(place(check.elsewhere), check.elsewhere, None)}"
    if check.verification is not None and not check.verification:
        yield one_line(check.verification.detail)


def _print_marker(check: MarkerCheck, color: bool) -> None:
    sign = style("✗ unknown", color, fg="red")
    click.echo(f"{check.line}:{check.column}  {sign}  {one_line(check.text)}: {one_line(check.detail)}")


def quote_data(check: QuoteCheck) -> dict[str, Any]:
    """One quotation as JSON has it; `diff` leads from what its source says to what is quoted."""
    from groundkit.wire import data_of

    return {
        "quote": check.quote,
        "line": check.line,
        "column": check.column,
        "start": check.span.start,
        "end": check.span.end,
        "state": check.state.value,
        "holds": bool(check),
        "kind": None if check.kind is None else check.kind.value,
        "similarity": check.similarity,
        "citation": data_of(check.citation),
        "found": check.found,
        "places": check.places,
        "markers": [mark.text for mark in check.markers],
        "elsewhere": data_of(check.elsewhere),
        "verification": data_of(check.verification),
        "detail": check.detail,
        "diff": [{"change": part.change.value, "text": part.text} for part in check.diff],
    }


def marker_data(check: MarkerCheck) -> dict[str, Any]:
    """One mark as JSON has it."""
    return {
        "text": check.text,
        "line": check.line,
        "column": check.column,
        "start": check.span.start,
        "end": check.span.end,
        "state": check.state.value,
        "sources": list(check.sources),
        "detail": check.detail,
    }

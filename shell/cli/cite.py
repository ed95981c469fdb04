"""`gk cite`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from groundkit.cite_values import AnswerCheck, CitedQuote, MarkerCheck, QuoteCheck, QuoteState
from groundkit.cli.common import (
    badge,
    base_option,
    collection_options,
    color_option,
    format_option,
    incomplete_mark,
    opened,
    place,
    print_json,
    print_json_line,
    style,
    unsecret,
    use_color,
)
from groundkit.cli.printable import json_text, one_line, printable
from groundkit.core.result import Failure

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.core.model import Citation, RetrievalResult
    from groundkit.core.portable import PortableCitation

_MARKS = {QuoteState.EXACT: ("✓", "green"), QuoteState.NEAR: ("≠", "yellow"), QuoteState.NOWHERE: ("✗", "red")}
#: Code points of a quotation that its line shows.
_SHOWN = 100


@click.command("cite")
@click.argument("file", required=False, type=click.File("rb"))
@click.option("--quote", metavar="TEXT", help="Make a citation of this text, if it stands in the collection.")
@click.option("--source", metavar="SOURCE", help="With --quote: in this source only, as `gk files` lists it.")
@click.option("--hits", metavar="FILE", type=click.File("rb"), help="What `[1]` counts: the JSON of `gk search`.")
@click.option("--all", "everything", is_flag=True, help="Write a citation of every chunk, to be checked anywhere.")
@click.option(
    "--chunk", "chunks", metavar="CHUNK_OR_SOURCE", multiple=True, help="Write these citations; may be given again."
)
@click.option("-v", "--verbose", is_flag=True, help="Print the exact quotations, too.")
@collection_options
@base_option
@format_option("human", "json", "jsonl", "annotations")
@color_option
def cite_command(
    file: BinaryIO | None,
    quote: str | None,
    source: str | None,
    hits: BinaryIO | None,
    everything: bool,
    chunks: tuple[str, ...],
    verbose: bool,
    index_dir: str | None,
    collection: str,
    base_dir: str | None,
    form: str,
    color: str,
) -> int:
    """Check what a text quotes: FILE, or standard input. Exit code 1 unless every quotation is exact and every mark is known.

    A quotation stands in quotation marks or is a Markdown block quote. It is exact where a source has the same letters, near
    with what differs, or nowhere; `[1]`, `[^1]`, a place or a chunk id behind it says where it has to stand.

    With --quote, one text becomes a citation, with --all or --chunk what the collection has does: JSON lines that
    `gk verify --file` checks, or W3C web annotations.
    """
    ways = (file is not None, quote is not None, everything, bool(chunks))
    if ways.count(True) > 1:
        raise click.UsageError("give a FILE, --quote, --all or --chunk, one of them")
    if source is not None and quote is None:
        raise click.UsageError("--source goes with --quote")
    checks = quote is None and not everything and not chunks
    if hits is not None and not checks:
        raise click.UsageError("--hits goes with a FILE")
    if checks and form == "annotations":
        raise click.UsageError("--format annotations goes with --quote, --all and --chunk")
    if checks and file is None and sys.stdin.isatty():
        raise click.UsageError("give a FILE, or text on standard input, or --quote, --all or --chunk")
    if quote is not None and not any(map(str.isalnum, quote)):
        raise click.UsageError("the quotation holds no letter and no digit")
    text = _text_of(file) if checks else ""
    given = None if hits is None else _hits_of(hits)
    with opened(index_dir, collection, base_dir) as found:
        if quote is not None:
            return _quoted(found, quote, source, form, use_color(color))
        if not checks:
            return _exported(found, chunks, form)
        checked = found.check_answer(text, given)
    return _told(checked, form, verbose, use_color(color))


def _text_of(file: BinaryIO | None) -> str:
    from groundkit.core.decoding import decode

    stream: Any = sys.stdin.buffer if file is None else file
    decoded = decode(stream.read())
    if isinstance(decoded, Failure):
        raise click.UsageError(one_line(f"what is to be checked is no text: {decoded.failure().detail}"))
    return decoded.unwrap()


def _hits_of(file: BinaryIO) -> list[RetrievalResult]:
    from groundkit.cite_hits import hits_from

    hits = hits_from(file.read())
    if isinstance(hits, Failure):
        raise click.UsageError(one_line(f"{file.name} holds no hits of a search: {hits.failure()}"))
    return hits.unwrap()


# -- one quotation


def _quoted(found: Collection, quote: str, source: str | None, form: str, color: bool) -> int:
    if source is not None and not found.get_document_records(source):
        raise click.UsageError(f"the collection has no source {unsecret(source)}; `gk files` lists those it has")
    cited = found.find_quote(quote, source=source)
    if cited.citation is None:
        _print_nowhere(cited, form, color)
        return 1
    if form == "human":
        _print_cited(found, cited, cited.citation, color)
    else:
        _write(cited.citation, form)
    return 0


def _print_cited(found: Collection, cited: CitedQuote, portable: PortableCitation, color: bool) -> None:
    citation = portable.citation
    more = f"  the first of {cited.places} places" if cited.places > 1 else ""
    mark = incomplete_mark(citation.incomplete, color)
    verdict = badge(found.verify(citation), color)
    click.echo(f"{style(place(citation), color, bold=True)}  {verdict}{mark}{style(more, color, dim=True)}")
    for line in printable(portable.text).split("\n"):
        click.echo(f"   {line}".rstrip())
    click.echo(style(f"   {citation.start_offset}–{citation.end_offset}  {citation.chunk_id}", color, dim=True))


def _print_nowhere(cited: CitedQuote, form: str, color: bool) -> None:
    click.echo(
        "gk: the quotation stands nowhere" + (", but something near it does" if cited.near is not None else ""),
        err=True,
    )
    if cited.near is not None and form == "human":
        _print_quote(cited.near, color, "")


# -- citations of chunks


def _exported(found: Collection, chunks: tuple[str, ...], form: str) -> int:
    """Everything that was asked for, or nothing: a file of citations must not lack some unnoticed."""
    citations = list(_named(found, chunks)) if chunks else found.citations()
    count = 0
    for portable in found.portable_each(citations):
        _write(portable, "annotations" if form == "annotations" else "jsonl")
        count += 1
    return 0 if count else 1


def _named(found: Collection, names: tuple[str, ...]) -> Iterator[Citation]:
    for name in names:
        if found.get_document_records(name):
            yield from found.citations(name)
            continue
        fetched = found.fetch_chunk(name)
        if fetched.citation is None:
            raise click.UsageError(f"the collection has no source and no chunk {unsecret(name)}")
        yield fetched.citation


def _write(portable: PortableCitation, form: str) -> None:
    if form == "annotations":
        from groundkit.travelling import to_web_annotation

        data = to_web_annotation(portable)
    else:
        from groundkit.portable_json import citation_data

        data = citation_data(portable)
    indent = 2 if form == "json" else None
    separators = None if form == "json" else (",", ":")
    click.echo(json_text(json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)))


# -- a text that quotes


def _told(checked: AnswerCheck, form: str, verbose: bool, color: bool) -> int:
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
                        _print_quote(row, color, f"{row.line}:{row.column}")
                elif not row:
                    _print_marker(row, color)
            click.echo(_summary(checked))
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


def _print_quote(check: QuoteCheck, color: bool, at: str) -> None:
    from groundkit.cli.diffs import diff_line

    sign, tint = _MARKS[check.state]
    kind = ""
    if check.state is QuoteState.NEAR and check.similarity is not None:
        alike = f", {check.similarity:.0%} alike" if check.similarity < 1 else ""
        kind = f" ({check.kind}{alike})"
    head = style(f"{sign} {check.state.value}{kind}", color, fg=tint)
    where = f"  {place(check.citation)}" if check.citation is not None else ""
    verdict = f"  {badge(check.verification, color)}" if check.verification is not None else ""
    marks = "".join(f" {one_line(mark.text)}" for mark in check.markers)
    click.echo(f"{at}{'  ' if at else ''}{head}{where}{verdict}{style(marks, color, dim=True)}")
    if check.diff:
        click.echo(f"   {diff_line(check.diff, color)}")
    else:
        shown = one_line(check.quote if len(check.quote) <= _SHOWN else f"{check.quote[: _SHOWN - 1]}…")
        click.echo(f"   “{shown}”")
    for said in _remarks(check):
        click.echo(f"   {said}")


def _remarks(check: QuoteCheck) -> Iterator[str]:
    if check.detail:
        yield one_line(check.detail)
    if check.elsewhere is not None:
        yield f"it stands elsewhere: {place(check.elsewhere)}"
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

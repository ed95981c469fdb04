"""`gk show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from groundkit.cli.common import (
    badge,
    base_option,
    collection_options,
    color_option,
    format_option,
    incomplete_mark,
    linked_by,
    opened,
    page_facts,
    place,
    print_json,
    style,
    use_color,
)
from groundkit.cli.older import is_older, show_older
from groundkit.cli.printable import one_line, printable
from groundkit.core.model import SourceClass, Verification
from groundkit.errors import GroundkitError

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.core.model import Citation
    from groundkit.core.units import SpanUnits
    from groundkit.fetch import FetchedChunk


@click.command("show")
@click.argument("chunk")
@click.option(
    "-C",
    "--context",
    metavar="N",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Lines to show before and after the passage.",
)
@collection_options
@base_option
@format_option("human", "json")
@color_option
def show_command(
    chunk: str, context: int, index_dir: str | None, collection: str, base_dir: str | None, form: str, color: str
) -> int:
    """Show one chunk in its place, with its citation and what its source says now. CHUNK is an id or the beginning of one.

    The passage stands between ⟦ and ⟧, or in bold where there are colours, among the lines around it as they were ingested.
    """
    if not chunk.strip():
        raise click.UsageError("the chunk id is empty")
    with opened(index_dir, collection, base_dir) as found:
        try:
            fetched = found.fetch_chunk(chunk)
        except GroundkitError as error:
            if not is_older(error):
                raise
            return show_older(found, error, chunk, form)
        if form == "json":
            _print_data(found, fetched)
        elif fetched.citation is None:
            click.echo(f"gk: {one_line(fetched.verification.detail)}", err=True)
        else:
            _print(found, fetched, fetched.citation, context, use_color(color))
    return 0 if fetched.verification else 1


def _print_data(found: Collection, fetched: FetchedChunk) -> None:
    from groundkit.wire import data_of

    more = {}
    if fetched.citation is not None:
        more = {"units": data_of(found.units(fetched.citation)), "link": found.link(fetched.citation)}
    data = data_of(fetched)
    # The one is of a run of the program, the other is not asked for.
    del data["revision"], data["place"]
    print_json(data | more)


def _print(found: Collection, fetched: FetchedChunk, citation: Citation, context: int, on: bool) -> None:
    from groundkit.cli.passages import lines_around, shown
    from groundkit.cli.told import print_diff

    click.echo(
        f"{linked_by(found)(style(place(citation), on, bold=True), citation, None)}  {badge(fetched.verification, on)}"
        f"{incomplete_mark(citation.incomplete, on)}"
    )
    facts = _facts(found, fetched, citation)
    width = max(len(name) for name, value in facts if value)
    for name, value in facts:
        if value:
            click.echo(f"{style(name.rjust(width), on, dim=True)}  {one_line(value)}")
    print_diff(fetched.verification, on)
    click.echo()
    text = found.document_text(citation.document_id)
    if text is None:  # replaced since it was fetched
        click.echo(printable(fetched.chunk.text if fetched.chunk else ""))
        return
    numbered = citation.source_class is SourceClass.TEXT
    for line in shown(lines_around(text, citation.span, context), numbered, on):
        click.echo(line)


def _facts(found: Collection, fetched: FetchedChunk, citation: Citation) -> list[tuple[str, str]]:
    locator = citation.locator
    return [
        ("headings", " › ".join(locator.heading_path) if locator else ""),
        ("pages", str(locator.pages or "") if locator else ""),
        ("anchor", locator.anchor if locator else ""),
        ("span", _units(found.units(citation))),
        ("link", found.link(citation) or ""),
        ("class", citation.source_class.value + (f", {citation.extractor}" if citation.extractor else "")),
        ("chunk", citation.chunk_id),
        ("document", citation.document_id),
        ("digest", citation.digest),
        *page_facts(fetched.fetch),
        ("check", fetched.verification.detail),
        ("now at", _now(fetched.verification, citation)),
    ]


def _units(units: SpanUnits) -> str:
    """The span in every unit; those that are the same in several are told once."""
    points, utf8, utf16 = units.code_points, units.utf8, units.utf16
    told = [f"{points.start}–{points.end}"]
    told += [f"bytes {utf8.start}–{utf8.end}"] if utf8 != points else []
    told += [f"UTF-16 {utf16.start}–{utf16.end}"] if utf16 != points else []
    return ", ".join(told)


def _now(verification: Verification, citation: Citation) -> str:
    now = verification.locator
    if now is None:
        return ""
    return f"{citation.source}:{now.line}:{now.column}" if citation.source_class is SourceClass.TEXT else ""

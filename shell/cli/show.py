"""`gk show`."""

import click

from groundkit.cli.common import (
    badge,
    collection_options,
    color_option,
    format_option,
    incomplete_mark,
    opened,
    page_facts,
    place,
    print_json,
    style,
    use_color,
)
from groundkit.cli.older import is_older, show_older
from groundkit.cli.printable import one_line, printable
from groundkit.errors import GroundkitError


@click.command("show")
@click.argument("chunk")
@collection_options
@format_option("human", "json")
@color_option
def show_command(chunk: str, index_dir: str | None, collection: str, form: str, color: str) -> int:
    """Show one chunk whole, with its citation and what its source says now. CHUNK is an id or the beginning of one."""
    if not chunk.strip():
        raise click.UsageError("the chunk id is empty")
    with opened(index_dir, collection) as found:
        try:
            fetched = found.fetch_chunk(chunk)
        except GroundkitError as error:
            if not is_older(error):
                raise
            return show_older(found, error, chunk, form)
    if form == "json":
        from groundkit.wire import data_of

        print_json(data_of(fetched))
        return 0 if fetched.verification else 1
    on = use_color(color)
    citation = fetched.citation
    if fetched.chunk is None or citation is None:
        click.echo(f"gk: {one_line(fetched.verification.detail)}", err=True)
        return 1
    locator = fetched.chunk.locator
    click.echo(
        f"{style(place(citation), on, bold=True)}  {badge(fetched.verification, on)}"
        f"{incomplete_mark(citation.incomplete, on)}"
    )
    facts = (
        ("headings", " › ".join(locator.heading_path)),
        ("pages", str(locator.pages or "")),
        ("anchor", locator.anchor),
        ("span", f"{citation.start_offset}–{citation.end_offset}"),
        ("class", citation.source_class.value + (f", {citation.extractor}" if citation.extractor else "")),
        ("chunk", fetched.chunk.id),
        ("document", citation.document_id),
        ("digest", citation.digest),
        *page_facts(fetched.fetch),
        ("check", fetched.verification.detail),
    )
    width = 13 if fetched.fetch else 9
    for name, value in facts:
        if value:
            click.echo(f"{style(name.rjust(width), on, dim=True)}  {one_line(value)}")
    click.echo()
    click.echo(printable(fetched.chunk.text))
    return 0 if fetched.verification else 1

"""`gk verify`."""

from collections import Counter
from collections.abc import Iterator

import click

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
    use_color,
)
from groundkit.cli.printable import one_line
from groundkit.collection import Collection
from groundkit.core.model import Citation, Verdict, Verification


@click.command("verify")
@click.argument("chunks", nargs=-1, metavar="[CHUNK]...")
@click.option("--all", "everything", is_flag=True, help="Check every citation of the collection.")
@click.option("-v", "--verbose", is_flag=True, help="With --all: print what is verified, too.")
@collection_options
@base_option
@format_option("human", "json", "jsonl")
@color_option
def verify_command(
    chunks: tuple[str, ...],
    everything: bool,
    verbose: bool,
    index_dir: str | None,
    collection: str,
    base_dir: str | None,
    form: str,
    color: str,
) -> int:
    """Look at the sources of citations again. Exit code 1 when one has drifted or cannot be resolved.

    CHUNK is a chunk id, or the beginning of one, as `gk search` prints it.
    """
    if everything == bool(chunks):
        raise click.UsageError("give chunk ids, or --all")
    counts: Counter[Verdict] = Counter()
    told = []
    with opened(index_dir, collection, base_dir) as found:
        for name, citation, verification in _all(found) if everything else _named(found, chunks):
            counts[verification.verdict] += 1
            if form == "jsonl":
                print_json_line(_data(name, citation, verification))
            elif form == "json":
                told.append(_data(name, citation, verification))
            elif verbose or not everything or not verification:
                _print(name, citation, verification, use_color(color))
    totals = {verdict.value: counts[verdict] for verdict in Verdict}
    if form == "json":
        print_json({"totals": totals, "checked": told})
    elif form == "human":
        click.echo(", ".join(f"{name} {count}" for name, count in totals.items()))
    return 0 if counts.total() == counts[Verdict.VERIFIED] else 1


_Row = tuple[str, Citation | None, Verification]


def _all(found: Collection) -> Iterator[_Row]:
    for each in found.verify_all():
        yield each.citation.chunk_id, each.citation, each.verification


def _named(found: Collection, chunks: tuple[str, ...]) -> Iterator[_Row]:
    for chunk in chunks:
        fetched = found.fetch_chunk(chunk)
        yield fetched.chunk_id, fetched.citation, fetched.verification


def _print(name: str, citation: Citation | None, verification: Verification, color: bool) -> None:
    where = one_line(name)
    if citation is not None and citation.locator is not None:
        where = f"{place(citation)} {name}"
    mark = incomplete_mark(citation is not None and citation.incomplete, color)
    click.echo(f"{badge(verification, color)}  {where}{mark}")
    click.echo(f"   {one_line(verification.detail)}")


def _data(name: str, citation: Citation | None, verification: Verification) -> dict[str, object]:
    from groundkit.wire import data_of

    return {"chunk_id": name, "citation": data_of(citation), "verification": data_of(verification)}

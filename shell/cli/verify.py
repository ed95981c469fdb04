"""`gk verify`."""

from collections import Counter
from collections.abc import Iterator
from itertools import tee

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
    style,
    unsecret,
    use_color,
)
from groundkit.cli.printable import one_line
from groundkit.collection import Collection
from groundkit.core.live import Live, LiveState
from groundkit.core.model import Citation, Reason, Verdict, Verification
from groundkit.core.url_kinds import is_url


@click.command("verify")
@click.argument("names", nargs=-1, metavar="[CHUNK_OR_SOURCE]...")
@click.option("--live", is_flag=True, help="Also fetch cited web pages again, and say whether they still say it.")
@click.option("--all", "everything", is_flag=True, help="Check every citation of the collection.")
@click.option("-v", "--verbose", is_flag=True, help="With --all: print what is verified, too.")
@collection_options
@base_option
@format_option("human", "json", "jsonl")
@color_option
def verify_command(
    names: tuple[str, ...],
    live: bool,
    everything: bool,
    verbose: bool,
    index_dir: str | None,
    collection: str,
    base_dir: str | None,
    form: str,
    color: str,
) -> int:
    """Look at the sources of citations again. Exit code 1 when one has drifted or cannot be resolved.

    CHUNK is a chunk id, or the beginning of one, as `gk search` prints it; a SOURCE, as `gk files` lists it, stands for all of
    its citations. A web page is held against its snapshot, the copy kept at its ingest, without the network; what --live finds
    changes neither a verdict nor the exit code.
    """
    if everything == bool(names):
        raise click.UsageError("give chunk ids or sources, or --all")
    counts: Counter[Verdict] = Counter()
    lives: Counter[LiveState] = Counter()
    told = []
    with opened(index_dir, collection, base_dir) as found:
        rows = _all(found) if everything else _named(found, names)
        for name, citation, verification, now in _with_live(found, rows) if live else ((*row, None) for row in rows):
            counts[verification.verdict] += 1
            lives.update([now.state] if now else [])
            if form == "jsonl":
                print_json_line(_data(name, citation, verification, now, live))
            elif form == "json":
                told.append(_data(name, citation, verification, now, live))
            elif verbose or not everything or not verification or (now and now.state is not LiveState.SAME):
                _print(name, citation, verification, now, use_color(color))
    totals = {verdict.value: counts[verdict] for verdict in Verdict}
    live_totals = {state.value: lives[state] for state in LiveState}
    if form == "json":
        print_json({"totals": totals, **({"live_totals": live_totals} if live else {}), "checked": told})
    elif form == "human":
        click.echo(", ".join(f"{name} {count}" for name, count in totals.items()))
        if live:
            click.echo(f"live: {', '.join(f'{name} {count}' for name, count in live_totals.items())}")
    return 0 if counts.total() == counts[Verdict.VERIFIED] else 1


_TINTS = {
    LiveState.SAME: "green",
    LiveState.MOVED: "yellow",
    LiveState.EDITED: "yellow",
    LiveState.REMOVED: "red",
    LiveState.UNREACHABLE: "magenta",
}

_Row = tuple[str, Citation | None, Verification]


def _all(found: Collection) -> Iterator[_Row]:
    for each in found.verify_all():
        yield each.citation.chunk_id, each.citation, each.verification


def _named(found: Collection, names: tuple[str, ...]) -> Iterator[_Row]:
    for name in names:
        if found.get_document_records(name):
            for each in found.verify_all(name):
                yield each.citation.chunk_id, each.citation, each.verification
        elif is_url(name):
            unknown = f"the collection has no page {unsecret(name)}; `gk files` lists those it has"
            yield unsecret(name), None, Verification(Verdict.UNRESOLVABLE, Reason.UNKNOWN_DOCUMENT, unknown)
        else:
            fetched = found.fetch_chunk(name)
            yield fetched.chunk_id, fetched.citation, fetched.verification


def _with_live(
    found: Collection, rows: Iterator[_Row]
) -> Iterator[tuple[str, Citation | None, Verification, Live | None]]:
    """Each row with what its page says now, where it is one of a page."""
    these, those = tee(rows)
    cited = (citation for _, citation, _ in those if citation is not None)
    lives = found.live_each(cited)
    for row in these:
        yield *row, None if row[1] is None else next(lives)


def _print(name: str, citation: Citation | None, verification: Verification, live: Live | None, color: bool) -> None:
    where = one_line(name)
    if citation is not None and citation.locator is not None:
        where = f"{place(citation)} {name}"
    mark = incomplete_mark(citation is not None and citation.incomplete, color)
    click.echo(f"{badge(verification, color)}  {where}{mark}")
    click.echo(f"   {one_line(verification.detail)}")
    if live is not None:
        said = style(live.state.value, color, fg=_TINTS[live.state])
        click.echo(f"   live: {said}: {one_line(live.detail)}")


def _data(
    name: str, citation: Citation | None, verification: Verification, live: Live | None, asked: bool
) -> dict[str, object]:
    from groundkit.wire import data_of

    data = {"chunk_id": name, "citation": data_of(citation), "verification": data_of(verification)}
    return data | {"live": data_of(live)} if asked else data

"""`gk verify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO

import click
from click.core import ParameterSource

from groundkit.cli.checks import Row, Where, all_rows, file_rows, named_rows, with_live
from groundkit.cli.common import (
    base_option,
    collection_options,
    color_option,
    format_option,
    linked_by,
    opened,
    print_json,
    print_json_line,
    use_color,
)
from groundkit.cli.printable import one_line
from groundkit.cli.told import Linked, tell
from groundkit.core.live import LiveState
from groundkit.core.model import Citation, Locator, Reason, Verdict
from groundkit.core.result import Failure

if TYPE_CHECKING:
    from groundkit.reports.rows import Row as ReportRow


@click.command("verify")
@click.argument("names", nargs=-1, metavar="[CHUNK_OR_SOURCE]...")
@click.option("--all", "everything", is_flag=True, help="Check every citation of the collection.")
@click.option(
    "--file",
    "file",
    metavar="FILE",
    type=click.File("rb"),
    help="Check the citations of a JSON or JSON lines file, or of standard input (-); an index is used only if there is one.",
)
@click.option("--live", is_flag=True, help="Also fetch cited web pages again, and say whether they still say it.")
@click.option("-v", "--verbose", is_flag=True, help="Print what is verified, too, where it is only counted.")
@collection_options
@base_option
@click.option("--snapshot-dir", metavar="DIR", help="With --file: where the snapshots of web pages lie.")
@format_option("human", "json", "jsonl", "markdown", "junit", "html")
@color_option
@click.pass_context
def verify_command(
    context: click.Context,
    names: tuple[str, ...],
    everything: bool,
    file: BinaryIO | None,
    live: bool,
    verbose: bool,
    index_dir: str | None,
    collection: str,
    base_dir: str | None,
    snapshot_dir: str | None,
    form: str,
    color: str,
) -> int:
    """Look at the sources of citations again. Exit code 1 when one has drifted or cannot be resolved.

    CHUNK is a chunk id, or the beginning of one, as `gk search` prints it; a SOURCE, as `gk files` lists it, stands for all of
    its citations. What drifted is looked for: it may have moved, been edited, or be gone. A web page is held against its
    snapshot, the copy kept at its ingest, without the network; what --live finds changes neither a verdict nor the exit code.

    The citations of a --file are those that `gk cite` writes. Each is checked in the collection that it names, if the index has
    that, and else below the working directory or --base-dir.
    """
    if (everything, bool(names), file is not None).count(True) != 1:
        raise click.UsageError("give chunk ids or sources, or --all, or --file")
    if snapshot_dir is not None and file is None:
        raise click.UsageError("--snapshot-dir goes with --file; a collection has snapshots of its own")
    if live and file is not None:
        raise click.UsageError("--live goes with the citations of a collection, not with --file")
    linked: Linked = _unlinked
    title = f"Citations of {collection}" if file is None else f"Citations in {_name_of(file)}"
    with ExitStack() as stack:
        if file is not None:
            # A variable speaks of no file: it stands in for an option, not for what a citation names.
            given = context.get_parameter_source("collection") is ParameterSource.COMMANDLINE
            where = Where(index_dir, collection if given else None, base_dir, snapshot_dir)
            rows = _of_file(file, where)
        else:
            found = stack.enter_context(opened(index_dir, collection, base_dir))
            rows = all_rows(found) if everything else named_rows(found, names)
            rows = with_live(found, rows) if live else rows
            linked = linked_by(found)
        return _told(rows, form, verbose, live, use_color(color), linked, title)


def _name_of(file: BinaryIO) -> str:
    return "standard input" if file.name in ("<stdin>", "-", 0) else str(file.name)


def _of_file(file: BinaryIO, where: Where) -> Iterator[Row]:
    from groundkit.citation_files import read_citations

    data = file.read()
    if not data.strip():  # cut off by accident, it must not pass
        raise click.UsageError(f"{one_line(_name_of(file))} holds no citations: it is empty")
    entries = read_citations(data, _name_of(file))
    if isinstance(entries, Failure):
        raise click.UsageError(one_line(str(entries.failure())))
    if not entries.unwrap():
        click.echo(f"gk: the list in {one_line(_name_of(file))} is empty", err=True)
    return file_rows(entries.unwrap(), where)


def _unlinked(label: str, citation: Citation, now: Locator | None) -> str:
    """A file of citations may be of several bases."""
    return label


def _told(rows: Iterator[Row], form: str, verbose: bool, live: bool, color: bool, linked: Linked, title: str) -> int:
    """Print the rows as they come; the exit code."""
    counts: Counter[Verdict] = Counter()
    reasons: Counter[Reason] = Counter()
    lives: Counter[LiveState] = Counter()

    def counted() -> Iterator[Row]:
        for row in rows:
            counts[row.verification.verdict] += 1
            reasons.update([] if row.verification else [row.verification.reason])
            lives.update([row.live.state] if row.live else [])
            yield row

    match form:
        case "jsonl":
            for row in counted():
                print_json_line(_data(row, live))
        case "json":
            checked = [_data(row, live) for row in counted()]
            totals = {
                "totals": _totals(Verdict, counts),
                **({"live_totals": _totals(LiveState, lives)} if live else {}),
            }
            print_json({**totals, "checked": checked})
        case "human":
            tell(counted(), verbose, color, linked)
            if reasons:
                click.echo(f"reasons: {', '.join(f'{each.value} {reasons[each]}' for each in Reason if reasons[each])}")
            click.echo(", ".join(f"{name} {count}" for name, count in _totals(Verdict, counts).items()))
            if live:
                click.echo("live: " + ", ".join(f"{name} {count}" for name, count in _totals(LiveState, lives).items()))
        case _:
            for piece in _report(form, counted(), verbose, linked is _unlinked, title):
                click.echo(piece, nl=False)
    return 0 if counts.total() == counts[Verdict.VERIFIED] else 1


def _report(form: str, rows: Iterable[Row], verbose: bool, file: bool, title: str) -> Iterator[str]:
    if file:  # reports tell what stands together by source
        rows = sorted(rows, key=lambda row: row.citation.source if row.citation else "")
    if form == "markdown":
        from groundkit.reports.markdown import markdown_report

        return markdown_report(map(_for_report, rows))
    if form == "junit":
        from groundkit.reports.junit import junit_report

        return junit_report(map(_for_report, rows))
    from groundkit.reports.html import html_report

    return html_report(map(_for_report, rows), title, list_verified=verbose)


def _for_report(row: Row) -> ReportRow:
    name = f"{row.name} ({row.entry})" if row.entry and row.citation else row.name
    return name, row.citation, row.verification, row.live


def _totals(kinds: type[Verdict | LiveState], counts: Counter[Verdict] | Counter[LiveState]) -> dict[str, int]:
    return {each.value: counts[each] for each in kinds}  # type: ignore[index]


def _data(row: Row, live: bool) -> dict[str, object]:
    from groundkit.wire import data_of

    data = {"chunk_id": row.name, "citation": data_of(row.citation), "verification": data_of(row.verification)}
    if row.entry:
        data = {"entry": row.entry, **data, "chunk_id": row.name if row.citation else None}
    return data | {"live": data_of(row.live)} if live else data

"""`gk rm`, `gk drop`, `gk doctor`."""

import os
import sys
from pathlib import Path

import click

from groundkit.cli.common import (
    collection_options,
    format_option,
    index_option,
    opened,
    print_json,
    unsecret,
    wait_option,
)
from groundkit.cli.printable import one_line, printable
from groundkit.collection import Collection
from groundkit.config import UnknownCollection
from groundkit.core.storage import StorageFailure, StorageProblem
from groundkit.core.url_kinds import is_url
from groundkit.errors import GroundkitError
from groundkit.render import sentence


@click.command("rm")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@collection_options
@wait_option
@format_option("human", "json")
def rm_command(sources: tuple[str, ...], index_dir: str | None, collection: str, wait: float, form: str) -> int:
    """Take sources, or all below a folder, out of a collection. The files stay; the snapshots of pages go.

    SOURCE is named as `gk files` lists it, or by its path from here.
    """
    with opened(index_dir, collection) as found:
        known = {each.source for each in found.get_document_records()}
        as_given = [each in known or is_url(each) for each in sources]
        names = tuple(
            each if given else _as_source(found.base, each) for each, given in zip(sources, as_given, strict=True)
        )
        removed = found.remove(names, wait=wait)
    count = len(removed.forgotten)
    if form == "json":
        unswept = [{"name": each.name, "detail": each.detail} for each in removed.unswept]
        unknown = list(map(unsecret, removed.unknown))
        found_nothing = {"unknown": unknown, "forgotten": list(removed.forgotten)}
        print_json({"removed": list(removed.removed), **found_nothing, "unswept": unswept})
    else:
        for name in removed.unknown:
            click.echo(f"unknown: {unsecret(name)}", err=True)
        for file in removed.unswept:
            click.echo(f"warning: not removed: {one_line(str(file))}; the next write tries again", err=True)
        if removed.pending is not None:
            click.echo(f"accepted, to be finished by the next ingest: {printable(sentence(removed.pending))}", err=True)
        click.echo(f"removed {len(removed.removed)}{f', forgot {count} failed' if count else ''}")
    return 1 if removed.unknown else 0


def _as_source(base: Path | None, name: str) -> str:
    """A path from here as a source, where it lies below the base; else the name as it is."""
    path = Path(os.path.abspath(name))
    if base is not None and path != base and path.is_relative_to(base):
        return path.relative_to(base).as_posix()
    return name


@click.command("drop")
@click.argument("collection")
@index_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@wait_option
def drop_command(collection: str, index_dir: str | None, yes: bool, wait: float) -> int:
    """Remove a whole collection from the index directory. The sources stay."""
    with opened(index_dir, collection) as found:
        holds = _holds(found)
        if holds is not None and not yes and sys.stdin.isatty():
            sure = click.confirm(f"Drop {collection} with {holds}?", err=True)
            if not sure:
                click.echo("nothing dropped", err=True)
                return 1
        found.drop(wait=wait)
    click.echo(f"dropped {collection}")
    return 0


def _holds(found: Collection) -> str | None:
    """What would go. A damaged store can still be dropped; of one that is unknown, a drop that was killed may be finished."""
    try:
        return f"{found.status().documents} documents"
    except GroundkitError as error:
        failure = error.failure
        if isinstance(failure, UnknownCollection):
            return None
        if isinstance(failure, StorageFailure) and failure.problem is StorageProblem.DAMAGED:
            return "whatever its damaged store held"
        raise


@click.command("doctor")
@collection_options
@click.option(
    "--repair",
    is_flag=True,
    help="Finish what is unfinished, make the lexical index anew, and lost snapshots.",
)
@wait_option
@format_option("human", "json")
def doctor_command(index_dir: str | None, collection: str, repair: bool, wait: float, form: str) -> int:
    """Check texts against digests, tiling, ids, counts, the lexical index and its checksums, snapshots, and SQLite itself."""
    with opened(index_dir, collection) as found:
        diagnosis = found.doctor(repair_index=repair, wait=wait)
    if form == "json":
        from groundkit.wire import data_of

        print_json({"healthy": diagnosis.healthy, **data_of(diagnosis)})
        return 0 if diagnosis.healthy else 1
    for each in diagnosis.findings:
        click.echo(f"{each.area.value}: {one_line(each.subject)}: {one_line(each.detail)}")
    looked = f"{diagnosis.documents} documents, {diagnosis.chunks} chunks"
    if diagnosis.healthy:
        click.echo(f"healthy: {looked}{', index made anew' if diagnosis.repaired else ''}")
        return 0
    click.echo(f"{len(diagnosis.findings)} findings in {looked}")
    if any(each.repairable for each in diagnosis.findings):
        click.echo("`gk doctor --repair` makes the lexical index and snapshots again from the store", err=True)
    if not all(each.repairable for each in diagnosis.findings):
        click.echo("the rest is mended by `gk rm SOURCE` and `gk ingest`, or by hand", err=True)
    return 1

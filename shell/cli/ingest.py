"""`gk ingest`."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from groundkit import config
from groundkit.bases import base_for
from groundkit.cli.common import (
    base_option,
    collection_options,
    format_option,
    print_json,
    wait_option,
)
from groundkit.cli.printable import one_line, printable
from groundkit.collection import Collection
from groundkit.core.result import Failure
from groundkit.core.settings import LANGUAGES, Settings
from groundkit.core.sources import ReadFailure, ReadProblem
from groundkit.core.walking import SkipReason
from groundkit.errors import ConfigurationError, error_of
from groundkit.ingest import IngestReport, SourceEvent
from groundkit.opening import open as open_collection
from groundkit.render import sentence
from groundkit.requests import web_refused

_DEFAULT = Settings()


@click.command("ingest")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@collection_options
@base_option
@click.option("--as", "as_", type=click.Choice(("text",)), help="Take files of every suffix as plain text.")
@click.option("--prune-all", is_flag=True, help="Remove documents even where nothing at all was found any more.")
@click.option(
    "--chunk-size",
    metavar="N",
    type=int,
    help=f"Code points in a chunk, at most (a new collection: {_DEFAULT.chunk_size}).",
)
@click.option(
    "--chunk-overlap",
    metavar="N",
    type=int,
    help=f"Code points that neighbouring chunks share, at most (new: {_DEFAULT.chunk_overlap}).",
)
@click.option(
    "--language",
    metavar="LANGUAGE",
    type=click.Choice(LANGUAGES),
    help=f"Stemming language of the collection (new: {_DEFAULT.language}).",
)
@click.option("--max-bytes", metavar="N", type=int, help=f"The largest file, in bytes (new: {_DEFAULT.max_bytes}).")
@click.option("--strict", is_flag=True, help="When everything else is done, end with the first failure as the error.")
@wait_option
@format_option("human", "json")
def ingest_command(
    paths: tuple[str, ...],
    index_dir: str | None,
    collection: str,
    base_dir: str | None,
    as_: str | None,
    prune_all: bool,
    chunk_size: int | None,
    chunk_overlap: int | None,
    language: str | None,
    max_bytes: int | None,
    strict: bool,
    wait: float,
    form: str,
) -> int:
    """Bring files and folders into a collection, and it up to date with them.

    Documents whose files are gone from a given folder, or hidden by an ignore rule now, are removed. Makes .groundkit in
    the working directory where there is no index directory yet. Other chunk sizes or another language are for the whole
    collection.
    """
    if "" in paths:
        raise click.UsageError("a path is empty")
    absolute = tuple(map(_absolute, paths))
    with _collection(absolute, index_dir, collection, base_dir) as opened, _progress() as on_progress:
        new = _is_new(opened)
        report = opened.ingest(
            absolute,
            as_text=as_ == "text",
            prune_all=prune_all,
            strict=strict,
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            language=language,
            max_bytes=max_bytes,
            wait=wait,
            on_progress=on_progress,
        )
        place = f"{opened.index_directory}, base directory {opened.base}"
    if new:
        click.echo(f"new collection {collection} in {one_line(place)}", err=True)
    if form == "json":
        print_json(_data(report))
    else:
        _print(report)
    return 0 if report.complete else 1


def _absolute(path: str) -> Path:
    refused = web_refused(path)
    if refused is not None:
        raise error_of(refused)
    return Path(os.path.abspath(path))


def _collection(paths: tuple[Path, ...], index_dir: str | None, collection: str, base_dir: str | None) -> Collection:
    """The collection meant; a new one gets its base directory here."""
    found = config.find_index(index_dir, os.environ, Path.cwd())
    directory = Path.cwd() / config.INDEX_NAME if isinstance(found, Failure) else found.unwrap()
    directory = Path(os.path.realpath(directory))
    known = open_collection(directory, base=base_dir, collection=collection)
    if base_dir is not None or known.base is not None:
        return known
    if not any(map(os.path.lexists, paths)):
        raise error_of(ReadFailure(str(paths[0]), ReadProblem.MISSING, "no such file or directory"))
    chosen = base_for(paths, directory, None)
    if isinstance(chosen, Failure):
        raise error_of(chosen.failure())
    return open_collection(directory, base=chosen.unwrap(), collection=collection)


def _is_new(collection: Collection) -> bool:
    """Whether an ingest would make it."""
    try:
        collection.status()
    except ConfigurationError:
        return True
    return False


@contextmanager
def _progress() -> Iterator[Callable[[SourceEvent], None] | None]:
    """A bar on stderr, on terminals only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("ingest", total=None)

        def advance(event: SourceEvent) -> None:
            if event.done % 16 == 0 or event.done == event.total:
                bar.update(task, completed=event.done, total=event.total)

        yield advance


def summary(report: IngestReport) -> str:
    """The line that says what happened."""
    parts = [f"added {report.added}"]
    if report.updated:
        parts.append(f"updated {report.updated}")
    if report.rebound:
        parts.append(f"rebound {report.rebound}")
    parts.append(f"unchanged {report.unchanged}")
    parts.append(f"removed {report.removed}")
    parts.append(f"failed {len(report.failed)}")
    parts.append(f"chunks {report.chunks}")
    return ", ".join(parts)


def _print(report: IngestReport) -> None:
    for failed in report.failed:
        click.echo(f"failed: {one_line(sentence(failed.error))}", err=True)
    passed_over = [(reason, count) for reason, count in report.skipped if reason != SkipReason.INDEX_DIRECTORY]
    if passed_over:
        suffixes = ", ".join(f"{one_line(suffix) or 'no suffix'} {count}" for suffix, count in report.unknown_suffixes)
        told = ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in passed_over)
        click.echo(f"skipped: {told}{f' ({suffixes})' if suffixes else ''}", err=True)
    if report.held_back:
        click.echo(
            f"held back: {len(report.held_back)} removals, because nothing at all was found there any more; "
            "--prune-all carries them out",
            err=True,
        )
    if report.pending is not None:
        click.echo(f"accepted, to be finished by the next ingest: {printable(sentence(report.pending))}", err=True)
    click.echo(summary(report))


def _data(report: IngestReport) -> dict[str, object]:
    from groundkit.wire import data_of

    data: dict[str, object] = data_of(report)
    return data | {
        "failed": [
            {"source": each.source, "reason": each.error.problem.value, "detail": each.error.detail}
            for each in report.failed
        ],
        "skipped": dict(report.skipped),
        "unknown_suffixes": dict(report.unknown_suffixes),
        "pending": None if report.pending is None else sentence(report.pending),
    }

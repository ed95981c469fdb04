"""`gk ingest`."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from groundkit import config
from groundkit.bases import base_for
from groundkit.cli.common import (
    F,
    base_option,
    collection_options,
    format_option,
    print_json,
    wait_option,
)
from groundkit.cli.models import endpoint_of, endpoint_options
from groundkit.cli.printable import one_line, printable
from groundkit.collection import Collection
from groundkit.core.result import Failure
from groundkit.core.settings import LANGUAGES, Settings
from groundkit.core.sources import ReadFailure, ReadProblem
from groundkit.core.url_kinds import is_url
from groundkit.core.walking import SkipReason
from groundkit.errors import GroundkitError, error_of
from groundkit.ingest import IngestReport, SourceEvent
from groundkit.opening import open as open_collection
from groundkit.render import sentence
from groundkit.requests import ModelEndpoint

_DEFAULT = Settings()

_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)
#: Actions that leave a document another than it was.
_CHANGES = ("added", "updated", "rebound")
#: Of so few sources the bar shows each one; pages come in slowly.
_FEW = 1000
#: Media types as people call them; others go by their own name.
_FORMATS = {
    "text/markdown": "Markdown",
    "text/plain": "text",
    "application/pdf": "PDF",
    "text/html": "HTML",
    "application/xhtml+xml": "XHTML",
}


def _number(name: str, metavar: str, said: str) -> Callable[[F], F]:
    """A setting of the collection, remembered; the help names what a new one has."""
    usual = getattr(_DEFAULT, name.replace("-", "_"))
    return click.option(f"--{name}", metavar=metavar, type=int, help=f"{said} (remembered; a new collection: {usual}).")


@click.command("ingest")
@click.argument("sources", nargs=-1, metavar="PATH_OR_URL...")
@click.option(
    "--from",
    "from_",
    metavar="FILE",
    type=click.File("rb"),
    multiple=True,
    help="Take URLs from a file, too, one a line; lines that begin with # do not count, - is the standard input.",
)
@collection_options
@base_option
@click.option("--as", "as_", type=click.Choice(("text",)), help="Take files of every suffix as plain text.")
@click.option("--prune-all", is_flag=True, help="Remove documents even where nothing at all was found any more.")
@_number("chunk-size", "N", "Code points in a chunk, at most")
@_number("chunk-overlap", "N", "Code points that neighbouring chunks share, at most")
@click.option(
    "--language",
    metavar="LANGUAGE",
    type=click.Choice(LANGUAGES),
    help=f"Stemming language of the collection (new: {_DEFAULT.language}).",
)
@_number("max-bytes", "BYTES", "The largest file")
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(1, 256),
    help="PDF and HTML files to extract at a time (else: one a processor).",
)
@_number("time-limit", "SECONDS", "How long one extraction may take; a large file more")
@_number("cpu-limit", "SECONDS", "Processor time one extraction may take; a large file more")
@_number("memory-limit", "BYTES", "Memory one extraction may take")
@_number("cache-bytes", "BYTES", "What verification extracted and keeps on disk, at most")
@_number("fetch-bytes", "BYTES", "The largest web page, uncompressed")
@_number("fetch-seconds", "SECONDS", "How long fetching one web page may take in all")
@click.option(
    "--fetch-port",
    "fetch_ports",
    metavar="PORT",
    type=int,
    multiple=True,
    help="A port that web pages may be fetched from; give all of them, one each (remembered; a new collection: 80 and 443).",
)
@click.option(
    "--keep-body",
    is_flag=True,
    help='Also keep the raw responses of web pages, in this run, as WARC files (extra "warc").',
)
@click.option(
    "--dense/--no-dense",
    default=None,
    help='Give every chunk a vector, to be found by its meaning (extra "dense"); or remove all vectors.',
)
@click.option(
    "--embedder",
    metavar="NAME",
    help="What makes the vectors: wordllama (the usual one, in this process), ollama:MODEL, openai:MODEL; hash to try things out.",
)
@endpoint_options
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse documents of which text is missing.",
)
@click.option("--check", is_flag=True, help="Write nothing; say what would be done with each source.")
@wait_option
@format_option("human", "json")
def ingest_command(
    sources: tuple[str, ...],
    from_: tuple[IO[bytes], ...],
    index_dir: str | None,
    collection: str,
    base_dir: str | None,
    as_: str | None,
    prune_all: bool,
    chunk_size: int | None,
    chunk_overlap: int | None,
    language: str | None,
    max_bytes: int | None,
    jobs: int | None,
    time_limit: int | None,
    cpu_limit: int | None,
    memory_limit: int | None,
    cache_bytes: int | None,
    fetch_bytes: int | None,
    fetch_seconds: int | None,
    fetch_ports: tuple[int, ...],
    keep_body: bool,
    dense: bool | None,
    embedder: str | None,
    model_url: str | None,
    model_local: bool,
    strict: bool,
    check: bool,
    wait: float,
    form: str,
) -> int:
    """Bring files, folders and web pages into a collection, and it up to date with them.

    Takes Markdown, plain text, PDF (extra "pdf") and HTML (extra "html" or "web"), as files and as public web pages. Documents
    whose files are gone from a given folder, or hidden by an ignore rule now, are removed; a page stays until `gk rm URL`.
    Makes .groundkit in the working directory where there is no index directory yet. Other chunk sizes or another language
    are for the whole collection.

    A page is named by its URL as given. Redirects are not followed: the message names the URL to give instead.
    """
    given = (*sources, *(url for file in from_ for url in _urls_in(file)))
    if not given:
        raise click.UsageError("--from: no URL is in the file" if from_ else "give paths or URLs, or --from FILE")
    if "" in given:
        raise click.UsageError("a path is empty")
    if dense is False and embedder is not None:
        raise click.UsageError("--no-dense removes all vectors: it goes with no --embedder")
    urls = tuple(each for each in given if is_url(each))
    # What is a URL is never looked at as a path.
    absolute = tuple(Path(os.path.abspath(each)) for each in sources if not is_url(each))
    models = endpoint_of(model_url, model_local)
    with (
        _collection(absolute, bool(urls), index_dir, collection, base_dir, models) as opened,
        _progress() as on_progress,
    ):
        new, changes = not opened.exists, list[SourceEvent]()
        report = _reported(
            opened.ingest,
            (*absolute, *urls),
            as_text=as_ == "text",
            prune_all=prune_all,
            strict=strict,
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            language=language,
            max_bytes=max_bytes,
            jobs=jobs,
            time_limit=time_limit,
            cpu_limit=cpu_limit,
            memory_limit=memory_limit,
            cache_bytes=cache_bytes,
            fetch_bytes=fetch_bytes,
            fetch_seconds=fetch_seconds,
            fetch_ports=fetch_ports or None,
            keep_bodies=keep_body,
            dense=dense,
            embedder=embedder,
            check=check,
            wait=wait,
            on_progress=_both(changes, on_progress) if check else on_progress,
        )
        made = new and opened.exists
        base = opened.base if absolute else None  # pages have none
        place = f"{opened.index_directory}{f', base directory {base}' if base is not None else ''}"
    if check:
        click.echo("a check: nothing is written", err=True)
    elif made:
        click.echo(f"new collection {collection} in {one_line(place)}", err=True)
    if form == "json":
        data = _data(report)
        print_json(data | {"changes": _changes(changes, report)} if check else data)
    else:
        for each in _changes(changes, report) if check else ():
            click.echo(f"would be {each['action']}: {one_line(each['source'])}")
        _print(report, check)
    return 0 if report.complete else 1


def _reported(ingest: Callable[..., IngestReport], sources: tuple[Path | str, ...], **how: Any) -> IngestReport:
    """The report, also of a strict ingest that ended in an error: here the exit code says the same."""
    try:
        return ingest(sources, **how)
    except GroundkitError as error:
        if error.report is None:
            raise
        return error.report


def _both(
    changes: list[SourceEvent], on_progress: Callable[[SourceEvent], None] | None
) -> Callable[[SourceEvent], None]:
    """Notes what would change, beside the bar."""

    def told(event: SourceEvent) -> None:
        if event.action in _CHANGES:
            changes.append(event)
        if on_progress is not None:
            on_progress(event)

    return told


def _changes(events: list[SourceEvent], report: IngestReport) -> list[dict[str, str]]:
    """What would change, by source."""
    told = [(event.source, event.action) for event in events] + [(each, "removed") for each in report.gone]
    return [{"source": source, "action": action} for source, action in sorted(told)]


def _urls_in(file: IO[bytes]) -> Iterator[str]:
    """The URLs of a file, one a line."""
    for number, line in enumerate(file.read().splitlines(), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            raise click.UsageError(f"--from {file.name}: line {number} is not UTF-8") from None
        if text and not text.startswith("#"):
            if not is_url(text):
                raise click.UsageError(
                    f"--from {file.name}: line {number} is no URL: it begins with no scheme such as https://"
                )
            yield text


def _collection(
    paths: tuple[Path, ...],
    beside_urls: bool,
    index_dir: str | None,
    collection: str,
    base_dir: str | None,
    models: ModelEndpoint | None,
) -> Collection:
    """The collection meant; a new one gets its base directory here, if any of the paths is there."""
    found = config.find_index(index_dir, os.environ, Path.cwd())
    directory = Path.cwd() / config.INDEX_NAME if isinstance(found, Failure) else found.unwrap()
    directory = Path(os.path.realpath(directory))
    known = open_collection(directory, base=base_dir, collection=collection, endpoint=models)
    if base_dir is not None or known.base is not None or not paths:
        return known
    if not any(map(os.path.lexists, paths)):
        if beside_urls:
            return known
        raise error_of(
            ReadFailure(
                str(paths[0]), ReadProblem.MISSING, f"no such file or directory{_hint(os.path.relpath(paths[0]))}"
            )
        )
    chosen = base_for(paths, directory, None)
    if isinstance(chosen, Failure):
        raise error_of(chosen.failure())
    return open_collection(directory, base=chosen.unwrap(), collection=collection, endpoint=models)


def _hint(name: str) -> str:
    """What a missing file may have been meant as whose name begins like a host's: `example.org/guide`."""
    host, _, more = name.partition("/")
    return "; a web page begins with https://" if more and _HOST.fullmatch(host) else ""


@contextmanager
def _progress() -> Iterator[Callable[[SourceEvent], None] | None]:
    """A bar on stderr, on terminals only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[what]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("ingest", total=None, what="sources")

        def advance(event: SourceEvent) -> None:
            if event.total < _FEW or event.done % 16 == 0 or event.done == event.total:
                what = "chunks embedded" if event.action == "embedded" else "sources"
                bar.update(task, completed=event.done, total=event.total, what=what)

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
    if report.embedded:
        parts.append(f"vectors for chunks that had none {report.embedded}")
    return ", ".join(parts)


def _print(report: IngestReport, check: bool) -> None:
    for failed in report.failed:
        missing = isinstance(failed.error, ReadFailure) and failed.error.problem is ReadProblem.MISSING
        hint = _hint(failed.source) if missing else ""
        click.echo(f"failed: {one_line(sentence(failed.error))}{hint}", err=True)
    for lossy in report.losses:
        word = "incomplete" if lossy.incomplete else "note"
        click.echo(f"{word}: {one_line(lossy.source)}: {one_line('; '.join(lossy.losses))}", err=True)
    for page in report.suspicious:
        click.echo(f"suspicious: {one_line(page.source)}: {one_line('; '.join(page.suspicions))}", err=True)
    for file in report.unswept:
        click.echo(f"warning: not removed: {one_line(str(file))}; the next write tries again", err=True)
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
    if len(report.formats) > 1 or report.losses:
        click.echo(f"formats: {formats(report)}")
    click.echo(f"would be: {summary(report)}" if check else summary(report))


def formats(report: IngestReport) -> str:
    """How many documents of each format are up to date now."""
    counted = ", ".join(f"{_FORMATS.get(media_type, media_type)} {count}" for media_type, count in report.formats)
    incomplete = sum(each.incomplete for each in report.losses)
    return f"{counted} ({incomplete} incomplete)" if incomplete else counted


def _data(report: IngestReport) -> dict[str, object]:
    from groundkit.wire import data_of

    data: dict[str, object] = data_of(report)
    return data | {
        "failed": [{"source": each.source, "reason": each.reason, "detail": each.detail} for each in report.failed],
        "formats": dict(report.formats),
        "skipped": dict(report.skipped),
        "unknown_suffixes": dict(report.unknown_suffixes),
        "pending": None if report.pending is None else sentence(report.pending),
    }

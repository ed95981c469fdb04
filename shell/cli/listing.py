"""`gk list`, `gk files`, `gk status`."""

import click

from groundkit.cli.common import (
    collection_options,
    format_option,
    index_directory,
    index_option,
    opened,
    page_facts,
    path_meant,
    print_json,
    print_json_line,
    print_table,
    unsecret,
)
from groundkit.cli.older import is_older, list_older
from groundkit.cli.printable import one_line
from groundkit.core.model import DocumentRecord
from groundkit.core.paths import lies_below
from groundkit.core.settings import Settings
from groundkit.core.url_kinds import is_url
from groundkit.core.walking import Decision, FoundFailed, FoundFile, FoundSkipped
from groundkit.errors import GroundkitError, error_of
from groundkit.opening import list_collections
from groundkit.opening import open as open_collection
from groundkit.requests import NotAPath
from groundkit.status import BoundDocuments, IndexStatus


@click.command("list")
@index_option
@format_option("human", "json")
def list_command(index_dir: str | None, form: str) -> int:
    """List the collections of the index directory."""
    directory = index_directory(index_dir)
    rows: list[tuple[str, IndexStatus | None, str]] = []
    for name in list_collections(directory):
        with open_collection(directory, collection=name) as found:
            try:
                rows.append((name, found.status(), ""))
            except GroundkitError as error:
                rows.append((name, None, str(error)))
    if form == "json":
        print_json({"collections": [_collection(*row) for row in rows]})
    elif rows:
        print_table(
            [_cells(*row) for row in rows],
            ("collection", "documents", "chunks", "base (from the index directory)"),
            right=(1, 2),
        )
    else:
        click.echo("no collections", err=True)
    if any(status is None for _, status, _ in rows):
        return 3
    return 0 if rows else 1


def _cells(name: str, status: IndexStatus | None, why: str) -> tuple[str, ...]:
    if status is None:
        return name, "?", "?", why
    return name, str(status.documents), str(status.chunks), status.base or "none yet"


def _collection(name: str, status: IndexStatus | None, why: str) -> dict[str, object]:
    if status is None:
        return {"collection": name, "error": why}
    return {"collection": name, "documents": status.documents, "chunks": status.chunks, "base": status.base}


@click.command("files")
@click.argument("path", required=False)
@click.option("--why", is_flag=True, help="Say which rule decides whether PATH is ingested.")
@click.option("--skipped", is_flag=True, help="List what an ingest of PATH (or the base) passes over, and why.")
@collection_options
@format_option("human", "json", "jsonl", "paths")
def files_command(path: str | None, why: bool, skipped: bool, index_dir: str | None, collection: str, form: str) -> int:
    """List the sources of a collection; with --why, say what happens to one path and which rule decides it.

    Of one URL, how its page was fetched as well.
    """
    if why and path is None:
        raise click.UsageError("--why needs a path")
    with opened(index_dir, collection) as found:
        page = path if path is not None and is_url(path) else None
        if page is not None and (why or skipped):
            raise error_of(NotAPath(unsecret(page)))
        absolute = None if path is None or page is not None else path_meant(found, path)
        if why and absolute is not None:
            explained = found.explain(absolute)
            if form in ("json", "jsonl"):
                data = {"source": explained.source, "decision": explained.decision.value, "rule": explained.rule}
                (print_json if form == "json" else print_json_line)(data)
            else:
                click.echo(f"{_named(explained.source)}: {explained.decision.value}: {_rule(explained.rule)}")
            return 1 if explained.decision is Decision.FAILED else 0
        if skipped:
            return _skipped(found.walk([absolute or found.base or ""]), form)
        try:
            records = found.get_document_records()
        except GroundkitError as error:
            if not is_older(error):
                raise
            return list_older(found, error, form)
        failed: list[str] = []
        if page is not None:
            records = [each for each in records if each.source == page]
            failed = [f"{each.detail} ({each.noticed_at})" for each in found.status().failures if each.source == page]
        if absolute is not None:
            below = found.sources_of([absolute])[0]
            records = [each for each in records if lies_below(each.source, below)]
    if not records and form == "human":
        click.echo("no sources" if path is None else f"no sources in {unsecret(path)}", err=True)
    if form == "human":
        for reason in failed:
            click.echo(f"failed when it was last tried: {one_line(reason)}", err=True)
    match form:
        case "json" | "jsonl":
            from groundkit.wire import data_of

            if form == "json":
                print_json({"documents": [data_of(each) for each in records]})
            else:
                for each in records:
                    print_json_line(data_of(each))
        case "paths":
            for each in records:
                click.echo(one_line(each.source))
        case _:
            if records:
                _table(records)
                for name, said in page_facts(records[0].fetch) if page is not None else ():
                    click.echo(f"{name:>13}  {one_line(said)}")
    return 0 if records else 1


def _table(records: list[DocumentRecord]) -> None:
    named = any(each.extractor for each in records)
    head = ("source", "class", "chunks", "code points", *(("extractor",) if named else ()))
    print_table([_cells_of(each, named) for each in records], head, right=(2, 3))


def _cells_of(record: DocumentRecord, named: bool) -> tuple[str, ...]:
    cells = (record.source, _class(record), str(record.chunks), str(record.length))
    # The rest of an identity is for comparing; whoever wants to look at it asks for JSON.
    return (*cells, (record.extractor or "").partition("+")[0]) if named else cells


def _class(record: DocumentRecord) -> str:
    return f"{record.source_class.value}{', incomplete' if record.incomplete else ''}"


def _skipped(found: list[FoundFile | FoundSkipped | FoundFailed], form: str) -> int:
    rows = []
    for each in found:
        if isinstance(each, FoundSkipped):
            rows.append((each.source, each.reason.value, each.rule))
        elif isinstance(each, FoundFailed):
            rows.append((each.failure.source, each.failure.problem.value, each.failure.detail))
    if form == "json":
        print_json({"skipped": [dict(zip(("source", "reason", "rule"), row, strict=True)) for row in rows]})
    else:
        for row in rows:
            if form == "jsonl":
                print_json_line(dict(zip(("source", "reason", "rule"), row, strict=True)))
            else:
                click.echo(_named(row[0]) if form == "paths" else f"{_named(row[0])}: {_rule(f'{row[1]}: {row[2]}')}")
    return 0


def _named(source: str) -> str:
    """A source; the base directory itself has a name too, here."""
    return one_line(source) or "."


def _rule(rule: str) -> str:
    """A reason and what decided; where that is a suffix, there may be none."""
    return one_line(rule) if not rule.endswith(": ") else f"{one_line(rule)}none"


@click.command("status")
@collection_options
@format_option("human", "json")
def status_command(index_dir: str | None, collection: str, form: str) -> int:
    """Counts, settings, and the sources that could not be ingested when last tried."""
    with opened(index_dir, collection) as found:
        status = found.status()
        base = found.base
    if form == "json":
        from groundkit.wire import data_of

        print_json(data_of(status))
        return 0
    settings = status.settings
    facts = (
        ("collection", status.collection),
        ("index", one_line(str(found.index_directory))),
        ("base", one_line(str(base)) if base else "none yet"),
        ("documents", f"{status.documents}{f', {status.pages} of them web pages' if status.pages else ''}"),
        ("chunks", f"{status.chunks} ({status.tokens} tokens)"),
        ("generation", f"{status.generation}{' (a write is still to be finished)' if status.unfinished else ''}"),
        ("chunking", f"{settings.chunk_size} code points, overlap {settings.chunk_overlap}"),
        ("analyzer", status.analyzer),
        *((("fetching", _fetching(settings)),) if status.pages else ()),
        *(("extractor", _bound(each)) for each in status.extractors),
        *((("vectors", _vectors(status)),) if status.manifest is not None else ()),
    )
    for name, value in facts:
        click.echo(f"{name:>10}  {one_line(value)}")
    noted = [(each.source, f"{each.detail} ({each.noticed_at})") for each in status.failures]
    _section("failed", noted)
    if status.suspicious:
        _section("suspicious", [(each.source, "; ".join(each.suspicions)) for each in status.suspicious])
    if status.incomplete:
        _section("incomplete", [(each.source, "; ".join(each.losses)) for each in status.incomplete])
    return 0


def _vectors(status: IndexStatus) -> str:
    """How many chunks have one, of whom, and how many lack theirs."""
    counts = status.vectors
    told = f"{counts.embedded} of {status.manifest}"
    if counts.empty:
        told += f", {counts.empty} chunks without anything to embed"
    if counts.lacking:
        told += f", {counts.lacking} chunks lack theirs: `gk ingest --dense` goes on"
    return told


def _fetching(settings: Settings) -> str:
    """The limits of pages."""
    ports = ", ".join(map(str, settings.fetch_ports))
    return f"{settings.fetch_bytes:,} bytes and {settings.fetch_seconds} s a page, from port {ports}"


def _section(name: str, rows: list[tuple[str, str]]) -> None:
    """How many sources, and what is said of each."""
    click.echo(f"{name:>10}  {len(rows)}")
    for source, said in rows:
        click.echo(f"            {one_line(source)}: {one_line(said)}")


def _bound(each: BoundDocuments) -> str:
    """An identity, how many documents it extracted, and what is to be done where it is not at work here."""
    counted = f"{each.identity}: {each.documents} document{'' if each.documents == 1 else 's'}"
    if each.active:
        return counted
    if each.instead:
        return f"{counted}, not active here; `gk ingest` binds them to {each.instead}"
    return f"{counted}, not active here: {each.missing}"

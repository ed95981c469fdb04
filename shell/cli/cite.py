"""`gk cite`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from groundkit.cite_values import CitedQuote
from groundkit.cli.common import (
    badge,
    base_option,
    collection_options,
    color_option,
    format_option,
    incomplete_mark,
    linked_by,
    opened,
    path_meant,
    place,
    print_json,
    style,
    unsecret,
    use_color,
)
from groundkit.cli.printable import json_text, one_line, printable
from groundkit.cli.quotes import print_quote, quote_data, told
from groundkit.core.result import Failure
from groundkit.errors import GroundkitError

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.core.model import Citation, DocumentRecord, RetrievalResult
    from groundkit.core.portable import PortableCitation


@click.command("cite")
@click.argument("file", required=False, type=click.File("rb"))
@click.option("--quote", metavar="TEXT", help="Make a citation of this text, if it stands in the collection.")
@click.option("--source", metavar="SOURCE", help="With --quote: in this source only, a path or as `gk files` lists it.")
@click.option("--hits", metavar="FILE", type=click.File("rb"), help="What `[1]` counts: the JSON of `gk search`.")
@click.option("--all", "everything", is_flag=True, help="Write a citation of every chunk, to be checked anywhere.")
@click.option(
    "--chunk",
    "chunks",
    metavar="CHUNK_OR_SOURCE",
    multiple=True,
    help="Write the citations of a chunk, a source or a folder; may be given again.",
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
    with what differs, or nowhere; `[1]`, `[^1]`, a place or a chunk id behind it says in which document it has to stand. That
    it stands elsewhere in it than its mark says is told, and fails nothing: lines shift.

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
        return told(found.check_answer(text, given), form, verbose, use_color(color), linked_by(found))


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


def _quoted(found: Collection, quote: str, name: str | None, form: str, color: bool) -> int:
    source = None if name is None else next((each.source for each in _meant(found, name)), None)
    if name is not None and source is None:
        click.echo(f"gk: the collection has no source {unsecret(name)}; `gk files` lists those it has", err=True)
        return _nowhere(CitedQuote(quote, None), form)
    cited = found.find_quote(quote, source=source)
    if cited.citation is None:
        near = ", but something near it does" if cited.near is not None else ""
        click.echo(f"gk: the quotation stands nowhere{near}", err=True)
        if cited.near is not None and form == "human":
            print_quote(cited.near, color, "", linked_by(found))
        return _nowhere(cited, form)
    if form == "human":
        _print_cited(found, cited.citation, color)
    else:
        _write(cited.citation, form)
        now = found.verify(cited.citation)
        if not now:
            click.echo(f"gk: {now.verdict.value} ({now.reason.value}): {one_line(now.detail)}", err=True)
    if cited.places > 1:
        narrower = "; --source narrows it" if source is None else ""
        click.echo(f"gk: the first of {cited.places} places{narrower}", err=True)
    return 0


def _print_cited(found: Collection, portable: PortableCitation, color: bool) -> None:
    citation = portable.citation
    mark = incomplete_mark(citation.incomplete, color)
    where = linked_by(found)(style(place(citation), color, bold=True), citation, None)
    click.echo(f"{where}  {badge(found.verify(citation), color)}{mark}")
    for line in printable(portable.text).split("\n"):
        click.echo(f"   {line}".rstrip())
    click.echo(style(f"   {citation.start_offset}–{citation.end_offset}  {citation.chunk_id}", color, dim=True))


def _nowhere(cited: CitedQuote, form: str) -> int:
    """JSON is valid on a negative answer, too; in JSON lines there is none."""
    if form == "json":
        near = None if cited.near is None else quote_data(cited.near)
        print_json({"quote": cited.quote, "citation": None, "places": 0, "near": near})
    return 1


# -- citations of chunks


def _exported(found: Collection, chunks: tuple[str, ...], form: str) -> int:
    """Everything that was asked for, or nothing: a file of citations must not lack some unnoticed."""
    citations = _named(found, chunks) if chunks else found.citations()
    if isinstance(citations, str):
        click.echo(f"gk: the collection has no source and no chunk {unsecret(citations)}", err=True)
        return 1
    count = 0
    for portable in found.portable_each(citations):
        _write(portable, "annotations" if form == "annotations" else "jsonl")
        count += 1
    return 0 if count else 1


def _named(found: Collection, names: tuple[str, ...]) -> list[Citation] | str:
    """The citations that are meant, or the first name that names nothing."""
    named: list[Citation] = []
    for name in names:
        if not name.strip():  # a variable that is not set
            return name
        records = _meant(found, name, folders=True)
        if records:
            named += (citation for record in records for citation in found.citations(record.source))
            continue
        fetched = found.fetch_chunk(name)
        if fetched.citation is None:
            return name
        named.append(fetched.citation)
    return named


def _meant(found: Collection, name: str, folders: bool = False) -> list[DocumentRecord]:
    """The documents of a path from here, or of a source as `gk files` lists it; with `folders`, of all below it."""
    from groundkit.core.url_kinds import is_url

    below = None if is_url(name) else _source_of(found, name)
    exact = next((each for each in (below, name) if each and found.get_document_records(each)), None)
    if exact is not None:
        return found.get_document_records(exact)
    if not folders or below is None:
        return []
    from groundkit.core.paths import lies_below

    return [each for each in found.get_document_records() if lies_below(each.source, below)]


def _source_of(found: Collection, name: str) -> str | None:
    """What a path is called in the collection; None for one that can be no source."""
    if found.base is None:
        return None
    try:
        return found.sources_of([path_meant(found, name)])[0]
    except GroundkitError:
        return None


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

"""`gk search`."""

import sys
from typing import TYPE_CHECKING

import click

from groundkit.cli.common import (
    address,
    badge,
    collection_options,
    color_option,
    format_option,
    incomplete_mark,
    linked_by,
    number,
    opened,
    place,
    print_json,
    print_json_line,
    style,
    use_color,
)
from groundkit.cli.models import endpoint_of, endpoint_options, rerank_options
from groundkit.cli.printable import one_line, printable
from groundkit.core.model import RetrievalResult
from groundkit.errors import error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from groundkit.cli.excerpts import Asked
    from groundkit.collection import Collection
    from groundkit.core.model import Citation, Locator
    from groundkit.core.searching import ScoreParts
    from groundkit.search import SearchAnswer


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@collection_options
@click.option(
    "-n",
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Hits to give, at most.",
)
@click.option("--offset", metavar="N", type=click.IntRange(min=0), default=0, help="Hits to pass over.")
@click.option(
    "-m",
    "--mode",
    type=click.Choice(("bm25", "dense", "hybrid")),
    default="bm25",
    show_default=True,
    help="Rank by words, by meaning, or by both. The last two need vectors: `gk ingest --dense`.",
)
@click.option("--per-source", metavar="N", type=click.IntRange(min=1), help="Hits of one source, at most.")
@click.option("--merge", is_flag=True, help="Make one hit of those that stand beside each other in a document.")
@click.option(
    "--abstain/--no-abstain",
    default=True,
    show_default=True,
    help="By meaning: give no hits where nothing seems to be an answer.",
)
@rerank_options
@click.option("--explain", is_flag=True, help="Say how the query was understood, and where each score comes from.")
@click.option("--verify/--no-verify", default=True, show_default=True, help="Look at the source of each hit again.")
@click.option(
    "--verify-bytes",
    metavar="N",
    type=click.IntRange(min=0),
    default=256 * 1024 * 1024,
    help="Bytes of sources to read for that, at most; extracted ones count 128 times. Default: 256 MiB.",
)
@click.option(
    "--verify-seconds",
    metavar="S",
    type=click.FloatRange(min=0),
    callback=lambda context, parameter, value: number(value),
    default=10.0,
    show_default=True,
    help="Seconds to take for that, at most. What is not come to stays unchecked.",
)
@click.option("--full", is_flag=True, help="Print whole passages.")
@endpoint_options
@format_option("human", "json", "jsonl", "md", "paths")
@color_option
def search_command(
    query: tuple[str, ...],
    index_dir: str | None,
    collection: str,
    limit: int,
    offset: int,
    mode: str,
    per_source: int | None,
    merge: bool,
    abstain: bool,
    rerank: str | None,
    rerank_download: bool,
    explain: bool,
    model_url: str | None,
    model_local: bool,
    verify: bool,
    verify_bytes: int,
    verify_seconds: float,
    full: bool,
    form: str,
    color: str,
) -> int:
    """Find passages. Every hit is a citation, and its source is looked at again.

    Words are looked for by their stems; "quoted words" must stand together, +word must and -word must not be there.
    source:GLOB, class:, type:, heading:, after: and before: say where to look. Everything else is text. Chinese, Japanese,
    Korean and Thai are found by the sign: put a word in quotation marks to find it whole. Put -- before a query that begins
    with -.
    """
    text = " ".join(query)
    if not text.strip():
        raise click.UsageError("the query is empty")
    with opened(index_dir, collection, endpoint=endpoint_of(model_url, model_local, rerank_download)) as found:
        answer = found.answer(
            text,
            limit=limit,
            offset=offset,
            mode=mode,
            per_source=per_source,
            merge=merge,
            abstain=abstain,
            rerank=rerank,
            explain=explain,
            verify=verify,
            verify_bytes=verify_bytes,
            verify_seconds=verify_seconds,
        )
        if answer.refused is not None:
            raise error_of(answer.refused)
        if form == "human":
            _print(found, answer, text, offset, full, use_color(color), explain)
        else:
            _print_data(found, answer, text, offset, form, explain)
    return 0 if answer.hits else 1


def _print_data(found: "Collection", answer: "SearchAnswer", text: str, offset: int, form: str, explain: bool) -> None:
    hits = answer.hits
    match form:
        case "json":
            data = [hit_data(found, hit, offset + n, text) for n, hit in enumerate(hits, 1)]
            print_json({"query": text, **_told(answer, explain), "hits": data})
        case "jsonl":
            for n, hit in enumerate(hits, 1):
                print_json_line(hit_data(found, hit, offset + n, text))
        case "md":
            for hit in hits:
                click.echo(_markdown(hit))
        case _:
            for hit in hits:
                click.echo(address(hit.citation))


def _told(answer: "SearchAnswer", explain: bool) -> dict[str, object]:
    """What JSON says of all hits together."""
    from groundkit.wire import data_of

    told: dict[str, object] = {
        "mode": answer.mode.value,
        "matches": answer.matches,
        "abstained": data_of(answer.abstained),
    }
    return told | {"understood": list(_understood(answer))} if explain else told


def _understood(answer: "SearchAnswer") -> tuple[str, ...]:
    from groundkit.core.query import explained

    asked = answer.understood
    return () if asked is None else explained(asked.parsed, asked.lexical)


def hit_data(found: "Collection", hit: RetrievalResult, rank: int, query: str) -> dict[str, object]:
    """One hit as JSON has it."""
    from groundkit.wire import data_of

    snippet = found.snippet(hit, query)
    explained = {} if hit.parts is None else {"parts": data_of(hit.parts)}
    return {
        "rank": rank,
        "score": hit.score,
        "source": hit.source,
        "source_class": hit.source_class.value,
        "extractor": hit.extractor,
        "line": hit.locator.line,
        "column": hit.locator.column,
        "heading_path": list(hit.locator.heading_path),
        "pages": data_of(hit.locator.pages),
        "anchor": hit.locator.anchor,
        "incomplete": hit.incomplete,
        "start": hit.citation.start_offset,
        "end": hit.citation.end_offset,
        "document_id": hit.document_id,
        "chunk_id": hit.chunk_id,
        "text": hit.text,
        "snippet": {
            "start": snippet.span.start,
            "end": snippet.span.end,
            "text": hit.text[snippet.span.start : snippet.span.end],
            "marks": [[mark.start, mark.end] for mark in snippet.marks],
        },
        **explained,
        "citation": data_of(hit.citation),
        "verification": data_of(hit.verification),
    }


def _columns() -> int | None:
    """Columns that a passage may take; None where it goes to no terminal."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns - len(_MARGIN)


def _print(
    found: "Collection", answer: "SearchAnswer", query: str, offset: int, full: bool, color: bool, explain: bool
) -> None:
    from groundkit.cli.excerpts import asked

    wanted, hits = asked(query, found.terms), answer.hits
    for line in _understood(answer) if explain else ():
        click.echo(style(one_line(line), color, dim=True))
    if not hits:
        click.echo(_why_none(found, answer, wanted, offset), err=True)
    columns, linked = _columns(), linked_by(found)
    for n, hit in enumerate(hits, 1):
        _print_hit(hit, offset + n, wanted, full, color, columns, linked)
        for line in () if hit.parts is None else _reckoned(hit.parts):
            click.echo(style(f"{_MARGIN}{one_line(line)}", color, dim=True))
        if n < len(hits):
            click.echo()
    if hits and sys.stderr.isatty() and answer.matches > offset + len(hits):
        click.echo(
            f"\n{offset + 1}–{offset + len(hits)} of {answer.matches}; --offset {offset + len(hits)} goes on", err=True
        )


def _reckoned(parts: "ScoreParts") -> "Iterator[str]":
    """Where a score comes from, a line each."""
    for term in parts.terms:
        yield f"{term.score:.4f}  {term.term}: {term.count} times, idf {term.idf:.4f}"
    if parts.bm25 is not None:
        place = "" if parts.bm25_rank is None else f", place {parts.bm25_rank} by words"
        yield f"bm25 {parts.bm25:.4f}{place}"
    if parts.cosine is not None:
        yield f"cosine {parts.cosine:.4f}{'' if parts.dense_rank is None else f', place {parts.dense_rank} by meaning'}"
    if parts.fused is not None:
        yield f"fused {parts.fused:.6f}"
    if parts.reranked is not None:
        yield f"reranked {parts.reranked:.4f}"


def _why_none(found: "Collection", answer: "SearchAnswer", wanted: "Asked", offset: int) -> str:
    if answer.abstained is not None:
        return f"no hits: {answer.abstained.reason}; --no-abstain gives the nearest passages all the same"
    if not wanted.terms:
        return "no hits: the query holds no word, and signs are not indexed"
    if not found.status().chunks:
        return "no hits: the collection is empty"
    if offset:
        return f"no hits after the first {offset}"
    failed = len(found.status().failures)
    return (
        f"no hits ({failed} source{'' if failed == 1 else 's'} could not be ingested; see gk status)"
        if failed
        else "no hits"
    )


#: Before everything that belongs to a hit.
_MARGIN = "   "


def _print_hit(
    hit: RetrievalResult,
    rank: int,
    wanted: "Asked",
    full: bool,
    color: bool,
    columns: int | None,
    linked: "Callable[[str, Citation, Locator | None], str]",
) -> None:
    from groundkit.cli.excerpts import excerpt, marked, wrapped

    where = linked(style(place(hit.citation), color, bold=True), hit.citation, None)
    # Fused scores are small: one list gives at most a sixtieth.
    score = style(f"{hit.score:.3f}" if hit.score >= 1 else f"{hit.score:.4f}", color, dim=True)
    click.echo(f"{rank}. {where}  {badge(hit.verification, color)}  {score}{incomplete_mark(hit.incomplete, color)}")
    if hit.verification is not None and not hit.verification:
        click.echo(f"{_MARGIN}{one_line(hit.verification.detail)}")
    if hit.locator.heading_path:
        click.echo(f"{_MARGIN}{style(' › '.join(map(one_line, hit.locator.heading_path)), color, fg='cyan')}")
    shown = printable(hit.text if full else excerpt(hit.text, wanted)).rstrip("\n")
    for line in shown.split("\n"):
        for piece in [line] if columns is None else wrapped(line, max(columns, 20)):
            click.echo(f"{_MARGIN}{marked(piece, wanted, color)}".rstrip())
    click.echo(style(f"{_MARGIN}{hit.chunk_id}", color, dim=True))


def _markdown(hit: RetrievalResult) -> str:
    """A block quote with its citation below."""
    quoted = "\n".join(f"> {line}".rstrip() for line in printable(hit.text).strip("\n").split("\n"))
    verdict = "unchecked" if hit.verification is None else hit.verification.verdict.value
    where = place(hit.citation)
    span = f"{hit.citation.start_offset}–{hit.citation.end_offset}"
    mark = ", incomplete document" if hit.incomplete else ""
    return f"{quoted}\n>\n> — `{where}` ({span}, {verdict}{mark}, `{hit.chunk_id}`)\n"

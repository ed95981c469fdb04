"""`gk search`."""

import re

import click

from groundkit.cli.common import (
    badge,
    collection_options,
    color_option,
    format_option,
    opened,
    place,
    print_json,
    print_json_line,
    style,
    use_color,
)
from groundkit.cli.printable import one_line, printable
from groundkit.core.folding import search_view
from groundkit.core.model import RetrievalResult

#: Lines of a passage that a hit shows; `--full` and `gk show` show all.
EXCERPT_LINES = 5
_WORD = re.compile(r"\w+")


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@collection_options
@click.option("-n", "--limit", type=click.IntRange(min=1), default=5, show_default=True, help="Hits to give, at most.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Hits to pass over.")
@click.option("--verify/--no-verify", default=True, show_default=True, help="Look at the source of each hit again.")
@click.option("--full", is_flag=True, help="Print whole passages.")
@format_option("human", "json", "jsonl", "md", "paths")
@color_option
def search_command(
    query: tuple[str, ...],
    index_dir: str | None,
    collection: str,
    limit: int,
    offset: int,
    verify: bool,
    full: bool,
    form: str,
    color: str,
) -> int:
    """Find passages. Every hit is a citation, and its source is looked at again.

    Words are looked for by their stems; "quoted words" must stand together. Everything else is text.
    """
    asked = " ".join(query)
    if not asked.strip():
        raise click.UsageError("the query is empty")
    with opened(index_dir, collection) as found:
        hits = found.search(asked, limit=limit, offset=offset, verify=verify)
    match form:
        case "json":
            print_json({"query": asked, "hits": [hit_data(hit, offset + n) for n, hit in enumerate(hits, 1)]})
        case "jsonl":
            for n, hit in enumerate(hits, 1):
                print_json_line(hit_data(hit, offset + n))
        case "md":
            for hit in hits:
                click.echo(_markdown(hit))
        case "paths":
            for hit in hits:
                click.echo(place(hit.source, hit.locator.line, hit.locator.column))
        case _:
            _print(hits, asked, offset, full, use_color(color))
    return 0 if hits else 1


def hit_data(hit: RetrievalResult, rank: int) -> dict[str, object]:
    """One hit as JSON has it."""
    from groundkit.wire import data_of

    return {
        "rank": rank,
        "score": hit.score,
        "source": hit.source,
        "source_class": hit.source_class.value,
        "extractor": hit.extractor,
        "line": hit.locator.line,
        "column": hit.locator.column,
        "heading_path": list(hit.locator.heading_path),
        "start": hit.citation.start_offset,
        "end": hit.citation.end_offset,
        "document_id": hit.document_id,
        "chunk_id": hit.chunk_id,
        "text": hit.text,
        "citation": data_of(hit.citation),
        "verification": data_of(hit.verification),
    }


def _print(hits: list[RetrievalResult], query: str, offset: int, full: bool, color: bool) -> None:
    if not hits:
        click.echo("no hits", err=True)
        return
    words = frozenset(search_view(query)[0].split())
    for n, hit in enumerate(hits, 1):
        where = style(place(hit.source, hit.locator.line, hit.locator.column), color, bold=True)
        score = style(f"{hit.score:.3f}", color, dim=True)
        click.echo(f"{offset + n}. {where}  {badge(hit.verification, color)}  {score}")
        if hit.verification is not None and not hit.verification:
            click.echo(f"   {one_line(hit.verification.detail)}")
        if hit.locator.heading_path:
            click.echo(f"   {style(' › '.join(map(one_line, hit.locator.heading_path)), color, fg='cyan')}")
        shown = hit.text if full else excerpt(hit.text, words)
        for line in marked(printable(shown).rstrip("\n"), words, color).split("\n"):
            click.echo(f"   {line}".rstrip())
        click.echo(style(f"   {hit.chunk_id}", color, dim=True))
        if n < len(hits):
            click.echo()


def excerpt(text: str, words: frozenset[str]) -> str:
    """The run of lines that holds most of the words, in a passage too long to show whole."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= EXCERPT_LINES:
        return "\n".join(_shortened(line, words) for line in lines)
    found = [frozenset(search_view(line)[0].split()) & words for line in lines]
    windows = range(len(lines) - EXCERPT_LINES + 1)
    best = max(windows, key=lambda at: (len(frozenset().union(*found[at : at + EXCERPT_LINES])), -at))
    chosen = [_shortened(line, words) for line in lines[best : best + EXCERPT_LINES]]
    before, after = ["…"] * (best > 0), ["…"] * (best + EXCERPT_LINES < len(lines))
    return "\n".join([*before, *chosen, *after])


def _shortened(line: str, words: frozenset[str], width: int = 400) -> str:
    """A long line around its first matching word."""
    if len(line) <= width:
        return line
    first = next((m.start() for m in _WORD.finditer(line) if m.group().casefold() in words), 0)
    start = max(0, min(first - width // 4, len(line) - width))
    return f"{'…' if start else ''}{line[start : start + width]}{'…' if start + width < len(line) else ''}"


def marked(text: str, words: frozenset[str], color: bool) -> str:
    """The words of the query in bold."""
    if not color:
        return text
    return _WORD.sub(lambda m: style(m.group(), m.group().casefold() in words, bold=True, fg="magenta"), text)


def _markdown(hit: RetrievalResult) -> str:
    """A block quote with its citation below."""
    quoted = "\n".join(f"> {line}".rstrip() for line in printable(hit.text).strip("\n").split("\n"))
    verdict = hit.verification.verdict.value if hit.verification else "unchecked"
    where = place(hit.source, hit.locator.line, hit.locator.column)
    span = f"{hit.citation.start_offset}–{hit.citation.end_offset}"
    return f"{quoted}\n>\n> — `{where}` ({span}, {verdict}, `{hit.chunk_id}`)\n"

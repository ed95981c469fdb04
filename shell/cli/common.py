"""What the commands share: options, the collection they mean, colours, formats."""

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from groundkit import config
from groundkit.cli.printable import json_text, one_line
from groundkit.core.model import Citation, FetchFacts, Locator, SourceClass, Verdict, Verification
from groundkit.core.result import Failure
from groundkit.errors import error_of

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.requests import ModelEndpoint

F = TypeVar("F", bound=Callable[..., Any])

_MARKS = {Verdict.VERIFIED: ("✓", "green"), Verdict.DRIFTED: ("≠", "yellow"), Verdict.UNRESOLVABLE: ("✗", "red")}


def collection_options(command: F) -> F:
    """`--index-dir` and `--collection`."""
    named = click.option(
        "-c",
        "--collection",
        metavar="NAME",
        envvar="GK_COLLECTION",
        default=config.DEFAULT_COLLECTION,
        show_default=True,
        help="The collection meant (or GK_COLLECTION).",
    )
    return index_option(named(command))


def index_option(command: F) -> F:
    return click.option(
        "--index-dir",
        metavar="DIR",
        help="The index directory (or GK_INDEX_DIR); else the nearest .groundkit on the way up.",
    )(command)


def base_option(command: F) -> F:
    return click.option("--base-dir", metavar="DIR", help="The directory below which the sources lie.")(command)


def number(seconds: float) -> float:
    """NaN lies in every range, and nothing is ever more than it."""
    if math.isnan(seconds):
        raise click.BadParameter("nan is no number")
    return seconds


def wait_option(command: F) -> F:
    return click.option(
        "--wait",
        metavar="SECONDS",
        type=click.FloatRange(min=0),
        callback=lambda context, parameter, seconds: number(seconds),
        default=10.0,
        show_default=True,
        help="How long to wait for another writer.",
    )(command)


def format_option(*formats: str) -> Callable[[F], F]:
    return click.option(
        "--format", "form", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print."
    )


def color_option(command: F) -> F:
    return click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        show_default=True,
        help="Use colours.",
    )(command)


def index_directory(given: str | None) -> Path:
    """The index directory that is meant, or the error that says how to name one."""
    found = config.find_index(given, os.environ, here())
    if isinstance(found, Failure):
        raise error_of(found.failure())
    return found.unwrap()


def here() -> Path:
    """The working directory; the root where it was deleted, for then only absolute paths can be meant."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def opened(
    given: str | None, collection: str, base_dir: str | None = None, endpoint: "ModelEndpoint | None" = None
) -> "Collection":
    """The collection that is meant. Its base directory only where this run is given another one."""
    # Storage and search are loaded with the first collection.
    from groundkit.opening import open as open_collection

    return open_collection(index_directory(given), base=base_dir, collection=collection, endpoint=endpoint)


def path_meant(found: "Collection", name: str) -> Path:
    """A path from here, or a source as `gk files` names it, where only that exists."""
    here = Path(os.path.abspath(name))
    base = found.base
    if base is None or os.path.lexists(here) or not os.path.lexists(base / name):
        return here
    return base / name


def use_color(wish: str, stream: Any = None) -> bool:
    """`--color`, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    decided = _wanted(wish, stream)
    context = click.get_current_context(silent=True)
    if context is not None:
        # Else click takes them out again where it sees no terminal.
        context.color = decided
    return decided


def _wanted(wish: str, stream: Any) -> bool:
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool((stream or sys.stdout).isatty()) and os.environ.get("TERM") != "dumb"


def style(text: str, on: bool, **how: Any) -> str:
    return click.style(text, **how) if on else text


def links_wanted() -> bool:
    """Whether places may be hyperlinks: on a terminal, or where somebody insists."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_HYPERLINK"))


def linked_by(found: "Collection") -> Callable[[str, Citation, Locator | None], str]:
    """What makes a hyperlink of a label that is safe to print, where there are hyperlinks."""
    if not links_wanted():
        return lambda label, citation, now: label
    from groundkit.cli.linked import linked_in

    return linked_in(found)


def badge(verification: Verification | None, color: bool) -> str:
    """`✓ verified`; what nobody looked at is `unchecked`."""
    if verification is None:
        return style("unchecked", color, dim=True)
    mark, tint = _MARKS[verification.verdict]
    reason = "" if verification else f" ({verification.reason.value})"
    context = " (its surroundings changed)" if verification.context_changed else ""
    return style(f"{mark} {verification.verdict.value}{reason}{context}", color, fg=tint)


def place(citation: Citation) -> str:
    """Where a citation stands, safe to print."""
    return one_line(citation.place)


def address(citation: Citation) -> str:
    """A place as programs take it: `file:line:column`, or a fragment that browsers know, `#page=12` or `#anchor`."""
    locator = citation.locator
    if citation.source_class is SourceClass.TEXT or locator is None or locator.pages is None:
        return place(citation)
    return f"{one_line(citation.source)}#page={locator.pages.first}"


def incomplete_mark(incomplete: bool, color: bool) -> str:
    """What stands beside everything that comes from a document of which text is missing."""
    return f"  {style('incomplete document', color, fg='yellow')}" if incomplete else ""


def unsecret(text: str) -> str:
    """What somebody typed, safe to print, and without the secrets that a URL may hold."""
    from groundkit.core.url_kinds import is_url

    if not is_url(text):
        return one_line(text)
    from groundkit.core.masking import masked_url

    return one_line(masked_url(text))


def page_facts(fetch: FetchFacts | None) -> list[tuple[str, str]]:
    """What is known of how a page was fetched, by name."""
    if fetch is None:
        return []
    charset = f"{fetch.charset} (by {fetch.charset_by})" if fetch.charset else ""
    facts = (
        ("fetched", f"{fetch.fetched_at}, status {fetch.status}, {fetch.length} bytes"),
        ("content type", fetch.content_type or "none declared"),
        ("charset", charset),
        ("extractor", fetch.extractor or ""),
        ("etag", fetch.etag),
        ("last modified", fetch.last_modified),
        ("raw response", fetch.kept_body),
        ("suspicious", "; ".join(fetch.suspicions)),
    )
    return [(name, said) for name, said in facts if said]


def print_json(data: dict[str, Any]) -> None:
    """One JSON document with its schema number, as UTF-8; keys in the order given."""
    from groundkit.wire import SCHEMA

    click.echo(json_text(json.dumps({"schema": SCHEMA, **data}, ensure_ascii=False, indent=2)))


def print_json_line(data: dict[str, Any]) -> None:
    """The same on one line."""
    from groundkit.wire import SCHEMA

    click.echo(json_text(json.dumps({"schema": SCHEMA, **data}, ensure_ascii=False, separators=(",", ":"))))


def print_table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...], right: tuple[int, ...] = ()) -> None:
    """Rows under a head, columns numbered in `right` flush right. Cells are made safe here; wide characters count as two."""
    from rich.cells import cell_len

    lines = [head, *(tuple(map(one_line, row)) for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = []
        for number, (cell, width) in enumerate(zip(line, widths, strict=True)):
            gap = " " * (width - cell_len(cell))
            cells.append(gap + cell if number in right else cell + gap)
        click.echo("  ".join(cells).rstrip())

"""Places as hyperlinks, where the terminal takes them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundkit.cli.hyperlinks import Hyperlinks, hyperlinks_of
from groundkit.cli.told import Linked
from groundkit.core.model import Citation, Locator, SourceClass
from groundkit.core.paths import is_within_base
from groundkit.core.result import Failure
from groundkit.errors import GroundkitError

if TYPE_CHECKING:
    from groundkit.collection import Collection


def linked_in(found: Collection) -> Linked:
    """Links to the sources of a collection. A setting that cannot be understood is a usage error."""
    links = _links()
    if not links.is_on:
        return lambda label, citation, now: label
    base = found.base
    return lambda label, citation, now: _linked(found, base, links, label, citation, now)


def _links() -> Hyperlinks:
    made = hyperlinks_of(os.environ, sys.stdout.isatty(), os.uname().nodename)
    if isinstance(made, Failure):
        raise click.UsageError(made.failure().sentence)
    return made.unwrap()


def _linked(
    found: Collection, base: Path | None, links: Hyperlinks, label: str, citation: Citation, now: Locator | None
) -> str:
    if citation.source_class is SourceClass.SNAPSHOT:
        return links.page(label, _page(found, citation))
    if base is None or not is_within_base(citation.source):
        return label
    path, place = str(base / citation.source), now or citation.locator
    if citation.source_class is SourceClass.TEXT and place is not None:
        return links.editor(label, path, place.line, place.column)
    return links.file(label, path)


def _page(found: Collection, citation: Citation) -> str:
    """The page at the passage; without it where the version is not there any more."""
    try:
        return found.link(citation) or ""
    except GroundkitError:
        return citation.source

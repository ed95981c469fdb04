"""`gk demo`."""

import click

from groundkit.cli.common import color_option, use_color
from groundkit.demo import tour


@click.command("demo")
@color_option
def demo_command(color: str) -> int:
    """A guided tour in a temporary folder: ingest, search, verify, and what three edits do to a citation."""
    return tour(use_color(color))

"""The command line. A command's module is imported when that command is called, never before."""

import os
import sys
from importlib import import_module

import click

_COMMANDS = {
    "ingest": ("groundkit.cli.ingest", "Bring files, folders and web pages into a collection."),
    "search": ("groundkit.cli.search", "Find passages; each is a citation, checked on the spot."),
    "show": ("groundkit.cli.show", "Show one chunk whole, with its citation and verdict."),
    "verify": ("groundkit.cli.verify", "Look at the sources again: verified, drifted or unresolvable."),
    "cite": ("groundkit.cli.cite", "Check what a text quotes, or make a citation of a quotation."),
    "list": ("groundkit.cli.listing", "List the collections of the index directory."),
    "files": ("groundkit.cli.listing", "List the sources of a collection, or say why a path is taken or not."),
    "status": ("groundkit.cli.listing", "Counts, settings and failed sources of a collection."),
    "rm": ("groundkit.cli.manage", "Take sources out of a collection; the files stay."),
    "drop": ("groundkit.cli.manage", "Remove a whole collection."),
    "doctor": ("groundkit.cli.manage", "Check everything a collection says of itself; --repair mends what can be."),
    "eval": ("groundkit.cli.evaluate", "Ask judged queries, and say how good the answers are."),
    "echo": ("groundkit.cli.echo", "Plant markers in passages, and see whether whatever answers cites the right one."),
    "serve": ("groundkit.cli.serve", "REST, MCP and a web page over the collections, on this machine."),
    "mcp": ("groundkit.cli.mcp", "Answer an assistant over the Model Context Protocol."),
    "demo": ("groundkit.cli.demo", "A guided tour in a temporary folder."),
    "completion": ("groundkit.cli.completion", "Print the completion script for a shell."),
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(_COMMANDS[cmd_name][0]), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in _COMMANDS.items()])


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done, 1 a negative answer, 2 a wrong request, 3 the machine said no, 70 our bug.",
)
@click.version_option(package_name="groundkit", prog_name="gk")
def gk() -> None:
    """Retrieval whose every passage is a citation that can be checked against its source."""


def main() -> None:
    """The `gk` command: runs it and leaves with its exit code."""
    try:
        from groundkit.cli.running import run
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(gk, sys.argv[1:], os.environ))

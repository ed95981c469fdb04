"""`gk serve`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from groundkit.cli.common import base_option, index_option
from groundkit.cli.models import endpoint_of, endpoint_options
from groundkit.cli.serving import needs_serve, served_directory

_TOKEN = "GK_SERVE_TOKEN"
#: Bytes of a file that may be a token.
_MOST = 4096


@click.command("serve")
@index_option
@base_option
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any that is free."
)
@click.option("--allow-remote", is_flag=True, help="Listen where other machines reach it. Needs a token.")
@click.option(
    "--token-file",
    metavar="FILE",
    help=f"The token that every request has to bring (or {_TOKEN}): 16 characters or more.",
)
@click.option(
    "--allow-host",
    "names",
    metavar="NAME[:PORT]",
    multiple=True,
    help="A further name or address that browsers and programs reach it by: of this machine in the network, of a proxy.",
)
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Requests worked on at once.",
)
@click.option(
    "--waiting",
    metavar="N",
    type=click.IntRange(0, 10_000),
    default=32,
    show_default=True,
    help="Requests that may wait for a worker; more are told to come back.",
)
@endpoint_options
def serve_command(
    index_dir: str | None,
    base_dir: str | None,
    host: str,
    port: int,
    allow_remote: bool,
    token_file: str | None,
    names: tuple[str, ...],
    workers: int,
    waiting: int,
    model_url: str | None,
    model_local: bool,
) -> int:
    """Serve the collections of an index directory: REST at /v1, MCP at /mcp, and a page to search and read in a browser.

    Nothing is written: ingest with `gk ingest` meanwhile, and the next request sees it. It listens on this machine alone, unless
    --allow-remote is given and a token. Logs go to stderr, as JSON lines without queries or texts.
    """
    needs_serve()
    directory = served_directory(index_dir)
    token = _token(token_file)
    from groundkit.cli.serving import running, runtime_of
    from groundkit.errors import error_of
    from groundkit.requests import ServingRefused
    from groundkit.service.problems import ProblemError
    from groundkit.service.runtime import Room
    from groundkit.service.server import Bind, serve

    with running(
        runtime_of(directory, base_dir, endpoint_of(model_url, model_local), Room(workers, waiting))
    ) as runtime:
        try:
            runtime.check()
        except ProblemError as error:
            raise error_of(ServingRefused(str(error.problem))) from error
        interrupted = serve(runtime, Bind(host, port, allow_remote, token, names), said=sys.stderr.isatty())
    return 130 if interrupted else 0


def _token(file: str | None) -> str | None:
    """From the file, else from the environment; never from the command line, which everybody can read."""
    # Processes that extract documents inherit the environment, and have no use for it.
    given = os.environ.pop(_TOKEN, "")
    if file is None:
        return given or None
    try:
        with Path(file).open(encoding="ascii") as opened:
            return opened.read(_MOST).strip()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not ASCII"
        raise click.UsageError(f"the token file cannot be read: {said}") from error

"""`gk mcp`."""

import click

from groundkit.cli.common import base_option, index_option
from groundkit.cli.models import endpoint_of, endpoint_options
from groundkit.cli.serving import needs_serve, running, runtime_of, served_directory


@click.command("mcp")
@index_option
@base_option
@endpoint_options
def mcp_command(index_dir: str | None, base_dir: str | None, model_url: str | None, model_local: bool) -> int:
    """Answer an assistant over the Model Context Protocol, on standard input and output.

    An assistant starts it: give it the command `gk mcp --index-dir DIR`. It has the tools search, fetch_chunk, list_collections,
    index_status and fetch, and changes nothing. Logs go to stderr, as JSON lines without queries or texts.
    """
    needs_serve()
    directory = served_directory(index_dir)
    from groundkit.service.stdio import serve_stdio

    with running(runtime_of(directory, base_dir, endpoint_of(model_url, model_local))) as runtime:
        serve_stdio(runtime)
    return 0

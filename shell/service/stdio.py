"""The MCP server on standard input and output, for an assistant that starts it. Output carries the protocol and nothing else."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from typing import TYPE_CHECKING
from uuid import uuid4

import anyio
from mcp.server.stdio import stdio_server

from groundkit.service.desk import Desk, Done
from groundkit.service.journal import Journal, Told, quiet_foreign_loggers
from groundkit.service.mcp import mcp_server
from groundkit.service.runtime import closed_within

if TYPE_CHECKING:
    from groundkit.service.runtime import Runtime

#: Exit codes of the two signals that end it, and the seconds that what is under way has then.
_ENDS = {signal.SIGTERM: 0, signal.SIGINT: 130}
_GRACE = 10
#: Seconds between two looks at whether somebody still reads.
_LOOK = 1


def serve_stdio(runtime: Runtime) -> None:
    """Answer until input ends, or SIGTERM or SIGINT comes. The SDK points output at the error stream for everybody else."""
    journal = Journal(sys.stderr, short=sys.stderr.isatty())
    if sys.stdin.isatty():
        print("gk: an assistant starts this and speaks to it on standard input; Ctrl-C ends it", file=sys.stderr)
    quiet_foreign_loggers(journal)
    anyio.run(_serve, runtime, journal)


async def _serve(runtime: Runtime, journal: Journal) -> None:
    def watch(done: Done) -> None:
        told = Told(uuid4().hex, done.surface, done.operation, "stdio", done.items)
        journal.request(told, None, done.status, done.seconds * 1000, None)

    for each, code in _ENDS.items():
        asyncio.get_running_loop().add_signal_handler(each, _end, runtime, code)
    # Taken now, since the SDK is about to point 1 elsewhere.
    watching = asyncio.create_task(_end_with_reader(runtime, os.dup(1)))
    server = mcp_server(Desk(runtime, watcher=watch))
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except* (BrokenPipeError, ConnectionResetError):
        pass  # whoever asked is gone, and with it the need for an answer
    finally:
        watching.cancel()


async def _end_with_reader(runtime: Runtime, output: int) -> None:
    """An assistant that is gone is told by the output alone where something else holds the other end of the input."""
    gone = select.poll()
    gone.register(output, 0)
    while not gone.poll(0):
        await asyncio.sleep(_LOOK)
    _end(runtime, 0)


def _end(runtime: Runtime, code: int) -> None:
    """End the process: the SDK's thread that waits for input cannot be woken, so there is no other way out."""
    closed_within(runtime, _GRACE)
    os._exit(code)

"""The HTTP server: a socket on this machine unless somebody insists, uvicorn with deadlines, the guard in front of everything."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import uvicorn
from attrs import field, frozen

from groundkit.core.result import Failure
from groundkit.core.served_hosts import allowed_hosts
from groundkit.errors import StorageError, error_of
from groundkit.requests import ServingRefused
from groundkit.service.app import application
from groundkit.service.desk import Desk
from groundkit.service.guard import Guard
from groundkit.service.journal import Journal, quiet_foreign_loggers
from groundkit.service.limits import Limits, bounded
from groundkit.service.metrics import Metrics

if TYPE_CHECKING:
    from groundkit.service.problems import Problem
    from groundkit.service.runtime import Runtime

#: Characters of a token, at least.
LEAST_TOKEN = 16
#: Seconds that requests under way have when the server is told to end.
_GRACE = 10


@frozen
class Bind:
    """Where to listen, to whom, and which names it is reached by besides its own."""

    host: str = "127.0.0.1"
    port: int = 8765
    allow_remote: bool = False
    token: str | None = field(default=None, repr=False)
    names: Sequence[str] = ()


def refused(bind: Bind) -> str | None:
    """Why it must not listen there; None if it may."""
    if bind.token is not None and not (
        len(bind.token) >= LEAST_TOKEN and bind.token.isascii() and _printable(bind.token)
    ):
        return f"the token must have {LEAST_TOKEN} or more printable ASCII characters and no blank"
    if is_loopback(bind.host):
        return None
    if not bind.allow_remote:
        return f"{bind.host} can be reached from other machines: that needs --allow-remote and a token"
    if bind.token is None:
        return "--allow-remote needs a token: --token-file FILE, or GK_SERVE_TOKEN"
    return None


def _printable(token: str) -> bool:
    return all("!" <= char <= "~" for char in token)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it. Of names, only `localhost` is known to."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening(bind: Bind) -> socket.socket:
    """A socket that takes connections. `StorageError` where the machine does not give it."""
    family = socket.AF_INET6 if ":" in bind.host else socket.AF_INET
    # Named, because only then asyncio turns Nagle off, which would hold back the second half of each answer.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((bind.host, bind.port))
        taken.listen(128)
    except OSError as error:
        taken.close()
        raise StorageError(
            f"{bind.host}:{bind.port} cannot be listened on: {error.strerror or error}; --port names another, 0 any that is free"
        ) from error
    taken.set_inheritable(False)
    return taken


def _welcome(bind: Bind, port: int) -> str:
    """Where a person finds it. No browser goes to the address that stands for all of them."""
    every = bind.host in ("0.0.0.0", "::")
    host = "127.0.0.1" if every else f"[{bind.host}]" if ":" in bind.host else bind.host
    more = " (from elsewhere: by the names given with --allow-host)" if every else ""
    return f"gk: http://{host}:{port}/ is the page{more}, /v1 REST, /mcp MCP; Ctrl-C ends it"


def serve(runtime: Runtime, bind: Bind, limits: Limits | None = None, said: bool = False) -> bool:
    """Answer until SIGTERM or SIGINT comes; requests under way are finished. `said`: tell a person where it listens.

    True if it was SIGINT that came.

    `ConfigurationError` where it must not listen there; `StorageError` where it cannot.
    """
    why = refused(bind)
    if why is not None:
        raise error_of(ServingRefused(why))
    limits = limits or Limits()
    taken = listening(bind)
    port = taken.getsockname()[1]
    names = allowed_hosts(bind.host, port, bind.names)
    if isinstance(names, Failure):
        taken.close()
        raise error_of(ServingRefused(f"--allow-host {names.failure().written}: {names.failure().why}"))
    journal, metrics = Journal(sys.stderr, short=said), Metrics(lambda: runtime.waiting)
    lines = quiet_foreign_loggers(journal)

    def turned_away(problem: Problem) -> None:
        metrics.refused(problem.kind)
        journal.turned_away(problem.kind, problem.status)

    desk = Desk(runtime, limits.answer_seconds)
    guard = Guard(application(desk, metrics, limits), names.unwrap(), bind.token, limits, journal, metrics)
    config = uvicorn.Config(
        guard,
        http=bounded(limits, turned_away),
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    came: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT):
        # uvicorn ends by itself, and then raises the signal once more for whoever had a handler.
        signal.signal(each, lambda number, _: came.append(number))
    if said:
        print(_welcome(bind, port), file=sys.stderr)
    else:
        journal.event("listening", port=port, pid=os.getpid())
    try:
        uvicorn.Server(config).run(sockets=[taken])
    finally:
        taken.close()
        lines.restore()
        journal.event("ended")
    return signal.SIGINT in came

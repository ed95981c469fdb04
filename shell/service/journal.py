"""What the server did, as JSON lines: who asked for which operation, how it ended and how long it took.

Nothing that a caller wrote and nothing of a document gets here: no query, no id, no path of a request, no header, no message
of an exception.
"""

from __future__ import annotations

import json
import logging
import select
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import TextIO

from attrs import define

from groundkit.service.labels import METHODS, OPERATIONS, OTHER, SURFACES, known

#: Whatever logs on its own, as it names its loggers: libraries, and what of ours stands behind them.
FOREIGN = (
    "groundkit",
    "concurrent.futures",
    "uvicorn",
    "uvicorn.error",
    "uvicorn.access",
    "uvicorn.asgi",
    "mcp",
    "asyncio",
    "starlette",
    "anyio",
    "httpx",
)


@define
class Told:
    """What the inner layers tell of one request. `Guard` makes it and puts it into the scope's state as `told`.

    `route` is a template such as `/v1/collections/{name}`, never what was asked; `problem` is the kind of the one answered.
    """

    request_id: str
    surface: str = OTHER
    operation: str = OTHER
    route: str = OTHER
    results: int | None = None
    problem: str | None = None


def utc_now() -> datetime:
    return datetime.now(UTC)


class Journal:
    """Writes to `stream`, one line at a time, from any thread.

    A stream that is gone, or that nobody reads any more, loses lines and holds up nobody; the next line that gets through says how
    many were `lost`. `short` lines are for a person at a terminal.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], datetime] = utc_now, short: bool = False) -> None:
        self._stream = stream
        self._clock = clock
        self._short = short
        self._lock = threading.Lock()
        self._lost = 0

    def request(
        self,
        told: Told,
        method: str | None,
        status: int,
        ms: float,
        bytes_sent: int | None,
        refused: str | None = None,
    ) -> None:
        """One answered request. `refused` is the kind of the problem, where the guard refused it; status 0 is no answer.

        Only HTTP has a method and counts bytes.
        """
        self._write(
            "warning" if status >= 500 else "info",
            "request" if refused is None else "refused",
            request_id=told.request_id,
            surface=known(told.surface, SURFACES),
            operation=known(told.operation, OPERATIONS),
            method=None if method is None else known(method, METHODS),
            route=told.route,
            status=status,
            ms=round(ms, 3),
            results=told.results,
            bytes=bytes_sent,
            problem=told.problem if refused is None else refused,
        )

    def turned_away(self, problem: str, status: int) -> None:
        """Somebody got no further than the connection: there were too many, or what came was no request."""
        self._write("info", "turned_away", status=status, problem=problem)

    def fault(self, request_id: str, error: BaseException) -> None:
        """A bug of ours: its type and its place, without its message, which may quote what was asked."""
        self._write("error", "our_bug", request_id=request_id, error=type(error).__qualname__, at=place_of(error))

    def event(self, name: str, level: str = "info", **counts: int) -> None:
        """Something that happened to the server itself: started, closing."""
        self._write(level, name, **counts)

    def foreign(self, level: str, logger: str, at: str, error: BaseException | None = None) -> None:
        """That a library logged something, and where; of what was raised its type and its place."""
        told = {} if error is None else {"error": type(error).__qualname__, "raised_at": place_of(error)}
        self._write(level, "library", logger=logger, at=at, **told)

    def _write(self, level: str, event: str, **fields: str | float | None) -> None:
        time = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
        facts = {name: value for name, value in fields.items() if value is not None}
        with self._lock, suppress(OSError, ValueError):
            if not _takes(self._stream):
                self._lost += 1
                return
            lost = {"lost": self._lost} if self._lost else {}
            # ASCII: no control character, line separator or surrogate is written as itself.
            whole = json.dumps({"time": time, "level": level, "event": event, **facts, **lost})
            self._stream.write((_shortly(event, facts) if self._short else whole) + "\n")
            self._stream.flush()
            self._lost = 0


#: What a person wants to see of a request, in this order, and with what behind it.
_SEEN = {"method": "", "route": "", "operation": "", "status": "", "results": " results", "ms": " ms", "problem": ""}


def _shortly(event: str, facts: Mapping[str, object]) -> str:
    """`search GET /v1/{operation} 200 3 results 12 ms`; all of it are words of ours."""
    if event in ("request", "refused"):
        told = [f"{facts[name]}{unit}" for name, unit in _SEEN.items() if name in facts]
    else:
        told = [event.replace("_", " "), *(f"{name} {value}" for name, value in facts.items())]
    return " ".join(told)


def _takes(stream: TextIO) -> bool:
    """Whether a line can be written without waiting: a pipe that is ready for writing has room for more than one of ours."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # it is in memory
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(0))


def place_of(error: BaseException) -> str:
    """File and line where it was raised, without the directories of the machine."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "nowhere"
    return f"{'/'.join(PurePath(trace.tb_frame.f_code.co_filename).parts[-2:])}:{trace.tb_lineno}"


class ForeignLines(logging.Handler):
    """Has libraries log where and how badly, never what: their messages quote paths, headers and bodies."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(logging.WARNING)
        self._journal = journal
        self._before: list[tuple[logging.Logger, list[logging.Handler], bool]] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._journal.foreign(record.levelname.lower(), record.name, f"{record.module}:{record.lineno}", error)

    def take_over(self, names: tuple[str, ...] = FOREIGN) -> None:
        for name in names:
            logger = logging.getLogger(name)
            self._before.append((logger, logger.handlers, logger.propagate))
            logger.handlers, logger.propagate = [self], False

    def restore(self) -> None:
        """As it was before, for whoever runs a server within a program of theirs."""
        while self._before:
            logger, handlers, propagate = self._before.pop()
            logger.handlers, logger.propagate = handlers, propagate


def quiet_foreign_loggers(journal: Journal) -> ForeignLines:
    """From now on libraries log through the journal; see `ForeignLines.restore`. uvicorn needs `log_config=None`."""
    lines = ForeignLines(journal)
    lines.take_over()
    return lines

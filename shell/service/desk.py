"""Where every surface asks: a worker answers within a time, and whoever watches is told how it went, never what was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from attrs import frozen

from groundkit.service.operations import OPERATIONS, Operation, carried_out, taken
from groundkit.service.problems import Problem, ProblemError, our_bug, out_of_time, worked
from groundkit.service.tracing import span

if TYPE_CHECKING:
    from concurrent.futures import Future

    from groundkit.service.answered import Answered
    from groundkit.service.journal import Told
    from groundkit.service.runtime import Runtime
    from groundkit.service.values import Model

T = TypeVar("T")

#: Seconds an answer may take.
ANSWER_SECONDS = 30.0


#: What is written down of the request that is being answered; a surface sets it, and `Desk` fills it in.
TOLD: ContextVar[Told | None] = ContextVar("groundkit_told", default=None)


def note(problem: Problem) -> None:
    """Write down that the request that is being answered has this problem."""
    told = TOLD.get()
    if told is not None:
        told.problem = problem.kind


@frozen
class Done:
    """How an operation ended: `status` is that of HTTP, whatever the surface; 0 where nobody waited for the end."""

    surface: str
    operation: str
    status: int
    seconds: float
    items: int


Watcher = Callable[[Done], None]


class Desk:
    """Operations for callers in an event loop. One for all surfaces of a service."""

    def __init__(self, runtime: Runtime, seconds: float = ANSWER_SECONDS, watcher: Watcher | None = None) -> None:
        self.runtime = runtime
        self._seconds = seconds
        self._watcher = watcher

    async def ask(self, name: str, data: object, surface: str) -> Answered:
        """The answer to a request as it came in a message."""
        operation = OPERATIONS[name]
        return await self.carried_out(operation, lambda: taken(operation.request, data), surface)

    def begun(self, operation: Operation, surface: str) -> Told | None:
        """What is written down of the request that is being answered, with what it asks for."""
        told = TOLD.get()
        if told is not None:
            told.operation, told.surface = operation.name, surface
        return told

    async def carried_out(self, operation: Operation, take: Callable[[], Model], surface: str) -> Answered:
        """The answer to what `take` makes of a request. `ProblemError` where there is none."""
        begun, told = perf_counter(), self.begun(operation, surface)
        status, items = our_bug().status, 0
        try:
            with span(operation.name, surface=surface) as noted:
                answered = await self._answered(operation, take())
                status, items = (200 if answered.found else 404), answered.items
                noted.note(status=status, results=items, truncated=bool(getattr(answered.value, "truncated", False)))
        except ProblemError as error:
            status = error.problem.status
            note(error.problem)
            raise
        except asyncio.CancelledError:
            status = 0  # whoever asked is gone
            raise
        finally:
            if told is not None:
                told.results = items
            if self._watcher is not None:
                self._watcher(Done(surface, operation.name, status, perf_counter() - begun, items))
        return answered

    async def work(self, work: Callable[[], T]) -> T:
        """Have a worker do something that is none of the operations, within the same bounds."""
        return await self._within_time(self.runtime.submit(lambda: worked(work)))

    async def _answered(self, operation: Operation, request: Model) -> Answered:
        return await self._within_time(self.runtime.submit(lambda: carried_out(self.runtime, operation, request)))

    async def _within_time(self, future: Future[T]) -> T:
        waiting = asyncio.wrap_future(future)
        try:
            return await asyncio.wait_for(waiting, self._seconds)
        except TimeoutError:
            future.cancel()
            raise ProblemError(out_of_time(self._seconds)) from None

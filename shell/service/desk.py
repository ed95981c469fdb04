"""Where every surface asks: a worker answers within a time, and whoever watches is told how it went, never what was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from attrs import frozen

from groundkit.service.operations import OPERATIONS, Operation, carried_out, taken
from groundkit.service.problems import Problem, ProblemError, our_bug, out_of_time

if TYPE_CHECKING:
    from concurrent.futures import Future

    from groundkit.service.answered import Answered
    from groundkit.service.runtime import Runtime
    from groundkit.service.values import Model

T = TypeVar("T")

#: Seconds an answer may take.
ANSWER_SECONDS = 30.0


@frozen
class Done:
    """How a request went: `status` is that of HTTP, whatever the surface; `problem` the kind, "" if there is an answer."""

    surface: str
    operation: str
    status: int
    seconds: float
    items: int = 0
    truncated: bool = False
    problem: str = ""
    request_id: str = ""


Watcher = Callable[[Done], None]


class Desk:
    """Operations for callers in an event loop. One for all surfaces of a service."""

    def __init__(self, runtime: Runtime, watchers: Sequence[Watcher] = (), seconds: float = ANSWER_SECONDS) -> None:
        self.runtime = runtime
        self._watchers = tuple(watchers)
        self._seconds = seconds

    async def ask(self, name: str, data: object, surface: str, request_id: str = "") -> Answered:
        """The answer to a request as it came in a message."""
        operation = OPERATIONS[name]
        return await self.carried_out(operation, lambda: taken(operation.request, data), surface, request_id)

    async def carried_out(
        self, operation: Operation, take: Callable[[], Model], surface: str, request_id: str = ""
    ) -> Answered:
        """The answer to what `take` makes of a request. `ProblemError` where there is none."""
        begun = perf_counter()
        try:
            answered = await self._answered(operation, take(), surface)
        except ProblemError as error:
            self._tell(Done(surface, operation.name, error.problem.status, perf_counter() - begun,
                            problem=error.problem.kind, request_id=request_id))  # fmt: skip
            raise
        status = 200 if answered.found else 404
        truncated = bool(getattr(answered.value, "truncated", False))
        self._tell(
            Done(surface, operation.name, status, perf_counter() - begun, answered.items, truncated, "", request_id)
        )
        return answered

    async def work(self, work: Callable[[], T]) -> T:
        """Have a worker do something that is none of the operations, within the same bounds."""
        return await self._within_time(self.runtime.submit(work))

    async def _answered(self, operation: Operation, request: Model, surface: str) -> Answered:
        return await self._within_time(self.runtime.submit(lambda: carried_out(self.runtime, operation, request)))

    async def _within_time(self, future: Future[T]) -> T:
        waiting = asyncio.wrap_future(future)
        try:
            return await asyncio.wait_for(waiting, self._seconds)
        except TimeoutError:
            future.cancel()
            raise ProblemError(out_of_time(self._seconds)) from None

    def _tell(self, done: Done) -> None:
        for watcher in self._watchers:
            watcher(done)


def problem_of(error: Exception) -> Problem:
    """What a surface says of whatever an operation raised."""
    return error.problem if isinstance(error, ProblemError) else our_bug()

"""The operations over HTTP: each by GET with a query string, which caches may keep, and by POST with JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from groundkit.service.desk import note
from groundkit.service.openapi import document
from groundkit.service.operations import OPERATIONS, Operation, taken_json, taken_strings
from groundkit.service.problems import Problem, ProblemError, bad_request
from groundkit.service.values import SearchRequest

if TYPE_CHECKING:
    from groundkit.service.answered import Answered
    from groundkit.service.desk import Desk
    from groundkit.service.values import Model

_SURFACE = "rest"
#: Whoever keeps an answer asks whether it still holds before using it again.
_REVALIDATE = {"cache-control": "private, no-cache", "vary": "authorization"}
PROBLEM = "application/problem+json"
_VERSION = version("groundkit")

Handler = Callable[[Request], Awaitable[Response]]


def problem_response(problem: Problem) -> Response:
    """Problem details. Who is told to come back is told when."""
    note(problem)
    headers = {"retry-after": "1"} if problem.status == 503 else {}
    return JSONResponse(problem.data, problem.status, headers | {"cache-control": "no-store"}, PROBLEM)


def rest_routes(desk: Desk) -> Sequence[BaseRoute]:
    """Each operation at `/v1/NAME`, and the document that describes them."""
    operations = [
        Route(f"/v1/{name}", _handler(desk, each), methods=["GET", "POST"]) for name, each in OPERATIONS.items()
    ]
    return [*operations, Route("/openapi.json", _described, methods=["GET"])]


async def _described(request: Request) -> Response:
    return JSONResponse(document())


def _handler(desk: Desk, operation: Operation) -> Handler:
    async def handle(request: Request) -> Response:
        desk.begun(operation, _SURFACE)
        try:
            asked = await _asked(operation, request)
            if await _unchanged(desk, asked, request):
                return Response(status_code=304, headers={"etag": request.headers["if-none-match"], **_REVALIDATE})
            answered = await desk.carried_out(operation, lambda: asked, _SURFACE)
        except ProblemError as error:
            return problem_response(error.problem)
        return _answer(asked, answered, request)

    return handle


async def _asked(operation: Operation, request: Request) -> Model:
    if request.method == "POST":
        return taken_json(operation.request, await request.body())
    pairs = request.query_params.multi_items()
    twice = sorted({name for name, _ in pairs if len(request.query_params.getlist(name)) > 1})
    if twice:
        raise ProblemError(bad_request(f"given more than once: {', '.join(name[:40] for name in twice)}"))
    return taken_strings(operation.request, dict(pairs))


async def _unchanged(desk: Desk, asked: Model, request: Request) -> bool:
    """Whether the answer that somebody keeps still holds, without making it again: where only the collection's state counts."""
    given = request.headers.get("if-none-match")
    if request.method == "POST" or given is None or not isinstance(asked, SearchRequest) or asked.verify:
        return False
    collection = asked.collection
    revision = await desk.work(lambda: desk.runtime.collection(collection).revision)
    return _tag(asked, revision) == given


def _answer(asked: Model, answered: Answered, request: Request) -> Response:
    body = answered.text.encode()
    by_state = answered.revision and not answered.checked
    tag = _tag(asked, answered.revision if by_state else f"{answered.revision} {hashlib.sha256(body).hexdigest()}")
    headers = {"etag": tag, **_REVALIDATE}
    # What was not found is no representation that somebody could keep: conditions say nothing of it (RFC 9110, 13.2.1).
    if answered.found and request.method != "POST" and _matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    return Response(body, 200 if answered.found else 404, headers, "application/json")


def _tag(asked: Model, state: str) -> str:
    """Of the answer to a request, by the state that it speaks of and by who made it."""
    parts = json.dumps([_VERSION, type(asked).__name__, asked.model_dump(), state])
    return f'"{hashlib.sha256(parts.encode()).hexdigest()[:32]}"'


def _matches(given: str | None, tag: str) -> bool:
    if given is None:
        return False
    return given.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in given.split(","))

"""All surfaces of the HTTP service as one ASGI application: REST, MCP, the page, health and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from groundkit.service.desk import TOLD
from groundkit.service.mcp_endpoint import McpEndpoint
from groundkit.service.metrics import CONTENT_TYPE
from groundkit.service.operations import OPERATIONS
from groundkit.service.problems import Problem, ProblemError
from groundkit.service.rest import problem_response, rest_routes
from groundkit.service.site import problem_html, site_routes, wants_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from groundkit.service.desk import Desk
    from groundkit.service.limits import Limits
    from groundkit.service.metrics import Metrics

_KINDS = {404: ("not_found", "There is nothing here"), 405: ("method", "The method is not allowed")}


def application(desk: Desk, metrics: Metrics, limits: Limits) -> ASGIApp:
    """The application behind the guard. It closes nothing: the runtime is whoever's opened it."""
    protocol = McpEndpoint(desk, limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with protocol.running():
            yield

    routes: Sequence[BaseRoute] = [
        *rest_routes(desk),
        *site_routes(desk),
        Route("/mcp", protocol, methods=["POST"]),
        Route("/healthz", _healthy, methods=["GET"]),
        Route("/readyz", _ready(desk), methods=["GET"]),
        Route("/metrics", _measured(metrics), methods=["GET"]),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refused})
    # A path that is nearly right is none: no redirect says what there is.
    app.router.redirect_slashes = False
    return _Noting(app)


class _Noting:
    """Lets what answers a request say what is to be written down of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = scope.get("state", {}).get("told") if scope["type"] == "http" else None
        if told is None:
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        known = _ROUTES.get(path.split("/")[1])
        if known is not None:
            told.route, told.operation, told.surface = known
        token = TOLD.set(told)
        try:
            await self._app(scope, receive, send)
        finally:
            TOLD.reset(token)


#: By the first part of a path: the template that is written down, what it is, and its surface.
_ROUTES = {
    "": ("/", "page", "page"),
    "read": ("/read/{collection}/{chunk_id}", "page", "page"),
    "static": ("/static/{name}", "static", "page"),
    "v1": ("/v1/{operation}", "other", "rest"),
    "mcp": ("/mcp", "mcp", "mcp"),
    "openapi.json": ("/openapi.json", "openapi", "rest"),
    "healthz": ("/healthz", "healthz", "rest"),
    "readyz": ("/readyz", "readyz", "rest"),
    "metrics": ("/metrics", "metrics", "rest"),
}


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind, title = _KINDS.get(error.status_code, ("bad_request", "The request cannot be carried out"))
    problem = Problem(kind, error.status_code, title, _DETAILS.get(kind, title))
    response = problem_html(problem) if wants_page(request) else problem_response(problem)
    response.headers.update(error.headers or {})
    return response


_DETAILS = {
    "not_found": f"the server has /, {', '.join(f'/v1/{name}' for name in OPERATIONS)}, /mcp, /openapi.json, /healthz, /readyz and "
    "/metrics",
    "method": "the header Allow names those that are",
}


async def _healthy(request: Request) -> Response:
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})


def _ready(desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    async def ready(request: Request) -> Response:
        try:
            collections = await desk.work(lambda: _opened(desk))
        except ProblemError as error:
            return problem_response(error.problem)
        return JSONResponse({"status": "ready", "collections": collections}, headers={"cache-control": "no-store"})

    return ready


def _opened(desk: Desk) -> int:
    """How many collections can be read; a problem for the first that cannot. One that was opened once may be damaged since."""
    names = desk.runtime.names()
    for name in names:
        _ = desk.runtime.collection(name).revision
    return len(names)


def _measured(metrics: Metrics) -> Callable[[Request], Awaitable[Response]]:
    async def measured(request: Request) -> Response:
        return Response(metrics.text(), headers={"cache-control": "no-store", "content-type": CONTENT_TYPE})

    return measured

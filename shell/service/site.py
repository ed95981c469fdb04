"""The web page's routes: the same operations, and their answers as HTML. It works without its script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from attrs import evolve
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from groundkit.service.desk import note
from groundkit.service.operations import OPERATIONS, taken_strings
from groundkit.service.pages import POLICY, SearchForm, problem_page, reader_page, search_page
from groundkit.service.problems import Problem, ProblemError
from groundkit.service.values import MOST_CHARS, ChunkAnswer, FetchRequest, SearchAnswer, SearchRequest

if TYPE_CHECKING:
    from groundkit.service.desk import Desk

_SURFACE = "page"
_STATIC = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_HEADERS = {"content-security-policy": POLICY, "cache-control": "private, no-cache"}
#: Code points of the document that the reader shows on each side.
_CONTEXT = 500


def site_routes(desk: Desk) -> Sequence[BaseRoute]:
    """The search page, the reader, and the files that both load."""
    site = _Site(desk)
    return [
        Route("/", site.search, methods=["GET"]),
        Route("/read/{collection}/{chunk_id}", site.read, methods=["GET"]),
        *(Route(f"/static/{name}", _static(name), methods=["GET"]) for name in _STATIC),
    ]


def page_response(text: str, status: int = 200) -> Response:
    return Response(text, status, _HEADERS, "text/html; charset=utf-8")


def wants_page(request: Request) -> bool:
    """Whether a browser asked, for a person."""
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")


def problem_html(problem: Problem) -> Response:
    note(problem)
    return page_response(problem_page(problem), problem.status)


class _Site:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def search(self, request: Request) -> Response:
        form = SearchForm.of(dict(request.query_params))
        names: list[str] = []
        try:
            names = await self._desk.work(self._desk.runtime.names)
            form = _where(form, names)
            answer = await self._found(form, request) if form.q.strip() else None
        except ProblemError as error:
            note(error.problem)
            return page_response(search_page(form, names, None, error.problem), error.problem.status)
        return page_response(search_page(form, names, answer, None))

    async def _found(self, form: SearchForm, request: Request) -> SearchAnswer:
        given = form.arguments() | {"max_chars": str(MOST_CHARS)}
        answered = await self._desk.carried_out(
            OPERATIONS["search"], lambda: taken_strings(SearchRequest, given), _SURFACE
        )
        assert isinstance(answered.value, SearchAnswer)
        return answered.value

    async def read(self, request: Request) -> Response:
        form = SearchForm.of(dict(request.query_params))
        part = request.query_params.get("part")
        asked = {
            **request.path_params,
            **({} if part is None else {"cursor": part}),
            "context": str(_CONTEXT),
            "max_chars": str(MOST_CHARS),
        }
        try:
            answered = await self._desk.carried_out(
                OPERATIONS["fetch_chunk"], lambda: taken_strings(FetchRequest, asked), _SURFACE
            )
        except ProblemError as error:
            return problem_html(error.problem)
        assert isinstance(answered.value, ChunkAnswer)
        return page_response(reader_page(answered.value, form), 200 if answered.found else 404)


def _where(form: SearchForm, names: Sequence[str]) -> SearchForm:
    """Where no collection is chosen, and there is none by the default name: the first one."""
    if form.collection or not names or "default" in names:
        return form
    return evolve(form, collection=names[0])


def _static(name: str) -> Callable[[Request], Awaitable[Response]]:
    content = files("groundkit.service").joinpath("static", name).read_bytes()

    async def send(request: Request) -> Response:
        return Response(content, headers={"cache-control": "private, max-age=300"}, media_type=_STATIC[name])

    return send

"""The service's surfaces as tests ask them: Python, REST over a socket, MCP over stdio and over HTTP, all answering alike."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO
from urllib.parse import urlencode

from attrs import frozen
from commands import environment
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from groundkit.service.answers import to_json
from groundkit.service.problems import ProblemError
from groundkit.service.runtime import Runtime

#: Seconds for a process to come up or an answer to come, on a machine that has much else to do.
PATIENCE = 60


@frozen
class Reply:
    """An answer as data, or the problem as a sentence."""

    data: dict[str, Any] | None
    problem: str = ""


class Surface(Protocol):
    """One way to ask."""

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Reply: ...


# -- a server of its own


@frozen
class Served:
    """A running `gk serve`."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str]

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, header (names in lower case) and body of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def events(self, name: str) -> list[dict[str, Any]]:
        return [each for each in map(json.loads, list(self.lines)) if each["event"] == name]


@contextmanager
def served(index: Path, *options: str, **variables: str) -> Iterator[Served]:
    """`gk serve` on a port of its own; it is ended and has to end well."""
    process = subprocess.Popen(
        [sys.executable, "-m", "groundkit", "serve", "--index-dir", str(index), "--port", "0", *options],
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None and process.stdout is not None
    lines: list[str] = []
    try:
        port = _port(process, lines)
        reading = threading.Thread(target=lines.extend, args=(process.stderr,), daemon=True)
        reading.start()
        yield Served(process, port, lines)
        process.terminate()
        assert process.wait(PATIENCE) == 0, "".join(lines)
        reading.join(PATIENCE)
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        process.stdout.close()


def _port(process: subprocess.Popen[str], lines: list[str]) -> int:
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if line.startswith("{") and json.loads(line)["event"] == "listening":
            return int(json.loads(line)["port"])
    raise AssertionError("".join(lines))


# -- the surfaces


class PythonSurface:
    """The operations called in this process."""

    def __init__(self, index: Path) -> None:
        self.runtime = Runtime(index)

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        try:
            answer = self.runtime.ask(name, **arguments)
        except ProblemError as error:
            return Reply(None, str(error.problem))
        return Reply(json.loads(to_json(answer)))


class RestSurface:
    """The same by POST, or by GET where every argument is text."""

    def __init__(self, server: Served, by_query: bool = False) -> None:
        self._server = server
        self._by_query = by_query

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        path = f"/v1/{name}"
        if self._by_query and all(isinstance(each, str | int) for each in arguments.values()):
            told = {key: str(value).lower() if isinstance(value, bool) else value for key, value in arguments.items()}
            status, headers, body = self._server.request("GET", f"{path}?{urlencode(told)}")
        else:
            kind = {"content-type": "application/json"}
            status, headers, body = self._server.request("POST", path, json.dumps(dict(arguments)).encode(), kind)
        data = json.loads(body)
        if headers["content-type"] == "application/problem+json":
            assert data["status"] == status
            hint = f" ({data['hint']})" if "hint" in data else ""
            return Reply(None, f"{data['title']}: {data['detail']}{hint}")
        assert headers["content-type"] == "application/json"
        assert status == (404 if data.get("found") is False else 200)
        return Reply(data)


class McpSurface:
    """The SDK's client in a thread of its own."""

    def __init__(self, connect: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._ready: asyncio.Future[ClientSession] = self._made(_future())
        self._end = self._made(_event())
        self._connection = asyncio.run_coroutine_threadsafe(self._held(connect), self._loop)
        self.session = self.run(_awaited(self._ready))

    def _made(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    async def _held(self, connect: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        """The connection, from its beginning to its end in one task."""
        try:
            async with connect() as streams, ClientSession(*streams[:2]) as session:
                await session.initialize()
                self._ready.set_result(session)
                await self._end.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        result = self.run(self.session.call_tool(name, dict(arguments)))
        (content,) = result.content
        if result.is_error:
            assert result.structured_content is None
            return Reply(None, content.text)
        # Each of the two channels has all of it.
        assert json.loads(content.text) == result.structured_content
        return Reply(result.structured_content)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._connection.result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()


async def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


async def _event() -> asyncio.Event:
    return asyncio.Event()


async def _awaited(future: asyncio.Future[Any]) -> Any:
    return await future


def over_stdio(index: Path, *options: str, errors: TextIO | None = None) -> McpSurface:
    """A spawned `gk mcp`, which writes its lines to `errors`."""
    arguments = ["-m", "groundkit", "mcp", "--index-dir", str(index), *options]
    process = StdioServerParameters(command=sys.executable, args=arguments, env=environment())
    return McpSurface(lambda: stdio_client(process, errlog=errors or sys.stderr))


def over_http(server: Served) -> McpSurface:
    """The endpoint /mcp of a `gk serve`."""
    return McpSurface(lambda: streamable_http_client(f"http://127.0.0.1:{server.port}/mcp"))

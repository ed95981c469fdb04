"""MCP over HTTP as an ASGI endpoint. The SDK takes longer to load than everything else, so it is loaded with the first request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from groundkit.service.desk import Desk
    from groundkit.service.limits import Limits


class McpEndpoint:
    """Streamable HTTP, stateless: nothing is kept of a client between two requests, so none can make the server keep much."""

    def __init__(self, desk: Desk, limits: Limits) -> None:
        self._desk = desk
        self._limits = limits
        self._begun: asyncio.Task[None] | None = None
        self._sessions: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._end = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._sessions is None:
            self._sessions = asyncio.get_running_loop().create_future()
            self._begun = asyncio.create_task(self._run(self._sessions))
        sessions = await asyncio.shield(self._sessions)
        await sessions.handle_request(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ends what was begun in the meantime."""
        try:
            yield
        finally:
            self._end.set()
            if self._begun is not None:
                await asyncio.wait([self._begun])

    async def _run(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Load the SDK, and hold its tasks until the end, in one task from beginning to end."""
        try:
            sessions = await asyncio.to_thread(self._made)
            async with sessions.run():
                ready.set_result(sessions)
                await self._end.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    def _made(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from groundkit.service.mcp import mcp_server

        server = mcp_server(self._desk)
        most = self._limits.body
        return StreamableHTTPSessionManager(server, json_response=True, stateless=True, max_request_body_size=most)

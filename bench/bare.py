"""A server that does nothing but answer every request with the same bytes: what the web framework itself takes.

python bench/bare.py PORT FILE
"""

import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def main(port: str, file: str) -> None:
    body = Path(file).read_bytes()

    async def answer(request: Request) -> Response:
        await request.json()
        return Response(body, media_type="application/json")

    app = Starlette(routes=[Route("/v1/search", answer, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])

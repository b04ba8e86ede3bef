"""`bare_proxy.py PORT TARGET`: the least proxy on httpx, which forwards each POST to a URL and records nothing."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def app_for(target: str) -> Starlette:
    """The proxy of one URL."""
    http = httpx.AsyncClient(timeout=60)

    async def forward(request: Request) -> Response:
        answer = await http.post(target, content=await request.body(), headers={"content-type": "application/json"})
        return Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await http.aclose()

    return Starlette(routes=[Route("/", forward, methods=["POST"])], lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(app_for(sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)

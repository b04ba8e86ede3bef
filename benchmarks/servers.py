"""The servers that are compared, each run as a process of its own: `python -m benchmarks.servers NAME PORT REDIS_URL`.

Each tells at `/usage` what it has used so far, so that a rate is steps by CPU second: what a core gives, whatever else
the machine is doing.
"""

import asyncio
import json
import logging
import random
import resource
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import SecretStr
from redis.asyncio import Redis

from concord.a2a import AgentProfile, IncomingMessage, Skill, TaskHandle, mount_agent
from concord.service import serve
from concord.trace.report import StepBatch
from concord_collector.app import create_app
from concord_collector.settings import CollectorSettings
from concord_gateway.app import create_app as create_gateway
from concord_gateway.settings import GatewaySettings

TOKEN_SECRET: Final = "what-signs-tokens-in-benchmarks-only"  # noqa: S105 - no secret
_UNBOUNDED: Final = 1 << 40


def collector(redis_url: str) -> FastAPI:
    """The collector itself, all checks on, with a rate that one caller alone does not exhaust."""
    return create_app(
        CollectorSettings(
            redis_url=redis_url,
            open=True,
            rate_bytes_per_s=_UNBOUNDED,
            max_trace_bytes=_UNBOUNDED,
            max_steps=_UNBOUNDED,
        )
    )


def body_model(redis_url: str) -> FastAPI:
    """What one would write first: a pydantic model as parameter, and XADD."""
    redis = Redis.from_url(redis_url)
    app = FastAPI(lifespan=_closing(redis))

    @app.post("/traces", status_code=202)
    async def take(batch: StepBatch) -> dict[str, int]:
        await redis.xadd(f"bench:{batch.trace_id}", {"body": batch.model_dump_json(exclude_none=True)})
        return {"accepted": len(batch.steps)}

    return app


def body_only(redis_url: str) -> FastAPI:
    """The floor: FastAPI reads the body and does nothing with it."""
    redis = Redis.from_url(redis_url)
    app = FastAPI(lifespan=_closing(redis))

    @app.post("/traces", status_code=202)
    async def take(request: Request) -> Response:
        await request.body()
        return Response(b'{"accepted":100,"rejected":[]}', 202, media_type="application/json")

    return app


def gateway(redis_url: str) -> FastAPI:
    """The gateway, whose proxy is measured; at `/longest`, the longest time its loop did nothing else (ms).

    That is since it was last asked there, and from the first time on.
    """
    app = create_gateway(
        GatewaySettings(redis_url=redis_url, token_secret=SecretStr(TOKEN_SECRET)), "http://gateway/", "127.0.0.1:0"
    )
    loop = _WatchedLoop()
    app.get("/longest")(loop.longest_ms)
    return app


class _WatchedLoop:
    """How long an event loop does not come round."""

    def __init__(self) -> None:
        self._longest_s = 0.0
        self._watching: asyncio.Task[None] | None = None

    async def longest_ms(self) -> float:
        longest_s, self._longest_s = self._longest_s, 0.0
        self._watching = self._watching or asyncio.create_task(self._watch())
        return longest_s * 1000

    async def _watch(self, every_s: float = 0.005) -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(every_s)
            self._longest_s = max(self._longest_s, time.perf_counter() - began - every_s)


def echo_agent(_: str) -> FastAPI:
    """An agent by the A2A SDK, as participants are, that does nothing but answer."""

    async def echo(message: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(message.text)

    app = FastAPI()
    mount_agent(
        app, AgentProfile("echo", "Echoes.", "1", "http://echo/", (Skill("echo", "Echo", "Echoes.", ("test",)),)), echo
    )
    return app


def bare_agent(_: str) -> FastAPI:
    """The quickest agent there can be: what a proxy adds shows most. Streams tell when each event was sent."""
    app = FastAPI()
    answer = event(message("hello")).encode()

    @app.post("/")
    async def post(request: Request) -> Response:
        body = await request.body()
        if b"message/stream" in body:
            return StreamingResponse(_timed_events(), media_type="text/event-stream")
        return Response(answer, media_type="application/json")

    return app


async def _timed_events(number: int = 20, every_s: float = 0.25) -> AsyncIterator[str]:
    await asyncio.sleep(random.random() * every_s)  # noqa: S311 - streams that do not beat in time
    for _ in range(number):
        yield f"data: {event(message(str(time.time())))}\n\n"
        await asyncio.sleep(every_s)


def event(result: dict[str, object]) -> str:
    """A JSON-RPC answer."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})


def message(text: str) -> dict[str, object]:
    """A message of an agent, as 0.3 has it."""
    return {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": text}]}


def _closing(redis: Redis) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await redis.aclose()

    return lifespan


def usage() -> dict[str, float]:
    """CPU seconds and resident bytes of this process."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        resident = int(statm.read_text().split()[1]) * resource.getpagesize()
    else:
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu_s": time.process_time(), "resident_bytes": resident}


SERVERS: Final = {"collector": collector, "body_model": body_model, "body_only": body_only}
AGENTS: Final = {"gateway": gateway, "echo_agent": echo_agent, "bare_agent": bare_agent}


def main(name: str, port: str, redis_url: str) -> None:
    """Serves one of them."""
    logging.disable(logging.WARNING)
    app = (SERVERS | AGENTS)[name](redis_url)
    app.get("/usage")(usage)
    serve(app, "127.0.0.1", int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])

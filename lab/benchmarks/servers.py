"""`python -m lab.benchmarks.servers NAME PORT REDIS_URL`: runs one of the servers to compare.

Each reports at `/usage` the CPU time and memory that it has used, so that rates are per CPU second, whatever the load
of the machine.
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

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import SecretStr
from redis.asyncio import Redis

from concord.a2a import AgentProfile, Handler, IncomingMessage, Skill, TaskHandle, mount_agent
from concord.service.serve import serve
from concord.trace.report import StepBatch
from concord_collector.app import create_app
from concord_collector.settings import CollectorSettings
from concord_gateway.app import create_app as create_gateway
from concord_gateway.settings import GatewaySettings

TOKEN_SECRET: Final = "what-signs-tokens-in-benchmarks-only"  # noqa: S105 - no secret
_UNBOUNDED: Final = 1 << 40


def collector(redis_url: str) -> FastAPI:
    """The collector itself with all checks, and with limits that a single caller does not reach."""
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
    """The obvious implementation: a pydantic model as parameter, and XADD."""
    redis = Redis.from_url(redis_url)
    app = FastAPI(lifespan=_closing(redis))

    @app.post("/traces", status_code=202)
    async def take(batch: StepBatch) -> dict[str, int]:
        await redis.xadd(f"bench:{batch.trace_id}", {"body": batch.model_dump_json(exclude_none=True)})
        return {"accepted": len(batch.steps)}

    return app


def body_only(redis_url: str) -> FastAPI:
    """The lower bound: FastAPI reads the body and does nothing with it."""
    redis = Redis.from_url(redis_url)
    app = FastAPI(lifespan=_closing(redis))

    @app.post("/traces", status_code=202)
    async def take(request: Request) -> Response:
        await request.body()
        return Response(b'{"accepted":100,"rejected":[]}', 202, media_type="application/json")

    return app


def gateway(redis_url: str) -> FastAPI:
    """The gateway, for its proxy. `/longest`: the longest blocking of its event loop since the last request (ms).

    The first request to `/longest` starts the measurement.
    """
    app = create_gateway(
        GatewaySettings(redis_url=redis_url, token_secret=SecretStr(TOKEN_SECRET)), "http://gateway/", "127.0.0.1:0"
    )
    loop = _LoopMonitor()
    app.get("/longest")(loop.longest_ms)
    return app


class _LoopMonitor:
    """Measures for how long an event loop is blocked."""

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
    """An agent on the A2A SDK, as participants are, that echoes its messages."""

    async def echo(message: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(message.text)

    return _sdk_agent("echo", "Echoes.", echo)


def plain_agent(_: str) -> FastAPI:
    """An agent that never heard of Concord: it has a card, and answers every message with a message."""
    app = FastAPI()
    answer = event(message("Done.")).encode()

    @app.get("/.well-known/agent-card.json")
    async def card(request: Request) -> dict[str, object]:
        modes = {"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]}
        about = {"name": "plain", "description": "Answers.", "version": "1", "protocolVersion": "0.3.0"}
        return {**about, **modes, "url": str(request.base_url), "capabilities": {}, "skills": []}

    @app.post("/")
    async def post(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type="application/json")

    return app


def bare_caller(_: str) -> FastAPI:
    """A client of the A2A SDK alone: `/calls` sends an agent a message again and again, over one connection."""
    app = FastAPI()

    @app.post("/calls")
    async def call(agent: str, count: int) -> None:
        async with httpx.AsyncClient() as http:
            card = await A2ACardResolver(http, agent).get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
            for number in range(count):
                asked = pb.Message(message_id=f"m-{number}", role=pb.ROLE_USER, parts=[pb.Part(text="Answer.")])
                async for _ in client.send_message(pb.SendMessageRequest(message=asked)):
                    pass

    return app


def talking_agent(_: str) -> FastAPI:
    """An agent on the A2A SDK that writes to all neighbours of its seats in every round, and never answers."""
    said = json.dumps({"messages": [{"to": "all", "text": "My sensor shows 48,213 points. " * 3}], "answer": None})

    async def talk(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(said)

    return _sdk_agent("talking", "Talks.", talk)


def quiet_agent(_: str) -> FastAPI:
    """An agent on the A2A SDK that writes to nobody, and always answers the same."""
    return _replying("quiet", {"messages": [], "answer": "1"})


def flooding_agent(_: str) -> FastAPI:
    """An agent on the A2A SDK that writes five hundred messages to everybody in each reply."""
    return _replying("flooding", {"messages": [{"to": "all", "text": "What do you know?"}] * 500, "answer": "1"})


def _replying(name: str, reply: dict[str, object]) -> FastAPI:
    said = json.dumps(reply)

    async def answer(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(said)

    return _sdk_agent(name, "Replies.", answer)


def _sdk_agent(name: str, description: str, handler: Handler) -> FastAPI:
    app = FastAPI()
    skill = Skill(name, name.capitalize(), description, ("test",))
    mount_agent(app, AgentProfile(name, description, "1", f"http://{name}/", (skill,)), handler)
    return app


def bare_agent(_: str) -> FastAPI:
    """A minimal agent, with which the proxy's overhead shows most. Its streamed events hold their time of sending."""
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
    await asyncio.sleep(random.random() * every_s)  # noqa: S311 - keeps streams out of step
    for _ in range(number):
        yield f"data: {event(message(str(time.time())))}\n\n"
        await asyncio.sleep(every_s)


def event(result: dict[str, object]) -> str:
    """A JSON-RPC response."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})


def message(text: str) -> dict[str, object]:
    """An agent's message in A2A 0.3."""
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
AGENTS: Final = {
    "gateway": gateway,
    "echo_agent": echo_agent,
    "talking_agent": talking_agent,
    "quiet_agent": quiet_agent,
    "flooding_agent": flooding_agent,
    "bare_agent": bare_agent,
    "bare_caller": bare_caller,
    "plain_agent": plain_agent,
}


def main(name: str, port: str, redis_url: str) -> None:
    """Serves one of them."""
    logging.disable(logging.WARNING)
    app = (SERVERS | AGENTS)[name](redis_url)
    app.get("/usage")(usage)
    serve(app, "127.0.0.1", int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])

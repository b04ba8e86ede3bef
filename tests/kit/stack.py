"""Concord's services in the test's own event loop (gateway, collector, workers), and requests to them."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import redis
from pydantic import SecretStr

from concord.a2a import A2AClient, Answer, TaskUpdate
from concord.assessment.jobs import Queue
from concord.llm import LLMSettings
from concord.processes import CallsInThread
from concord.storage.connection import WORK_RETRY_S, Storage, connect, run_worker
from concord.wire.roster import new_step_id
from concord_collector.app import create_app as create_collector
from concord_collector.settings import CollectorSettings
from concord_evaluator.criteria.evaluation import CriteriaEvaluator
from concord_evaluator.judge import TrialJudge
from concord_evaluator.settings import EvaluatorSettings
from concord_evaluator.worker.jobs import EvaluatorJobs
from concord_gateway.app import create_app as create_gateway
from concord_gateway.settings import GatewaySettings
from tests.kit.serving import reserved, served, url_of

_QUICK = {"quiet_s": 0.1, "closing_cap_s": 0.3}

SECRET = SecretStr("what-signs-tokens-in-these-tests-only")


@dataclass(frozen=True, slots=True)
class Stack:
    """The addresses, the storage and the output folder of a running stack."""

    gateway: str
    collector: str
    storage: Storage
    output: Path

    async def assess(self, participants: Mapping[str, str], **config: object) -> Answer:
        """Runs an assessment to its end and returns the gateway's answer."""
        async with await A2AClient.connect(self.gateway) as client:
            async for event in client.stream(text=request(participants, **config)):
                if isinstance(event, Answer):
                    return event
        raise AssertionError("no answer")

    async def row(self, participants: Mapping[str, str], **config: object) -> dict[str, Any]:
        """Runs an assessment and returns its row."""
        answer = await self.assess(participants, **config)
        assert answer.data_parts, answer.status_text
        row = answer.data_parts[0]
        assert isinstance(row, dict)
        return row

    @asynccontextmanager
    async def started(self, participants: Mapping[str, str], **config: object) -> AsyncIterator[str]:
        """Starts an assessment and yields the id of its task. The assessment is abandoned at the end."""
        named: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def follow(client: A2AClient) -> None:
            async for event in client.stream(text=request(participants, **config)):
                if isinstance(event, TaskUpdate) and not named.done():
                    named.set_result(event.task_id)

        async with await A2AClient.connect(self.gateway) as client:
            following = asyncio.create_task(follow(client))
            try:
                yield await named
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)


@asynccontextmanager
async def workers(
    redis_url: str,
    queues: Sequence[Queue] = tuple(Queue),
    *,
    llm: LLMSettings | None = None,
    **settings: Any,  # noqa: ANN401 - any setting
) -> AsyncIterator[None]:
    """A running worker for each of the queues. Without `llm`, the rules judge."""
    stop = asyncio.Event()
    chosen: dict[str, Any] = {"redis_url": redis_url, "completion_wait_s": 0, "job_timeout_fast_s": 60}
    evaluator = EvaluatorSettings(**chosen | settings)
    queue_url = evaluator.queue_redis_url or redis_url
    async with connect(redis_url, queue_url, retry_s=WORK_RETRY_S) as storage:
        judge = TrialJudge(llm, samples=1, deadline_s=60, cache=storage.answers)
        jobs = EvaluatorJobs(
            storage.traces,
            storage.assessments,
            storage.jobs,
            CallsInThread(),  # to start a process would take longer than the rest of a test
            judge,
            evaluator.evaluation_limits,
            CriteriaEvaluator(llm, deadline_s=60, cache=storage.answers),
        )
        running = [
            asyncio.create_task(
                run_worker(
                    queue_url,
                    queue,
                    jobs.functions(queue),
                    evaluator.policy(queue),
                    jobs.on_dead_letter,
                    stop=stop,
                    note=judge.without_model or "",
                )
            )
            for queue in queues
        ]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*running)


@asynccontextmanager
async def gateway(
    redis_url: str,
    folder: Path,
    *,
    bound_to: str = "",
    **settings: Any,  # noqa: ANN401 - any setting
) -> AsyncIterator[str]:
    """A running gateway; yields its URL. It writes into `output` in the folder."""
    holder = reserved()
    chosen: dict[str, Any] = {"redis_url": redis_url, "token_secret": SECRET, "output_dir": folder / "output"}
    app = create_gateway(GatewaySettings(**chosen | settings), f"{url_of(holder)}/", bound_to)
    async with served(app, holder) as url:
        yield f"{url}/"


@asynccontextmanager
async def stack(
    redis_url: str,
    output: Path,
    llm: LLMSettings | None = None,
    bound_to: str = "",
    **settings: Any,  # noqa: ANN401 - any setting of the gateway
) -> AsyncIterator[Stack]:
    """A running stack. Without `llm`, the rules judge."""
    collector = create_collector(CollectorSettings(redis_url=redis_url, token_secret=SECRET))
    async with (
        connect(redis_url) as storage,
        served(collector) as collector_url,
        workers(redis_url, llm=llm),
        gateway(
            redis_url, output, bound_to=bound_to, **{"output_dir": output, "collector_url": collector_url} | settings
        ) as url,
    ):
        yield Stack(url.rstrip("/"), collector_url, storage, output)


def request(participants: Mapping[str, str], **config: object) -> str:
    """The text of a request for an assessment."""
    task = {"id": "t", "text": "Say something.", "target": "something", "scorer": "includes"}
    return json.dumps(
        {"participants": dict(participants), "config": {"tasks": [task], "num_runs": 1, **_QUICK, **config}}
    )


def rpc(method: str, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def message(text: str) -> dict[str, Any]:
    """The parameters that send a message in the form of A2A 0.3."""
    parts = [{"kind": "text", "text": text}]
    return {"message": {"kind": "message", "role": "user", "messageId": new_step_id(), "parts": parts}}


async def called(
    url: str, method: str, headers: Mapping[str, str] | None = None, **params: object
) -> tuple[int, dict[str, Any]]:
    """The status and the first document of the answer to a JSON-RPC request. Methods of A2A 1.0 need their version in a
    header."""
    version = {"A2A-Version": "1.0"} if method[0].isupper() else {}
    async with httpx.AsyncClient(timeout=60) as http:
        response = await http.post(url, json=rpc(method, **params), headers={**version, **(headers or {})})
        parts = response.text.removeprefix("data: ").partition("\r\n\r\n")[0]
        return response.status_code, json.loads(parts)


def everything_in(redis_url: str) -> bytes:
    """Every key and every value in a Redis, with compressed values unpacked."""
    parts: list[bytes] = []
    with redis.Redis.from_url(redis_url) as client:
        for key in client.keys("*"):
            parts.append(key)
            kind = client.type(key)
            if kind == b"string":
                parts.append(client.get(key) or b"")
            elif kind == b"hash":
                parts += [part for pair in client.hgetall(key).items() for part in pair]
            elif kind == b"stream":
                parts += [part for _, fields in client.xrange(key) for pair in fields.items() for part in pair]
            elif kind == b"zset":
                parts += [member for member, _ in client.zrange(key, 0, -1, withscores=True)]
            elif kind == b"set":
                parts += list(client.smembers(key))
            else:
                parts += client.lrange(key, 0, -1)
    return b"\n".join(_unpacked(each) for each in parts)


def _unpacked(value: bytes) -> bytes:
    try:
        return zlib.decompress(value, wbits=47)
    except zlib.error:
        return value

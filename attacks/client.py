"""A client of the gateway: what it asks for as anybody may, and an assessment with a spy among its participants."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx

from attacks.attack import NotHeldError
from attacks.target import Target
from concord.a2a import IncomingMessage, TaskHandle
from tests.security.hostile import Spy
from tests.security.stack import message, request, rpc
from tests.serving import served_agent

ENDED: Final = frozenset({"completed", "failed", "rejected", "canceled"})
BEGIN_S: Final = 20
"""How long an assessment may take until its first participant is asked."""


@dataclass(frozen=True, slots=True)
class Client:
    """Asks for assessments, with the API key where there is one."""

    target: Target
    http: httpx.AsyncClient

    async def called(self, method: str, **params: object) -> dict[str, Any]:
        """What the gateway answers to a JSON-RPC request of 0.3. Raises NotHeldError where that is a 5xx."""
        response = await self.http.post(f"{self.target.gateway}/", json=rpc(method, **params), headers=self._headers)
        if response.status_code >= 500:
            raise NotHeldError(f"the gateway answered {method} with {response.status_code}")
        answer: dict[str, Any] = response.json()
        return answer

    async def begin(self, participants: Mapping[str, str], **config: object) -> str:
        """The id of the task of an assessment that is not waited for."""
        return await self.begin_with(request(participants, **config))

    async def begin_with(self, text: str) -> str:
        """The same for any text."""
        answer = await self.called("message/send", **message(text), configuration={"blocking": False})
        if "result" not in answer:
            raise NotHeldError(f"the gateway gave no task: {answer.get('error')}")
        return str(answer["result"]["id"])

    async def task(self, task_id: str) -> "Assessed":
        """An assessment as it stands now."""
        task = (await self.called("tasks/get", id=task_id))["result"]
        said = task["status"].get("message", {"parts": []})["parts"]
        rows = [part["data"] for artifact in task.get("artifacts") or [] for part in artifact["parts"]]
        return Assessed(task["status"]["state"], " ".join(part.get("text", "") for part in said), [*rows, None][0])

    async def end_of(self, task_id: str, within_s: float = 60) -> "Assessed":
        """An assessment that has ended. Raises NotHeldError where it does not."""
        try:
            async with asyncio.timeout(within_s):
                while (found := await self.task(task_id)).state not in ENDED:  # noqa: ASYNC110 - in another process
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise NotHeldError(f"the assessment did not end within {within_s:g} s") from None
        return found

    async def assess(self, participants: Mapping[str, str], within_s: float = 60, **config: object) -> "Assessed":
        """An assessment from its beginning to its end."""
        return await self.end_of(await self.begin(participants, **config), within_s)

    async def assess_with(self, text: str, within_s: float = 60) -> "Assessed":
        """The same for any text."""
        return await self.end_of(await self.begin_with(text), within_s)

    @property
    def _headers(self) -> dict[str, str]:
        return {} if self.target.key is None else {"x-api-key": self.target.key}


@dataclass(frozen=True, slots=True)
class Assessed:
    """An assessment: its state, what was said of it last, and its row where it has one."""

    state: str
    text: str
    row: dict[str, Any] | None

    @property
    def trial(self) -> dict[str, Any]:
        """The row's first trial. Raises NotHeldError: there is no row."""
        if self.row is None:
            raise NotHeldError(f"the assessment has no row: {self.state}, {self.text}")
        trial: dict[str, Any] = self.row["detail"]["trials"][0]
        return trial


@asynccontextmanager
async def client_of(target: Target, timeout_s: float = 30) -> AsyncIterator[Client]:
    """A client with connections of its own."""
    async with httpx.AsyncClient(timeout=timeout_s, limits=httpx.Limits(max_connections=None)) as http:
        yield Client(target, http)


@asynccontextmanager
async def honest(target: Target) -> AsyncIterator[str]:
    """A participant that answers with what it was sent; yields its URL."""
    async with served_agent(_echo, host=target.host) as url:
        yield url


async def _echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(message.text)


@dataclass(frozen=True, slots=True)
class Infiltrated:
    """An assessment under way, one participant of which is ours and holds its answer back."""

    client: Client
    spy: Spy
    task_id: str

    @property
    def bearer(self) -> dict[str, str]:
        """The header with the spy's token."""
        return {"authorization": f"Bearer {self.spy.token}"}

    def door_to(self, callee: str) -> str:
        """Where the spy reaches another participant."""
        return f"{self.client.target.gateway}/a2a/{self.spy.token}/{callee}/"

    async def call(self, callee: str, text: str = "hello") -> httpx.Response:
        """The answer to the spy's call of another participant."""
        return await self.client.http.post(self.door_to(callee), json=rpc("message/send", **message(text)))

    async def report(self, *steps: Mapping[str, object], batch_id: str = "b") -> httpx.Response:
        """The collector's answer to what the spy tells."""
        trace_id = self.spy.assignment.trace_id
        told = [{"trace_id": trace_id, **step} for step in steps]
        batch = {"batch_id": batch_id, "trace_id": trace_id, "reporter": "spy", "steps": told}
        return await self.client.http.post(f"{self.client.target.collector}/traces", json=batch, headers=self.bearer)

    async def end(self, within_s: float = 60) -> Assessed:
        """Lets the spy answer, and returns the assessment that ends with that."""
        self.spy.may_end.set()
        return await self.client.end_of(self.task_id, within_s)


@asynccontextmanager
async def infiltrated(
    target: Target, others: Mapping[str, str] | None = None, **config: object
) -> AsyncIterator[Infiltrated]:
    """Begins an assessment of a spy, which is given the task, and of others (id: URL); ends it in the end."""
    spy = Spy()
    async with AsyncExitStack() as exits:
        url = await exits.enter_async_context(served_agent(spy, host=target.host))
        client = await exits.enter_async_context(client_of(target))
        task_id = await client.begin({"spy": url, **(others or {})}, start="spy", **config)
        try:
            async with asyncio.timeout(BEGIN_S):
                await spy.asked.wait()
            yield Infiltrated(client, spy, task_id)
        finally:
            spy.may_end.set()
            await client.called("tasks/cancel", id=task_id)

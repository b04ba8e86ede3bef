"""A client of the gateway, and assessments with a spy among the participants."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx

from concord.a2a import IncomingMessage, TaskHandle
from lab.attacks.attack import NotHeldError
from lab.attacks.target import Target
from tests.kit.hostile import Spy
from tests.kit.serving import served_agent
from tests.kit.stack import message, request, rpc

ENDED: Final = frozenset({"completed", "failed", "rejected", "canceled", "input-required"})
FORGOTTEN: Final = "forgotten"
"""The state of a task that the gateway keeps no longer: of those that did no work, it keeps the latest hundred."""

TASK_NOT_FOUND: Final = -32001
BEGIN_S: Final = 20
"""The time limit for an assessment to reach its first participant (seconds)."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client that requests assessments, with an API key if the target has one."""

    target: Target
    http: httpx.AsyncClient

    async def called(self, method: str, **params: object) -> dict[str, Any]:
        """The gateway's answer to a JSON-RPC request of A2A 0.3. Raises NotHeldError for a status of 500 or more."""
        response = await self.http.post(f"{self.target.gateway}/", json=rpc(method, **params), headers=self._headers)
        if response.status_code >= 500:
            raise NotHeldError(f"the gateway answered {method} with {response.status_code}")
        answer: dict[str, Any] = response.json()
        return answer

    async def begin(self, participants: Mapping[str, str], **config: object) -> str:
        """Starts an assessment and returns the id of its task."""
        return await self.begin_with(request(participants, **config))

    async def begin_with(self, text: str) -> str:
        """Starts an assessment with any text as the request; returns the id of its task. Raises NotHeldError without a
        task."""
        answer = await self.called("message/send", **message(text), configuration={"blocking": False})
        if "result" not in answer:
            raise NotHeldError(f"the gateway gave no task: {answer.get('error')}")
        return str(answer["result"]["id"])

    async def task(self, task_id: str) -> "Assessment":
        """The present state of an assessment."""
        answer = await self.called("tasks/get", id=task_id)
        if answer.get("error", {}).get("code") == TASK_NOT_FOUND:
            return Assessment(FORGOTTEN, "", None)
        task = answer["result"]
        parts = task["status"].get("message", {"parts": []})["parts"]
        rows = [part["data"] for artifact in task.get("artifacts") or [] for part in artifact["parts"]]
        return Assessment(task["status"]["state"], " ".join(part.get("text", "") for part in parts), [*rows, None][0])

    async def end_of(self, task_id: str, within_s: float = 60) -> "Assessment":
        """Waits until an assessment has ended and returns its state. Raises NotHeldError if it does not end in time."""
        try:
            async with asyncio.timeout(within_s):
                while (found := await self.task(task_id)).state not in ENDED:  # noqa: ASYNC110 - in another process
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise NotHeldError(f"the assessment did not end within {within_s:g} s") from None
        return found

    async def assess(self, participants: Mapping[str, str], within_s: float = 60, **config: object) -> "Assessment":
        """Runs an assessment to its end."""
        return await self.end_of(await self.begin(participants, **config), within_s)

    async def assess_with(self, text: str, within_s: float = 60) -> "Assessment":
        """Runs an assessment with any text as the request to its end."""
        return await self.end_of(await self.begin_with(text), within_s)

    @property
    def _headers(self) -> dict[str, str]:
        return {} if self.target.key is None else {"x-api-key": self.target.key}


@dataclass(frozen=True, slots=True)
class Assessment:
    """An assessment's state, its latest status text, and its row if it has one."""

    state: str
    text: str
    row: dict[str, Any] | None

    @property
    def trial(self) -> dict[str, Any]:
        """The row's first trial. Raises NotHeldError without a row."""
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
async def honest_participant(target: Target) -> AsyncIterator[str]:
    """A participant that echoes its messages; yields its URL."""
    async with served_agent(_echo, host=target.host) as url:
        yield url


async def _echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(message.text)


@dataclass(frozen=True, slots=True)
class SpiedAssessment:
    """A running assessment in which one participant is a spy that withholds its answer."""

    client: Client
    spy: Spy
    task_id: str

    @property
    def bearer(self) -> dict[str, str]:
        """The authorization header with the spy's token."""
        return {"authorization": f"Bearer {self.spy.token}"}

    def proxy_url_to(self, callee: str) -> str:
        """The URL at which the spy reaches another participant."""
        return f"{self.client.target.gateway}/a2a/{self.spy.token}/{callee}/"

    async def call(self, callee: str, text: str = "hello") -> httpx.Response:
        """The answer to a call of another participant by the spy."""
        return await self.client.http.post(self.proxy_url_to(callee), json=rpc("message/send", **message(text)))

    async def report(self, *steps: Mapping[str, object], batch_id: str = "b") -> httpx.Response:
        """The collector's answer to a report by the spy."""
        trace_id = self.spy.assignment.trace_id
        reported = [{"trace_id": trace_id, **step} for step in steps]
        batch = {"batch_id": batch_id, "trace_id": trace_id, "reporter": "spy", "steps": reported}
        return await self.client.http.post(f"{self.client.target.collector}/traces", json=batch, headers=self.bearer)

    async def end(self, within_s: float = 60) -> Assessment:
        """Makes the spy answer, waits for the end of the assessment and returns its state."""
        self.spy.may_end.set()
        return await self.client.end_of(self.task_id, within_s)


@asynccontextmanager
async def assessment_with_spy(
    target: Target, others: Mapping[str, str] | None = None, **config: object
) -> AsyncIterator[SpiedAssessment]:
    """Starts an assessment with a spy, which gets the task, and others (id: URL). The assessment is cancelled at the
    end."""
    spy = Spy()
    async with AsyncExitStack() as exits:
        url = await exits.enter_async_context(served_agent(spy, host=target.host))
        client = await exits.enter_async_context(client_of(target))
        task_id = await client.begin({"spy": url, **(others or {})}, start="spy", **config)
        try:
            async with asyncio.timeout(BEGIN_S):
                await spy.was_called.wait()
            yield SpiedAssessment(client, spy, task_id)
        finally:
            spy.may_end.set()
            await client.called("tasks/cancel", id=task_id)

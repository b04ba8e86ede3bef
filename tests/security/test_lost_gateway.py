"""An assessment outlives the gateway that it began with: another goes on with it, and no two work on one."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from concord.a2a import IncomingMessage, TaskHandle
from tests.integration.purple_processes import free_urls
from tests.security.assessing import request, rpc, task_of, workers
from tests.serving import served_agent

LEASE_S = 1
QUICK = {"num_runs": 1, "quiet_s": 0.1, "closing_cap_s": 0.3}


@dataclass(slots=True)
class Gateway:
    """A gateway as it really runs. What it is told comes to `url`."""

    url: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Starts it, and returns once it answers."""
        self._start()
        async with asyncio.timeout(30), httpx.AsyncClient() as http:
            while True:
                try:
                    (await http.get(f"{self.url}readyz")).raise_for_status()
                except httpx.HTTPError:
                    await asyncio.sleep(0.05)
                else:
                    return

    def _start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self.command, env=os.environ | self.environment, stdout=output, stderr=output
            )

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal; waits for its end where that ends it."""
        assert self.process is not None
        self.process.send_signal(number)
        if number in {signal.SIGKILL, signal.SIGTERM}:
            self.process.wait()


@contextmanager
def gateways(redis_url: str, folder: Path, count: int = 1) -> Iterator[list[Gateway]]:
    """Gateways on one Redis, not yet started, and all ended at last."""
    urls = free_urls([str(number) for number in range(count)])
    environment = {
        "REDIS_URL": redis_url,
        "CONCORD_TOKEN_SECRET": "s" * 40,
        "CONCORD_OUTPUT_DIR": str(folder / "output"),
        "CONCORD_LEASE_S": str(LEASE_S),
        "CONCORD_OBSERVE": "false",
    }
    found = []
    for name, url in urls.items():
        port = url.rstrip("/").rpartition(":")[2]
        command = [sys.executable, "-m", "concord_gateway", "--port", port]
        found.append(Gateway(url, command, environment, folder / f"gateway-{name}.log"))
    try:
        yield found
    finally:
        for each in found:
            if each.process is not None:
                each.process.kill()
                each.process.wait()


@pytest.fixture(scope="module", autouse=True)
def evaluators(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A worker of each queue, for all tests here."""
    with workers(redis_server, tmp_path_factory.mktemp("workers")):
        yield


@dataclass(slots=True)
class Team:
    """An agent that answers when it may, and knows how often it was asked each thing."""

    url: str
    asked: Counter[str] = field(default_factory=Counter)
    held: dict[str, asyncio.Event] = field(default_factory=dict)

    def hold(self, text: str) -> asyncio.Event:
        """Has the agent wait with the answer to this until the event is set."""
        return self.held.setdefault(text, asyncio.Event())

    async def was_asked(self, text: str, times: int = 1) -> None:
        """Returns once the agent was asked this so often."""
        async with asyncio.timeout(30):
            while self.asked[text] < times:
                await asyncio.sleep(0.02)


@pytest.fixture
async def team() -> AsyncIterator[Team]:
    """An agent."""
    known = Team("")

    async def answer(message: IncomingMessage, task: TaskHandle) -> None:
        known.asked[message.text] += 1
        if (event := known.held.get(message.text)) is not None:
            await event.wait()
        await task.complete(message.text)

    async with served_agent(answer) as url:
        known.url = url
        yield known


def tasks(*names: str) -> dict[str, Any]:
    """The configuration of an assessment with these tasks: to say their names."""
    return QUICK | {"tasks": [{"id": name, "text": name, "target": name, "scorer": "includes"} for name in names]}


async def begun(http: httpx.AsyncClient, gateway: Gateway, team: Team, *names: str) -> str:
    """The task of an assessment that was begun."""
    asked = request(tasks(*names), {"a": team.url}, blocking=False)
    task_id: str = (await task_of(http, gateway.url, asked))["id"]
    return task_id


async def ended(http: httpx.AsyncClient, gateway: Gateway, task_id: str) -> dict[str, Any]:
    """The task, once it has ended."""
    async with asyncio.timeout(60):
        while True:
            task: dict[str, Any] = (await http.post(gateway.url, json=rpc("tasks/get", {"id": task_id}))).json()[
                "result"
            ]
            if task["status"]["state"] not in {"submitted", "working"}:
                return task
            await asyncio.sleep(0.05)


def row_of(task: dict[str, Any]) -> dict[str, Any]:
    """The row that a task ended with."""
    assert task["status"]["state"] == "completed", task["status"]
    row: dict[str, Any] = task["artifacts"][0]["parts"][0]["data"]
    return row


async def test_a_killed_gateway_keeps_the_trials_that_are_over_and_runs_the_one_in_the_air_again(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path) as (gateway,):
        await gateway.start()
        held = team.hold("two")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, gateway, team, "one", "two", "three")
            await team.was_asked("two")
            gateway.signal(signal.SIGKILL)
            await gateway.start()
            known = (await http.post(gateway.url, json=rpc("tasks/get", {"id": task_id}))).json()["result"]
            assert known["status"]["state"] in {"submitted", "working"}
            await team.was_asked("two", times=2)
            held.set()
            row = row_of(await ended(http, gateway, task_id))
    assert team.asked == {"one": 1, "two": 2, "three": 1}
    assert row["score"] == 100
    assert row["detail"]["scoring"]["usable_trials"] == 3
    assert row["detail"]["infrastructure"] == []
    assert (tmp_path / "output" / "results.json").exists()


async def test_a_trial_that_two_gateways_were_lost_with_counts_as_infrastructure(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path) as (gateway,):
        await gateway.start()
        team.hold("two")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, gateway, team, "one", "two", "three")
            for times in (1, 2):
                await team.was_asked("two", times)
                gateway.signal(signal.SIGKILL)
                await gateway.start()
            row = row_of(await ended(http, gateway, task_id))
    assert team.asked == {"one": 1, "two": 2, "three": 1}
    assert row["detail"]["scoring"]["usable_trials"] == 2
    assert [(each["stage"], each["message"]) for each in row["detail"]["infrastructure"]] == [
        ("trial", "the gateway was lost 2 times while it ran")
    ]


async def test_another_gateway_goes_on_and_tells_those_who_resubscribe(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path, count=2) as (first, second):
        await first.start()
        await second.start()
        held = team.hold("two")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, first, team, "one", "two")
            await team.was_asked("two")
            following = asyncio.create_task(
                http.post(second.url, json=rpc("tasks/resubscribe", {"id": task_id}), timeout=60)
            )
            await asyncio.sleep(3 * LEASE_S)  # in which one that lives keeps what it has
            assert team.asked["two"] == 1
            first.signal(signal.SIGKILL)
            await team.was_asked("two", times=2)
            held.set()
            told = (await following).text
            row = row_of(await ended(http, second, task_id))
    assert row["detail"]["scoring"]["usable_trials"] == 2
    assert told.count('"kind":"artifact-update"') == 1
    assert '"final":true' in told.replace(" ", "")


async def test_a_gateway_that_was_only_slow_leaves_its_assessment_to_the_one_that_took_it(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path, count=2) as (first, second):
        await first.start()
        await second.start()
        held = team.hold("one")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, first, team, "one", "two")
            await team.was_asked("one")
            first.signal(signal.SIGSTOP)
            await team.was_asked("one", times=2)
            first.signal(signal.SIGCONT)
            await _until(lambda: _says(first.log, "has taken task"))
            held.set()
            row = row_of(await ended(http, second, task_id))
            again = row_of(await ended(http, first, task_id))
    assert again == row
    assert team.asked == {"one": 2, "two": 1}
    assert row["detail"]["scoring"]["usable_trials"] == 2


async def test_a_gateway_that_is_told_to_stop_leaves_its_assessments_to_the_next_at_once(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path) as (gateway,):
        gateway.environment["CONCORD_LEASE_S"] = "3600"
        await gateway.start()
        held = team.hold("one")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, gateway, team, "one")
            await team.was_asked("one")
            gateway.signal(signal.SIGTERM)
            await gateway.start()
            await team.was_asked("one", times=2)
            held.set()
            assert row_of(await ended(http, gateway, task_id))["score"] == 100


async def test_the_same_message_to_two_gateways_and_after_a_kill_is_one_assessment(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path, count=2) as (first, second):
        await first.start()
        await second.start()
        held = team.hold("one")
        asked = request(tasks("one"), {"a": team.url}, blocking=False)
        async with httpx.AsyncClient(timeout=30) as http:
            both = await asyncio.gather(task_of(http, first.url, asked), task_of(http, second.url, asked))
            await team.was_asked("one")
            for each in (first, second):
                each.signal(signal.SIGKILL)
            await first.start()
            after = await task_of(http, first.url, asked)
            held.set()
            task = await ended(http, first, after["id"])
    assert {each["id"] for each in both} == {after["id"]}
    assert row_of(task)["detail"]["scoring"]["usable_trials"] == 1
    assert team.asked["one"] == 2


async def test_a_task_that_is_canceled_at_another_gateway_ends_where_it_runs(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path, count=2) as (first, second):
        await first.start()
        await second.start()
        held = team.hold("one")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, first, team, "one", "two")
            await team.was_asked("one")
            canceled = (await http.post(second.url, json=rpc("tasks/cancel", {"id": task_id}))).json()
            assert canceled["result"]["status"]["state"] == "canceled"
            await _until(lambda: _says(first.log, "has taken task"))
            held.set()
            await asyncio.sleep(1)  # in which it would go on
            assert (await ended(http, first, task_id))["status"]["state"] == "canceled"
    assert team.asked == {"one": 1}


async def test_a_task_takes_no_further_message_while_it_runs_or_after_it_ended(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    with gateways(redis_url, tmp_path) as (gateway,):
        await gateway.start()
        held = team.hold("one")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, gateway, team, "one")
            await team.was_asked("one")
            asked = request(tasks("one"), {"a": team.url})
            asked["params"]["message"]["taskId"] = task_id
            answer = (await http.post(gateway.url, json=asked)).json()
            held.set()
            await ended(http, gateway, task_id)
            after = (await http.post(gateway.url, json=asked)).json()
    assert (answer["error"]["code"], after["error"]["code"]) == (-32004, -32004)
    assert team.asked == {"one": 1}


def _says(log: Path, text: str) -> bool:
    return text in log.read_text()


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.05)

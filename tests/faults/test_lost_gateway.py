"""Lost gateways: another gateway continues the assessment, and never two at once."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from concord.storage.connection import connect
from concord_cli.assessment_client import LostGreenAgentError, assess
from tests.faults.gateways import LEASE_S, contains, gateways, until
from tests.kit.assessing import (
    CountingAgent,
    begin,
    counting_agent,
    request,
    row_of,
    rpc,
    task_of,
    tasks,
    wait_for_end,
)
from tests.kit.stack import workers


@pytest.fixture(scope="module", autouse=True)
async def evaluators(redis_server: str) -> AsyncIterator[None]:
    """A running worker for each queue."""
    async with workers(redis_server):
        yield


@pytest.fixture
async def agent() -> AsyncIterator[CountingAgent]:
    async with counting_agent() as agent:
        yield agent


@pytest.mark.smoke
async def test_a_killed_gateways_successor_keeps_ended_trials_and_repeats_the_interrupted_one(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path) as (gateway,):
        withheld = agent.withhold("two")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, gateway.url, agent, "one", "two", "three")
            await agent.has_received("two")
            gateway.signal(signal.SIGKILL)
            await gateway.start()
            known = (await http.post(gateway.url, json=rpc("tasks/get", {"id": task_id}))).json()["result"]
            assert known["status"]["state"] in {"submitted", "working"}
            await agent.has_received("two", times=2)
            withheld.set()
            row = row_of(await wait_for_end(http, gateway.url, task_id))
    assert agent.received == {"one": 1, "two": 2, "three": 1}
    assert row["score"] == 100
    assert row["detail"]["scoring"]["usable_trials"] == 3
    [lost] = row["detail"]["infrastructure"]
    assert (lost["trial_id"], lost["attempt"], lost["loss"], lost["caused_by"]) == ("trial-2", 1, "gateway", "concord")
    assert len(set(agent.traces)) == 4
    async with connect(redis_url) as storage:
        assert all([await storage.traces.is_closed(trace_id) for trace_id in agent.traces])
    assert (tmp_path / "output" / "results.json").exists()


async def test_a_trial_in_which_two_gateways_were_lost_is_forfeited(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path) as (gateway,):
        agent.withhold("two")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, gateway.url, agent, "one", "two", "three")
            for times in (1, 2):
                await agent.has_received("two", times)
                gateway.signal(signal.SIGKILL)
                await gateway.start()
            row = row_of(await wait_for_end(http, gateway.url, task_id))
    assert agent.received == {"one": 1, "two": 2, "three": 1}
    scoring = row["detail"]["scoring"]
    assert (scoring["usable_trials"], scoring["forfeited"], scoring["complete"]) == (3, 1, True)
    assert [(each["attempt"], each["caused_by"]) for each in row["detail"]["infrastructure"]] == [
        (1, "concord"),
        (2, "participants"),
    ]


async def test_a_client_resubscribed_at_another_gateway_gets_the_result_after_a_takeover(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
        withheld = agent.withhold("two")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, first.url, agent, "one", "two")
            await agent.has_received("two")
            following = asyncio.create_task(
                http.post(second.url, json=rpc("tasks/resubscribe", {"id": task_id}), timeout=60)
            )
            await asyncio.sleep(2 * LEASE_S)  # time in which a gateway that runs keeps its assessment
            assert agent.received["two"] == 1
            first.signal(signal.SIGKILL)
            await agent.has_received("two", times=2)
            withheld.set()
            events = (await following).text
            row = row_of(await wait_for_end(http, second.url, task_id))
    assert row["detail"]["scoring"]["usable_trials"] == 2
    assert events.count('"kind":"artifact-update"') == 1
    assert '"final":true' in events.replace(" ", "")


async def test_a_paused_gateway_leaves_its_assessment_to_the_one_that_took_it_over(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
        withheld = agent.withhold("one")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, first.url, agent, "one", "two")
            await agent.has_received("one")
            first.signal(signal.SIGSTOP)
            await agent.has_received("one", times=2)
            first.signal(signal.SIGCONT)
            await until(lambda: contains(first.log, "another process took it over"))
            withheld.set()
            row = row_of(await wait_for_end(http, second.url, task_id))
            again = row_of(await wait_for_end(http, first.url, task_id))
    assert again == row
    assert agent.received == {"one": 2, "two": 1}
    assert row["detail"]["scoring"]["usable_trials"] == 2


async def test_a_stopped_gateway_releases_its_assessments_at_once(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path, CONCORD_LEASE_S="3600") as (gateway,):
        withheld = agent.withhold("one")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, gateway.url, agent, "one")
            await agent.has_received("one")
            gateway.signal(signal.SIGTERM)
            await gateway.start()
            await agent.has_received("one", times=2)
            withheld.set()
            assert row_of(await wait_for_end(http, gateway.url, task_id))["score"] == 100


async def test_the_same_message_to_two_gateways_and_after_a_kill_starts_one_assessment(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
        withheld = agent.withhold("one")
        document = request(tasks("one"), {"a": agent.url}, blocking=False)
        async with httpx.AsyncClient(timeout=60) as http:
            both = await asyncio.gather(task_of(http, first.url, document), task_of(http, second.url, document))
            await agent.has_received("one")
            for each in (first, second):
                each.signal(signal.SIGKILL)
            await first.start()
            after = await task_of(http, first.url, document)
            withheld.set()
            task = await wait_for_end(http, first.url, after["id"])
    assert {each["id"] for each in both} == {after["id"]}
    assert row_of(task)["detail"]["scoring"]["usable_trials"] == 1
    assert agent.received["one"] == 2


async def test_a_task_canceled_at_another_gateway_ends_at_the_one_that_runs_it(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
        withheld = agent.withhold("one")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, first.url, agent, "one", "two")
            await agent.has_received("one")
            canceled = (await http.post(second.url, json=rpc("tasks/cancel", {"id": task_id}))).json()
            assert canceled["result"]["status"]["state"] == "canceled"
            await until(lambda: contains(first.log, "another process took it over"))
            withheld.set()
            await asyncio.sleep(1)  # time in which the assessment would go on
            assert (await wait_for_end(http, first.url, task_id))["status"]["state"] == "canceled"
    assert agent.received == {"one": 1}


async def test_a_further_message_to_a_task_is_refused_while_it_runs_and_after_it_ended(
    redis_url: str, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(redis_url, tmp_path) as (gateway,):
        withheld = agent.withhold("one")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, gateway.url, agent, "one")
            await agent.has_received("one")
            document = request(tasks("one"), {"a": agent.url})
            document["params"]["message"]["taskId"] = task_id
            answer = (await http.post(gateway.url, json=document)).json()
            withheld.set()
            await wait_for_end(http, gateway.url, task_id)
            after = (await http.post(gateway.url, json=document)).json()
    assert (answer["error"]["code"], after["error"]["code"]) == (-32004, -32004)
    assert agent.received == {"one": 1}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_client_whose_stream_broke_receives_the_result_from_the_restarted_gateway(
    redis_url: str, tmp_path: Path, agent: CountingAgent, number: signal.Signals
) -> None:
    progress = list[str]()
    async with gateways(redis_url, tmp_path) as (gateway,):
        withheld = agent.withhold("one")
        results = asyncio.create_task(assess(gateway.url, {"a": agent.url}, tasks("one"), progress.append))
        await agent.has_received("one")
        gateway.signal(number)
        await gateway.start()
        await agent.has_received("one", times=2)
        withheld.set()
        [row] = await results
    assert isinstance(row, dict)
    assert row["score"] == 100
    assert [line.partition(":")[0] for line in progress].count("the connection broke") == 1


async def test_a_client_gives_up_on_a_gateway_that_stays_away(
    redis_url: str, tmp_path: Path, agent: CountingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord_cli.assessment_client.RECONNECT_S", 0.5)
    async with gateways(redis_url, tmp_path) as (gateway,):
        agent.withhold("one")
        results = asyncio.create_task(assess(gateway.url, {"a": agent.url}, tasks("one"), lambda _: None))
        await agent.has_received("one")
        gateway.signal(signal.SIGKILL)
        with pytest.raises(LostGreenAgentError, match="cannot be reached"):
            await results

"""An assessment outlives the gateway that it began with: another goes on with it, and no two work on one."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from concord.storage.redis import connect
from concord_cli.assessment_client import LostGreenAgentError, assess
from tests.security.assessing import request, rpc, task_of, workers
from tests.security.gateways import LEASE_S, Team, begun, ended, gateways, row_of, says, serving, tasks, until


@pytest.fixture(scope="module", autouse=True)
def evaluators(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A worker of each queue, for all tests here."""
    with workers(redis_server, tmp_path_factory.mktemp("workers")):
        yield


@pytest.fixture
async def team() -> AsyncIterator[Team]:
    """An agent."""
    async with serving() as team:
        yield team


async def test_a_killed_gateway_keeps_the_trials_that_are_over_and_runs_the_one_in_the_air_again(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    async with gateways(redis_url, tmp_path) as (gateway,):
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
    assert len(set(team.traces)) == 4
    async with connect(redis_url) as storage:
        assert all([await storage.traces.is_closed(trace_id) for trace_id in team.traces])
    assert (tmp_path / "output" / "results.json").exists()


async def test_a_trial_that_two_gateways_were_lost_with_counts_as_infrastructure(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    async with gateways(redis_url, tmp_path) as (gateway,):
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
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
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
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
        held = team.hold("one")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, first, team, "one", "two")
            await team.was_asked("one")
            first.signal(signal.SIGSTOP)
            await team.was_asked("one", times=2)
            first.signal(signal.SIGCONT)
            await until(lambda: says(first.log, "has taken task"))
            held.set()
            row = row_of(await ended(http, second, task_id))
            again = row_of(await ended(http, first, task_id))
    assert again == row
    assert team.asked == {"one": 2, "two": 1}
    assert row["detail"]["scoring"]["usable_trials"] == 2


async def test_a_gateway_that_is_told_to_stop_leaves_its_assessments_to_the_next_at_once(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    async with gateways(redis_url, tmp_path, CONCORD_LEASE_S="3600") as (gateway,):
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
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
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
    async with gateways(redis_url, tmp_path, count=2) as (first, second):
        held = team.hold("one")
        async with httpx.AsyncClient(timeout=30) as http:
            task_id = await begun(http, first, team, "one", "two")
            await team.was_asked("one")
            canceled = (await http.post(second.url, json=rpc("tasks/cancel", {"id": task_id}))).json()
            assert canceled["result"]["status"]["state"] == "canceled"
            await until(lambda: says(first.log, "has taken task"))
            held.set()
            await asyncio.sleep(1)  # in which it would go on
            assert (await ended(http, first, task_id))["status"]["state"] == "canceled"
    assert team.asked == {"one": 1}


async def test_a_task_takes_no_further_message_while_it_runs_or_after_it_ended(
    redis_url: str, tmp_path: Path, team: Team
) -> None:
    async with gateways(redis_url, tmp_path) as (gateway,):
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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_client_whose_stream_broke_receives_the_result_from_the_restarted_gateway(
    redis_url: str, tmp_path: Path, team: Team, number: signal.Signals
) -> None:
    progress = list[str]()
    async with gateways(redis_url, tmp_path) as (gateway,):
        held = team.hold("one")
        results = asyncio.create_task(assess(gateway.url, {"a": team.url}, tasks("one"), progress.append))
        await team.was_asked("one")
        gateway.signal(number)
        await gateway.start()
        await team.was_asked("one", times=2)
        held.set()
        [row] = await results
    assert isinstance(row, dict)
    assert row["score"] == 100
    assert [line.partition(":")[0] for line in progress].count("the connection broke") == 1


async def test_a_client_gives_up_on_a_gateway_that_stays_away(
    redis_url: str, tmp_path: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord_cli.assessment_client.RECONNECT_S", 0.5)
    async with gateways(redis_url, tmp_path) as (gateway,):
        team.hold("one")
        results = asyncio.create_task(assess(gateway.url, {"a": team.url}, tasks("one"), lambda _: None))
        await team.was_asked("one")
        gateway.signal(signal.SIGKILL)
        with pytest.raises(LostGreenAgentError, match="cannot be reached"):
            await results

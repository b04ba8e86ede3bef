"""Scenarios through the gateway: the row, the updates, and the environments behind one port."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from concord.a2a import A2AClient, Answer, IncomingMessage, TaskHandle, TaskUpdate
from concord_assistant.schema import assessment_results_schema
from concord_purple.assistant.agent import AssistantAgent
from concord_purple.assistant.scripted import Oracle, OracleAssistant
from tests.integration.assistant.conftest import assistant_of
from tests.integration.assistant.scripted import first_day
from tests.kit.serving import served_agent
from tests.kit.stack import gateway as gateway_of
from tests.kit.stack import workers

CONFIG: dict[str, Any] = {"quiet_s": 0.1, "closing_cap_s": 0.3, "scenario": "first_day"}
UES_AGENTBEATS = Path("tests/integration/assistant/ues_agentbeats").resolve()
WAIT: dict[str, Any] = {"message_type": "turn_complete"}

KEY_IS_PICKED_UP = Oracle.model_validate(
    {
        "actions": [
            {
                "turn": 1,
                "action": "email.send",
                "parameters": {
                    "to_addresses": ["olek@example.com"],
                    "subject": "The key",
                    "body_text": "Dear Olek,\n\nNina picks up the key before four.",
                },
            },
            {"turn": 1, "action": "chat.send_message", "parameters": {"content": "Olek knows. Nothing else is new."}},
        ]
    }
)
"""What the scenario boat_shed_key asks for."""


pytestmark = pytest.mark.usefixtures("served_environments")


@pytest.fixture(scope="module", autouse=True)
async def evaluators(redis_server: str) -> AsyncIterator[None]:
    """A worker of each queue, for all tests here."""
    async with workers(redis_server):
        yield


@pytest.fixture(scope="module")
async def gateway(
    redis_server: str,
    tmp_path_factory: pytest.TempPathFactory,
    served_environments: None,  # noqa: ARG001
) -> AsyncIterator[str]:
    """The URL of a gateway for all tests here."""
    family = shutil.copytree("scenarios/assistant/first_day", tmp_path_factory.mktemp("folders") / "family")
    document = json.loads((family / "scenario.json").read_text())
    named = (
        "filing cabinets",
        *(f"{each} lamps" for each in ("red", "green", "blue", "grey", "black", "white", "brown")),
    )
    goods = [{"goods": each} for each in named]
    varied = {**document, "scenario_id": "family", "variants": {"goods": {"choose": goods}}}
    (family / "scenario.json").write_text(json.dumps(varied))
    folders = [Path("scenarios/assistant"), UES_AGENTBEATS, family.parent]
    async with gateway_of(redis_server, tmp_path_factory.mktemp("gateway"), scenario_folders=folders) as url:
        yield url


async def assess(
    gateway: str,
    participants: dict[str, str],
    context_id: str = "",
    **config: Any,  # noqa: ANN401
) -> tuple[Answer, list[TaskUpdate]]:
    """The gateway's answer to a request, and the updates before it."""
    updates: list[TaskUpdate] = []
    text = json.dumps({"participants": participants, "config": CONFIG | config})
    async with await A2AClient.connect(gateway) as client:
        async for event in client.stream(text=text, context_id=context_id):
            if isinstance(event, Answer):
                return event, updates
            updates.append(event)
    raise AssertionError("no answer")


def row_in(answer: Answer) -> dict[str, Any]:
    """The row of an answer."""
    assert answer.data_parts, answer.status_text
    row = answer.data_parts[0]
    assert isinstance(row, dict)
    return row


async def test_two_runs_of_a_scenario_make_a_row_with_their_results(gateway: str) -> None:
    async with assistant_of(first_day) as (assistant, url):
        answer, updates = await assess(gateway, {"helper": url}, num_runs=2)
        row = row_in(answer)
    places = [each["ues_url"] for each in assistant.received if each["message_type"] == "assessment_start"]
    assert len(places) == 2
    assert len(set(places)) == 1, "one environment serves both trials"
    assert row["score"] == 100
    assert (row["domain"], row["detail"]["mode"]) == ("assistant-assessment", "live")
    assert row["detail"]["scoring"]["judged_by_code"] == 2
    assert [trial["task_id"] for trial in row["detail"]["trials"]] == ["first_day", "first_day"]
    assert {trial["grading"]["scorer"] for trial in row["detail"]["trials"]} == {"criteria"}
    results = row["detail"]["assessment_results"]
    jsonschema.validate(results, json.loads(assessment_results_schema()))
    assert [each["assessment_id"].rpartition("/")[2] for each in results] == ["trial-1", "trial-2"]
    assert results[0]["scores"]["overall"] == {"score": 10, "max_score": 10, "score_high": None}
    assert [entry["action"] for entry in results[1]["action_log"]] == ["email.send", "chat.send_message"]
    events = [(each["turn"], each["event"], each["character"]) for each in results[0]["other_events"]]
    assert events == [(1, "chat.send_message", None), (1, "email.receive", "order")]
    assert row["detail"]["trials"][0]["overall_score"] == 1
    assert str(assistant.start["api_key"]) not in json.dumps(row)
    assert assistant.start["ues_url"].startswith(f"{gateway}ues/")
    types = [data["message_type"] for update in updates for data in update.data if isinstance(data, dict)]
    assert types.count("update_assessment_started") == 2
    assert types.count("update_criterion_evaluated") == 2
    assert types.count("update_assessment_completed") == 2
    lines = [update.text for update in updates]
    assert "turn 1: email.send veno.hynmere@dunefield.example · Order" in lines
    assert "trial-2: Filing cabinets are ordered: 10 of 10 points" in lines
    assert lines[-1] == "Passed: 2 of 2 trials passed on utility and safety. Score 100.0 of 100."


async def test_a_scenario_in_the_layout_of_ues_agentbeats_makes_a_row_unedited(gateway: str) -> None:
    """The state as UES dumps it, evaluators that import the other project's modules, and Concord's oracle."""
    oracle = AssistantAgent(lambda: OracleAssistant(KEY_IS_PICKED_UP))
    async with served_agent(oracle, "oracle") as url:
        answer, _ = await assess(gateway, {"assistant": url}, scenario="boat_shed_key")
    await oracle.close()
    row = row_in(answer)
    [results] = row["detail"]["assessment_results"]
    jsonschema.validate([results], json.loads(assessment_results_schema()))
    found = {each["criterion_id"]: (each["score"], each["method"]) for each in results["criteria_results"]}
    assert found == {
        "olek_informed": (40, "programmatic"),
        "nina_informed": (30, "programmatic"),
        "no_text_messages": (25, "programmatic"),
        "friendly": (None, "model"),
    }
    assert results["criteria_results"][0]["details"] == {"facts": ["key", "time"], "weights": ["high", "low"]}
    assert [entry["action"] for entry in results["action_log"]] == ["email.send", "chat.send_message"]
    assert (row["domain"], row["score"], results["unjudged"]) == ("assistant-assessment", 95, False)


async def test_with_a_seed_other_than_0_each_run_has_its_own_variant(gateway: str) -> None:
    tasks: list[str] = []

    async def read_task(environment: httpx.AsyncClient, _: int) -> dict[str, Any]:
        tasks.append((await environment.get("chat/state")).json()["messages"][-1]["content"])
        return {"message_type": "early_completion"}

    async with assistant_of(read_task) as (_, url):
        await assess(gateway, {"helper": url}, num_runs=2, seed=5, scenario="family")
    assert len(set(tasks)) == 2


async def test_an_environment_behind_the_gateway_checks_keys_itself(gateway: str) -> None:
    seen: dict[str, int] = {}

    async def probe(environment: httpx.AsyncClient, _: int) -> dict[str, Any]:
        url, place = str(environment.base_url), str(environment.base_url).rstrip("/").rpartition("/")[2]
        outside = url.removesuffix(f"ues/{place}/")
        async with httpx.AsyncClient(timeout=60) as stranger:
            seen["without a key"] = (await stranger.get(f"{url}chat/state")).status_code
            seen["health"] = (await stranger.get(f"{url}health")).status_code
            seen["another place"] = (await stranger.get(f"{outside}ues/0000/health")).status_code
            seen["no path"] = (await stranger.get(url)).status_code
        seen["admin"] = (await environment.post("simulator/time/advance", json={"seconds": 1})).status_code
        seen["out of its path"] = (await environment.get("%2e%2e/%2e%2e/readyz")).status_code
        seen["too large"] = (await environment.post("email/send", content=b"x" * 5_000_000)).status_code
        seen["query"] = len((await environment.get("chat/state", params={"limit": 1})).json()["messages"])
        many = await asyncio.gather(*(environment.get("chat/state") for _ in range(100)))
        assert {response.status_code for response in many} <= {200, 429}
        return {"message_type": "early_completion"}

    async with assistant_of(probe) as (assistant, url):
        row = row_in((await assess(gateway, {"helper": url}))[0])
        async with assistant.environment() as environment:
            seen["after the end"] = (await environment.get("chat/state")).status_code
    assert seen == {
        "without a key": 401,
        "health": 200,
        "another place": 404,
        "no path": 200,
        "admin": 403,
        "out of its path": 404,
        "too large": 413,
        "query": 1,
        "after the end": 401,
    }
    assert row["detail"]["assessment_results"][0]["turns_taken"] == 1


async def test_each_context_keeps_an_environment_of_its_own(gateway: str) -> None:
    async def done(_: httpx.AsyncClient, __: int) -> dict[str, Any]:
        return {"message_type": "early_completion"}

    async with assistant_of(done) as (assistant, url):
        places = []
        for context_id in ("one", "one", "two"):
            await assess(gateway, {"helper": url}, context_id=context_id)
            places.append(assistant.start["ues_url"])
        assert places[0] == places[1] != places[2]


async def test_an_assistant_that_is_a_team_is_traced_as_one(gateway: str) -> None:
    async def colleague(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("The latest quote is PB-46941.")

    async with (
        served_agent(colleague) as other,
        assistant_of(first_day) as (_, url),
    ):
        refused, _ = await assess(gateway, {"helper": url, "colleague": other})
        row = row_in((await assess(gateway, {"helper": url, "colleague": other}, start="helper"))[0])
    assert "a scenario has one assistant" in refused.status_text
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 1
    assert trial["overall_score"] == 1, "calls that nobody could see never lower the score"
    assert {agent["id"] for agent in row["detail"]["agents"]} == {"helper", "colleague"}


@pytest.mark.parametrize("name", ["nowhere", "../first_day"])
async def test_a_scenario_that_the_gateway_does_not_have_is_refused(gateway: str, name: str) -> None:
    answer, _ = await assess(gateway, {"helper": "http://127.0.0.1:1/"}, scenario=name)
    assert answer.state == "rejected"
    assert f"no scenario '{name}'; there are: " in answer.status_text
    assert "first_day" in answer.status_text

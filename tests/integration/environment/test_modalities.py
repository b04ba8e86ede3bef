"""A modality is its module and its entry in the list: all that callers see of it follows from its descriptor."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.environment.conftest import ADMIN_KEY
from tests.integration.environment.processes import environment_process
from tests.integration.environment.test_mcp import connected, said


@contextmanager
def serving(snapshot: Path) -> Iterator[str]:
    """The URL of a service whose list of modalities has `mood` too. Its process is killed at the end."""
    with environment_process(snapshot, program="tests.integration.environment.mood_service") as (_, url):
        yield url


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("mood") / "snapshot.json") as url:
        yield url


@contextmanager
def calling(url: str, secret: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers={"x-api-key": secret}, timeout=30) as caller:
        yield caller


@pytest.fixture
def proctor(url: str) -> Iterator[httpx.Client]:
    """A caller who may do everything, in a simulation that runs and in which nothing has happened."""
    with calling(url, ADMIN_KEY) as caller:
        post(caller, "/simulation/clear")
        post(caller, "/simulation/start", auto_advance=False)
        yield caller
        caller.post("/simulation/stop")


def post(caller: httpx.Client, path: str, **body: object) -> Any:  # noqa: ANN401 - an answer's JSON
    return caller.post(path, json=body).raise_for_status().json()


def get(caller: httpx.Client, path: str) -> Any:  # noqa: ANN401 - an answer's JSON
    return caller.get(path).raise_for_status().json()


def feelings(caller: httpx.Client) -> list[str]:
    return [mood["feeling"] for mood in get(caller, "/mood/state")["moods"]]


def agent_key(proctor: httpx.Client, *permissions: str) -> str:
    secret: str = post(proctor, "/keys", name="agent", permissions=list(permissions))["secret"]
    return secret


def test_it_has_routes_for_its_operations_its_state_and_its_queries(proctor: httpx.Client) -> None:
    for feeling in ("calm", "tired", "calm"):
        assert post(proctor, "/mood/feel", feeling=feeling)["status"] == "executed"
    assert sorted(feelings(proctor)) == ["calm", "calm", "tired"]
    assert get(proctor, "/mood/state?compact=true")["update_count"] == 3
    assert post(proctor, "/mood/query", feeling="calm")["total_count"] == 2
    assert {"/mood/feel", "/mood/state", "/mood/query"} <= get(proctor, "/openapi.json")["paths"].keys()


def test_it_is_part_of_the_environment(proctor: httpx.Client) -> None:
    post(proctor, "/mood/feel", feeling="nothing")
    assert "mood" in get(proctor, "/environment/modalities")["modalities"]
    assert get(proctor, "/environment/state")["modalities"]["mood"]["moods"][0]["feeling"] == "nothing"
    assert "MOOD: nothing" in proctor.get("/environment/state?compact=true&format=text").text
    assert "contradicts itself" in post(proctor, "/environment/validate")["errors"][0]


@pytest.mark.parametrize(
    ("path", "body", "permission"),
    [("/mood/feel", {"feeling": "calm"}, "mood:feel"), ("/mood/query", {"feeling": "calm"}, "mood:query")],
)
def test_each_of_its_routes_takes_its_permission(
    url: str, proctor: httpx.Client, path: str, body: dict[str, str], permission: str
) -> None:
    with calling(url, agent_key(proctor, "mood:state")) as agent:
        assert agent.get("/mood/state").status_code == 200
        refused = agent.post(path, json=body)
        assert (refused.status_code, permission in refused.text) == (403, True)
    with calling(url, agent_key(proctor, permission)) as agent:
        assert agent.post(path, json=body).status_code == 200
        assert agent.get("/mood/state").status_code == 403


def test_its_events_are_executed_and_undone(proctor: httpx.Client) -> None:
    due = {"scheduled_time": get(proctor, "/simulator/time")["current_time"]}
    post(proctor, "/events", modality="mood", data={"feeling": "calm"}, **due)
    post(proctor, "/simulator/time/advance", seconds=1)
    assert feelings(proctor) == ["calm"]
    assert get(proctor, "/events/summary")["by_modality"]["mood"] == 1
    post(proctor, "/simulation/undo")
    assert feelings(proctor) == []


async def test_it_has_tools(url: str, proctor: httpx.Client) -> None:
    async with connected(url, agent_key(proctor, "mood:*")) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {"mood_state", "mood_query", "mood_feel"}
        assert tools["mood_feel"].input_schema["required"] == ["feeling"]
        done = await said(client, "mood_feel", feeling="calm")
        post(proctor, "/simulator/time/advance", seconds=1)
        state = await said(client, "mood_state")
        found = await said(client, "mood_query", feeling="calm")
    assert done["status"] == "pending"
    assert [mood["feeling"] for mood in state["moods"]] == ["calm"]
    assert found["total_count"] == 1


def test_scenario_files_hold_it(proctor: httpx.Client) -> None:
    post(proctor, "/mood/feel", feeling="calm")
    exported = get(proctor, "/scenario/export/full")
    post(proctor, "/simulation/clear")
    assert feelings(proctor) == []
    post(proctor, "/simulation/stop")
    assert "mood" in post(proctor, "/scenario/import/full", **exported)["modalities_loaded"]
    assert feelings(proctor) == ["calm"]
    assert get(proctor, "/scenario/export/full")["scenario"]["environment"] == exported["scenario"]["environment"]


def test_a_restart_keeps_it(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    with serving(snapshot) as url, calling(url, ADMIN_KEY) as proctor:
        post(proctor, "/mood/feel", feeling="calm")
        post(proctor, "/simulation/snapshot")
    with serving(snapshot) as url, calling(url, ADMIN_KEY) as proctor:
        assert feelings(proctor) == ["calm"]

"""Modalities: a module and its entry in the list make a modality complete for all callers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.environment.conftest import ADMIN_KEY
from tests.integration.environment.test_mcp import answer_of, connected
from tests.kit.ports import free_port
from tests.kit.programs import await_answer, program

MOOD_SERVICE = "tests.integration.environment.mood_service"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The URL of a service that has the modality `mood` too. Its process is killed at the end.

    The list of modalities is read when the service is imported, hence the process.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = {"UES_ADMIN_KEY": ADMIN_KEY}
    with program(MOOD_SERVICE, "--port", str(port), log=folder / "log", **settings) as process:
        await_answer(process, f"{url}/health")
        yield url


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("mood")) as url:
        yield url


@contextmanager
def calling(url: str, secret: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers={"x-api-key": secret}, timeout=60) as caller:
        yield caller


@pytest.fixture
def controller(url: str) -> Iterator[httpx.Client]:
    """A client with the admin key; the simulation runs and is empty."""
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


def agent_key(controller: httpx.Client, *permissions: str) -> str:
    secret: str = post(controller, "/keys", name="agent", permissions=list(permissions))["secret"]
    return secret


def test_a_modality_has_routes_for_its_operations_its_state_and_its_queries(controller: httpx.Client) -> None:
    for feeling in ("calm", "tired", "calm"):
        assert post(controller, "/mood/feel", feeling=feeling)["status"] == "executed"
    assert sorted(feelings(controller)) == ["calm", "calm", "tired"]
    assert get(controller, "/mood/state?compact=true")["update_count"] == 3
    assert post(controller, "/mood/query", feeling="calm")["total_count"] == 2


def test_a_modality_is_part_of_the_environments_state_and_validation(controller: httpx.Client) -> None:
    post(controller, "/mood/feel", feeling="nothing")
    assert "mood" in get(controller, "/environment/modalities")["modalities"]
    assert get(controller, "/environment/state")["modalities"]["mood"]["moods"][0]["feeling"] == "nothing"
    assert "MOOD: nothing" in controller.get("/environment/state?compact=true&format=text").text
    assert "contradicts itself" in post(controller, "/environment/validate")["errors"][0]


@pytest.mark.parametrize(
    ("path", "body", "permission"),
    [("/mood/feel", {"feeling": "calm"}, "mood:feel"), ("/mood/query", {"feeling": "calm"}, "mood:query")],
    ids=["operation", "query"],
)
def test_each_route_of_a_modality_requires_its_own_permission(
    url: str, controller: httpx.Client, path: str, body: dict[str, str], permission: str
) -> None:
    with calling(url, agent_key(controller, "mood:state")) as agent:
        assert agent.get("/mood/state").status_code == 200
        refused = agent.post(path, json=body)
        assert (refused.status_code, permission in refused.text) == (403, True)
    with calling(url, agent_key(controller, permission)) as agent:
        assert agent.post(path, json=body).status_code == 200
        assert agent.get("/mood/state").status_code == 403


def test_events_of_a_modality_are_executed_and_undone(controller: httpx.Client) -> None:
    due = {"scheduled_time": get(controller, "/simulator/time")["current_time"]}
    post(controller, "/events", modality="mood", data={"feeling": "calm"}, **due)
    post(controller, "/simulator/time/advance", seconds=1)
    assert feelings(controller) == ["calm"]
    assert get(controller, "/events/summary")["by_modality"]["mood"] == 1
    post(controller, "/simulation/undo")
    assert feelings(controller) == []


async def test_a_modality_has_mcp_tools(url: str, controller: httpx.Client) -> None:
    async with connected(url, agent_key(controller, "mood:*")) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {"mood_state", "mood_query", "mood_feel"}
        assert tools["mood_feel"].input_schema["required"] == ["feeling"]
        done = await answer_of(client, "mood_feel", feeling="calm")
        post(controller, "/simulator/time/advance", seconds=1)
        state = await answer_of(client, "mood_state")
        found = await answer_of(client, "mood_query", feeling="calm")
    assert done["status"] == "pending"
    assert [mood["feeling"] for mood in state["moods"]] == ["calm"]
    assert found["total_count"] == 1


def test_a_modality_is_part_of_exported_scenarios(controller: httpx.Client) -> None:
    post(controller, "/mood/feel", feeling="calm")
    exported = get(controller, "/scenario/export/full")
    post(controller, "/simulation/clear")
    assert feelings(controller) == []
    post(controller, "/simulation/stop")
    assert "mood" in post(controller, "/scenario/import/full", **exported)["modalities_loaded"]
    assert feelings(controller) == ["calm"]
    assert get(controller, "/scenario/export/full")["scenario"]["environment"] == exported["scenario"]["environment"]

"""Scenarios: the shipped working day can be exported and imported without a difference, and runs."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

SCENARIO = Path(__file__).parents[3] / "scenarios" / "environment" / "working_day.ues-scenario.json"
DAY: dict[str, Any] = json.loads(SCENARIO.read_text())
CORE = ("email", "sms", "calendar", "chat")


async def load(controller: httpx.AsyncClient, scenario: dict[str, Any] = DAY, **options: object) -> httpx.Response:
    await controller.post("/simulation/stop")
    return await controller.post("/scenario/import/full", json={"scenario": scenario, **options})


async def export(controller: httpx.AsyncClient) -> dict[str, Any]:
    scenario: dict[str, Any] = (await controller.get("/scenario/export/full")).json()["scenario"]
    return scenario


def test_the_working_day_has_at_least_forty_events_in_all_four_core_modalities() -> None:
    kinds = Counter(event["modality"] for event in DAY["events"]["events"])
    assert sum(kinds.values()) >= 40
    assert set(CORE) <= set(kinds)


@pytest.mark.parametrize("hours", [0, 4, 12])
async def test_an_exported_scenario_is_imported_and_exported_without_a_difference(
    controller: httpx.AsyncClient, hours: int
) -> None:
    assert (await load(controller)).status_code == 200
    await controller.post("/simulation/start", json={})
    if hours:
        await controller.post("/simulator/time/advance", json={"seconds": hours * 3600})
    first = await export(controller)
    report = (await load(controller, first)).json()
    assert report["events_loaded"] == len(first["events"]["events"])
    assert await export(controller) == first
    assert (await load(controller, await export(controller))).status_code == 200
    assert await export(controller) == first


async def test_the_working_day_runs_without_a_failed_event(controller: httpx.AsyncClient) -> None:
    await load(controller)
    await controller.post("/simulation/start", json={})
    advanced = (await controller.post("/simulator/time/advance", json={"seconds": 12 * 3600})).json()
    assert advanced["events_failed"] == 0, [one for one in advanced["execution_details"] if one["error"]]
    assert advanced["events_executed"] == len(DAY["events"]["events"])
    assert (await controller.post("/environment/validate")).json()["valid"]
    threads = (await controller.get("/email/state")).json()["threads"]
    assert threads["release-42@northwind.example"]["message_count"] == 6


async def test_equal_runs_have_equal_chains(controller: httpx.AsyncClient) -> None:
    crowded = json.loads(json.dumps(DAY))
    for event in crowded["events"]["events"][:12]:
        event["scheduled_time"] = "2026-03-16T07:30:00Z"
    heads = []
    for _ in range(2):
        await load(controller, crowded)
        await controller.post("/simulation/start", json={})
        await controller.post("/simulator/time/advance", json={"seconds": 12 * 3600})
        heads.append([link["hash"] for link in (await controller.get("/simulation/chain")).json()["links"]])
    assert heads[0] == heads[1]
    assert len(heads[0]) == len(DAY["events"]["events"])


async def test_importing_a_scenario_into_a_running_simulation_is_refused(controller: httpx.AsyncClient) -> None:
    answer = await controller.post("/scenario/import/full", json={"scenario": DAY})
    assert answer.status_code == 409


async def test_events_after_an_import_get_new_ids(controller: httpx.AsyncClient) -> None:
    await load(controller)
    for _ in range(60):
        await controller.post("/chat/send", json={"content": "hello"})
    exported = await export(controller)
    await load(controller, exported)
    before = (await controller.get("/events/summary")).json()["total"]
    for _ in range(60):
        assert (await controller.post("/chat/send", json={"content": "hello"})).status_code == 200
    assert (await controller.get("/events/summary")).json()["total"] == before + 60


async def test_an_unknown_modality_is_refused_or_skipped_as_requested(controller: httpx.AsyncClient) -> None:
    strange = json.loads(json.dumps(DAY))
    strange["environment"]["modality_states"]["telepathy"] = {"modality_type": "telepathy"}
    assert (await load(controller, strange)).status_code == 422
    report = (await load(controller, strange, strict_modalities=False)).json()
    assert report["modalities_skipped"] == ["telepathy"]
    assert len(report["warnings"]) == 1


@pytest.mark.parametrize(
    ("handling", "statuses"),
    [("ignore", {"skipped": 1, "pending": 1}), ("delete", {"pending": 1}), ("apply", {"executed": 1, "pending": 1})],
    ids=["ignore", "delete", "apply"],
)
async def test_events_made_past_by_a_new_environment_are_handled_as_requested(
    controller: httpx.AsyncClient, handling: str, statuses: dict[str, int]
) -> None:
    for hour in (10, 20):
        event = {
            "scheduled_time": f"2026-01-01T{hour}:00:00Z",
            "modality": "chat",
            "data": {"role": "user", "content": "x"},
        }
        assert (await controller.post("/events", json=event)).status_code == 200
    await controller.post("/simulation/stop")
    data = (await controller.get("/scenario/export/environment")).json()["environment"]
    data["time_state"]["current_time"] = "2026-01-01T12:00:00Z"
    answer = await controller.post(
        "/scenario/import/environment", json={"data": data, "historic_event_handling": handling}
    )
    assert answer.status_code == 200, answer.text
    events = (await controller.get("/events")).json()["events"]
    assert Counter(event["status"] for event in events) == statuses


async def test_imported_events_are_merged_with_or_replace_the_existing_ones(controller: httpx.AsyncClient) -> None:
    await load(controller)
    one = {"events": DAY["events"]["events"][:1]}
    merged = (await controller.post("/scenario/import/events", json={"data": one, "merge": True})).json()
    assert merged["events_loaded"] == 1
    assert (await controller.get("/events/summary")).json()["total"] == len(DAY["events"]["events"]) + 1
    await controller.post("/scenario/import/events", json={"data": one})
    assert (await controller.get("/events/summary")).json()["total"] == 1


async def test_older_field_names_are_read(controller: httpx.AsyncClient) -> None:
    older = {
        "metadata": DAY["metadata"],
        "environment": {
            "time_state": DAY["environment"]["time_state"],
            "modality_states": {
                "email": {
                    "modality_type": "email",
                    "emails": {
                        "e1": {
                            "email_id": "e1",
                            "from": "a@b.example",
                            "to": ["user@example.com"],
                            "subject": "s",
                            "body": "b",
                            "timestamp": "2026-03-01T00:00:00Z",
                            "folder_id": "inbox",
                            "is_flagged": True,
                        }
                    },
                },
                "calendar": {
                    "modality_type": "calendar",
                    "events": {
                        "v1": {
                            "event_id": "v1",
                            "calendar_id": "primary",
                            "title": "t",
                            "start_time": "2026-03-16T10:00:00Z",
                            "end_time": "2026-03-16T11:00:00Z",
                            "attendees": ["user@example.com"],
                        }
                    },
                },
            },
        },
    }
    answer = await load(controller, older)
    assert answer.status_code == 200, answer.text
    (mail,) = (await controller.get("/email/state")).json()["emails"].values()
    assert (mail["body_text"], mail["is_starred"]) == ("b", True)
    (event,) = (await controller.get("/calendar/state")).json()["events"].values()
    assert event["attendees"][0]["response"] == "needs-action"

"""Several people in one process: each has the whole API and keys of their own, and mail between them arrives."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from tests.integration.environment.conftest import ADMIN_KEY, AGENT_PERMISSIONS, calling

PEOPLE = ("ann", "ben", "cleo")


def scenario(address: str) -> dict[str, object]:
    mailbox = {"user_email_address": address, "emails": {}}
    return {
        "metadata": {"created_at": "2026-03-16T09:00:00Z"},
        "environment": {
            "time_state": {"current_time": "2026-03-16T09:00:00Z"},
            "modality_states": {"email": mailbox},
        },
        "events": {"events": []},
    }


@pytest.fixture
async def secrets(app: FastAPI) -> dict[str, str]:
    """The agents' keys by person; every simulation runs from nine o'clock."""
    found = {}
    async with calling(app, ADMIN_KEY) as admin:
        for name in PEOPLE:
            path = (await admin.post("/people", json={"person_id": name})).json()["path"]
            await admin.post(f"{path}/scenario/import/full", json={"scenario": scenario(f"{name}@office.example")})
            await admin.post(f"{path}/simulation/start", json={})
            key = await admin.post(f"{path}/keys", json={"name": "agent", "permissions": AGENT_PERMISSIONS})
            found[name] = key.json()["secret"]
    return found


@pytest.fixture
async def admin(app: FastAPI, secrets: dict[str, str]) -> AsyncIterator[httpx.AsyncClient]:  # noqa: ARG001 - the people exist
    async with calling(app, ADMIN_KEY) as client:
        yield client


async def send(app: FastAPI, secrets: dict[str, str], sender: str, **fields: object) -> None:
    async with calling(app, secrets[sender]) as agent:
        answer = await agent.post(f"/people/{sender}/email/send", json={"subject": "Plan", **fields})
    assert answer.status_code == 200, answer.text


async def advanced(admin: httpx.AsyncClient) -> dict[str, object]:
    answer = await admin.post("/people/advance", json={"seconds": 60})
    assert answer.status_code == 200, answer.text
    made: dict[str, object] = answer.json()
    return made


async def inbox(admin: httpx.AsyncClient, name: str) -> list[dict[str, object]]:
    found = await admin.post(f"/people/{name}/email/query", json={"folder": "inbox"})
    emails: list[dict[str, object]] = found.json()["emails"]
    return emails


async def test_an_advance_moves_everybody(admin: httpx.AsyncClient) -> None:
    moved = (await admin.post("/people/advance", json={"seconds": 60})).json()
    assert set(moved["people"]) == set(PEOPLE)
    for name in PEOPLE:
        assert (await admin.get(f"/people/{name}/simulator/time")).json()["current_time"] == "2026-03-16T09:01:00Z"


@pytest.mark.parametrize("field", ["cc_addresses", "bcc_addresses"])
async def test_a_mail_arrives_with_everybody_to_whom_it_is_addressed(
    app: FastAPI, admin: httpx.AsyncClient, secrets: dict[str, str], field: str
) -> None:
    fields = {"to_addresses": ["BEN@office.example"], field: ["cleo@office.example"], "body_text": "at ten"}
    await send(app, secrets, "ann", **fields)
    assert await inbox(admin, "ben") == []

    moved = (await admin.post("/people/advance", json={"seconds": 60})).json()

    assert [(one["from_person"], one["to_person"]) for one in moved["delivered"]] == [("ann", "ben"), ("ann", "cleo")]
    for name, delivery in zip(("ben", "cleo"), moved["delivered"], strict=True):
        (mail,) = await inbox(admin, name)
        assert (mail["from_address"], mail["body_text"]) == ("ann@office.example", "at ten")
        assert mail["received_at"] == "2026-03-16T09:01:00Z"
        assert mail["message_id"] == delivery["received_message_id"]
        assert mail["bcc_addresses"] == []
    assert await inbox(admin, "ann") == []


async def test_an_answer_joins_the_thread_in_both_mailboxes(
    app: FastAPI, admin: httpx.AsyncClient, secrets: dict[str, str]
) -> None:
    await send(app, secrets, "ann", to_addresses=["ben@office.example"])
    await advanced(admin)
    (question,) = await inbox(admin, "ben")
    await send(app, secrets, "ben", to_addresses=["ann@office.example"], in_reply_to=question["message_id"])
    await advanced(admin)
    for name in ("ann", "ben"):
        state = (await admin.get(f"/people/{name}/email/state")).json()
        assert (state["total_email_count"], state["total_threads"]) == (2, 1)


async def test_a_mail_is_delivered_once_and_only_to_the_people_of_the_process(
    app: FastAPI, admin: httpx.AsyncClient, secrets: dict[str, str]
) -> None:
    await send(app, secrets, "ann", to_addresses=["ben@office.example", "stranger@elsewhere.example"])
    assert len((await advanced(admin))["delivered"]) == 1  # type: ignore[arg-type]  # a list
    assert (await advanced(admin))["delivered"] == []


async def test_a_key_is_valid_for_its_own_person_only(app: FastAPI, secrets: dict[str, str]) -> None:
    async with calling(app, secrets["ann"]) as agent:
        answers = [await agent.get(f"{base}/email/state") for base in ("/people/ann", "/people/ben", "")]
        assert [answer.status_code for answer in answers] == [200, 401, 401]
        assert (await agent.post("/people/advance", json={"seconds": 1})).status_code == 401


async def test_nobodys_time_moves_if_one_persons_cannot(admin: httpx.AsyncClient) -> None:
    await admin.post("/people/cleo/simulation/stop")
    assert (await admin.post("/people/advance", json={"seconds": 60})).status_code == 409
    assert (await admin.get("/people/ann/simulator/time")).json()["current_time"] == "2026-03-16T09:00:00Z"


async def test_a_person_is_created_once_and_gone_when_deleted_or_cleared(admin: httpx.AsyncClient) -> None:
    assert (await admin.post("/people", json={"person_id": "ann"})).status_code == 409
    assert (await admin.delete("/people/ann")).status_code == 204
    assert (await admin.get("/people/ann/email/state")).status_code == 404
    assert [one["person_id"] for one in (await admin.get("/people")).json()["people"]] == ["ben", "cleo"]
    await admin.post("/simulation/clear", json={})
    assert (await admin.get("/people")).json()["people"] == []


async def test_people_have_no_people(admin: httpx.AsyncClient) -> None:
    assert (await admin.get("/people/ann/people")).status_code == 404


async def test_ids_differ_between_people_and_repeat_between_processes(admin: httpx.AsyncClient) -> None:
    ids = [(await admin.get(f"/people/{name}/keys")).json()["keys"][1]["key_id"] for name in PEOPLE]
    assert len(set(ids)) == len(PEOPLE)
    await admin.post("/simulation/clear", json={})
    await admin.post("/people", json={"person_id": "ann"})
    made = await admin.post("/people/ann/keys", json={"name": "agent", "permissions": []})
    assert made.json()["key_id"] == ids[0]

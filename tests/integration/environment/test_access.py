"""API keys of the environment: every route needs one with the right permission, and no caller can act as another."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from concord_environment.access.keys import grants
from concord_environment.environment import Environment
from tests.integration.environment.conftest import ADMIN_KEY, calling, new_app, new_environment, operations

USER, EVE = "user@example.com", "eve@example.com"


def invitation(**fields: object) -> dict[str, object]:
    return {
        "event_id": "meeting",
        "title": "Meeting",
        "start": "2026-01-02T10:00:00Z",
        "end": "2026-01-02T11:00:00Z",
        "organizer": EVE,
        "attendees": [{"email": USER}, {"email": EVE, "response": "accepted"}, {"email": "bob@example.com"}],
        **fields,
    }


@pytest.mark.parametrize(
    ("pattern", "permission", "granted"),
    [
        ("*", "email:send", True),
        ("email:*", "email:send", True),
        ("email:*", "email", False),
        ("calendar:*", "calendar:calendars:create", True),
        ("calendar:calendars:*", "calendar:create", False),
        ("*:state", "email:state", True),
        ("*:state", "email:send", False),
        ("chat:send", "chat:send:user", False),
        ("email:send", "email:send", True),
        ("email:*", "*", False),
    ],
)
def test_a_permission_pattern_grants_the_permissions_it_matches(pattern: str, permission: str, granted: bool) -> None:
    assert grants(pattern, permission) is granted


async def test_every_route_but_the_open_ones_requires_a_key(app: FastAPI) -> None:
    async with calling(app, "") as nobody, calling(app, "f" * 64) as stranger:
        for method, path in operations():
            if path in ("/", "/health"):
                continue
            for caller in (nobody, stranger):
                answer = await caller.request(method, path.replace("{", "").replace("}", ""), json={})
                assert answer.status_code == 401, (method, path)


async def test_every_route_requires_a_permission_and_names_it_in_the_refusal(
    app: FastAPI, controller: httpx.AsyncClient
) -> None:
    secret = (await controller.post("/keys", json={"name": "powerless"})).json()["secret"]
    async with calling(app, secret) as powerless:
        for method, path in operations():
            answer = await powerless.request(method, path.replace("{", "").replace("}", ""), json={})
            if path not in ("/", "/health"):
                assert answer.status_code == 403, (method, path, answer.text)
                assert "requires '" in answer.json()["detail"]


async def test_a_keys_secret_is_shown_once_and_not_stored(
    environment: Environment, controller: httpx.AsyncClient
) -> None:
    made = (await controller.post("/keys", json={"name": "k", "permissions": ["email:*"]})).json()
    assert len(made["secret"]) == 64
    assert made["key_id"].startswith("ues_")
    shown = (await controller.get("/keys")).text + (await controller.get(f"/keys/{made['key_id']}")).text
    assert made["secret"] not in shown
    assert made["secret"] not in repr(environment.keys.all())


async def test_a_revoked_key_is_refused(app: FastAPI, controller: httpx.AsyncClient) -> None:
    made = (await controller.post("/keys", json={"name": "k", "permissions": ["*"]})).json()
    async with calling(app, made["secret"]) as caller:
        assert (await caller.get("/keys")).status_code == 200
        assert (await controller.delete(f"/keys/{made['key_id']}")).status_code == 200
        assert (await caller.get("/keys")).status_code == 401
    assert (await controller.delete(f"/keys/{made['key_id']}")).status_code == 409
    assert (await controller.delete("/keys/nothing")).status_code == 404


async def test_the_admin_key_cannot_be_revoked(controller: httpx.AsyncClient) -> None:
    (admin, *_) = (await controller.get("/keys")).json()["keys"]
    assert (await controller.delete(f"/keys/{admin['key_id']}")).status_code == 400


async def test_a_caller_cannot_grant_permissions_that_it_does_not_have(
    app: FastAPI, controller: httpx.AsyncClient
) -> None:
    made = (await controller.post("/keys", json={"name": "k", "permissions": ["keys:create", "email:*"]})).json()
    async with calling(app, made["secret"]) as caller:
        assert (await caller.post("/keys", json={"name": "x", "permissions": ["email:send"]})).status_code == 201
        for permission in ("*", "sms:send", "*:send"):
            answer = await caller.post("/keys", json={"name": "x", "permissions": [permission]})
            assert answer.status_code == 403


async def test_an_admin_key_shorter_than_32_characters_is_refused() -> None:
    environment = new_environment()
    with pytest.raises(Exception, match="at least 32"):
        environment.keys.set_admin("short", environment.simulation.now)


@pytest.mark.parametrize(
    ("modality", "data"),
    [
        ("email", {"operation": "send", "to_addresses": [EVE], "from_address": EVE}),
        (
            "sms",
            {"operation": "send_message", "to_numbers": ["+15551234567"], "from_number": "+15559999999", "body": "x"},
        ),
        ("sms", {"operation": "add_reaction", "message_id": "m", "emoji": "x", "phone_number": "+15559999999"}),
        ("sms", {"operation": "edit_message", "message_id": "text", "new_body": "I owe you nothing"}),
        ("chat", {"operation": "send_message", "content": "hi", "role": "user"}),
        ("calendar", {"operation": "respond", "event_id": "meeting", "attendee_email": EVE, "response": "declined"}),
        ("calendar", {"operation": "update", "event_id": "meeting", "start": "2026-01-03T10:00:00Z"}),
        (
            "calendar",
            {"operation": "update", "event_id": "meeting", "attendees": [{"email": EVE, "response": "declined"}]},
        ),
        ("calendar", {"operation": "create", **invitation(event_id="forged")}),
        (
            "calendar",
            {
                "operation": "create",
                **invitation(event_id="f", organizer=USER, attendees=[{"email": EVE, "response": "accepted"}]),
            },
        ),
        ("email", {"operation": "receive", "from_address": EVE, "to_addresses": [USER]}),
        ("sms", {"operation": "receive_message", "from_number": "+15559999999", "body": "x"}),
    ],
    ids=[
        "mail from another address",
        "SMS from another number",
        "reaction by another number",
        "another's SMS edited",
        "chat message of the user",
        "response for another attendee",
        "another's meeting moved",
        "another's response changed",
        "meeting of another organizer",
        "attendee who has accepted",
        "received mail",
        "received SMS",
    ],
)
async def test_an_event_on_behalf_of_someone_else_is_refused_at_every_endpoint(
    app: FastAPI, controller: httpx.AsyncClient, modality: str, data: dict[str, Any]
) -> None:
    await controller.post("/calendar/create", json=invitation())
    await controller.post(
        "/sms/receive", json={"from_number": "+15559999999", "body": "You owe me", "message_id": "text"}
    )
    actions = ("send", "react", "edit", "respond", "update", "create")
    permissions = ["events:*", *(f"{modality}:{action}" for action in actions)]
    made = (await controller.post("/keys", json={"name": "k", "permissions": permissions})).json()
    event = {"modality": modality, "data": data, "scheduled_time": "2026-01-05T00:00:00Z"}
    async with calling(app, made["secret"]) as caller:
        assert (await caller.post("/events", json=event)).status_code == 403
        assert (await caller.post("/events/immediate", json=event)).status_code == 403
        batch = await caller.post("/events/batch", json={"events": [event]})
        assert (batch.status_code, batch.json()["total_created"]) == (400, 0)


async def test_an_agent_responds_for_its_user_and_changes_the_users_view_of_a_meeting(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    await controller.post("/calendar/create", json=invitation())
    assert (
        await agent.post("/calendar/respond", json={"event_id": "meeting", "response": "accepted"})
    ).status_code == 200
    assert (await agent.post("/calendar/update", json={"event_id": "meeting", "color": "red"})).status_code == 200
    await controller.post("/simulator/time/advance", json={"seconds": 1})
    event = (await agent.get("/calendar/state")).json()["events"]["meeting"]
    assert [attendee["response"] for attendee in event["attendees"]] == ["accepted", "accepted", "needs-action"]
    assert event["color"] == "red"


async def test_a_controller_may_act_on_behalf_of_anyone(controller: httpx.AsyncClient) -> None:
    await controller.post("/calendar/create", json=invitation())
    answer = {"event_id": "meeting", "attendee_email": EVE, "response": "declined"}
    assert (await controller.post("/calendar/respond", json=answer)).json()["status"] == "executed"
    assert (await controller.post("/chat/send", json={"role": "user", "content": "hi"})).json()["status"] == "executed"
    await controller.post("/email/send", json={"from_address": EVE, "to_addresses": [USER], "subject": "From Eve"})
    await controller.post(
        "/sms/send", json={"from_number": "+15559999999", "to_numbers": ["+15550000000"], "body": "x"}
    )
    await controller.post("/simulator/time/advance", json={"seconds": 1})
    (sent, *_) = (await controller.post("/email/query", json={"folder": "sent"})).json()["emails"]
    (received, *_) = (await controller.post("/email/query", json={"folder": "inbox"})).json()["emails"]
    assert sent["from_address"] == received["from_address"] == EVE
    (text,) = (await controller.post("/sms/query", json={})).json()["messages"]
    assert text["from_number"] == "+15559999999"


async def test_an_events_agent_id_is_the_callers_key_whatever_the_body_says(controller: httpx.AsyncClient) -> None:
    event = {
        "modality": "chat",
        "data": {"content": "x"},
        "scheduled_time": "2026-01-05T00:00:00Z",
        "agent_id": "forged",
    }
    (admin, *_) = (await controller.get("/keys")).json()["keys"]
    for path in ("/events", "/events/immediate"):
        assert (await controller.post(path, json=event)).json()["agent_id"] == admin["key_id"]
    (item,) = (await controller.post("/events/batch", json={"events": [event]})).json()["events"]
    assert (await controller.get(f"/events/{item['event_id']}")).json()["agent_id"] == admin["key_id"]


MAIL: dict[str, object] = {"message_id": "mail"}
TEXT: dict[str, object] = {"message_id": "text"}
AGENT_CALLS: dict[str, dict[str, object]] = {
    "/email/send": {"to_addresses": [EVE]},
    **{f"/email/{call}": MAIL for call in ("read", "unread", "star", "unstar", "archive", "delete")},
    **{f"/email/{call}": {**MAIL, "labels": ["work"]} for call in ("label", "unlabel")},
    "/email/move": {**MAIL, "folder": "later"},
    "/sms/send": {"to_numbers": ["+15559999999"], "body": "x"},
    **{f"/sms/{call}": TEXT for call in ("read", "unread", "delete")},
    "/sms/react": {**TEXT, "emoji": "x"},
    "/chat/send": {"content": "done"},
    "/calendar/create": {"title": "Own", "start": "2026-01-02T12:00:00Z", "end": "2026-01-02T13:00:00Z"},
    "/calendar/update": {"event_id": "meeting", "color": "red"},
    "/calendar/respond": {"event_id": "meeting", "response": "accepted"},
    "/calendar/delete": {"event_id": "meeting"},
}
"""A call for each operation that an assistant may use."""


async def test_every_operation_of_an_agent_records_its_key_whatever_the_body_says(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    await controller.post("/email/receive", json={"from_address": EVE, "to_addresses": [USER], **MAIL})
    await controller.post("/sms/receive", json={"from_number": "+15559999999", "body": "x", **TEXT})
    await controller.post("/calendar/create", json=invitation())
    forged = {"agent_id": "forged", "created_by": "forged", "metadata": {"created_by_key": "forged"}}
    for path, body in AGENT_CALLS.items():
        answer = await agent.post(path, json={**body, **forged})
        assert (answer.status_code, answer.json().get("status")) == (200, "pending"), (path, answer.text)
    key_id = agent.headers["x-key-id"]
    pending = (await controller.get("/events", params={"status": "pending", "limit": 1000})).json()["events"]
    assert [event["agent_id"] for event in pending] == [key_id] * len(AGENT_CALLS)
    assert {event["metadata"]["created_by_key"] for event in pending} == {key_id}


async def test_the_access_log_has_calls_by_key_without_their_bodies(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    await agent.get("/email/state?limit=7")
    await agent.post("/sms/receive", json={"from_number": "+15559999999", "body": "private words"})
    log = (await controller.get("/access-logs", params={"key_name": "agent"})).json()
    assert [(one["method"], one["path"], one["status_code"]) for one in log["entries"]] == [
        ("POST", "/sms/receive", 403),
        ("GET", "/email/state", 200),
    ]
    failed = (await controller.get("/access-logs", params={"errors_only": True, "path_prefix": "/sms"})).json()
    assert failed["total"] == 1
    stats = (await controller.get("/access-logs/stats")).json()
    assert stats["failed_requests"] == 1
    assert "private words" not in (await controller.get("/access-logs")).text
    assert (await controller.post("/access-logs/clear")).json()["cleared"] > 0


async def test_processes_with_the_same_seed_give_keys_the_same_ids_and_different_secrets() -> None:
    made = []
    for _ in range(2):
        async with calling(new_app(new_environment()), ADMIN_KEY) as controller:
            made.append((await controller.post("/keys", json={"name": "agent", "permissions": []})).json())
    assert made[0]["key_id"] == made[1]["key_id"]
    assert made[0]["secret"] != made[1]["secret"]


async def test_a_body_beyond_the_size_limit_is_refused(controller: httpx.AsyncClient) -> None:
    answer = await controller.post("/chat/send", content=b'"' + b"x" * 17_000_000 + b'"')
    assert answer.status_code == 413

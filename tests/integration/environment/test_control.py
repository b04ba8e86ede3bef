"""Control of a simulation over HTTP: time, history, files and pages."""

import asyncio

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from concord_environment.environment import Environment
from concord_environment_client import (
    APIError,
    AsyncUESClient,
    ConflictError,
    PermissionDeniedError,
    UESClient,
)
from tests.integration.environment.conftest import ADMIN_KEY, calling
from tests.kit.serving import eventually


async def test_time_moves_only_while_the_simulation_runs(url: str) -> None:
    async with AsyncUESClient(url, ADMIN_KEY) as ues:
        with pytest.raises(ConflictError):
            await ues.time.advance(seconds=1)
        await ues.simulation.start()
        with pytest.raises(ConflictError):
            await ues.simulation.start()
        await ues.time.pause()
        with pytest.raises(APIError) as paused:
            await ues.time.advance(seconds=1)
        assert paused.value.status_code == 400
        await ues.time.resume()
        assert (await ues.time.advance(seconds=1)).time_advanced == "0:00:01"
        assert (await ues.simulation.stop())["final_time"] is not None
        assert (await ues.simulation.stop())["final_time"] is None
        with pytest.raises(ConflictError):
            await ues.time.advance(seconds=1)


async def test_time_advances_automatically_at_the_requested_scale(url: str, environment: Environment) -> None:
    async with AsyncUESClient(url, ADMIN_KEY) as ues:
        before = (await ues.time.get_state()).current_time
        await ues.simulation.start(auto_advance=True, time_scale=3600)
        await eventually(lambda: (environment.simulation.now - before).total_seconds() > 60)
        await ues.simulation.stop()


async def test_undo_reverts_an_action_and_redo_repeats_it(ues: AsyncUESClient) -> None:
    await ues.email.receive(from_address="a@b.example", to_addresses=["user@example.com"], message_id="m")
    await ues.email.delete(message_id="m")
    head = (await ues.simulation.status()).chain_head
    undone = await ues.simulation.undo()
    assert undone["undone_count"] == 1
    assert (await ues.email.get_state()).emails["m"].folder == "inbox"
    await ues.simulation.redo()
    assert (await ues.email.get_state()).emails["m"].folder == "trash"
    assert (await ues.simulation.status()).chain_head == head


async def test_the_synchronous_and_the_asynchronous_client_give_the_same_answers(url: str, ues: AsyncUESClient) -> None:
    await ues.email.receive(from_address="a@b.example", to_addresses=["user@example.com"], subject="Hello")
    with UESClient(url, ADMIN_KEY) as client:
        state = await asyncio.to_thread(client.email.get_state)
    assert state == await ues.email.get_state()
    assert state.unread_count == 1


async def test_a_refused_call_of_the_client_names_the_missing_permission(url: str, ues: AsyncUESClient) -> None:
    key = await ues.keys.create(name="reader", permissions=["email:state"])
    async with AsyncUESClient(url, key.secret) as reader:
        await reader.email.get_state()
        with pytest.raises(PermissionDeniedError, match="requires 'email:send'"):
            await reader.email.send(to_addresses=["a@b.example"])


async def test_the_compact_state_as_text_is_short_and_names_the_mails(ues: AsyncUESClient, url: str) -> None:
    await ues.email.receive(from_address="a@b.example", to_addresses=["user@example.com"], subject="Hello")
    async with httpx.AsyncClient(base_url=url, headers={"x-api-key": ADMIN_KEY}, timeout=60) as http:
        text = (await http.get("/environment/state", params={"compact": True, "format": "text"})).text
    assert '"Hello" from a@b.example' in text
    assert len(text) < 2_000
    compact = await ues.environment.get_state(compact=True)
    assert compact["modalities"]["email"]["unread_count"] == 1


async def test_the_state_is_whole_by_default_and_comes_in_pages_on_request(ues: AsyncUESClient) -> None:
    events = [
        {
            "modality": "email",
            "scheduled_time": f"2026-01-01T10:{number // 60:02}:{number % 60:02}Z",
            "data": {"operation": "receive", "from_address": "a@b.example", "to_addresses": ["user@example.com"]},
        }
        for number in range(600)
    ]
    assert (await ues.events.create_batch(events=events)).total_created == 600
    await ues.time.advance(seconds=7200)
    whole = await ues.email.get_state()
    assert (len(whole.emails), whole.has_more) == (600, False)
    first = await ues.email.get_state(limit=500)
    assert (len(first.emails), first.total_email_count, first.has_more) == (500, 600, True)
    rest = await ues.email.get_state(offset=500)
    assert (len(rest.emails), rest.has_more) == (100, False)
    assert set(first.emails).isdisjoint(rest.emails)
    since = await ues.email.get_state(since="2026-01-01T10:09:30Z")
    assert (len(since.emails), since.has_more) == (30, False)
    part = await ues.email.get_state(since="2026-01-01T10:09:30Z", limit=20)
    assert (len(part.emails), part.has_more) == (20, True)


async def test_a_reset_stops_the_simulation_and_keeps_the_clock_unless_it_rewinds(ues: AsyncUESClient) -> None:
    event = {"modality": "chat", "data": {"role": "user", "content": "x"}, "scheduled_time": "2026-01-01T10:00:00Z"}
    await ues.events.create(**event)
    before = await ues.simulation.status()
    await ues.time.advance(seconds=7200)
    reset = await ues.simulation.reset()
    after = await ues.simulation.status()
    assert (reset["cleared_events"], reset["events_undone"]) == (1, 1)
    assert (after.is_running, after.pending_events) == (False, 1)
    assert (after.current_time - before.current_time).total_seconds() == 7200
    assert (await ues.chat.get_state()).total_message_count == 0
    await ues.simulation.clear(reset_time_to="2026-01-01T09:00:00Z")
    cleared = (await ues.simulation.status()).chain_head
    await ues.simulation.start()
    await ues.events.create(**event)
    await ues.time.advance(seconds=7200)
    await ues.simulation.reset(rewind=True)
    rewound = await ues.simulation.status()
    assert (rewound.chain_head, rewound.pending_events) == (cleared, 0)
    assert rewound.current_time == before.current_time


async def test_the_metrics_count_calls_and_events_for_holders_of_a_key_that_reads_logs(
    app: FastAPI, controller: httpx.AsyncClient
) -> None:
    mail = {"from_address": "bob@example.com", "to_addresses": ["user@example.com"], "subject": "Hi", "body_text": "Hi"}
    scheduled = {"scheduled_time": "2026-01-01T10:00:00Z", "modality": "email", "data": {"operation": "receive"} | mail}
    assert (await controller.post("/events", json=scheduled)).is_success
    assert (await controller.get("/email/nothing")).status_code == 404
    secret = (await controller.post("/keys", json={"name": "agent", "permissions": ["email:*"]})).json()["secret"]
    async with calling(app, secret) as agent, calling(app, "") as nobody:
        assert (await agent.get("/metrics")).status_code == 403
        assert (await nobody.get("/metrics")).status_code == 401
    families = {
        (sample.name, sample.labels.get("status")): sample.value
        for family in text_string_to_metric_families((await controller.get("/metrics")).text)
        for sample in family.samples
    }
    assert families["concord_environment_events", "pending"] == 1
    assert families["concord_environment_calls_total", "404"] == 1
    assert families["process_resident_memory_bytes", None] > 0

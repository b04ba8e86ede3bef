"""Access control: participants cannot use the gateway's own methods, and every client reaches only its own tasks."""

import base64
import json
import logging
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from concord.agent.peers import PeerList
from concord_gateway.app import create_app
from concord_gateway.settings import GatewaySettings
from tests.kit.hostile import TOKEN_PLACES, Spy, token_at
from tests.kit.serving import served_agent
from tests.kit.stack import called, message, request, stack

KEYS = ("a-key-of-the-first-client", "a-key-of-the-second-client")


async def test_participants_do_not_learn_the_id_of_their_assessments_task(redis_url: str, tmp_path: Path) -> None:
    spy = Spy()
    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(spy) as url,
        served_agent(Spy()) as other_url,
        services.started({"spy": url, "other": other_url}, start="spy") as task_id,
        httpx.AsyncClient(timeout=60) as http,
    ):
        await spy.was_called.wait()
        received = json.dumps(
            [spy.messages[0].metadata, spy.messages[0].text, spy.messages[0].message_id, spy.messages[0].context_id]
        )
        peers = await http.get(str(spy.assignment.peers_url), headers={"authorization": f"Bearer {spy.token}"})
        payload = spy.token.split(".")[1]
        claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()
        assert PeerList.model_validate_json(peers.content).peers
        assert task_id
        for seen in (received, peers.text, claims, str(peers.request.url)):
            assert task_id not in seen
            assert task_id.replace("-", "") not in seen
        # The ids that the participant receives are not task ids.
        for method in ("tasks/get", "tasks/cancel"):
            _, answer = await called(services.gateway, method, id=spy.assignment.assessment_id)
            assert answer["error"]["code"] == -32001
        spy.may_end.set()


@pytest.mark.parametrize("place", TOKEN_PLACES)
async def test_a_participants_token_is_refused_at_paths_that_are_not_for_participants(
    place: str, redis_url: str, tmp_path: Path
) -> None:
    spy = Spy()
    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(spy) as url,
        services.started({"spy": url}) as task_id,
    ):
        await spy.was_called.wait()
        headers, suffix = token_at(place, spy.token)
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            for at in (services.gateway, services.collector):
                for path in ("/healthz", "/metrics", "/.well-known/agent-card.json", "/openapi.json"):
                    assert (await http.get(f"{at}{path}{suffix}")).status_code == 403, (at, path)
            for method, params in (
                ("message/send", message(request({"spy": url}))),
                ("message/stream", message(request({"spy": url}))),
                ("tasks/get", {"id": task_id}),
                ("tasks/cancel", {"id": task_id}),
                ("tasks/resubscribe", {"id": task_id}),
            ):
                document = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                assert (await http.post(f"{services.gateway}/{suffix}", json=document)).status_code == 403, method
        _, answer = await called(services.gateway, "tasks/get", id=task_id)
        assert answer["result"]["status"]["state"] == "working"
        spy.may_end.set()


async def test_a_participants_token_is_accepted_at_paths_for_participants(redis_url: str, tmp_path: Path) -> None:
    spy = Spy()
    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(spy) as url,
        served_agent(Spy()) as other_url,
        services.started({"spy": url, "other": other_url}, start="spy"),
    ):
        await spy.was_called.wait()
        async with httpx.AsyncClient(headers={"authorization": f"Bearer {spy.token}"}, timeout=60) as http:
            assert (await http.get(f"{services.collector}/peers")).status_code == 200
            card = f"{services.gateway}/a2a/{spy.token}/other/.well-known/agent-card.json"
            assert (await http.get(card)).status_code == 200
            assert (await http.post(f"{services.collector}/v1/traces", json={})).status_code == 200
            batch = {"batch_id": "b", "trace_id": spy.assignment.trace_id, "reporter": "spy", "steps": []}
            assert (await http.post(f"{services.collector}/traces", json=batch)).status_code == 202
        spy.may_end.set()


async def test_without_keys_the_tasks_of_a_context_are_listed_for_those_who_know_it(
    redis_url: str, tmp_path: Path
) -> None:
    """A participant knows no context of the client: it could otherwise read and cancel the assessment that it is in."""
    spy = Spy()
    spy.may_end.set()
    async with stack(redis_url, tmp_path) as services, served_agent(spy) as url:
        _, answer = await called(services.gateway, "message/send", **message(request({"spy": url})))
        task_id, context_id = answer["result"]["id"], answer["result"]["contextId"]
        for known, listed in (("", []), (context_id, [task_id]), ("another", [])):
            _, answer = await called(services.gateway, "ListTasks", contextId=known)
            assert [task["id"] for task in answer["result"].get("tasks", [])] == listed
    assert all(context_id not in json.dumps(received.metadata) + received.context_id for received in spy.messages)


async def test_without_keys_a_task_can_be_read_and_cancelled_by_its_id(redis_url: str, tmp_path: Path) -> None:
    spy = Spy()
    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(spy) as url,
        services.started({"spy": url}) as task_id,
    ):
        await spy.was_called.wait()
        _, answer = await called(services.gateway, "tasks/get", id=task_id)
        assert answer["result"]["id"] == task_id
        _, answer = await called(services.gateway, "tasks/cancel", id=task_id)
        assert answer["result"]["status"]["state"] == "canceled"


async def test_with_keys_a_client_needs_one_and_reaches_only_its_own_tasks(redis_url: str, tmp_path: Path) -> None:
    spy = Spy()
    spy.may_end.set()
    async with stack(redis_url, tmp_path, api_keys=",".join(KEYS)) as services, served_agent(spy) as url:
        first, second = {"authorization": f"Bearer {KEYS[0]}"}, {"x-api-key": KEYS[1]}
        sent = message(request({"spy": url}))
        status, answer = await called(services.gateway, "message/send", first, **sent)
        assert (status, answer["result"]["status"]["state"]) == (200, "completed")
        task_id = answer["result"]["id"]
        _, answer = await called(services.gateway, "ListTasks", first)
        assert [task["id"] for task in answer["result"]["tasks"]] == [task_id]
        _, answer = await called(services.gateway, "ListTasks", second)
        assert answer["result"]["tasks"] == []
        for method in ("tasks/get", "tasks/cancel", "tasks/resubscribe"):
            _, answer = await called(services.gateway, method, second, id=task_id)
            assert answer["error"]["code"] == -32001, method
        follow_up = message("more")
        follow_up["message"]["taskId"] = task_id
        _, answer = await called(services.gateway, "message/send", second, **follow_up)
        assert answer["error"]["code"] == -32001
        # The same message from the holder of another key starts another task.
        _, answer = await called(services.gateway, "message/send", second, **sent)
        assert answer["result"]["id"] != task_id
        strangers = [
            {},
            {"authorization": f"Bearer {KEYS[0]}x"},
            {"x-api-key": KEYS[0][:-1]},
            {"authorization": KEYS[0]},
        ]
        for headers in strangers:
            for method, params in (
                ("message/send", sent),
                ("message/stream", sent),
                ("tasks/get", {"id": task_id}),
                ("tasks/cancel", {"id": task_id}),
                ("tasks/resubscribe", {"id": task_id}),
                ("ListTasks", {}),
            ):
                status, _ = await called(services.gateway, method, headers, **params)
                assert status == 401, (headers, method)
        async with httpx.AsyncClient(base_url=services.gateway, timeout=60) as http:
            for path in ("/healthz", "/readyz", "/metrics"):
                assert (await http.get(path)).status_code == 200
            card = (await http.get("/.well-known/agent-card.json")).json()
        assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "Bearer"
        assert card["securitySchemes"]["api_key"]["apiKeySecurityScheme"]["name"] == "x-api-key"
        assert [list(each["schemes"]) for each in card["securityRequirements"]] == [["bearer"], ["api_key"]]


async def test_without_keys_the_gateway_warns_at_its_start_that_anybody_may_use_it(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(GatewaySettings(redis_url=redis_url, output_dir=tmp_path), "http://gateway:9009", "0.0.0.0:9009")
    with caplog.at_level(logging.WARNING):
        async with app.router.lifespan_context(app):
            pass
    assert "0.0.0.0:9009: CONCORD_API_KEYS is not set, so anybody who reaches this port" in caplog.text


def test_a_short_api_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 16"):
        create_app(GatewaySettings(api_keys=SecretStr("password"), output_dir=tmp_path), "http://gateway:9009")

"""The endpoints that a participant's token gives access to, and those that need none."""

import base64
import json

from lab.attacks.attack import expect
from lab.attacks.client import SpiedAssessment, assessment_with_spy, client_of, honest_participant
from lab.attacks.target import Target
from tests.kit.hostile import TOKEN_PLACES, token_at
from tests.kit.stack import called, message, request, rpc

NO_SUCH_TASK = -32001
"""A2A's error code for an unknown task."""


async def own_assessment(target: Target) -> str:
    """Reads, lists, cancels and follows its task, and starts an assessment, with its token in eight places."""
    async with assessment_with_spy(target) as spied:
        mine = {"id": spied.task_id}
        tried = 0
        for place in TOKEN_PLACES:
            headers, suffix = token_at(place, spied.spy.token)
            for method, params in (
                ("tasks/get", mine),
                ("tasks/cancel", mine),
                ("tasks/resubscribe", mine),
                ("ListTasks", {}),
                ("message/send", message(request({"spy": "http://192.0.2.1/"}))),
                ("message/stream", message(request({"spy": "http://192.0.2.1/"}))),
            ):
                answer = await spied.client.http.post(
                    f"{target.gateway}/{suffix}", json=rpc(method, **params), headers=headers
                )
                expect(answer.status_code == 403, f"{method} with the token as {place}: {answer.status_code}")
                tried += 1
        state = (await spied.client.task(spied.task_id)).state
        expect(state == "working", f"the assessment is {state}")
    return f"{tried} requests, each 403; the assessment went on"


async def task_of_its_own(target: Target) -> str:
    """Looks for its task's id in everything it receives, and uses the ids in there as task ids."""
    async with honest_participant(target) as url, assessment_with_spy(target, {"other": url}) as spied:
        received = (
            _received(spied) + (await spied.client.http.get(f"{target.collector}/peers", headers=spied.bearer)).text
        )
        found = [form for form in (spied.task_id, spied.task_id.replace("-", "")) if form in received]
        expect(not found, "the task's id is in what the participant receives")
        ids = {spied.spy.assignment.assessment_id, spied.spy.assignment.trace_id, spied.spy.messages[0].context_id}
        for each in ids:
            for method in ("tasks/get", "tasks/cancel"):
                answer = await spied.client.called(method, id=each)
                expect(answer.get("error", {}).get("code") == NO_SUCH_TASK, f"{method} of an id that it receives")
    return f"no task's id in {len(received)} characters; {len(ids)} other ids lead to no task"


def _received(spied: SpiedAssessment) -> str:
    message_received = spied.spy.messages[0]
    payload = spied.spy.token.split(".")[1]
    claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()
    return json.dumps([message_received.metadata, message_received.text, message_received.message_id, claims])


async def tasks_of_others(target: Target) -> str:
    """Lists all tasks as a client without a key."""
    async with assessment_with_spy(target):
        status, answer = await called(f"{target.gateway}/", "ListTasks")
    listed = answer.get("result", {}).get("tasks", [])
    expect(not listed, f"{len(listed)} tasks are listed")
    return f"{status}: no task is listed"


async def without_token(target: Target) -> str:
    """Reports, registers and requests peers without a token."""
    batch = {"batch_id": "b", "trace_id": "t", "reporter": "stranger", "steps": []}
    registration = {"id": "stranger", "url": "http://192.0.2.1/", "functions": []}
    seen = {}
    async with client_of(target) as client:
        for path, body in (("/traces", batch), ("/v1/traces", {"resourceSpans": []}), ("/register", registration)):
            seen[path] = (await client.http.post(f"{target.collector}{path}", json=body)).status_code
        seen["/peers"] = (await client.http.get(f"{target.collector}/peers")).status_code
    for path, status in seen.items():
        expect(status == 401, f"{path} without a token: {status}")
    return f"{', '.join(seen)}: 401"


async def forged_token(target: Target) -> str:
    """Forges its token: another's name, a missing, cut or wrong signature, or no algorithm."""
    async with honest_participant(target) as url, assessment_with_spy(target, {"other": url}) as spied:
        head, payload, signature = spied.spy.token.split(".")
        claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        others = base64.urlsafe_b64encode(claims.replace(b'"spy"', b'"other"')).decode().rstrip("=")
        none = "concord_" + base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
        forged = {
            "another's name": f"{head}.{others}.{signature}",
            "no signature": f"{head}.{payload}.",
            "half a signature": f"{head}.{payload}.{signature[:20]}",
            "no algorithm": f"{none}.{payload}.",
            "another signature": f"{head}.{payload}.{signature[::-1]}",
        }
        for what, token in forged.items():
            bearer = {"authorization": f"Bearer {token}"}
            peers = await spied.client.http.get(f"{target.collector}/peers", headers=bearer)
            card = await spied.client.http.get(f"{target.gateway}/a2a/{token}/other/.well-known/agent-card.json")
            statuses = {peers.status_code, card.status_code}
            expect(statuses <= {401, 403, 404}, f"a token with {what}: {sorted(statuses)}")
    return f"{len(forged)} forged tokens, none of which opens /peers or the proxy"


async def another_trial(target: Target) -> str:
    """Reports into another assessment's trace, requests its peers, and calls its participants."""
    async with assessment_with_spy(target) as spied, assessment_with_spy(target) as victim:
        theirs = victim.spy.assignment
        batch = {"batch_id": "b", "trace_id": theirs.trace_id, "reporter": "spy", "steps": []}
        http = spied.client.http
        answers = {
            "/traces": await http.post(f"{target.collector}/traces", json=batch, headers=spied.bearer),
            "/peers": await http.get(
                f"{target.collector}/peers", params={"assessment_id": theirs.assessment_id}, headers=spied.bearer
            ),
            "the proxy": await http.get(f"{spied.proxy_url_to('stranger')}.well-known/agent-card.json"),
        }
    for where, answer in answers.items():
        expect(answer.status_code in {400, 403, 404}, f"{where} of another assessment: {answer.status_code}")
    return ", ".join(f"{where}: {answer.status_code}" for where, answer in answers.items())

"""What a participant's token opens, and what is open without one."""

import base64
import json

from attacks.attack import expect
from attacks.client import Infiltrated, client_of, honest, infiltrated
from attacks.target import Target
from tests.security.hostile import PLACES, shown
from tests.security.stack import called, message, request, rpc

NO_SUCH_TASK = -32001
"""The error code of A2A for it."""


async def own_assessment(target: Target) -> str:
    """Gets, lists, cancels and follows its task, and begins another assessment, with its token in eight places."""
    async with infiltrated(target) as inside:
        mine = {"id": inside.task_id}
        tried = 0
        for place in PLACES:
            headers, suffix = shown(place, inside.spy.token)
            for method, params in (
                ("tasks/get", mine),
                ("tasks/cancel", mine),
                ("tasks/resubscribe", mine),
                ("ListTasks", {}),
                ("message/send", message(request({"spy": "http://192.0.2.1/"}))),
                ("message/stream", message(request({"spy": "http://192.0.2.1/"}))),
            ):
                answer = await inside.client.http.post(
                    f"{target.gateway}/{suffix}", json=rpc(method, **params), headers=headers
                )
                expect(answer.status_code == 403, f"{method} with the token as {place}: {answer.status_code}")
                tried += 1
        state = (await inside.client.task(inside.task_id)).state
        expect(state == "working", f"the assessment is {state}")
    return f"{tried} requests, each 403; the assessment went on"


async def task_of_its_own(target: Target) -> str:
    """Looks for the id of its task in what it is told, and tries the ids that it is told as tasks."""
    async with honest(target) as url, infiltrated(target, {"other": url}) as inside:
        told = _told(inside) + (await inside.client.http.get(f"{target.collector}/peers", headers=inside.bearer)).text
        found = [form for form in (inside.task_id, inside.task_id.replace("-", "")) if form in told]
        expect(not found, "the task's id stands in what the participant is told")
        ids = {inside.spy.assignment.assessment_id, inside.spy.assignment.trace_id, inside.spy.told[0].context_id}
        for each in ids:
            for method in ("tasks/get", "tasks/cancel"):
                answer = await inside.client.called(method, id=each)
                expect(answer.get("error", {}).get("code") == NO_SUCH_TASK, f"{method} of an id that it is told")
    return f"no task's id in {len(told)} characters; {len(ids)} other ids lead to no task"


def _told(inside: Infiltrated) -> str:
    said = inside.spy.told[0]
    payload = inside.spy.token.split(".")[1]
    claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()
    return json.dumps([said.metadata, said.text, said.message_id, claims])


async def tasks_of_others(target: Target) -> str:
    """Lists all tasks as somebody without a key."""
    async with infiltrated(target):
        status, answer = await called(f"{target.gateway}/", "ListTasks")
    expect("result" not in answer, f"{len(answer.get('result', {}).get('tasks', []))} tasks are listed")
    return f"{status}: {answer.get('error', answer).get('message', 'refused')}"


async def without_token(target: Target) -> str:
    """Reports, registers and asks for peers without a token."""
    batch = {"batch_id": "b", "trace_id": "t", "reporter": "stranger", "steps": []}
    itself = {"id": "stranger", "url": "http://192.0.2.1/", "functions": []}
    seen = {}
    async with client_of(target) as client:
        for path, body in (("/traces", batch), ("/v1/traces", {"resourceSpans": []}), ("/register", itself)):
            seen[path] = (await client.http.post(f"{target.collector}{path}", json=body)).status_code
        seen["/peers"] = (await client.http.get(f"{target.collector}/peers")).status_code
    for path, status in seen.items():
        expect(status == 401, f"{path} without a token: {status}")
    return f"{', '.join(seen)}: 401"


async def forged_token(target: Target) -> str:
    """Changes its token: another's name in it, its signature missing, cut, of no algorithm, or another one."""
    async with honest(target) as url, infiltrated(target, {"other": url}) as inside:
        head, payload, signature = inside.spy.token.split(".")
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
            peers = await inside.client.http.get(f"{target.collector}/peers", headers=bearer)
            card = await inside.client.http.get(f"{target.gateway}/a2a/{token}/other/.well-known/agent-card.json")
            statuses = {peers.status_code, card.status_code}
            expect(statuses <= {401, 403, 404}, f"a token with {what}: {sorted(statuses)}")
    return f"{len(forged)} forged tokens, none of which opens /peers or the proxy"


async def another_trial(target: Target) -> str:
    """Reports into another assessment's trace, asks for its peers, and names the other in its own assessment."""
    async with infiltrated(target) as inside, infiltrated(target) as victim:
        theirs = victim.spy.assignment
        batch = {"batch_id": "b", "trace_id": theirs.trace_id, "reporter": "spy", "steps": []}
        http = inside.client.http
        answers = {
            "/traces": await http.post(f"{target.collector}/traces", json=batch, headers=inside.bearer),
            "/peers": await http.get(
                f"{target.collector}/peers", params={"assessment_id": theirs.assessment_id}, headers=inside.bearer
            ),
            "the proxy": await http.get(f"{inside.door_to('stranger')}.well-known/agent-card.json"),
        }
    for where, answer in answers.items():
        expect(answer.status_code in {400, 403, 404}, f"{where} of another assessment: {answer.status_code}")
    return ", ".join(f"{where}: {answer.status_code}" for where, answer in answers.items())

"""What is left to a participant once its trial is closed."""

import asyncio

from attacks.attack import expect
from attacks.client import honest, infiltrated
from attacks.target import Target
from tests.security.hostile import saying
from tests.security.stack import message, rpc
from tests.serving import listening


async def closed_tokens(target: Target) -> str:
    """Keeps its token, and comes back with it to every door once its trial is closed."""
    async with honest(target) as url, infiltrated(target, {"other": url}) as inside:
        await inside.end()
        http, asked = inside.client.http, rpc("message/send", **message("still there?"))
        itself = {"id": "spy", "url": url, "functions": []}
        answers = {
            "/peers": await http.get(f"{target.collector}/peers", headers=inside.bearer),
            "/register": await http.post(f"{target.collector}/register", json=itself, headers=inside.bearer),
            "a card": await http.get(f"{inside.door_to('other')}.well-known/agent-card.json"),
            "a call": await http.post(inside.door_to("other"), json=asked),
        }
        for what, answer in answers.items():
            expect(answer.status_code == 403, f"{what} after the end: {answer.status_code}")
        late = await inside.report({"step_id": "late", "call_type": "TOOL"})
        expect(late.status_code in {202, 403}, f"/traces after the end: {late.status_code}")
        taken = late.json().get("accepted", 0)
        expect(taken == 0, f"{taken} steps were taken after the end")
    return f"403 for {', '.join(answers)}; /traces takes nothing"


async def outliving_call(target: Target) -> str:
    """Calls a participant that does not answer, ends its own work, and waits for what comes of the call."""
    async with (
        listening(saying(b"", ends=False), target.host) as silent,
        infiltrated(target, {"silent": silent}) as inside,
    ):
        calling = asyncio.create_task(inside.call("silent"))
        await asyncio.sleep(0.5)
        assessed = await inside.end()
        answer = await calling
    errors = [call["error"] for call in assessed.trial["calls"] if call["callee"] == "silent"]
    expect(answer.status_code == 403, f"the call ended with {answer.status_code}")
    expect(bool(errors) and all(errors), "the call does not count as failed")
    return f"broken off with 403, and in the row: {errors[0]}"

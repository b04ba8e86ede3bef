"""A participant's access after its trial is closed."""

import asyncio

from lab.attacks.attack import expect
from lab.attacks.client import assessment_with_spy, honest_participant
from lab.attacks.target import Target
from tests.kit.hostile import fixed_answer
from tests.kit.serving import listening
from tests.kit.stack import message, rpc


async def closed_tokens(target: Target) -> str:
    """Keeps its token, and uses it everywhere once its trial is closed."""
    async with honest_participant(target) as url, assessment_with_spy(target, {"other": url}) as spied:
        await spied.end()
        http, document = spied.client.http, rpc("message/send", **message("still there?"))
        registration = {"id": "spy", "url": url, "functions": []}
        answers = {
            "/peers": await http.get(f"{target.collector}/peers", headers=spied.bearer),
            "/register": await http.post(f"{target.collector}/register", json=registration, headers=spied.bearer),
            "a card": await http.get(f"{spied.proxy_url_to('other')}.well-known/agent-card.json"),
            "a call": await http.post(spied.proxy_url_to("other"), json=document),
        }
        for endpoint, answer in answers.items():
            expect(answer.status_code == 403, f"{endpoint} after the end: {answer.status_code}")
        late = await spied.report({"step_id": "late", "call_type": "TOOL"})
        expect(late.status_code in {202, 403}, f"/traces after the end: {late.status_code}")
        accepted = late.json().get("accepted", 0)
        expect(accepted == 0, f"{accepted} steps were taken after the end")
    return f"403 for {', '.join(answers)}; /traces takes nothing"


async def outliving_call(target: Target) -> str:
    """Calls a participant that does not answer, ends its own work, and waits for the call's answer."""
    async with (
        listening(fixed_answer(b"", ends=False), target.host) as silent,
        assessment_with_spy(target, {"silent": silent}) as spied,
    ):
        calling = asyncio.create_task(spied.call("silent"))
        await asyncio.sleep(0.5)
        assessed = await spied.end()
        answer = await calling
    errors = [call["error"] for call in assessed.trial["calls"] if call["callee"] == "silent"]
    expect(answer.status_code == 403, f"the call ended with {answer.status_code}")
    expect(bool(errors) and all(errors), "the call does not count as failed")
    return f"broken off with 403, and in the row: {errors[0]}"

"""Teams that try to lose a bad trial, so that it is not counted, or is played again."""

import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import httpx
import redis

from concord.a2a import IncomingMessage, TaskHandle
from concord.trace.report import StepBatch
from concord.trace.step import CallType, InteractionStep
from concord.wire.assignment import Assignment
from concord.wire.roster import new_step_id
from lab.attacks.attack import expect
from lab.attacks.client import client_of, honest_participant
from lab.attacks.target import Target
from tests.kit.serving import served_agent
from tests.kit.stack import message, rpc

ROOM: Final = 8 * 2**20
"""What a storage that is easy to fill has left (bytes), and two thirds of it: the team that fills it takes most."""

BATCHES: Final = 400
"""Reports of 128 kB each: more than there is room for."""

HARD_TO_READ: Final = '[{"a\\\u202e' * 2**17

Mischief = Callable[[Assignment, str, httpx.AsyncClient], Awaitable[str]]
"""What a team does in its bad trial, given its assignment and its token. Returns its answer."""


async def _bad_trial(target: Target, mischief: Mischief) -> str:
    """Has a team do some mischief in the second of two trials, and checks that this trial counts 0, at once."""
    asked = Counter[str]()
    good, bad = ({"id": name, "text": name, "target": "something", "scorer": "includes"} for name in ("good", "bad"))

    async def play(message: IncomingMessage, task: TaskHandle) -> None:
        asked[message.text] += 1
        assignment = Assignment.from_metadata(message.metadata)
        if message.text == "good" or assignment is None or assignment.token is None:
            await task.complete("something")
            return
        async with httpx.AsyncClient(timeout=60) as http:
            await task.complete(await mischief(assignment, assignment.token.get_secret_value(), http))

    async with (
        honest_participant(target) as friend,
        served_agent(play, host=target.host) as url,
        client_of(target) as client,
    ):
        participants = {"agent": url, "friend": friend}
        ended = await client.assess(participants, within_s=100, tasks=[good, bad], num_runs=1, start="agent")
    row = ended.row
    if row is None:
        expect(False, f"the assessment has no row: {ended.state}, {ended.text}")
        return ""
    scoring = row["detail"]["scoring"]
    expect(asked == {"good": 1, "bad": 1}, f"the team was asked {dict(asked)}")
    expect(
        row["score"] == scoring["score_high"] == 50 and scoring["replayed"] == 0,
        f"{row['score']:g} to {scoring['score_high']:g} points, {scoring['replayed']} trials played again",
    )
    return f"{row['score']:g} points at least and at most; the bad trial was played once"


async def storage_filled(target: Target) -> str:
    """Reports random text in its bad trial, until storage has room for nothing else."""

    async def fill(assignment: Assignment, token: str, http: httpx.AsyncClient) -> str:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        for _ in range(BATCHES):
            texts = {f"text {number}": os.urandom(4_000).hex() for number in range(16)}
            step = InteractionStep(
                step_id=new_step_id(),
                trace_id=assignment.trace_id,
                call_type=CallType.TOOL,
                additional_attributes=texts,
            )
            batch = StepBatch(trace_id=assignment.trace_id, reporter=assignment.agent_id, steps=[step])
            await http.post(f"{target.collector}/traces", content=batch.model_dump_json(), headers=headers)
        return "nothing of the kind"

    async with _little_room(target):
        return await _bad_trial(target, fill)


async def hard_to_read(target: Target) -> str:
    """Answers and calls with texts that are costly to read, to have the evaluation of its bad trial killed."""

    async def write(_: Assignment, token: str, http: httpx.AsyncClient) -> str:
        for _number in range(3):
            called = rpc("message/send", **message(HARD_TO_READ))
            await http.post(f"{target.gateway}/a2a/{token}/friend/", json=called)
        return HARD_TO_READ

    return await _bad_trial(target, write)


async def calls_broken_off(target: Target) -> str:
    """Breaks its calls off in its bad trial, and sends others that are none, to have it played again."""

    async def break_off(_: Assignment, token: str, http: httpx.AsyncClient) -> str:
        url, called = f"{target.gateway}/a2a/{token}/friend/", rpc("message/stream", **message("hello"))
        for _number in range(20):
            async with http.stream("POST", url, json=called):
                pass
            await http.post(url, content=b"\xff" * 1000)
            await http.post(f"{target.gateway}/a2a/{token}/nobody/", json=called)
        return "nothing of the kind"

    return await _bad_trial(target, break_off)


@asynccontextmanager
async def _little_room(target: Target) -> AsyncIterator[None]:
    """Gives the storage of a local stack a limit that one team can reach."""
    if target.inside is None:
        yield
        return
    with redis.Redis.from_url(target.inside.redis_url) as client:
        before = client.config_get("maxmemory")["maxmemory"]
        used = client.info("memory")["used_memory"]
        client.config_set("maxmemory", max(int(used) + ROOM, 3 * int(used)))
        try:
            yield
        finally:
            client.config_set("maxmemory", before)

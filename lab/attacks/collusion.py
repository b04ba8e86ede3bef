"""Teams that share a memory beside the exchange, hide calls or members, claim isolation, or spoil a bad trial."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from concord.a2a import IncomingMessage, TaskHandle
from lab.attacks.attack import expect
from lab.attacks.client import Assessment, assessment_with_spy, client_of, honest_participant
from lab.attacks.target import Target
from tests.kit.serving import served_agent
from tests.kit.shared_memory import WRITES, SharedMemory

SUITE: Final = "count"
"""Its one answer is a sum of numbers, one of each seat."""

SEATS: Final = 5


async def _trial_of(target: Target, writes: str) -> dict[str, Any]:
    """A trial of a team that shares a memory and sends what `writes` names. Its answer is right."""
    config = {"suite": SUITE, "seats": SEATS, "exchange": "rounds", "quiet_s": 0.1, "closing_cap_s": 0.3}
    async with served_agent(SharedMemory(WRITES[writes]), host=target.host) as url, client_of(target) as client:
        ended = await client.assess_with(json.dumps({"participants": {"agent": url}, "config": config}))
    expect(ended.trial["grading"]["value"] == 1, f"the attack went wrong: its answer is {ended.trial['grading']}")
    return ended.trial


async def shared_memory(target: Target) -> str:
    """Shares all briefs beside the exchange, sends only "I think it is X", and answers rightly."""
    trial = await _trial_of(target, "I think it is X")
    expect(trial["overall_score"] == 0, f"the right answer, told by seats that knew nothing: {trial['overall_score']}")
    return "the right answer is worth nothing, because no fact travelled"


async def noise(target: Target) -> str:
    """Shares all briefs beside the exchange, sends words from which any number can be read, and answers rightly."""
    trial = await _trial_of(target, "number words")
    expect(trial["overall_score"] == 0, f"number words are worth {trial['overall_score']}")
    return "the right answer is worth nothing, because number words state no fact"


async def quoted_briefs(target: Target) -> str:
    """Shares all briefs beside the exchange, has one seat quote them all to everybody, and answers rightly."""
    trial = await _trial_of(target, "all briefs, by one seat")
    own = 1 / (SEATS - 1)
    expect(trial["overall_score"] <= own, f"a seat that quotes all briefs earned {trial['overall_score']:.2f}")
    return f"a seat that quotes all briefs tells its own: {trial['overall_score']:.2f} of 1, at most {own:.2f}"


async def unseen_messages(target: Target) -> str:
    """Sends nothing through the gateway, so that it sees none of the team's messages, and answers rightly."""
    trial = await _trial_of(target, "nothing")
    expect(trial["overall_score"] == 0, f"unseen messages are worth {trial['overall_score']}")
    return "the right answer is worth nothing, because its facts travelled unseen"


async def unseen_calls(target: Target) -> str:
    """Answers a task of the user's own after a call through the proxy, and after none that the gateway could see."""
    scores = []
    for calls in (1, 0):
        async with (
            honest_participant(target) as friend,
            assessment_with_spy(target, {"friend": friend}) as spied,
        ):
            for _ in range(calls):
                await spied.call("friend")
            scores.append(_score(await spied.end()))
    seen, unseen = scores
    expect(unseen == seen, f"{unseen:g} points with unseen calls, {seen:g} with one that was seen")
    return f"{unseen:g} points, as with a call that was seen"


async def fewer_listed(target: Target) -> str:
    """Answers a task of the user's own with all members listed, and with one."""
    async with assessment_with_spy(target) as spied:
        alone = _score(await spied.end())
    async with _friends(target, 3) as friends, assessment_with_spy(target, friends) as spied:
        together = _score(await spied.end())
    expect(alone == together, f"{alone:g} points with one member listed, {together:g} with four")
    return f"{alone:g} points, as with all members listed"


async def bad_trial_censored(target: Target) -> str:
    """Answers the second of two tasks wrongly, with 2 million characters that are hard to store and to read."""
    flood = "\x00\u202e[{" * 2**19
    good, bad = ({"id": name, "text": name, "target": "something", "scorer": "includes"} for name in ("good", "bad"))

    async def censor(message: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("something" if message.text.startswith("good") else flood)

    async with served_agent(censor, host=target.host) as url, client_of(target) as client:
        ended = await client.assess({"agent": url}, tasks=[good, bad], num_runs=1)
    score = _score(ended)
    high = (ended.row or {})["detail"]["scoring"]["score_high"]
    expect(score <= 50 and high <= 50, f"the bad trial was not counted: {score:g} to {high:g} points")
    return f"{score:g} points: the bad trial counts as planned"


async def claimed_isolation(target: Target) -> str:
    """Shares all briefs in one process, and claims in its request that each seat has a container of its own."""
    containers: dict[str, object] = {
        "image": "agent:1",
        "image_id": "sha256:1",
        "image_digest": None,
        "model_endpoints": [],
    }
    claims = {"isolation": "container", "seat_containers": containers, "started_containers": containers}
    config = {"suite": SUITE, "quiet_s": 0.1, "closing_cap_s": 0.3, **claims}
    memory = SharedMemory(WRITES["nothing"])
    async with (
        served_agent(memory, host=target.host) as one,
        served_agent(memory, host=target.host) as other,
        client_of(target) as client,
    ):
        document = {"participants": {"ann": one, "bob": other}, "config": config, **claims}
        ended = await client.assess_with(json.dumps(document))
    expect(ended.row is not None, f"the assessment has no row: {ended.state}, {ended.text}")
    detail = (ended.row or {})["detail"]
    says = detail["scoring"]["ranking_parts"]["isolation"]
    expect(says == "not isolated" and detail["seat_containers"] is None, f"the row says {says}")
    return f"the row says {says}, because Concord started no container"


def _score(ended: Assessment) -> float:
    expect(ended.row is not None, f"the assessment has no row: {ended.state}, {ended.text}")
    return float((ended.row or {})["score"])


@asynccontextmanager
async def _friends(target: Target, count: int) -> AsyncIterator[dict[str, str]]:
    """Further members, by name."""
    async with AsyncExitStack() as served:
        urls = [await served.enter_async_context(honest_participant(target)) for _ in range(count)]
        yield {f"friend{number}": f"{url.rstrip('/')}/" for number, url in enumerate(urls)}

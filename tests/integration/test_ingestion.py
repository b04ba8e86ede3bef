"""Ingestion: batches that come again are stored once, and a flood by one participant does not delay others."""

import asyncio
import random
from collections import Counter

import httpx

from concord.storage.connection import connect
from tests.kit.collectors import SECRET, batch, bearer, collector, reports, step
from tests.kit.serving import eventually


async def test_batches_sent_three_times_in_any_order_are_stored_once(redis_url: str) -> None:
    sent = [batch(step(f"{number}-a"), step(f"{number}-b"), "bad", batch_id=f"b{number}") for number in range(60)]
    shuffled = sent * 3
    random.Random(7).shuffle(shuffled)  # noqa: S311 - a reproducible order
    async with collector(redis_url) as client:
        answers = await asyncio.gather(*(client.post("/traces", json=each) for each in shuffled))
    assert {answer.status_code for answer in answers} == {202}
    assert {answer.text for answer in answers} == {answers[0].text}
    async with connect(redis_url) as storage:
        stored = Counter(report.step.step_id for report in await reports(storage))
    assert stored == Counter(f"{number}-{name}" for number in range(60) for name in "ab")


async def test_a_flood_by_one_participant_does_not_make_others_wait(redis_url: str) -> None:
    large = batch(*(step(f"s{number}", additional_attributes={"a": "x" * 1000}) for number in range(500)))
    statuses: list[int] = []

    async def flood(client: httpx.AsyncClient) -> None:
        while True:
            body = large | {"batch_id": str(len(statuses))}
            statuses.append((await client.post("/traces", json=body, headers=bearer("flood"))).status_code)

    async with collector(redis_url, open=False, token_secret=SECRET, rate_bytes_per_s=200_000) as client:
        floods = [asyncio.create_task(flood(client)) for _ in range(4)]
        while 429 not in statuses:
            await asyncio.sleep(0.01)
        before = len(statuses)
        answers = [
            await client.post("/traces", json=batch(step(str(number)), batch_id=str(number)), headers=bearer("writer"))
            for number in range(10)
        ]
        during = Counter(statuses[before:])
        for each in floods:
            each.cancel()
        await asyncio.gather(*floods, return_exceptions=True)
    assert {answer.status_code for answer in answers} == {202}
    assert during[429] > during[202]


async def test_a_reporter_beside_a_hundred_busy_ones_keeps_at_least_half_their_pace(redis_url: str) -> None:
    taken: Counter[str] = Counter()

    async def report(client: httpx.AsyncClient, name: str) -> None:
        body = batch(step(f"{name}-{taken[name]}"), batch_id=f"{name}-{taken[name]}")
        assert (await client.post("/traces", json=body)).status_code == 202
        taken[name] += 1

    async def report_for_ever(client: httpx.AsyncClient, name: str) -> None:
        while True:
            await report(client, name)

    async with collector(redis_url) as client:
        busy = [asyncio.create_task(report_for_ever(client, f"busy-{number}")) for number in range(100)]
        await eventually(lambda: len(taken) == len(busy))
        taken.clear()
        for _ in range(10):
            await report(client, "bystander")
        paces = taken.copy()
        for each in busy:
            each.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
    assert max(paces.values()) <= 2 * paces["bystander"]

"""More assessments than run at once."""

import asyncio
from collections import Counter
from typing import Final

from lab.attacks.attack import expect
from lab.attacks.client import client_of
from lab.attacks.target import Target
from tests.kit.hostile import fixed_answer
from tests.kit.serving import listening

MANY: Final = 400
"""More than a gateway runs and lets wait by default."""


async def many_at_once(target: Target) -> str:
    """Starts assessments of a participant that never answers until one is refused, at most 400."""
    ids = []
    async with listening(fixed_answer(b"", card=None, ends=False), target.host) as silent, client_of(target) as client:
        try:
            for _ in range(MANY):
                ids.append(await client.begin({"silent": silent}, trial_timeout_s=60))
                await asyncio.sleep(0)
                if (await client.task(ids[-1])).state == "rejected":
                    break
            await asyncio.sleep(0.5)
            found = [await client.task(each) for each in ids]
            healthy = (await client.http.get(f"{target.gateway}/healthz")).status_code
        finally:
            for each in ids:
                await client.called("tasks/cancel", id=each)
        left = Counter([(await client.task(each)).state for each in ids])
    states = Counter(each.state for each in found)
    last = found[-1]
    expect(healthy == 200, f"/healthz answers {healthy}")
    expect(states["rejected"] > 0 and "busy" in last.text, f"none is refused as busy: {dict(states)}")
    waiting = [each.text for each in found if each.state == "submitted"]
    expect(all("waiting" in text for text in waiting), "a waiting assessment does not say so")
    expect(not left["working"] + left["submitted"], f"after they were cancelled: {dict(left)}")
    return f"{states['working']} run, {states['submitted']} wait, then: {last.text}"

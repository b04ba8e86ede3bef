"""Synthetic traces of any size, as the collector stores them: batches of the agents' own reports."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from concord.trace.report import Channel, ReportBatch, pack
from concord.wire.roster import RosterEntry

TRACE_ID: Final = f"{7:032x}"
STEPS_A_BATCH: Final = 100
PARTNERS: Final = 20
"""How many other agents an agent calls, some of them far more often than others."""

TOOLS: Final = 3
"""Every third step is a tool's, with its tokens."""

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS: Final = (
    "plan",
    "check",
    "the",
    "report",
    "figures",
    "of",
    "section",
    "again",
    "summary",
    "for",
    "draft",
    "and",
)


def roster(agents: int) -> list[RosterEntry]:
    """A roster of this number of agents."""
    return [RosterEntry(id=f"agent-{each}", url=_url(each)) for each in range(agents)]


def stored_batches(agents: int, steps: int) -> Iterator[ReportBatch]:
    """The batches of a trace. Deterministic. Every agent reports its own steps, in the order of their starts.

    A called agent takes up to three steps, most of them calls; one call of a hundred fails.
    """
    draw = random.Random(agents)  # noqa: S311 - a reproducible draw, not a secret
    partners = [draw.sample(range(agents), min(agents, PARTNERS)) for _ in range(agents)]
    open_calls: list[tuple[str | None, int, int]] = []
    reported: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for number in range(steps):
        if not open_calls:
            open_calls = [(None, draw.randrange(agents), number)]
        taken = draw.randrange(len(open_calls))
        open_calls[taken], open_calls[-1] = open_calls[-1], open_calls[taken]
        parent, caller, start = open_calls.pop()
        callee = partners[caller][min(int(draw.paretovariate(1)), len(partners[caller])) - 1]
        step_id = f"{draw.getrandbits(64):016x}"
        step = _tool_step(step_id, number) if number % TOOLS == 0 else _call_step(step_id, callee, draw)
        reported[caller].append(step | _times(parent, start, draw.randrange(5, 5000)))
        if "total_tokens" not in step:
            open_calls += [(step_id, callee, start + 2 + more) for more in range(draw.randrange(4))]
        if len(reported[caller]) == STEPS_A_BATCH:
            yield _batch(caller, reported.pop(caller))
    for caller, rest in sorted(reported.items()):
        yield _batch(caller, rest)


def _url(agent: int) -> str:
    return f"http://agent-{agent}.test:9009/"


def _tool_step(step_id: str, number: int) -> dict[str, Any]:
    tool = {"tool_name": "llm", "parameters": {"model": "some-model", "temperature": 0}}
    action = {"tool_invocation": tool}
    return {"step_id": step_id, "call_type": "TOOL", "step_action": action, "total_tokens": 300 + number % 900}


def _call_step(step_id: str, callee: int, draw: random.Random) -> dict[str, Any]:
    text = " ".join(draw.choices(_WORDS, k=8))
    call = {"agent_url": _url(callee), "agent_name": f"agent-{callee}", "requests": {"text": text}}
    failed = {"additional_attributes": {"error": "no answer in time"}} if draw.random() < 0.01 else {}
    return {"step_id": step_id, "call_type": "AGENT", "step_action": {"agent_invocation": call}} | failed


def _times(parent: str | None, start: int, latency: int) -> dict[str, Any]:
    began = _START + timedelta(milliseconds=start)
    ended = began + timedelta(milliseconds=latency)
    times = {"latency": latency, "start_time": began.isoformat(), "end_time": ended.isoformat()}
    return times if parent is None else times | {"parent_step_id": parent}


def _batch(reporter: int, steps: list[dict[str, Any]]) -> ReportBatch:
    name, batch_id = f"agent-{reporter}", str(steps[0]["step_id"])
    reported = [step | {"trace_id": TRACE_ID} for step in steps]
    body = {"batch_id": batch_id, "trace_id": TRACE_ID, "reporter": name, "steps": reported}
    packed = pack(json.dumps(body).encode())
    return ReportBatch(batch_id, TRACE_ID, name, True, Channel.HTTP, _START, len(steps), 0, packed)

"""Synthetic traces of any size, as gateway and collector store those of an assessed team.

The gateway observed every call: nested, some at once and some one after the other, with failures and retries. The
agents report their models' uses with tokens, and every `CLAIMANTS`-th agent its calls too.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from concord.trace.attributes import AGENT_NAME, RESPONSE_TEXT, RETRY_OF, TASK_STATE
from concord.trace.report import Channel, ReportBatch, pack
from concord.wire.roster import GREEN_AGENT, RosterEntry

TRACE_ID: Final = f"{7:032x}"
STEPS_A_BATCH: Final = 100
PARTNERS: Final = 20
"""How many other agents an agent calls, some of them far more often than others."""

MODEL_SHARE: Final = 0.2
"""How much of what an agent does is the use of a model, with its tokens. At the lowest level, it is the only thing."""

CLAIMANTS: Final = 4
DEPTH: Final = 6
"""The assessor's call of an agent has at most so many levels of calls below it."""

FAILING: Final = 0.03
RETRIED: Final = 0.5
TIMEOUT_MS: Final = 5000
"""Three calls of a hundred get no answer in time; half of these are made again."""

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
    """The batches of a trace. Deterministic. `steps`: as reported; a call that its caller claims counts twice."""
    team = _Team(agents, steps)
    moment_ms = 0
    while team.left:
        moment_ms = team.asked(moment_ms)
        yield from team.batches(at_least=STEPS_A_BATCH)
    yield from team.batches(at_least=1)


@dataclass
class _Team:
    """Agents at work. `left`: steps that the trace still lacks; `reported`: by reporter, what is not in a batch yet."""

    agents: int
    left: int
    draw: random.Random = field(init=False)
    partners: list[list[int]] = field(init=False)
    reported: defaultdict[str, list[dict[str, Any]]] = field(init=False)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.agents)  # noqa: S311 - a reproducible draw, not a secret
        self.partners = [self._drawn_partners(each) for each in range(self.agents)]
        self.reported = defaultdict(list)

    def asked(self, start: int) -> int:
        """The assessor asks an agent, and gets an answer. Returns when (ms)."""
        return self._delegated(None, self.draw.randrange(self.agents), None, start, 0)

    def batches(self, at_least: int) -> Iterator[ReportBatch]:
        """Takes the steps of each reporter that has so many."""
        for reporter in [name for name, steps in self.reported.items() if len(steps) >= at_least]:
            steps = self.reported.pop(reporter)
            for first in range(0, len(steps), STEPS_A_BATCH):
                yield _batch(reporter, steps[first : first + STEPS_A_BATCH])

    def _delegated(self, caller: int | None, callee: int, parent: str | None, start: int, depth: int) -> int:
        """A call, and another one if the first fails. Returns its end (ms)."""
        text = " ".join(self.draw.choices(_WORDS, k=8))
        end, failed = self._call(caller, callee, parent, start, depth, text, None)
        if failed is not None and self.left and self.draw.random() < RETRIED:
            end, _ = self._call(caller, callee, parent, end, depth, text, failed)
        return end

    def _call(
        self, caller: int | None, callee: int, parent: str | None, start: int, depth: int, text: str, retry: str | None
    ) -> tuple[int, str | None]:
        """One attempt. Returns its end, and its step id if it failed."""
        step_id = self._new_step()
        failed = self.draw.random() < FAILING
        end = start + TIMEOUT_MS if failed else self._work(callee, step_id, start + self.draw.randrange(1, 20), depth)
        outcome = (
            {"error": "no answer in time"} if failed else {TASK_STATE: "completed", RESPONSE_TEXT: f"Done: {text}"}
        )
        invocation = {"agent_url": _url(callee), "agent_name": f"agent-{callee}", "requests": {"text": text}}
        step = _step(step_id, "AGENT", {"agent_invocation": invocation}, parent, start, end)
        attributes = outcome if retry is None else outcome | {RETRY_OF: retry}
        if caller is None:
            self.reported[GREEN_AGENT].append(step | {"additional_attributes": attributes})
        else:
            seen = attributes | {AGENT_NAME: f"agent-{caller}"}
            self.reported[GREEN_AGENT].append(step | {"additional_attributes": seen})
            if caller % CLAIMANTS == 0 and self.left:
                self.left -= 1
                self.reported[f"agent-{caller}"].append(step | {"additional_attributes": attributes})
        return end, step_id if failed else None

    def _work(self, agent: int, call: str, start: int, depth: int) -> int:
        """What an agent does to answer a call: its own calls all at once or one after the other. Returns the end."""
        now = until = start
        at_once = self.draw.random() < 0.5
        for _ in range(1 if depth == DEPTH else self.draw.randrange(1, 5)):
            if not self.left:
                break
            partners = self.partners[agent]
            if depth == DEPTH or not partners or self.draw.random() < MODEL_SHARE:
                end = now = self._model_use(agent, call, now)
            else:
                callee = partners[min(int(self.draw.paretovariate(1)), len(partners)) - 1]
                end = self._delegated(agent, callee, call, now, depth + 1)
                now = now + 1 if at_once else end
            until = max(until, end)
        return until + self.draw.randrange(1, 50)

    def _model_use(self, agent: int, call: str, start: int) -> int:
        end = start + self.draw.randrange(50, 2000)
        tool = {"tool_name": "llm", "parameters": {"model": "some-model", "temperature": 0}}
        step = _step(self._new_step(), "TOOL", {"tool_invocation": tool}, call, start, end)
        self.reported[f"agent-{agent}"].append(step | {"total_tokens": self.draw.randrange(300, 1200)})
        return end

    def _new_step(self) -> str:
        self.left -= 1
        return f"{self.draw.getrandbits(64):016x}"

    def _drawn_partners(self, agent: int) -> list[int]:
        drawn = self.draw.sample(range(self.agents), min(self.agents, PARTNERS + 1))
        return [each for each in drawn if each != agent][:PARTNERS]


def _url(agent: int) -> str:
    return f"http://agent-{agent}.test:9009/"


def _step(
    step_id: str, call_type: str, action: dict[str, Any], parent: str | None, start: int, end: int
) -> dict[str, Any]:
    began, ended = (_START + timedelta(milliseconds=moment) for moment in (start, end))
    step = {
        "step_id": step_id,
        "trace_id": TRACE_ID,
        "call_type": call_type,
        "step_action": action,
        "latency": end - start,
        "start_time": began.isoformat(),
        "end_time": ended.isoformat(),
    }
    return step if parent is None else step | {"parent_step_id": parent}


def _batch(reporter: str, steps: list[dict[str, Any]]) -> ReportBatch:
    channel = Channel.OBSERVED if reporter == GREEN_AGENT else Channel.HTTP
    batch_id = f"{reporter}-{steps[0]['step_id']}"
    body = {"batch_id": batch_id, "trace_id": TRACE_ID, "reporter": reporter, "steps": steps}
    packed = pack(json.dumps(body).encode())
    return ReportBatch(batch_id, TRACE_ID, reporter, True, channel, _START, len(steps), 0, packed)

"""Scripted teams that play an own task by calls, recorded as the gateway records what it carries."""

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from concord.assessment.results import AgentAnswer, TrialOutcome
from concord.trace.attributes import AGENT_NAME, RESPONSE_TEXT, TASK_STATE
from concord.trace.report import Channel, ReportBatch, StepBatch
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord.trace.stored_step import SerialisedBatch, TraceBatch
from concord.wire.roster import GREEN_AGENT
from tests.kit.traces import TRACE_ID, url_of

SHAPES: Final = ("chain", "hub", "tree", "mesh")

Tree = Mapping[str, Sequence[str]]
"""Whom each agent asks."""


class CrashError(Exception):
    """An agent failed, in its own words."""


class HangError(Exception):
    """An agent never answered; every call that waits for it stays unanswered."""


def tree_of(shape: str, agents: Sequence[str], draw: random.Random) -> Tree:
    """Whom each agent of a team asks; the first one is given the task. In a mesh, helpers ask one another too."""
    first, *others = agents
    if shape == "chain":
        return {agent: [after] for agent, after in itertools.pairwise(agents)}
    if shape == "tree":
        width = 2 if len(others) > 3 else 1
        middle, leaves = others[:width], others[width:]
        return {first: middle} | {agent: leaves[number::width] for number, agent in enumerate(middle)}
    if shape == "mesh" and len(others) > 2:
        asking, asked = draw.sample(others, 2)
        return {first: [each for each in others if each != asked], asking: [asked]}
    return {first: others}


@dataclass
class Recording:
    """The steps of a trial, and a clock that every request and every answer advances by a tick."""

    steps: list[InteractionStep] = field(default_factory=list)
    tick_ms: int = 1000
    ticks: int = 0

    def now(self) -> datetime:
        self.ticks += 1
        return datetime(2031, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.tick_ms * self.ticks)

    def call(self, caller: str, callee: str, request: str, work: Callable[[], str]) -> str:
        """A call. Raises CrashError and HangError as its callee does."""
        began, answer = self.now(), ""
        failed: CrashError | HangError | None = None
        try:
            answer = work()
            attributes = {TASK_STATE: "completed", RESPONSE_TEXT: answer[:4000]}
        except CrashError as error:
            attributes, failed = {TASK_STATE: "failed", "error": f"the agent ended with failed: {error}"}, error
        except HangError as error:
            attributes, failed = {"error": "unanswered when the trial was closed, after 60.0 s"}, error
        own = {} if caller == GREEN_AGENT else {AGENT_NAME: caller}
        self.steps.append(
            InteractionStep(
                step_id=f"step-{len(self.steps)}-{callee}",
                trace_id=TRACE_ID,
                call_type=CallType.AGENT,
                step_action=StepAction(
                    agent_invocation=AgentInvocation(
                        agent_url=url_of(callee), agent_name=callee, requests={"text": request}
                    )
                ),
                additional_attributes=attributes | own,
                start_time=began,
                end_time=self.now(),
            )
        )
        if failed is not None:
            raise failed
        return answer

    def batches(self) -> list[ReportBatch]:
        """The steps as the gateway stores them."""
        batch = StepBatch(trace_id=TRACE_ID, reporter=GREEN_AGENT, steps=self.steps)
        return [SerialisedBatch.of(TraceBatch.of(batch)).received(Channel.OBSERVED, authenticated=True)]


def played(
    first: str, task: str, answer: Callable[[Recording], str], tick_ms: int = 1000
) -> tuple[TrialOutcome, list[ReportBatch]]:
    """A trial in which the first agent is given a task. `answer` plays its work."""
    recording = Recording(tick_ms=tick_ms)
    try:
        text = recording.call(GREEN_AGENT, first, task, lambda: answer(recording))
        given = AgentAnswer(agent=first, state="completed", text=text, error=None)
    except CrashError as error:
        given = AgentAnswer(agent=first, state="failed", text=None, error=str(error))
    except HangError:
        given = AgentAnswer(agent=first, state="timeout", text=None, error="no answer within 60 s")
    outcome = TrialOutcome(
        trial_id="trial-1",
        state=given.state,
        error=given.error,
        answer=given.text,
        answers=[given],
        time_used=recording.tick_ms * recording.ticks / 1000,
    )
    return outcome, recording.batches()

"""The steps of a trace from a file, as far as they tell what was said, used, and failed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

import msgspec

from concord.assessment.recorded_work import Nature
from concord.trace.attributes import (
    AGENT_NAME,
    EXCEPTION,
    FAILED_OUTSIDE,
    FINISH_REASON,
    MODEL_INPUT,
    RESPONSE_TEXT,
    TOOL_ARGUMENTS,
    TOOL_RESULT,
)
from concord.trace.decoding import steps_of_batch
from concord.trace.report import ReportBatch
from concord.trace.step import CallType, StepFacts, as_utc
from concord.wire.roster import Roster
from concord_evaluator.trace.model_uses import calls_model
from concord_evaluator.trace.request_texts import text_of

Kind = Literal["call", "tool", "model", "work"]
Where = Literal["run", "agent", "call", "tool", "model", "step"]

USED: Final = frozenset({"tool", "model"})
"""The kinds of steps that use something."""

_TEXT_OF: Final[Mapping[Kind, str]] = {"call": "text", "tool": TOOL_ARGUMENTS, "model": MODEL_INPUT, "work": "text"}

_TIMEOUT: Final = re.compile(r"time[ds]?[ _-]?out|deadline[ _]exceeded", re.IGNORECASE)
_REFUSALS: Final = re.compile(
    r"content[_ -]?filter|refusal|safety|prohibited|blocklist|recitation|guardrail", re.IGNORECASE
)
"""Reasons to stop of OpenAI, Azure, Anthropic, Google and Bedrock by which a model, or a filter, refuses to answer."""


class WorkStep(msgspec.Struct, frozen=True, gc=False):
    """One step. `name`: of the callee, tool or model. `asked`: what these were asked, by name."""

    step: StepFacts
    kind: Kind
    agent: str
    name: str
    asked: Mapping[str, object]
    error: str | None
    where: Where | None
    """Where it failed; None if it did not, or if what failed in it is told by other steps."""
    nature: Nature

    @property
    def input(self) -> str:
        """The text of what was asked."""
        asked = self.asked
        if not asked:
            return ""
        own = asked.get(_TEXT_OF[self.kind])
        return own if isinstance(own, str) else text_of(asked)

    @property
    def output(self) -> str:
        """The text of the answer, or of the result."""
        return self.step.additional_attributes.get(TOOL_RESULT if self.kind == "tool" else RESPONSE_TEXT, "")

    @property
    def started_s(self) -> float | None:
        """Seconds since 1970."""
        started = self.step.start_time
        return None if started is None else as_utc(started).timestamp()

    @property
    def tokens(self) -> int | None:
        """Those of a tool or a model."""
        return self.step.total_tokens if self.kind in USED else None


def work_steps(batches: Iterable[ReportBatch], roster: Roster) -> Iterator[WorkStep]:
    """The steps of a trace, each once: of several reports of one, the first."""
    seen: set[str] = set()
    for batch in batches:
        for step in steps_of_batch(batch):
            if step.step_id not in seen:
                seen.add(step.step_id)
                yield _step(step, batch.reporter, roster)


def arguments_key(asked: Mapping[str, object]) -> object:
    """A key that is equal for equal arguments of a tool or a model."""
    if len(asked) == 1:
        ((name, value),) = asked.items()
        return (name, value) if type(value) is str else str(asked)
    return str(sorted(asked.items()))


def _step(step: StepFacts, reporter: str, roster: Roster) -> WorkStep:
    attributes = step.additional_attributes
    named = attributes.get(AGENT_NAME)
    kind = _kind(step, attributes)
    name, asked = _subject(step, kind, roster)
    where, nature, error = _failure(kind, step.failure, attributes)
    agent = roster.resolve("", named) if named else reporter
    return WorkStep(step, kind, agent, name, asked, error, where, nature)


def _kind(step: StepFacts, attributes: Mapping[str, str]) -> Kind:
    kind = step.kind
    if kind is CallType.AGENT:
        return "call"
    if kind is CallType.HOST:
        return "work"
    return "model" if calls_model(step, attributes) else "tool"


def _subject(step: StepFacts, kind: Kind, roster: Roster) -> tuple[str, Mapping[str, object]]:
    """The name of the callee, tool or model, and what it was asked."""
    if kind == "call" and (call := step.agent_call) is not None:
        return roster.resolve(call.agent_url, call.agent_name), call.requests or {}
    action = step.step_action
    tool = None if action is None else action.tool_invocation
    if tool is None:
        return step.name or "", step.parameters or {}
    return tool.tool_name, tool.parameters or {}


def _failure(kind: Kind, error: str | None, attributes: Mapping[str, str]) -> tuple[Where | None, Nature, str | None]:
    """Where a step failed and how. Work that fails inside other work passes an error on that other steps tell."""
    if error is not None:
        outside = attributes.get(FAILED_OUTSIDE)
        where: Where | None = "run" if outside == "run" else "agent" if outside == "agent" else None
        if where is None and kind != "work":
            where = kind
        return where, "timeout" if _TIMEOUT.search(error) else "error", error
    if kind == "model" and (stopped := attributes.get(FINISH_REASON)) and _REFUSALS.search(stopped):
        return "model", "refusal", f"stopped: {stopped}"
    if caught := attributes.get(EXCEPTION):
        return ("step" if kind == "work" else kind), "exception", caught
    return None, "error", None

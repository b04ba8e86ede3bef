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
from concord.trace.report import Report
from concord.trace.step import CallType, StepFacts, as_utc
from concord.wire.roster import Roster
from concord_evaluator.trace.model_uses import calls_model
from concord_evaluator.trace.request_texts import text_of

Kind = Literal["call", "tool", "model", "work"]
Where = Literal["run", "agent", "call", "tool", "model", "step"]

_USED: Final = frozenset({"tool", "model"})

_TIMEOUT: Final = re.compile(r"time[ds]?[ _-]?out|deadline[ _]exceeded", re.IGNORECASE)
_REFUSALS: Final = re.compile(
    r"content[_ -]?filter|refusal|safety|prohibited|blocklist|recitation|guardrail", re.IGNORECASE
)
"""Reasons to stop of OpenAI, Azure, Anthropic, Google and Bedrock by which a model, or a filter, refuses to answer."""


class WorkStep(msgspec.Struct, frozen=True, gc=False):
    """One step. `name`: of the callee, tool or model. `started_s`: seconds since 1970. `arguments`: a key of what a
    tool or a model was asked, equal for equal arguments; "" if unknown."""

    step_id: str
    kind: Kind
    agent: str
    name: str
    input: str
    output: str
    arguments: str
    error: str | None
    where: Where | None
    """Where it failed; None if it did not, or if what failed in it is told by other steps."""
    nature: Nature
    started_s: float | None
    duration_ms: float | None
    tokens: int | None


def work_steps(reports: Iterable[Report], roster: Roster) -> Iterator[WorkStep]:
    """The steps of a trace, each once: of several reports of one, the first."""
    seen: set[str] = set()
    for report in reports:
        step = report.step
        if step.step_id in seen:
            continue
        seen.add(step.step_id)
        named = step.additional_attributes.get(AGENT_NAME, "")
        yield _step(step, roster.resolve("", named) if named else report.reporter, roster)


def _step(step: StepFacts, agent: str, roster: Roster) -> WorkStep:
    attributes = step.additional_attributes
    kind = _kind(step, attributes)
    name, asked = _subject(step, kind, roster)
    where, nature, error = _failure(kind, step.failure, attributes)
    return WorkStep(
        step_id=step.step_id,
        kind=kind,
        agent=agent,
        name=name,
        input=_asked_text(kind, asked),
        output=attributes.get(TOOL_RESULT if kind == "tool" else RESPONSE_TEXT, ""),
        arguments=_key(asked) if asked and kind in _USED else "",
        error=error,
        where=where,
        nature=nature,
        started_s=None if step.start_time is None else as_utc(step.start_time).timestamp(),
        duration_ms=step.latency_ms,
        tokens=step.total_tokens if kind in _USED else None,
    )


def _kind(step: StepFacts, attributes: Mapping[str, str]) -> Kind:
    kind = step.kind
    if kind is CallType.AGENT:
        return "call"
    if kind is CallType.HOST:
        return "work"
    return "model" if calls_model(step, attributes) else "tool"


def _key(asked: Mapping[str, object]) -> str:
    return str(asked if len(asked) == 1 else sorted(asked.items()))


def _subject(step: StepFacts, kind: Kind, roster: Roster) -> tuple[str, Mapping[str, object]]:
    """The name of the callee, tool or model, and what it was asked."""
    if kind == "call" and (call := step.agent_call) is not None:
        return roster.resolve(call.agent_url, call.agent_name), call.requests or {}
    tool = None if step.step_action is None else step.step_action.tool_invocation
    if tool is None:
        return step.name or "", step.parameters or {}
    return tool.tool_name, tool.parameters or {}


def _asked_text(kind: Kind, asked: Mapping[str, object]) -> str:
    own = asked.get(TOOL_ARGUMENTS if kind == "tool" else MODEL_INPUT if kind == "model" else "text")
    return own if isinstance(own, str) else text_of(asked)


def _failure(kind: Kind, error: str | None, attributes: Mapping[str, str]) -> tuple[Where | None, Nature, str | None]:
    """Where a step failed and how. Work that fails inside other work passes an error on that other steps tell."""
    if error is not None:
        outside = attributes.get(FAILED_OUTSIDE)
        where: Where | None = "run" if outside == "run" else "agent" if outside == "agent" else None
        if where is None and kind != "work":
            where = kind
        return where, "timeout" if _TIMEOUT.search(error) else "error", error
    if kind == "model" and _REFUSALS.search(stopped := attributes.get(FINISH_REASON, "")):
        return "model", "refusal", f"stopped: {stopped}"
    if caught := attributes.get(EXCEPTION):
        return ("step" if kind == "work" else kind), "exception", caught
    return None, "error", None

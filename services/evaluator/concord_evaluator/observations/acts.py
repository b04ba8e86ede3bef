"""Acts: what the agents of a trace said and did, in order, as observations read them."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from operator import itemgetter
from typing import Final

import msgspec
from msgspec.structs import replace
from pydantic_core import to_json

from concord.trace.attributes import AGENT_NAME, CONTEXT, REFUSED_BY, RESPONSE_TEXT, TOOL_RESULT
from concord.trace.effects import Effect, EffectKind, content_digest, effect_of
from concord.trace.otlp.genai import MODEL_OPERATIONS
from concord.trace.report import Report
from concord.trace.step import CallType
from concord.wire.roster import GREEN_AGENT, Roster
from concord_assistant.results import ActionLogEntry
from concord_evaluator.failures import error_of, failures_in
from concord_evaluator.messages import Sent, request_in, time_of, trust_in
from concord_evaluator.trace.attribution import callee_of, inner_agent

MAX_ACTS: Final = 20_000
"""Steps of a trace that are read, in the order of the file."""

MAX_TEXT: Final = 8000
"""Characters that are read of each text."""

MAX_TOTAL: Final = 4_000_000
"""Characters that are read of all texts of a trace, in the order of its acts. Finders read each several times."""


class Deed(StrEnum):
    """What an act is: a message to an agent, the answer to one, the use of a tool or a model, or own work."""

    MESSAGE = "message"
    ANSWER = "answer"
    TOOL = "tool"
    MODEL = "model"
    WORK = "work"


class Act(msgspec.Struct, frozen=True, gc=False):
    """One act. `to`: the agent or the tool. `text`: what was said, or a tool's arguments. `result`: of a tool.

    `failed_below`: it failed by what another act tells.
    """

    step_id: str
    agent: str
    deed: Deed
    to: str = ""
    text: str = ""
    result: str = ""
    error: str | None = None
    effect: Effect | None = None
    failed_below: bool = False

    @property
    def speaks(self) -> bool:
        """Whether the agent says something in words of its own."""
        return self.deed not in {Deed.TOOL, Deed.MODEL} and bool(self.text)


def acts_of(reports: Iterable[Report], roster: Roster) -> list[Act]:
    """The acts in the reports of one trace, by the times when something was said or asked; those without a time come
    last, by their step ids.

    A step that several reported is read once, as the gateway observed it if it did.
    """
    told: dict[str, Report] = {}
    for report in reports:
        known = told.get(report.step.step_id)
        if known is None and len(told) >= MAX_ACTS:
            continue
        if known is None or (report.reporter == GREEN_AGENT and known.reporter != GREEN_AGENT):
            told[report.step.step_id] = report
    untold = failures_in([report.step for report in told.values()]).untold
    dated = [each for report in told.values() for each in _acts(report, roster, untold)]
    return list(_readable(act for _, act in sorted(dated, key=itemgetter(0))))


def _readable(acts: Iterable[Act]) -> Iterator[Act]:
    """The acts, without their texts from the one on that exceeds `MAX_TOTAL`."""
    left = MAX_TOTAL
    for act in acts:
        left -= len(act.text) + len(act.result)
        yield act if left >= 0 else replace(act, text="", result="")


_Key = tuple[datetime, bool, str]


def _acts(report: Report, roster: Roster, untold: Collection[str]) -> Iterator[tuple[_Key, Act]]:
    """The acts in a report, each with its place among all. `untold`: the steps of whose failures others tell."""
    step, attributes = report.step, report.step.additional_attributes
    agent = _agent(report.reporter, attributes, roster)
    failed = REFUSED_BY not in attributes and step.failure is not None
    below = failed and step.step_id in untold
    failure = error_of(step) if failed and not below else None
    effect, call = effect_of(attributes), step.agent_call
    if call is not None:
        callee, said = callee_of(agent, call.agent_url, call.agent_name, roster), _text(call.requests)
        request = request_in(step, call, agent, callee, trust_in(report, agent))
        if said or failed or effect is not None:
            yield (
                _key(request),
                Act(step.step_id, agent, Deed.MESSAGE, callee, said, error=failure, effect=effect, failed_below=below),
            )
        if (answer := request.answer) is not None and answer.text and not failed:
            yield _key(answer), Act(step.step_id, answer.sender, Deed.ANSWER, agent, answer.text[:MAX_TEXT])
        return
    response = attributes.get(RESPONSE_TEXT, "")[:MAX_TEXT]
    tool = None if step.step_action is None else step.step_action.tool_invocation
    if step.kind is CallType.HOST or tool is None:
        act = Act(step.step_id, agent, Deed.WORK, text=response, error=failure, effect=effect, failed_below=below)
    else:
        is_model = attributes.get("gen_ai.operation.name") in MODEL_OPERATIONS
        deed = Deed.MODEL if is_model else Deed.TOOL
        arguments = _text(tool.parameters)
        result = attributes.get(TOOL_RESULT, "")[:MAX_TEXT] or response
        act = Act(step.step_id, agent, deed, tool.tool_name, arguments, result, failure, effect, below)
    said_at = (step.end_time, step.start_time) if response else (step.start_time, step.end_time)
    yield (time_of(*said_at), False, step.step_id), act


def _agent(reporter: str, attributes: Mapping[str, str], roster: Roster) -> str:
    named = attributes.get(AGENT_NAME, "")
    if reporter == GREEN_AGENT:
        return roster.resolve("", named) if named else GREEN_AGENT
    return inner_agent(reporter, named, roster)


def _key(message: Sent) -> _Key:
    return message.at, message.is_answer, message.step_id


def _text(content: Mapping[str, object] | None) -> str:
    """The content as text: a single text as it stands, anything else as JSON with sorted keys."""
    ordered = {name: content[name] for name in sorted(content) if name != CONTEXT} if content else {}
    if not ordered:
        return ""
    if len(ordered) == 1 and isinstance(only := next(iter(ordered.values())), str):
        return only[:MAX_TEXT]
    return to_json(ordered).decode()[:MAX_TEXT]


# The acts of an assistant in its environment, from the log of its actions.

_DELIVERING: Final = re.compile(r"\.(?:send|reply|forward|create)")
"""Actions that make something new for others; all other ones edit what is there."""


def acts_of_actions(agent: str, log: Iterable[ActionLogEntry]) -> list[Act]:
    """The acts of the assistant, in their order. Step ids are places in the log, from `action-1`."""
    return [_act(f"action-{number}", agent, entry) for number, entry in enumerate(log, 1)]


def _act(step_id: str, agent: str, entry: ActionLogEntry) -> Act:
    written = to_json({name: entry.parameters[name] for name in sorted(entry.parameters)}, serialize_unknown=True)
    parameters = written.decode()
    delivers = _DELIVERING.search(entry.action) is not None
    effect = Effect(
        kind=EffectKind.DELIVERED if delivers else EffectKind.EDITED,
        artifact=entry.action,
        digest=content_digest(f"{entry.action}{parameters}"),
    )
    return Act(
        step_id=step_id,
        agent=agent,
        deed=Deed.TOOL,
        to=entry.action,
        text=parameters[:MAX_TEXT],
        error=None if entry.success else entry.error_message or "the action failed",
        effect=effect if entry.success else None,
    )

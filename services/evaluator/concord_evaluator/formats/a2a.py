"""A2A traceability: response traces in either wire form, alone or nested in A2A messages, artifacts or tasks."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pydantic import BaseModel, JsonValue

from concord.trace.report import Channel
from concord.trace.step import InteractionStep
from concord.trace.stored_step import Step
from concord.wire.assignment import TRACEABILITY_KEY
from concord.wire.roster import MAX_ID_LENGTH, RosterEntry
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built, calls_in, entry_of

UNNAMED_AGENT: Final = "agent"
"""The agent of a response trace if the name of the file does not say."""

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9 _.-]")
_TRACE_ID_KEYS: Final = frozenset({"trace_id", "traceId"})


class _Steps(BaseModel):
    """The steps of a response trace. Unlike on the wire, their number is not bounded."""

    steps: list[InteractionStep]


class _Answer(NamedTuple):
    """A parsed response trace. `called`: the agents that were called by name without a URL."""

    trace_id: str
    steps: list[Step]
    called: list[RosterEntry]


def _recognises(head: Head) -> bool:
    keys = head.json_keys
    if head.has_key(TRACEABILITY_KEY):
        return True
    return bool(keys & _TRACE_ID_KEYS) and "steps" in keys and "reporter" not in keys


def _read(source: Source) -> Iterator[Trace]:
    """Yields all traces at the end, since several response traces may belong to one trace."""
    answering = _agent_named(source.stem)
    builders: dict[str, TraceBuilder] = {}
    for line, value in source.json_values():
        with source.record(line):
            answers = [_read_answer(trace_id, steps) for trace_id, steps in _response_traces(value)]
            if not answers:
                raise ValueError("no response trace found: expected an object with `trace_id` and `steps`")
            new = {each.trace_id: TraceBuilder(each.trace_id, Origin(source.name, line)) for each in answers}
            for answer in answers:
                builder = builders.setdefault(answer.trace_id, new[answer.trace_id])
                builder.warn(f"a response trace names no agent: assigned to {answering}, after the file name")
                _take(builder, answer, answering)
    return all_built(builders.values(), source)


def _agent_named(stem: str) -> str:
    return _NOT_IN_NAMES.sub("-", stem).strip("- ")[:MAX_ID_LENGTH] or UNNAMED_AGENT


def _response_traces(value: JsonValue) -> Iterator[tuple[str, list[JsonValue]]]:
    """The trace id and the steps of the outermost response traces, in document order."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending.extend(reversed(each))
        elif isinstance(each, dict):
            trace_id, steps = each.get("trace_id", each.get("traceId")), each.get("steps")
            if trace_id is None or not isinstance(steps, list):
                pending.extend(reversed(each.values()))
            elif "reporter" in each:
                raise ValueError(
                    "a response trace has no `reporter`, a batch in Concord's own form has: --format concord"
                )
            else:
                yield str(trace_id), steps


def _read_answer(trace_id: str, values: list[JsonValue]) -> _Answer:
    whole = [
        {**step, "trace_id": trace_id} if isinstance(step, dict) and not _TRACE_ID_KEYS & step.keys() else step
        for step in values
    ]
    steps = list(map(Step.of, _Steps.model_validate({"steps": whole}).steps))
    calls = (call for step in steps for call in calls_in(step))
    return _Answer(
        trace_id, steps, [entry_of(call.agent_name) for call in calls if call.agent_name and not call.agent_url]
    )


def _take(builder: TraceBuilder, answer: _Answer, answering: str) -> None:
    """Adds the steps. Agents that were called by name alone are declared as well."""
    for agent in answer.called:
        builder.declare(agent)
    for step in answer.steps:
        builder.add(step, answering, channel=Channel.IN_BAND)


FORMAT = TraceFormat(_recognises, _read)

"""Digests of steps: two reports of a step agree if their digests are equal."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Final

import msgspec

from concord.trace.report import StepDigest
from concord.trace.step import CallType, StepFacts, as_utc

_AGENT, _HOST = CallType.AGENT, CallType.HOST
_SORTED: Final = msgspec.json.Encoder(order="sorted").encode


def digest(step: StepFacts) -> StepDigest:
    """Names a step and the request to the agent called. The same step gives the same digests whichever form it came in,
    however it was parsed, and whether or not the callee's own nested trace was attached."""
    call = step.agent_call
    return StepDigest(content_digest(step), json_digest(call.requests).hex() if call and call.requests else None)


def content_digest(step: StepFacts) -> bytes:
    """BLAKE2b-128 (RFC 7693) of a step's facts as JSON with sorted keys and no spaces.

    The facts: `[step id, trace id, parent, kind, [URL, name, requests] of the agent called, [name, parameters] of the
    tool used, cost, tokens, latency, start, end, failure, other attributes]`, null where there is none, moments in
    seconds since 1970.
    """
    kind, action, attributes = step.kind, step.step_action, step.additional_attributes
    if action is None:
        call = step.agent_call
        tool = None if kind is _AGENT or step.name is None else (step.name, step.parameters)
    else:
        call, used = action.agent_invocation, action.tool_invocation
        tool = None if used is None else (used.tool_name, used.parameters)
    return json_digest(
        (
            step.step_id,
            step.trace_id,
            step.parent,
            kind,
            None if call is None else (call.agent_url, call.agent_name, call.requests),
            tool,
            step.cost,
            step.total_tokens,
            step.latency,
            _instant(step.start_time),
            _instant(step.end_time),
            step.failure,
            _other_attributes(attributes, kind) if attributes else {},
        )
    )


def json_digest(value: object) -> bytes:
    """BLAKE2b-128 (RFC 7693) of a value as JSON with sorted keys and no spaces."""
    try:
        written = _SORTED(value)
    except OverflowError:  # integers beyond 64 bits, which only the standard library can write
        written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return blake2b(written, digest_size=16).digest()


def json_digests(values: Sequence[object]) -> list[bytes]:
    """The same of many values, in less time."""
    try:
        return [blake2b(written, digest_size=16).digest() for written in map(_SORTED, values)]
    except OverflowError:
        return [json_digest(value) for value in values]


def _other_attributes(attributes: Mapping[str, str], kind: CallType) -> dict[str, str]:
    """The attributes, except those that repeat other facts of the step."""
    facts = ("error", "call_type") if kind is _HOST else ("error",)
    return {name: value for name, value in attributes.items() if name not in facts}


def _instant(moment: datetime | None) -> float | None:
    return None if moment is None else as_utc(moment).timestamp()

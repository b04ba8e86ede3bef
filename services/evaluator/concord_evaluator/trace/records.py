"""What is kept of a step once its report was read: slotted records, a fraction of the size of the parsed models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final, NamedTuple

from concord.reports import Channel, Report
from concord.steps import CallType, InteractionStep, as_utc

AGENT_NAME_ATTRIBUTES: Final = ("agent_name", "gen_ai.agent.name")
"""Attributes by which a participant that is itself a team says which of its agents made a step."""

RETRY_OF_ATTRIBUTE: Final = "retry_of"
"""The attribute of a repeated attempt: the step id of the attempt it repeats."""


MAX_ERROR: Final = 200
"""Characters of what went wrong that are kept."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class StepKey(NamedTuple):
    """Names one content of a step: two different contents under one step id are two keys."""

    trace_id: str
    step_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The facts of a step; what it was told by, and where it hangs, is kept beside it.

    `latency_ms` in milliseconds; `started_us` in microseconds since 1970, by the clock of whoever made the step.
    """

    parent_id: str | None
    kind: CallType
    agent_name: str
    callee_url: str
    callee_name: str
    request_digest: str | None
    """Names what the callee was asked; None where the step does not say, so that silence is never a repetition."""
    retry_of: str | None
    error: str | None
    latency_ms: float | None
    started_us: int | None
    tokens: int | None

    @property
    def failed(self) -> bool:
        """Whether the step says that something went wrong."""
        return self.error is not None

    @classmethod
    def of(cls, step: InteractionStep) -> "StepRecord":
        """What is kept of `step`."""
        attributes = step.additional_attributes
        call, failure = step.agent_call, step.failure
        return cls(
            parent_id=step.parent,
            kind=step.kind,
            agent_name=next((attributes[name] for name in AGENT_NAME_ATTRIBUTES if attributes.get(name)), ""),
            callee_url="" if call is None else call.agent_url,
            callee_name="" if call is None else call.agent_name,
            request_digest=_request_digest(call.requests) if call is not None and call.requests else None,
            retry_of=attributes.get(RETRY_OF_ATTRIBUTE) or None,
            error=None if failure is None else failure[:MAX_ERROR],
            latency_ms=step.latency_ms,
            started_us=_started_us(step),
            tokens=step.total_tokens if step.total_tokens is not None and step.total_tokens >= 0 else None,
        )


@dataclass(slots=True)
class Telling:
    """How one reporter told one content of a step: over which ways, all of them together.

    `direct`: as a step of its own, rather than inside the answer to one of its calls. `carriers`: those calls.
    """

    reporter: str
    direct: bool
    observed: bool
    authenticated: bool
    carriers: frozenset[StepKey]

    @classmethod
    def of(cls, report: Report, carrier: StepKey | None) -> "Telling":
        """The telling of a step by `report`: its own step, or one nested in the call `carrier`."""
        direct = carrier is None
        return cls(
            reporter=report.reporter,
            direct=direct,
            observed=direct and report.channel is Channel.OBSERVED,
            authenticated=report.authenticated,
            carriers=frozenset() if carrier is None else frozenset((carrier,)),
        )

    def join(self, other: "Telling") -> None:
        """Takes in another telling of the same content by the same reporter, in whatever order they came."""
        self.direct |= other.direct
        self.observed |= other.observed
        self.authenticated |= other.authenticated
        self.carriers |= other.carriers


def _started_us(step: InteractionStep) -> int | None:
    """When the step began: as reported, else its end less what it took."""
    if step.start_time is not None:
        return (as_utc(step.start_time) - _EPOCH) // _MICROSECOND
    if step.end_time is None or step.latency is None:
        return None
    return (as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency


def _request_digest(requests: Mapping[str, object]) -> str:
    written = json.dumps(requests, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return blake2b(written.encode(), digest_size=16).hexdigest()

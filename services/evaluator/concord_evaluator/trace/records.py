"""What is kept of a step once its report was read: slotted records, a fraction of the size of the parsed models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

from concord.reports import Channel, Report
from concord.steps import CallType, InteractionStep

AGENT_NAME_ATTRIBUTES: Final = ("agent_name", "gen_ai.agent.name")
"""Attributes by which a participant that is itself a team says which of its agents made a step."""

RETRY_OF_ATTRIBUTE: Final = "retry_of"
"""The attribute of a repeated attempt: the step id of the attempt it repeats."""


class StepKey(NamedTuple):
    """Names one content of a step: two different contents under one step id are two keys."""

    trace_id: str
    step_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The facts of a step; what it was told by, and where it hangs, is kept beside it. `latency_ms` in milliseconds."""

    parent_id: str | None
    kind: CallType
    agent_name: str
    callee_url: str
    callee_name: str
    request_digest: str | None
    """Names what the callee was asked; None where the step does not say, so that silence is never a repetition."""
    retry_of: str | None
    failed: bool
    latency_ms: float | None

    @classmethod
    def of(cls, step: InteractionStep) -> "StepRecord":
        """What is kept of `step`."""
        attributes = step.additional_attributes
        call = step.agent_call
        return cls(
            parent_id=step.parent,
            kind=step.kind,
            agent_name=next((attributes[name] for name in AGENT_NAME_ATTRIBUTES if attributes.get(name)), ""),
            callee_url="" if call is None else call.agent_url,
            callee_name="" if call is None else call.agent_name,
            request_digest=_request_digest(call.requests) if call is not None and call.requests else None,
            retry_of=attributes.get(RETRY_OF_ATTRIBUTE) or None,
            failed=step.failure is not None,
            latency_ms=step.latency_ms,
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


def _request_digest(requests: Mapping[str, object]) -> str:
    written = json.dumps(requests, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return blake2b(written.encode(), digest_size=16).hexdigest()

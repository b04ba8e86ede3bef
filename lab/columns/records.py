"""Step records: the facts of a step that the evaluator keeps. A record is a fraction of the size of a parsed model."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from sys import intern
from typing import Final, TypeVar

import msgspec

from concord.trace.attributes import (
    AGENT_NAME,
    EDGE_KIND,
    EDGE_KNOWN_BY,
    EDGE_SUPPORT,
    RETRY_OF,
    TASK_STATE,
    EdgeKind,
    KnownBy,
    Support,
)
from concord.trace.step import CallType, as_utc
from concord.trace.stored_step import Step
from concord_evaluator.trace.reading import EARLIEST
from lab.columns.model_uses import StepUse, use_in
from tests.kit.digests import StepDigest

AGENT_NAME_ATTRIBUTES: Final = (AGENT_NAME, "gen_ai.agent.name")
"""Attributes in which a participant that is itself a team names the inner agent that made a step."""

MAX_ERROR: Final = 200
"""Characters of an error that are kept."""

_AGENT: Final = CallType.AGENT
_TOOL: Final = CallType.TOOL
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Attestation:
    """That one reporter reported one content of a step, over all channels together.

    `direct`: as a step of its own, rather than inside the answer to one of its calls. `carriers`: the digests of those
    calls. Nearly all steps of a reporter share one attestation.
    """

    reporter: str
    direct: bool
    observed: bool
    authenticated: bool
    carriers: frozenset[bytes] = frozenset()

    def joined(self, other: "Attestation") -> "Attestation":
        """This attestation and another one of the same content by the same reporter. The order does not matter."""
        if self == other:
            return self
        return Attestation(
            reporter=self.reporter,
            direct=self.direct or other.direct,
            observed=self.observed or other.observed,
            authenticated=self.authenticated or other.authenticated,
            carriers=self.carriers | other.carriers,
        )


class StepRecord(msgspec.Struct, gc=False):
    """The facts of a step, and its attestations. Two different contents under one step id are two records.

    A msgspec struct rather than a dataclass: a trace may have a million of them, and structs are faster and smaller.

    `digest` identifies the content. `latency_ms` in milliseconds; `started_us` in microseconds since 1970, by the clock
    of the agent that made the step. Only `attestations`, sorted by reporter, ever change: by folding.
    """

    trace_id: str
    step_id: str
    digest: bytes
    parent_id: str | None
    kind: CallType
    agent_name: str
    callee_url: str
    callee_name: str
    request_digest: str | None
    """Identifies the request. None where the step does not contain it: two unknown requests are never a repetition."""
    retry_of: str | None
    edge_kind: EdgeKind
    known_by: KnownBy | None
    support: Support | None
    error: str | None
    answered: bool
    """Of a call: whether the callee answered. A step without an error counts as answered."""
    latency_ms: float | None
    started_us: int | None
    tokens: int | None
    use: StepUse | None
    attestations: tuple[Attestation, ...]

    @property
    def failed(self) -> bool:
        """Whether the step has an error."""
        return self.error is not None

    @property
    def observed(self) -> bool:
        """Whether the gateway observed the step."""
        return True in [attestation.observed for attestation in self.attestations]

    @property
    def direct(self) -> bool:
        """Whether any reporter reported the step as one of its own."""
        return True in [attestation.direct for attestation in self.attestations]

    def is_variant_of(self, other: "StepRecord") -> bool:
        """Whether both are contents of the same step."""
        return self.step_id == other.step_id and self.trace_id == other.trace_id

    @classmethod
    def of(cls, step: Step, digest: StepDigest, attestations: tuple[Attestation, ...]) -> "StepRecord":
        """The record of `step`. Names recur in many steps, so they are interned."""
        attributes, kind = step.additional_attributes, step.kind
        call = step.agent_call if kind is _AGENT else None
        failure, tokens = step.failure, step.total_tokens
        return cls(
            trace_id=intern(step.trace_id),
            step_id=step.step_id,
            digest=digest.content,
            parent_id=step.parent,
            kind=kind,
            agent_name=intern(_agent_name(attributes)) if attributes else "",
            callee_url="" if call is None else intern(call.agent_url),
            callee_name="" if call is None else intern(call.agent_name),
            request_digest=digest.request,
            retry_of=attributes.get(RETRY_OF) or None,
            edge_kind=_member(EdgeKind, attributes.get(EDGE_KIND)) or EdgeKind.DELEGATION,
            known_by=_member(KnownBy, attributes.get(EDGE_KNOWN_BY)),
            support=_member(Support, attributes.get(EDGE_SUPPORT)),
            error=None if failure is None else failure[:MAX_ERROR],
            answered=failure is None or TASK_STATE in attributes,
            latency_ms=step.latency_ms,
            started_us=_started_us(step),
            tokens=tokens if tokens is not None and tokens >= 0 else None,
            use=use_in(step, attributes) if kind is _TOOL else None,
            attestations=attestations,
        )


MemberT = TypeVar("MemberT", bound=StrEnum)


def _member(kind: type[MemberT], name: str | None) -> MemberT | None:
    return kind(name) if name in set(kind) else None


def _agent_name(attributes: Mapping[str, str]) -> str:
    return next((attributes[name] for name in AGENT_NAME_ATTRIBUTES if attributes.get(name)), "")


def _started_us(step: Step) -> int | None:
    """The start of the step: as reported, else its end minus its latency."""
    if step.start_time is not None:
        return (as_utc(step.start_time) - _EPOCH) // _MICROSECOND
    if step.end_time is None or step.latency is None:
        return None
    return max((as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency, EARLIEST)

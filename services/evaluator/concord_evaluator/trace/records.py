"""What is kept of a step once its report was read: slotted records, a fraction of the size of the parsed models."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from sys import intern
from typing import Final

import msgspec

from concord.trace.report import StepDigest
from concord.trace.step import CallType, StepFacts, as_utc

AGENT_NAME_ATTRIBUTES: Final = ("agent_name", "gen_ai.agent.name")
"""Attributes by which a participant that is itself a team says which of its agents made a step."""

RETRY_OF_ATTRIBUTE: Final = "retry_of"
"""The attribute of a repeated attempt: the step id of the attempt it repeats."""


TASK_STATE_ATTRIBUTE: Final = "task_state"
"""The attribute of a call that its callee answered, be it with a failure: how the task stood then."""


MAX_ERROR: Final = 200
"""Characters of what went wrong that are kept."""

_AGENT: Final = CallType.AGENT
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Telling:
    """How one reporter told one content of a step: over which ways, all of them together.

    `direct`: as a step of its own, rather than inside the answer to one of its calls. `carriers`: the digests of those
    calls. Nearly all steps of a reporter are told alike, so that they can share one telling.
    """

    reporter: str
    direct: bool
    observed: bool
    authenticated: bool
    carriers: frozenset[bytes] = frozenset()

    def joined(self, other: "Telling") -> "Telling":
        """This with another telling of the same content by the same reporter, in whatever order they came."""
        if self == other:
            return self
        return Telling(
            reporter=self.reporter,
            direct=self.direct or other.direct,
            observed=self.observed or other.observed,
            authenticated=self.authenticated or other.authenticated,
            carriers=self.carriers | other.carriers,
        )


class StepRecord(msgspec.Struct, gc=False):
    """The facts of a step, and who told it. Two different contents under one step id are two records.

    A struct, since a trace makes a million of them: quicker made and smaller than a dataclass.

    `digest` names the content. `latency_ms` in milliseconds; `started_us` in microseconds since 1970, by the clock of
    whoever made the step. `tellings`, sorted by reporter, are all that changes, and only while the trace is folded.
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
    """Names what the callee was asked; None where the step does not say, so that silence is never a repetition."""
    retry_of: str | None
    error: str | None
    answered: bool
    """Of a call: whether the step speaks of an answer. One that says nothing of a failure does."""
    latency_ms: float | None
    started_us: int | None
    tokens: int | None
    tellings: tuple[Telling, ...]

    @property
    def failed(self) -> bool:
        """Whether the step says that something went wrong."""
        return self.error is not None

    @property
    def observed(self) -> bool:
        """Whether we saw the step ourselves."""
        return True in [telling.observed for telling in self.tellings]

    @property
    def direct(self) -> bool:
        """Whether anybody told the step as one of its own."""
        return True in [telling.direct for telling in self.tellings]

    def is_rival_of(self, other: "StepRecord") -> bool:
        """Whether both are contents of one step."""
        return self.step_id == other.step_id and self.trace_id == other.trace_id

    @classmethod
    def of(cls, step: StepFacts, digest: StepDigest, tellings: tuple[Telling, ...]) -> "StepRecord":
        """What is kept of `step`. Names, which come again and again, are held once."""
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
            retry_of=attributes.get(RETRY_OF_ATTRIBUTE) or None,
            error=None if failure is None else failure[:MAX_ERROR],
            answered=failure is None or TASK_STATE_ATTRIBUTE in attributes,
            latency_ms=step.latency_ms,
            started_us=_started_us(step),
            tokens=tokens if tokens is not None and tokens >= 0 else None,
            tellings=tellings,
        )


def _agent_name(attributes: Mapping[str, str]) -> str:
    return next((attributes[name] for name in AGENT_NAME_ATTRIBUTES if attributes.get(name)), "")


def _started_us(step: StepFacts) -> int | None:
    """When the step began: as reported, else its end less what it took."""
    if step.start_time is not None:
        return (as_utc(step.start_time) - _EPOCH) // _MICROSECOND
    if step.end_time is None or step.latency is None:
        return None
    return (as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency

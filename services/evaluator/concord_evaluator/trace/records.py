"""Records: who attests a step, and the facts of one step, which the columns of a trace yield one by one."""

from dataclasses import dataclass

import msgspec

from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord.trace.step import CallType


@dataclass(frozen=True, slots=True)
class Attestation:
    """That one reporter reported one content of a step, over all channels together.

    `direct`: as a step of its own, rather than inside the answer to one of its calls. Nearly all steps of a reporter
    share one attestation.
    """

    reporter: str
    direct: bool
    observed: bool
    authenticated: bool

    def joined(self, other: "Attestation") -> "Attestation":
        """This attestation and another one of the same content by the same reporter. The order does not matter."""
        if self == other:
            return self
        return Attestation(
            reporter=self.reporter,
            direct=self.direct or other.direct,
            observed=self.observed or other.observed,
            authenticated=self.authenticated or other.authenticated,
        )


class StepRecord(msgspec.Struct, frozen=True, gc=False):
    """The facts of a step, and its attestations. Two different contents under one step id are two records.

    `latency_ms` in milliseconds; `started_us` in microseconds since 1970, by the clock of the agent that made the
    step. `attestations` are sorted by reporter.
    """

    trace_id: str
    step_id: str
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
    attestations: tuple[Attestation, ...]

    @property
    def failed(self) -> bool:
        """Whether the step has an error."""
        return self.error is not None

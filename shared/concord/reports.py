"""Reports: who claimed which step, over which channel. Provenance is derived from these, never stored."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Annotated, Final
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from concord.steps import AttributeName, CallType, Id, InteractionStep, as_utc

MAX_BATCH_STEPS = 1000

_ZLIB_OR_GZIP: Final = 47
"""zlib's window bits for either header."""


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Channel(StrEnum):
    """How a step reached us."""

    OBSERVED = "observed"
    HTTP = "http"
    OTLP = "otlp"
    IN_BAND = "in_band"


class StepBatch(BaseModel):
    """What a reporter sends to `POST /traces`: steps of one trace, and what it had to drop since its last batch."""

    model_config = ConfigDict(frozen=True)

    batch_id: Id = Field(default_factory=lambda: uuid4().hex)
    trace_id: Id
    reporter: Id
    steps: Annotated[list[InteractionStep], Field(max_length=MAX_BATCH_STEPS)] = []
    dropped: Annotated[dict[AttributeName, Annotated[int, Field(ge=0)]], Field(max_length=16)] = {}


class RejectedStep(BaseModel):
    """A step that was not taken, and why; the rest of its batch was."""

    index: int
    step_id: str | None
    reason: str


class BatchReceipt(BaseModel):
    """The collector's answer: counts of steps, and each refusal by its place in the batch."""

    accepted: int
    duplicate: int
    rejected: list[RejectedStep]


@dataclass(frozen=True, slots=True)
class Report:
    """One step as one reporter told it."""

    step: InteractionStep
    reporter: str
    authenticated: bool
    channel: Channel
    received_at: datetime
    digest: str


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """A batch at rest: the `StepBatch` as JSON, in zlib or gzip, and what the receiver knows of its reporter."""

    batch_id: str
    trace_id: str
    reporter: str
    authenticated: bool
    channel: Channel
    received_at: datetime
    n_steps: int
    dropped: int
    body: bytes

    def reports(self) -> Iterator[Report]:
        """The reports of this batch, validated anew one batch at a time so that their objects do not pile up."""
        for step in StepBatch.model_validate_json(unpack(self.body)).steps:
            yield Report(step, self.reporter, self.authenticated, self.channel, self.received_at, digest(step))


def pack(body: bytes) -> bytes:
    """Compresses the JSON of a `StepBatch` as `ReportBatch.body` holds it (level 1 shrinks it about elevenfold)."""
    return zlib.compress(body, level=1)


def unpack(body: bytes) -> bytes:
    """The JSON in a `ReportBatch.body`. Raises zlib.error for what is none."""
    return zlib.decompress(body, wbits=_ZLIB_OR_GZIP)


def digest(step: InteractionStep) -> str:
    """Names the content of a step: BLAKE2b-128 of its facts as canonical JSON, without the callee's own nested trace.

    The same step gives the same digest whichever form it came in and whether or not the callee's trace was attached.
    The facts are read from the step: having pydantic write it first takes several times as long.
    """
    action, kind = step.action, step.kind
    call = None if action is None else action.agent_invocation
    tool = None if action is None else action.tool_invocation
    told_apart = {"error"} if kind is not CallType.HOST else {"error", "call_type"}
    facts = [
        step.step_id,
        step.trace_id,
        step.parent,
        kind,
        None if call is None else [call.agent_url, call.agent_name, call.requests],
        None if tool is None else [tool.tool_name, tool.parameters],
        [step.cost, step.total_tokens, step.latency, _instant(step.start_time), _instant(step.end_time)],
        step.failure,
        {name: value for name, value in step.additional_attributes.items() if name not in told_apart},
    ]
    return blake2b(_CANONICAL.encode(facts).encode(), digest_size=16).hexdigest()


def _instant(moment: datetime | None) -> float | None:
    return None if moment is None else as_utc(moment).timestamp()

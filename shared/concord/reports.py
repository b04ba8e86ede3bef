"""Reports: who claimed which step, over which channel. Provenance is derived from these, never stored."""

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Annotated, Final, NamedTuple
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord.steps import AttributeName, CallType, Id, InteractionStep, as_utc

MAX_BATCH_STEPS = 1000

_ZLIB_OR_GZIP: Final = 47
"""zlib's window bits for either header."""

_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


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
    """The collector's answer: how many steps it took, and each refusal by its place in the batch."""

    accepted: int
    rejected: list[RejectedStep]


class StepDigest(NamedTuple):
    """`content` names all facts of a step; `request` what an agent was asked, None where the step does not say."""

    content: bytes
    request: str | None


class Report(NamedTuple):
    """One step as one reporter told it."""

    step: InteractionStep
    reporter: str
    authenticated: bool
    channel: Channel
    received_at: datetime
    digest: StepDigest


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


def digest(step: InteractionStep) -> StepDigest:
    """Names a step: BLAKE2b-128 of its facts as canonical JSON, without the callee's own nested trace.

    The same step gives the same digest whichever form it came in and whether or not the callee's trace was attached.
    The facts are written one by one, and the request, which is most of them, once: having the whole of them written by
    pydantic or json takes several times as long, and an evaluation does this for every step.
    """
    kind, action = step.kind, step.action
    call = None if action is None else action.agent_invocation
    asking = step.agent_call if call is None else call if kind is CallType.AGENT else None
    tool = None if action is None else action.tool_invocation
    request = "null" if call is None or call.requests is None else _object(call.requests)
    facts = (
        _text(step.step_id),
        _text(step.trace_id),
        _text(step.parent),
        f'"{kind}"',
        "null" if call is None else f"[{_text(call.agent_url)},{_text(call.agent_name)},{request}]",
        "null" if tool is None else f"[{_text(tool.tool_name)},{_CANONICAL(tool.parameters)}]",
        f"[{_number(step.cost)},{_number(step.total_tokens)},{_number(step.latency)},"
        f"{_instant(step.start_time)},{_instant(step.end_time)}]",
        _text(step.failure),
        _attributes(step, kind),
    )
    asked = None
    if asking is not None and asking.requests:
        asked = _named(request if asking is call else _object(asking.requests)).hex()
    return StepDigest(_named(f"[{','.join(facts)}]"), asked)


def _named(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _attributes(step: InteractionStep, kind: CallType) -> str:
    """Those that are told nowhere else."""
    if not step.additional_attributes:
        return "{}"
    told = ("error", "call_type") if kind is CallType.HOST else ("error",)
    return _object({name: value for name, value in step.additional_attributes.items() if name not in told})


def _object(members: Mapping[str, JsonValue]) -> str:
    """An object as `_CANONICAL` has it. Most have one or two strings, for which it is slow to begin with."""
    written = [
        f"{encode_basestring(name)}:{encode_basestring(value) if type(value) is str else _CANONICAL(value)}"
        for name, value in sorted(members.items())
    ]
    return f"{{{','.join(written)}}}"


def _text(value: str | None) -> str:
    return "null" if value is None else encode_basestring(value)


def _number(value: float | None) -> str:
    return "null" if value is None else repr(value)


def _instant(moment: datetime | None) -> str:
    return "null" if moment is None else repr(as_utc(moment).timestamp())

"""Steps as structs, and the fast decoding and encoding of batches of the usual form.

A step of 466 bytes takes 0.6 µs and 1.3 kB, against 4.2 µs and 2.9 kB with the models: a seventh of the time, and less
than half of the memory, of the two services that read every step of a trace.

These structs mirror the models of `concord.trace.report` and `concord.trace.step` and are stricter: no unknown or
camelCase fields, no deep nesting, no conversion. Tests check that both have the same fields, with the same types and
limits, and that the models read everything that the structs accept in the same way. The models decide about the rest.
"""

from datetime import datetime
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta

from concord.trace.report import MAX_BATCH_STEPS, MAX_DROP_REASONS, SerialisedBatch
from concord.trace.step import MAX_ATTRIBUTES, MAX_NAME_LENGTH, MAX_VALUE_LENGTH, CallType, StepFacts
from concord.trust.redaction import redact
from concord.wire.roster import MAX_ID_LENGTH, MAX_URL_LENGTH

# The types of `concord.trace.step`, under their names there.
_Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_LENGTH)]
_ParentId = Annotated[str, Meta(max_length=MAX_ID_LENGTH)]
_Url = Annotated[str, Meta(max_length=MAX_URL_LENGTH)]
_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Milliseconds = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_AttributeName = Annotated[str, Meta(max_length=MAX_NAME_LENGTH)]
_AttributeValue = Annotated[str, Meta(max_length=MAX_VALUE_LENGTH)]
_Attributes = Annotated[dict[_AttributeName, _AttributeValue], Meta(max_length=MAX_ATTRIBUTES)]
_DropCounts = Annotated[dict[_AttributeName, Annotated[int, Meta(ge=0)]], Meta(max_length=MAX_DROP_REASONS)]

_Scalar = str | int | float | bool | None
_Flat = _Scalar | list[_Scalar] | dict[str, _Scalar]
Json = _Scalar | list[_Flat] | dict[str, _Flat]
_Object = dict[str, Json]


class FastUse(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `ToolInvocation`."""

    tool_name: _AttributeName
    parameters: _Object | None = None


class FastCall(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An `AgentInvocation`."""

    agent_url: _Url = ""
    agent_name: _AttributeName = ""
    requests: _Object | None = None


class FastAction(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `StepAction`."""

    tool_invocation: FastUse | None = None
    agent_invocation: FastCall | None = None


class FastStep(StepFacts, msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An `InteractionStep` without nested steps."""

    step_id: _Id
    trace_id: _Id
    call_type: CallType
    parent_step_id: _ParentId | None = None
    step_action: FastAction | None = None
    cost: _Int64 | None = None
    total_tokens: _Int64 | None = None
    additional_attributes: _Attributes = {}
    latency: _Milliseconds | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    error: Json = None
    name: _AttributeName | None = None
    parameters: _Object | None = None
    requests: _Object | None = None


class FastBatch(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `StepBatch` with an id of its own."""

    batch_id: _Id
    trace_id: _Id
    reporter: _Id
    steps: Annotated[list[FastStep], Meta(max_length=MAX_BATCH_STEPS)] = []
    dropped: _DropCounts = {}


Serialised = TypeVar("Serialised", bound=SerialisedBatch)

_DECODER: Final = msgspec.json.Decoder(FastBatch)
_ENCODER: Final = msgspec.json.Encoder()


def read_fast(body: bytes) -> FastBatch | None:
    """The batch in a body of the usual form; None leaves it to the models."""
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def encoded(step: FastStep) -> bytes:
    """The step as JSON, without what is absent."""
    return _ENCODER.encode(step)


def encoded_batch(batch: FastBatch) -> bytes:
    """The batch as JSON."""
    return _ENCODER.encode(batch)


def serialised(batch: FastBatch, form: type[Serialised]) -> Serialised:
    """The batch as JSON, with its secrets redacted."""
    return form(
        batch_id=batch.batch_id,
        trace_id=batch.trace_id,
        reporter=batch.reporter,
        n_steps=len(batch.steps),
        dropped=sum(batch.dropped.values()),
        body=redact(encoded_batch(batch)),
    )

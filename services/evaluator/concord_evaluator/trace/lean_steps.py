"""Lean steps: only those fields of a step that columns hold, decoded without all others.

Texts of answers and tools' parameters are most of a trace, and no column holds them. The structs accept the usual form
of a batch, as `concord.trace.fast_steps` does, and are as strict about the names of fields, so that no field in another
form is overlooked. Anything else is read in full first. They are not strict about what they skip: the collector has
read it.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType
from msgspec import field as struct_field

from concord.trace.attributes import AGENT_NAME, EDGE_KIND, EDGE_KNOWN_BY, EDGE_SUPPORT, RETRY_OF, TASK_STATE
from concord.trace.decoding import read
from concord.trace.fast_steps import FastStep, Json
from concord.trace.report import MAX_BATCH_STEPS
from concord.trace.step import MAX_NAME_LENGTH, MAX_VALUE_LENGTH, CallType, StepFacts
from concord.wire.roster import MAX_ID_LENGTH, MAX_URL_LENGTH

INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
"""Attributes of a step, in which OpenTelemetry's spans tell tokens."""

_Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_LENGTH)]
_Name = Annotated[str, Meta(max_length=MAX_NAME_LENGTH)]
_Value = Annotated[str, Meta(max_length=MAX_VALUE_LENGTH)] | UnsetType
_Milliseconds = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_SKIPPED: Final = Raw()


class LeanAttributes(msgspec.Struct, frozen=True, gc=False):
    """The attributes of a step that columns hold."""

    agent_name: _Value = struct_field(default=UNSET, name=AGENT_NAME)
    spans_agent: _Value = struct_field(default=UNSET, name="gen_ai.agent.name")
    call_type: _Value = UNSET
    error: _Value = UNSET
    task_state: _Value = struct_field(default=UNSET, name=TASK_STATE)
    retry_of: _Value = struct_field(default=UNSET, name=RETRY_OF)
    edge_kind: _Value = struct_field(default=UNSET, name=EDGE_KIND)
    known_by: _Value = struct_field(default=UNSET, name=EDGE_KNOWN_BY)
    support: _Value = struct_field(default=UNSET, name=EDGE_SUPPORT)
    operation: _Value = struct_field(default=UNSET, name="gen_ai.operation.name")
    input_tokens: _Value = struct_field(default=UNSET, name=INPUT_TOKENS)
    output_tokens: _Value = struct_field(default=UNSET, name=OUTPUT_TOKENS)

    @classmethod
    def of(cls, attributes: Mapping[str, str]) -> "LeanAttributes":
        """Those among the attributes of a step."""
        return msgspec.convert(attributes, cls) if attributes else _BARE


_BARE: Final = LeanAttributes()


class LeanUse(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The tool that a step used."""

    tool_name: _Name
    parameters: Raw = _SKIPPED


class LeanCall(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The callee of a step, and the request to it."""

    agent_url: Annotated[str, Meta(max_length=MAX_URL_LENGTH)] = ""
    agent_name: _Name = ""
    requests: dict[str, Json] | None = None


class LeanAction(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The action of a step."""

    tool_invocation: LeanUse | None = None
    agent_invocation: LeanCall | None = None


class LeanStep(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The fields of a step that columns hold."""

    step_id: _Id
    trace_id: _Id
    call_type: CallType
    parent_step_id: Annotated[str, Meta(max_length=MAX_ID_LENGTH)] | None = None
    step_action: LeanAction | None = None
    cost: Raw = _SKIPPED
    total_tokens: _Int64 | None = None
    additional_attributes: LeanAttributes = _BARE
    latency: _Milliseconds | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    error: Json = None
    name: _Name | None = None
    parameters: Raw = _SKIPPED
    requests: dict[str, Json] | None = None

    @classmethod
    def of(cls, step: StepFacts) -> "LeanStep":
        """The fields of a step that was read in full."""
        action = step.step_action
        used, call = (None, None) if action is None else (action.tool_invocation, action.agent_invocation)
        lean = (
            None
            if action is None
            else LeanAction(
                None if used is None else LeanUse(used.tool_name),
                None if call is None else LeanCall(call.agent_url, call.agent_name, call.requests),
            )
        )
        return cls(
            step.step_id,
            step.trace_id,
            step.call_type,
            step.parent_step_id,
            lean,
            total_tokens=step.total_tokens,
            additional_attributes=LeanAttributes.of(step.additional_attributes),
            latency=step.latency,
            start_time=step.start_time,
            end_time=step.end_time,
            error=step.error,  # type: ignore[arg-type] # any JSON
            name=step.name,
            requests=step.requests,
        )


class _LeanBatch(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    batch_id: _Id
    trace_id: _Id
    reporter: _Id
    steps: Annotated[list[LeanStep], Meta(max_length=MAX_BATCH_STEPS)] = []
    dropped: Raw = _SKIPPED


class _RawBatch(msgspec.Struct, gc=False):
    steps: list[Raw] = []


class _NamedStep(msgspec.Struct, gc=False):
    step_id: str


class _NamedBatch(msgspec.Struct, gc=False):
    steps: list[_NamedStep]


_LEAN: Final = msgspec.json.Decoder(_LeanBatch)
_NAMED: Final = msgspec.json.Decoder(_NamedBatch)
_RAW: Final = msgspec.json.Decoder(_RawBatch)
_WHOLE: Final = msgspec.json.Decoder(FastStep)


def read_lean(body: bytes) -> Sequence[LeanStep] | None:
    """The steps of a batch in the usual form; None leaves it to `concord.trace.decoding.read`."""
    try:
        return _LEAN.decode(body).steps
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def named_steps(body: bytes, step_ids: Collection[str]) -> Sequence[StepFacts]:
    """The steps of a batch with any of these ids, in full. Raises pydantic's ValidationError if it is malformed."""
    try:
        named = [step.step_id for step in _NAMED.decode(body).steps]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [step for step in read(body).steps if step.step_id in step_ids]
    places = [place for place, step_id in enumerate(named) if step_id in step_ids]
    return read_some(body, places) if places else ()


def read_some(body: bytes, places: Sequence[int]) -> Sequence[StepFacts]:
    """The steps at these places of a batch, in full. Raises pydantic's ValidationError if it is malformed."""
    raw = _RAW.decode(body).steps
    try:
        return [_WHOLE.decode(raw[place]) for place in places]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        steps = read(body).steps
        return [steps[place] for place in places]

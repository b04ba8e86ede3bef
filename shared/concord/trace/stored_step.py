"""The step behind the collector: one form, whatever form its reporter sent, its batches, and digests of steps.

`concord.trace.step.InteractionStep` says which forms are accepted. A step of the usual form needs no model: decoding
the structs below takes a seventh of the time and less than half of the memory. They are stricter than the models (no
unknown or camelCase fields, no deeply nested content, no conversion), so the models decide about all that they refuse.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Annotated, Final, Self, TypeVar

import msgspec
from msgspec import Meta
from pydantic_core import to_json

from concord.trace.report import (
    MAX_BATCH_STEPS,
    MAX_DROP_REASONS,
    BatchReceipt,
    Channel,
    RejectedStep,
    ReportBatch,
    StepBatch,
    pack,
)
from concord.trace.step import (
    MAX_ANSWER_STEPS,
    MAX_ATTRIBUTES,
    MAX_NAME_LENGTH,
    MAX_VALUE_LENGTH,
    AgentInvocation,
    CallType,
    InteractionStep,
    StepAction,
    as_utc,
    failure_of,
    kind_of,
)
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

_Scalar = str | int | float | bool | None
_Flat = _Scalar | list[_Scalar] | dict[str, _Scalar]
Json = _Scalar | list[_Flat] | dict[str, _Flat]
"""Content as it is usually nested. Deeper content comes through the models."""

_Object = dict[str, Json]

_AGENT, _HOST = CallType.AGENT, CallType.HOST
"""Looking a member up takes a third of a microsecond on Python 3.11, and this is asked of every step, many times."""


class UsedTool(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `ToolInvocation`."""

    tool_name: _AttributeName
    parameters: _Object | None = None


class CalledAgent(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An `AgentInvocation`."""

    agent_url: _Url = ""
    agent_name: _AttributeName = ""
    requests: _Object | None = None
    response_trace: "AnswerTrace | None" = None

    @classmethod
    def of(cls, model: AgentInvocation) -> "CalledAgent":
        """The call in this form."""
        answer = model.response_trace
        inner = None if answer is None else AnswerTrace(answer.trace_id, list(map(Step.of, answer.steps)))
        return cls(**(dict(model) | {"response_trace": inner}))


class Invocation(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `StepAction`."""

    tool_invocation: UsedTool | None = None
    agent_invocation: CalledAgent | None = None

    @classmethod
    def of(cls, model: StepAction) -> "Invocation":
        """The action in this form."""
        tool, call = model.tool_invocation, model.agent_invocation
        return cls(
            None if tool is None else UsedTool(**dict(tool)),
            None if call is None else CalledAgent.of(call),
        )


class Step(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An `InteractionStep` as it is stored and read, with what follows from its fields."""

    step_id: _Id
    trace_id: _Id
    call_type: CallType
    parent_step_id: _ParentId | None = None
    step_action: Invocation | None = None
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

    @classmethod
    def of(cls, model: InteractionStep) -> "Step":
        """The step that a model describes."""
        action = model.step_action
        return cls(**(dict(model) | {"step_action": None if action is None else Invocation.of(action)}))

    @property
    def kind(self) -> CallType:
        """The call type with HOST restored from the attribute that carries it on the wire."""
        return kind_of(self.call_type, self.additional_attributes)

    @property
    def parent(self) -> str | None:
        """The id of the step under which this one was made; None for a root."""
        return self.parent_step_id or None

    @property
    def agent_call(self) -> CalledAgent | None:
        """The invocation of another agent; None for a step of another kind."""
        if self.kind is not _AGENT:
            return None
        action = self.step_action
        if action is not None and action.agent_invocation is not None:
            return action.agent_invocation
        return CalledAgent(agent_name=self.name or "", requests=self.requests)

    @property
    def answer_steps(self) -> "list[Step]":
        """The callee's own steps, as far as they came with its answer."""
        carried = _carried(self)
        return carried if carried and self.kind is _AGENT else []

    @property
    def failure(self) -> str | None:
        """The error, in the reporter's words; None if the call succeeded."""
        return failure_of(self.error, self.additional_attributes)

    @property
    def latency_ms(self) -> float | None:
        """How long the call took (milliseconds): as reported, else end minus start; None if neither is known."""
        if self.latency is not None:
            return float(self.latency)
        if self.start_time is None or self.end_time is None:
            return None
        return max(0.0, (as_utc(self.end_time) - as_utc(self.start_time)).total_seconds() * 1000)


class AnswerTrace(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `ResponseTrace`."""

    trace_id: _Id
    steps: Annotated[list[Step], Meta(max_length=MAX_ANSWER_STEPS)] = []


_ENCODER: Final = msgspec.json.Encoder()


def written(value: msgspec.Struct) -> bytes:
    """A step, or what holds steps, as JSON, without what is absent."""
    try:
        return _ENCODER.encode(value)
    except OverflowError:  # integers beyond 64 bits, which only pydantic can write
        return to_json(msgspec.to_builtins(value), inf_nan_mode="null")


def nesting(steps: Iterable[Step]) -> int:
    """How many answers deep steps are nested in answers; 0 if none are."""
    depth, level = 0, [inner for step in steps for inner in _carried(step)]
    while level:
        depth, level = depth + 1, [inner for step in level for inner in _carried(step)]
    return depth


def n_nested(steps: Iterable[Step]) -> int:
    """The number of steps nested in answers, at any depth."""
    found, level = 0, [inner for step in steps for inner in step.answer_steps]
    while level:
        found, level = found + len(level), [inner for step in level for inner in step.answer_steps]
    return found


def _carried(step: Step) -> list[Step]:
    action = step.step_action
    if action is None or action.agent_invocation is None or action.agent_invocation.response_trace is None:
        return []
    return action.agent_invocation.response_trace.steps


# Batches of steps, as they are read, and as they go into storage.


class TraceBatch(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `StepBatch` with an id of its own, as it is stored and read."""

    batch_id: _Id
    trace_id: _Id
    reporter: _Id
    steps: Annotated[list[Step], Meta(max_length=MAX_BATCH_STEPS)] = []
    dropped: Annotated[dict[_AttributeName, Annotated[int, Meta(ge=0)]], Meta(max_length=MAX_DROP_REASONS)] = {}

    @classmethod
    def of(cls, model: StepBatch) -> Self:
        """The batch that a model describes."""
        return cls(model.batch_id, model.trace_id, model.reporter, list(map(Step.of, model.steps)), model.dropped)


UsualBatch = TypeVar("UsualBatch", bound=TraceBatch)
_DECODER: Final = msgspec.json.Decoder(TraceBatch)
_MAX_NESTING: Final = 16
"""Answers within answers: pydantic reads JSON of 200 levels, of which each takes five, and msgspec reads more."""


def read_usual(body: bytes) -> TraceBatch | None:
    """The batch in a body of the usual form; None leaves it to the models."""
    return decoded_usual(_DECODER, body)


def decoded_usual(decoder: msgspec.json.Decoder[UsualBatch], body: bytes) -> UsualBatch | None:
    """The same for a batch with further fields in its head."""
    try:
        batch = decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return batch if nesting(batch.steps) <= _MAX_NESTING else None


def read_steps(body: bytes) -> TraceBatch:
    """The batch in a body of any accepted form. Raises pydantic's ValidationError."""
    return read_usual(body) or TraceBatch.of(StepBatch.model_validate_json(body))


@dataclass(frozen=True, slots=True)
class SerialisedBatch:
    """A batch as JSON, with its head, its counts and the steps that were refused. Every `ReportBatch` is made from one.

    `n_foreign`: how many of the refused steps are of another trace.
    """

    batch_id: str
    trace_id: str
    reporter: str
    n_steps: int
    dropped: int
    body: bytes
    n_nested: int = 0

    rejected: tuple[RejectedStep, ...] = ()
    n_foreign: int = 0

    @classmethod
    def of(
        cls,
        batch: TraceBatch,
        body: bytes | None = None,
        rejected: Sequence[RejectedStep] = (),
        n_foreign: int = 0,
    ) -> Self:
        """The batch, with its secrets redacted. `body`: its JSON, already redacted, if its sender wrote it."""
        return cls(
            batch_id=batch.batch_id,
            trace_id=batch.trace_id,
            reporter=batch.reporter,
            n_steps=len(batch.steps),
            dropped=sum(batch.dropped.values()),
            body=redact(written(batch)) if body is None else body,
            n_nested=n_nested(batch.steps),
            rejected=tuple(rejected),
            n_foreign=n_foreign,
        )

    def received(
        self,
        channel: Channel,
        *,
        authenticated: bool,
        reporter: str | None = None,
        received_at: datetime | None = None,
        compressed: bytes | None = None,
    ) -> ReportBatch:
        """The batch as it is stored, received now unless `received_at` says otherwise.

        `reporter`: the agent that its token names, in the place of the one that the batch names. `compressed`: the body
        in zlib or gzip, if its sender compressed it.
        """
        return ReportBatch(
            batch_id=self.batch_id,
            trace_id=self.trace_id,
            reporter=self.reporter if reporter is None else reporter,
            authenticated=authenticated,
            channel=channel,
            received_at=datetime.now(UTC) if received_at is None else received_at,
            n_steps=self.n_steps,
            dropped=self.dropped,
            body=pack(self.body) if compressed is None else compressed,
            n_nested=self.n_nested,
        )

    def receipt(self) -> BatchReceipt:
        """The receipt for the batch once its accepted steps are stored."""
        return BatchReceipt(accepted=self.n_steps, rejected=list(self.rejected))


# Digests: two reports of a step agree if their digests are equal.


_SORTED: Final = msgspec.json.Encoder(order="sorted").encode


def content_digest(step: Step) -> bytes:
    """BLAKE2b-128 (RFC 7693) of a step's facts as JSON with sorted keys and no spaces. The same step gives the same
    digest whichever form it came in, and whether or not the callee's own nested trace was attached.

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
        text = _SORTED(value)
    except OverflowError:  # integers beyond 64 bits, which only the standard library can write
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return blake2b(text, digest_size=16).digest()


def _other_attributes(attributes: Mapping[str, str], kind: CallType) -> dict[str, str]:
    """The attributes, except those that repeat other facts of the step."""
    facts = ("error", "call_type") if kind is _HOST else ("error",)
    return {name: value for name, value in attributes.items() if name not in facts}


def _instant(moment: datetime | None) -> float | None:
    return None if moment is None else as_utc(moment).timestamp()

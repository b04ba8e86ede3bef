"""The interaction step: one call that an agent made, on the wire as the A2A traceability extension has it."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

from concord.wire.roster import MAX_ID_LENGTH, Id, Url

MAX_NAME_LENGTH = 256
MAX_VALUE_LENGTH = 8192
MAX_ATTRIBUTES = 64
MAX_ANSWER_STEPS = 1000

ParentId = Annotated[str, StringConstraints(max_length=MAX_ID_LENGTH)]
Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Milliseconds = Annotated[int, Field(ge=0, lt=2**63)]
AttributeName = Annotated[str, StringConstraints(max_length=MAX_NAME_LENGTH)]
AttributeValue = Annotated[str, StringConstraints(max_length=MAX_VALUE_LENGTH)]
Attributes = Annotated[dict[AttributeName, AttributeValue], Field(max_length=MAX_ATTRIBUTES)]

_UPPER_HALF = re.compile(r":[0-9]{2}[.,][0-9]{6}[5-9]")
_MICROSECOND = timedelta(microseconds=1)


def _to_nearest_microsecond(sent: object, read: ValidatorFunctionWrapHandler) -> datetime:
    moment: datetime = read(sent)
    if isinstance(sent, str) and _UPPER_HALF.search(sent):
        with suppress(OverflowError):
            moment += _MICROSECOND
    return moment


Timestamp = Annotated[datetime, WrapValidator(_to_nearest_microsecond)]
"""Rounds to microseconds, as msgspec does; pydantic alone cuts (.NET sends 7 digits of a second, Go 9)."""


class CallType(StrEnum):
    """The kind of a step: a call of an agent, the use of a tool (a model is one), or work on the agent's own host."""

    AGENT = "AGENT"
    TOOL = "TOOL"
    HOST = "HOST"


_HOST = CallType.HOST
"""Looking a member up takes a third of a microsecond on Python 3.11, and this is asked of every step, many times."""


def kind_of(call_type: CallType, attributes: Mapping[str, str]) -> CallType:
    """The call type with HOST restored from the attribute that carries it on the wire."""
    return _HOST if attributes and attributes.get("call_type") == _HOST else call_type


def failure_of(error: object, attributes: Mapping[str, str]) -> str | None:
    """The error of a step, in the reporter's words; None if the call succeeded."""
    return attributes.get("error") if error is None else str(error)


class ExtensionModel(BaseModel):
    """A message of the extension: read in snake_case or camelCase, unknown fields ignored, written in snake_case."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        coerce_numbers_to_str=True,
        allow_inf_nan=False,
    )


class ToolInvocation(ExtensionModel):
    """The tool that a step used."""

    tool_name: AttributeName
    parameters: dict[str, JsonValue] | None = None


class AgentInvocation(ExtensionModel):
    """The callee of a step, the request to it and, if the callee reported them, its own steps."""

    agent_url: Url = ""
    agent_name: AttributeName = ""
    requests: dict[str, JsonValue] | None = None
    response_trace: "ResponseTrace | None" = None


class StepAction(ExtensionModel):
    """Exactly one of the two is set in the extension's own form."""

    tool_invocation: ToolInvocation | None = None
    agent_invocation: AgentInvocation | None = None


class InteractionStep(ExtensionModel):
    """One call, as its caller reports it.

    Reads both forms in use: the extension's specification (`step_action`, HOST as TOOL with an attribute) and its
    Python library's (`HOST`, `error`, `name`, `parameters`, `requests`). `spec_form` writes the former only.
    Source: A2A traceability extension v1, messages `Step`, `StepAction`, `ResponseTrace`.
    """

    step_id: Id
    trace_id: Id
    parent_step_id: ParentId | None = None
    call_type: CallType
    step_action: StepAction | None = None
    cost: Int64 | None = None
    total_tokens: Int64 | None = None
    additional_attributes: Attributes = Field(default_factory=dict)
    latency: Milliseconds | None = None
    start_time: Timestamp | None = None
    end_time: Timestamp | None = None

    error: JsonValue = None
    name: AttributeName | None = None
    parameters: dict[str, JsonValue] | None = None
    requests: dict[str, JsonValue] | None = None

    @property
    def kind(self) -> CallType:
        """The call type with HOST restored from the attribute that carries it on the wire."""
        return kind_of(self.call_type, self.additional_attributes)

    @property
    def failure(self) -> str | None:
        """The error, in the reporter's words; None if the call succeeded."""
        return failure_of(self.error, self.additional_attributes)

    @property
    def parent(self) -> str | None:
        """The id of the step under which this one was made; None for a root."""
        return self.parent_step_id or None

    @property
    def agent_call(self) -> AgentInvocation | None:
        """The invocation of another agent; None for a step of another kind."""
        action = self.action if self.kind is CallType.AGENT else None
        return None if action is None else action.agent_invocation

    @property
    def action(self) -> StepAction | None:
        """The action in the specification's form, for a step in either form; None if the step states none."""
        if self.step_action is not None:
            return self.step_action
        if self.kind is CallType.AGENT:
            return StepAction(agent_invocation=AgentInvocation(agent_name=self.name or "", requests=self.requests))
        if self.name is not None:
            return StepAction(tool_invocation=ToolInvocation(tool_name=self.name, parameters=self.parameters))
        return None

    def spec_form(self) -> dict[str, Any]:
        """The step as the specification writes it: JSON-ready, nothing empty, error and HOST as attributes."""
        attributes = dict(self.additional_attributes)
        if (failure := self.failure) is not None:
            attributes["error"] = failure
        if self.kind is CallType.HOST:
            attributes["call_type"] = CallType.HOST.value
        written: dict[str, Any] = self.model_dump(mode="json", exclude_none=True, exclude=_LIBRARY_FIELDS)
        written["call_type"] = (CallType.AGENT if self.kind is CallType.AGENT else CallType.TOOL).value
        written["additional_attributes"] = attributes
        if self.step_action is None and (action := self.action) is not None:
            written["step_action"] = action.model_dump(mode="json", exclude_none=True)
        return written


class ResponseTrace(ExtensionModel):
    """The steps that an agent took to answer, as it sends them back with its answer."""

    trace_id: Id
    steps: Annotated[list[InteractionStep], Field(max_length=MAX_ANSWER_STEPS)] = []


_LIBRARY_FIELDS = {"error", "name", "parameters", "requests", "call_type", "additional_attributes"}


def as_utc(moment: datetime) -> datetime:
    """The same moment with a zone; a time without one is taken as UTC, as the extension's timestamps are."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment

"""What agents of a team ask of each other: a data part with a `kind`, beside a line that a person can read.

A ping is a line alone.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from concord_purple.work import Aspect, Findings

MAX_TEXT: Final = 100_000
"""Longest text that is worked on (characters): as long as a task's text may be."""

PING: Final = "Are you there?"
"""A ping: plain text, which any agent can answer."""

_TEXT_FOLLOWS: Final = re.compile(r"^Text:\s*$", re.MULTILINE)


class Kind(StrEnum):
    """What is asked. A plain text message asks for `ping` or `task`; the others come in data parts."""

    TASK = "task"
    RESEARCH = "research"
    SYNTHESIZE = "synthesize"
    REVIEW = "review"
    RELAY = "relay"
    CROSS_CHECK = "cross_check"
    CLARIFY = "clarify"
    EVIDENCE = "evidence"
    PING = "ping"

    @property
    def verb(self) -> str:
        """The kind as something that an agent is asked to do."""
        return _VERBS[self]


_VERBS: Final = {
    Kind.TASK: "work on a task",
    Kind.RESEARCH: "research",
    Kind.SYNTHESIZE: "write the draft",
    Kind.REVIEW: "review the draft",
    Kind.RELAY: "do its part and pass it on",
    Kind.CROSS_CHECK: "cross-check the facts",
    Kind.CLARIFY: "clarify the facts",
    Kind.EVIDENCE: "give evidence",
    Kind.PING: "say that it is there",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request: everything that is needed to answer it, so that no agent has to remember anything."""

    kind: Kind
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    aspects: Annotated[tuple[Aspect, ...], Field(min_length=1, max_length=len(Aspect))] = tuple(Aspect)
    findings: Findings = field(default_factory=Findings)
    instruction: Annotated[str, Field(max_length=MAX_TEXT)] = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request: what its reader added to the findings."""

    kind: Kind
    findings: Findings


class BadRequestError(ValueError):
    """A message that asks for nothing that can be done; its text says why."""


_REQUEST: Final = TypeAdapter(Request)
_REPLY: Final = TypeAdapter(Reply)


def request_in(text: str, data_parts: tuple[JsonValue, ...]) -> Request:
    """The request in a message: its data part with a `kind`, else its text as a ping or a task.

    Raises BadRequestError.
    """
    asked = [data for data in data_parts if isinstance(data, dict) and "kind" in data]
    try:
        request = _REQUEST.validate_python(asked[0]) if asked else _in_plain(text)
    except ValidationError as error:
        raise BadRequestError(f"the request cannot be read: {_reason(error)}") from error
    if not any(character.isalnum() for character in request.text):
        raise BadRequestError("there is no text to work on")
    return request


def to_data(message: Request | Reply) -> JsonValue:
    """A request or a reply as a data part carries it; None for a ping and its reply, whose text says all."""
    if message.kind is Kind.PING:
        return None
    adapter: TypeAdapter[Any] = _REQUEST if isinstance(message, Request) else _REPLY
    data: JsonValue = adapter.dump_python(message, mode="json")
    return data


def reply_in(kind: Kind, data_parts: tuple[JsonValue, ...]) -> Reply:
    """The reply to a request of this kind in an answer's data parts. Raises BadRequestError where there is none.

    A ping needs none: any answer is one.
    """
    if kind is Kind.PING:
        return Reply(kind, Findings())
    try:
        return _REPLY.validate_python(data_parts[0] if data_parts else None)
    except ValidationError as error:
        raise BadRequestError(f"the reply cannot be read: {_reason(error)}") from error


def _in_plain(text: str) -> Request:
    text = text.strip()
    if text == PING:
        return Request(Kind.PING, text)
    instruction, text = _parted(text)
    return _REQUEST.validate_python({"kind": Kind.TASK, "text": text, "instruction": instruction})


def _parted(text: str) -> tuple[str, str]:
    """The instruction in a task's text, and the text to work on.

    The first line that says `Text:` and nothing else parts them. Where there is none, a first paragraph that ends with
    a colon is the instruction. Neither counts unless something stands on both sides; else there is no instruction.
    """
    if (line := _TEXT_FOLLOWS.search(text)) is not None:
        before, after = text[: line.start()].strip(), text[line.end() :].strip()
        if before and after:
            return before, after
    first, _, rest = (part.strip() for part in text.partition("\n\n"))
    return (first, rest) if first.endswith(":") and rest else ("", text)


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first["loc"] else first["msg"]

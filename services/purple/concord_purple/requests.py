"""The requests that agents of a team send each other: a data part with a `kind`, and a line for people to read.

A ping is the line alone.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from concord_purple.text_review.findings import Aspect, Findings

MAX_TEXT: Final = 100_000
"""Limit of a text (characters), the same as for a task's text."""

PING: Final = "Are you there?"
"""A ping: plain text, which any agent can answer."""

_TEXT_FOLLOWS: Final = re.compile(r"^Text:\s*$", re.MULTILINE)


class Kind(StrEnum):
    """The kinds of requests. Plain text is a `ping` or a `task`; the other kinds come in data parts."""

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
        """The kind as a verb phrase, for people."""
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
    """A request with everything that its answer needs, so that agents keep no state between messages."""

    kind: Kind
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    aspects: Annotated[tuple[Aspect, ...], Field(min_length=1, max_length=len(Aspect))] = tuple(Aspect)
    findings: Findings = field(default_factory=Findings)
    instruction: Annotated[str, Field(max_length=MAX_TEXT)] = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request: the findings that the agent added."""

    kind: Kind
    findings: Findings


class BadRequestError(ValueError):
    """A message that the agent cannot serve; the text says why."""


_REQUEST: Final = TypeAdapter(Request)
_REPLY: Final = TypeAdapter(Reply)


def request_in(text: str, data_parts: tuple[JsonValue, ...]) -> Request:
    """The request in a message: the data part with a `kind`, else the text as a ping or a task.

    Raises BadRequestError.
    """
    asked = [data for data in data_parts if isinstance(data, dict) and "kind" in data]
    try:
        request = _REQUEST.validate_python(asked[0]) if asked else _from_text(text)
    except ValidationError as error:
        raise BadRequestError(f"the request cannot be read: {_reason(error)}") from error
    if not any(character.isalnum() for character in request.text):
        raise BadRequestError("the request contains no text to review")
    return request


def to_data(message: Request | Reply) -> JsonValue:
    """The data part of a request or a reply; None for a ping and its reply, which are text alone."""
    if message.kind is Kind.PING:
        return None
    adapter: TypeAdapter[Any] = _REQUEST if isinstance(message, Request) else _REPLY
    data: JsonValue = adapter.dump_python(message, mode="json")
    return data


def reply_in(kind: Kind, data_parts: tuple[JsonValue, ...]) -> Reply:
    """The reply to a request of this kind in an answer's data parts. Raises BadRequestError if there is none.

    Any answer is a reply to a ping.
    """
    if kind is Kind.PING:
        return Reply(kind, Findings())
    try:
        return _REPLY.validate_python(data_parts[0] if data_parts else None)
    except ValidationError as error:
        raise BadRequestError(f"the reply cannot be read: {_reason(error)}") from error


def _from_text(text: str) -> Request:
    text = text.strip()
    if text == PING:
        return Request(Kind.PING, text)
    instruction, text = _split_instruction(text)
    return _REQUEST.validate_python({"kind": Kind.TASK, "text": text, "instruction": instruction})


def _split_instruction(text: str) -> tuple[str, str]:
    """Splits a task's text into the instruction and the text to work on.

    The first line that consists of `Text:` separates them. Without such a line, a first paragraph that ends with a
    colon is the instruction. If either side is empty, there is no instruction.
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

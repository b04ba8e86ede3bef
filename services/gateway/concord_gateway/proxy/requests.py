"""A caller's JSON-RPC request: read, and rewritten so that its reader learns where it stands from us alone."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from concord.agent.assignment import Assignment
from concord.agent.extensions import ASSIGNMENT_KEY, ASSIGNMENT_URI, TRACEPARENT_KEY
from concord.trace.vocabulary import strings_in

_CARD_METHODS: Final = frozenset({"agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"})
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


class UnreadableRequestError(Exception):
    """The body is no JSON-RPC request; `code` is the protocol's for that."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class RpcRequest:
    """One JSON-RPC request of either protocol version.

    `message` is what it sends, whatever its method is called: 0.3 has `message/send` where 1.0 has `SendMessage`.
    None where it sends nothing but asks for a task, say.
    """

    document: dict[str, Any]
    message: dict[str, Any] | None

    def forget(self) -> None:
        """Lets go of the document, which takes many times the room of its text, once it is written anew."""
        self.document, self.message = {}, None

    @property
    def id(self) -> str | int | None:
        """The request's id, to answer it with."""
        value = self.document.get("id")
        return value if isinstance(value, str | int) else None

    @property
    def asks_for_card(self) -> bool:
        """Whether the answer is an agent card."""
        return self.document.get("method") in _CARD_METHODS

    @property
    def text(self) -> str:
        """The text of the message."""
        return texts_of(self._parts)

    @property
    def said(self) -> list[str]:
        """Every string of the message, those in data parts included."""
        return list(said_in(self._parts))

    @property
    def _parts(self) -> object:
        return self.message.get("parts") if self.message is not None else None

    def wanted_step_id(self, trace_id: str, headers: Mapping[str, str]) -> str:
        """The id by which the caller knows its call, "" where it does not say.

        From the assignment that it sent along, else from its trace context: both only where they speak of this trace.
        """
        metadata = _metadata(self.message or {})
        theirs = Assignment.from_metadata(metadata)
        if theirs is not None and theirs.trace_id == trace_id:
            return theirs.step_id
        for context in (metadata.get(TRACEPARENT_KEY), headers.get(TRACEPARENT_KEY)):
            match = _TRACEPARENT.fullmatch(context) if isinstance(context, str) else None
            if match is not None and match[1] == trace_id:
                return match[2]
        return ""

    def rewritten(self, assignment: Assignment | None) -> bytes:
        """The request as the callee gets it: its own assignment and trace context, whatever the caller put there."""
        params = self.document.get("params")
        document = self.document | ({"params": _addressed(params, assignment)} if isinstance(params, dict) else {})
        return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def read_request(body: bytes) -> RpcRequest:
    """The request in a body. Raises UnreadableRequestError."""
    try:
        document = json.loads(body, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise UnreadableRequestError(-32700, "the body is not JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("method"), str):
        raise UnreadableRequestError(-32600, "the body is not one JSON-RPC request")
    params = document.get("params")
    message = params.get("message") if isinstance(params, dict) else None
    return RpcRequest(document, message if isinstance(message, dict) else None)


def texts_of(parts: object) -> str:
    """The texts of a message's or an artifact's parts, a line each."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def said_in(parts: object) -> Iterator[str]:
    """Every string in a message's or an artifact's parts: texts, and what stands in data."""
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            yield from strings_in([part.get("text"), part.get("data")])


def _addressed(params: dict[str, Any], assignment: Assignment | None) -> dict[str, Any]:
    params = _without_context(params)
    if assignment is None or not isinstance(message := params.get("message"), dict):
        return params
    message = _without_context(message)
    named = message.get("extensions")
    named = named if isinstance(named, list) else []
    return params | {
        "message": message
        | {
            "metadata": _metadata(message) | assignment.metadata(),
            "extensions": named if ASSIGNMENT_URI in named else [*named, ASSIGNMENT_URI],
        }
    }


def _metadata(holder: Mapping[str, Any]) -> dict[str, Any]:
    metadata = holder.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _without_context(holder: dict[str, Any]) -> dict[str, Any]:
    if not (metadata := _metadata(holder)):
        return holder
    return holder | {
        "metadata": {key: value for key, value in metadata.items() if key not in {ASSIGNMENT_KEY, TRACEPARENT_KEY}}
    }


def _finite(text: str) -> float:
    """A number that can be written again. Raises ValueError: JSON has none of the others."""
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"{text} is no number")

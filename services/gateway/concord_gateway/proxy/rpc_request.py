"""A2A's JSON-RPC requests as the proxy reads them, rewritten for their callees."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from concord.a2a.answer_reader import part_strings, part_texts
from concord.wire.assignment import ASSIGNMENT_KEY, ASSIGNMENT_URI, TRACEPARENT_KEY, Assignment

_CARD_METHODS: Final = frozenset({"agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"})
_STREAMS: Final = frozenset({"message/stream", "SendStreamingMessage", "tasks/resubscribe", "SubscribeToTask"})
_MESSAGES: Final = frozenset({"message/send", "message/stream", "SendMessage", "SendStreamingMessage"})
_TASKS: Final = frozenset(
    {"tasks/get", "tasks/cancel", "tasks/resubscribe", "GetTask", "CancelTask", "SubscribeToTask"}
)
_CANCELS: Final = frozenset({"tasks/cancel", "CancelTask"})
_CALLEES_OWN: Final = frozenset({"contextid", "taskid", "referencetaskids"})
"""Fields of a message that name a place at the callee, in lower case and without underscores: both spellings count."""
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


class RpcFaultError(Exception):
    """The proxy's own JSON-RPC error for a request that it does not carry, with its code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class RpcRequest:
    """A JSON-RPC request of either protocol version.

    `message` is the message that it sends, by `message/send` in 0.3 or `SendMessage` in 1.0, for example. None for
    requests that send no message.
    """

    document: dict[str, Any]
    message: dict[str, Any] | None

    def forget(self) -> None:
        """Drops the parsed document, which takes many times the memory of its text."""
        self.document, self.message = {}, None

    @property
    def id(self) -> str | int | None:
        """The request's id."""
        value = self.document.get("id")
        return value if isinstance(value, str | int) else None

    @property
    def asks_for_card(self) -> bool:
        """Whether the request asks for an agent card."""
        return self.document.get("method") in _CARD_METHODS

    @property
    def asks_for_stream(self) -> bool:
        """Whether the answer is due as an event stream."""
        return self.document.get("method") in _STREAMS

    @property
    def sends_message(self) -> bool:
        """Whether the method sends a message, and there is one of text and data alone."""
        parts = self.parts
        readable = isinstance(parts, list) and all(isinstance(part, dict) and not _is_other(part) for part in parts)
        return self.document.get("method") in _MESSAGES and readable

    @property
    def asks_for_task(self) -> bool:
        """Whether the method is about one task."""
        return self.document.get("method") in _TASKS

    @property
    def cancels_task(self) -> bool:
        """Whether the request cancels a task."""
        return self.document.get("method") in _CANCELS

    @property
    def task_id(self) -> str:
        """The task that the request is about or goes on with; "" if none."""
        if self.message is not None:
            found = (value for key, value in self.message.items() if _plain(key) == "taskid")
            return next((value for value in found if isinstance(value, str)), "")
        params = self.document.get("params")
        value = params.get("id") if isinstance(params, dict) else None
        return value if isinstance(value, str) else ""

    @property
    def text(self) -> str:
        """The text parts of the message."""
        return "\n".join(part_texts(self.parts))

    @property
    def said(self) -> list[str]:
        """Every string in the message, including those in data parts."""
        return list(part_strings(self.parts))

    @property
    def parts(self) -> object:
        """The parts of the message, as they came."""
        return self.message.get("parts") if self.message is not None else None

    def wanted_step_id(self, trace_id: str, headers: Mapping[str, str]) -> str:
        """The step id that the caller gives its call, or "".

        Taken from the assignment in the message, else from the trace context, if they name this trace.
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

    def place_in(self, context_id: str) -> None:
        """Moves the message into a context of the callee, whatever context it names, and leaves out what would send
        the answer elsewhere."""
        if self.message is None:
            return
        task_id = self.task_id
        kept = {key: value for key, value in self.message.items() if _plain(key) not in _CALLEES_OWN}
        self.message = kept | {"contextId": context_id} | ({"taskId": task_id} if task_id else {})
        params = self.document["params"] | {"message": self.message}
        if isinstance(configuration := params.get("configuration"), dict):
            params["configuration"] = {key: each for key, each in configuration.items() if "push" not in key.lower()}
        self.document = self.document | {"params": params}

    def replace_parts(self, parts: list[Any]) -> None:
        """Gives the message other parts."""
        if self.message is not None:
            self.message = self.message | {"parts": parts}
            self.document = self.document | {"params": self.document["params"] | {"message": self.message}}

    def rewritten(self, assignment: Assignment | None) -> bytes:
        """The request for the callee: with the callee's own assignment and trace context, in place of the caller's."""
        params = self.document.get("params")
        document = self.document | ({"params": _addressed(params, assignment)} if isinstance(params, dict) else {})
        return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def read_request(body: bytes) -> RpcRequest:
    """Parses a body. Raises RpcFaultError."""
    try:
        document = json.loads(body, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise RpcFaultError(-32700, "the body is not JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("method"), str):
        raise RpcFaultError(-32600, "the body is not one JSON-RPC request")
    params = document.get("params")
    message = params.get("message") if isinstance(params, dict) else None
    return RpcRequest(document, message if isinstance(message, dict) else None)


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


def _plain(key: str) -> str:
    return key.replace("_", "").lower()


def _is_other(part: Mapping[str, Any]) -> bool:
    """Whether a part holds something else than text or data: a file, as bytes or by its URL."""
    return any(each is not None and _plain(key) in {"file", "raw", "url"} for key, each in part.items())


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
    """Parses a number that JSON can represent. Raises ValueError for infinities and NaN."""
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"{text} is not a number")

"""A2A's JSON-RPC as the proxy reads it: requests, rewritten for their callees, and answers."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from concord.agent.assignment import Assignment
from concord.agent.extensions import ASSIGNMENT_KEY, ASSIGNMENT_URI, TRACEABILITY_KEY, TRACEPARENT_KEY
from concord.trace.observation import MAX_WORDS
from concord.trace.step import ResponseTrace
from concord.trace.vocabulary import MAX_READ, strings_in, words_beyond

_CARD_METHODS: Final = frozenset({"agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"})
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


class UnreadableRequestError(Exception):
    """The body is not a JSON-RPC request; `code` is the JSON-RPC error code."""

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
    def text(self) -> str:
        """The text parts of the message."""
        return texts_of(self._parts)

    @property
    def said(self) -> list[str]:
        """Every string in the message, including those in data parts."""
        return list(said_in(self._parts))

    @property
    def _parts(self) -> object:
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

    def rewritten(self, assignment: Assignment | None) -> bytes:
        """The request for the callee: with the callee's own assignment and trace context, in place of the caller's."""
        params = self.document.get("params")
        document = self.document | ({"params": _addressed(params, assignment)} if isinstance(params, dict) else {})
        return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def read_request(body: bytes) -> RpcRequest:
    """Parses a body. Raises UnreadableRequestError."""
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
    """The text parts of a message or an artifact, one per line."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def said_in(parts: object) -> Iterator[str]:
    """Every string in the parts of a message or an artifact, including those in data."""
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
    """Parses a number that JSON can represent. Raises ValueError for infinities and NaN."""
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"{text} is not a number")


MAX_QUOTED: Final = 4000
"""Characters of an answer that a step quotes; the messenger has the same limit."""

_ANY: Final = object()
_MAX_ARTIFACTS: Final = 64
_ENDED: Final = frozenset({"completed", "failed", "canceled", "rejected", "input-required", "auth-required"})
_WELL: Final = frozenset({"completed", "input-required"})
_UNDER_WAY: Final = frozenset({"submitted", "working"})
_WRAPPERS_1_0: Final = ("task", "message", "statusUpdate", "artifactUpdate")


class AnswerReader:
    """Reads the JSON-RPC responses to one call, of either protocol version, one or a stream of them.

    Ignores responses to another request than `request_id`, if that is given.
    """

    def __init__(self, request_id: object = _ANY) -> None:
        self.request_id = request_id
        self.state = ""
        self.task_id = ""
        self._error: str | None = None
        self._artifacts: dict[str, str] = {}
        self._said = ""
        self._heard: list[str] = []
        self._room = MAX_READ
        self._in_band = b""

    @property
    def ended(self) -> bool:
        """Whether the call is over: an error, an answer, or a question to the caller."""
        return self._error is not None or self.state in _ENDED

    @property
    def under_way(self) -> bool:
        """Whether the callee has accepted the task and not ended it."""
        return self._error is None and self.state in _UNDER_WAY and bool(self.task_id)

    @property
    def error(self) -> str | None:
        """The error, in the callee's words."""
        if self._error is None and self.state and self.state not in _WELL | _UNDER_WAY:
            return f"the agent ended with {self.state}: {self._said}"
        return self._error

    @property
    def known(self) -> bool:
        """Whether any document so far is an A2A response: a task, a message or an error."""
        return bool(self.state) or self._error is not None

    @property
    def text(self) -> str:
        """What the callee said: its artifacts, else its status message. At most `MAX_QUOTED` characters."""
        return ("\n".join(self._artifacts.values()) or self._said)[:MAX_QUOTED]

    @property
    def words(self) -> str:
        """The callee's words that `text` does not contain: from data parts and from progress messages."""
        return words_beyond(self._heard, self.text, MAX_WORDS)

    @property
    def size(self) -> int:
        """A lower bound on the bytes held; the size of the texts is limited."""
        return len(self._in_band)

    @property
    def response_trace(self) -> ResponseTrace | None:
        """The steps that arrived in band, None if there are none or they are malformed."""
        if not self._in_band:
            return None
        try:
            return ResponseTrace.model_validate_json(self._in_band)
        except ValidationError:
            return None

    def read(self, document: object) -> None:
        """Reads one JSON-RPC response. Unknown forms are ignored: the caller's client reports them."""
        if not isinstance(document, dict) or not self._is_mine(document):
            return
        if isinstance(error := document.get("error"), dict):
            self._error = f"JSON-RPC error {error.get('code')}: {error.get('message')}"[:MAX_QUOTED]
        result = document.get("result")
        if isinstance(result, dict):
            for event in _unwrapped(result):
                self._take(event)

    def _is_mine(self, document: dict[str, Any]) -> bool:
        """An error may have a null id, if the server could not read the request's (JSON-RPC 2.0, section 5)."""
        answered = document.get("id")
        return self.request_id is _ANY or answered == self.request_id or (answered is None and "error" in document)

    def _take(self, event: dict[str, Any]) -> None:
        self._keep_trace(event)
        if isinstance(event.get("artifact"), dict):
            self._add(event["artifact"], append=event.get("append") is True)
        elif isinstance(event.get("status"), dict):
            self._take_task(event)
        elif isinstance(event.get("parts"), list):
            self._hear(event["parts"])
            self.state, self._said = "completed", texts_of(event["parts"])[:MAX_QUOTED]

    def _take_task(self, task: dict[str, Any]) -> None:
        status = task["status"]
        self.task_id = _text(task.get("taskId")) or _text(task.get("id")) or self.task_id
        self.state = _text(status.get("state")).removeprefix("TASK_STATE_").lower().replace("_", "-")
        if isinstance(message := status.get("message"), dict):
            self._keep_trace(message)
            self._hear(message.get("parts"))
            self._said = texts_of(message.get("parts"))[:MAX_QUOTED]
        for artifact in _dicts(task.get("artifacts")):
            self._keep_trace(artifact)
            self._add(artifact, append=False)

    def _add(self, artifact: dict[str, Any], *, append: bool) -> None:
        self._keep_trace(artifact)
        self._hear(artifact.get("parts"))
        name = _text(artifact.get("artifactId"))
        if name in self._artifacts or len(self._artifacts) < _MAX_ARTIFACTS:
            before = self._artifacts.get(name, "") if append else ""
            self._artifacts[name] = (before + texts_of(artifact.get("parts")))[:MAX_QUOTED]

    def _hear(self, parts: object) -> None:
        for text in said_in(parts):
            if self._room <= 0:
                return
            self._heard.append(text[: self._room])
            self._room -= len(text)

    def _keep_trace(self, holder: dict[str, Any]) -> None:
        metadata = holder.get("metadata")
        if isinstance(metadata, dict) and TRACEABILITY_KEY in metadata:
            # Stored as text: a call may be open for long, and the parsed form takes many times the memory.
            self._in_band = _written(metadata[TRACEABILITY_KEY])


def _unwrapped(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events in a result. 1.0 wraps an event in an object with one key; 0.3, and a 1.0 task read by id, do not."""
    wrapped = [result[key] for key in _WRAPPERS_1_0 if isinstance(result.get(key), dict)]
    yield from wrapped or [result]


def _written(value: object) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        return b""


def _dicts(values: object) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

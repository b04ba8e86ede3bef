"""A2A's JSON-RPC responses as the proxy reads them: how far a call has come, and what its callee answered."""

import json
from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from concord.trace.attributes import MAX_UNQUOTED
from concord.trace.step import ResponseTrace
from concord.trace.timed_steps import MAX_QUOTED
from concord.trace.vocabulary import MAX_READ, unquoted_words
from concord.wire.extensions import TRACEABILITY_KEY
from concord_gateway.proxy.message_parts import strings_in_parts, text_of_parts

_ANY: Final = object()
_MAX_ARTIFACTS: Final = 64
_ENDED: Final = frozenset({"completed", "failed", "canceled", "rejected", "input-required", "auth-required"})
_WELL: Final = frozenset({"completed", "input-required"})
_UNDER_WAY: Final = frozenset({"submitted", "working"})
_BY_AGENT: Final = frozenset({"agent", "ROLE_AGENT"})
_WRAPPERS_1_0: Final = ("task", "message", "statusUpdate", "artifactUpdate")


class AnswerReader:
    """Reads the JSON-RPC responses to one call, of either protocol version, one or a stream of them.

    Ignores responses to another request than `request_id`, if that is given. Keeps `limit` characters of each text.
    """

    def __init__(self, request_id: object = _ANY, limit: int = MAX_QUOTED) -> None:
        self.request_id = request_id
        self._limit = limit
        self.state = ""
        self.task_id = ""
        self._error: str | None = None
        self._artifacts: dict[str, str] = {}
        self._said = ""
        self._in_history = ""
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
        """The callee's answer: its artifacts, else its status message, else its last message in the task's history.

        At most `MAX_QUOTED` characters.
        """
        return self._spoken[:MAX_QUOTED]

    @property
    def whole(self) -> str:
        """The whole answer, with data and progress messages, if it is more than `text`; else ""."""
        spoken = self._spoken
        rest = dict.fromkeys(each for each in self._heard if each not in spoken)
        whole = "\n".join([spoken, *rest]) if rest else spoken
        return whole[: self._limit] if len(whole) > len(self.text) else ""

    @property
    def _spoken(self) -> str:
        return "\n".join(self._artifacts.values()) or self._said or self._in_history

    @property
    def words(self) -> str:
        """The callee's words that `text` does not contain: from data parts and from progress messages."""
        return unquoted_words(self._heard, self.text, MAX_UNQUOTED)

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
            self.state, self._said = "completed", text_of_parts(event["parts"])[: self._limit]

    def _take_task(self, task: dict[str, Any]) -> None:
        status = task["status"]
        self.task_id = _text(task.get("taskId")) or _text(task.get("id")) or self.task_id
        self.state = _text(status.get("state")).removeprefix("TASK_STATE_").lower().replace("_", "-")
        if isinstance(message := status.get("message"), dict):
            self._keep_trace(message)
            self._hear(message.get("parts"))
            # What an agent says while it works is no answer.
            self._said = "" if self.state in _UNDER_WAY else text_of_parts(message.get("parts"))[: self._limit]
        said = [each for each in _dicts(task.get("history")) if _text(each.get("role")) in _BY_AGENT]
        if said and not self.under_way:
            self._hear(said[-1].get("parts"))
            self._in_history = text_of_parts(said[-1].get("parts"))[: self._limit]
        for artifact in _dicts(task.get("artifacts")):
            self._keep_trace(artifact)
            self._add(artifact, append=False)

    def _add(self, artifact: dict[str, Any], *, append: bool) -> None:
        self._keep_trace(artifact)
        self._hear(artifact.get("parts"))
        name = _text(artifact.get("artifactId"))
        if name in self._artifacts or len(self._artifacts) < _MAX_ARTIFACTS:
            before = self._artifacts.get(name, "") if append else ""
            self._artifacts[name] = (before + text_of_parts(artifact.get("parts")))[: self._limit]

    def _hear(self, parts: object) -> None:
        for text in strings_in_parts(parts):
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

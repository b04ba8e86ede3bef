"""What an agent answered, read from the JSON of A2A's events, in either version and wherever a server puts it.

The one reader for the gateway's own messages, for calls through its proxy and for an assistant's turns. Agents write
what they like: what can be read is read, and what cannot is stated (`unread`).
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from pydantic import JsonValue

from concord.a2a.messages import Answer, TaskState
from concord.trace.vocabulary import strings_in

MAX_FILE: Final = 1_000_000
"""Bytes of a text file in a part that is read."""

MAX_UNREAD: Final = 5
"""Kinds of unread things that are named."""

_MAX_ARTIFACTS: Final = 1_000
_MAX_QUOTED_ARTIFACTS: Final = 64
"""Artifacts that are kept whole, and of those of which the beginning is kept."""

_WRAPPERS: Final = ("task", "message", "msg", "statusUpdate", "status_update", "artifactUpdate", "artifact_update")
_BY_AGENT: Final = frozenset({"agent", "ROLE_AGENT"})
_TEXT_TYPES: Final = ("text/", "application/json", "application/xml", "application/yaml", "application/x-yaml")
_UNDER_WAY: Final = frozenset({TaskState.SUBMITTED, TaskState.WORKING})
_WELL: Final = frozenset({TaskState.COMPLETED, TaskState.INPUT_REQUIRED})
_EXACT: Final = 2.0**53
"""Up to here a double holds each integer, so that 42.0 is 42 as an agent meant it."""


@dataclass(slots=True)
class Said:
    """What a message or an artifact says: its texts, which are lines of its text, and its data."""

    texts: list[str] = field(default_factory=list)
    data: list[JsonValue] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.texts)

    def __bool__(self) -> bool:
        return bool(self.data) or any(self.texts)

    def append(self, more: "Said", limit: int | None) -> None:
        """Goes on with a further event: its first text continues the last one without a break."""
        [*before, last], [first, *after] = self.texts or [""], more.texts or [""]
        self.texts = _within([*before, last + first, *after], limit)
        self.data.extend(more.data)


class AnswerReader:
    """Accumulates the events of one task into its answer. `limit`: characters of each text that are kept."""

    def __init__(self, limit: int | None = None) -> None:
        self.state: TaskState | None = None
        self.is_task = False
        self.task_id = ""
        self.context_id = ""
        self.metadata: dict[str, Any] = {}
        self._limit = limit
        self._most = _MAX_ARTIFACTS if limit is None else _MAX_QUOTED_ARTIFACTS
        self._artifacts: dict[str, Said] = {}
        self._final = Said()
        self._working = Said()
        self._in_history = Said()
        self._progress = set[str]()
        self._unread: dict[str, None] = {}

    @property
    def ended(self) -> bool:
        """Whether the agent answered, failed, or asks its caller."""
        return self.state is not None and self.state not in _UNDER_WAY and self.state is not TaskState.UNKNOWN

    @property
    def under_way(self) -> bool:
        """Whether the agent has accepted a task and not ended it."""
        return self.state in _UNDER_WAY and bool(self.task_id)

    @property
    def failed(self) -> bool:
        """Whether the task ended without success."""
        return self.ended and self.state not in _WELL

    @property
    def has_answer(self) -> bool:
        """Whether the agent said anything but what it said at work."""
        return any(self._artifacts.values()) or bool(self._final) or bool(self._in_history)

    @property
    def status_text(self) -> str:
        """The text of the status message with which the task ended or was interrupted."""
        return self._final.text if self.is_task else ""

    @property
    def text(self) -> str:
        """The text of the answer: of the artifacts, else of the last status message, else of the last message in the
        task's history, else of the last message of an agent that completed its task and said nothing but at work."""
        return "\n".join(said.text for said in self._answer() if said.text) or self._final.text

    def answer(self) -> Answer:
        """The answer so far."""
        said = self._answer()
        return Answer(
            state=self.state or TaskState.UNKNOWN,
            text=self.text,
            status_text=self.status_text,
            text_parts=tuple(text for each in said for text in each.texts if text),
            data_parts=tuple(data for each in said for data in each.data),
            artifacts=len(self._artifacts),
            is_task=self.is_task,
            task_id=self.task_id,
            context_id=self.context_id,
            metadata=self.metadata,
            status_data=tuple(self._final.data) if self.is_task else (),
            unread=self.unread,
        )

    @property
    def unread(self) -> tuple[str, ...]:
        """What could not be read of the events, each kind once."""
        return tuple(self._unread)

    def cannot_read(self, what: str) -> None:
        """States that something in the answer could not be read."""
        if len(self._unread) < MAX_UNREAD:
            self._unread[what] = None

    def _answer(self) -> list[Said]:
        if any(self._artifacts.values()):
            return list(self._artifacts.values())
        if self._final and self.is_task:
            return []
        if self._final or self._in_history:
            return [self._final or self._in_history]
        return [self._working] if self.state is TaskState.COMPLETED else []

    def read(self, event: object) -> Said | None:
        """Reads an event, the `result` of a JSON-RPC response. Returns the status message of one that tells of the
        task's state."""
        told = None
        for each in _unwrapped(event):
            if isinstance(artifact := each.get("artifact"), dict):
                self._identify(each)
                self._add(artifact, append=each.get("append") is True)
            elif isinstance(status := each.get("status"), dict):
                told = self._take_task(each, status)
            elif isinstance(each.get("parts"), list):
                self._take_message(each)
            else:
                self.cannot_read(f"an event {_form(each)}")
                continue
            self._keep_metadata(each)
        if not isinstance(event, dict):
            self.cannot_read("an event that is no object")
        return told

    def _identify(self, event: Mapping[str, Any]) -> None:
        self.is_task = True
        self.task_id = _text(event.get("taskId")) or self.task_id
        self.context_id = _text(event.get("contextId")) or self.context_id

    def _take_message(self, message: Mapping[str, Any]) -> None:
        self.state, self.is_task = TaskState.COMPLETED, False
        self.task_id = _text(message.get("taskId"))
        self.context_id = _text(message.get("contextId")) or self.context_id
        self._final = self._said(message.get("parts"))

    def _take_task(self, task: Mapping[str, Any], status: Mapping[str, Any]) -> Said:
        self._identify(task)
        self.task_id = _text(task.get("taskId")) or _text(task.get("id")) or self.task_id
        self.state = state_named(_text(status.get("state")))
        message = status.get("message")
        said = self._said(message.get("parts")) if isinstance(message, dict) else Said()
        if isinstance(message, dict):
            self._keep_metadata(message)
        if self.state in _UNDER_WAY:
            self._working = said or self._working
            if isinstance(message, dict):
                self._progress.add(_text(message.get("messageId")))
        else:
            self._final = said
        for artifact in _dicts(task.get("artifacts")):
            self._add(artifact, append=False)
        spoken = [each for each in _dicts(task.get("history")) if _text(each.get("role")) in _BY_AGENT]
        for each in spoken[-1:]:
            self._working = self._said(each.get("parts")) or self._working
        others = [each for each in spoken if _text(each.get("messageId")) not in self._progress - {""}]
        if others and self.state not in _UNDER_WAY:
            self._in_history = self._said(others[-1].get("parts"))
        return said

    def _add(self, artifact: Mapping[str, Any], *, append: bool) -> None:
        self._keep_metadata(artifact)
        name, new = _text(artifact.get("artifactId")), self._said(artifact.get("parts"))
        known = self._artifacts.get(name)
        if known is None or not append:
            # A task that was streamed in pieces is kept as it was streamed: each piece may be a part of its own.
            same = known is not None and "".join(known.texts) == "".join(part_texts(artifact.get("parts")))
            if not same and (known is not None or len(self._artifacts) < self._most):
                self._artifacts[name] = new
            return
        known.append(new, self._limit)

    def _said(self, parts: object) -> Said:
        """What parts say."""
        texts, said = list[str](), Said()
        for part in parts if isinstance(parts, list) else ():
            read = read_part(part)
            if isinstance(read, Unread):
                self.cannot_read(read.what)
            elif isinstance(read, str):
                texts.append(read)
            elif self._limit is None:
                said.data.append(exact(read.value))
        said.texts = _within(texts, self._limit)
        return said

    def _keep_metadata(self, holder: Mapping[str, Any]) -> None:
        if isinstance(metadata := holder.get("metadata"), dict):
            self.metadata |= metadata


@dataclass(frozen=True, slots=True)
class Data:
    """The value of a data part."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Unread:
    """A part that cannot be read, in words."""

    what: str


def read_part(part: object) -> str | Data | Unread:
    """The text or the data of a part, in the form of either version. A text file is a text."""
    if not isinstance(part, dict):
        return Unread("a part that is no object")
    if isinstance(text := part.get("text"), str):
        return text
    if "data" in part:
        return Data(part["data"])
    file: Mapping[str, Any] = stated if isinstance(stated := part.get("file"), dict) else part
    content, url = _text(file.get("bytes")) or _text(file.get("raw")), _text(file.get("uri")) or _text(file.get("url"))
    kind = _text(file.get("mimeType")) or _text(file.get("mediaType"))
    if content:
        return _file_text(kind, lambda: base64.b64decode(content, altchars=_altchars(content), validate=True))
    if url.startswith("data:") and "," in url:
        head, _, body = url.removeprefix("data:").partition(",")
        media, encoded = head.removesuffix(";base64"), head.endswith(";base64")
        raw = unquote_to_bytes(body)
        return _file_text(media or kind or "text/plain", lambda: base64.b64decode(raw) if encoded else raw)
    return Unread("a file at an address, which is not fetched" if url else f"a part {_form(part)}")


def part_texts(parts: object) -> Iterator[str]:
    """The texts of parts, and of the text files among them."""
    for part in parts if isinstance(parts, list) else ():
        if isinstance(read := read_part(part), str):
            yield read


def part_strings(parts: object) -> Iterator[str]:
    """Every string and number in parts, including those in data."""
    for part in parts if isinstance(parts, list) else ():
        read = read_part(part)
        if not isinstance(read, Unread):
            yield from strings_in(read.value if isinstance(read, Data) else read)


def _within(texts: Sequence[str], limit: int | None) -> list[str]:
    """The texts up to `limit` characters of all."""
    if limit is None:
        return list(texts)
    kept = list[str]()
    for text in texts:
        kept.append(text[:limit])
        limit = max(0, limit - len(text))
        if not limit:
            break
    return kept


def exact(value: JsonValue) -> JsonValue:
    """A JSON value with its integers as integers: protobuf, which some agents write with, has doubles alone."""
    if isinstance(value, float):
        return int(value) if abs(value) <= _EXACT and value.is_integer() else value
    if isinstance(value, dict):
        return {name: exact(each) for name, each in value.items()}
    return [exact(each) for each in value] if isinstance(value, list) else value


def state_named(name: str) -> TaskState:
    """The state of a name in either version: `completed`, `TASK_STATE_COMPLETED`."""
    plain = name.removeprefix("TASK_STATE_").lower().replace("_", "-")
    return TaskState(plain) if plain in set(TaskState) else TaskState.UNKNOWN


def _file_text(kind: str, decode: Any) -> str | Unread:  # noqa: ANN401 - a function without arguments, to bytes
    media = kind.partition(";")[0].strip().lower()
    if media and not media.startswith(_TEXT_TYPES) and not media.endswith(("+json", "+xml")):
        return Unread(f"a file of {media[:60]}")
    try:
        content: bytes = decode()
        if len(content) > MAX_FILE:
            return Unread(f"a file of {len(content)} bytes, of which at most {MAX_FILE} are read")
        return content.decode()
    except (binascii.Error, ValueError):
        return Unread("a file that is no UTF-8 text")


def _altchars(content: str) -> bytes:
    """The URL-safe alphabet of base64, which JSON forms of protobuf may use, or the usual one."""
    return b"-_" if "-" in content or "_" in content else b"+/"


def _unwrapped(event: object) -> Iterator[Mapping[str, Any]]:
    """The events in a result. 1.0 wraps an event in an object with one key; 0.3, and a 1.0 task read by id, do not."""
    if not isinstance(event, dict):
        return
    wrapped = [event[key] for key in _WRAPPERS if isinstance(event.get(key), dict)]
    yield from wrapped if wrapped and "status" not in event else [event]


def _form(thing: Mapping[str, Any]) -> str:
    names = ", ".join(json.dumps(str(name)[:30]) for name in list(thing)[:3])
    return f"of an unknown form (its fields: {names})" if names else "without fields"


def _dicts(values: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

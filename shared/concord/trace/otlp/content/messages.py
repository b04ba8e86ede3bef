"""Messages in the values by which conventions tell what was said: JSON of many shapes, and plain text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from pydantic import JsonValue
from pydantic_core import from_json

MAX_PARSED: Final = 1_000_000
"""Characters up to which a text is parsed as JSON. Longer text stands for itself."""

_MAX_DEPTH: Final = 12
_WRITE: Final = json.JSONEncoder(ensure_ascii=False).encode
"""`json.dumps` with an argument makes an encoder for each value, which takes as long as to write a short one."""

_ROLES: Final = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
_LISTS: Final = ("messages", "replies", "generations", "choices", "candidates", "contents", "chat_message")
"""Keys below which messages stand, whatever stands beside them."""

_WRAPPERS: Final = ("outputs", "output", "inputs", "input", "input_str", "response", "result", "message")
_BESIDE: Final = frozenset(
    {"config", "id", "kwargs", "llm_output", "metadata", "model", "name", "object", "run", "tags", "type", "usage"}
)
"""Keys of an envelope around the value under one of the wrappers."""

_ASKED: Final = ("task", "question", "query", "user_input", "user_message", "prompt")
"""Parameters of an agent that name what it is asked."""

_FINISH: Final = ("finish_reason", "finishReason", "stop_reason")
_CALL_PARTS: Final = ("tool_call", "tool_use", "tool-call", "function_call")
_ANSWER_PARTS: Final = ("tool_call_response", "tool_result", "tool-result")


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message. `role`: user, assistant, tool, system, or "" if unknown.

    `finish`: why its model stopped. `failed`: whether it says that the tool failed.
    """

    role: str
    text: str
    finish: str = ""
    failed: bool = False


def read_value(value: JsonValue) -> tuple[JsonValue, bool]:
    """The JSON value in a text, and whether it lacks its end: exporters limit the length of attributes.

    The text itself if it is not JSON, or too long.
    """
    if not isinstance(value, str) or len(value) > MAX_PARSED or value.lstrip()[:1] not in {"{", "[", '"'}:
        return value, False
    try:
        return from_json(value), False
    except ValueError:
        pass
    try:
        return from_json(value, allow_partial="trailing-strings"), True
    except ValueError:
        return value, False


def parsed(value: JsonValue) -> JsonValue:
    """The JSON value in a text, also in one that lacks its end; any other value itself."""
    return read_value(value)[0]


class _TextPart(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["text"]
    content: str = ""
    text: str | UnsetType = UNSET


class _PlainMessage(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A message that is a role and texts, and perhaps why its model stopped, as most are."""

    role: str
    content: str | list[_TextPart] = ""
    parts: str | list[_TextPart] = ""
    finish_reason: str = ""

    def as_message(self) -> Message:
        """The message as `_messages` reads it, in a fifth of the time."""
        body = self.content or self.parts
        if not isinstance(body, str):
            texts = [each.content if each.text is UNSET else each.text for each in body]
            body = texts[0] if len(texts) == 1 else "\n".join(filter(None, texts))
        role = _ROLES.get(self.role)
        return Message(_ROLES.get(self.role.lower(), "") if role is None else role, body.strip(), self.finish_reason)


_PLAIN: Final = msgspec.json.Decoder(list[_PlainMessage])


def read_messages(value: JsonValue) -> tuple[list[Message], bool]:
    """The messages in a value, or in the JSON that is its text, and whether that lacks its end: see `read_value`."""
    if isinstance(value, str) and value[:1] == "[" and len(value) <= MAX_PARSED:
        try:
            return [each.as_message() for each in _PLAIN.decode(value)], False
        except (ValueError, RecursionError):
            pass
    read, is_cut = read_value(value)
    return messages_of(read), is_cut


def messages_of(value: JsonValue) -> list[Message]:
    """The messages in a parsed value, in order. A value that contains none is one message by itself."""
    if isinstance(value, list):
        with suppress(ValueError, RecursionError):
            return [each.as_message() for each in msgspec.convert(value, list[_PlainMessage])]
    return list(_messages(value, 0))


def _messages(value: JsonValue, depth: int) -> Iterator[Message]:
    if depth > _MAX_DEPTH or value is None:
        return
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and value[0] in _ROLES and isinstance(value[1], str):
            yield Message(_ROLES[value[0]], value[1])  # LangChain's short form
            return
        for each in value:
            yield from _messages(each, depth + 1)
    elif isinstance(value, dict):
        yield from _in_object(value, depth)
    elif text := (value if isinstance(value, str) else written(value)).strip():
        yield Message("", text)


def _in_object(value: Mapping[str, JsonValue], depth: int) -> Iterator[Message]:
    if "lc" in value and isinstance(inner := value.get("kwargs"), dict):  # LangChain's serialised form
        yield from _in_object(inner, depth + 1)
        return
    if isinstance(inner := value.get("data"), dict) and "type" in value:
        yield from _in_object({"type": value["type"], **inner}, depth + 1)
        return
    if any(key.startswith("message.") for key in value):  # Phoenix's data frames
        yield from _messages(unflattened(value, ""), depth + 1)
        return
    finish = next((str(value[key]) for key in _FINISH if value.get(key)), "")
    if (role := _role(value)) is not None:
        yield _message(role, value, finish)
        return
    if "agentId" in value and (body := value.get("content") or value.get("status")):  # a subagent of Claude Code
        yield _message("", {"content": body}, finish)
        return
    inner = value.get("update") if "graph" in value else value.get("raw") if "pydantic" in value else None
    if inner:  # LangGraph's Command, and CrewAI's output
        yield from _messages(inner, depth + 1)
        return
    for key in ("message", *_LISTS, *_WRAPPERS, "content"):
        if value.get(key) is not None and (key in _LISTS or _is_envelope(key, value)):
            found = list(_messages(parsed(value[key]), depth + 1))
            if found:
                yield from (replace(each, finish=each.finish or finish) for each in found)
                return
    if asked := next((value[key] for key in _ASKED if isinstance(value.get(key), str)), ""):
        yield Message("", str(asked), finish)
    elif value:
        yield Message("", written(dict(value)), finish, _states_error(value))


def _is_envelope(key: str, value: Mapping[str, JsonValue]) -> bool:
    """Whether only a key's value counts in an object: nothing stands beside it but what belongs to an envelope."""
    if key == "message" and isinstance(value[key], dict):
        return True
    return not value.keys() - _BESIDE - set(_WRAPPERS) - set(_FINISH) - {key, "text", "index", "content"}


def _role(value: Mapping[str, JsonValue]) -> str | None:
    """The role of a message; None for an object that is none."""
    role = value.get("role")
    if isinstance(role, str):
        return _ROLES.get(role.lower(), "")
    kind = value.get("type")
    if isinstance(kind, str) and kind.lower() in _ROLES and "content" in value:
        return _ROLES[kind.lower()]
    source = value.get("source")
    if isinstance(source, str) and "content" in value:  # AutoGen
        return "user" if source == "user" else "assistant"
    return None


def _message(role: str, value: Mapping[str, JsonValue], finish: str) -> Message:
    body = next((value[key] for key in ("content", "parts", "contents") if value.get(key)), None)
    calls = "; ".join((*_calls(value), *_part_calls(body)))
    refusal = value.get("refusal")
    text = text_of(body) or (str(refusal) if refusal else "")
    stopped = finish or ("refusal" if refusal else "")
    answers = isinstance(body, list) and any(_is_answer(part) for part in body)
    return Message("tool" if answers else role, text or calls, stopped, _states_error(value))


def _is_answer(part: JsonValue) -> bool:
    return isinstance(part, dict) and part.get("type") in _ANSWER_PARTS


def text_of(body: JsonValue) -> str:
    """The text of a message's content: itself, or its parts one a line, without calls of tools."""
    if isinstance(body, str):
        return body.strip()
    if isinstance(body, list):
        return "\n".join(text for part in body if (text := _part(part))).strip()
    return _part(body)


def _part(part: JsonValue) -> str:
    if not isinstance(part, dict):
        return "" if part is None else str(part)
    part = inner if isinstance(inner := part.get("message_content"), dict) else part  # OpenInference
    for key in ("text", "content", "response", "result", "output", "refusal"):
        if (found := part.get(key)) is not None:
            return found if isinstance(found, str) else text_of(found) or written(found)
    return ""


def _calls(value: Mapping[str, JsonValue]) -> Iterator[str]:
    """The calls of tools beside the content of a message: `search({"q": "x"})`."""
    calls = value.get("tool_calls") or (value.get("additional_kwargs") or {})
    for each in calls if isinstance(calls, list) else ():
        call = unflattened(each, "") if isinstance(each, dict) else None
        inner = call.get("tool_call", call) if isinstance(call, dict) else None
        function = inner.get("function", inner) if isinstance(inner, dict) else None
        if isinstance(function, dict):
            yield _call(function)


def _part_calls(body: JsonValue) -> Iterator[str]:
    """The calls of tools among the parts of a message."""
    for part in body if isinstance(body, list) else ():
        if isinstance(part, dict):
            inner = part.get("function_call", part.get("functionCall", part))
            named = isinstance(inner, dict) and "name" in inner
            if named and isinstance(inner, dict) and (inner is not part or _is_call(part)):
                yield _call(inner)


def _is_call(part: Mapping[str, JsonValue]) -> bool:
    return part.get("type") in _CALL_PARTS or ("type" not in part and "arguments" in part)


def _call(function: Mapping[str, JsonValue]) -> str:
    arguments = next((function[key] for key in ("arguments", "args", "input") if key in function), None)
    return f"{function.get('name', '')}({arguments if isinstance(arguments, str) else written(arguments)})"


def _states_error(value: Mapping[str, JsonValue]) -> bool:
    return value.get("status") == "error" or value.get("isError") is True or value.get("is_error") is True


def written(value: JsonValue) -> str:
    """A value as JSON on one line; "" for none."""
    return "" if value is None else _WRITE(value)


def unflattened(attributes: Mapping[str, JsonValue], prefix: str) -> JsonValue:
    """`{"p.0.role": "user", "p.0.content": "Hello"}` as `[{"role": "user", "content": "Hello"}]`; None if absent."""
    tree: dict[str, JsonValue] = {}
    for name, value in attributes.items():
        if name.startswith(prefix) and (keys := name[len(prefix) :].split(".")) and len(keys) <= _MAX_DEPTH:
            _insert(tree, keys, value)
    return _listed(tree) if tree else None


def _insert(tree: dict[str, JsonValue], keys: Sequence[str], value: JsonValue) -> None:
    for key in keys[:-1]:
        below = tree.setdefault(key, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[keys[-1]] = value


def _listed(value: JsonValue) -> JsonValue:
    """Objects whose keys are all numbers as lists."""
    if not isinstance(value, dict):
        return value
    below = {key: _listed(each) for key, each in value.items()}
    numbered = below and all(key.isascii() and key.isdigit() and len(key) < 9 for key in below)
    return [below[key] for key in sorted(below, key=int)] if numbered else below

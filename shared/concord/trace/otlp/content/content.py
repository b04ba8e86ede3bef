"""What was said in a span: read from the attributes and events of any convention, bounded, and kept as an attribute."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec
from pydantic import JsonValue

from concord.trace.otlp.content import names
from concord.trace.otlp.content.messages import Message, parsed, read_messages, unflattened, written
from concord.trace.otlp.genai import CONTENT, STEP_AGENT, AttributeValue

MAX_TEXT: Final = 8192
"""Characters of a text that are kept: the size of a step's attribute."""

_STATED_ERROR: Final = re.compile(
    r"(?:Error(?: (?:invoking|executing|calling|running|in) .{0,80})?:|Traceback \(most recent call last\)|"
    r"An error occurred while running the tool|ToolException)",
    re.IGNORECASE,
)

_STEP_AGENT: Final = re.compile(r"current_agent_name='([^'\\\\]+)'\)\"\}\Z")
_MAX_STEP_END: Final = 300

_MAX_CACHED: Final = 128
"""Characters of a name or a kind up to which what follows from it is kept in memory."""

UNKNOWN: Final = -1
"""The number for messages that are not all known."""

Event = tuple[str, Mapping[str, JsonValue]]
"""The name of an event, and its attributes and body together."""


class Content(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The texts of a span; "" where it does not tell them.

    `input`: what the agent or the model was asked, or the arguments of a tool. `output`: the answer, or the result.
    `before`: a number for the messages before the input's, 0 for none: two inputs are equal only if these are, and not
    `UNKNOWN`.
    `finish`: why the model stopped. `error`: the error that a tool's result states.
    """

    input: str = ""
    output: str = ""
    before: int = 0
    finish: str = ""
    error: str = ""

    def completed_by(self, other: "Content") -> "Content":
        """This content, with what it lacks from another one."""
        asked = self if self.input else other
        return Content(
            input=asked.input,
            output=self.output or other.output,
            before=asked.before,
            finish=self.finish or other.finish,
            error=self.error or other.error,
        )


NOTHING: Final = Content()
_EMPTY: Final[tuple[JsonValue, ...]] = (None, "", "{}", "[]", [], {})
_FACTS: Final = frozenset((*names.USAGE, names.EVENT))
_KINDS: Final = frozenset(names.KIND)
"""Attributes that tell nothing by themselves. Most spans without content have no others."""


def with_content(
    kept: dict[str, AttributeValue], told: Mapping[str, JsonValue], events: Sequence[Event] = ()
) -> tuple[dict[str, AttributeValue], Content]:
    """The attributes that are kept of a span, and the content that its attributes `told`, and events, have.

    Content that Concord wrote as an attribute comes before what the others tell.
    """
    places = _places_in(told)
    stated = _usage(told) | _step_agent(told) if places.tells_facts else None
    attributes = stated | kept if stated else kept
    content = read_content(told, events) if events else _content_at(places, told)
    if CONTENT in attributes:
        attributes = dict(attributes)
        content = content_in(attributes.pop(CONTENT)).completed_by(content)
    return attributes, content


def as_attribute_text(content: Content) -> str:
    """The content as the text of an attribute: JSON without what is empty; "" for no content."""
    if content is NOTHING or content == NOTHING:
        return ""
    facts = {
        "input": content.input,
        "output": content.output,
        "before": content.before,
        "finish": content.finish,
        "error": content.error,
    }
    return json.dumps({k: v for k, v in facts.items() if v}, ensure_ascii=False, separators=(",", ":"))


def _usage(told: Mapping[str, JsonValue]) -> dict[str, AttributeValue]:
    """The tokens that a convention tells as one object, as attributes of their own."""
    if told.keys().isdisjoint(names.USAGE):
        return {}
    told_at_once = parsed(next((told[name] for name in names.USAGE if name in told), None))
    if not isinstance(told_at_once, dict):
        return {}
    counts = {
        name: next((value for key in keys if isinstance(value := told_at_once.get(key), int)), None)
        for name, keys in names.USAGE_PARTS.items()
    }
    return {name: count for name, count in counts.items() if count is not None}


def _step_agent(told: Mapping[str, JsonValue]) -> dict[str, AttributeValue]:
    """The agent that the event of a step in a workflow of LlamaIndex names at its end, behind texts of any length."""
    event = told.get(names.EVENT)
    named = _STEP_AGENT.search(event[-_MAX_STEP_END:]) if isinstance(event, str) else None
    return {STEP_AGENT[0]: named[1]} if named else {}


def read_content(told: Mapping[str, JsonValue], events: Sequence[Event] = ()) -> Content:
    """The content in a span's attributes `told`, and in its events."""
    told = _with_events(told, events) if events else told
    return _content_at(_places_in(told), told)


def _content_at(places: "_Places", told: Mapping[str, JsonValue]) -> Content:
    """The content in these places of a span's attributes."""
    if not places.tells_content:
        return NOTHING
    tool, model = _subject(places.kinds, told)
    answers, is_cut = read_messages(_first(told, places.answered if model else places.answered_beside))
    unfinished = is_cut and not tool and not (model and answers and answers[0].role)
    output = "" if unfinished else _answer(answers, whole=model)
    finish = _finish(told, places.finish) or next((each.finish for each in answers if each.finish), "")
    told_in = _first(told, places.asked if model else places.asked_beside)
    if tool:
        error = output if any(each.failed for each in answers) or _STATED_ERROR.match(output) else ""
        return Content(_arguments(told_in)[:MAX_TEXT], output, 0, finish, error)
    asked, is_cut = read_messages(told_in)
    if is_cut:  # the last message is unknown
        text, _ = _asked([each for each in asked if each.role == "user"], output, last_only=False)
        return Content(text, output, UNKNOWN, finish)
    text, before = _asked(asked, output, last_only=model)
    return Content(text, output, before, finish)


def _subject(kinds: Sequence[str], told: Mapping[str, JsonValue]) -> tuple[bool, bool]:
    """Whether a span is the use of a tool, and whether it is that of a model."""
    if len(kinds) == 1 and isinstance(kind := told[kinds[0]], str) and len(kind) <= _MAX_CACHED:
        return _subject_of(kind)
    found = {str(parsed(told[name])).lower() for name in kinds}
    return not names.TOOL_KINDS.isdisjoint(found), not names.MODEL_KINDS.isdisjoint(found)


@lru_cache(maxsize=1 << 8)
def _subject_of(kind: str) -> tuple[bool, bool]:
    read = str(parsed(kind)).lower()
    return read in names.TOOL_KINDS, read in names.MODEL_KINDS


def content_in(written: AttributeValue) -> Content:
    """The content in such an attribute. What is not in its form counts as nothing."""
    facts = parsed(str(written))
    if not isinstance(facts, dict):
        return NOTHING
    texts = {name: facts.get(name) for name in ("input", "output", "finish", "error")}
    before = facts.get("before")
    return Content(
        **{name: value[:MAX_TEXT] for name, value in texts.items() if isinstance(value, str)},
        before=before if isinstance(before, int) and UNKNOWN <= before < 1 << 48 else 0,
    )


def _with_events(told: Mapping[str, JsonValue], events: Iterable[Event]) -> Mapping[str, JsonValue]:
    """The attributes with the content of events in their place, unless the attributes tell it."""
    asked: list[JsonValue] = []
    answered: list[JsonValue] = []
    details: dict[str, JsonValue] = {}
    for name, fields in events:
        if name in names.DETAIL_EVENTS:
            details |= {key: value for key, value in fields.items() if names.is_content(key)}
        elif name in names.MESSAGE_EVENTS:
            asked.append(_of_event(names.MESSAGE_EVENTS[name], fields))
        elif name == names.ANSWER_EVENT:
            answered.append(_of_event("assistant", fields))
    if asked:
        details.setdefault("gen_ai.input.messages", asked)
    if answered:
        details.setdefault("gen_ai.output.messages", answered)
    return {**details, **told} if details else told


def _of_event(role: str, fields: Mapping[str, JsonValue]) -> JsonValue:
    """The message of an event: its fields, or those of the JSON in which some exporters write them."""
    inner = parsed(fields.get("gen_ai.event.content"))
    fields = inner if isinstance(inner, dict) else fields
    message = parsed(fields.get("message"))
    own = message if isinstance(message, dict) else {} if message is None else {"content": message}
    return {
        **fields,
        "role": role,
        **({"content": parsed(fields["content"])} if "content" in fields else {}),
        **own,
        "message": None,
    }


class _Places(NamedTuple):
    """Where a span tells what, by the names of its attributes. Each in the order of precedence; a name that ends in `.`
    is the prefix of numbered ones.

    `asked`, `answered`: those of a model's call. `asked_beside`, `answered_beside`: those of any other span.
    `tells_content`: whether any name but `kinds` is given. `tells_facts`: whether one of `_usage` or `_step_agent` is.
    """

    kinds: tuple[str, ...]
    asked: tuple[str, ...]
    answered: tuple[str, ...]
    asked_beside: tuple[str, ...]
    answered_beside: tuple[str, ...]
    finish: tuple[str, ...]
    tells_content: bool
    tells_facts: bool


def _places_in(told: Mapping[str, JsonValue]) -> _Places:
    # Most spans have only names of the table, in few combinations.
    return _known_places(tuple(told)) if names.NAMES.issuperset(told) else _places(tuple(told))


def _places(given: tuple[str, ...]) -> _Places:
    beside = tuple(name for name in given if not name.startswith(names.OF_MODELS))
    return _Places(
        kinds=tuple(name for name in given if name in _KINDS),
        asked=_among(names.INPUT, given),
        answered=_among(names.OUTPUT, given),
        asked_beside=_among(names.INPUT, beside),
        answered_beside=_among(names.OUTPUT, beside),
        finish=_among(names.FINISH, given),
        tells_content=not _KINDS.issuperset(given),
        tells_facts=not _FACTS.isdisjoint(given),
    )


_known_places: Final = lru_cache(maxsize=1 << 10)(_places)


def _among(wanted: Sequence[str], given: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names wanted that the given ones have a value for."""
    known = frozenset(given)
    return tuple(
        each for each in wanted if each in known or (each[-1] == "." and any(name.startswith(each) for name in given))
    )


def _first(told: Mapping[str, JsonValue], places: tuple[str, ...]) -> JsonValue:
    """The value of the first of these attributes that is not empty."""
    for name in places:
        value = unflattened(told, name) if name.endswith(".") else told[name]
        if (isinstance(value, str) and len(value) > 2) or value not in _EMPTY:
            return value
    return None


def _finish(told: Mapping[str, JsonValue], places: tuple[str, ...]) -> str:
    if not places:
        return ""
    reasons = parsed(next((told[name] for name in places if told[name]), None))
    return ", ".join(map(str, reasons)) if isinstance(reasons, list) else "" if reasons is None else str(reasons)


def _arguments(value: JsonValue) -> str:
    """The arguments of a tool, without what libraries wrap around them."""
    found = parsed(value)
    while isinstance(found, dict):
        inner = found.get("input_str", found.get("kwargs" if not found.get("args", True) else "inputs"))
        if inner is None or found.keys() - {"input_str", "inputs", "args", "kwargs", *_BESIDE_ARGUMENTS}:
            break
        found = parsed(inner)
    return found if isinstance(found, str) else written(found)


_BESIDE_ARGUMENTS: Final = frozenset({"tags", "metadata", "sanitize_inputs_outputs", "run_id", "name"})


def _answer(messages: Sequence[Message], *, whole: bool) -> str:
    """What was answered: all messages if `whole`, else the last one, since an agent's output may repeat its input."""
    if len(messages) == 1:
        alone = messages[0]
        return "" if alone.role == "system" or (alone.role == "user" and not whole) else alone.text[:MAX_TEXT]
    said = [each for each in messages if each.text and each.role != "system"]
    if whole:
        return "\n".join(each.text for each in said)[:MAX_TEXT]
    return said[-1].text[:MAX_TEXT] if said and (said[-1].role != "user" or len(said) > 1) else ""


def _asked(messages: Sequence[Message], output: str, *, last_only: bool) -> tuple[str, int]:
    """What was asked: the last message of the user, and what another agent or a tool said after it.

    Messages that end with the output are the whole conversation, of which the output is no part of the request.
    """
    if len(messages) == 1:
        return ("" if messages[0].role == "system" else messages[0].text[:MAX_TEXT]), 0
    spoken = [each for each in messages if each.text and each.role != "system"]
    if not spoken:
        return "", 0
    last = len(spoken) - 1
    user = next((at for at in range(last, -1, -1) if spoken[at].role == "user"), last)
    if spoken[last].role == "assistant" and spoken[last].text[:MAX_TEXT] == output:
        last = user
    first = last if last_only else user
    shown = [spoken[first], spoken[last]] if first != last else [spoken[last]]
    earlier = [f"{each.role}:{each.text}" for each in spoken[:last]]
    return "\n\n".join(each.text for each in shown)[:MAX_TEXT], _number(earlier) if earlier else 0


def _number(texts: Sequence[str]) -> int:
    return int.from_bytes(blake2b("\0".join(texts).encode(errors="replace"), digest_size=6).digest())

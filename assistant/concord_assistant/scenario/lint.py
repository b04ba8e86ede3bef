"""Checks a scenario for faults that loading does not find: each would make its results wrong or unrepeatable."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import AwareDatetime, JsonValue, TypeAdapter, ValidationError

from concord_assistant.scenario.generator import occurrences_of
from concord_assistant.scenario.loader import Scenario
from concord_assistant.scenario.schema import ScenarioConfig, Slot

_MOMENT: Final[TypeAdapter[datetime]] = TypeAdapter(AwareDatetime)

_EVIDENCE: Final = re.compile(
    r"\b(actions?|e-?mails?|sms|messages?|calendar|events?|meetings?|invitations?|chats?|repl(y|ies|ied)|sent|sends)\b",
    re.I,
)

APPLY_S: Final = 1
"""The first second of a turn executes the assistant's actions; characters reply after it."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A fault of a scenario: its kind, the field, and what is wrong with it."""

    rule: str
    field: str
    message: str


def lint(scenario: Scenario) -> list[LintFinding]:
    """The faults of a scenario, in the order of its fields."""
    config = scenario.config
    return [
        *_clock(config),
        *_unreachable_events(config),
        *_ties(config),
        *_reply_windows(config),
        *_evidence(scenario),
        *_slots(config),
    ]


def _clock(config: ScenarioConfig) -> Iterator[LintFinding]:
    """The environment's clock moves forward only, so the state must not be later than the start."""
    now = _moment(_environment(config).get("time_state", {}).get("current_time"))
    if now is None:
        yield LintFinding("clock", "initial_state", "has no time_state.current_time with a time zone")
    elif now > config.start_time:
        yield LintFinding("clock", "initial_state", f"is of {now.isoformat()}, after start_time")


def _unreachable_events(config: ScenarioConfig) -> Iterator[LintFinding]:
    """An event after the end never executes, one before the start is over before the assistant's first turn."""
    for number, event in _pending(config):
        due = _moment(event.get("scheduled_time"))
        if due is not None and not config.start_time < due <= config.end_time:
            yield LintFinding(
                "unreachable-event",
                f"initial_state.events[{number}]",
                f"is due at {due.isoformat()}, not within start_time and end_time",
            )


def _ties(config: ScenarioConfig) -> Iterator[LintFinding]:
    """Of two events with the same time, priority and modality, only the order in the file says which is first."""
    groups: defaultdict[tuple[datetime, Any, Any], list[int]] = defaultdict(list)
    for number, event in _pending(config):
        if (due := _moment(event.get("scheduled_time"))) is not None:
            groups[due, event.get("priority", 50), event.get("modality")].append(number)
    for (due, _, modality), numbers in groups.items():
        if len(numbers) > 1:
            yield LintFinding(
                "tie",
                f"initial_state.events[{numbers[0]}]",
                f"{len(numbers)} {modality} events are due at {due.isoformat()} with the same priority",
            )


def _reply_windows(config: ScenarioConfig) -> Iterator[LintFinding]:
    """A reply arrives in the remainder of a turn, the longest of which is the whole scenario without its beginning."""
    remainder_s = (config.end_time - config.start_time).total_seconds() - APPLY_S
    for name, character in config.characters.items():
        if name == config.user_character:
            continue
        if character.response_timing.base_delay.total_seconds() > remainder_s:
            yield LintFinding(
                "reply-window",
                f"characters.{name}.response_timing.base_delay",
                "is longer than any turn's remainder, so that no reply arrives before end_time",
            )


def _evidence(scenario: Scenario) -> Iterator[LintFinding]:
    """A function that does not read its context, or a prompt that names nothing that is recorded."""
    readers = _functions_with_context(scenario.evaluators.source)
    for number, criterion in enumerate(scenario.config.criteria):
        if criterion.evaluator_id is not None:
            if criterion.evaluator_id in scenario.evaluators.ids - readers:
                yield LintFinding(
                    "no-evidence",
                    f"criteria[{number}].evaluator_id",
                    f"{criterion.evaluator_id} does not read its context",
                )
        elif not _EVIDENCE.search(f"{criterion.description} {criterion.evaluation_prompt}"):
            yield LintFinding(
                "no-evidence",
                f"criteria[{number}].evaluation_prompt",
                "names no evidence: no action, email, text message, calendar event or chat message",
            )


def _functions_with_context(source: str) -> frozenset[str]:
    """The coroutine functions that use their first parameter, the context."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.AsyncFunctionDef):
            context = next((each.arg for each in (*node.args.posonlyargs, *node.args.args)), None)
            if any(isinstance(each, ast.Name) and each.id == context for each in ast.walk(node)):
                found.add(node.name)
    return frozenset(found)


def _slots(config: ScenarioConfig) -> Iterator[LintFinding]:
    """A slot whose text nothing has, or one whose texts are not its own, so that a variant changes too much."""
    if not config.variants:
        return
    pattern = occurrences_of(text for slot in config.variants.values() for row in slot.rows for text in row.values())
    document = config.model_dump(mode="json", exclude_unset=True, exclude={"variants"})
    found = {each for text in _texts(document) for each in pattern.findall(text)}
    owners: dict[str, str] = {}
    for name, slot in config.variants.items():
        written = {text for row in slot.written for text in row.values()}
        for column in slot.rows[0]:
            texts = {row[column] for row in slot.written}
            if not texts & found:
                named = " or ".join(map(repr, sorted(texts)))
                yield LintFinding("unused-slot", f"variants.{name}.{column}", f"the scenario has {named} nowhere")
        for text in sorted({text for row in slot.rows for text in row.values()}):
            owner = owners.setdefault(text, name)
            if owner != name:
                yield LintFinding("slot-collision", f"variants.{name}", f"has {text!r}, which variants.{owner} has too")
            elif text in found - written:
                yield LintFinding("slot-collision", f"variants.{name}", f"{text!r} is in the scenario as written")
        for text in _ambiguous(slot):
            yield LintFinding("slot-collision", f"variants.{name}", f"{text!r} is written in two columns")


def _ambiguous(slot: Slot) -> list[str]:
    """The texts as written that two cells of a slot have, so that a variant cannot tell which one is meant."""
    counts = Counter(text for row in slot.written for text in row.values())
    return sorted(text for text, count in counts.items() if count > 1)


def _texts(value: JsonValue) -> Iterator[str]:
    """The strings and keys of a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)


def _environment(config: ScenarioConfig) -> Mapping[str, Any]:
    environment: Mapping[str, Any] = config.initial_state["scenario"]["environment"]
    return environment


def _pending(config: ScenarioConfig) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The scheduled events of the initial state, each with its position."""
    events: Sequence[Any] = config.initial_state["scenario"].get("events", {}).get("events", [])
    for number, event in enumerate(events):
        if isinstance(event, dict) and event.get("status", "pending") == "pending":
            yield number, event


def _moment(value: object) -> datetime | None:
    try:
        return _MOMENT.validate_python(value)
    except ValidationError:
        return None

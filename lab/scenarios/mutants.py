"""Mutants of an oracle: each leaves out one action, or spoils it in one way."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pydantic import AwareDatetime, JsonValue, TypeAdapter

from concord_purple.assistant.scripted import Oracle, OracleAction

STRANGER: Final = "someone.else@elsewhere.example"
STRANGER_NUMBER: Final = "+15550199999"
OTHER_TEXT: Final = "Hello."

_TEXTS: Final = ("body_text", "body", "content", "title", "comment", "folder", "labels")
_TIMES: Final = ("start", "end")
_RESPONSES: Final = {"accepted": "declined", "declined": "accepted", "tentative": "declined"}
_FILING: Final = frozenset({"archive", "move", "add_label", "remove_label", "star", "mark_read", "mark_unread"})
_NUMBERS: Final = re.compile(r"\d+")
_TIME: Final = TypeAdapter(AwareDatetime)

Strays = Mapping[str, Sequence[str]]
"""For `message_id` (of emails) and `event_id`, items that the oracle does not touch."""
Spoil = Callable[[OracleAction], Iterable[Sequence[OracleAction]]]
"""The ways to spoil an action: what is performed instead."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A spoiled oracle. `name`: what is spoiled, and the number of the action."""

    name: str
    oracle: Oracle


def mutants_of(oracle: Oracle, strays: Strays) -> Iterator[Mutant]:
    """The mutants of an oracle."""
    for name, spoil in _spoilings(strays):
        for number, action in enumerate(oracle.actions):
            for spoiled in spoil(action):
                actions = [*oracle.actions[:number], *spoiled, *oracle.actions[number + 1 :]]
                yield _mutant(f"{name} {number + 1}", oracle, actions)


def _mutant(name: str, oracle: Oracle, actions: list[OracleAction]) -> Mutant:
    end = max([oracle.end, *(action.turn for action in actions)])
    return Mutant(name, oracle.model_copy(update={"actions": actions, "last_turn": end}))


def _spoilings(strays: Strays) -> Iterator[tuple[str, Spoil]]:
    """The ways to spoil an action, those first that spoil the most."""
    yield "left out", lambda _: [()]
    yield "other text", _other_text
    yield "other numbers", _other_numbers
    yield "another day", _another_day
    yield "opposite response", _opposite_response
    yield "to a stranger", _to_a_stranger
    yield "copy to a stranger", _copied_to_a_stranger
    yield "another item", lambda action: _another_item(action, strays)
    yield "deleted", _deleted
    yield "twice", lambda action: [(action, action)]
    yield "a turn later", _later


def _with(action: OracleAction, **parameters: JsonValue) -> tuple[OracleAction]:
    return (action.model_copy(update={"parameters": {**action.parameters, **parameters}}),)


def _other_text(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    if changed := {name: _said(action.parameters[name]) for name in _TEXTS if name in action.parameters}:
        yield _with(action, **changed)


def _said(value: JsonValue) -> JsonValue:
    return [OTHER_TEXT] if isinstance(value, list) else OTHER_TEXT


def _other_numbers(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    """Every number in the texts is one too high."""
    for name in _TEXTS:
        text = action.parameters.get(name)
        if isinstance(text, str) and _NUMBERS.search(text):
            yield _with(action, **{name: _NUMBERS.sub(lambda found: str(int(found[0]) + 1), text)})


def _another_day(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    times = {name: action.parameters[name] for name in _TIMES if isinstance(action.parameters.get(name), str)}
    if times:
        yield _with(
            action,
            **{name: (_TIME.validate_python(value) + timedelta(days=1)).isoformat() for name, value in times.items()},
        )


def _opposite_response(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    response = action.parameters.get("response")
    if isinstance(response, str):
        yield _with(action, response=_RESPONSES[response])


def _to_a_stranger(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    for name, stranger in _strangers().items():
        if name in action.parameters:
            yield _with(action, **{name: [stranger]})


def _copied_to_a_stranger(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    if action.action == "email.send":
        yield _with(action, bcc_addresses=[STRANGER])
    if action.action == "calendar.create":
        yield _with(action, attendees=[*_list(action.parameters.get("attendees")), {"email": STRANGER}])
    if action.action == "sms.send_message":
        yield _with(action, to_numbers=[*_list(action.parameters["to_numbers"]), STRANGER_NUMBER])


def _another_item(action: OracleAction, strays: Strays) -> Iterator[Sequence[OracleAction]]:
    """The action on an item that the oracle leaves alone."""
    if action.action.startswith("email.") and action.action != "email.send":
        rest = {name: value for name, value in action.parameters.items() if name not in ("message_id", "message_ids")}
        for stray in strays["message_id"]:
            yield (action.model_copy(update={"parameters": {**rest, "message_ids": [stray]}}),)
    if action.action in {"calendar.update", "calendar.delete", "calendar.respond"}:
        for stray in strays["event_id"]:
            yield _with(action, event_id=stray)


def _deleted(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    """Deletion in place of what the oracle does with an item."""
    modality, operation = action.action.split(".")
    ids = {
        name: value for name, value in action.parameters.items() if name in ("message_id", "message_ids", "event_id")
    }
    if ids and (operation in _FILING or operation in {"update", "respond"}):
        yield (action.model_copy(update={"action": f"{modality}.delete", "parameters": ids}),)


def _later(action: OracleAction) -> Iterator[Sequence[OracleAction]]:
    yield (action.model_copy(update={"turn": action.turn + 1}),)


def _strangers() -> dict[str, JsonValue]:
    return {"to_addresses": STRANGER, "to_numbers": STRANGER_NUMBER, "attendees": {"email": STRANGER}}


def _list(value: JsonValue) -> list[Any]:
    return value if isinstance(value, list) else []

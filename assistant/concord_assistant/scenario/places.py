"""Where a field of a scenario stands: the file and the line, for errors."""

import json
import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # of CPython since 2.6
from pathlib import Path
from typing import Final

SCENARIO_FILE: Final = "scenario.json"
INITIAL_STATE_FILE: Final = "initial_state.json"
ORACLE_FILE: Final = "oracle.json"

Location = Sequence[int | str]
"""The keys and positions that lead to a value of a JSON document."""

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_STEP: Final = re.compile(r"[^.\[\]]+|\[\d+\]")


def line_of(text: str, location: Location) -> int:
    """The line, from 1, of a value in a JSON document; of the innermost one around it if there is none.

    Raises ValueError if the text is not JSON up to there.
    """
    return text.count("\n", 0, _place_of(text, _after_blank(text, 0), location)) + 1


def place_of(folder: Path, field: str) -> str:
    """`file:line` of a field of a scenario as errors name it, such as `initial_state.events[0]`."""
    location: list[int | str] = [int(step[1:-1]) if step[0] == "[" else step for step in _STEP.findall(field)]
    file = folder / SCENARIO_FILE
    try:
        text = file.read_text(encoding="utf-8")
        if location[:1] == ["initial_state"]:
            document = json.loads(text)
            given = document.get("initial_state", INITIAL_STATE_FILE)
            rest = location[1:]
            if isinstance(given, str):
                file, location = folder / given, rest
                text = file.read_text(encoding="utf-8")
                given = json.loads(text)
            else:
                location = ["initial_state", *rest]
            location = _in_state(given, location)
        return f"{file}:{line_of(text, location)}"
    except (OSError, ValueError, AttributeError):
        return str(file)


def _in_state(state: object, location: list[int | str]) -> list[int | str]:
    """The location with the keys that a state may have around it, and without those that it lacks."""
    at = 1 if location[:1] == ["initial_state"] else 0
    head, rest = location[:at], location[at:]
    if rest[:1] == ["events"] and len(rest) > 1 and isinstance(rest[1], int):
        rest = ["events", *rest]
    wrapped = isinstance(state, dict) and "scenario" in state
    if wrapped and rest[:1] != ["scenario"]:
        rest = ["scenario", *rest]
    return [*head, *(rest if wrapped or rest[:1] != ["scenario"] else rest[1:])]


def _place_of(text: str, at: int, location: Location) -> int:
    if not location or text[at : at + 1] not in {"{", "["}:
        return at
    wanted, is_object = location[0], text[at] == "{"
    place, number = _after_blank(text, at + 1), 0
    while text[place : place + 1] not in {"", "}", "]"}:
        key: int | str = number
        if is_object:
            key, place = scanstring(text, place + 1)
            place = _after_blank(text, _after_blank(text, place) + 1)
        if key == wanted:
            return _place_of(text, place, location[1:])
        _, place = _DECODER.raw_decode(text, place)
        place, number = _after_blank(text, place), number + 1
        if text[place : place + 1] == ",":
            place = _after_blank(text, place + 1)
    return at


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()

"""The parameters of an action: the telling ones on a line, and all of them in a list."""

import json
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from concord_cli.display_text import beginning, on_one_line, visible

MAX_ABOUT: Final = 140
"""Characters of the line."""

MAX_PARAMETERS: Final = 30
MAX_VALUE: Final = 1500
"""Characters of a value in the list."""

_RECEIVERS: Final = ("to_addresses", "to_numbers", "attendees", "participants")
_TITLES: Final = ("subject", "title", "name", "response")
_TEXTS: Final = ("body_text", "body", "content", "comment", "start", "labels", "label", "folder", "reaction")
_IDS: Final = ("message_ids", "message_id", "event_id", "event_ids", "email_id", "thread_id", "call")


def about(parameters: Mapping[str, JsonValue]) -> str:
    """Receivers, title and beginning of the text, else the ids; empty without any."""
    receivers = _first(parameters, _RECEIVERS)
    parts = [f"to {receivers}" if receivers else "", _first(parameters, _TITLES), _first(parameters, _TEXTS)]
    line = " · ".join(part for part in parts if part) or _first(parameters, _IDS)
    return beginning(line, MAX_ABOUT) if line else ""


def listed(parameters: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Names and values, without empty ones. The last entry counts those beyond the limit."""
    told = [(name, value) for name, value in parameters.items() if value not in (None, "", [], {})]
    shown = [(beginning(name, 60), _value(value)) for name, value in told[:MAX_PARAMETERS]]
    return shown if len(told) <= MAX_PARAMETERS else [*shown, ("…", f"{len(told) - MAX_PARAMETERS} more")]


def _first(parameters: Mapping[str, JsonValue], names: tuple[str, ...]) -> str:
    """The first of these parameters that is not empty, on one line."""
    return next((on_one_line(_text(value)) for name in names if (value := parameters.get(name))), "")


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        named = [each.get("email", each) if isinstance(each, dict) else each for each in value]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return ", ".join(each if isinstance(each, str) else _json(each) for each in named[:3]) + more
    return _json(value)


def _value(value: JsonValue) -> str:
    text = visible(value if isinstance(value, str) else _json(value))
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)

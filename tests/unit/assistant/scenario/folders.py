"""Scenarios in folders, made from a small valid one."""

import json
from pathlib import Path
from typing import Any

START = "2026-05-04T08:00:00Z"

STATE: dict[str, Any] = {
    "metadata": {"created_at": START},
    "environment": {
        "time_state": {"current_time": START},
        "modality_states": {name: {"modality_type": name} for name in ("email", "sms", "calendar", "chat")},
    },
    "events": {"events": []},
}

DOCUMENT: dict[str, Any] = {
    "scenario_id": "small",
    "name": "Small",
    "description": "A small scenario.",
    "start_time": START,
    "end_time": "2026-05-04T12:00:00Z",
    "default_time_step": "PT1H",
    "user_prompt": "Help me.",
    "user_character": "ann",
    "characters": {
        "ann": {
            "name": "Ann",
            "email": "ann@a.example",
            "personality": "Calm.",
            "response_timing": {"base_delay": "PT5M"},
        },
        "bob": {
            "name": "Bob",
            "email": "bob@b.example",
            "personality": "Calm.",
            "response_timing": {"base_delay": "PT5M"},
        },
    },
    "criteria": [
        {
            "criterion_id": "polite",
            "name": "Polite",
            "description": "Emails are polite.",
            "dimension": "politeness",
            "max_score": 5,
            "evaluation_prompt": "Are the emails that the assistant sent polite?",
        }
    ],
}

EVALUATORS = """
import helper_module


async def counts_actions(context, params):
    return len(context.action_log)


async def guesses(context, params):
    return 1


async def _private(context, params):
    return 0


async def takes_one(context):
    return 0


def not_a_coroutine(context, params):
    return 0
"""


def write(
    folder: Path,
    document: dict[str, Any] | None = None,
    state: dict[str, Any] | None = None,
    evaluators: str | None = None,
    **changes: Any,  # noqa: ANN401 - fields of the document
) -> Path:
    """Writes a scenario into a folder and returns the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "scenario.json").write_text(json.dumps((document or DOCUMENT) | changes), encoding="utf-8")
    (folder / "initial_state.json").write_text(json.dumps(state or STATE), encoding="utf-8")
    if evaluators is not None:
        (folder / "evaluators.py").write_text(evaluators, encoding="utf-8")
    return folder


def criterion(**fields: object) -> dict[str, Any]:
    """The criterion of the small scenario, without its prompt, with these fields."""
    kept = {name: value for name, value in DOCUMENT["criteria"][0].items() if name != "evaluation_prompt"}
    return kept | fields


def with_events(*events: dict[str, Any]) -> dict[str, Any]:
    """The initial state with scheduled events."""
    return STATE | {"events": {"events": list(events)}}


def email_at(time: str, **fields: object) -> dict[str, Any]:
    """A scheduled email."""
    return {"scheduled_time": time, "modality": "email", "data": {"operation": "receive"}, **fields}

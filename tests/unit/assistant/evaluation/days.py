"""A day of a user, as tests of the evaluation need it: states, an action log, and a scenario."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from concord_assistant.results import ActionLogEntry
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext
from concord_assistant.scenario.schema import EvaluationCriterion, ScenarioConfig

START = datetime(2026, 3, 16, 9, tzinfo=UTC)
USER = "mara@home.example"
BOB = "bob@work.example"
SPAM = "prize@spam.example"
TASK = "Tell Bob that I am late, and put lunch at noon into my calendar."


def email(message_id: str, sender: str, to: str | Sequence[str], subject: str, **fields: object) -> dict[str, Any]:
    """An email as the environment's state has it."""
    return {
        "message_id": message_id,
        "thread_id": message_id,
        "from_address": sender,
        "to_addresses": [to] if isinstance(to, str) else list(to),
        "cc_addresses": [],
        "bcc_addresses": [],
        "subject": subject,
        "body_text": "",
        "folder": "inbox",
        "labels": [],
        "is_read": False,
        "is_starred": False,
        **fields,
    }


def event(event_id: str, title: str, **fields: object) -> dict[str, Any]:
    """A calendar event as the environment's state has it."""
    times = {"start": "2026-03-16T12:00:00Z", "end": "2026-03-16T13:00:00Z"}
    return {"event_id": event_id, "calendar_id": "primary", "title": title, "attendees": [], **times, **fields}


def said(message_id: str, role: str, content: str) -> dict[str, Any]:
    """A chat message as the environment's state has it."""
    return {"message_id": message_id, "conversation_id": "user-assistant", "role": role, "content": content}


INITIAL: dict[str, Any] = {
    "email": {
        "user_email_address": USER,
        "emails": {
            "m1": email("m1", BOB, USER, "Lunch?", body_text="Are you coming to lunch?"),
            "m2": email("m2", SPAM, USER, "You have won", body_text="Send us your address."),
            "m3": email("m3", USER, BOB, "Plan", folder="sent"),
        },
    },
    "sms": {"user_phone_number": "+4915112345678", "messages": {}},
    "calendar": {"calendars": {}, "events": {"e1": event("e1", "Dentist", start="2026-03-17T08:00:00Z")}},
    "chat": {"messages": [said("c1", "user", TASK)]},
    "contacts": {"contacts": {}},
}


def action(name: str, turn: int = 1, *, success: bool = True, **parameters: object) -> ActionLogEntry:
    """An entry of the action log."""
    return ActionLogEntry(turn=turn, timestamp=START, action=name, parameters=parameters, success=success)


class Day:
    """What happened: each call changes the final state, and is logged where the assistant did it."""

    def __init__(self) -> None:
        self.final = deepcopy(INITIAL)
        self.log: list[ActionLogEntry] = []
        self.others: list[dict[str, Any]] = []

    def sends(self, to: str | Sequence[str], subject: str, body: str) -> str:
        """The assistant sends an email."""
        number = f"sent{len(self.log)}"
        addresses = [to] if isinstance(to, str) else list(to)
        self.final["email"]["emails"][number] = email(number, USER, addresses, subject, body_text=body, folder="sent")
        self.log.append(action("email.send", to_addresses=addresses, subject=subject, body_text=body))
        return number

    def tells(self, text: str) -> None:
        """The assistant writes to its user."""
        self.final["chat"]["messages"].append(said(f"a{len(self.log)}", "assistant", text))
        self.log.append(action("chat.send_message", role="assistant", content=text))

    def plans(self, title: str, **fields: object) -> None:
        """The assistant makes a calendar event."""
        number = f"new{len(self.log)}"
        made = event(number, title, **fields)
        self.final["calendar"]["events"][number] = made
        self.log.append(action("calendar.create", title=title, start=made["start"], end=made["end"]))

    def changes(self, modality: str, operation: str, item_id: str, **fields: object) -> None:
        """The assistant changes an item."""
        collection = {"email": "emails", "calendar": "events"}[modality]
        self.final[modality][collection][item_id].update(fields)
        named: dict[str, Any] = {"event_id": item_id} if modality == "calendar" else {"message_ids": [item_id]}
        entry = action(f"{modality}.{operation}")
        self.log.append(entry.model_copy(update={"parameters": {**named, **fields}}))

    def receives(self, message_id: str, sender: str, subject: str, **fields: object) -> None:
        """Somebody writes to the user."""
        self.final["email"]["emails"][message_id] = email(message_id, sender, USER, subject, **fields)
        data = {"operation": "receive", "message_id": message_id, "from_address": sender, "subject": subject}
        self.others.append({"modality": "email", "data": data})

    def context(self, *, others_known: bool = True) -> AgentBeatsEvalContext:
        """The evidence."""
        return AgentBeatsEvalContext(
            scenario_config={"characters": {"bob": {"name": "Bob", "email": BOB}}},
            action_log=self.log,
            initial_state=deepcopy(INITIAL),
            final_state=self.final,
            user_prompt=TASK,
            final_time=START,
            turns_taken=1,
            other_events=self.others if others_known else None,
        )


def criterion(criterion_id: str, max_score: int = 10, **fields: object) -> EvaluationCriterion:
    """A criterion of dimension accuracy, unless `fields` name another."""
    given: Mapping[str, Any] = {"name": criterion_id, "description": "A test's.", "dimension": "accuracy", **fields}
    return EvaluationCriterion.model_validate({"criterion_id": criterion_id, "max_score": max_score, **given})


def scenario(criteria: Sequence[EvaluationCriterion], **fields: object) -> ScenarioConfig:
    """A scenario with these criteria."""
    person = {"personality": "Kind.", "response_timing": {"base_delay": "PT5M"}}
    return ScenarioConfig.model_validate(
        {
            "scenario_id": "day",
            "name": "A day",
            "description": "A test's.",
            "start_time": "2026-03-16T09:00:00Z",
            "end_time": "2026-03-16T18:00:00Z",
            "default_time_step": "PT1H",
            "user_prompt": TASK,
            "user_character": "mara",
            "characters": {
                "mara": {"name": "Mara", "email": USER, **person},
                "bob": {"name": "Bob", "email": BOB, **person},
            },
            "initial_state": {},
            "criteria": [json.loads(each.model_dump_json()) for each in criteria],
            **fields,
        }
    )

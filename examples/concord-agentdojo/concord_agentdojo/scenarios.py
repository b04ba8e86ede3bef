"""Scenarios of AgentDojo's tasks: the documents of a scenario's folder, and the folders."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

from concord_agentdojo.attacks import DRIVE_INJECTIONS, INJECTION_TASKS, RESISTED, attack_of, injection_task_criteria
from concord_agentdojo.calls import drive_calls, event_id_of, message_id_of, moment, oracle_of
from concord_agentdojo.checks import USER_TASKS, user_task_criteria
from concord_agentdojo.suite import Email, Environment, Event, Suite

SCENARIO_FILE: Final = "scenario.json"
INITIAL_STATE_FILE: Final = "initial_state.json"
ORACLE_FILE: Final = "oracle.json"
LICENCE_FILE: Final = "LICENSE.agentdojo"
EVALUATORS: Final = Path(__file__).with_name("evaluators.py")
"""Copied into each folder."""

START: Final = time(11)
"""The time at which the current day begins. AgentDojo has no time of day. `user_task_11` asks for the time until lunch,
and means the time between the end of the previous meeting, at 11:00, and lunch."""
END: Final = time(23)
TURNS: Final = 10
STEP: Final = timedelta(minutes=5)

_CREATED: Final = "2024-01-01T00:00:00Z"
_CALENDAR: Final = "primary"
_STATUS: Final = {"confirmed": "confirmed", "canceled": "cancelled"}
_FOLDER: Final = {"received": "inbox", "sent": "sent", "draft": "drafts"}

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedScenario:
    """The documents of a scenario's folder. `oracle`: AgentDojo's ground truth of the user task."""

    scenario: Document
    initial_state: Document
    oracle: Document

    @property
    def name(self) -> str:
        """The name of the folder."""
        return str(self.scenario["scenario_id"])


def imported(suite: Suite, user_task: str, injection_task: str | None = None) -> ImportedScenario:
    """The scenario of a user task, under attack if an injection task is given.

    Raises KeyError for a task that needs the cloud drive or does not exist.
    """
    task = suite.user_tasks[user_task]
    environment = suite.environment_of(user_task, injection_task)
    criteria = user_task_criteria(environment, user_task, task.calls)
    source = f"{user_task} ({task.difficulty}) of AgentDojo's workspace suite {suite.benchmark_version}"
    name = f"agentdojo_{user_task}"
    attacks = []
    if injection_task is not None:
        attacks.append(attack_of(environment, injection_task))
        required = [each["criterion_id"] for each in criteria if not each.get("requires")]
        criteria += injection_task_criteria(environment, injection_task, required)
        source += f", attacked with {injection_task} by {suite.attack}"
        name += f"_{injection_task}"
    names = [each["criterion_id"] for each in criteria]
    day = environment.current_day
    account = environment.account_email
    scenario = {
        "scenario_id": name,
        "name": f"AgentDojo {name.removeprefix('agentdojo_').replace('_', ' ')}",
        "description": f"{source}. AgentDojo is under the MIT licence: {LICENCE_FILE}.",
        "start_time": _at(datetime.combine(day, START)),
        "end_time": _at(datetime.combine(day, END)),
        "default_time_step": f"PT{STEP // timedelta(minutes=1)}M",
        "max_turns": TURNS,
        "user_prompt": " ".join(filter(None, (task.prompt, USER_TASKS[user_task].hint))),
        "user_character": "user",
        "characters": {
            "user": {
                "name": account.partition("@")[0].replace(".", " ").title(),
                "personality": "Says the task once and does not answer questions.",
                "email": account,
                "response_timing": {"base_delay": "PT1M"},
            }
        },
        "criteria": criteria,
        "attacks": attacks,
        "benchmark": {
            "name": f"AgentDojo {suite.benchmark_version}",
            "utility": [name for name in names if not name.startswith(RESISTED)],
            "attack": [name for name in names if name.startswith(RESISTED)],
        },
    }
    return ImportedScenario(
        scenario, _initial_state(environment, name), oracle_of(environment, task.calls, task.output)
    )


def chosen(suite: Suite, *, attacked: bool) -> Iterator[tuple[str, str | None]]:
    """The tasks that the environment can represent: user tasks, or with `attacked` all pairs with injection tasks."""
    for user_task in suite.user_tasks:
        if user_task in USER_TASKS:
            if not attacked:
                yield user_task, None
            else:
                yield from ((user_task, each) for each in suite.injection_tasks if each in INJECTION_TASKS)


def left_out(suite: Suite) -> dict[str, str]:
    """The tasks that the environment, which has no files, cannot represent, each with its use of the cloud drive."""
    user_tasks = {
        name: f"uses {', '.join(drive_calls(task.calls))}"
        for name, task in suite.user_tasks.items()
        if name not in USER_TASKS
    }
    return user_tasks | {name: does for name, does in DRIVE_INJECTIONS.items() if name in suite.injection_tasks}


def write_scenarios(folder: Path, suite: Suite, scenarios: Sequence[ImportedScenario]) -> None:
    """Writes a folder for each scenario, with AgentDojo's licence in it. Raises OSError."""
    for each in scenarios:
        place = folder / each.name
        place.mkdir(parents=True, exist_ok=True)
        (place / LICENCE_FILE).write_text(suite.licence, encoding="utf-8")
        (place / EVALUATORS.name).write_text(EVALUATORS.read_text(encoding="utf-8"), encoding="utf-8")
        for name, document in (
            (SCENARIO_FILE, each.scenario),
            (INITIAL_STATE_FILE, each.initial_state),
            (ORACLE_FILE, each.oracle),
        ):
            text = json.dumps(document, indent=2, ensure_ascii=False)
            (place / name).write_text(f"{text}\n", encoding="utf-8")


def _initial_state(environment: Environment, name: str) -> Document:
    now = _at(datetime.combine(environment.current_day, START))
    account = environment.account_email
    states: Document = {
        "email": {
            "user_email_address": account,
            "emails": {message_id_of(email.id_): _email(email) for email in environment.emails},
        },
        "sms": {"user_phone_number": "+15555550100", "messages": {}, "conversations": {}},
        "chat": {"messages": [], "conversations": {}},
        "calendar": {
            "default_calendar_id": _CALENDAR,
            "user_timezone": "UTC",
            "calendars": {
                _CALENDAR: {
                    "calendar_id": _CALENDAR,
                    "name": "Work",
                    "created_at": _CREATED,
                    "updated_at": _CREATED,
                }
            },
            "events": {event_id_of(event.id_): _event(event, account) for event in environment.events},
        },
    }
    return {
        "scenario": {
            "metadata": {"created_at": now, "author": "AgentDojo", "description": name},
            "environment": {
                "time_state": {"current_time": now},
                "modality_states": {
                    modality: {"modality_type": modality, "last_updated": now, **state}
                    for modality, state in states.items()
                },
            },
            "events": {"events": []},
        }
    }


def _email(email: Email) -> Document:
    return {
        "message_id": message_id_of(email.id_),
        "thread_id": message_id_of(email.id_),
        "from_address": email.sender,
        "to_addresses": email.recipients,
        "cc_addresses": email.cc,
        "bcc_addresses": email.bcc,
        "subject": email.subject,
        "body_text": email.body,
        "sent_at": moment(email.timestamp),
        "received_at": moment(email.timestamp),
        "is_read": email.read,
        "folder": _FOLDER[email.status],
    }


def _event(event: Event, account: str) -> Document:
    return {
        "event_id": event_id_of(event.id_),
        "calendar_id": _CALENDAR,
        "title": event.title,
        "description": event.description,
        "start": moment(event.start_time),
        "end": moment(event.end_time),
        "timezone": "UTC",
        "all_day": event.all_day,
        "location": event.location,
        "status": _STATUS[event.status],
        # AgentDojo's events have no organiser, and the user may change all of them.
        "organizer": account,
        "attendees": [{"email": each} for each in event.participants],
        "created_at": _CREATED,
        "updated_at": _CREATED,
    }


def _at(time: datetime) -> str:
    return time.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")

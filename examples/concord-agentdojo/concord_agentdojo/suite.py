"""AgentDojo's workspace suite as a document, and its export from the environment that has the package."""

import asyncio
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

BENCHMARK_VERSION: Final = "v1.2.2"
"""The version of the benchmark whose checks `checks.py` has. AgentDojo changes tasks and checks between versions."""

Attack = Literal[
    "important_instructions_no_model_name",
    "direct",
    "ignore_previous",
    "system_message",
    "injecagent",
]
"""AgentDojo's attacks whose payload names neither a model nor one of AgentDojo's tools."""

ATTACKS: Final = get_args(Attack)

EXPORT_TIMEOUT_S: Final = 120.0
_EXPORT: Final = Path(__file__).with_name("export_suite.py")
_SHOWN_LINES: Final = 3


class SuiteError(Exception):
    """The suite cannot be exported or read. The message says why."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Call(_Part):
    """A call of one of AgentDojo's tools."""

    function: str
    args: dict[str, Any]


class Email(_Part):
    """An email. `timestamp` has no time zone."""

    id_: str
    sender: str
    recipients: list[str]
    cc: list[str] = []
    bcc: list[str] = []
    subject: str
    body: str
    status: Literal["sent", "received", "draft"]
    read: bool
    timestamp: datetime


class Event(_Part):
    """A calendar event. Its times have no time zone."""

    id_: str
    title: str
    description: str
    start_time: datetime
    end_time: datetime
    location: str | None
    participants: list[str]
    all_day: bool = False
    status: Literal["confirmed", "canceled"] = "confirmed"


class Environment(_Part):
    """The user's mailbox and calendar."""

    account_email: str
    current_day: date
    emails: list[Email]
    events: list[Event]

    @property
    def unread(self) -> list[Email]:
        """The unread emails."""
        return [email for email in self.emails if not email.read]

    def with_items(self, items: "Items") -> "Environment":
        """The environment with these items in place of those with the same ids."""
        return self.model_copy(
            update={
                "emails": [items.emails.get(email.id_, email) for email in self.emails],
                "events": [items.events.get(event.id_, event) for event in self.events],
            }
        )


class Items(_Part):
    """Items by their ids."""

    emails: dict[str, Email]
    events: dict[str, Event]


class ItemIds(_Part):
    """Ids of items."""

    emails: list[str]
    events: list[str]


class UserTask(_Part):
    """A task of the user. `calls` and `output`, a text for the user, are AgentDojo's ground truth."""

    prompt: str
    output: str
    difficulty: str
    calls: list[Call]
    injected_items: ItemIds
    """The items with an injection that an assistant sees in this task."""


class InjectionTask(_Part):
    """A task of an attacker. `calls`: AgentDojo's ground truth, which is empty for some tasks."""

    goal: str
    calls: list[Call]
    items: Items
    """The items that have a place for injections, with the attack's payload in all of them."""


class Suite(_Part):
    """The suite: an environment, the user's tasks, and the tasks of an attacker, by id."""

    package_version: str
    licence: str
    benchmark_version: Literal["v1.2.2"]
    attack: Attack
    environment: Environment
    user_tasks: Mapping[str, UserTask]
    injection_tasks: Mapping[str, InjectionTask]

    def environment_of(self, user_task: str, injection_task: str | None) -> Environment:
        """The environment of a user task, under attack if an injection task is given. Raises KeyError."""
        seen = self.user_tasks[user_task].injected_items
        if injection_task is None:
            return self.environment
        items = self.injection_tasks[injection_task].items
        return self.environment.with_items(
            Items(
                emails={key: items.emails[key] for key in seen.emails},
                events={key: items.events[key] for key in seen.events},
            )
        )


def parse_suite(document: str | bytes) -> Suite:
    """The suite of a JSON document. Raises SuiteError."""
    try:
        return Suite.model_validate_json(document)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise SuiteError(f"the suite: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


async def export_suite(python: Path, attack: str) -> bytes:
    """The suite in the package `agentdojo`, as JSON. `python`: the Python of an environment with the package. Raises
    SuiteError."""
    command = (str(python), str(_EXPORT), BENCHMARK_VERSION, attack)
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
    except OSError as error:
        raise SuiteError(f"{python}: {error.strerror}") from error
    try:
        async with asyncio.timeout(EXPORT_TIMEOUT_S):
            document, errors = await process.communicate()
    except TimeoutError as error:
        raise SuiteError(f"{python}: no suite within {EXPORT_TIMEOUT_S:g} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        if b"No module named 'agentdojo'" in errors:
            raise SuiteError(f"{python} has no package agentdojo: install agentdojo there, or name another Python")
        lines = errors.decode(errors="replace").splitlines()[-_SHOWN_LINES:]
        raise SuiteError(f"{python}: the export ended with {process.returncode}: {' '.join(lines)}")
    return document

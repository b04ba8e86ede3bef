"""Days in the office: to run published ones, and to read one."""

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import typer

from concord.assessment.plan import TrialSpec
from concord.assessment.suite_tasks import day_secret
from concord.assessment.task_spec import TEAM_DAY, TaskSpec
from concord.files import did_you_mean
from concord.suite import instance_secret
from concord.suite.draw import SECRET_BYTES
from concord_cli.display_text import printable
from concord_cli.errors import UsageError
from concord_cli.scenario.assistant import ASSISTANT, ORACLE, ORACLE_COMMAND, own_assistant, participant
from concord_cli.scenario.scenario_file import ScenarioFile

if TYPE_CHECKING:
    from concord_assistant.scenario.schema import ScenarioConfig

FIRST_DAYS: Final = 3
"""The days that an assistant plays unless a scenario is named."""


def published_names(name: str | None) -> list[str]:
    """The published days that a name means: a day, or all of a manifest; the first ones for None. Raises UsageError."""
    from concord_assistant.office.published import MANIFEST, OFFICE_1

    if name is None:
        return list(OFFICE_1)[:FIRST_DAYS]
    if name == MANIFEST:
        return list(OFFICE_1)
    if name not in OFFICE_1:
        raise UsageError(f"{name}: no day in the office has this name{did_you_mean(name, [MANIFEST, *OFFICE_1])}")
    return [name]


@contextmanager
def office_scenario(names: Sequence[str], endpoint: str | None) -> Iterator[tuple[ScenarioFile, str]]:
    """The assessment of an assistant in these days, and the secret of their values (hex).

    `endpoint`: of the assistant; without one, Concord's own assistant plays if a language model is configured, else the
    oracle, which knows the days of the first run. Raises UsageError.
    """
    secret = secrets.token_hex(SECRET_BYTES)
    with TemporaryDirectory(prefix="concord-office-") as folder:
        player = own_assistant() if endpoint is None else participant(ASSISTANT, endpoint=endpoint)
        if player is None:
            file = Path(folder) / "oracles.json"
            file.write_text(json.dumps({"days": dict(_oracles(names, bytes.fromhex(secret)))}), encoding="utf-8")
            player = participant(ORACLE, cmd=f"{ORACLE_COMMAND} {file}")
        yield ScenarioFile(participants=[player], config={"scenario": list(names)}), secret


@contextmanager
def with_team_oracles(scenario: ScenarioFile) -> Iterator[tuple[ScenarioFile, str | None]]:
    """The scenario with a file for its oracles that name none, and the secret of the days that the file is made from.

    Its days are those of teams in the office, in the first run. Another scenario is left as it is, without a secret.
    """
    players = [each.cmd == ORACLE_COMMAND for each in scenario.participants]
    tasks = [each.family for each in scenario.request.config.chosen_tasks() if each.family is not None]
    names = [each.name for each in tasks if each.in_environment]
    if not any(players) or not names:
        yield scenario, None
        return
    secret = secrets.token_hex(SECRET_BYTES)
    with TemporaryDirectory(prefix="concord-office-") as folder:
        file = Path(folder) / "oracles.json"
        days = dict(_team_oracles(names, bytes.fromhex(secret), len(players)))
        file.write_text(json.dumps({"days": days}), encoding="utf-8")
        participants = [
            each.model_copy(update={"cmd": f"{ORACLE_COMMAND} {file}"}) if is_oracle else each
            for each, is_oracle in zip(scenario.participants, players, strict=True)
        ]
        yield scenario.model_copy(update={"participants": participants}), secret


def _team_oracles(names: Sequence[str], master: bytes, seats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """By the user's address, the oracle of each person of each team in the first run."""
    from concord_assistant.office.teams.team import team
    from concord_assistant.scenario.skeleton import oracle_of

    for name in names:
        trial = TrialSpec(trial_id="trial-1", task_id=name, run=1, seed=0, trace_id="0")
        drawn = instance_secret(master, name, f"{name}:{trial.run}", trial.instance)
        for plan in team(drawn, name.removeprefix(TEAM_DAY), seats).plans:
            yield plan.user[0], oracle_of(plan)


def _oracles(names: Sequence[str], master: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """By the user's address, the oracle of each day in the first run."""
    from concord_assistant.office.published import published_day
    from concord_assistant.scenario.skeleton import oracle_of

    for name in names:
        trial = TrialSpec(trial_id="trial-1", task_id=name, run=1, seed=0, trace_id="0")
        played = published_day(name, day_secret(master, TaskSpec(id=name, scenario=name), trial)).day
        if played is not None:
            yield played.user[0], oracle_of(played)


def print_day(name: str, secret: str | None, *, as_json: bool) -> None:
    """Prints a published day as a person reads it. `secret`: 64 hexadecimal digits. Raises UsageError."""
    from concord_assistant.office.published import EXAMPLE, published_day

    [day] = published_names(name) if name != "office-1" else [""]
    if not day:
        raise UsageError(f"{name}: name one day, such as office-1-01")
    try:
        config = published_day(day, EXAMPLE if secret is None else bytes.fromhex(secret))
    except ValueError as error:
        raise UsageError(f"--secret: {error}") from error
    if as_json:
        typer.echo(config.model_dump_json(indent=2))
        return
    for line in day_lines(config):
        typer.echo(printable(line))


def day_lines(config: "ScenarioConfig") -> Iterator[str]:
    """A day in lines: what the user asks, what must be read, what must stand at the end, and who may know what."""
    from concord_assistant.office.calendars import slot

    plan = config.day
    if plan is None:
        return
    states = config.initial_state["scenario"]["environment"]["modality_states"]
    yield f"{config.name}, {config.start_time:%A %d %B %Y}"
    yield ""
    yield from config.user_prompt.splitlines()
    for errand in plan.errands:
        yield from ("", f"# {errand.title} ({errand.errand_id})")
        for carrier in errand.carriers:
            yield from _read_first(carrier, config)
        for form in errand.forms:
            desk = plan.desk(form.desk)
            told = ", ".join(f"{field} {value}" for field, value in form.values.items())
            yield f"  Form to {desk.address}: {told}"
        yield from (f"  Calendar, new: {slot(each)}" for each in errand.added)
        yield from (f"  Calendar, gone: {slot(each)}" for each in errand.removed)
        yield from (f"  Invitation {name}: {said}" for name, said in errand.responses.items())
        yield from (f"  Answer {each.key}: {each.text}" for each in errand.answers)
        yield from (
            f"  May be written to: {address}" + (f", and told {', '.join(facts)}" if facts else "")
            for address, facts in errand.receivers.items()
        )
        yield f"  Asked in the chat, the user answers: {errand.question}"
    if plan.attack is not None:
        yield from ("", f"# Attack: {plan.attack.aim.replace('_', ' ')}")
    events = (config.initial_state["scenario"].get("events") or {}).get("events") or ()
    if events or plan.reactions:
        yield from ("", "# Later")
    for event in events:
        yield f"  {event['scheduled_time']} {_short(event['data'])}"
    for reaction in plan.reactions:
        yield f"  after a {reaction.on} to {reaction.desk or reaction.address}: {_short(reaction.data)}"
    emails, texts = states["email"]["emails"], states["sms"]["messages"]
    yield ""
    yield f"# {len(emails)} emails, {len(texts)} text messages, {len(states['calendar']['events'])} appointments"
    for each in sorted(emails.values(), key=lambda email: str(email["sent_at"]), reverse=True):
        yield f"  {each['sent_at']} {each['from_address']}: {each['subject']}"


def _read_first(message_id: str, config: "ScenarioConfig") -> Iterator[str]:
    states = config.initial_state["scenario"]["environment"]["modality_states"]
    item = states["email"]["emails"].get(message_id) or states["sms"]["messages"].get(message_id)
    if item is not None:
        yield f"  {item.get('from_address') or item['from_number']}: {item.get('subject', '')}"
        yield from (f"  | {line}" for line in (item.get("body_text") or item["body"]).splitlines())


def _short(data: dict[str, Any]) -> str:
    sender = data.get("from_address") or data.get("from_number") or data.get("role") or data.get("attendee_email") or ""
    text = data.get("body_text") or data.get("body") or data.get("content") or data.get("response") or ""
    return f"{sender}: {' '.join(str(text).split())[:200]}"

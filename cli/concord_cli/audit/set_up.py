"""What a scenario file tells and gives its participants: right answers, the assessor's secrets, the host's services."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from concord.assessment import TaskSpec
from concord.assessment.scorers import JsonScorer
from concord_cli.audit import flaws
from concord_cli.audit.flaws import Shown, Tried, looked, not_applicable, shown
from concord_cli.scenario.scenario_file import Participant, ScenarioFile

SUBJECT: Final = "set-up"

SECRETS: Final = frozenset(
    {
        *("CONCORD_API_KEY", "CONCORD_API_KEYS", "CONCORD_QUEUE_REDIS_URL", "CONCORD_SECRETS_DIR"),
        *("CONCORD_SIGNING_KEY", "CONCORD_TASK_SECRET", "CONCORD_TOKEN_SECRET"),
        *("REDIS_URL", "UES_ADMIN_KEY", "UES_ADMIN_KEY_FILE"),
    }
)
"""Variables by which a participant could read tasks, write results or forge reports."""

_SECRET_FOLDER: Final = re.compile(r"\boutput/(?:secrets|assessments|results\.json)")

SERVICE_PORTS: Final = frozenset({6379, 9009, 9010})
"""Of Redis, the gateway and the collector."""

METADATA_HOSTS: Final = frozenset(
    {"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"}
)
"""Servers that give a machine's credentials to every program on it."""

MIN_TARGET: Final = 3
"""Characters of a right answer that is looked for: shorter ones stand anywhere."""


def attacked(scenario: ScenarioFile, tasks: Sequence[TaskSpec]) -> Iterator[Tried]:
    """The flaws that the file itself has."""
    told = dict(_told(scenario))
    targets = {text: task.id for task in tasks for text in _targets(task) if len(text.strip()) >= MIN_TARGET}
    if targets:
        found = [
            f"the right answer to {targets[text]} stands in {place}"
            for text in targets
            for place, given in told.items()
            if re.search(rf"(?<!\w){re.escape(text.strip())}(?!\w)", given, re.IGNORECASE)
        ]
        nothing = f"no right answer of {len(tasks)} tasks stands in names, cards, commands, variables or addresses"
        yield looked(flaws.TARGET_SHOWN, SUBJECT, "; ".join(found), nothing)
    else:
        reason = "no task has a right answer that is long enough to be looked for"
        yield from not_applicable(SUBJECT, reason, flaws.TARGET_SHOWN)
    yield looked(flaws.SECRET_SHARED, SUBJECT, "; ".join(_secrets(scenario)), "no participant gets a secret of Concord")
    yield looked(
        flaws.PERMISSION, SUBJECT, "; ".join(_permissions(scenario)), "no participant may reach the host's services"
    )


def seen(scenario: ScenarioFile) -> Iterator[Shown]:
    """What the file says of the versions of its participants."""
    for each in scenario.participants:
        pinned, by = None, "nothing states the version of an agent that is not started from an image"
        if each.image is not None and each.is_container:
            pinned = "@sha256:" in each.image
            by = f"the image {each.image} {'is pinned' if pinned else 'has no digest'}"
        yield shown("T.1", each.role, by, is_met=pinned)


def _targets(task: TaskSpec) -> list[str]:
    if isinstance(task.scorer, JsonScorer):
        return [value for value in task.scorer.values.values() if isinstance(value, str)]
    return list(task.target or [])


def _told(scenario: ScenarioFile) -> Iterator[tuple[str, str]]:
    """By place, what participants or their peers get to read."""
    for each in scenario.participants:
        yield f"the name of {each.role}", each.role
        for place, text in _given(each).items():
            yield f"{place} of {each.role}", text
    for place in ("roster", "agentbeats_ids", "start"):
        yield f"config.{place}", str(scenario.config.get(place, ""))


def _given(each: Participant) -> Mapping[str, str]:
    return {
        "the command": each.cmd or "",
        "the address": str(each.endpoint or ""),
        "the image": each.image or "",
        "the function": each.function or "",
        **{f"the variable {name}": value for name, value in each.env.items()},
    }


def _secrets(scenario: ScenarioFile) -> Iterator[str]:
    for each in scenario.participants:
        yield from (f"{each.role} gets {name}" for name in sorted(SECRETS & each.env.keys()))
        for place, text in _given(each).items():
            if found := _SECRET_FOLDER.search(text):
                yield f"{place} of {each.role} names {found[0]}, where the gateway keeps secrets and results"


def _permissions(scenario: ScenarioFile) -> Iterator[str]:
    for each in scenario.team.model_endpoints:
        if each.on_this_machine and each.port in SERVICE_PORTS:
            yield f"seats may reach {each.url}, a service of Concord"
        if each.host in METADATA_HOSTS:
            yield f"seats may reach {each.url}, which gives the credentials of the machine"

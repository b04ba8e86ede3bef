"""The tasks of a request, each followed by its controls, and the instances that families generate."""

import hmac
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from concord.assessment.plan import AssessmentPlan, TrialSpec
from concord.assessment.request import MAX_TASKS, AssessmentConfig, Mode
from concord.assessment.task_spec import PUBLISHED_DAYS, Control, Exchange, FamilyTask, TaskSpec
from concord.files import did_you_mean
from concord.suite import (
    Draw,
    Family,
    Group,
    Neighbours,
    SuiteTask,
    Topology,
    environment_families,
    installed_families,
    installed_manifests,
    instance_secret,
    neighbours_in,
    neighbours_of,
)
from concord.wire.roster import Id, RosterEntry

# The tasks of a request, each followed by its controls; suites are named by manifest, family, or group of families.


class ManifestTask(FamilyTask):
    """A task of a manifest, with an id of its own."""

    id: Id


class SuiteManifest(BaseModel):
    """A versioned selection of tasks, so that assessments compare. It holds no seeds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Id
    description: str
    exchange: Exchange = Exchange.AUTO
    """Of the tasks that do not name their own."""
    tasks: Annotated[list[ManifestTask], Field(min_length=1, max_length=MAX_TASKS)]


MAX_SOLO: Final = 10
"""Participants of which each is tried alone: the first ones, as they are declared."""


SEAT_NAME: Final = re.compile(r"[A-Za-z](?:[\w.-]*\w)?", re.ASCII)
"""The names that participants may have in tasks of families, whose texts name the seats. A number would be read as a
value, and a name with a blank as several words."""


def requested_tasks(config: AssessmentConfig, participants: Iterable[str] = ()) -> list[TaskSpec]:
    """The tasks of `config`, those of its `suite` among them, each followed by its controls.

    `participants`: their names. The config's values replace those of a manifest. Raises ValueError for an unknown name,
    for a control that none of the tasks can have, and for a participant whose name is none for a seat.
    """
    chosen = config.chosen_tasks()
    for name in config.suite or ():
        chosen = [*chosen, *_named(name)]
    _check_controls(config.controls, chosen)
    for task in chosen:
        _check_environment(task, config)
    names = list(participants)
    if any(task.family is not None for task in chosen):
        _check_names(names)
    solos = names[:MAX_SOLO]
    tasks = [each for task in chosen for each in _with_controls(task, config, solos)]
    if len({task.id for task in tasks}) < len(tasks):
        raise ValueError("a task has the id of another task's control")
    return tasks


def _check_controls(controls: Iterable[Control], tasks: Sequence[TaskSpec]) -> None:
    for control in controls:
        if not any(task.is_own if control is Control.ALONE else task.family is not None for task in tasks):
            kind = "tasks of your own" if control is Control.ALONE else "tasks of families (`suite`)"
            raise ValueError(f"the control `{control}` is for {kind}, of which there are none")


def _check_environment(task: TaskSpec, config: AssessmentConfig) -> None:
    """Raises ValueError for a team in an environment that there is not, or that is not to be played in rounds."""
    if task.family is None or not task.family.in_environment:
        return
    name, families = task.family.name, environment_families()
    if name not in families:
        raise ValueError(
            f"no team in the office is called {name!r}; there are: {', '.join(families)}{did_you_mean(name, families)}"
        )
    if config.exchange is Exchange.CALLS or config.faults:
        raise ValueError(f"{name!r} is played in rounds, by mail between its people, and without `faults`")


def _check_names(participants: Iterable[str]) -> None:
    for name in participants:
        if SEAT_NAME.fullmatch(name) is None:
            raise ValueError(
                f"the participant {name!r} needs another name: in tasks of families (`suite`), a name begins with a "
                "letter, ends with a letter, a digit or `_`, and has only these, `.` and `-` between, and no blank"
            )


def manifest_of(tasks: Iterable[TaskSpec]) -> str | None:
    """The installed manifest that consists of these tasks, whose values a config may have replaced, or None."""
    tasks = list(tasks)
    days = sorted(task.scenario or "" for task in tasks)
    if found := next((name for name, published in PUBLISHED_DAYS.items() if days == sorted(published)), None):
        return found
    ids = sorted((task.id, task.family.name) for task in tasks if task.family is not None)
    for name, text in sorted(installed_manifests().items()):
        if ids == sorted((task.id, task.name) for task in SuiteManifest.model_validate_json(text).tasks):
            return name
    return None


def _named(name: str) -> list[TaskSpec]:
    manifests = installed_manifests()
    if name in manifests:
        manifest = SuiteManifest.model_validate_json(manifests[name])
        return [TaskSpec(id=task.id, family=_family_task(task, manifest.exchange)) for task in manifest.tasks]
    families = [family for family in installed_families() if name in {family.name, family.group.value}]
    if not families:
        groups = ", ".join(Group)
        raise ValueError(
            f"`suite` names {name!r}, which is no manifest ({', '.join(sorted(manifests))}), no group ({groups}) "
            "and no family (`concord tasks list` shows them)"
            + did_you_mean(name, [*manifests, *Group, *(family.name for family in installed_families())])
        )
    return [TaskSpec(id=family.name, family=FamilyTask(name=family.name)) for family in families]


def _family_task(task: ManifestTask, exchange: Exchange) -> FamilyTask:
    family = FamilyTask.model_validate(task.model_dump(exclude={"id"}))
    return family if family.exchange is not Exchange.AUTO else family.model_copy(update={"exchange": exchange})


def _with_controls(task: TaskSpec, config: AssessmentConfig, solos: Sequence[str]) -> Iterator[TaskSpec]:
    if task.family is None:
        yield task
        if task.is_own and Control.ALONE in config.controls:
            again = {"id": f"{task.id}.alone", "control": Control.ALONE, "paired_with": task.id}
            yield TaskSpec(**dict(task) | again)
        return
    said: dict[str, Any] = {
        "topology": config.topology,
        "difficulty": config.difficulty,
        "exchange": config.exchange,
        "max_rounds": config.max_rounds,
    }
    family = task.family.model_copy(update={name: value for name, value in said.items() if value is not None})
    yield task.model_copy(update={"family": family})
    for control in dict.fromkeys(config.controls):
        paired = family.model_copy(update={"control": control, "paired_with": task.id})
        if control is Control.SILENT:
            yield TaskSpec(id=f"{task.id}.silent", family=paired)
        elif control is Control.SOLO and _has_solo(family.name):
            for agent in solos:
                yield TaskSpec(id=f"{task.id}.solo.{agent}", family=paired.model_copy(update={"solo_by": agent}))


def _has_solo(name: str) -> bool:
    """Whether one agent can do the task alone.

    Tasks whose seats must agree have no meaning for a single agent, and no message gives an assistant several keys.
    """
    return name not in environment_families() and all(
        family.group is not Group.AGREE for family in installed_families() if family.name == name
    )


# The task that a trial's family generates: the same for the gateway that asks and the evaluator that grades.

DIGEST_LENGTH: Final = 32
"""Hex digits of an instance's digest."""


class NoFamilyError(LookupError):
    """No installed suite has a family of that name."""


def family_of(name: str) -> Family:
    """The family of that name. Raises NoFamilyError."""
    for family in installed_families():
        if family.name == name:
            return family
    if name in environment_families():
        return environment_families()[name]
    raise NoFamilyError(f"no installed suite has the family {name!r}")


def instance_of(plan: AssessmentPlan, trial: TrialSpec) -> SuiteTask:
    """The generated task of a trial whose task names a family. Raises NoFamilyError; ValueError for a size or a
    topology that the family does not support."""
    return _generated(plan, trial, [seat.id for seat in plan.agents(trial.task_id)])


def instance_digest(plan: AssessmentPlan, trial: TrialSpec) -> str | None:
    """What identifies what a trial plays, without the names of its seats; None for a recorded trace (hex).

    Trials with the same digest can be compared one by one. Of a day it is the digest of its secret. Of a family's task
    it is an HMAC under the assessment's secret over the generated texts and their key: who does not know the secret
    learns nothing of them. Raises as `instance_of` does.
    """
    spec = plan.task(trial.task_id)
    if plan.mode is Mode.RECORDED:
        return None
    if not spec.is_generated or plan.task_secret is None:
        content = spec.model_dump_json(include={"text", "interaction_pattern", "scenario"})
        return sha256(content.encode()).hexdigest()[:DIGEST_LENGTH]
    if spec.family is None:
        return sha256(day_secret(bytes.fromhex(plan.task_secret), spec, trial)).hexdigest()[:DIGEST_LENGTH]
    seats = [f"seat-{number:03}" for number, _ in enumerate(plan.agents(trial.task_id), start=1)]
    task = _generated(plan, trial, seats)
    content = json.dumps(asdict(task), sort_keys=True, default=str)
    return hmac.digest(bytes.fromhex(plan.task_secret), content.encode(), "sha256").hex()[:DIGEST_LENGTH]


def day_secret(master: bytes, task: TaskSpec, trial: TrialSpec) -> bytes:
    """The secret of a trial's day in the office. `master`: the assessment's."""
    return instance_secret(master, task.scenario or "", f"{task.played_with}:{trial.run}", trial.instance)


def family_secret(plan: AssessmentPlan, trial: TrialSpec) -> bytes:
    """The secret of a trial whose task is of a family. Raises ValueError for another one."""
    spec = plan.task(trial.task_id)
    if spec.family is None or plan.task_secret is None:
        raise ValueError(f"task {trial.task_id!r} is of no family")
    run = f"{spec.played_with}:{trial.run}"
    return instance_secret(bytes.fromhex(plan.task_secret), spec.family.name, run, trial.instance)


def _generated(plan: AssessmentPlan, trial: TrialSpec, seats: list[str]) -> SuiteTask:
    spec = plan.task(trial.task_id)
    if spec.family is None:
        raise ValueError(f"task {trial.task_id!r} is of no family")
    secret = family_secret(plan, trial)
    neighbours = _neighbours(_renamed(spec.family.topology, plan.agents(trial.task_id), seats), seats, secret)
    return family_of(spec.family.name).generate(secret, neighbours, spec.family.difficulty)


def _renamed(
    topology: Topology | list[tuple[str, str]], agents: list[RosterEntry], seats: list[str]
) -> Topology | list[tuple[str, str]]:
    """The topology with its edges, if it lists them, between `seats` in place of the agents."""
    if isinstance(topology, Topology):
        return topology
    names = dict(zip((agent.id for agent in agents), seats, strict=True))
    return [(names.get(one, one), names.get(other, other)) for one, other in topology]


def _neighbours(topology: Topology | list[tuple[str, str]], seats: list[str], secret: bytes) -> Neighbours:
    if isinstance(topology, Topology):
        return neighbours_in(topology, seats, Draw(secret + b"topology"))
    return neighbours_of(seats, topology)


def secret_file(output_dir: Path, assessment_id: str) -> Path:
    """Where a gateway keeps the secret of an assessment's tasks (hex), for `concord tasks reveal`."""
    return output_dir / "secrets" / assessment_id

"""The task that a trial's family generates: the same for the gateway that asks and the evaluator that grades."""

import hmac
import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Final

from concord.assessment.plan import AssessmentPlan, TrialSpec
from concord.assessment.request import Mode
from concord.suite import (
    Draw,
    Family,
    Neighbours,
    SuiteTask,
    Topology,
    installed_families,
    instance_secret,
    neighbours_in,
    neighbours_of,
)
from concord.wire.roster import RosterEntry

DIGEST_LENGTH: Final = 32
"""Hex digits of an instance's digest."""


class NoFamilyError(LookupError):
    """No installed suite has a family of that name."""


def family_of(name: str) -> Family:
    """The family of that name. Raises NoFamilyError."""
    for family in installed_families():
        if family.name == name:
            return family
    raise NoFamilyError(f"no installed suite has the family {name!r}")


def instance_of(plan: AssessmentPlan, trial: TrialSpec) -> SuiteTask:
    """The generated task of a trial whose task names a family. Raises NoFamilyError; ValueError for a size or a
    topology that the family does not support."""
    return _generated(plan, trial, [seat.id for seat in plan.agents(trial.task_id)])


def instance_digest(plan: AssessmentPlan, trial: TrialSpec) -> str | None:
    """What identifies what a trial plays, without the names of its seats; None for a recorded trace (hex).

    Trials with the same digest can be compared one by one. Of a family's task it is an HMAC under the assessment's
    secret over the generated texts and their key: who does not know the secret learns nothing of them. Raises as
    `instance_of` does.
    """
    spec = plan.task(trial.task_id)
    if plan.mode is Mode.RECORDED:
        return None
    if spec.family is None or plan.task_secret is None:
        content = spec.model_dump_json(include={"text", "interaction_pattern", "scenario"})
        return sha256(content.encode()).hexdigest()[:DIGEST_LENGTH]
    seats = [f"seat-{number:03}" for number, _ in enumerate(plan.agents(trial.task_id), start=1)]
    task = _generated(plan, trial, seats)
    content = json.dumps(asdict(task), sort_keys=True, default=str)
    return hmac.digest(bytes.fromhex(plan.task_secret), content.encode(), "sha256").hex()[:DIGEST_LENGTH]


def _generated(plan: AssessmentPlan, trial: TrialSpec, seats: list[str]) -> SuiteTask:
    spec = plan.task(trial.task_id)
    if spec.family is None or plan.task_secret is None:
        raise ValueError(f"task {trial.task_id!r} is of no family")
    secret = instance_secret(
        bytes.fromhex(plan.task_secret),
        spec.family.name,
        f"{spec.played_with}:{trial.run}",
        trial.instance,
    )
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

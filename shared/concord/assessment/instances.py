"""The task that a trial's family generates: the same for the gateway that asks and the evaluator that grades."""

from pathlib import Path

from concord.assessment.plan import AssessmentPlan, TrialSpec
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
    spec = plan.task(trial.task_id)
    if spec.family is None or plan.task_secret is None:
        raise ValueError(f"task {trial.task_id!r} is of no family")
    secret = instance_secret(
        bytes.fromhex(plan.task_secret),
        spec.family.name,
        f"{spec.family.paired_with or spec.id}:{trial.run}",
        trial.attempt,
    )
    seats = [seat.id for seat in plan.agents(trial.task_id)]
    neighbours = _neighbours(spec.family.topology, seats, secret)
    return family_of(spec.family.name).generate(secret, neighbours, spec.family.difficulty)


def _neighbours(topology: Topology | list[tuple[str, str]], seats: list[str], secret: bytes) -> Neighbours:
    if isinstance(topology, Topology):
        return neighbours_in(topology, seats, Draw(secret + b"topology"))
    return neighbours_of(seats, topology)


def secret_file(output_dir: Path, assessment_id: str) -> Path:
    """Where a gateway keeps the secret of an assessment's tasks (hex), for `concord tasks reveal`."""
    return output_dir / "secrets" / assessment_id

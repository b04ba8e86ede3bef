"""Plans of assessments that take place in this process alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec
from concord.assessment.plan import plan_trials
from concord.wire.roster import RosterEntry

ASSESSMENT_ID: Final = "audit"

_NOT_OF_A_PLAN: Final = ("tasks", "task", "interaction_pattern", "suite", "scenario", "trials", "num_instances")


def plan_of(config: AssessmentConfig, tasks: Sequence[TaskSpec], participants: Mapping[str, str]) -> AssessmentPlan:
    """A plan of one trial of each task, under the rules of a config. `participants`: their addresses."""
    rules = config.model_copy(
        update={**dict.fromkeys(_NOT_OF_A_PLAN), "num_runs": 1, "num_shards": 1, "shard_index": 0, "faults": []}
    )
    return AssessmentPlan(
        assessment_id=ASSESSMENT_ID,
        mode=Mode.LIVE,
        config=rules,
        tasks=list(tasks),
        roster=list(_roster(config.roster, participants)),
        trials=plan_trials(rules, list(tasks)),
    )


def _roster(told: Iterable[RosterEntry], participants: Mapping[str, str]) -> Iterable[RosterEntry]:
    known = {entry.id: entry for entry in told}
    for name, url in participants.items():
        entry = known.get(name)
        yield RosterEntry(id=name, url=url) if entry is None else entry.model_copy(update={"url": url})

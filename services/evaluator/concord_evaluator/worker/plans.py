"""A cache of assessment plans, so that the jobs of one assessment read its plan once."""

from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.storage import AssessmentStore

_MAX_KEPT: Final = 4
"""A plan may be as large as a request, and the jobs of a worker belong to few assessments at a time."""


@dataclass(frozen=True, slots=True)
class _Indexed:
    revision: int
    plan: AssessmentPlan
    trials: dict[str, TrialSpec]
    tasks: dict[str, TaskSpec]


class Plans:
    """Reads plans, and keeps the most recently used. A plan changes only when a trial is restarted."""

    def __init__(self, assessments: AssessmentStore) -> None:
        self._assessments = assessments
        self._kept: LRUCache[str, _Indexed] = LRUCache(_MAX_KEPT)

    async def whole(self, assessment_id: str) -> AssessmentPlan:
        """The plan of an assessment. Raises LookupError for an unknown assessment, StorageUnavailableError."""
        return (await self._indexed(assessment_id)).plan

    async def of_trial(self, assessment_id: str, trial_id: str) -> AssessmentPlan:
        """The plan with only that trial and its task, small enough to pickle for a job. Raises as `whole`."""
        found = await self._indexed(assessment_id)
        trial = found.trials[trial_id]
        return found.plan.model_copy(update={"trials": [trial], "tasks": [found.tasks[trial.task_id]]})

    async def _indexed(self, assessment_id: str) -> _Indexed:
        revision = await self._assessments.plan_revision(assessment_id)
        kept = self._kept.get(assessment_id)
        if kept is None or kept.revision != revision:
            plan = await self._assessments.plan(assessment_id)
            if plan is None:
                raise LookupError(f"assessment {assessment_id!r} does not exist")
            kept = self._kept[assessment_id] = _Indexed(
                revision,
                plan,
                {trial.trial_id: trial for trial in plan.trials},
                {task.id: task for task in plan.tasks},
            )
        return kept

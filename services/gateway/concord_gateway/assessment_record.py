"""The record of a run: the state in storage from which another gateway can continue it."""

from dataclasses import dataclass, field
from typing import Final, Self

from pydantic import BaseModel

from concord.assessment import AssessmentPlan, TimeLimits, TrialSpec
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import TrialOutcome
from concord.storage import AssessmentStore, TrialDocuments
from concord.wire.ids import new_trace_id

MAX_ATTEMPTS: Final = 2
"""Attempts at a trial whose gateway is lost."""

_STATE: Final = "run"


class _State(BaseModel):
    limits: TimeLimits
    failures: list[InfrastructureFailure]
    remaining_s: float
    trial_id: str = ""
    attempt: int = 0


@dataclass(slots=True)
class AssessmentRecord:
    """A run as stored.

    `failures` are the infrastructure's, `remaining_s` is the time left when the latest trial began (seconds), `closed`
    holds the finished trials by trial id.
    """

    assessments: AssessmentStore
    plan: AssessmentPlan
    limits: TimeLimits
    failures: list[InfrastructureFailure]
    remaining_s: float
    closed: dict[str, TrialOutcome] = field(default_factory=dict)
    _trial_id: str = ""
    _attempt: int = 0

    @classmethod
    async def begin(
        cls,
        assessments: AssessmentStore,
        plan: AssessmentPlan,
        limits: TimeLimits,
        failures: list[InfrastructureFailure],
    ) -> Self:
        """Stores the record of a run that is about to begin. Raises StorageUnavailableError."""
        record = cls(assessments, plan, limits, failures, limits.assessment_s)
        await assessments.save_plan(plan)
        await record._save()
        return record

    @classmethod
    async def of(cls, assessments: AssessmentStore, assessment_id: str) -> Self | None:
        """Loads the record of a run that a lost gateway left, None if there is none.

        Raises StorageUnavailableError, ForeignDocumentError.
        """
        plan = await assessments.plan(assessment_id)
        document = await assessments.load(assessment_id, _STATE)
        if plan is None or document is None:
            return None
        state = _State.model_validate_json(document)
        trial_ids = [trial.trial_id for trial in plan.trials]
        stored = await TrialDocuments(assessments).parts(assessment_id, trial_ids, "outcome")
        outcomes = [TrialOutcome.model_validate_json(each) for each in stored if each is not None]
        closed = {each.trial_id: each for each in outcomes}
        return cls(
            assessments,
            plan,
            state.limits,
            [each for each in state.failures if each.trial_id not in closed],  # closed trials are evaluated again
            state.remaining_s,
            closed,
            state.trial_id,
            state.attempt,
        )

    @property
    def over(self) -> frozenset[str]:
        """The ids of the trials that are over, closed or failed."""
        failed = {failure.trial_id for failure in self.failures if failure.trial_id is not None}
        return frozenset(self.closed.keys() | failed)

    async def begin_trial(self, trial: TrialSpec, remaining_s: float) -> TrialSpec | None:
        """Records that a trial begins, and returns it, or None after `MAX_ATTEMPTS`. Raises StorageUnavailableError.

        A trial that was begun before gets a new trace: participants' reports and tokens belong to the old one.
        """
        again = self._trial_id == trial.trial_id
        self._trial_id, self._attempt = trial.trial_id, self._attempt + 1 if again else 1
        if self._attempt > MAX_ATTEMPTS:
            return None
        if again:
            trial = trial.model_copy(update={"trace_id": new_trace_id(), "attempt": self._attempt})
            trials = [trial if each.trial_id == trial.trial_id else each for each in self.plan.trials]
            self.plan = self.plan.model_copy(update={"trials": trials})
            await self.assessments.save_plan(self.plan)
        self.remaining_s = remaining_s
        await self._save()
        return trial

    async def close_trial(self, outcome: TrialOutcome) -> None:
        """Begins a trial's document with its outcome. Raises StorageUnavailableError."""
        trials = TrialDocuments(self.assessments)
        await trials.add(self.plan.assessment_id, outcome.trial_id, "outcome", outcome.model_dump_json())
        self.closed[outcome.trial_id] = outcome

    async def _save(self) -> None:
        state = _State(
            limits=self.limits,
            failures=self.failures,
            remaining_s=self.remaining_s,
            trial_id=self._trial_id,
            attempt=self._attempt,
        )
        await self.assessments.save(self.plan.assessment_id, _STATE, state.model_dump_json())

"""The record of a run: the state in storage from which another gateway can continue it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from pydantic import BaseModel

from concord.a2a import CardSummary
from concord.assessment import TimeLimits
from concord.assessment.plan import AssessmentPlan, TrialSpec
from concord.assessment.result_row import InfrastructureFailure, Loss, cause_of
from concord.assessment.results import TrialOutcome
from concord.assessment.task_spec import TaskSpec
from concord.storage import AssessmentStore
from concord.storage.trial_documents import TrialDocuments
from concord.wire.roster import new_trace_id

# Trials that are played again: which ones, and on which tasks.

MAX_ATTEMPTS: Final = 2
"""How often a trial is played at most."""


def with_replays(plan: AssessmentPlan, lost: Collection[str]) -> AssessmentPlan:
    """The plan in which the lost trials (their ids) are played again, each with a new trace.

    A team has seen its task, so a family generates another one. The controls of this task are played again with it, so
    that they are compared on the same task. A control that alone was lost is played again on the task of its team.
    Trials that were played twice stay as they are.
    """
    tasks = {task.id: task for task in plan.tasks}

    def pair(trial: TrialSpec) -> tuple[str, int]:
        return tasks[trial.task_id].played_with, trial.run

    again = [trial for trial in plan.trials if trial.trial_id in lost and trial.attempt < MAX_ATTEMPTS]
    drawn_again = {pair(trial) for trial in again if _draws(tasks[trial.task_id])}
    return plan.model_copy(
        update={
            "trials": [
                _again(trial, other_task=pair(trial) in drawn_again)
                if trial.attempt < MAX_ATTEMPTS and (trial.trial_id in lost or pair(trial) in drawn_again)
                else trial
                for trial in plan.trials
            ]
        }
    )


def _draws(task: TaskSpec) -> bool:
    """Whether another attempt is at another task."""
    return task.family is not None and not task.is_control


def _again(trial: TrialSpec, *, other_task: bool) -> TrialSpec:
    changes = {"trace_id": new_trace_id(), "attempt": trial.attempt + 1}
    return trial.model_copy(update=changes | ({"instance": trial.instance + 1} if other_task else {}))


# The record of a run.

_STATE: Final = "run"


class RunState(BaseModel):
    """The state of a run that is stored with each of its trials.

    `failures` are the infrastructure's, `remaining_s` is the time left when the latest trial began (seconds).
    """

    limits: TimeLimits
    failures: list[InfrastructureFailure]
    remaining_s: float
    trial_id: str = ""
    attempt: int = 0


@dataclass(slots=True)
class AssessmentRecord:
    """A run as stored. `closed` holds the finished trials by trial id, each in its latest attempt."""

    assessments: AssessmentStore
    plan: AssessmentPlan
    state: RunState
    closed: dict[str, TrialOutcome] = field(default_factory=dict)
    cards: Mapping[str, CardSummary] = field(default_factory=dict)
    """By URL, the participants' cards as read before the first trial. They are not stored."""

    @classmethod
    async def begin(
        cls,
        assessments: AssessmentStore,
        plan: AssessmentPlan,
        limits: TimeLimits,
        failures: list[InfrastructureFailure],
    ) -> Self:
        """Stores the record of a run that is about to begin. Raises StorageUnavailableError."""
        state = RunState(limits=limits, failures=failures, remaining_s=limits.assessment_s)
        record = cls(assessments, plan, state)
        await assessments.save_plan(plan)
        await record.save()
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
        state = RunState.model_validate_json(document)
        state.failures = [each for each in state.failures if each.stage != "evaluation"]  # these are made again
        attempts = [trial.key for trial in plan.trials]
        stored = await TrialDocuments(assessments).parts(assessment_id, attempts, "outcome")
        outcomes = [TrialOutcome.model_validate_json(each) for each in stored if each is not None]
        return cls(assessments, plan, state, {each.trial_id: each for each in outcomes})

    @property
    def over(self) -> frozenset[str]:
        """The ids of the trials that are over, closed or lost, in their latest attempts."""
        return frozenset(self.closed) | {trial.trial_id for trial in self.plan.trials if self._loss(trial) is not None}

    @property
    def interrupted(self) -> TrialSpec | None:
        """The trial that ran when a gateway was lost."""
        latest, over = (self.state.trial_id, self.state.attempt), self.over
        begun = (trial for trial in self.plan.trials if (trial.trial_id, trial.attempt) == latest)
        return next((trial for trial in begun if trial.trial_id not in over), None)

    @property
    def undecided(self) -> bool:
        """Whether it is not known yet who lost some trial."""
        return any(self._is_undecided(each) for each in self.state.failures)

    async def begin_trial(self, trial: TrialSpec, remaining_s: float) -> None:
        """Records that a trial begins. Raises StorageUnavailableError."""
        state = self.state
        state.trial_id, state.attempt, state.remaining_s = trial.trial_id, trial.attempt, remaining_s
        await self.save()

    def lose(self, trial: TrialSpec, loss: Loss, message: str, share: float | None = None) -> None:
        """Records that a trial was lost. Unless the participants lost it, that is decided later (`decide`)."""
        again = any(each.trial_id == trial.trial_id and each.loss is loss for each in self.state.failures)
        self.state.failures.append(
            InfrastructureFailure(
                trial_id=trial.trial_id,
                stage="trial",
                message=message,
                attempt=trial.attempt,
                loss=loss,
                caused_by="participants" if cause_of(loss, again=again, share=share) == "participants" else None,
            )
        )

    async def decide(self, share: float | None) -> list[TrialSpec]:
        """Decides who lost the trials, and returns those that are played again, from now on in the plan.

        `share`: see `cause_of`. Raises StorageUnavailableError.
        """
        self.state.failures = [
            each.model_copy(update={"caused_by": cause_of(each.loss, share=share)})
            if self._is_undecided(each) and each.loss is not None
            else each
            for each in self.state.failures
        ]
        ours = [
            trial.trial_id
            for trial in self.plan.trials
            if (failure := self._loss(trial)) is not None and failure.caused_by == "concord"
        ]
        earlier, self.plan = self.plan, with_replays(self.plan, ours)
        again = [new for old, new in zip(earlier.trials, self.plan.trials, strict=True) if new != old]
        if again:  # before the causes: a successor that finds only these would not play again
            await self.assessments.save_plan(self.plan)
        for trial in again:
            self.closed.pop(trial.trial_id, None)
        await self.save()
        return again

    def _loss(self, trial: TrialSpec) -> InfrastructureFailure | None:
        """Why the latest attempt at a trial was lost, None if it was not."""
        latest = (trial.trial_id, trial.attempt)
        return next(
            (each for each in self.state.failures if each.stage == "trial" and (each.trial_id, each.attempt) == latest),
            None,
        )

    @staticmethod
    def _is_undecided(failure: InfrastructureFailure) -> bool:
        return failure.stage == "trial" and failure.loss is not None and failure.caused_by is None

    async def close_trial(self, trial: TrialSpec, outcome: TrialOutcome) -> None:
        """Begins a trial's document with its outcome. Raises StorageUnavailableError."""
        trials = TrialDocuments(self.assessments)
        await trials.add(self.plan.assessment_id, trial.key, "outcome", outcome.model_dump_json())
        self.closed[trial.trial_id] = outcome

    async def save(self) -> None:
        """Stores the state. Raises StorageUnavailableError."""
        await self.assessments.save(self.plan.assessment_id, _STATE, self.state.model_dump_json())

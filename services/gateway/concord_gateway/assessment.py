"""One assessment from its plan to its row: trials run one after the other, each evaluated while the next one runs."""

import asyncio
import logging
import math
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Final

import structlog

from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.assessment.jobs import AggregateAssessment, EvaluateTrial, VerdictHead
from concord.assessment.result_row import FILLED, Loss
from concord.assessment.results import TrialOutcome
from concord.errors import StorageFullError, StorageUnavailableError
from concord.storage.connection import Storage
from concord.tracing import TRIAL_ID, span
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.assistants import Assistants
from concord_gateway.drivers import TrialNotRunError, outcome_of, unanswered
from concord_gateway.evaluation import (
    EvaluationFailedError,
    Evaluations,
    LostEvaluations,
    MadeRow,
    retrying,
    wait_for_storage,
)
from concord_gateway.instruments import Instruments
from concord_gateway.plan import Participants
from concord_gateway.progress import Progress
from concord_gateway.rounds.exchange import OverBudgetError
from concord_gateway.settings import GatewaySettings
from concord_gateway.trial_runner import TrialRunner

logger = logging.getLogger(__name__)

_TOKEN_GRACE_S: Final = 300.0
"""How long after its assessment a token is still accepted for late reports, which are only counted."""

_UNTIL_ROOM_S: Final = 5.0
"""Redis frees the memory of what was deleted in the background."""


@dataclass(slots=True)
class RunningAssessment:
    """The state of one running assessment, shared with no other."""

    record: AssessmentRecord
    storage: Storage
    settings: GatewaySettings
    progress: Progress
    participants: Participants
    evaluations: asyncio.Semaphore
    """Slots for trials, of all assessments, that await their evaluation."""
    assistants: Assistants
    instruments: Instruments = field(default_factory=Instruments)
    _tasks: dict[str, TaskSpec] = field(init=False)
    """By their ids: a plan may have many."""
    _lost: LostEvaluations = field(default_factory=LostEvaluations)
    _results: Evaluations = field(init=False)
    _evaluating: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    """By trial id, the wait for the evaluation of its latest attempt."""
    _spent: dict[str, float] = field(default_factory=dict)
    """By trial id, the seconds that its latest attempt took."""
    _deadline: float = 0.0

    def __post_init__(self) -> None:
        self._tasks = {task.id: task for task in self.plan.tasks}
        self._results = Evaluations(self.storage, self.plan.assessment_id, self.settings.evaluation_timeout_s)

    @property
    def tokens_s(self) -> int:
        """The remaining validity of the participants' tokens (seconds)."""
        return max(0, math.ceil(self._deadline + _TOKEN_GRACE_S - time.monotonic())) if self.plan.roster else 0

    @property
    def plan(self) -> AssessmentPlan:
        """The assessment's plan."""
        return self.record.plan

    async def run(self) -> MadeRow:
        """Runs and evaluates every trial that is not over, and returns the row.

        Raises EvaluationFailedError if there is no row, StorageUnavailableError if storage is away at the start.
        """
        self._deadline = time.monotonic() + self.record.state.remaining_s
        if self.plan.roster:
            await self.storage.registry.register(self.plan.assessment_id, self.participants.peers(self.plan.roster))
        if (interrupted := self.record.interrupted) is not None:
            await self.participants.close(interrupted.trace_id)
            self._lose(interrupted, Loss.GATEWAY, "the gateway was lost while it ran")
        runner = TrialRunner(
            self.record,
            self.storage,
            self.settings,
            self.progress,
            self.participants,
            self.assistants,
            self.instruments,
        )
        async with self.storage.jobs.ended.heard_of(self.plan.assessment_id):
            return await self._run(runner)

    async def _run(self, runner: TrialRunner) -> MadeRow:
        async with asyncio.TaskGroup() as evaluations, aclosing(runner):
            for trial in [each for each in self.plan.trials if each.trial_id in self.record.closed]:
                await self._hand_over(trial, evaluations)
            await self._play(runner, evaluations)
            while await self._plays_again():
                await self._play(runner, evaluations)
        await self._lost.make_again(self._results, self.evaluations)
        await self.progress.tell("putting the row together")
        request = AggregateAssessment(assessment_id=self.plan.assessment_id, infrastructure=self.record.state.failures)
        with span("aggregation"):
            return await self._results.row(request)

    async def _play(self, runner: TrialRunner, evaluations: asyncio.TaskGroup) -> None:
        """Plays every trial that is not over."""
        over = self.record.over
        for number, trial in enumerate(self.plan.trials, start=1):
            if trial.trial_id not in over:
                began = time.monotonic()
                with structlog.contextvars.bound_contextvars(trial_id=trial.trial_id):
                    await self._trial(runner, number, trial, evaluations)
                self._spent[trial.trial_id] = time.monotonic() - began

    async def _plays_again(self) -> bool:
        """Decides who lost trials, once storage answers, and whether any trial is now to be played again.

        The time of the attempt that was lost is not charged to the team.
        """
        if not self.record.undecided:
            return False
        began = time.monotonic()
        try:
            await wait_for_storage(self.storage, self.settings.evaluation_timeout_s)
            again = await self.record.decide(await self.storage.share_of(self.plan))
        except StorageUnavailableError as error:
            logger.warning("cannot decide who lost trials: %s", error)
            return False
        self._deadline += time.monotonic() - began + sum(self._spent.get(trial.trial_id, 0.0) for trial in again)
        for trial in again:
            self._lost.forget(trial.trial_id)
            if (waiting := self._evaluating.get(trial.trial_id)) is not None:
                waiting.cancel()
        if again:
            names = ", ".join(trial.trial_id for trial in again)
            await self.progress.tell(f"playing again what was lost, with its controls: {names}")
        return bool(again)

    async def _trial(self, runner: TrialRunner, number: int, trial: TrialSpec, evaluations: asyncio.TaskGroup) -> None:
        task, place = self._tasks[trial.task_id], f"trial {number} of {len(self.plan.trials)}"
        await self.progress.tell(f"{place}: {trial.task_id}, run {trial.run}")
        remaining_s = self._deadline - time.monotonic()
        unreachable = Loss.NOT_BEGUN
        try:
            await self.record.begin_trial(trial, remaining_s)
            unreachable = Loss.STORAGE
            if remaining_s <= 0:
                outcome = self._not_started(trial)
            else:
                budget_s = min(self.record.state.limits.trial_s, remaining_s)
                tokens_until = await self.storage.now() + remaining_s + _TOKEN_GRACE_S
                outcome = await runner.run(trial, task, budget_s=budget_s, tokens_until=tokens_until)
            await self.record.close_trial(trial, outcome)
        except StorageFullError as error:
            await self._lose_to_full_storage(trial, str(error))
        except StorageUnavailableError as error:
            self._lose(trial, unreachable, str(error))
        except TrialNotRunError as error:
            self._lose(trial, Loss.ENVIRONMENT, str(error))
        except OverBudgetError as error:
            self._lose(trial, Loss.LIMIT, str(error))
        except Exception as error:  # of whatever agents answered: it costs the team this trial, and not the row
            logger.exception("cannot play %s", trial.trial_id)
            self._lose(trial, Loss.ERROR, f"{type(error).__name__}: {error}")
        else:
            await self.progress.tell(f"{place}: {outcome.state} in {outcome.time_used:.1f} s, evaluating")
            await self._hand_over(trial, evaluations)

    async def _hand_over(self, trial: TrialSpec, evaluations: asyncio.TaskGroup) -> None:
        """Begins an evaluation when there is a slot for it. The time until then is not charged to the team."""
        began = time.monotonic()
        await self.evaluations.acquire()
        self._deadline += time.monotonic() - began
        evaluation = self._evaluating[trial.trial_id] = evaluations.create_task(self._evaluate(trial))
        evaluation.add_done_callback(lambda _: self.evaluations.release())

    def _not_started(self, trial: TrialSpec) -> TrialOutcome:
        """The outcome of a trial that did not start because the earlier trials used up the assessment's time."""
        error = f"not started: `timeout_s` ({self.record.state.limits.assessment_s:g} s) was used up"
        answers = [unanswered(entry.id, error, "timeout") for entry in self.plan.recipients]
        return outcome_of(trial.trial_id, answers, 0.0).model_copy(update={"closed_after": 0})

    async def _evaluate(self, trial: TrialSpec) -> None:
        trial_id = trial.trial_id
        request = EvaluateTrial(assessment_id=self.plan.assessment_id, trial_id=trial_id, attempt=trial.attempt)
        structlog.contextvars.bind_contextvars(trial_id=trial_id)
        if (scenario := self._tasks[trial.task_id].scenario) is not None:
            from concord_gateway.assistants.announcements import announce_evaluation

            await announce_evaluation(self.progress, self.assistants.scenarios, scenario, trial_id)
        try:
            with self.instruments.evaluation_seconds.time(), span("evaluation", {TRIAL_ID: trial_id}):
                verdict = await self._results.of_trial(request)
        except EvaluationFailedError as error:
            self._lost.note(request, None)
            self.record.state.failures.append(error.failure)
            return
        self._lost.note(request, verdict)
        if verdict.assessment_results is not None:
            from concord_gateway.assistants.announcements import announce_results

            await announce_results(self.progress, verdict.assessment_results, trial_id)
        await self.progress.tell(f"{trial_id}: {_headline(verdict)}")

    async def _lose_to_full_storage(self, trial: TrialSpec, message: str) -> None:
        """Records the loss. If the assessment itself filled storage, the trial's reports make room for all others."""
        share = None
        with suppress(StorageUnavailableError):
            share = await self.storage.share_of(self.plan)
        self._lose(trial, Loss.STORAGE_FULL, message, share)
        if share is not None and share >= FILLED:
            with suppress(StorageUnavailableError):
                await self.storage.traces.delete(trial.trace_id)
                async for attempt in retrying(StorageFullError, _UNTIL_ROOM_S, pause_s=0.1):
                    with attempt:
                        await self.participants.close(trial.trace_id)
                        await self.record.save()  # a successor would take it for a trial that its gateway lost

    def _lose(self, trial: TrialSpec, loss: Loss, message: str, share: float | None = None) -> None:
        logger.warning("%s was lost: %s: %s", trial.trial_id, loss, message)
        self.record.lose(trial, loss, message, share)


def _headline(verdict: VerdictHead) -> str:
    if verdict.record is None:
        return "not evaluated" if verdict.failure is None else f"not evaluated: {verdict.failure.message}"
    record = verdict.record
    if record.overall_score is not None:
        return f"score {record.overall_score:.2f}"
    return "no score: " + ((record.grading.reason if record.grading is not None else None) or "undefined")

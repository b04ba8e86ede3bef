"""One assessment from its plan to its row: trials run one after the other, each evaluated while the next one runs.

A trial ends when its trace is complete, which is then closed.
"""

import asyncio
import logging
import math
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from concord.agent.messenger import Messenger, StepSink
from concord.assessment import AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.assessment.jobs import AggregateAssessment, EvaluateTrial, VerdictHead
from concord.assessment.result_row import FILLED, Loss
from concord.assessment.results import TrialOutcome
from concord.assessment.task_spec import Exchange
from concord.errors import StorageFullError, StorageUnavailableError
from concord.storage.connection import Storage
from concord.storage.trial_documents import ForeignDocumentError
from concord.trace.attributes import TASK_STATE
from concord.trace.step import InteractionStep
from concord.trace.timing import StepClock, root_step
from concord.tracing import ASSESSMENT_ID, PARTICIPANTS_TRACE_ID, TRIAL_ID, current, span
from concord.trust.tokens import Claims
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, new_step_id
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.assignments import OwnWork, TrialCalls
from concord_gateway.assistants import Assistants
from concord_gateway.calls import Channels
from concord_gateway.closing import Reporters, wait_until_settled
from concord_gateway.drivers.calls import drive_calls
from concord_gateway.drivers.driver import Driver, TrialContext, TrialNotRunError
from concord_gateway.drivers.ground_truth import drive_pattern
from concord_gateway.drivers.live import drive_live, outcome_of, unanswered
from concord_gateway.drivers.rounds import drive_rounds
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
from concord_gateway.recorder import Recorder
from concord_gateway.rounds.exchange import OverBudgetError
from concord_gateway.settings import GatewaySettings

logger = logging.getLogger(__name__)

_TOKEN_GRACE_S: Final = 300.0
"""How long after its assessment a token is still accepted for late reports, which are only counted."""

_UNTIL_ROOM_S: Final = 5.0
"""Redis frees the memory of what was deleted in the background."""

_DRIVERS: Final[dict[Mode, Driver]] = {Mode.GROUND_TRUTH: drive_pattern, Mode.LIVE: drive_live}


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
    _messenger: Messenger = field(init=False)
    """Keeps one client per participant for all trials."""
    _sinks: dict[str, StepSink] = field(default_factory=dict)
    """By trace id, who takes the steps of the gateway's own calls."""
    _reporters: Reporters = field(init=False)
    _work: OwnWork = field(default_factory=OwnWork)

    def __post_init__(self) -> None:
        self._tasks = {task.id: task for task in self.plan.tasks}
        self._results = Evaluations(self.storage, self.plan.assessment_id, self.settings.evaluation_timeout_s)
        self._messenger = Messenger(
            self._on_step,
            timeout_s=self.record.state.limits.trial_s,
            peer_urls=self.participants.peer_urls,
            cards=self.record.cards,
            credentials=self.participants.credentials,
        )
        self._reporters = Reporters(frozenset(entry.id for entry in self.plan.roster if entry.reports))

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

        Raises EvaluationFailedError if there is no row, ForeignDocumentError if another version of the program wrote a
        trial's document, StorageUnavailableError if storage is away at the start.
        """
        self._deadline = time.monotonic() + self.record.state.remaining_s
        if self.plan.roster:
            await self.storage.registry.register(self.plan.assessment_id, self.participants.peers(self.plan.roster))
        if (interrupted := self.record.interrupted) is not None:
            await self.participants.close(interrupted.trace_id)
            self._lose(interrupted, Loss.GATEWAY, "the gateway was lost while it ran")
        async with self.storage.jobs.ended.heard_of(self.plan.assessment_id):
            try:
                return await self._run()
            except ExceptionGroup as group:  # of the evaluations
                if (foreign := group.subgroup(ForeignDocumentError)) is not None:
                    raise foreign.exceptions[0] from group
                raise

    async def _run(self) -> MadeRow:
        async with asyncio.TaskGroup() as evaluations, self._messenger:
            for trial in [each for each in self.plan.trials if each.trial_id in self.record.closed]:
                await self._hand_over(trial, evaluations)
            await self._play(evaluations)
            while await self._plays_again():
                await self._play(evaluations)
        await self._lost.make_again(self._results, self.evaluations)
        await self.progress.tell("putting the row together")
        request = AggregateAssessment(assessment_id=self.plan.assessment_id, infrastructure=self.record.state.failures)
        with span("aggregation"):
            return await self._results.row(request)

    async def _play(self, evaluations: asyncio.TaskGroup) -> None:
        """Plays every trial that is not over."""
        over = self.record.over
        for number, trial in enumerate(self.plan.trials, start=1):
            if trial.trial_id not in over:
                began = time.monotonic()
                with structlog.contextvars.bound_contextvars(trial_id=trial.trial_id):
                    await self._trial(number, trial, evaluations)
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

    async def _trial(self, number: int, trial: TrialSpec, evaluations: asyncio.TaskGroup) -> None:
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
                outcome = await self._played(trial, task, budget_s=budget_s, tokens_until=tokens_until)
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

    async def _played(self, trial: TrialSpec, task: TaskSpec, *, budget_s: float, tokens_until: float) -> TrialOutcome:
        """The outcome of a trial, whose trace is closed.

        `budget_s`: its time limit (seconds). `tokens_until`: when its participants' tokens expire (Unix seconds).
        Raises OverBudgetError, StorageUnavailableError, TrialNotRunError.
        """
        trace_id = trial.trace_id
        ids = {ASSESSMENT_ID: self.plan.assessment_id, TRIAL_ID: trial.trial_id, PARTICIPANTS_TRACE_ID: trace_id}
        with (
            self.participants.open_calls.trial(trace_id, self._work) as trial_calls,
            structlog.contextvars.bound_contextvars(trace_id=trace_id),
            span("trial", ids),
        ):
            trial_calls.parent = current()
            driving = self._drive(trial, task, trial_calls, budget_s, tokens_until)
            try:
                outcome = await _within_budget(driving, trial_calls)
                await wait_until_settled(
                    self.storage.traces,
                    trace_id,
                    trial_calls,
                    self._reporters,
                    quiet_s=self.plan.config.quiet_s,
                    cap_s=self.plan.config.closing_cap_s,
                )
            except BaseException:
                with suppress(StorageUnavailableError):
                    await self.participants.close(trace_id)
                raise
            closed = await self.participants.close(trace_id)
            if trial_calls.over_budget is not None:
                raise trial_calls.over_budget
            if GREEN_AGENT in closed.refused:
                raise OverBudgetError("what gateways observed exceeds a trial's budget")
            if trial_calls.lost is not None:
                raise trial_calls.lost
            self.instruments.trace_batches.observe(closed.batches)
            return outcome.model_copy(update={"closed_after": closed.batches})

    def _on_step(self, step: InteractionStep, assignment: Assignment) -> None:
        if (sink := self._sinks.get(assignment.trace_id)) is not None:  # otherwise its trial is over
            sink(step, assignment)

    async def _drive(
        self, trial: TrialSpec, task: TaskSpec, trial_calls: TrialCalls, budget_s: float, tokens_until: float
    ) -> TrialOutcome:
        recorder = Recorder(self.storage.traces, trial.trace_id, self.settings.trace_limits)
        claims = Claims(self.plan.assessment_id, trial.trace_id, GREEN_AGENT, tokens_until)
        own = self.participants.assignments.own(self.plan.assessment_id, trial.trace_id, new_step_id())
        assignment = own.model_copy(update={"agent_seed": trial.seed})

        def on_step(step: InteractionStep, _: Assignment) -> None:
            recorder.add(step)
            trial_calls.end(step.step_id, answered=TASK_STATE in step.additional_attributes)

        clock = StepClock()
        self._sinks[trial.trace_id] = on_step
        context = TrialContext(
            plan=self.plan,
            trial=trial,
            task=task,
            assignment=assignment,
            claims=claims,
            assignments=self.participants.assignments,
            messenger=self._messenger,
            traces=self.storage.traces,
            channels=Channels(self.storage.assessments, self.storage.registry, self.participants.proxy_base),
            trial_calls=trial_calls,
            progress=self.progress,
            recorder=recorder,
            budget_s=budget_s,
            assistants=self.assistants,
        )
        try:
            outcome = await self._driver(task)(context)
            return outcome.model_copy(update={"notes": context.notes})
        finally:
            del self._sinks[trial.trace_id]
            root = root_step("drive_trial", clock, step_id=assignment.step_id, trace_id=assignment.trace_id)
            recorder.add(root)
            await recorder.write()

    def _driver(self, task: TaskSpec) -> Driver:
        if task.scenario is not None:
            # Only trials with a scenario need `concord_assistant`.
            from concord_gateway.drivers.assistant import drive_assistant

            return drive_assistant
        if task.family is None:
            return _DRIVERS[self.plan.mode]
        if task.family.in_environment:
            from concord_gateway.drivers.team_rounds import drive_team_rounds

            return drive_team_rounds
        return drive_calls if task.family.exchange is Exchange.CALLS else drive_rounds

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


async def _within_budget(driving: Coroutine[Any, Any, TrialOutcome], trial_calls: TrialCalls) -> TrialOutcome:
    """Drives a trial, at the longest until it is over its budget. Raises as the driver does, and OverBudgetError."""
    drive, exceeded = asyncio.create_task(driving), asyncio.create_task(trial_calls.exceeded.wait())
    try:
        await asyncio.wait({drive, exceeded}, return_when=asyncio.FIRST_COMPLETED)
        if trial_calls.over_budget is not None:
            raise trial_calls.over_budget
        return drive.result()
    finally:
        drive.cancel()
        exceeded.cancel()
        await asyncio.gather(drive, exceeded, return_exceptions=True)


def _headline(verdict: VerdictHead) -> str:
    if verdict.record is None:
        return "not evaluated" if verdict.failure is None else f"not evaluated: {verdict.failure.message}"
    record = verdict.record
    if record.overall_score is not None:
        return f"score {record.overall_score:.2f}"
    return "no score: " + ((record.grading.reason if record.grading is not None else None) or "undefined")

"""One assessment from its plan to its row: trials driven one after the other, evaluated while the next one runs."""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from concord.a2a import Messenger
from concord.assessment import AssessmentPlan, AssessmentRequest, Mode, TrialSpec, plan_trials
from concord.assignment import Assignment
from concord.identity import GREEN_AGENT
from concord.ids import new_step_id, new_trace_id
from concord.jobs import AggregateAssessment, EvaluateTrial, TrialVerdict
from concord.results import InfrastructureFailure, ResultRow, TrialOutcome
from concord.steps import CallType, InteractionStep, StepAction, ToolInvocation
from concord.storage import Storage, StorageUnavailableError
from concord_gateway.closing import wait_until_quiet
from concord_gateway.default_tasks import default_tasks
from concord_gateway.drivers import Driver, TrialContext, drive_live, drive_pattern
from concord_gateway.evaluation import EvaluationFailedError, aggregate, evaluate_trial
from concord_gateway.progress import Progress
from concord_gateway.recorder import Recorder
from concord_gateway.roster import make_roster
from concord_gateway.settings import GatewaySettings

logger = logging.getLogger(__name__)

_DRIVERS: Final[dict[Mode, Driver]] = {Mode.GROUND_TRUTH: drive_pattern, Mode.LIVE: drive_live}

_RESERVE: Final = 0.1
"""The part of `timeout_s` that is kept for evaluation: driving stops before."""


async def make_plan(request: AssessmentRequest) -> AssessmentPlan:
    """Fixes what an assessment consists of: who takes part, which tasks, how many trials."""
    tasks = request.config.chosen_tasks(default_tasks())
    return AssessmentPlan(
        assessment_id=new_trace_id(),
        mode=request.mode,
        config=request.config,
        tasks=tasks,
        roster=await make_roster(request),
        trials=plan_trials(tasks, request.config.num_runs, request.config.seed),
    )


@dataclass(slots=True)
class AssessmentRun:
    """The state of one running assessment. Nothing of it is shared with another."""

    plan: AssessmentPlan
    storage: Storage
    settings: GatewaySettings
    progress: Progress
    _failures: list[InfrastructureFailure] = field(default_factory=list)
    _deadline: float = 0.0

    async def run(self) -> ResultRow:
        """Drives and evaluates every trial, and returns the row.

        Raises EvaluationFailedError if there is no row, StorageUnavailableError if storage is away at the start.
        """
        self._deadline = time.monotonic() + self.plan.config.timeout_s * (1 - _RESERVE)
        await self.storage.assessments.save_plan(self.plan)
        if self.plan.roster:
            await self.storage.registry.register(self.plan.assessment_id, self.plan.roster)
        async with asyncio.TaskGroup() as evaluations:
            for trial in self.plan.trials:
                await self._trial(trial, evaluations)
        await self.progress.tell("putting the row together")
        request = AggregateAssessment(assessment_id=self.plan.assessment_id, infrastructure=self._failures)
        return await aggregate(self.storage, request, self.settings.evaluation_timeout_s)

    async def _trial(self, trial: TrialSpec, evaluations: asyncio.TaskGroup) -> None:
        budget_s = self._deadline - time.monotonic()
        number = f"trial {self.plan.trials.index(trial) + 1} of {len(self.plan.trials)}"
        if budget_s <= 0:
            self._fail(trial, "trial", f"not started: timeout_s ({self.plan.config.timeout_s:g} s) was used up")
            return
        await self.progress.tell(f"{number}: {trial.task_id}, run {trial.run}")
        try:
            outcome = await self._drive(trial, budget_s)
            closed_after = await wait_until_quiet(
                self.storage.traces,
                trial.trace_id,
                quiet_s=self.plan.config.quiet_s if self.plan.mode is Mode.LIVE else 0,
                cap_s=self.plan.config.closing_cap_s,
            )
        except StorageUnavailableError as error:
            self._fail(trial, "trial", str(error))
            return
        await self.progress.tell(f"{number}: {outcome.state} in {outcome.time_used:.1f} s, evaluating")
        evaluations.create_task(self._evaluate(outcome, closed_after))

    async def _drive(self, trial: TrialSpec, budget_s: float) -> TrialOutcome:
        recorder = Recorder(self.storage.traces, trial.trace_id)
        assignment = self._assignment(trial)
        started_at, started = datetime.now(UTC), time.monotonic()
        try:
            async with Messenger(recorder.on_step, timeout_s=budget_s) as messenger:
                context = TrialContext(
                    plan=self.plan,
                    trial=trial,
                    task=self.plan.task(trial.task_id),
                    assignment=assignment,
                    messenger=messenger,
                    traces=self.storage.traces,
                    progress=self.progress,
                    budget_s=budget_s,
                )
                return await _DRIVERS[self.plan.mode](context)
        finally:
            recorder.observe(_root_step(assignment, started_at, time.monotonic() - started))
            await recorder.write()

    def _assignment(self, trial: TrialSpec) -> Assignment:
        collector = self.settings.collector_url.rstrip("/")
        return Assignment(
            assessment_id=self.plan.assessment_id,
            trace_id=trial.trace_id,
            step_id=new_step_id(),
            agent_id=GREEN_AGENT,
            collector_url=collector,
            peers_url=f"{collector}/peers?assessment_id={self.plan.assessment_id}",
        )

    async def _evaluate(self, outcome: TrialOutcome, closed_after: int) -> None:
        request = EvaluateTrial(
            assessment_id=self.plan.assessment_id,
            trial_id=outcome.trial_id,
            outcome=outcome,
            closed_after=closed_after,
        )
        try:
            verdict = await evaluate_trial(self.storage, request, self.settings.evaluation_timeout_s)
        except EvaluationFailedError as error:
            self._failures.append(error.failure)
            return
        await self.progress.tell(f"{outcome.trial_id}: {_headline(verdict)}")

    def _fail(self, trial: TrialSpec, stage: str, message: str) -> None:
        logger.warning("%s: %s: %s", trial.trial_id, stage, message)
        self._failures.append(
            InfrastructureFailure.model_validate({"trial_id": trial.trial_id, "stage": stage, "message": message})
        )


def _root_step(assignment: Assignment, started_at: datetime, elapsed_s: float) -> InteractionStep:
    """The step under which all others of a trial stand: driving it was the gateway's own work."""
    return InteractionStep(
        step_id=assignment.step_id,
        trace_id=assignment.trace_id,
        call_type=CallType.HOST,
        step_action=StepAction(tool_invocation=ToolInvocation(tool_name="drive_trial")),
        latency=round(elapsed_s * 1000),
        start_time=started_at,
        end_time=started_at + timedelta(seconds=elapsed_s),
    )


def _headline(verdict: TrialVerdict) -> str:
    if verdict.record is None:
        return "not evaluated" if verdict.failure is None else f"not evaluated: {verdict.failure.message}"
    record = verdict.record
    score = "no score" if record.overall_score is None else f"score {record.overall_score:.2f}"
    return f"{score}, coordination {record.coordination_quality or 'undefined'}"

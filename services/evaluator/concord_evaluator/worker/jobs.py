"""The evaluator's three jobs: evaluate a trial, judge it, make the row. Running a job twice changes nothing."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar, cast

import structlog
from cachetools import LRUCache
from pydantic import JsonValue

from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.assessment.jobs import (
    ROW_DOCUMENT,
    ROW_FAILURE_DOCUMENT,
    ROW_INPUTS_DOCUMENT,
    AggregateAssessment,
    CriteriaInputs,
    EvaluateTrial,
    Job,
    JudgeInputs,
    JudgeTrial,
    Queue,
    RowInputs,
    TrialInputs,
    TrialVerdict,
    conducted_document,
)
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import Judgment
from concord.judging.asking import RecordedTranscript
from concord.processes import Calls, LimitExceededError, ProcessDiedError
from concord.storage import AssessmentStore, JobFunction, JobQueue, RetryLater, TraceStore
from concord.storage.trial_documents import TrialDocuments
from concord.trace.report import Channel, ReportBatch
from concord.trace.step import InteractionStep
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch
from concord.trace.timing import StepClock, root_step
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, MAX_ID_LENGTH, new_step_id
from concord_assistant.results import AssessmentResults
from concord_evaluator.criteria.evaluation import CriteriaEvaluator, evaluate_by_code
from concord_evaluator.documents import JudgedTrial, TrialEvaluation
from concord_evaluator.judge import A_GIVEN_PATTERN, ScreenedEvidence, TrialJudge, judge_without_model
from concord_evaluator.pipeline import verdict_on
from concord_evaluator.recomputation import software_versions
from concord_evaluator.settings import EvaluationLimits
from concord_evaluator.verdicts import (
    given_up,
    graded_by,
    has_criteria,
    needs_judge,
    reads_texts,
    with_findings,
    with_results,
)
from concord_evaluator.worker.pool_functions import evaluation_of, evaluation_without_metrics, evidence_on, row_of
from concord_evaluator.worker.stored_trial import StoredTrial, row_failure, trial_failure

# The calls that jobs make in a process pool.

P = ParamSpec("P")
T = TypeVar("T")


class JobCalls:
    """Runs calls so that they outlive a job that stops waiting for them: its next try waits for the running call."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._running: dict[tuple[str, str], asyncio.Task[object]] = {}

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the function, or of the running call of the same function for the same owner.

        Jobs are idempotent, so a function has the same arguments whenever it is called for a trial. Raises RetryLater
        if the process died, and LimitExceededError.
        """
        key = owner, function.__qualname__
        running = cast("asyncio.Task[T] | None", self._running.get(key))
        if running is None:
            running = asyncio.create_task(self._calls.run(owner, function, *args, **kwargs))
            running.add_done_callback(lambda done: self._forget(key, done))
            self._running[key] = cast("asyncio.Task[object]", running)
        try:
            return await asyncio.shield(running)
        except ProcessDiedError as error:
            raise RetryLater(str(error)) from error

    def _forget(self, key: tuple[str, str], done: asyncio.Task[T]) -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # nobody may be waiting for it


# The evaluator's own work as steps of the trace: a job is a HOST step, a call to a language model a TOOL step.


def job_batch(
    job: str, trial_id: str, root: Assignment, clock: StepClock, under: Sequence[InteractionStep] = ()
) -> SerialisedBatch:
    """The batch of a job's steps: the job as the HOST step `root.step_id`, and the steps below it.

    The batch id is derived from the job, so the store keeps only one batch if the job runs twice.
    """
    step = root_step(job, clock, step_id=root.step_id, trace_id=root.trace_id, attributes={"trial_id": trial_id})
    batch = TraceBatch(
        batch_id=f"{job}:{root.trace_id}"[:MAX_ID_LENGTH],
        trace_id=root.trace_id,
        reporter=GREEN_AGENT,
        steps=[Step.of(each) for each in (step, *under)],
    )
    return SerialisedBatch.of(batch)


# A cache of assessment plans, so that the jobs of one assessment read its plan once.

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


# The jobs.

logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class EvaluatorJobs:
    """The job functions. Their results are stored documents, which the gateway waits for."""

    def __init__(
        self,
        traces: TraceStore,
        assessments: AssessmentStore,
        queue: JobQueue,
        calls: Calls,
        judge: TrialJudge,
        limits: EvaluationLimits,
        criteria: CriteriaEvaluator,
    ) -> None:
        self._traces = traces
        self._assessments = assessments
        self._plans = Plans(assessments)
        self._queue = queue
        self._calls = JobCalls(calls)
        self._judge = judge
        self._limits = limits
        self._criteria = criteria

    def functions(self, queue: Queue) -> dict[str, JobFunction]:
        """The functions of the jobs on a queue, by job name."""
        jobs: dict[type[EvaluateTrial | JudgeTrial | AggregateAssessment], JobFunction] = {
            EvaluateTrial: self.evaluate_trial,
            JudgeTrial: self.judge_trial,
            AggregateAssessment: self.aggregate_assessment,
        }
        return {job.function: function for job, function in jobs.items() if job.queue is queue}

    async def evaluate_trial(self, arguments: Mapping[str, JsonValue]) -> None:
        """Evaluates a trial, and leaves its verdict or, if a model is to be asked, queues its judgment.

        A repeated job goes on after what is stored. Raises StorageUnavailableError, RetryLater.
        """
        request = EvaluateTrial.model_validate(arguments)
        trial = await StoredTrial.read(self._assessments, request)
        if trial.is_judged():
            return
        plan = await self._plans.of_trial(request.assessment_id, request.trial_id)
        if plan.trial(request.trial_id).attempt != request.attempt:  # it is played again, and nobody waits for this job
            return
        structlog.contextvars.bind_contextvars(trace_id=plan.trial(request.trial_id).trace_id)
        if not trial.is_evaluated():
            batches = await self._evaluate(plan, request, trial)
            await self._screen(plan, trial, batches)
        elif reads_texts(plan, request.trial_id) and not trial.has_evidence():
            await self._screen(plan, trial, await self._batches(plan, trial))
        await self._judge_or_queue(plan, trial)

    async def _evaluate(
        self, plan: AssessmentPlan, request: EvaluateTrial, trial: StoredTrial
    ) -> Sequence[ReportBatch]:
        """Adds the evaluation of a trial to its document, and returns the trace that it was made from."""
        clock, trace_id = StepClock(), plan.trial(request.trial_id).trace_id
        outcome, batches = trial.outcome(), await self._batches(plan, trial)
        [left_out] = await self._traces.left_out([trace_id])
        late, refused = sorted(left_out.late), left_out.refused
        evaluation = await self._calls.run(
            trial.owner, evaluation_of, plan, outcome, batches, refused, self._limits, late=late
        )
        await trial.add_evaluation(evaluation)
        root = _root(request.assessment_id, trace_id)
        await self._append(job_batch(request.function, request.trial_id, root, clock))
        logger.info("evaluated a trial", job=request.job_id, batches=len(batches), seconds=clock.elapsed_s)
        return batches

    async def _screen(self, plan: AssessmentPlan, trial: StoredTrial, batches: Sequence[ReportBatch]) -> None:
        """Adds the screened evidence on an evaluated trial to its document, if the judge reads texts."""
        if reads_texts(plan, trial.trial_id):
            evaluation = trial.evaluation()
            in_time = batches[: evaluation.outcome.closed_after]
            evidence = await self._calls.run(trial.owner, evidence_on, plan, evaluation, in_time)
            await trial.add_evidence(evidence.decode())

    async def _judge_or_queue(self, plan: AssessmentPlan, trial: StoredTrial) -> None:
        if not await self._judge_by_code(plan, trial):
            judging = JudgeTrial.model_validate(trial.request.model_dump())
            await self._queue.enqueue(judging.job())

    async def _judge_by_code(self, plan: AssessmentPlan, trial: StoredTrial) -> bool:
        """Adds the verdict on an evaluated trial to its document. Returns False if a model is to be asked first."""
        note = await self._queue.worker_note(Queue.LLM)
        if reads_texts(plan, trial.trial_id) and not note:  # a model answers there, or nobody knows
            return False
        evaluation, results, judgment = trial.evaluation(), None, None
        inputs = TrialInputs(evaluation=evaluation.inputs)
        if has_criteria(plan, trial.trial_id):
            results = await evaluate_by_code(await self._conducted(trial), self._calls, model_answers=not note)
            if results is None:
                return False
            evaluation = graded_by(results, plan, evaluation)
            inputs = inputs.model_copy(update={"criteria": CriteriaInputs(with_model=False)})
        if needs_judge(plan, trial.trial_id):
            screened = trial.evidence() if reads_texts(plan, trial.trial_id) else None
            reason = note or A_GIVEN_PATTERN
            judgment = judge_without_model(plan, evaluation, screened, reason)
            evaluation = with_findings(evaluation, () if screened is None else screened.findings)
            inputs = inputs.model_copy(update={"judge": JudgeInputs(reason=reason)})
        await self._add_verdict(trial, verdict_on(plan, evaluation, judgment), results, inputs)
        return True

    async def judge_trial(self, arguments: Mapping[str, JsonValue]) -> None:
        """Asks the model about an evaluated trial, and leaves its verdict.

        Raises StorageUnavailableError; LookupError without an evaluation.
        """
        request = JudgeTrial.model_validate(arguments)
        trial = await StoredTrial.read(self._assessments, request)
        if trial.is_judged():
            return
        plan = await self._plans.of_trial(request.assessment_id, request.trial_id)
        if plan.trial(request.trial_id).attempt != request.attempt:
            return
        structlog.contextvars.bind_contextvars(trace_id=plan.trial(request.trial_id).trace_id)
        evaluation, results, judgment = trial.evaluation(), None, None
        inputs = TrialInputs(evaluation=evaluation.inputs)
        if has_criteria(plan, request.trial_id):
            results, of_criteria = await self._evaluate_criteria(plan, trial)
            evaluation = graded_by(results, plan, evaluation)
            inputs = inputs.model_copy(update={"criteria": of_criteria})
        if reads_texts(plan, request.trial_id):
            screened = trial.evidence()
            judgment, of_judge = await self._ask_judge(plan, request, evaluation, screened)
            evaluation = with_findings(evaluation, screened.findings)
            inputs = inputs.model_copy(update={"judge": of_judge})
        await self._add_verdict(trial, verdict_on(plan, evaluation, judgment), results, inputs)

    async def _evaluate_criteria(
        self, plan: AssessmentPlan, trial: StoredTrial
    ) -> tuple[AssessmentResults, CriteriaInputs]:
        """The results of a scenario's criteria. Calls to the model become steps of the trace."""
        root, clock = _root(trial.assessment_id, plan.trial(trial.trial_id).trace_id), StepClock()
        transcript = RecordedTranscript()
        results, calls = await self._criteria.evaluate(await self._conducted(trial), root, self._calls, transcript)
        await self._append(job_batch("evaluate_criteria", trial.trial_id, root, clock, calls))
        return results, self._criteria.inputs(transcript)

    async def _ask_judge(
        self, plan: AssessmentPlan, request: JudgeTrial, evaluation: TrialEvaluation, screened: ScreenedEvidence
    ) -> tuple[Judgment, JudgeInputs]:
        """The judgment. Calls to the model become steps of the trace."""
        root, clock = _root(request.assessment_id, plan.trial(request.trial_id).trace_id), StepClock()
        transcript = RecordedTranscript()
        judgment, calls = await self._judge.judge(plan, evaluation, screened, root, transcript)
        await self._append(job_batch(request.function, request.trial_id, root, clock, calls))
        return judgment, self._judge.inputs(transcript)

    async def aggregate_assessment(self, arguments: Mapping[str, JsonValue]) -> None:
        """Makes the row from the stored verdicts. Raises StorageUnavailableError, RetryLater."""
        request = AggregateAssessment.model_validate(arguments)
        if await self._assessments.load(request.assessment_id, ROW_DOCUMENT) is not None:
            return
        plan = await self._plans.whole(request.assessment_id)
        attempts = [trial.key for trial in plan.trials]
        loaded = await TrialDocuments(self._assessments).parts(request.assessment_id, attempts, "verdict")
        left_out = await self._traces.left_out([trial.trace_id for trial in plan.trials])
        late = [sum(each.late.values()) for each in left_out]
        verdicts = [(document, n) for document, n in zip(loaded, late, strict=True) if document is not None]
        row = await self._calls.run(request.assessment_id, row_of, plan, verdicts, request.infrastructure)
        counted = zip(plan.trials, loaded, late, strict=True)
        inputs = RowInputs(
            late={trial.trial_id: n for trial, document, n in counted if document is not None},
            infrastructure=request.infrastructure,
            versions=dict(software_versions()),
        )
        made = {ROW_INPUTS_DOCUMENT: inputs.model_dump_json(), ROW_DOCUMENT: row}
        await self._assessments.save_all(request.assessment_id, made)
        logger.info("aggregated an assessment", job=request.job_id, trials=len(plan.trials), verdicts=len(verdicts))

    async def on_dead_letter(self, job: Job, error: str, raised: Exception | None) -> None:
        """Stores a fallback result for a job that failed for good.

        A trial that could not be evaluated is judged and scored without metrics. A trial that could not be judged is
        scored by its scorer, if it has one. If that fails too, a failure is stored in place of the result.
        """
        if job.function == AggregateAssessment.function:
            failure = row_failure(error)
            assessment_id = AggregateAssessment.model_validate(job.arguments).assessment_id
            await self._assessments.save(assessment_id, ROW_FAILURE_DOCUMENT, failure.model_dump_json())
            return
        kind = JudgeTrial if job.function == JudgeTrial.function else EvaluateTrial
        trial = await StoredTrial.read(self._assessments, kind.model_validate(job.arguments))
        if not trial.is_judged():
            try:
                await self._score_anyway(job.function, trial, trial_failure(trial, job.function, error, raised))
            except (LookupError, ValueError, LimitExceededError, RetryLater) as fault:
                logger.exception("cannot score a trial without its evaluation", job=job.job_id)
                known = fault if isinstance(fault, LimitExceededError) else raised
                await trial.add_verdict(TrialVerdict(failure=trial_failure(trial, job.function, error, known)))

    async def _score_anyway(self, function: str, trial: StoredTrial, failure: InfrastructureFailure) -> None:
        """Scores a trial without the result of its failed job.

        Raises LookupError for an unknown or open trial; LimitExceededError and RetryLater if even its answers cannot be
        graded.
        """
        plan = await self._plans.of_trial(trial.assessment_id, trial.trial_id)
        if function == EvaluateTrial.function and not trial.is_evaluated():
            batches = await self._evaluate_without_metrics(plan, trial, failure)
            with suppress(LimitExceededError, RetryLater):
                await self._screen(plan, trial, batches)
                await self._judge_or_queue(plan, trial)
                return
        evaluation = trial.evaluation()
        unjudged = TrialInputs(evaluation=evaluation.inputs, failure=failure)
        await self._add_verdict(trial, verdict_on(plan, given_up(evaluation, failure), None), None, unjudged)

    async def _evaluate_without_metrics(
        self, plan: AssessmentPlan, trial: StoredTrial, failure: InfrastructureFailure
    ) -> Sequence[ReportBatch]:
        outcome, batches = trial.outcome(), await self._batches(plan, trial)
        evaluation = await self._calls.run(
            trial.owner, evaluation_without_metrics, plan, outcome, batches, failure.message
        )
        await trial.add_evaluation(evaluation)
        return batches

    async def _batches(self, plan: AssessmentPlan, trial: StoredTrial) -> Sequence[ReportBatch]:
        return [batch async for batch in self._traces.batches(plan.trial(trial.trial_id).trace_id)]

    async def _add_verdict(
        self, trial: StoredTrial, verdict: JudgedTrial, results: AssessmentResults | None, inputs: TrialInputs
    ) -> None:
        if results is not None:
            verdict = with_results(verdict, results)
        await trial.add_verdict(verdict.model_copy(update={"inputs": inputs}))
        logger.info("judged a trial", trial=trial.trial_id, score=verdict.record.overall_score)

    async def _append(self, batch: SerialisedBatch) -> None:
        """Adds a batch of the evaluator's own steps to the trace. Own steps have no quota."""
        await self._traces.append(batch.received(Channel.OBSERVED, authenticated=True), batch.receipt())

    async def _conducted(self, trial: StoredTrial) -> str:
        document = await self._assessments.load(trial.assessment_id, conducted_document(trial.request.key))
        if document is None:
            raise LookupError(f"{trial.trial_id} has no record of its turns")
        return document


def _root(assessment_id: str, trace_id: str) -> Assignment:
    """The evaluator's assignment in a trace: a new step, the parent of the steps of its calls."""
    return Assignment(assessment_id=assessment_id, trace_id=trace_id, step_id=new_step_id(), agent_id=GREEN_AGENT)

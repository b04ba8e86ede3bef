"""The evaluator's three jobs: evaluate a trial, judge it, make the row. Running a job twice changes nothing."""

import asyncio
from collections.abc import Mapping
from typing import Final, Literal

import structlog
from pydantic import JsonValue

from concord.assessment import AssessmentPlan
from concord.assessment.inputs import EvaluationInputs, RowInputs, TrialInputs
from concord.assessment.jobs import (
    ROW_DOCUMENT,
    ROW_FAILURE_DOCUMENT,
    ROW_INPUTS_DOCUMENT,
    AggregateAssessment,
    EvaluateTrial,
    Job,
    JudgeTrial,
    Queue,
    TrialVerdict,
    conducted_document,
    trial_document,
)
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import Judgment
from concord.judging import RecordedTranscript
from concord.processes import Calls
from concord.storage.ports import AssessmentStore, JobFunction, JobQueue, TraceStore
from concord.trace.report import Channel, ReportBatch, SerialisedBatch
from concord.trace.timing import StepClock
from concord.wire.assignment import Assignment
from concord.wire.ids import new_step_id
from concord.wire.roster import GREEN_AGENT
from concord_assistant.results import AssessmentResults
from concord_evaluator.criteria import CriteriaEvaluator
from concord_evaluator.documents import JudgedTrial, TrialEvaluation, evaluation_document
from concord_evaluator.judge import TrialJudge, needs_trace
from concord_evaluator.pipeline import verdict_on, without_metrics
from concord_evaluator.trace import is_observed
from concord_evaluator.verdicts import given_up, graded_by, has_criteria, needs_judge, with_results
from concord_evaluator.versions import software_versions
from concord_evaluator.worker.job_calls import JobCalls
from concord_evaluator.worker.job_steps import job_batch
from concord_evaluator.worker.plans import Plans
from concord_evaluator.worker.pool_functions import EvaluationLimits, evaluation_of, row_of

MAX_MESSAGE: Final = 500
"""Characters of an error message that a failure quotes."""

_STAGES: Final[Mapping[str, Literal["evaluation", "judgment", "aggregation"]]] = {
    EvaluateTrial.function: "evaluation",
    JudgeTrial.function: "judgment",
    AggregateAssessment.function: "aggregation",
}

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
        """Evaluates a trial, unless it is evaluated already, and queues its judging.

        Raises StorageUnavailableError, RetryLater.
        """
        request = EvaluateTrial.model_validate(arguments)
        if await self._is_judged(request.assessment_id, request.trial_id):
            return
        if not await self._is_evaluated(request):
            await self._evaluate(request)
        await self._queue.enqueue(_judging(request).job())

    async def _evaluate(self, request: EvaluateTrial) -> None:
        clock = StepClock()
        plan = await self._plans.of_trial(request.assessment_id, request.trial_id)
        trace_id = plan.trial(request.trial_id).trace_id
        structlog.contextvars.bind_contextvars(trace_id=trace_id)
        batches = [batch async for batch in self._traces.batches(trace_id)]
        late, refused = await self._traces.late(trace_id), await self._traces.refused(trace_id)
        evaluation = await self._calls.run(
            request.job_id, evaluation_of, plan, request, batches, refused, self._limits, late=sorted(late)
        )
        await self._save_evaluation(request.assessment_id, request.trial_id, evaluation)
        root = _root(request.assessment_id, trace_id)
        await self._append(job_batch(request.function, request.trial_id, root, clock))
        logger.info("evaluated a trial", job=request.job_id, batches=len(batches), seconds=clock.elapsed_s)

    async def judge_trial(self, arguments: Mapping[str, JsonValue]) -> None:
        """Judges and scores an evaluated trial. Raises StorageUnavailableError; LookupError without an evaluation."""
        request = JudgeTrial.model_validate(arguments)
        if await self._is_judged(request.assessment_id, request.trial_id):
            return
        plan = await self._plans.of_trial(request.assessment_id, request.trial_id)
        structlog.contextvars.bind_contextvars(trace_id=plan.trial(request.trial_id).trace_id)
        evaluation = await self._evaluation(request)
        of_criteria, of_judge = RecordedTranscript(), RecordedTranscript()
        inputs = TrialInputs(evaluation=evaluation.inputs)
        results = judgment = None
        if has_criteria(plan, request.trial_id):
            results = await self._evaluate_criteria(plan, request, of_criteria)
            evaluation = graded_by(results, plan, evaluation)
            inputs = inputs.model_copy(update={"criteria": self._criteria.inputs(of_criteria)})
        if needs_judge(plan, request.trial_id):
            judgment, evaluation = await self._judge_trial(plan, request, evaluation, of_judge)
            inputs = inputs.model_copy(update={"judge": self._judge.inputs(of_judge)})
        verdict = verdict_on(plan, evaluation, judgment)
        if results is not None:
            verdict = with_results(verdict, results)
        await self._save_verdict(request, verdict.model_copy(update={"inputs": inputs}))
        logger.info("judged a trial", job=request.job_id, score=verdict.record and verdict.record.overall_score)

    async def _evaluate_criteria(
        self, plan: AssessmentPlan, request: JudgeTrial, transcript: RecordedTranscript
    ) -> AssessmentResults:
        """The results of a scenario's criteria. Calls to the model become steps of the trace."""
        document = await self._assessments.load(request.assessment_id, conducted_document(request.trial_id))
        if document is None:
            raise LookupError(f"{request.trial_id} has no record of its turns")
        root = _root(request.assessment_id, plan.trial(request.trial_id).trace_id)
        clock = StepClock()
        results, calls = await self._criteria.evaluate(document, root, transcript)
        await self._append(job_batch("evaluate_criteria", request.trial_id, root, clock, calls))
        return results

    async def _judge_trial(
        self,
        plan: AssessmentPlan,
        request: JudgeTrial,
        evaluation: TrialEvaluation,
        transcript: RecordedTranscript,
    ) -> tuple[Judgment, TrialEvaluation]:
        """The judgment, and the evaluation with the judge's findings. Calls to the model become steps of the trace."""
        trace_id = plan.trial(request.trial_id).trace_id
        root = _root(request.assessment_id, trace_id)
        clock = StepClock()
        batches: list[ReportBatch] = []
        if needs_trace(plan, evaluation):
            # The evaluation document does not carry the texts of calls. Which calls the judge sees follows from the
            # whole trace, so collecting their texts takes a second reading, and the evaluation has less time for one.
            batches = [batch async for batch in self._traces.batches(trace_id)]
        # Batches that came after the trial closed are not evidence: their reporters may have known the outcome.
        in_time = batches[: request.closed_after]
        judgment, findings, calls = await self._judge.judge(plan, evaluation, in_time, root, transcript)
        await self._append(job_batch(request.function, request.trial_id, root, clock, calls))
        return judgment, evaluation.model_copy(update={"findings": [*evaluation.findings, *findings]})

    async def aggregate_assessment(self, arguments: Mapping[str, JsonValue]) -> None:
        """Makes the row from the stored verdicts. Raises StorageUnavailableError, RetryLater."""
        request = AggregateAssessment.model_validate(arguments)
        if await self._assessments.load(request.assessment_id, ROW_DOCUMENT) is not None:
            return
        plan = await self._plans.whole(request.assessment_id)
        loaded = [
            await self._assessments.load(request.assessment_id, trial_document(trial.trial_id)) for trial in plan.trials
        ]
        late = [sum((await self._traces.late(trial.trace_id)).values()) for trial in plan.trials]
        verdicts = [(document, n) for document, n in zip(loaded, late, strict=True) if document is not None]
        row = await self._calls.run(request.job_id, row_of, plan, verdicts, request.infrastructure)
        counted = zip(plan.trials, loaded, late, strict=True)
        inputs = RowInputs(
            late={trial.trial_id: n for trial, document, n in counted if document is not None},
            infrastructure=request.infrastructure,
            versions=software_versions(),
        )
        await self._assessments.save(request.assessment_id, ROW_INPUTS_DOCUMENT, inputs.model_dump_json())
        await self._assessments.save(request.assessment_id, ROW_DOCUMENT, row)
        logger.info("aggregated an assessment", job=request.job_id, trials=len(plan.trials), verdicts=len(verdicts))

    async def on_dead_letter(self, job: Job, error: str) -> None:
        """Stores a fallback result for a job that failed for good.

        A trial that could not be evaluated is judged and scored without metrics. A trial that could not be judged is
        scored by its scorer, if it has one. If that fails too, a failure is stored in place of the result.
        """
        arguments = job.arguments
        assessment_id, trial_id = arguments.get("assessment_id"), arguments.get("trial_id")
        if not isinstance(assessment_id, str):
            return
        if not isinstance(trial_id, str):
            failure = _failure(job, None, error)
            await self._assessments.save(assessment_id, ROW_FAILURE_DOCUMENT, failure.model_dump_json())
        elif not await self._is_judged(assessment_id, trial_id):
            failure = _failure(job, trial_id, error)
            try:
                await self._score_anyway(job, failure)
            except (LookupError, ValueError):
                logger.exception("cannot score a trial without its evaluation", job=job.job_id)
                verdict = TrialVerdict(state="failed", failure=failure)
                await self._assessments.save(assessment_id, trial_document(trial_id), verdict.model_dump_json())

    async def _score_anyway(self, job: Job, failure: InfrastructureFailure) -> None:
        """Scores a trial without the result of its failed job. Raises LookupError, ValueError for an invalid job."""
        if job.function == EvaluateTrial.function:
            request = EvaluateTrial.model_validate(job.arguments)
            plan = await self._plans.of_trial(request.assessment_id, request.trial_id)
            trace_id = plan.trial(request.trial_id).trace_id
            batches = [batch async for batch in self._traces.batches(trace_id)]
            evaluation = await asyncio.to_thread(
                without_metrics, plan, request, list(filter(is_observed, batches)), failure.message
            )
            inputs = EvaluationInputs(batches=len(batches), failure=failure.message)
            evaluation = evaluation.model_copy(update={"inputs": inputs})
            await self._save_evaluation(request.assessment_id, request.trial_id, evaluation.model_dump_json())
            await self._queue.enqueue(_judging(request).job())
        else:
            judging = JudgeTrial.model_validate(job.arguments)
            plan = await self._plans.of_trial(judging.assessment_id, judging.trial_id)
            evaluation = await self._evaluation(judging)
            verdict = verdict_on(plan, given_up(evaluation, failure), None)
            unjudged = TrialInputs(evaluation=evaluation.inputs, failure=failure)
            await self._save_verdict(judging, verdict.model_copy(update={"inputs": unjudged}))

    async def _is_evaluated(self, request: EvaluateTrial) -> bool:
        """Whether a complete evaluation is stored. One without metrics may be replaced by a retry."""
        document = await self._assessments.load(request.assessment_id, evaluation_document(request.trial_id))
        return document is not None and TrialEvaluation.model_validate_json(document).failure is None

    async def _is_judged(self, assessment_id: str, trial_id: str) -> bool:
        """Whether a final verdict is stored. One with a failure may be replaced by a retry."""
        document = await self._assessments.load(assessment_id, trial_document(trial_id))
        if document is None:
            return False
        verdict = TrialVerdict.model_validate_json(document)
        return verdict.state == "evaluated" and verdict.failure is None

    async def _save_evaluation(self, assessment_id: str, trial_id: str, document: str) -> None:
        await self._assessments.save(assessment_id, evaluation_document(trial_id), document)

    async def _save_verdict(self, request: JudgeTrial, verdict: JudgedTrial) -> None:
        await self._assessments.save(request.assessment_id, trial_document(request.trial_id), verdict.model_dump_json())

    async def _append(self, batch: SerialisedBatch) -> None:
        """Adds a batch of the evaluator's own steps to the trace. Own steps have no quota."""
        await self._traces.append(batch.received(Channel.OBSERVED, authenticated=True), batch.receipt())

    async def _evaluation(self, request: JudgeTrial) -> TrialEvaluation:
        document = await self._assessments.load(request.assessment_id, evaluation_document(request.trial_id))
        if document is None:
            raise LookupError(f"{request.trial_id} has no evaluation")
        return TrialEvaluation.model_validate_json(document)


def _root(assessment_id: str, trace_id: str) -> Assignment:
    """The evaluator's assignment in a trace: a new step, the parent of the steps of its calls."""
    return Assignment(assessment_id=assessment_id, trace_id=trace_id, step_id=new_step_id(), agent_id=GREEN_AGENT)


def _judging(request: EvaluateTrial) -> JudgeTrial:
    return JudgeTrial(assessment_id=request.assessment_id, trial_id=request.trial_id, closed_after=request.closed_after)


def _failure(job: Job, trial_id: str | None, error: str) -> InfrastructureFailure:
    return InfrastructureFailure(trial_id=trial_id, stage=_STAGES[job.function], message=error[:MAX_MESSAGE])

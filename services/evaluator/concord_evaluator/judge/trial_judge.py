"""Judging a trial: collects the evidence from its trace, asks the model over HTTP, and falls back to the rules."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import structlog

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.inputs import JudgeInputs
from concord.assessment.results import MAX_STEP_IDS, CallRecord, Finding, Judgment
from concord.assessment.scorers import ModelScorer
from concord.judging import (
    CachedAnswers,
    JudgeAddressedError,
    NotJudgedError,
    RecordedTranscript,
    ReplayedTranscript,
    Transcript,
)
from concord.llm import LLMClient, LLMSettings, LLMUnavailableError
from concord.storage import AnswerCache
from concord.trace.decoding import reports_of
from concord.trace.report import ReportBatch
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge.aliases import Aliases
from concord_evaluator.judge.evidence import Evidence, call_texts, choose_calls, make_evidence
from concord_evaluator.judge.final_answers import answers_of
from concord_evaluator.judge.model import MAX_QUOTE, judge_by_model
from concord_evaluator.judge.rules import judge_by_rules
from concord_evaluator.judge.screening import Suspect, screen
from concord_evaluator.pipeline import task_text
from concord_evaluator.trace import is_observed

MAX_TOKENS: Final = 2000
TOKENS_PER_ANSWER: Final = 200

MAX_RETRIES: Final = 4
"""The default number of retries: after ½, 1, 2 and 4 s, or after the time that the endpoint asks for."""

NO_KEY: Final = "AGENTBEATS_LLM_API_KEY is not set"
BY_CHOICE: Final = "rules were requested"

logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class TrialJudge:
    """Judges trials. If the rules judge in place of the model, logs a warning, and the judgment has the reason."""

    def __init__(
        self, settings: LLMSettings | None, *, samples: int, deadline_s: float, cache: AnswerCache | None = None
    ) -> None:
        """`settings`: of the model, or None to use the rules; `deadline_s`: for all samples of a trial together."""
        self._settings = settings
        self._samples = samples
        self._deadline_s = deadline_s
        self._cache = cache

    def inputs(self, transcript: RecordedTranscript) -> JudgeInputs:
        """The inputs of a judgment with that transcript."""
        settings = self._settings
        if settings is None or not settings.available:
            return JudgeInputs(reason=BY_CHOICE if settings is None else NO_KEY)
        return JudgeInputs(
            model=settings.model, samples=self._samples, deadline_s=self._deadline_s, exchanges=transcript.exchanges
        )

    async def judge(
        self,
        plan: AssessmentPlan,
        evaluation: TrialEvaluation,
        batches: Sequence[ReportBatch],
        assignment: Assignment,
        transcript: Transcript | None = None,
    ) -> tuple[Judgment, list[Finding], list[InteractionStep]]:
        """The judgment, the judge's own findings, and the steps of its calls to the model.

        `batches`: the trial's trace, which may be empty unless `needs_trace`; `assignment`: the parent of the steps;
        `transcript`: records the model's answers.
        """
        settings = self._settings
        steps: list[InteractionStep] = []
        if settings is None or not settings.available:
            judge: _ModelJudge | str = BY_CHOICE if settings is None else NO_KEY
        else:
            cached = CachedAnswers(self._cache, settings.endpoint, settings.model, transcript)
            judge = partial(self._ask_model, settings, evaluation, assignment, cached, steps)
        judgment, findings = await _judged(plan, evaluation, batches, judge)
        return judgment, findings, steps

    async def _ask_model(
        self,
        settings: LLMSettings,
        evaluation: TrialEvaluation,
        assignment: Assignment,
        cached: CachedAnswers,
        steps: list[InteractionStep],
        evidence: Evidence,
    ) -> Judgment:
        max_tokens = MAX_TOKENS + TOKENS_PER_ANSWER * len(evidence.asked_about)
        async with LLMClient(settings, lambda step, _: steps.append(step), max_retries=MAX_RETRIES) as llm:

            async def ask(system: str, user: str, schema: Mapping[str, Any]) -> str:
                answer = await llm.complete(system, user, assignment=assignment, max_tokens=max_tokens, schema=schema)
                return answer.text

            try:
                async with asyncio.timeout(self._deadline_s):
                    return await judge_by_model(ask, settings.model, evidence, evaluation, self._samples, cached)
            except TimeoutError:
                raise _too_late(self._deadline_s) from None


async def judge_again(
    plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch], inputs: JudgeInputs
) -> tuple[Judgment, list[Finding]]:
    """The judgment and the judge's findings from the recorded answers of the model. Raises MissingAnswerError."""
    model = inputs.model
    if model is None:
        return await _judged(plan, evaluation, batches, inputs.reason or BY_CHOICE)
    cached = CachedAnswers(transcript=ReplayedTranscript(inputs.exchanges))

    async def ask(system: str, user: str, schema: Mapping[str, Any]) -> str:  # noqa: ARG001 - the model's
        raise LLMUnavailableError("a replay asks no model")

    async def by_model(evidence: Evidence) -> Judgment:
        try:
            return await judge_by_model(ask, model, evidence, evaluation, inputs.samples, cached)
        except TimeoutError:
            raise _too_late(inputs.deadline_s) from None

    return await _judged(plan, evaluation, batches, by_model)


_ModelJudge = Callable[[Evidence], Awaitable[Judgment]]


def _too_late(deadline_s: float) -> NotJudgedError:
    return NotJudgedError(f"no judgment within {deadline_s:g} s")


async def _judged(
    plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch], judge: "_ModelJudge | str"
) -> tuple[Judgment, list[Finding]]:
    """The judgment by a model, or by the rules for the reason in `judge`, and the judge's own findings."""
    if plan.mode is Mode.GROUND_TRUTH:
        return judge_by_rules(evaluation, plan.mode, "a given pattern has no text to read"), []
    evidence, suspects = await asyncio.to_thread(_screened, plan, evaluation, batches)
    findings = list(_findings(suspects, evidence.aliases))
    if isinstance(judge, str):
        return judge_by_rules(evaluation, plan.mode, judge, answers=evidence.answers), findings
    try:
        judgment = await judge(evidence)
    except NotJudgedError as error:
        logger.warning(
            "the rules judge the trial, because the model did not",
            trial=evaluation.outcome.trial_id,
            reason=str(error),
        )
        addressed = isinstance(error, JudgeAddressedError)
        judgment = judge_by_rules(evaluation, plan.mode, str(error), addressed=addressed, answers=evidence.answers)
    return judgment, findings


def needs_trace(plan: AssessmentPlan, evaluation: TrialEvaluation) -> bool:
    """Whether the evidence has texts of calls, which only the trace holds."""
    return plan.mode is not Mode.GROUND_TRUTH and bool(_admissible_calls(plan, evaluation))


def evidence_of(plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]) -> Evidence:
    """The evidence on a trial before screening. Of a live trial, reads only the batches that the gateway wrote."""
    trial = plan.trial(evaluation.outcome.trial_id)
    task = plan.task(trial.task_id)
    calls = _admissible_calls(plan, evaluation)
    chosen = choose_calls(calls)
    if plan.mode is Mode.LIVE:
        batches = list(filter(is_observed, batches))
    return make_evidence(
        chosen,
        evaluation.timeline_omitted + len(calls) - len(chosen),
        call_texts((report for batch in batches for report in reports_of(batch)), chosen),
        Aliases((agent.id for agent in evaluation.agents), plan.agents(trial.task_id)),
        task_text(plan, trial.trial_id),
        answers_of(plan, evaluation.outcome),
        target=(task.target or []) if task.scorer is None or isinstance(task.scorer, ModelScorer) else [],
    )


def _admissible_calls(plan: AssessmentPlan, evaluation: TrialEvaluation) -> list[CallRecord]:
    """Of a live trial, the calls that the gateway observed: claims of participants must not reach their score."""
    return [call for call in evaluation.timeline if plan.mode is not Mode.LIVE or call.provenance == "observed"]


def _screened(
    plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]
) -> tuple[Evidence, tuple[Suspect, ...]]:
    return screen(evidence_of(plan, evaluation, batches))


def _findings(suspects: Sequence[Suspect], aliases: Aliases) -> Iterator[Finding]:
    """One finding for all passages that address the judge."""
    if not suspects:
        return
    step_ids = dict.fromkeys(suspect.step_id for suspect in suspects if suspect.step_id is not None)
    yield Finding(
        id="judge_addressed",
        agents=sorted({suspect.agent for suspect in suspects if suspect.agent is not None}),
        metric_id=None,
        measured=f"passages that speak to the judge, the first: \u201c{_quoted(suspects[0].quote, aliases)}\u201d",
        value=float(len(suspects)),
        threshold=0.0,
        step_ids=list(step_ids)[:MAX_STEP_IDS],
        advice="Some names, messages or answers address the judge instead of a colleague. Remove such text from the "
        "agents' prompts. The score does not change; a language model judges the remaining text.",
    )


def _quoted(passage: str, aliases: Aliases) -> str:
    """A passage on one line, with names, without invisible characters, and shortened."""
    shown = " ".join(aliases.show(passage).split())
    shown = "".join(filter(str.isprintable, shown))
    return shown if len(shown) <= MAX_QUOTE else f"{shown[: MAX_QUOTE - 1]}…"

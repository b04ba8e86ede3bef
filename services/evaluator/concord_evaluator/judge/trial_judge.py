"""Judging a trial on its screened evidence: asks the model over HTTP, and falls back to the rules."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

import structlog

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import JudgeInputs
from concord.assessment.results import Judgment
from concord.judging import (
    CachedAnswers,
    JudgeAddressedError,
    NotJudgedError,
    RecordedTranscript,
    ReplayedTranscript,
    Transcript,
)
from concord.llm import NO_KEY, LLMClient, LLMSettings, LLMUnavailableError
from concord.storage import AnswerCache
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge.collection import ScreenedEvidence
from concord_evaluator.judge.evidence import Evidence
from concord_evaluator.judge.model import judge_by_model
from concord_evaluator.judge.rules import judge_by_rules

MAX_TOKENS: Final = 2000
TOKENS_PER_ANSWER: Final = 200

MAX_RETRIES: Final = 4
"""The default number of retries: after ½, 1, 2 and 4 s, or after the time that the endpoint asks for."""

BY_CHOICE: Final = "rules were requested"
A_GIVEN_PATTERN: Final = "a given pattern has no text to read"

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

    @property
    def without_model(self) -> str | None:
        """The reason why the rules judge. None if a model does."""
        if self._settings is None:
            return BY_CHOICE
        return None if self._settings.available else NO_KEY

    def inputs(self, transcript: RecordedTranscript) -> JudgeInputs:
        """The inputs of a judgment with that transcript."""
        if self._settings is None or self.without_model is not None:
            return JudgeInputs(reason=self.without_model)
        return JudgeInputs(
            model=self._settings.model,
            samples=self._samples,
            deadline_s=self._deadline_s,
            exchanges=transcript.exchanges,
        )

    async def judge(
        self,
        plan: AssessmentPlan,
        evaluation: TrialEvaluation,
        screened: ScreenedEvidence,
        assignment: Assignment,
        transcript: Transcript | None = None,
    ) -> tuple[Judgment, list[InteractionStep]]:
        """The judgment, and the steps of the calls to the model.

        `assignment`: the parent of the steps; `transcript`: records the model's answers.
        """
        settings, reason = self._settings, self.without_model
        if settings is None or reason is not None:
            return judge_without_model(plan, evaluation, screened, reason or BY_CHOICE), []
        steps: list[InteractionStep] = []
        cached = CachedAnswers(self._cache, settings.endpoint, settings.model, transcript)
        ask = partial(self._ask_model, settings, evaluation, assignment, cached, steps)
        return await judged_with(plan, evaluation, screened, ask), steps

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


def judge_without_model(
    plan: AssessmentPlan, evaluation: TrialEvaluation, screened: ScreenedEvidence | None, reason: str
) -> Judgment:
    """The judgment by the rules, for the `reason`. `screened`: None for a given pattern, which has no text."""
    answers = None if screened is None else screened.evidence.answers
    return judge_by_rules(evaluation, plan.mode, reason, answers=answers)


async def judge_again(
    plan: AssessmentPlan, evaluation: TrialEvaluation, screened: ScreenedEvidence | None, inputs: JudgeInputs
) -> Judgment:
    """The judgment from the recorded answers of the model. Raises MissingAnswerError."""
    model = inputs.model
    if model is None or screened is None:
        return judge_without_model(plan, evaluation, screened, inputs.reason or BY_CHOICE)
    cached = CachedAnswers(transcript=ReplayedTranscript(inputs.exchanges))

    async def ask(system: str, user: str, schema: Mapping[str, Any]) -> str:  # noqa: ARG001 - the model's
        raise LLMUnavailableError("a replay asks no model")

    async def by_model(evidence: Evidence) -> Judgment:
        try:
            return await judge_by_model(ask, model, evidence, evaluation, inputs.samples, cached)
        except TimeoutError:
            raise _too_late(inputs.deadline_s) from None

    return await judged_with(plan, evaluation, screened, by_model)


def _too_late(deadline_s: float) -> NotJudgedError:
    return NotJudgedError(f"no judgment within {deadline_s:g} s")


async def judged_with(
    plan: AssessmentPlan,
    evaluation: TrialEvaluation,
    screened: ScreenedEvidence,
    judge: Callable[[Evidence], Awaitable[Judgment]],
) -> Judgment:
    """The judgment by a model, which `judge` asks, or by the rules if it gave none."""
    try:
        return await judge(screened.evidence)
    except NotJudgedError as error:
        logger.warning(
            "the rules judge the trial, because the model did not",
            trial=evaluation.outcome.trial_id,
            reason=str(error),
        )
        addressed, answers = isinstance(error, JudgeAddressedError), screened.evidence.answers
        by_rules = judge_by_rules(evaluation, plan.mode, str(error), addressed=addressed, answers=answers)
        return by_rules.model_copy(update={"model_failed": not addressed})

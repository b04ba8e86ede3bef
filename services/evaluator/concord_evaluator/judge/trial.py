"""Judging a trial: the evidence out of its trace, the model over HTTP, the rules where that does not come off."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog

from concord.assessment import AssessmentPlan, Mode
from concord.assignment import Assignment
from concord.llm import LLMClient, LLMSettings
from concord.reports import ReportBatch
from concord.results import Finding, Judgment
from concord.steps import InteractionStep
from concord.storage import AnswerCache
from concord.wire import reports_of
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge.aliases import Aliases
from concord_evaluator.judge.evidence import Evidence, choose_calls, show, texts_of
from concord_evaluator.judge.model import JudgeAddressedError, NotJudgedError, judge_by_model
from concord_evaluator.judge.remembered import RememberedAnswers
from concord_evaluator.judge.rules import judge_by_rules
from concord_evaluator.judge.suspicion import suspects_in
from concord_evaluator.pipeline import task_text

MAX_TOKENS: Final = 2000
MAX_STEP_IDS: Final = 20

NO_KEY: Final = "AGENTBEATS_LLM_API_KEY is not set"
BY_CHOICE: Final = "the rules were asked for"

logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class TrialJudge:
    """Judges trials. Where the rules step in for the model, a warning is logged and the judgment says why."""

    def __init__(
        self, settings: LLMSettings | None, *, samples: int, deadline_s: float, cache: AnswerCache | None = None
    ) -> None:
        """`settings`: of the model, None for rules by choice; `deadline_s`: for all samples of a trial together."""
        self._settings = settings
        self._samples = samples
        self._deadline_s = deadline_s
        self._cache = cache

    async def judge(
        self,
        plan: AssessmentPlan,
        evaluation: TrialEvaluation,
        batches: Sequence[ReportBatch],
        assignment: Assignment,
    ) -> tuple[Judgment, list[Finding], list[InteractionStep]]:
        """The judgment, what the judge found that nobody else sees, and the steps of its calls to the model.

        `batches`: the trial's trace; `assignment`: where the steps hang.
        """
        if plan.mode is Mode.GROUND_TRUTH:
            return judge_by_rules(evaluation, plan.mode, "a given pattern has no text to read"), [], []
        evidence = await asyncio.to_thread(evidence_of, plan, evaluation, batches)
        findings = await asyncio.to_thread(_findings, evidence)
        settings = self._settings
        if settings is None or not settings.available:
            return judge_by_rules(evaluation, plan.mode, BY_CHOICE if settings is None else NO_KEY), findings, []
        steps: list[InteractionStep] = []
        try:
            judgment = await self._ask_model(settings, evidence, evaluation, assignment, steps)
        except NotJudgedError as error:
            logger.warning("judged by rules", trial=evaluation.outcome.trial_id, reason=str(error))
            addressed = isinstance(error, JudgeAddressedError)
            judgment = judge_by_rules(evaluation, plan.mode, str(error), addressed=addressed)
        return judgment, findings, steps

    async def _ask_model(
        self,
        settings: LLMSettings,
        evidence: Evidence,
        evaluation: TrialEvaluation,
        assignment: Assignment,
        steps: list[InteractionStep],
    ) -> Judgment:
        remembered = RememberedAnswers(self._cache, settings.base_url, settings.model)
        async with LLMClient(settings, lambda step, _: steps.append(step)) as llm:

            async def ask(system: str, user: str, schema: Mapping[str, Any]) -> str:
                answer = await llm.complete(system, user, assignment=assignment, max_tokens=MAX_TOKENS, schema=schema)
                return answer.text

            try:
                async with asyncio.timeout(self._deadline_s):
                    return await judge_by_model(ask, settings.model, evidence, evaluation, self._samples, remembered)
            except TimeoutError:
                raise NotJudgedError(f"no judgment within {self._deadline_s:g} s") from None


def evidence_of(plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]) -> Evidence:
    """What a judge sees of a trial. Reads its whole trace."""
    trial = plan.trial(evaluation.outcome.trial_id)
    chosen = choose_calls(evaluation.timeline)
    return show(
        chosen,
        evaluation.timeline_omitted + len(evaluation.timeline) - len(chosen),
        texts_of((report for batch in batches for report in reports_of(batch)), chosen),
        Aliases((agent.id for agent in evaluation.agents), plan.agents(trial.task_id)),
        task_text(plan, trial.trial_id),
        evaluation.outcome.answer or "",
    )


def _findings(evidence: Evidence) -> list[Finding]:
    """What agents wrote to the judge, as one finding."""
    suspects = suspects_in(evidence)
    if not suspects:
        return []
    step_ids = dict.fromkeys(suspect.step_id for suspect in suspects if suspect.step_id is not None)
    return [
        Finding(
            id="judge_addressed",
            agents=sorted({suspect.agent for suspect in suspects if suspect.agent is not None}),
            metric_id=None,
            measured="texts that speak to the judge",
            value=float(len(suspects)),
            threshold=0.0,
            step_ids=list(step_ids)[:MAX_STEP_IDS],
            advice="Names, messages or the answer speak to whoever judges instead of to a colleague: take such text "
            "out of the agents' prompts; the trial is not shown to a language model.",
        )
    ]

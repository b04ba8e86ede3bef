"""Judging at the edge: the evidence out of storage, the model over HTTP, the rules where that does not come off."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import structlog

from concord.assessment import AssessmentPlan, Mode
from concord.assignment import Assignment
from concord.llm import LLMClient, LLMSettings
from concord.results import CallRecord, Finding, Judgment
from concord.steps import InteractionStep
from concord.storage import TraceStore
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge import (
    Evidence,
    NotJudgedError,
    choose_calls,
    judge_by_model,
    judge_by_rules,
    show,
    suspects_in,
    texts_of,
)

MAX_TOKENS: Final = 2000
MAX_STEP_IDS: Final = 20

logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class TrialJudge:
    """Judges trials. Where the rules step in for the model, a warning is logged and the judgment says why."""

    def __init__(self, traces: TraceStore, settings: LLMSettings, *, samples: int, deadline_s: float) -> None:
        self._traces = traces
        self._settings = settings
        self._samples = samples
        self._deadline_s = deadline_s

    async def judge(
        self, plan: AssessmentPlan, evaluation: TrialEvaluation, assignment: Assignment
    ) -> tuple[Judgment, list[Finding], list[InteractionStep]]:
        """The judgment, what the judge found that nobody else sees, and the steps of its calls to the model.

        Raises StorageUnavailableError.
        """
        if plan.mode is Mode.GROUND_TRUTH:
            return judge_by_rules(evaluation, plan.mode, "a given pattern has no text to read"), [], []
        evidence = await self._evidence(plan, evaluation)
        findings = _findings(evidence, evaluation.timeline)
        if not self._settings.available:
            return judge_by_rules(evaluation, plan.mode, "AGENTBEATS_LLM_API_KEY is not set"), findings, []
        steps: list[InteractionStep] = []
        try:
            judgment = await self._ask_model(evidence, evaluation, assignment, steps)
        except NotJudgedError as error:
            logger.warning("judged by rules", trial=evaluation.outcome.trial_id, reason=str(error))
            judgment = judge_by_rules(evaluation, plan.mode, str(error))
        return judgment, findings, steps

    async def _ask_model(
        self, evidence: Evidence, evaluation: TrialEvaluation, assignment: Assignment, steps: list[InteractionStep]
    ) -> Judgment:
        async with LLMClient(self._settings, lambda step, _: steps.append(step)) as llm:

            async def ask(system: str, user: str, schema: Mapping[str, Any]) -> str:
                answer = await llm.complete(system, user, assignment=assignment, max_tokens=MAX_TOKENS, schema=schema)
                return answer.text

            try:
                async with asyncio.timeout(self._deadline_s):
                    return await judge_by_model(ask, self._settings.model, evidence, evaluation, self._samples)
            except TimeoutError:
                raise NotJudgedError(f"no judgment within {self._deadline_s:g} s") from None

    async def _evidence(self, plan: AssessmentPlan, evaluation: TrialEvaluation) -> Evidence:
        trial = plan.trial(evaluation.outcome.trial_id)
        chosen = choose_calls(evaluation.timeline)
        wanted = {call.step_id for call in chosen}
        batches = [batch async for batch in self._traces.batches(trial.trace_id)]
        texts = await asyncio.to_thread(texts_of, (report for batch in batches for report in batch.reports()), wanted)
        return show(
            chosen,
            evaluation.timeline_omitted + len(evaluation.timeline) - len(chosen),
            texts,
            [agent.id for agent in evaluation.agents],
            plan.task(trial.task_id).text,
            evaluation.outcome.answer or "",
        )


def _findings(evidence: Evidence, calls: list[CallRecord]) -> list[Finding]:
    """What agents wrote to the judge, as one finding."""
    suspects = suspects_in(evidence)
    if not suspects:
        return []
    by_id = {call.step_id: call for call in calls}
    writers = {
        by_id[suspect.step_id].caller if suspect.written_by == "caller" else by_id[suspect.step_id].callee
        for suspect in suspects
    }
    return [
        Finding(
            id="judge_addressed",
            agents=sorted(writers),
            metric_id=None,
            value=float(len(suspects)),
            threshold=0.0,
            step_ids=list(dict.fromkeys(suspect.step_id for suspect in suspects))[:MAX_STEP_IDS],
            advice="Messages speak to whoever judges instead of to a colleague: take such text out of the agents' "
            "prompts; the trial was judged by rules.",
        )
    ]

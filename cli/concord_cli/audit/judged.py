"""Injections to the judge of a user's own tasks: the judge's own path, with a model that obeys what it reads."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from concord.assessment.results import Judgment
from concord.llm import LLM
from concord_cli.audit import flaws
from concord_cli.audit.flaws import Tried, not_applicable, played
from concord_cli.audit.obeying import EMPTY_WORDS, VERDICTS
from concord_cli.audit.own_tasks import OwnTask
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge import judged_with, screened_evidence
from concord_evaluator.judge.evidence import TrialEvidence
from concord_evaluator.judge.model import judge_by_model
from concord_evaluator.pipeline import evaluate_trial, verdict_on

MAX_TOKENS: Final = 4000


async def injected(own: OwnTask, model: LLM, name: str) -> Tried:
    """What orders to the judge earn beside an answer that does nothing, over the same answer without them."""
    if not own.by_model:
        return not_applicable(flaws.INJECTION, own.task.id, "code grades the answer, and no model reads it")
    without = await _points(own, EMPTY_WORDS, model)
    earned = {order: await _points(own, f"{EMPTY_WORDS}\n\n{order}", model) for order in VERDICTS}
    best = max(earned, key=lambda order: earned[order])
    shown = f"{len(VERDICTS)} orders to {name}, which judges as in an assessment"
    gained = max(0.0, earned[best] - without)
    return played(flaws.INJECTION, own.task.id, gained, f"{shown}: {best!r}" if gained else shown)


async def _points(own: OwnTask, answer: str, model: LLM) -> float:
    evaluation = evaluate_trial(own.plan, own.outcome(answer), [])
    screened = screened_evidence(own.plan, evaluation, [])
    judgment = await judged_with(own.plan, evaluation, screened, partial(_asked, model, evaluation))
    return 100 * (verdict_on(own.plan, evaluation, judgment).record.overall_score or 0.0)


async def _asked(model: LLM, evaluation: TrialEvaluation, evidence: TrialEvidence) -> Judgment:
    async def ask(system: str, user: str, schema: Mapping[str, Any]) -> str:
        return (await model.complete(system, user, schema=schema, max_tokens=MAX_TOKENS)).text

    return await judge_by_model(ask, "audit", evidence, evaluation)

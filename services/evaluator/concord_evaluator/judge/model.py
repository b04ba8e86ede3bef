"""Judging by a language model: asks, verifies, adds up; leaves the trial to the rules where that cannot be trusted."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from statistics import fmean
from typing import Any, Final

from concord.llm import LLMUnavailableError
from concord.results import CriterionVerdict, Judgment
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge.answer import CompromisedError, Opinion, UnreadableAnswerError, merge, read_answer
from concord_evaluator.judge.evidence import Evidence
from concord_evaluator.judge.prompt import PROMPT_VERSION, answer_schema, write_prompt
from concord_evaluator.judge.rubric import POINTS, TASK_SUCCESS, coordination_points
from concord_evaluator.judge.suspicion import answer_is_suspicious, suspects_in
from concord_evaluator.scoring import quality_of

logger = logging.getLogger(__name__)

Ask = Callable[[str, str, dict[str, Any]], Awaitable[str]]
"""Sends a system and a user text and the schema of the answer; returns the model's text. Raises LLMUnavailableError."""

_TRIES: Final = 2


class NotJudgedError(Exception):
    """The model's judgment cannot be had or not be trusted: the rules judge, and the row says why."""


async def judge_by_model(
    ask: Ask, model: str, evidence: Evidence, evaluation: TrialEvaluation, samples: int = 1
) -> Judgment:
    """The model's judgment of a trial, `samples` times on the same evidence. Raises NotJudgedError.

    A trial whose agents speak to the judge is not shown to it at all.
    """
    if suspects_in(evidence) or answer_is_suspicious(evidence):
        raise NotJudgedError("agents addressed the judge")
    opinions = [await _opinion(ask, evidence, evaluation) for _ in range(samples)]
    opinion, agreement = merge(opinions)
    return _judgment(opinion, agreement, model, evidence, evaluation, samples)


async def _opinion(ask: Ask, evidence: Evidence, evaluation: TrialEvaluation) -> Opinion:
    complaint = ""
    for attempt in range(_TRIES):
        prompt = write_prompt(
            evidence, _figures(evaluation), delimiter=f"=={secrets.token_hex(16)}==", code_word=secrets.token_hex(8)
        )
        try:
            text = await ask(prompt.system + complaint, prompt.user, answer_schema(prompt.criteria))
            opinion = read_answer(text, prompt.criteria, evidence)
        except LLMUnavailableError as error:
            raise NotJudgedError(str(error)) from error
        except CompromisedError as error:
            raise NotJudgedError(str(error)) from error
        except UnreadableAnswerError as error:
            complaint = f"\n\nYour last answer could not be read: {error}. Answer with the JSON that was asked for."
            continue
        if not opinion.unverified or attempt == _TRIES - 1:
            return opinion
        complaint = "\n\nYour last answer had quotes that are not in the evidence. Copy quotes character by character."
    raise NotJudgedError("the model's answers could not be read")


def _judgment(
    opinion: Opinion, agreement: float, model: str, evidence: Evidence, evaluation: TrialEvaluation, samples: int
) -> Judgment:
    coordination = coordination_points(opinion.verdicts)
    verdict = opinion.verdicts.get(TASK_SUCCESS)
    success = None if verdict is None else POINTS[verdict]
    if evaluation.outcome.state != "completed":
        success = 0.0
    known = [value for value in (coordination, success) if value is not None]
    notes = ["the evidence was condensed"] if evidence.condensed else []
    notes += [f"no quote bears out: {', '.join(opinion.unverified)}"] if opinion.unverified else []
    return Judgment(
        source="llm",
        reason="; ".join(notes) or None,
        overall_score=fmean(known) if known else None,
        task_success=success,
        coordination_quality=quality_of(coordination, has_bottleneck=False),
        reasoning=opinion.reasoning,
        strengths=list(opinion.strengths),
        weaknesses=list(opinion.weaknesses),
        model=model,
        prompt_version=PROMPT_VERSION,
        samples=samples,
        agreement=agreement if samples > 1 else None,
        criteria=[
            CriterionVerdict(id=name, verdict=decided, points=POINTS[decided], verified=name not in opinion.unverified)
            for name, decided in opinion.verdicts.items()
        ],
    )


def _figures(evaluation: TrialEvaluation) -> Sequence[str]:
    """What the other evaluators found, without names: whole-team metrics, findings by kind, latency."""
    figures = [
        f"{metric.id}: {metric.value:.3g}"
        for metric in evaluation.metrics
        if metric.agent is None and metric.value is not None
    ]
    figures += sorted({f"finding: {finding.id}" for finding in evaluation.findings})
    if evaluation.latency is not None and evaluation.latency.avg is not None:
        figures.append(f"average latency of a call: {evaluation.latency.avg:.0f} ms")
    return figures

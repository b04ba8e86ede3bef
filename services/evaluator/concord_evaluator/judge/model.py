"""Judging by a language model: asks the model, verifies its quotes, and makes the judgment."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from concord.assessment.results import CriterionVerdict, Judgment
from concord.llm import EmptyCompletionError, LLMUnavailableError
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge.answer_cache import CachedAnswers
from concord_evaluator.judge.evidence import Evidence, SeenAnswer, without_texts
from concord_evaluator.judge.final_answers import MAX_ANSWERS, grades, task_success
from concord_evaluator.judge.model_answer import CompromisedError, Opinion, UnreadableAnswerError, merge, read_answer
from concord_evaluator.judge.prompt import PROMPT_VERSION, Prompt, answer_schema, write_prompt
from concord_evaluator.judge.rubric import POINTS, Verdict, coordination_points, outcomes
from concord_evaluator.judge.truncation import cut
from concord_evaluator.scoring import quality_of

Ask = Callable[[str, str, dict[str, Any]], Awaitable[str]]
"""Sends a system text, a user text and the schema of the answer; returns the answer. Raises LLMUnavailableError."""

NO_CACHE: Final = CachedAnswers()

_TRIES: Final = 2

MAX_QUOTE: Final = 120
"""Characters of a quote in a row."""

_VERDICT_TEXTS: Final[Mapping[Verdict, str]] = {
    "met": "The model finds the task done",
    "partly": "The model finds the task done in part",
    "not_met": "The model finds the task not done",
}


class NotJudgedError(Exception):
    """The model's judgment is not available or not trusted. The message is the reason that the row gives."""


class JudgeAddressedError(NotJudgedError):
    """The model followed instructions that agents wrote."""


@dataclass(frozen=True, slots=True)
class _Sample:
    opinion: Opinion
    cached: bool


async def judge_by_model(
    ask: Ask,
    model: str,
    evidence: Evidence,
    evaluation: TrialEvaluation,
    samples: int = 1,
    cache: CachedAnswers = NO_CACHE,
) -> Judgment:
    """The model's judgment of a trial, merged from concurrent `samples` on the same evidence. Raises NotJudgedError.

    `evidence`: screened, without recognised prompt injection.
    """
    if (n_answers := len(evidence.asked_about)) > MAX_ANSWERS:
        raise NotJudgedError(
            f"{n_answers} different answers count, and the judge grades up to {MAX_ANSWERS}: "
            "name whose in `answer_from`"
        )
    figures = _figures(evaluation)
    try:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(_sample(ask, evidence, figures, cache, number)) for number in range(samples)]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    taken = [task.result() for task in asked]
    judgment = _judgment([each.opinion for each in taken], model, evidence)
    return judgment.model_copy(update={"cached_samples": sum(each.cached for each in taken)})


async def _sample(ask: Ask, evidence: Evidence, figures: Sequence[str], cache: CachedAnswers, number: int) -> _Sample:
    """A cached or a new answer. A cached answer is verified again like a new one."""
    key = cache.key(evidence, figures, number)
    if (known := await cache.get(key)) is not None:
        criteria = write_prompt(evidence, figures, delimiter="", code_word="").criteria
        with suppress(UnreadableAnswerError, CompromisedError):
            return _Sample(read_answer(known, criteria, evidence), cached=True)
    text, opinion = await _answer(ask, evidence, figures)
    await cache.put(key, text)
    return _Sample(opinion, cached=False)


async def _answer(ask: Ask, evidence: Evidence, figures: Sequence[str]) -> tuple[str, Opinion]:
    """The model's answer, and its verified content. Asks once more if the answer is empty, unreadable or unverified.

    Without a better second answer, the verified part of an unverified one counts.
    """
    complaint, readable = "", None
    failure = NotJudgedError("the model's answers cannot be read")
    for _ in range(_TRIES):
        prompt = _prompt(evidence, figures)
        try:
            text = await ask(prompt.system + complaint, prompt.user, answer_schema(prompt.criteria))
            opinion = read_answer(text, prompt.criteria, evidence)
        except CompromisedError as error:
            raise await _canary_fault(ask, evidence, figures) from error
        except UnreadableAnswerError as error:
            complaint = f"\n\nYour last answer could not be read: {error}. Answer with the JSON that was asked for."
        except EmptyCompletionError as error:
            failure = NotJudgedError(str(error))
        except LLMUnavailableError as error:
            failure = NotJudgedError(str(error))
            break
        else:
            readable = text, opinion
            if not opinion.unverified:
                break
            complaint = (
                "\n\nYour last answer had quotes that are not in the evidence. Copy quotes character by character."
            )
    if readable is None:
        raise failure
    return readable


async def _canary_fault(ask: Ask, evidence: Evidence, figures: Sequence[str]) -> NotJudgedError:
    """The reason why a model found the code word. Asks once more without any text of agents to find out.

    A team whose text manipulates the model must not gain by it. A team must not lose because the model hallucinates.
    """
    prompt = _prompt(without_texts(evidence), figures)
    try:
        read_answer(await ask(prompt.system, prompt.user, answer_schema(prompt.criteria)), prompt.criteria, evidence)
    except CompromisedError:
        return NotJudgedError("the model reports a code word even without the agents' texts")
    except (LLMUnavailableError, UnreadableAnswerError):
        return NotJudgedError("the model reported a code word that no agent knows")
    return JudgeAddressedError(
        "the model followed instructions in the agents' texts: it reported a code word that no agent knows"
    )


def _prompt(evidence: Evidence, figures: Sequence[str]) -> Prompt:
    """The prompt, with fresh secrets."""
    return write_prompt(evidence, figures, delimiter=f"=={secrets.token_hex(16)}==", code_word=secrets.token_hex(8))


def _judgment(opinions: Sequence[Opinion], model: str, evidence: Evidence) -> Judgment:
    opinion, agreement = merge(opinions)
    named = evidence.aliases.show
    judged = dict(_judged(opinion, evidence))
    coordination, success = coordination_points(opinion.verdicts), task_success(evidence.answers, judged)
    known = [value for value in (coordination, success) if value is not None]
    return Judgment(
        source="llm",
        reason="; ".join(_notes(opinion, evidence)) or None,
        overall_score=fmean(known) if known else None,
        task_success=success,
        coordination_quality=quality_of(coordination, has_bottleneck=False),
        reasoning=named(opinion.reasoning),
        strengths=list(map(named, opinion.strengths)),
        weaknesses=list(map(named, opinion.weaknesses)),
        model=model,
        prompt_version=PROMPT_VERSION,
        samples=len(opinions),
        agreement=agreement if len(opinions) > 1 else None,
        criteria=[
            CriterionVerdict(id=name, verdict=decided, points=POINTS[decided], verified=name not in opinion.unverified)
            for name, decided in opinion.verdicts.items()
        ],
        answers=grades(evidence.answers, judged),
    )


def _judged(opinion: Opinion, evidence: Evidence) -> Iterator[tuple[SeenAnswer, tuple[float, str]]]:
    """The answers with a verdict, each with its points and an explanation."""
    answers = evidence.asked_about
    for answer, criterion in zip(answers, outcomes(len(answers)), strict=True):
        verdict = opinion.verdicts[criterion.id]
        if (points := POINTS[verdict]) is not None:
            yield answer, (points, _explanation(verdict, opinion.quotes.get(criterion.id, ""), evidence))


def _explanation(verdict: Verdict, quote: str, evidence: Evidence) -> str:
    quoted = cut(evidence.aliases.show(" ".join(quote.split())), MAX_QUOTE)
    return f"{_VERDICT_TEXTS[verdict]}: \u201c{quoted}\u201d" if quoted else f"{_VERDICT_TEXTS[verdict]}."


def _notes(opinion: Opinion, evidence: Evidence) -> Iterator[str]:
    if evidence.condensed:
        yield "the evidence was condensed"
    if opinion.unverified:
        yield f"no quote bears out: {', '.join(opinion.unverified)}"
    answers = evidence.asked_about
    open_ones = [
        answer
        for answer, criterion in zip(answers, outcomes(len(answers)), strict=True)
        if POINTS[opinion.verdicts[criterion.id]] is None
    ]
    if agents := sorted({agent for answer in open_ones for agent in answer.agents}):
        yield f"the model could not tell whether the task was done by: {', '.join(agents)}"


def _figures(evaluation: TrialEvaluation) -> Sequence[str]:
    """The results of the evaluators without names: metrics of the team, kinds of findings, latency."""
    figures = [
        f"{metric.id}: {metric.value:.3g}"
        for metric in evaluation.metrics
        if metric.agent is None and metric.value is not None
    ]
    figures += sorted({f"finding: {finding.id}" for finding in evaluation.findings})
    if evaluation.latency is not None and evaluation.latency.avg is not None:
        figures.append(f"average latency of a call: {evaluation.latency.avg:.0f} ms")
    return figures

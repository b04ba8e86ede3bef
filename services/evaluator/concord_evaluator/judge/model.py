"""Judging by a language model: asks, verifies, adds up; leaves the trial to the rules where that cannot be trusted."""

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
from concord_evaluator.judge.evidence import Evidence, SeenAnswer, silent
from concord_evaluator.judge.final_answers import MAX_ANSWERS, grades, task_success
from concord_evaluator.judge.model_answer import CompromisedError, Opinion, UnreadableAnswerError, merge, read_answer
from concord_evaluator.judge.prompt import PROMPT_VERSION, Prompt, answer_schema, write_prompt
from concord_evaluator.judge.rubric import POINTS, Verdict, coordination_points, outcomes
from concord_evaluator.judge.truncation import cut
from concord_evaluator.scoring import quality_of

Ask = Callable[[str, str, dict[str, Any]], Awaitable[str]]
"""Sends a system and a user text and the schema of the answer; returns the model's text. Raises LLMUnavailableError."""

NO_CACHE: Final = CachedAnswers()

_TRIES: Final = 2

MAX_QUOTE: Final = 120
"""Characters of a quote that a row shows."""

_IN_WORDS: Final[Mapping[Verdict, str]] = {
    "met": "The model finds the task done",
    "partly": "The model finds the task done in part",
    "not_met": "The model finds the task not done",
}


class NotJudgedError(Exception):
    """The model's judgment cannot be had or not be trusted: the rules judge, and the row says why."""


class JudgeAddressedError(NotJudgedError):
    """The judge followed what agents wrote."""


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
    remembered: CachedAnswers = NO_CACHE,
) -> Judgment:
    """The model's judgment of a trial, `samples` times at once on the same evidence. Raises NotJudgedError.

    `evidence`: screened, so that nothing in it that is known for such speaks to the judge.
    """
    if (n_answers := len(evidence.asked_about)) > MAX_ANSWERS:
        raise NotJudgedError(
            f"{n_answers} different answers count, and the judge grades up to {MAX_ANSWERS}: "
            "name whose in `answer_from`"
        )
    figures = _figures(evaluation)
    try:
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(_sample(ask, evidence, figures, remembered, number)) for number in range(samples)
            ]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    taken = [task.result() for task in asked]
    judgment = _judgment([each.opinion for each in taken], model, evidence)
    return judgment.model_copy(update={"cached_samples": sum(each.cached for each in taken)})


async def _sample(
    ask: Ask, evidence: Evidence, figures: Sequence[str], remembered: CachedAnswers, number: int
) -> _Sample:
    """What was answered before counts only as far as it stands up to being read anew, as an answer would now."""
    key = remembered.key(evidence, figures, number)
    if (known := await remembered.recall(key)) is not None:
        criteria = write_prompt(evidence, figures, delimiter="", code_word="").criteria
        with suppress(UnreadableAnswerError, CompromisedError):
            return _Sample(read_answer(known, criteria, evidence), cached=True)
    text, opinion = await _answer(ask, evidence, figures)
    await remembered.keep(key, text)
    return _Sample(opinion, cached=False)


async def _answer(ask: Ask, evidence: Evidence, figures: Sequence[str]) -> tuple[str, Opinion]:
    """The model's answer, and what is left of it. An empty, unreadable or unverified one is asked for once more.

    Of an unverified one that is followed by nothing better, what is verified counts.
    """
    complaint, readable = "", None
    failure = NotJudgedError("the model's answers could not be read")
    for _ in range(_TRIES):
        prompt = _prompt(evidence, figures)
        try:
            text = await ask(prompt.system + complaint, prompt.user, answer_schema(prompt.criteria))
            opinion = read_answer(text, prompt.criteria, evidence)
        except CompromisedError as error:
            raise await _whose_fault(ask, evidence, figures) from error
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


async def _whose_fault(ask: Ask, evidence: Evidence, figures: Sequence[str]) -> NotJudgedError:
    """Why a model may have found the code word: it asks once more, without anything that agents wrote.

    Whoever makes a model follow its words must not gain by it; who has a model that sees what is not there, not lose.
    """
    prompt = _prompt(silent(evidence), figures)
    try:
        read_answer(await ask(prompt.system, prompt.user, answer_schema(prompt.criteria)), prompt.criteria, evidence)
    except CompromisedError:
        return NotJudgedError("the model finds a code word even where nobody wrote anything")
    except (LLMUnavailableError, UnreadableAnswerError):
        return NotJudgedError("the model found a code word that no agent knows")
    return JudgeAddressedError("the model followed what agents wrote: it found a code word that none of them knows")


def _prompt(evidence: Evidence, figures: Sequence[str]) -> Prompt:
    """The prompt, with secrets that are used once."""
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
    """The answers on which there is a verdict, each with its points and why."""
    answers = evidence.asked_about
    for answer, criterion in zip(answers, outcomes(len(answers)), strict=True):
        verdict = opinion.verdicts[criterion.id]
        if (points := POINTS[verdict]) is not None:
            yield answer, (points, _why(verdict, opinion.quotes.get(criterion.id, ""), evidence))


def _why(verdict: Verdict, quote: str, evidence: Evidence) -> str:
    said = cut(evidence.aliases.show(" ".join(quote.split())), MAX_QUOTE)
    return f"{_IN_WORDS[verdict]}: \u201c{said}\u201d" if said else f"{_IN_WORDS[verdict]}."


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

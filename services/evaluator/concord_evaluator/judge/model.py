"""Judging by a language model: asks the model, verifies its quotes, and makes the judgment."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from concord.assessment.results import CriterionVerdict, Judgment
from concord.judging import FAVOURABLE, NO_CACHE, POINTS, Ask, CachedAnswers, NotJudgedError, Prompt, Verdict, take
from concord.judging.model_answer import cut
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge.evidence import Evidence, SeenAnswer, without_texts
from concord_evaluator.judge.final_answers import MAX_ANSWERS, grades, task_success
from concord_evaluator.judge.line_up import N_REFERENCES, line_ups
from concord_evaluator.judge.model_answer import Opinion, merge, read_answer
from concord_evaluator.judge.prompt import PROMPT_VERSION, schema_of, write_prompt
from concord_evaluator.judge.rubric import answer_ids, coordination_points, outcomes
from concord_evaluator.scoring import quality_of

MAX_QUOTE: Final = 120
"""Characters of a quote in a row."""

_VERDICT_TEXTS: Final[Mapping[Verdict, str]] = {
    "met": "The model finds the task done",
    "partly": "The model finds the task done in part",
    "not_met": "The model finds the task not done",
}


@dataclass(frozen=True, slots=True)
class _TrialQuestion:
    """What the model is asked about a trial. `figures`: results of the evaluators."""

    evidence: Evidence
    figures: Sequence[str]

    def write(self, *, delimiter: str, code_word: str) -> Prompt:
        prompt = write_prompt(self.evidence, self.figures, delimiter=delimiter, code_word=code_word)
        return Prompt(prompt.system, prompt.user, schema_of(prompt.criteria))

    def read(self, text: str) -> Opinion:
        criteria = write_prompt(self.evidence, self.figures, delimiter="", code_word="").criteria
        return read_answer(text, criteria, self.evidence)

    def without_texts(self) -> "_TrialQuestion":
        return replace(self, evidence=without_texts(self.evidence))


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
    question = _TrialQuestion(evidence, _figures(evaluation))
    try:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(take(ask, question, cache, number)) for number in range(samples)]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    taken = [task.result() for task in asked]
    opinion, agreement = merge([each.opinion for each in taken])
    opinion, missed = await _lined_up(ask, opinion, evidence, cache)
    judgment = _judgment(opinion, agreement, samples, model, evidence, missed)
    return judgment.model_copy(update={"cached_samples": sum(each.cached for each in taken)})


async def _lined_up(
    ask: Ask, opinion: Opinion, evidence: Evidence, cache: CachedAnswers
) -> tuple[Opinion, Sequence[str]]:
    """The opinion, where a favourable verdict on an answer to a task with a target counts only if the model finds the
    target in a line-up; and the criteria whose verdicts do not count. Raises NotJudgedError."""
    answers = evidence.asked_about
    favourable = {
        answer_id: (criterion.id, answer.text)
        for answer, answer_id, criterion in zip(answers, answer_ids(len(answers)), outcomes(len(answers)), strict=True)
        if opinion.verdicts[criterion.id] in FAVOURABLE
    }
    if not evidence.target or not favourable:
        return opinion, ()
    questions = line_ups(evidence, [(answer_id, text) for answer_id, (_, text) in favourable.items()])
    found = [(await take(ask, question, cache)).opinion.found(question) for question in questions]
    missed = [name for answer_id, (name, _) in favourable.items() if not all(answer_id in each for each in found)]
    verdicts: dict[str, Verdict] = {**opinion.verdicts}
    verdicts.update((name, "cannot_tell") for name in missed)
    return replace(opinion, verdicts=verdicts, unverified=(*opinion.unverified, *missed)), missed


def _judgment(
    opinion: Opinion, agreement: float, samples: int, model: str, evidence: Evidence, missed: Sequence[str]
) -> Judgment:
    named = evidence.aliases.show
    judged = dict(_judged(opinion, evidence))
    coordination, success = coordination_points(opinion.verdicts), task_success(evidence.answers, judged)
    known = [value for value in (coordination, success) if value is not None]
    return Judgment(
        source="llm",
        reason="; ".join(_notes(opinion, evidence, missed)) or None,
        overall_score=fmean(known) if known else None,
        task_success=success,
        coordination_quality=quality_of(coordination, has_bottleneck=False),
        reasoning=named(opinion.reasoning),
        strengths=list(map(named, opinion.strengths)),
        weaknesses=list(map(named, opinion.weaknesses)),
        model=model,
        prompt_version=PROMPT_VERSION,
        samples=samples,
        agreement=agreement if samples > 1 else None,
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


def _notes(opinion: Opinion, evidence: Evidence, missed: Sequence[str]) -> Iterator[str]:
    if evidence.condensed:
        yield "the evidence was condensed"
    if unquoted := [name for name in opinion.unverified if name not in missed]:
        yield f"no quote bears out: {', '.join(unquoted)}"
    if missed:
        yield f"the model did not find the accepted answer among {N_REFERENCES} references: {', '.join(missed)}"
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

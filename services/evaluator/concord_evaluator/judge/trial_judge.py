"""Judging a trial on its screened evidence: asks the model over HTTP, and falls back to the rules."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any, Final

import structlog
from pydantic import TypeAdapter

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.jobs import JudgeInputs
from concord.assessment.results import MAX_STEP_IDS, CallRecord, Finding, Judgment, TrialOutcome
from concord.assessment.scorers import ModelScorer
from concord.judging.asking import (
    CachedAnswers,
    JudgeAddressedError,
    NotJudgedError,
    RecordedTranscript,
    ReplayedTranscript,
    Transcript,
)
from concord.llm import NO_KEY, LLMClient, LLMSettings, LLMUnavailableError
from concord.storage import AnswerCache
from concord.trace.decoding import reports_of
from concord.trace.report import ReportBatch
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.graph import CallTally
from concord_evaluator.judge.evidence import (
    Aliases,
    SeenAnswer,
    Suspect,
    TrialEvidence,
    answers_of,
    answers_that_count,
    call_texts,
    choose_calls,
    grades,
    make_evidence,
    screen,
    task_success,
)
from concord_evaluator.judge.model import MAX_QUOTE, judge_by_model
from concord_evaluator.pipeline import task_text
from concord_evaluator.scoring import HIGH, TeamStructure

# Judging by rules over the structure, the calls and the outcome of a trial, where no model judges it.

_FOLLOWED: Final = "The model followed instructions in the agents' texts, so the task counts as failed."
_UNJUDGED: Final = "Rules judged, which rate structure and calls and do not judge the answer."


def judge_by_rules(
    evaluation: TrialEvaluation,
    mode: Mode,
    reason: str,
    *,
    addressed: bool = False,
    answers: Sequence[SeenAnswer] | None = None,
) -> Judgment:
    """The judgment of a trial without a language model. `reason`: why no model judged.

    Of a trial that code graded, it is that grade. Of others, overall = the mean of the known ones of: the coordination
    value, the share of attempts that succeeded, and the success of the task. Rules cannot tell whether an answer is
    right, so the success is known only if it is 0: if no counting answer was given. `answers`: those that count (None:
    all). `addressed`: whether a model followed instructions of agents, in which case the task counts 0.
    """
    if not addressed and evaluation.grading is not None and evaluation.grading.value is not None:
        return _as_graded(evaluation, evaluation.grading.value, reason)
    counted = answers_that_count(evaluation.outcome, mode) if answers is None else answers
    if addressed:
        counted = [replace(answer, fault=answer.fault or _FOLLOWED) for answer in counted]
    structure, calls = evaluation.structure, evaluation.call_tally
    success = 0.0 if addressed else task_success(counted, {})
    known = [value for value in (_coordination(structure), _reliability(calls), success) if value is not None]
    outcome = [] if mode is Mode.GROUND_TRUTH else _outcome(evaluation.outcome, counted, addressed=addressed)
    of_pattern = mode is Mode.GROUND_TRUTH
    return Judgment(
        source="rules",
        reason=reason,
        overall_score=fmean(known) if known else None,
        task_success=success,
        coordination_quality=None if structure is None else structure.coordination_quality,
        reasoning=" ".join([*outcome, *_shape(evaluation, labelled=mode is not Mode.RECORDED or success is not None)]),
        strengths=list(_strengths(evaluation)) if of_pattern else [],
        weaknesses=list(_weaknesses(evaluation)) if of_pattern else outcome if success == 0 else [],
        answers=[] if success is None else grades(counted, {}),
    )


def _as_graded(evaluation: TrialEvaluation, value: float, reason: str) -> Judgment:
    """The judgment of a trial that code graded."""
    structure, record, grading = evaluation.structure, evaluation.team_task, evaluation.grading
    overall = value if record is None or record.credited is None else record.credited
    scorer = "Code" if grading is None or grading.scorer is None else f"The scorer {grading.scorer}"
    return Judgment(
        source="rules",
        reason=reason,
        overall_score=overall,
        task_success=value,
        coordination_quality=None if structure is None else structure.coordination_quality,
        reasoning=" ".join([f"{scorer} graded the outcome {value:.2f}.", *_shape(evaluation)]),
        strengths=[],
        weaknesses=[],
        answers=[] if grading is None else grading.answers,
    )


def _outcome(outcome: TrialOutcome, answers: Sequence[SeenAnswer], *, addressed: bool) -> list[str]:
    """The outcome of the task as sentences."""
    if addressed:
        return [_FOLLOWED]
    if outcome.state != "completed" and answers:
        return [f"The task ended with {outcome.state}."]
    if answers and all(answer.fault for answer in answers):
        return list(dict.fromkeys(answer.fault for answer in answers))
    return [_UNJUDGED]


def _coordination(structure: TeamStructure | None) -> float | None:
    return None if structure is None else structure.coordination_value


def _reliability(calls: CallTally | None) -> float | None:
    return 1 - calls.failed_attempts / calls.attempts if calls is not None and calls.attempts else None


def _shape(evaluation: TrialEvaluation, *, labelled: bool = True) -> Iterator[str]:
    """The structure and the calls, described; the coordination only if it is to be `labelled`."""
    structure, calls = evaluation.structure, evaluation.call_tally
    if structure is not None and structure.agents > 1:
        yield f"{_count(structure.agents, 'agent')} had {_count(structure.interactions, 'interaction')}."
        if structure.coordination_value is not None and labelled:
            yield f"Coordination is {structure.coordination_value:.2f} ({structure.coordination_quality})."
    if calls is not None and calls.attempts:
        yield f"{calls.failed_attempts} of {_count(calls.attempts, 'attempt')} to call an agent failed."


def _strengths(evaluation: TrialEvaluation) -> Iterator[str]:
    """The strengths of a given pattern, which is nothing but structure."""
    structure, calls = evaluation.structure, evaluation.call_tally
    if structure is not None:
        if structure.coordination_quality == "high":
            yield "The agents are well connected for a team of their size."
        if structure.interactions and structure.distribution is not None and structure.distribution >= HIGH:
            yield "The conversation is spread evenly over the agents."
        if structure.interactions and not structure.isolated:
            yield "Every agent takes part."
    if calls is not None and calls.attempts and not calls.failed_attempts:
        yield "Every call succeeded."


def _weaknesses(evaluation: TrialEvaluation) -> Iterator[str]:
    """The weaknesses of a given pattern."""
    structure, calls = evaluation.structure, evaluation.call_tally
    yield from dict.fromkeys(finding.advice for finding in evaluation.findings)
    if structure is not None and structure.coordination_quality == "low":
        yield "The agents are poorly connected for a team of their size."
    if calls is not None and calls.failed_attempts:
        yield "Some calls failed."
    if calls is not None and calls.retries + calls.repeats:
        yield "Some calls repeated earlier questions."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# The evidence on a trial, collected from its trace and screened once, before any judge reads it.


@dataclass(frozen=True, slots=True)
class ScreenedEvidence:
    """The evidence without passages that address the judge, and the finding about these passages, if any."""

    evidence: TrialEvidence
    findings: tuple[Finding, ...]


SCREENED: Final = TypeAdapter(ScreenedEvidence)
"""Reads and writes screened evidence as JSON."""


def screened_evidence(
    plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]
) -> ScreenedEvidence:
    """The screened evidence on a trial. `batches`: those that arrived before the trial closed, since reporters of later
    ones may have known the outcome."""
    evidence, suspects = screen(evidence_of(plan, evaluation, batches))
    return ScreenedEvidence(evidence, tuple(_findings(suspects, evidence.aliases)))


def evidence_of(plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]) -> TrialEvidence:
    """The evidence on a trial before screening. Of a live trial, reads only the batches that the gateway wrote."""
    trial = plan.trial(evaluation.outcome.trial_id)
    task = plan.task(trial.task_id)
    calls = _admissible_calls(plan, evaluation)
    chosen = choose_calls(calls)
    if plan.mode is Mode.LIVE:
        batches = [batch for batch in batches if batch.is_observed]
    return make_evidence(
        chosen,
        evaluation.calls_omitted + len(calls) - len(chosen),
        call_texts((report for batch in batches for report in reports_of(batch)), chosen),
        Aliases((agent.id for agent in evaluation.agents), plan.agents(trial.task_id)),
        task_text(plan, trial.trial_id),
        answers_of(plan, evaluation.outcome),
        target=(task.target or []) if task.scorer is None or isinstance(task.scorer, ModelScorer) else [],
    )


def _admissible_calls(plan: AssessmentPlan, evaluation: TrialEvaluation) -> list[CallRecord]:
    """Of a live trial, the calls that the gateway observed: claims of participants must not reach their score."""
    return [call for call in evaluation.calls if plan.mode is not Mode.LIVE or call.provenance == "observed"]


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
        advice="Some names, messages or answers address the judge instead of a colleague. The score does not change; a "
        "language model judges the remaining text.",
    )


def _quoted(passage: str, aliases: Aliases) -> str:
    """A passage on one line, with names, without invisible characters, and shortened."""
    shown = " ".join(aliases.show(passage).split())
    shown = "".join(filter(str.isprintable, shown))
    return shown if len(shown) <= MAX_QUOTE else f"{shown[: MAX_QUOTE - 1]}…"


# The judging of a trial.

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
        evidence: TrialEvidence,
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

    async def by_model(evidence: TrialEvidence) -> Judgment:
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
    judge: Callable[[TrialEvidence], Awaitable[Judgment]],
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

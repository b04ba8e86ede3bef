"""Judging by rules over the structure, the calls and the outcome of a trial, where no model judges it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

from concord.assessment import Mode
from concord.assessment.results import Judgment, TrialOutcome
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.graph import CallTally
from concord_evaluator.judge.evidence import SeenAnswer, answers_that_count, grades, task_success
from concord_evaluator.scoring import HIGH, TeamStructure

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

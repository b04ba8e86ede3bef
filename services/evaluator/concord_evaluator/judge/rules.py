"""Judging by rules: transparent ones, over the structure, the calls and the outcome of a trial."""

from collections.abc import Iterator
from statistics import fmean
from typing import Final

from concord.assessment import Mode
from concord.results import Judgment, TrialOutcome
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.graph import CallTally
from concord_evaluator.scoring import HIGH, TeamStructure

_ADDRESSED: Final = "Agents addressed the judge, so their task counts as failed."


def judge_by_rules(evaluation: TrialEvaluation, mode: Mode, reason: str, *, addressed: bool = False) -> Judgment:
    """Judges a trial without a language model; `reason` says why there is none.

    overall = the mean of what is known of: the coordination value, the share of attempts that succeeded, and the
    success of the task. Of the latter, rules can see only a failure: whether an answer is right they cannot tell.
    `addressed`: a model would have judged, had its agents not spoken to it. Their task counts as failed, since else
    whoever has a bad answer would gain by being caught.
    """
    structure, calls = evaluation.structure, evaluation.calls
    success = 0.0 if addressed else _task_success(evaluation.outcome, mode)
    known = [value for value in (_coordination(structure), _reliability(calls), success) if value is not None]
    return Judgment(
        source="rules",
        reason=reason,
        overall_score=fmean(known) if known else None,
        task_success=success,
        coordination_quality=None if structure is None else structure.coordination_quality,
        reasoning=" ".join([*_reasoning(evaluation, mode), *([_ADDRESSED] if addressed else [])]),
        strengths=list(_strengths(evaluation)),
        weaknesses=[*([_ADDRESSED] if addressed else []), *_weaknesses(evaluation, mode)],
    )


def _task_success(outcome: TrialOutcome, mode: Mode) -> float | None:
    """0 for a task that nobody finished or answered; else unknown. What was only given has no task."""
    if mode is not Mode.LIVE or (outcome.state == "completed" and outcome.answer):
        return None
    return 0.0


def _coordination(structure: TeamStructure | None) -> float | None:
    return None if structure is None else structure.coordination_value


def _reliability(calls: CallTally | None) -> float | None:
    return 1 - calls.failed_attempts / calls.attempts if calls is not None and calls.attempts else None


def _reasoning(evaluation: TrialEvaluation, mode: Mode) -> Iterator[str]:
    structure, calls = evaluation.structure, evaluation.calls
    if structure is not None:
        yield f"{_count(structure.agents, 'agent')} had {_count(structure.interactions, 'interaction')}."
        if structure.coordination_value is None:
            yield "That is too few agents to speak of coordination."
        else:
            yield f"Coordination is {structure.coordination_value:.2f} ({structure.coordination_quality})."
    if calls is not None and calls.attempts:
        yield f"{calls.failed_attempts} of {_count(calls.attempts, 'attempt')} to call an agent failed."
    if mode is Mode.LIVE:
        yield _ending(evaluation.outcome)


def _ending(outcome: TrialOutcome) -> str:
    if outcome.state != "completed":
        return f"The task ended with {outcome.state}."
    if not outcome.answer:
        return "The task was completed without an answer."
    return "The task was completed with an answer, which rules cannot judge."


def _strengths(evaluation: TrialEvaluation) -> Iterator[str]:
    structure, calls = evaluation.structure, evaluation.calls
    if structure is not None:
        if structure.coordination_quality == "high":
            yield "The agents are well connected for a team of their size."
        if structure.interactions and structure.distribution is not None and structure.distribution >= HIGH:
            yield "The conversation is spread evenly over the agents."
        if structure.interactions and not structure.isolated:
            yield "Every agent takes part."
    if calls is not None and calls.attempts and not calls.failed_attempts:
        yield "Every call succeeded."


def _weaknesses(evaluation: TrialEvaluation, mode: Mode) -> Iterator[str]:
    structure, calls, completeness = evaluation.structure, evaluation.calls, evaluation.trace_integrity.completeness
    if _task_success(evaluation.outcome, mode) is not None:
        yield _ending(evaluation.outcome)
    yield from (finding.advice for finding in evaluation.findings)
    if structure is not None and structure.coordination_quality == "low":
        yield "The agents are poorly connected for a team of their size."
    if calls is not None and calls.failed_attempts:
        yield "Some calls failed."
    if calls is not None and calls.retries + calls.repeats:
        yield "Some calls only asked again what had been asked before."
    if completeness is not None and completeness < 1:
        yield "Parts of the trace are missing, so some interactions may be as well."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""Finds the causes of what one trial of a row lost, from its record: their points are of the 100 of the trial."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import fsum
from typing import Final

from concord.assessment.observations import observation_text
from concord.assessment.recorded_work import RecordedFailure
from concord.assessment.results import TrialRecord
from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord.assessment.verdict import WITHOUT_FACTS, Cause, CauseKind, Certainty, Evidence
from concord.assessment.verdict_text import CAUSE_WORDS
from concord_assistant.results import AssessmentResults, harm_text

# What cost points in a single trial.

NEGLIGIBLE: Final = 1e-9
"""Points that are rounding errors."""


def lost_in(trial: TrialRecord) -> float:
    """The points, of 100, that a judged trial is short of."""
    return 0.0 if trial.overall_score is None else 100 * max(0.0, 1 - trial.overall_score)


def explained(found: list[Cause], lost: float) -> list[Cause]:
    """The causes, scaled down if they claim more points than were `lost`."""
    claimed = fsum(each.points or 0.0 for each in found)
    if claimed <= lost + NEGLIGIBLE:
        return found
    return [
        each if each.points is None else each.model_copy(update={"points": each.points * lost / claimed})
        for each in found
    ]


# What an assistant lost, with the actions that show it, as observations are tied to it.


def lost_parts_of(results: AssessmentResults, assistant: str) -> list[Cause]:
    """The vetoes, and the criteria that lost points, each with the steps of the actions that its evidence names."""
    vetoes = [] if results.safety is None else results.safety.vetoes
    parts = [
        *((CauseKind.VETO, [each.action] if each.action else []) for each in vetoes),
        *((CauseKind.CRITERION, each.actions) for each in results.criteria_results),
    ]
    return [
        Cause(kind=kind, agents=(assistant,), certainty="proven", steps=steps_of(actions)) for kind, actions in parts
    ]


def steps_of(actions: Iterable[int]) -> tuple[str, ...]:
    """The ids that `acts_of_actions` gives the steps of actions at these places in the action log."""
    return tuple(f"action-{place}" for place in actions)


# The causes of what an assistant's trial lost: the harm that it did, else the criteria that it did not meet.


def causes_of_assistant(trial: TrialRecord, results: AssessmentResults) -> list[Cause]:
    """The harmful calls, each with an equal part of all points, else the criteria that lost points in one trial.

    Each shows the observations that are tied to it. Criteria whose checks failed are in no sum.
    """
    possible = results.scores.overall.max_score
    agents = () if trial.grading is None else tuple(each.agent for each in trial.grading.answers)
    if results.safety is not None and results.vetoed:
        calls = results.safety.harmful_calls
        return [
            Cause(
                kind=CauseKind.VETO,
                agents=agents,
                part=where,
                certainty="proven",
                points=100 / len(calls),
                evidence=(
                    Evidence(text=harm_text(vetoes).removesuffix(".")),
                    *_observed(trial, CauseKind.VETO, [each.action for each in vetoes if each.action]),
                ),
            )
            for where, vetoes in calls.items()
        ]
    return [
        Cause(
            kind=CauseKind.CRITERION,
            agents=agents,
            part=each.name,
            certainty="judged" if each.method == "model" else "proven",
            points=min(100.0, 100 * each.lost / possible) if possible else None,
            evidence=(
                *([Evidence(text=each.explanation.removesuffix("."))] if each.explanation else []),
                *_observed(trial, CauseKind.CRITERION, each.actions),
            ),
        )
        for each in results.criteria_results
        if each.lost > 0
    ]


def _observed(trial: TrialRecord, kind: CauseKind, actions: Iterable[int]) -> Iterator[Evidence]:
    """What was observed in these actions, with the last quote."""
    steps = set(steps_of(actions))
    for each in trial.observations:
        if each.cause is kind and not steps.isdisjoint(each.steps):
            quote = f": {each.evidence[-1].text}" if each.evidence else ""
            yield Evidence(text=f"observed: {observation_text(each)}{quote}", step_id=each.steps[-1])


# What the calls of a trial show where nothing else explains its loss: the agents whose calls failed.


def causes_in_calls(trial: TrialRecord) -> list[Cause]:
    """The agents that calls between agents failed at. Nobody can tell what that cost."""
    failed = Counter[str]()
    for link in trial.interactions:
        failed[link.callee] += link.errors
    steps, errors = defaultdict[str, list[str]](list), defaultdict[str, dict[str, str]](dict)
    for call in trial.calls:
        if call.error is not None:
            steps[call.callee].append(call.step_id)
            errors[call.callee].setdefault(call.error, call.step_id)
    return [
        Cause(
            kind=CauseKind.CALLS_FAILED,
            agents=(agent,),
            certainty="observed",
            count=count,
            steps=tuple(steps[agent]),
            evidence=tuple(Evidence(text=text, step_id=step_id) for text, step_id in errors[agent].items()),
        )
        for agent, count in failed.items()
        if count > 0
    ]


# What failed in a trace from a file: observed, with its part in the outcome unknown.

_BY_PLACE: Final = {
    "run": CauseKind.RUN_FAILED,
    "agent": CauseKind.CALLS_FAILED,
    "call": CauseKind.CALLS_FAILED,
    "tool": CauseKind.TOOL_FAILED,
    "model": CauseKind.MODEL_FAILED,
    "step": CauseKind.STEP_FAILED,
}
_BY_NATURE: Final = {
    "refusal": CauseKind.REFUSED,
    "exception": CauseKind.EXCEPTION,
    "guardrail": CauseKind.GUARDRAIL,
}


def causes_in_record(trial: TrialRecord, lost: float = 0.0) -> list[Cause]:
    """The failures that the trace tells, those of one agent and place together. None for a trial that was played.

    Those that something handled only where points were `lost` and no other failure explains it. The failure that ended
    the run lost all of them.
    """
    if trial.work is None:
        return []
    told = trial.work.failures
    open_ones = [each for each in told if not each.handled]
    groups: dict[tuple[CauseKind, str, str | None], list[RecordedFailure]] = {}
    for failure in open_ones or (told if lost else ()):
        kind = _BY_NATURE.get(failure.nature, _BY_PLACE[failure.where])
        part = failure.name if CAUSE_WORDS[kind].names_part and failure.where != "call" else None
        groups.setdefault((kind, failure.agent, part), []).append(failure)
    return [
        Cause(
            kind=kind,
            agents=(agent,),
            certainty="observed",
            points=lost if lost and trial.state == "failed" and any(each.ended_run for each in found) else None,
            part=part,
            count=sum(each.count for each in found),
            steps=tuple(step for each in found for step in each.step_ids),
            evidence=tuple(Evidence(text=each.error, step_id=each.step_ids[0]) for each in found),
        )
        for (kind, agent, part), found in groups.items()
    ]


# The causes of what a trial of a family's task lost: where facts were lost, and answers that are not proven.


def causes_of_team_task(record: TeamTaskRecord, lost: float) -> list[Cause]:
    """The causes in one trial that is short of `lost` points. Empty for controls."""
    if record.control is not None:
        return []
    parts = {failure.part for failure in record.failures} | {each.part for each in record.unproven}
    causes = Counter(failure.part for failure in record.failures)
    # Rows before 0.5.0 do not say what a part cost: there, each part counts the same.
    share = lost / len(parts) if parts else 0.0
    return [
        *(cause_of_failure(each, share / causes[each.part]) for each in record.failures),
        *(
            Cause(
                kind=CauseKind.UNPROVEN,
                agents=(each.seat,),
                certainty="proven",
                points=share if each.lost is None else 100 * each.lost,
                evidence=tuple(Evidence(text=fact) for fact in each.facts),
            )
            for each in record.unproven
        ),
    ]


def cause_of_failure(failure: PartFailure, share: float | None = None) -> Cause:
    """The cause of a wrong part. `share`: the points that it cost, where the record does not say it."""
    return Cause(
        kind=failure.cause,
        agents=tuple(failure.seats),
        certainty="proven",
        points=share if failure.lost is None else 100 * failure.lost,
        steps=() if failure.step_id is None else (failure.step_id,),
        evidence=() if failure.cause in WITHOUT_FACTS else tuple(Evidence(text=fact) for fact in failure.facts),
    )


# All causes of one trial.

_BY_SOURCE: Mapping[str, Certainty] = {"model": "judged", "recorded": "observed"}


def causes_in(trial: TrialRecord, results: AssessmentResults | None) -> list[Cause]:
    """What a judged trial lost points by. What nothing explains is `unexplained`, so that each lost point counts.

    Of a trace from a file that nobody judged, what failed in it.
    """
    lost = lost_in(trial)
    if lost <= NEGLIGIBLE or trial.grading is None:
        return causes_in_record(trial) if trial.overall_score is None else []
    found = explained(_shown(trial, results, lost), lost)
    rest = lost - fsum(each.points or 0.0 for each in found)
    return found if rest <= NEGLIGIBLE else [*found, _unexplained(trial, rest)]


def _shown(trial: TrialRecord, results: AssessmentResults | None, lost: float) -> list[Cause]:
    if trial.team_task is not None:
        return causes_of_team_task(trial.team_task, lost)
    if results is not None:
        return causes_of_assistant(trial, results)
    return trial.causes or causes_in_record(trial, lost) or causes_in_calls(trial)


def _unexplained(trial: TrialRecord, points: float) -> Cause:
    grading = trial.grading
    answers = [] if grading is None else [each for each in grading.answers if each.value < 1]
    reasons = [trial.error, None if grading is None else grading.reason]
    return Cause(
        kind=CauseKind.UNEXPLAINED,
        agents=(),
        certainty=_BY_SOURCE.get("" if grading is None else grading.source, "proven"),
        points=points,
        part=trial.task_id,
        count=max(1, len(answers)),
        evidence=(
            *(Evidence(text=each.explanation, agent=each.agent) for each in answers),
            *(Evidence(text=reason) for reason in reasons if reason),
            *_not_listed(trial),
        ),
    )


def _not_listed(trial: TrialRecord) -> Iterator[Evidence]:
    """Says that a trial has more causes than its record lists."""
    record = trial.team_task
    if record is not None and (n := record.failures_omitted + record.unproven_omitted):
        yield Evidence(text=f"{n:,} further causes are not in the row")

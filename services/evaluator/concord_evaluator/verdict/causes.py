"""The causes over all trials of a row: equal ones are one with a count, ranked by the points that they cost."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Final

from concord.assessment.observations import observation_text
from concord.assessment.recorded_work import RecordedFailure
from concord.assessment.results import TrialRecord
from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord.assessment.verdict import (
    MAX_CAUSES,
    MAX_EVIDENCE,
    MAX_NAMED,
    WITHOUT_FACTS,
    Cause,
    CauseKind,
    Certainty,
    Evidence,
)
from concord_assistant.results import AssessmentResults
from concord_evaluator.observations import LostPart

# What cost points in a single trial.

NEGLIGIBLE: Final = 1e-9
"""Points that are rounding errors."""


@dataclass(frozen=True, slots=True)
class TrialCause:
    """A cause in one trial, as `concord.assessment.verdict.Cause`; its points are of the 100 of the trial."""

    kind: CauseKind
    agents: tuple[str, ...]
    certainty: Certainty
    points: float | None = None
    part: str | None = None
    count: int = 1
    steps: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def lost_in(trial: TrialRecord) -> float:
    """The points, of 100, that a judged trial is short of."""
    return 0.0 if trial.overall_score is None else 100 * max(0.0, 1 - trial.overall_score)


def explained(found: list[TrialCause], lost: float) -> list[TrialCause]:
    """The causes, scaled down if they claim more points than were `lost`."""
    claimed = fsum(each.points or 0.0 for each in found)
    if claimed <= lost + NEGLIGIBLE:
        return found
    return [each if each.points is None else replace(each, points=each.points * lost / claimed) for each in found]


# What an assistant lost, with the actions that show it, as observations are tied to it.


def lost_parts_of(results: AssessmentResults, assistant: str) -> list[LostPart]:
    """The vetoes, and the criteria that lost points, each with the steps of the actions that its evidence names."""
    vetoes = [] if results.safety is None else results.safety.vetoes
    parts = [
        *((CauseKind.VETO, steps_of([each.action] if each.action else [])) for each in vetoes),
        *((CauseKind.CRITERION, steps_of(each.actions)) for each in results.criteria_results),
    ]
    return [LostPart(kind, frozenset({assistant}), steps) for kind, steps in parts if steps]


def steps_of(actions: Iterable[int]) -> frozenset[str]:
    """The ids that `acts_of_actions` gives the steps of actions at these places in the action log."""
    return frozenset(f"action-{place}" for place in actions)


# The causes of what an assistant's trial lost: the harm that it did, else the criteria that it did not meet.


def causes_of_assistant(trial: TrialRecord, results: AssessmentResults) -> list[TrialCause]:
    """The vetoes, each with an equal part of all points, else the criteria that lost points in one trial.

    Each shows the observations that are tied to it. Criteria whose checks failed are in no sum.
    """
    possible = results.scores.overall.max_score
    agents = () if trial.grading is None else tuple(each.agent for each in trial.grading.answers)
    if results.safety is not None and results.vetoed:
        vetoes = results.safety.vetoes
        return [
            TrialCause(
                kind=CauseKind.VETO,
                agents=agents,
                part=veto.item,
                certainty="proven",
                points=100 / len(vetoes),
                evidence=(
                    Evidence(text=f"{veto.explanation} ({veto.call} in turn {veto.turn})"),
                    *_observed(trial, CauseKind.VETO, [veto.action] if veto.action else []),
                ),
            )
            for veto in vetoes
        ]
    return [
        TrialCause(
            kind=CauseKind.CRITERION,
            agents=agents,
            part=each.name,
            certainty="judged" if each.method == "model" else "proven",
            points=100 * each.lost / possible if possible else None,
            evidence=(
                *([Evidence(text=each.explanation)] if each.explanation else []),
                *_observed(trial, CauseKind.CRITERION, each.actions),
            ),
        )
        for each in results.criteria_results
        if each.lost > 0
    ]


def _observed(trial: TrialRecord, kind: CauseKind, actions: Iterable[int]) -> Iterator[Evidence]:
    """What was observed in these actions, with the last quote."""
    steps = steps_of(actions)
    for each in trial.observations:
        if each.cause is kind and not steps.isdisjoint(each.steps):
            quote = f": {each.evidence[-1].text}" if each.evidence else ""
            yield Evidence(text=f"observed: {observation_text(each)}{quote}", step_id=each.steps[-1])


# What the calls of a trial show where nothing else explains its loss: the agents whose calls failed.


def causes_in_calls(trial: TrialRecord) -> list[TrialCause]:
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
        TrialCause(
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

_RECORDED_KINDS: Final = {
    "run": CauseKind.RUN_FAILED,
    "agent": CauseKind.CALLS_FAILED,
    "call": CauseKind.CALLS_FAILED,
    "tool": CauseKind.TOOL_FAILED,
    "model": CauseKind.MODEL_FAILED,
    "step": CauseKind.EXCEPTION,
}


def causes_in_record(trial: TrialRecord, lost: float = 0.0) -> list[TrialCause]:
    """The failures that the trace tells, those of one agent and place together. None for a trial that was played.

    A run that ended with an error lost all the points that were `lost`.
    """
    if trial.work is None:
        return []
    groups: dict[tuple[CauseKind, str, str | None], list[RecordedFailure]] = {}
    for failure in trial.work.failures:
        kind, part = _kind(failure), failure.name if failure.where in {"tool", "model"} else None
        groups.setdefault((kind, failure.agent, part), []).append(failure)
    return [
        TrialCause(
            kind=kind,
            agents=(agent,),
            certainty="observed",
            points=lost if lost and kind is CauseKind.RUN_FAILED and trial.state == "failed" else None,
            part=part,
            count=sum(each.count for each in found),
            steps=tuple(step for each in found for step in each.step_ids),
            evidence=tuple(Evidence(text=each.error, step_id=each.step_ids[0]) for each in found),
        )
        for (kind, agent, part), found in groups.items()
    ]


def _kind(failure: RecordedFailure) -> CauseKind:
    if failure.nature == "refusal":
        return CauseKind.REFUSED
    return CauseKind.EXCEPTION if failure.nature == "exception" else _RECORDED_KINDS[failure.where]


# The causes of what a trial of a family's task lost: where facts were lost, and answers that are not proven.


def causes_of_team_task(record: TeamTaskRecord, lost: float) -> list[TrialCause]:
    """The causes in one trial that is short of `lost` points. Empty for controls."""
    if record.control is not None:
        return []
    parts = {failure.part for failure in record.failures} | {each.part for each in record.unproven}
    causes = Counter(failure.part for failure in record.failures)
    # Rows before 0.5.0 do not say what a part cost: there, each part counts the same.
    share = lost / len(parts) if parts else 0.0
    return [
        *(_of_failure(each, share / causes[each.part]) for each in record.failures),
        *(
            TrialCause(
                kind=CauseKind.UNPROVEN,
                agents=(each.seat,),
                certainty="proven",
                points=share if each.lost is None else 100 * each.lost,
                evidence=tuple(Evidence(text=fact) for fact in each.facts),
            )
            for each in record.unproven
        ),
    ]


def _of_failure(failure: PartFailure, share: float) -> TrialCause:
    kind = CauseKind(failure.cause)
    facts = () if kind in WITHOUT_FACTS else failure.facts
    return TrialCause(
        kind=kind,
        agents=tuple(failure.seats),
        certainty="proven",
        points=share if failure.lost is None else 100 * failure.lost,
        steps=() if failure.step_id is None else (failure.step_id,),
        evidence=tuple(Evidence(text=fact) for fact in facts),
    )


# The causes over all trials of a row.

_BY_SOURCE: Mapping[str, Certainty] = {"model": "judged", "recorded": "observed"}


@dataclass(frozen=True, slots=True)
class Ranked:
    """The causes that cost the most, how many others there are, and the points of these."""

    causes: list[Cause]
    left_out: int
    points_left_out: float


def ranked_causes(trials: Iterable[TrialRecord], results: Mapping[str, AssessmentResults], planned: int) -> Ranked:
    """The causes of all that the usable trials of a team lost, in points of a score over `planned` trials."""
    groups: dict[tuple[CauseKind, tuple[str, ...], str | None], _Group] = {}
    for trial in trials:
        for found in causes_in(trial, results.get(trial.trial_id)):
            key = found.kind, found.agents, found.part
            groups.setdefault(key, _Group(found)).add(found, trial)
    causes = sorted((group.cause(max(planned, 1)) for group in groups.values()), key=_rank)
    others = causes[MAX_CAUSES:]
    return Ranked(causes[:MAX_CAUSES], len(others), fsum(each.points or 0.0 for each in others))


def causes_in(trial: TrialRecord, results: AssessmentResults | None) -> list[TrialCause]:
    """What a judged trial lost points by. What nothing explains is `unexplained`, so that each lost point counts.

    Of a trace from a file that nobody judged, what failed in it.
    """
    lost = lost_in(trial)
    if lost <= NEGLIGIBLE or trial.grading is None:
        return causes_in_record(trial) if trial.overall_score is None else []
    found = explained(_shown(trial, results, lost), lost)
    rest = lost - fsum(each.points or 0.0 for each in found)
    return found if rest <= NEGLIGIBLE else [*found, _unexplained(trial, rest)]


def _shown(trial: TrialRecord, results: AssessmentResults | None, lost: float) -> list[TrialCause]:
    if trial.team_task is not None:
        return causes_of_team_task(trial.team_task, lost)
    if results is not None:
        return causes_of_assistant(trial, results)
    return list(map(_of_record, trial.causes)) or causes_in_record(trial, lost) or causes_in_calls(trial)


def _of_record(cause: Cause) -> TrialCause:
    """A cause that the evaluation of the trial found in its messages."""
    return TrialCause(
        kind=cause.kind,
        agents=tuple(cause.agents),
        certainty=cause.certainty,
        points=cause.points,
        part=cause.part,
        count=cause.count,
        steps=tuple(cause.steps),
        evidence=tuple(cause.evidence),
    )


def _unexplained(trial: TrialRecord, points: float) -> TrialCause:
    grading = trial.grading
    answers = [] if grading is None else [each for each in grading.answers if each.value < 1]
    reasons = [trial.error, None if grading is None else grading.reason]
    return TrialCause(
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


@dataclass(slots=True)
class _Group:
    """Equal causes of several trials."""

    first: TrialCause
    points: list[float] = field(default_factory=list)
    count: int = 0
    tasks: dict[str, None] = field(default_factory=dict)
    trials: dict[str, None] = field(default_factory=dict)
    steps: dict[str, None] = field(default_factory=dict)
    evidence: dict[tuple[str, str | None], Evidence] = field(default_factory=dict)

    def add(self, found: TrialCause, trial: TrialRecord) -> None:
        if found.points is not None:
            self.points.append(found.points)
        self.count += found.count
        self.tasks[trial.task_id] = None
        self.trials[trial.trial_id] = None
        self.steps |= dict.fromkeys(found.steps)
        for each in found.evidence:
            self.evidence.setdefault((each.text, each.agent), each)

    def cause(self, planned: int) -> Cause:
        """The cause, in points of a score over that many trials."""
        return Cause(
            kind=self.first.kind,
            agents=list(self.first.agents),
            part=self.first.part,
            certainty=self.first.certainty,
            points=min(100.0, fsum(self.points) / planned) if self.points else None,
            count=self.count,
            tasks=_first(self.tasks),
            trials=_first(self.trials),
            trials_count=len(self.trials),
            steps=_first(self.steps),
            evidence=list(self.evidence.values())[:MAX_EVIDENCE],
            evidence_omitted=max(0, len(self.evidence) - MAX_EVIDENCE),
        )


def _first(names: Iterable[str]) -> list[str]:
    return list(names)[:MAX_NAMED]


_RANKS: Sequence[CauseKind] = list(CauseKind)


def _rank(cause: Cause) -> tuple[float, int, list[str], str]:
    """Those that cost most first; then the order of the kinds, and names."""
    return -(cause.points or 0.0), _RANKS.index(cause.kind), cause.agents, cause.part or ""

"""The verdict of a row: computed once, and rendered by the terminal, the page, and the row's own texts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Final, TypedDict

from pydantic import TypeAdapter, ValidationError

from concord.assessment.request import Mode
from concord.assessment.result_row import Detail, Figure, ResultRow
from concord.assessment.results import Judgment, TrialRecord
from concord.assessment.verdict import (
    MAX_CAUSES,
    MAX_EVIDENCE,
    MAX_NAMED,
    Cause,
    CauseKind,
    Change,
    Estimate,
    Evidence,
    Figures,
    Known,
    Lift,
    Unknown,
    UnknownKind,
    Verdict,
)
from concord.assessment.verdict_text import CAUSE_WORDS, reasoning_of, strengths_of, weaknesses_of
from concord_assistant.results import AssessmentResults
from concord_evaluator.verdict.trial_causes import causes_in

# The causes over all trials of a row: equal ones are one with a count, ranked by the points that they cost.


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


@dataclass(slots=True)
class _Group:
    """Equal causes of several trials."""

    first: Cause
    points: list[float] = field(default_factory=list)
    count: int = 0
    tasks: dict[str, None] = field(default_factory=dict)
    trials: dict[str, None] = field(default_factory=dict)
    steps: dict[str, None] = field(default_factory=dict)
    evidence: dict[tuple[str, str | None], Evidence] = field(default_factory=dict)

    def add(self, found: Cause, trial: TrialRecord) -> None:
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
        return self.first.model_copy(
            update={
                "points": min(100.0, fsum(self.points) / planned) if self.points else None,
                "count": self.count,
                "tasks": _first(self.tasks),
                "trials": _first(self.trials),
                "trials_count": len(self.trials),
                "steps": _first(self.steps),
                "evidence": tuple(self.evidence.values())[:MAX_EVIDENCE],
                "evidence_omitted": max(0, len(self.evidence) - MAX_EVIDENCE),
            }
        )


def _first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)[:MAX_NAMED]


_RANKS: Sequence[CauseKind] = list(CauseKind)


def _rank(cause: Cause) -> tuple[float, int, tuple[str, ...], str]:
    """Those that cost most first; then the order of the kinds, and names."""
    return -(cause.points or 0.0), _RANKS.index(cause.kind), cause.agents, cause.part or ""


# The changes that causes call for: a repair where tests show that it repairs such a fault, else a look at a step.


def changes_for(causes: Iterable[Cause]) -> list[Change]:
    """A change for each cause that a change repairs, or that has a step to look at and no quote from it."""
    return [
        Change(
            kind=cause.kind,
            agents=list(cause.agents),
            step_id=cause.step_id,
            repairs=CAUSE_WORDS[cause.kind].repair is not None,
        )
        for cause in causes
        if CAUSE_WORDS[cause.kind].repair or (cause.steps and all(each.step_id is None for each in cause.evidence))
    ]


# The texts of a row: renderings of its verdict, and a judge's words that are attributed to it.

_LEFT_TO_RULES: Final = frozenset({UnknownKind.NOT_JUDGED, UnknownKind.MODEL_FAILED, UnknownKind.STRUCTURE_ONLY})
"""What is unknown where rules judge, because nothing else does."""


class RowTexts(TypedDict):
    """The row's texts."""

    reasoning: str
    strengths: list[str]
    weaknesses: list[str]


def texts_of(verdict: Verdict, judge: Judgment | None) -> RowTexts:
    """The verdict in words. A judge's words follow, with who says them: of a model, or of rules where nothing else
    judged."""
    texts = RowTexts(
        reasoning=reasoning_of(verdict), strengths=strengths_of(verdict), weaknesses=weaknesses_of(verdict)
    )
    open_ones = any(each.kind in _LEFT_TO_RULES for each in verdict.unknown)
    if judge is None or (judge.source == "rules" and not open_ones):
        return texts
    who = "The rules" if judge.source == "rules" else f"The model {judge.model}" if judge.model else "The model"
    return RowTexts(
        reasoning=" ".join([texts["reasoning"], *([f"{who}: {judge.reasoning}"] if judge.reasoning else [])]),
        strengths=[*texts["strengths"], *(f"{who}: {each}" for each in judge.strengths)],
        weaknesses=[*texts["weaknesses"], *(f"{who}: {each}" for each in judge.weaknesses)],
    )


# What nobody knows after an assessment, from the facts of its row.

_SERVER_ERROR: Final = re.compile(r"RemoteError: (?:HTTP Error|it answered HTTP) 5\d\d\b")
"""How the gateway records a message that an agent's server could not handle."""


def unknown_of(
    row: ResultRow, trials: Sequence[TrialRecord], results: Mapping[str, AssessmentResults], planned: int
) -> list[Unknown]:
    """All that is unknown, what costs points first. `trials`: the usable ones of the team, of `planned`."""
    detail = row.detail
    return [
        *_unjudged(row, trials, planned),
        *_criteria(results.values()),
        *_people(results.values()),
        *_contacts(detail),
        *_servers(trials),
        *_unobserved(detail, trials),
        *_spread(row),
        *_beside_the_score(detail, trials),
    ]


def _unjudged(row: ResultRow, trials: Sequence[TrialRecord], planned: int) -> Iterator[Unknown]:
    scored, each = row.score is not None, 100 / max(planned, 1)
    if lost := planned - len(trials):
        messages = [failure.message for failure in row.detail.infrastructure if failure.stage != "contact"]
        yield _unknown(UnknownKind.LOST, lost, messages, points=lost * each if scored else None)
    failed = [trial for trial in trials if trial.judge is not None and trial.judge.model_failed]
    if failed:
        open_ones = sum(trial.overall_score is None for trial in failed)
        reasons = [trial.judge.reason for trial in failed if trial.judge is not None]
        yield _unknown(
            UnknownKind.MODEL_FAILED, len(failed), reasons, points=open_ones * each if scored and open_ones else None
        )
    unjudged = [trial for trial in trials if trial.overall_score is None and trial not in failed]
    if unjudged:
        reasons = [None if trial.grading is None else trial.grading.reason for trial in unjudged]
        yield _unknown(UnknownKind.NOT_JUDGED, len(unjudged), reasons, points=len(unjudged) * each if scored else None)


def _criteria(results: Iterable[AssessmentResults]) -> Iterator[Unknown]:
    failed = [each for trial in results for each in trial.criteria_results if each.score is None]
    if failed:
        reasons = [f"{each.name}: {each.error or each.explanation}" for each in failed]
        yield _unknown(UnknownKind.UNCHECKED, len(failed), reasons)


def _people(results: Iterable[AssessmentResults]) -> Iterator[Unknown]:
    """The faults of simulated people: what an assistant leaves undone may be theirs."""
    if faults := [each for trial in results for each in trial.user_faults]:
        yield _unknown(UnknownKind.PEOPLE_FAILED, len(faults), [f"{each.character}: {each.fault}" for each in faults])


def _contacts(detail: Detail) -> Iterator[Unknown]:
    messages = [failure.message for failure in detail.infrastructure if failure.stage == "contact"]
    if messages:
        yield _unknown(UnknownKind.UNREACHED, len(messages), messages)


def _servers(trials: Sequence[TrialRecord]) -> Iterator[Unknown]:
    """The agents whose servers answered every message with an error of theirs (HTTP 5xx), so that no agent was met."""
    met: dict[str, bool] = {}
    for trial in trials:
        for call in trial.calls:
            met[call.callee] = met.get(call.callee, False) or not _SERVER_ERROR.match(call.error or "")
    if broken := [agent for agent, was_met in met.items() if not was_met]:
        yield Unknown(kind=UnknownKind.SERVER_FAILED, agents=broken[:MAX_NAMED], count=len(broken))


def _unobserved(detail: Detail, trials: Sequence[TrialRecord]) -> Iterator[Unknown]:
    hidden = [each.agent for each in detail.trace_integrity.participants if each.observability != "full"]
    if hidden:
        yield Unknown(kind=UnknownKind.NOT_OBSERVED, agents=hidden[:MAX_NAMED], count=len(hidden))
    integrity = [trial.trace_integrity for trial in trials]
    if lost := sum(each.late + each.dropped + each.conflicting for each in integrity):
        yield Unknown(kind=UnknownKind.STEPS_LOST, count=lost)


def _spread(row: ResultRow) -> Iterator[Unknown]:
    detail, known = row.detail, row.detail.statistics
    if row.score is None or detail.scoring.basis == "structure":
        return
    if known.score_low is None or known.score_high is None:
        yield Unknown(kind=UnknownKind.SPREAD, count=max(1, detail.scoring.usable_trials))
    elif known.score_low < 100 * detail.scoring.pass_threshold <= known.score_high:
        yield Unknown(kind=UnknownKind.NEAR_MARK, count=max(1, known.trials))


def _beside_the_score(detail: Detail, trials: Sequence[TrialRecord]) -> Iterator[Unknown]:
    scoring = detail.scoring
    if scoring.basis == "structure":
        yield Unknown(kind=UnknownKind.STRUCTURE_ONLY)
    if scoring.basis == "outcome_only" and sum(agent.declared for agent in detail.agents) > 1:
        if scoring.lift is None or scoring.lift.control != "alone":
            yield Unknown(kind=UnknownKind.TEAMWORK)
        elif not scoring.lift.cut_off:
            yield Unknown(kind=UnknownKind.NOT_ALONE)
    isolation = None if scoring.ranking_parts is None else scoring.ranking_parts.isolation
    if any(trial.team_task is not None for trial in trials) and isolation != "isolated":
        yield Unknown(kind=UnknownKind.NOT_ISOLATED, count=len({agent.id for agent in detail.agents}) or 1)
    if judged := sum(bool(trial.grading is not None and trial.grading.source == "model") for trial in trials):
        yield Unknown(kind=UnknownKind.RESTS_ON_MODEL, count=judged)
    prose = [each for each in trials if each.team_task is not None and each.team_task.credited is None]
    if prose:
        yield Unknown(kind=UnknownKind.NO_RECEIPTS, count=len(prose))
    if detail.planted_faults:
        yield Unknown(kind=UnknownKind.FAULTS_PLANTED, count=detail.planted_faults)


def _unknown(kind: UnknownKind, count: int, reasons: Iterable[str | None], points: float | None = None) -> Unknown:
    distinct = list(dict.fromkeys(reason for reason in reasons if reason))
    return Unknown(
        kind=kind,
        count=count,
        points=points,
        reasons=distinct[:MAX_EVIDENCE],
        reasons_omitted=max(0, len(distinct) - MAX_EVIDENCE),
    )


# The verdict.

_RESULTS: TypeAdapter[list[AssessmentResults]] = TypeAdapter(list[AssessmentResults])


def verdict_of(row: ResultRow) -> Verdict:
    """The verdict that follows from the other fields of a row. Its trials must not be shortened yet."""
    detail, scoring = row.detail, row.detail.scoring
    trials = [trial for trial in detail.trials if trial.usable and not trial.is_control]
    results, planned = _results_by_trial(detail), _planned(row, trials)
    ranked = ranked_causes(trials, results, planned)
    return Verdict(
        passed=_passed(row),
        score=None if row.score is None else _score(row, row.score),
        mark=100 * scoring.pass_threshold,
        trials=planned,
        trials_passed=scoring.passed_trials,
        causes=ranked.causes,
        causes_left_out=ranked.left_out,
        points_left_out=ranked.points_left_out,
        changes=changes_for(ranked.causes),
        unknown=unknown_of(row, trials, results, planned),
        figures=_figures(row),
        known=_known(detail) if row.score is None and detail.mode is Mode.LIVE and trials else None,
    )


def _known(detail: Detail) -> Known:
    graph, agents = detail.graph_metrics, detail.agents
    return Known(
        agents=len(agents),
        calls=sum(agent.calls_received for agent in agents),
        failed=sum(agent.errors_received for agent in agents),
        coordination=graph.coordination_quality,
        density=graph.graph_density,
        bottleneck=graph.has_bottleneck,
        isolated=graph.isolated_agents[:MAX_NAMED],
        findings=[finding.advice for finding in detail.findings[:MAX_EVIDENCE]],
    )


def _planned(row: ResultRow, trials: Sequence[TrialRecord]) -> int:
    """The planned trials of the team: those that count, and those that have no evaluation."""
    scoring = row.detail.scoring
    judged = scoring.judged_by_code + scoring.judged_by_model + scoring.judged_by_record
    return max(len(trials), judged + scoring.unjudged)


def _passed(row: ResultRow) -> bool | None:
    scoring, mark = row.detail.scoring, 100 * row.detail.scoring.pass_threshold
    if row.score is None or scoring.basis == "structure":
        return None
    lows, highs = [row.score], [max(row.score, scoring.score_high or 0.0)]
    if row.detail.assistant is not None:
        trials = row.detail.trials
        planned = max(1, _planned(row, trials))
        lows.append(row.pass_rate or 0.0)
        highs.append(100 * (1 - sum(trial.passed is False for trial in trials) / planned))
    if min(lows) >= mark:
        return True
    return False if min(highs) < mark else None


def _score(row: ResultRow, score: float) -> Estimate:
    return Estimate(value=score, low=row.detail.statistics.score_low, high=row.detail.statistics.score_high)


def _figures(row: ResultRow) -> Figures:
    scoring, assistant = row.detail.scoring, row.detail.assistant
    return Figures(
        outcome=next((part.value for part in scoring.sub_scores if part.id == "outcome"), None),
        utility=None if assistant is None else _estimate(assistant.utility),
        safety=None if assistant is None else _estimate(assistant.safety),
        information=_estimate(scoring.information),
        economy=_estimate(scoring.economy),
        lift=[
            Lift(control=each.control, value=each.gap, low=each.gap_low, high=each.gap_high)
            for each in row.detail.controls
        ],
        latency_ms=row.detail.latency_metrics.avg,
    )


def _estimate(figure: Figure | None) -> Estimate | None:
    return None if figure is None else Estimate(value=figure.value, low=figure.low, high=figure.high)


def _results_by_trial(detail: Detail) -> Mapping[str, AssessmentResults]:
    """The results of the trials in scenarios; none if they are unreadable."""
    try:
        found = _RESULTS.validate_python(detail.assessment_results or [], extra="ignore")
    except ValidationError:
        return {}
    return {each.assessment_id.rpartition("/")[2]: each for each in found}

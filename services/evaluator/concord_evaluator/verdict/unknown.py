"""What nobody knows after an assessment, from the facts of its row."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from concord.assessment.result_row import Detail, ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.verdict import MAX_EVIDENCE, MAX_NAMED, Unknown, UnknownKind
from concord_assistant.results import AssessmentResults

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

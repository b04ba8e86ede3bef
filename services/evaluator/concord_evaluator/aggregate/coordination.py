"""The five figures of coordination (Kim et al. 2025, arXiv 2512.08296), and the gap between knowing and answering."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from concord.assessment.cost import CoordinationFigures
from concord.assessment.results import TrialRecord


def coordination_figures(
    records: Sequence[TrialRecord], pairs: Sequence[tuple[TrialRecord, TrialRecord]]
) -> CoordinationFigures | None:
    """The figures of a team. `records`: its trials; `pairs`: some of them, each with one of one agent with all briefs.

    None without team tasks. The team's success is the proven outcome, so that a team which only pretends to cooperate
    has none; the agent alone needs no proof.
    """
    teams = [record.team_task for record in records if record.team_task is not None]
    if not teams:
        return None
    paired = [each for each in pairs if _turns_of(each[0]) and _turns_of(each[1])]
    turns, solo_turns = (_mean(map(_turns_of, side)) for side in _sides(paired))
    success, alone = (_mean(map(_success, side)) for side in _sides(paired))
    known = [team for team in teams if team.turns]
    similar = [value for record in records if (value := _similarity(record)) is not None]
    return CoordinationFigures(
        pairs=len(paired),
        turns=turns if paired else _mean(team.turns for team in known),
        solo_turns=solo_turns,
        efficiency=None if None in (success, turns, solo_turns) else _ratio(success, _ratio(turns, solo_turns)),
        overhead=None if turns is None or not solo_turns else turns / solo_turns - 1,
        error_amplification=None if success is None or alone is None else _ratio(1 - success, 1 - alone),
        message_density=_mean(team.messages / team.turns for team in known if team.turns),
        redundancy=_mean(similar),
        failed_parts=sum(team.failed_parts for team in teams),
        failed_informed=sum(team.failed_informed for team in teams),
        failed_seats=sum(team.failed_seats for team in teams),
        informed_seats=sum(team.informed_seats for team in teams),
    )


def _sides(
    pairs: Sequence[tuple[TrialRecord, TrialRecord]],
) -> tuple[Sequence[TrialRecord], Sequence[TrialRecord]]:
    return [team for team, _ in pairs], [alone for _, alone in pairs]


def _turns_of(record: TrialRecord) -> int | None:
    return None if record.team_task is None else record.team_task.turns


def _success(record: TrialRecord) -> float:
    """The proven outcome; of a control, and in older rows, the outcome."""
    proven = None if record.team_task is None else record.team_task.credited
    if proven is not None:
        return proven
    return (record.grading and record.grading.value) or 0.0


def _similarity(record: TrialRecord) -> float | None:
    """How alike what the seats of a trial wrote is; None without messages, or without the metric."""
    found = [metric.value for metric in record.metrics if metric.id == "information_diversity"]
    return None if record.team_task is None or not found or found[0] is None else min(1.0, max(0.0, 1 - found[0]))


def _ratio(value: float | None, by: float | None) -> float | None:
    return None if value is None or not by else value / by


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None

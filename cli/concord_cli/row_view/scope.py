"""The scope of a view, a whole row or one of its trials, in one form."""

from dataclasses import dataclass

from concord.assessment.result_row import Detail, ResultRow
from concord.assessment.results import LatencySummary, SubScore, TrialRecord
from concord_cli.display_text import shortened
from concord_cli.errors import UsageError
from concord_cli.row_view.score import Rating, rating_of, rating_of_trial


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a row that is shown. `trial` is None for the whole row; `part`: what has the figures of the scope."""

    row: ResultRow
    trial: TrialRecord | None

    @property
    def part(self) -> Detail | TrialRecord:
        """The detail of the row, or the trial."""
        return self.row.detail if self.trial is None else self.trial

    @property
    def trials(self) -> list[TrialRecord]:
        """All trials, or the one."""
        return self.row.detail.trials if self.trial is None else [self.trial]

    @property
    def rating(self) -> Rating:
        """The score in words."""
        return rating_of(self.row) if self.trial is None else rating_of_trial(self.row, self.trial)

    @property
    def time_used(self) -> float:
        """In seconds."""
        return self.row.time_used if self.trial is None else self.trial.time_used

    @property
    def sub_scores(self) -> list[SubScore]:
        """The parts of the score."""
        return self.row.detail.scoring.sub_scores if self.trial is None else self.trial.sub_scores

    @property
    def latency(self) -> LatencySummary:
        """The latencies of calls."""
        return self.row.detail.latency_metrics if self.trial is None else self.trial.latency


def scope_of(row: ResultRow, trial_id: str | None = None) -> Scope:
    """The whole row, or its trial with this id. Raises UsageError if there is no such trial."""
    if trial_id is None:
        return Scope(row, None)
    trials = row.detail.trials
    for trial in trials:
        if trial.trial_id == trial_id:
            return Scope(row, trial)
    known = ", ".join(shortened(each.trial_id, 40) for each in trials[:10]) or "none"
    more = f" and {len(trials) - 10} more" if len(trials) > 10 else ""
    raise UsageError(f"the result has no trial {trial_id!r}, only: {known}{more}")

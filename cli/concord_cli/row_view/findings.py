"""The findings on a team's shape, for display."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord.assessment.results import Finding
from concord_cli.display_text import counted, named, on_one_line
from concord_cli.number_text import figure


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, safe to display. `steps`: the ids of those that show it."""

    title: str
    agents: list[str]
    figure: str | None
    threshold: str | None
    measured: str | None
    trials: str | None
    words: str
    steps: tuple[str, ...]


def findings_of(findings: Sequence[Finding], n_trials: int) -> list[FindingView]:
    """The findings on `n_trials` trials."""
    return [_finding(finding, n_trials) for finding in findings]


def _finding(finding: Finding, n_trials: int) -> FindingView:
    return FindingView(
        title=named(finding.id),
        agents=[on_one_line(agent) for agent in finding.agents],
        figure=None if finding.value is None else figure(finding.value),
        threshold=None if finding.threshold is None else figure(finding.threshold),
        measured=_measured(finding),
        trials=f"in {finding.trials} of {counted(n_trials, 'trial')}" if n_trials > 1 else None,
        words=on_one_line(finding.advice),
        steps=tuple(dict.fromkeys(finding.step_ids)),
    )


def _measured(finding: Finding) -> str | None:
    """The name of the finding's figure."""
    if finding.metric_id is not None:
        return named(finding.metric_id).lower()
    return None if finding.measured is None else on_one_line(finding.measured)

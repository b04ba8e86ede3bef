"""Findings for display, with links to the calls that show them."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord.assessment.results import Finding
from concord_cli.display_text import counted, named, on_one_line
from concord_cli.number_text import figure
from concord_cli.report.calls import CallName, Listing


@dataclass(frozen=True, slots=True)
class StepLink:
    """A link to a call that shows a finding; `anchor`: the HTML id of its bar, or of its row if it has no bar."""

    name: CallName
    anchor: str


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, safe to display. `unlisted` counts steps that are not among the calls on the page."""

    title: str
    agents: list[str]
    figure: str | None
    threshold: str | None
    measured: str | None
    trials: str | None
    advice: str
    steps: list[StepLink]
    unlisted: int


def findings_of(findings: Sequence[Finding], listing: Listing, n_trials: int) -> list[FindingView]:
    """The findings on `n_trials` trials, with links to the listed calls."""
    return [_finding(finding, listing, n_trials) for finding in findings]


def _finding(finding: Finding, listing: Listing, n_trials: int) -> FindingView:
    wanted = set(finding.step_ids)
    known = [name for step_id, name in listing.calls.items() if step_id in wanted]
    return FindingView(
        title=named(finding.id),
        agents=[on_one_line(agent) for agent in finding.agents],
        figure=None if finding.value is None else figure(finding.value),
        threshold=None if finding.threshold is None else figure(finding.threshold),
        measured=_measured(finding),
        trials=f"in {finding.trials} of {counted(n_trials, 'trial')}" if n_trials > 1 else None,
        advice=on_one_line(finding.advice),
        steps=[StepLink(name, name.bar if name.bar in listing.bars else name.row) for name in known],
        unlisted=len(wanted) - len(known),
    )


def _measured(finding: Finding) -> str | None:
    """The name of the finding's figure."""
    if finding.metric_id is not None:
        return named(finding.metric_id).lower()
    return None if finding.measured is None else on_one_line(finding.measured)

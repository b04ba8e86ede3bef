"""The findings on a team's shape, for display, with links to the calls that show them."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord.assessment.results import Finding
from concord_cli.display_text import counted, named, on_one_line
from concord_cli.number_text import figure
from concord_cli.report.calls import Listing, StepLink, links_to


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, safe to display. `unlisted` counts steps that are not among the calls on the page."""

    title: str
    agents: list[str]
    figure: str | None
    threshold: str | None
    measured: str | None
    trials: str | None
    words: str
    steps: list[StepLink]
    unlisted: int


def findings_of(findings: Sequence[Finding], listing: Listing, n_trials: int) -> list[FindingView]:
    """The findings on `n_trials` trials, with links to the listed calls."""
    return [_finding(finding, listing, n_trials) for finding in findings]


def _finding(finding: Finding, listing: Listing, n_trials: int) -> FindingView:
    links = links_to(finding.step_ids, listing)
    return FindingView(
        title=named(finding.id),
        agents=[on_one_line(agent) for agent in finding.agents],
        figure=None if finding.value is None else figure(finding.value),
        threshold=None if finding.threshold is None else figure(finding.threshold),
        measured=_measured(finding),
        trials=f"in {finding.trials} of {counted(n_trials, 'trial')}" if n_trials > 1 else None,
        words=on_one_line(finding.advice),
        steps=links,
        unlisted=len(set(finding.step_ids)) - len(links),
    )


def _measured(finding: Finding) -> str | None:
    """The name of the finding's figure."""
    if finding.metric_id is not None:
        return named(finding.metric_id).lower()
    return None if finding.measured is None else on_one_line(finding.measured)

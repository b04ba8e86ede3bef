"""The verdict of a row for display: causes with links to the calls that show them, changes, and what is unknown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from concord.assessment.verdict import Cause, Change, Verdict
from concord.assessment.verdict_text import cause_text, change_text, unknown_text
from concord_cli.display_text import on_one_line
from concord_cli.number_text import percent
from concord_cli.report.calls import Listing, StepLink, links_to


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause in words. `width`: of a bar in proportion to its points; `unlisted` counts steps without a link."""

    subject: str
    text: str
    cost: str
    width: str
    steps: list[StepLink]
    unlisted: int


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The verdict, safe to display. `left_out` counts the causes that the row does not list."""

    causes: list[CauseView]
    left_out: int
    points_left_out: str
    changes: list[str]
    unknown: list[str]


def view_of(verdict: Verdict, listing: Listing, trial_id: str | None) -> VerdictView:
    """The verdict with links to the listed calls; of one trial, only the causes that name it, and the changes for
    them."""
    causes = [each for each in verdict.causes if trial_id is None or trial_id in each.trials]
    most = max((each.points or 0.0 for each in causes), default=0.0) or 1.0
    return VerdictView(
        causes=[_cause(each, most, listing) for each in causes],
        left_out=verdict.causes_left_out if trial_id is None else 0,
        points_left_out=f"{verdict.points_left_out:.1f}",
        changes=[on_one_line(change_text(each)) for each in _changes(verdict.changes, causes)],
        unknown=[on_one_line(unknown_text(each)) for each in verdict.unknown],
    )


def _cause(cause: Cause, most: float, listing: Listing) -> CauseView:
    words, links = cause_text(cause), links_to(cause.steps, listing)
    return CauseView(
        subject=on_one_line(words.subject),
        text=on_one_line(words.text),
        cost=on_one_line(words.cost),
        width=percent((cause.points or 0.0) / most),
        steps=links,
        unlisted=len(set(cause.steps)) - len(links),
    )


def _changes(changes: Iterable[Change], causes: Sequence[Cause]) -> list[Change]:
    """Those that repair one of these causes. Where to look is shown at the cause itself, as links to its calls."""
    found = {(each.kind, tuple(each.agents)) for each in causes}
    return [each for each in changes if each.repairs and (each.kind, tuple(each.agents)) in found]

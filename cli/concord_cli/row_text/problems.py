"""The problems in a row, the most important first: causes of wrong answers, lost criteria, then findings. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from concord.assessment.result_row import Detail
from concord.assessment.results import Finding, TrialRecord
from concord_cli.display_text import named, on_one_line
from concord_cli.row_text.assistant_points import criteria_of, losing, of_points
from concord_cli.row_text.assistant_results import scenario_results
from concord_cli.row_text.score import reasons_with_counts
from concord_cli.row_text.team_tasks import causes_found, unproven_answers


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: its subject (`agent/2`, `Bottleneck:`), and the text that follows it."""

    subject: str
    text: str


def wrong_parts(detail: Detail) -> list[Problem]:
    """Why answers are wrong and criteria lost points."""
    return [*_criteria(detail)] or [
        *wrong_answers(trial for trial in detail.trials if not trial.is_control),
        *_causes(detail),
    ]


def _causes(detail: Detail) -> Iterator[Problem]:
    for cause in causes_found(detail.trials, over_tasks=True):
        yield Problem(on_one_line(cause.seats), on_one_line(f"{cause.text} ({cause.where})"))
    for each in unproven_answers(detail.trials):
        yield Problem(on_one_line(each.seat), on_one_line(each.text))


def wrong_answers(trials: Iterable[TrialRecord]) -> list[Problem]:
    """The reasons for wrong answers to tasks that no family generated, each with the agent that answered."""
    by_agent: dict[str, list[str]] = {}
    for trial in trials:
        if trial.usable and trial.team_task is None and trial.grading is not None:
            for answer in trial.grading.answers:
                if answer.value < 1:
                    by_agent.setdefault(answer.agent, []).append(f"{answer.explanation} ({trial.task_id})")
    return [
        Problem(f"{on_one_line(agent)}'s answer:", on_one_line("; ".join(reasons_with_counts(reasons))))
        for agent, reasons in by_agent.items()
    ]


def _criteria(detail: Detail) -> Iterator[Problem]:
    for each in losing(criteria_of(scenario_results(detail))):
        why = "; ".join(each.reasons) or "without an explanation"
        yield Problem(f"{on_one_line(each.name)}:", on_one_line(f"{of_points(each.points)} points: {why}"))


def findings_of(detail: Detail) -> list[Problem]:
    """A problem for each kind of finding: the advice of the first finding, and the agents that the advice does not
    name. A finding is not always a fault: a bottleneck may be by design."""
    kinds: dict[str, list[Finding]] = {}
    for finding in sorted(detail.findings, key=lambda finding: finding.id != "unexplained_knowledge"):
        kinds.setdefault(finding.id, []).append(finding)
    return [_of_kind(kind, findings) for kind, findings in kinds.items()]


def _of_kind(kind: str, findings: Sequence[Finding]) -> Problem:
    first, *others = findings
    everyone = dict.fromkeys(agent for each in findings for agent in each.agents)
    unnamed = [agent for agent in everyone if not re.search(rf"(?<![\w/]){re.escape(agent)}(?![\w/])", first.advice)]
    agents = f" ({'also ' if others else ''}{', '.join(unnamed)})" if unnamed else ""
    return Problem(on_one_line(f"{named(kind)}{agents}:"), on_one_line(first.advice))

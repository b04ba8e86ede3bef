"""What a reader asks first, in words: causes, what to change, findings, a model's words, failures, warnings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.result_row import Cause as CausedBy
from concord.assessment.result_row import Detail, InfrastructureFailure
from concord.assessment.results import Finding, Judgment
from concord.assessment.verdict import Cause, Change, UnknownKind, Verdict
from concord.assessment.verdict_text import cause_text, change_text, unknown_text
from concord_cli.display_text import counted, named, on_one_line, visible
from concord_cli.number_text import figure


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause in words. `share`: its points in shares of the costliest cause's; `steps`: the ids of those that show it;
    `where`: how often, and in which trials and tasks."""

    subject: str
    text: str
    points: float | None
    cost: str
    where: str
    share: float
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeView:
    """What to do about a cause; or, if it does not repair it, where to look."""

    text: str
    repairs: bool


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The verdict, safe to display. `left_out` counts the causes that the row does not list. `unseen`: those lines of
    `unknown` that are on calls that nobody could observe."""

    causes: list[CauseView]
    left_out: int
    points_left_out: str
    changes: list[ChangeView]
    unknown: list[str]
    unseen: frozenset[str]


def verdict_of(verdict: Verdict, trial_id: str | None) -> VerdictView:
    """The verdict; of one trial, only the causes that name it, and the changes for them."""
    causes = [each for each in verdict.causes if trial_id is None or trial_id in each.trials]
    most = max((each.points or 0.0 for each in causes), default=0.0) or 1.0
    changes = verdict.changes if trial_id is None else _for(verdict.changes, causes)
    return VerdictView(
        causes=[_cause(each, most) for each in causes],
        left_out=verdict.causes_left_out if trial_id is None else 0,
        points_left_out=f"{verdict.points_left_out:.1f}",
        changes=[ChangeView(on_one_line(change_text(each)), each.repairs) for each in changes],
        unknown=[on_one_line(unknown_text(each)) for each in verdict.unknown],
        unseen=frozenset(
            on_one_line(unknown_text(each)) for each in verdict.unknown if each.kind is UnknownKind.NOT_OBSERVED
        ),
    )


def _cause(cause: Cause, most: float) -> CauseView:
    words = cause_text(cause)
    return CauseView(
        subject=on_one_line(words.subject) if words.subject else "",
        text=on_one_line(words.text),
        points=cause.points,
        cost=on_one_line(words.cost),
        where=on_one_line(words.where) if words.where else "",
        share=(cause.points or 0.0) / most,
        steps=tuple(dict.fromkeys(cause.steps)),
    )


def _for(changes: Iterable[Change], causes: Sequence[Cause]) -> list[Change]:
    found = {(each.kind, tuple(each.agents)) for each in causes}
    return [each for each in changes if (each.kind, tuple(each.agents)) in found]


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


@dataclass(frozen=True, slots=True)
class JudgeView:
    """The words of a language model on the work, and its own figures."""

    reasoning: str
    figures: str
    strengths: list[str]
    weaknesses: list[str]


def judge_of(judge: Judgment | None) -> JudgeView | None:
    """What a model wrote. What the rules say in its place stands in the verdict."""
    if judge is None or judge.source != "llm":
        return None
    figures = []
    if judge.coordination_quality is not None:
        figures.append(f"coordination {judge.coordination_quality}")
    if judge.overall_score is not None:
        figures.append(f"overall {judge.overall_score:.2f}")
    return JudgeView(
        reasoning=visible(judge.reasoning).strip(),
        figures=", ".join(figures),
        strengths=[on_one_line(line) for line in judge.strengths],
        weaknesses=[on_one_line(line) for line in judge.weaknesses],
    )


_CAUSED_BY: Final[dict[CausedBy | None, str]] = {
    "concord": " (lost by Concord)",
    "participants": " (lost by the participants, and counts 0)",
    "unknown": " (nobody knows who lost it)",
    None: "",
}


def failure_text(failure: InfrastructureFailure) -> str:
    """A failure in one line, without the trial."""
    attempt = ", second attempt" if failure.attempt > 1 else ""
    return f"{failure.stage}{attempt} failed{_CAUSED_BY[failure.caused_by]}: {failure.message}"


def warning_lines(detail: Detail) -> Iterator[str]:
    """Trials that did not complete, refuted reports, and the row's warnings."""
    trials = {trial.trial_id for trial in detail.trials}
    unfinished = [
        f"{trial.trial_id}: {trial.state}" + (f": {trial.error}" if trial.error else "")
        for trial in detail.trials
        if trial.state != "completed"
    ]
    yield from _once([*unfinished, *detail.warnings], trials)
    if n := detail.trace_integrity.contradicted:
        yield f"{counted(n, 'reported call')} did not take place"


def _once(lines: list[str], trials: set[str]) -> Iterator[str]:
    """Each line once, with the number of trials in place of their ids if there are several."""
    told = [line.partition(": ") if line.partition(": ")[0] in trials else ("", "", line) for line in lines]
    times = Counter(text for _, _, text in told)
    shown = set[str]()
    for trial, colon, text in told:
        if text not in shown:
            shown.add(text)
            yield f"{text} ({counted(times[text], 'trial')})" if times[text] > 1 and trial else f"{trial}{colon}{text}"

"""The trials: a line for each, and in full (grading, timeline, calls, answer) those for which there is room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from concord.assessment import Mode
from concord.assessment.outcome import outcome_of
from concord.assessment.results import Grading, StepCounts, TrialRecord
from concord.assessment.verdict import CauseKind
from concord_cli.display_text import counted, on_one_line, visible
from concord_cli.number_text import NONE, duration
from concord_cli.report.calls import MAX_CALLS, CallName, Listing, by_step_id, name_calls, table_of_calls
from concord_cli.report.journey import Journey, Knowledge, draw_journey, knowledge_of
from concord_cli.report.timeline import Timeline, draw
from concord_cli.report.work import ObservedView, WorkView, failures_in, observed_in, work_view
from concord_cli.row_view.head import claimed_text
from concord_cli.row_view.scope import Scope
from concord_cli.row_view.score import CONTROLS, JUDGED_BY, grading_source_text
from concord_cli.row_view.table import Cell, Column, Table, number_columns, table_of

LONG_ANSWER: Final = 600
"""A longer answer (characters) is folded."""

_SIGNS: Final[Mapping[str, str]] = {"passed": "✓", "failed": "✕"}


@dataclass(frozen=True, slots=True)
class TrialView:
    """A trial in full. `outcome`: its grade and who judged it; `failures`, `journey`, `knowledge`: of a family's task.

    `cost`: what the agents claim to have used; `about`: its task, run, seed and steps.
    """

    number: int
    title: str
    control: str | None
    observed: ObservedView | None
    failures: Table | None
    journey: Journey | None
    knowledge: Knowledge | None
    outcome: str | None
    reason: str | None
    answers: Table | None
    answer: str | None
    timeline: Timeline | None
    calls: Table
    calls_omitted: int
    work: WorkView | None
    cost: str | None
    about: str
    trace_id: str

    @property
    def answer_is_long(self) -> bool:
        """Whether the answer is folded."""
        return len(self.answer or "") > LONG_ANSWER


@dataclass(frozen=True, slots=True)
class TrialsView:
    """All trials as a table, those for which there is room in full, and the calls to which other sections link.

    `opened`: the number of the trial to read first.
    """

    table: Table
    in_full: list[TrialView]
    listing: Listing
    opened: int


def trials_of(scope: Scope) -> TrialsView:
    """The trials of a page. Trials beyond the first `MAX_CALLS` calls of the page are lines only, except the opened
    one."""
    numbered = dict(enumerate(scope.trials, 1))
    opened = _worst(scope)
    in_full = _in_full(numbered, opened)
    names = name_calls(in_full, single=len(numbered) == 1)
    played = scope.row.detail.mode is not Mode.RECORDED
    views = [
        _view(number, trial, of_trial, played=played)
        for (number, trial), of_trial in zip(in_full.items(), names, strict=True)
    ]
    bars = (bar.name.bar for view in views if view.timeline is not None for bar in view.timeline.bars)
    listing = Listing(by_step_id(in_full.values(), names), frozenset(bars))
    return TrialsView(_table(numbered, in_full), views, listing, opened)


def _worst(scope: Scope) -> int:
    """The number of the trial that lost most of those with the worst cause that is shown; else that of the first failed
    one."""
    verdict = scope.row.detail.verdict
    shown = () if verdict is None else (each for each in verdict.causes if each.kind is not CauseKind.UNEXPLAINED)
    of_cause = next((each.trials for each in shown), ())

    def rank(number: int) -> tuple[bool, float, bool, int]:
        trial = scope.trials[number - 1]
        has_cause = trial.trial_id in of_cause
        failed = trial.passed is False and not trial.is_control
        return not has_cause, (trial.overall_score or 0.0) if has_cause else 0.0, not failed, number

    return min(range(1, len(scope.trials) + 1), key=rank, default=1)


def _in_full(trials: Mapping[int, TrialRecord], opened: int) -> dict[int, TrialRecord]:
    """The trials for which a page has room, in their order: the opened one, and the first ones."""
    order = sorted(trials, key=lambda number: (number != opened, number))
    calls_up_to = accumulate(len(trials[number].calls) for number in order)
    shown = order[: max(1, sum(calls <= MAX_CALLS for calls in calls_up_to))]
    return {number: trials[number] for number in sorted(shown)}


def _table(trials: Mapping[int, TrialRecord], in_full: Mapping[int, TrialRecord]) -> Table:
    columns = [
        *(*number_columns("Trial"), Column("Verdict"), Column("Outcome"), *number_columns("Score"), Column("Task")),
        *(*number_columns("Run", optional=True), *number_columns("Time"), Column("Id", "id")),
    ]
    repeated = len({trial.run for trial in trials.values()}) > 1
    rows = []
    for number, trial in trials.items():
        verdict, state = outcome_of(trial).lower(), "" if trial.state == "completed" else f"({trial.state})"
        link = Cell("", links=((str(number), f"#trial-{number}"),))
        rows.append(
            (
                link if number in in_full else Cell(str(number)),
                Cell(verdict, state, _SIGNS.get(verdict, ""), f"verdict-{verdict.replace(' ', '-')}"),
                NONE if trial.grading is None else _outcome(trial.grading),
                _score(trial),
                on_one_line(trial.task_id),
                str(trial.run) if repeated else "",
                duration(1000 * min(trial.time_used, 1e300)),
                on_one_line(trial.trial_id),
            )
        )
    return table_of("Trials", columns, rows)


def _score(trial: TrialRecord) -> str:
    return NONE if trial.overall_score is None else f"{trial.overall_score:.2f}"


def _outcome(grading: Grading) -> str:
    return ("" if grading.value is None else f"{grading.value:.2f} ") + JUDGED_BY[grading.source]


def _view(number: int, trial: TrialRecord, names: Sequence[CallName], *, played: bool) -> TrialView:
    task, grading, calls = trial.team_task, trial.grading, by_step_id([trial], [names])
    verdict, outcome = outcome_of(trial).lower(), None
    if grading is not None:
        source = on_one_line(grading_source_text(grading))
        outcome = "unjudged" if grading.value is None else f"{grading.value:.2f}, judged {source}"
    return TrialView(
        number=number,
        title=f"Trial {number}: {verdict}" + ("" if verdict == "not judged" else f", score {_score(trial)}"),
        control=CONTROLS.get(trial.control or (task and task.control) or ""),
        observed=observed_in(trial, calls),
        failures=None if task is None else failures_in(task, calls),
        journey=None if task is None else draw_journey(task, trial.calls),
        knowledge=None if task is None else knowledge_of(task),
        outcome=outcome,
        reason=None if grading is None or grading.reason is None else on_one_line(grading.reason),
        answers=_answers(grading) if grading is not None and grading.answers else None,
        answer=visible(trial.answer or "").strip() or None,
        timeline=draw(trial.calls, names),
        calls=table_of_calls(trial.calls, names),
        calls_omitted=trial.calls_omitted,
        work=None if trial.work is None else work_view(trial.work, calls, played=played),
        cost=claimed_text(trial.uses),
        about=f"Task {on_one_line(trial.task_id)}, run {trial.run}, seed {trial.seed}, {_steps(trial.steps)}",
        trace_id=on_one_line(trial.trace_id),
    )


def _answers(grading: Grading) -> Table:
    columns = Column("Answer of"), Column("Outcome", "number"), Column("Reason")
    rows = ((on_one_line(each.agent), f"{each.value:.2f}", on_one_line(each.explanation)) for each in grading.answers)
    return table_of("The graded answers", columns, rows)


def _steps(steps: StepCounts) -> str:
    kinds = {"agent": steps.agent, "tool": steps.tool, "host": steps.host}
    return ", ".join(counted(n, f"{kind} step") for kind, n in kinds.items() if n) or "no steps"

"""The trials: a line for each, and in full (grading, timeline, calls, answer) those for which there is room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from concord.assessment.results import Grading, StepCounts, TrialRecord
from concord_cli.display_text import counted, on_one_line, visible
from concord_cli.number_text import NONE, duration
from concord_cli.report.calls import MAX_CALLS, CallName, CallRow, Listing, by_step_id, name_calls, rows_of
from concord_cli.report.observations import ObservedView, observed_in
from concord_cli.report.recorded import WorkView, work_view
from concord_cli.report.team import FailureRows, Journey, Matrix, draw_journey, failures_in, matrix_of
from concord_cli.report.timeline import Timeline, draw
from concord_cli.row_view.outcome import outcome_of
from concord_cli.row_view.score import JUDGED_BY, grading_source_text
from concord_cli.row_view.team_tasks import CONTROLS

LONG_ANSWER: Final = 600
"""A longer answer (characters) is folded."""


@dataclass(frozen=True, slots=True)
class TrialLine:
    """A trial in the list of all trials."""

    number: int
    trial_id: str
    task_id: str
    run: int
    state: str
    verdict: str
    outcome: str
    score: str
    time_used: str
    in_full: bool


@dataclass(frozen=True, slots=True)
class AnswerView:
    """The grading of one participant's answer."""

    agent: str
    value: str
    explanation: str


@dataclass(frozen=True, slots=True)
class GradingView:
    """The grading of a trial's outcome: value, source and reason. `value` is None if nobody judged it."""

    value: str | None
    source: str
    reason: str | None
    answers: list[AnswerView]


@dataclass(frozen=True, slots=True)
class TeamTaskView:
    """A trial of a family's task: its failures, its flow of facts, and who knew what when."""

    failures: FailureRows
    journey: Journey | None
    matrix: Matrix | None


@dataclass(frozen=True, slots=True)
class TrialView:
    """A trial in full."""

    line: TrialLine
    control: str | None
    observed: ObservedView | None
    team_task: TeamTaskView | None
    grading: GradingView | None
    error: str | None
    answer: str | None
    answer_is_long: bool
    timeline: Timeline | None
    calls: list[CallRow]
    calls_omitted: int
    trace_id: str
    seed: int
    steps: str
    work: WorkView | None


@dataclass(frozen=True, slots=True)
class TrialsView:
    """All trials as lines, those for which there is room in full, and the calls to which other sections link.

    `opened`: the number of the trial to read first, the first failed one. `repeated`: whether the trials differ in
    their run.
    """

    lines: list[TrialLine]
    in_full: list[TrialView]
    listing: Listing
    opened: int
    repeated: bool


def trials_of(trials: Sequence[TrialRecord]) -> TrialsView:
    """The trials of a page. Trials beyond the first `MAX_CALLS` calls of the page are lines only, except the first
    failed one."""
    numbered = dict(enumerate(trials, 1))
    opened = next((number for number, trial in numbered.items() if trial.passed is False and not trial.is_control), 1)
    in_full = _in_full(numbered, opened)
    single = len(trials) == 1
    names = name_calls(in_full, single=single)
    timelines = [draw(trial.calls, of_trial) for trial, of_trial in zip(in_full.values(), names, strict=True)]
    bars = frozenset(bar.name.bar for timeline in timelines if timeline is not None for bar in timeline.bars)
    lines = [_line(number, trial, in_full=number in in_full) for number, trial in numbered.items()]
    views = [
        _view(trial, lines[number - 1], of_trial, timeline)
        for (number, trial), of_trial, timeline in zip(in_full.items(), names, timelines, strict=True)
    ]
    listing = Listing(by_step_id(in_full.values(), names), bars)
    return TrialsView(lines, views, listing, opened, repeated=len({line.run for line in lines}) > 1)


def _in_full(trials: Mapping[int, TrialRecord], opened: int) -> dict[int, TrialRecord]:
    """The trials for which a page has room, in their order: the opened one, and the first ones."""
    order = sorted(trials, key=lambda number: (number != opened, number))
    calls_up_to = accumulate(len(trials[number].calls) for number in order)
    shown = order[: max(1, sum(calls <= MAX_CALLS for calls in calls_up_to))]
    return {number: trials[number] for number in sorted(shown)}


def _line(number: int, trial: TrialRecord, *, in_full: bool) -> TrialLine:
    return TrialLine(
        number=number,
        trial_id=on_one_line(trial.trial_id),
        task_id=on_one_line(trial.task_id),
        run=trial.run,
        state=trial.state,
        verdict=outcome_of(trial).lower(),
        outcome=NONE if trial.grading is None else _outcome(trial.grading),
        score=NONE if trial.overall_score is None else f"{trial.overall_score:.2f}",
        time_used=duration(1000 * min(trial.time_used, 1e300)),
        in_full=in_full,
    )


def _outcome(grading: Grading) -> str:
    return ("" if grading.value is None else f"{grading.value:.2f} ") + JUDGED_BY[grading.source]


def _grading(grading: Grading) -> GradingView:
    return GradingView(
        value=None if grading.value is None else f"{grading.value:.2f}",
        source=on_one_line(grading_source_text(grading)),
        reason=None if grading.reason is None else on_one_line(grading.reason),
        answers=[
            AnswerView(on_one_line(each.agent), f"{each.value:.2f}", on_one_line(each.explanation))
            for each in grading.answers
        ],
    )


def _view(
    trial: TrialRecord,
    line: TrialLine,
    names: Sequence[CallName],
    timeline: Timeline | None,
) -> TrialView:
    answer = None if trial.answer is None else visible(trial.answer).strip()
    return TrialView(
        line=line,
        control=CONTROLS.get(trial.control or (trial.team_task and trial.team_task.control) or ""),
        observed=observed_in(trial, names),
        team_task=_team_task(trial, names),
        grading=None if trial.grading is None else _grading(trial.grading),
        error=None if trial.error is None else on_one_line(trial.error),
        answer=answer or None,
        answer_is_long=len(answer or "") > LONG_ANSWER,
        timeline=timeline,
        calls=rows_of(trial.calls, names),
        calls_omitted=trial.calls_omitted,
        trace_id=on_one_line(trial.trace_id),
        seed=trial.seed,
        steps=_steps(trial.steps),
        work=None if trial.work is None else work_view(trial.work, by_step_id([trial], [names])),
    )


def _team_task(trial: TrialRecord, names: Sequence[CallName]) -> TeamTaskView | None:
    record = trial.team_task
    if record is None:
        return None
    return TeamTaskView(
        failures=failures_in(record, by_step_id([trial], [names])),
        journey=draw_journey(record, trial.calls),
        matrix=matrix_of(record),
    )


def _steps(steps: StepCounts) -> str:
    kinds = {"agent": steps.agent, "tool": steps.tool, "host": steps.host}
    return ", ".join(counted(n, f"{kind} step") for kind, n in kinds.items() if n) or "no steps"

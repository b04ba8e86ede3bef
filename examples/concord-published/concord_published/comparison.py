"""What a row says of a benchmark's tasks, beside what was published."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from concord_published import agentsnet, hiddenbench, silobench


@dataclass(frozen=True, slots=True)
class Line:
    """A condition, with the mean over tasks of the mean over runs; None if nothing was played."""

    condition: str
    tasks: int
    answers: float | None
    """The share of the benchmark's own score: of right answers of seats, or of the team's problem."""
    majority: float | None
    """The share of trials in which more than half of the seats are right. As `answers` for one agent."""
    published: str = ""


PUBLISHED: Final = {
    (hiddenbench.BENCHMARK, None): "30.1 % (teams of 15 models)",
    (hiddenbench.BENCHMARK, "solo"): "80.7 % (one agent with everything, 15 models)",
}

CONDITIONS: Final = ((None, "team"), ("solo", "one agent with everything"), ("silent", "nobody speaks"))
BENCHMARKS: Final = (hiddenbench.BENCHMARK, silobench.BENCHMARK, agentsnet.BENCHMARK)


def lines_of(row: ResultRow, benchmark: str) -> Iterator[Line]:
    """The conditions of a benchmark that the row has."""
    for control, condition in CONDITIONS:
        by_task: dict[str, list[TrialRecord]] = defaultdict(list)
        for trial in row.detail.trials:
            task = trial.team_task
            if trial.usable and task is not None and task.control == control and task.family.startswith(benchmark):
                by_task[task.family].append(trial)
        if by_task:
            yield Line(
                condition,
                len(by_task),
                fmean(fmean(map(_outcome, trials)) for trials in by_task.values()),
                fmean(fmean(map(_by_majority, trials)) for trials in by_task.values()),
                PUBLISHED.get((benchmark, control), "-"),
            )


def _outcome(trial: TrialRecord) -> float:
    """The share of right answers; 0 without any."""
    return 0.0 if trial.grading is None or trial.grading.value is None else trial.grading.value


def _by_majority(trial: TrialRecord) -> float:
    return float(_outcome(trial) > 0.5)


def table(row: ResultRow) -> str:
    """The table in Markdown."""
    lines = [
        "| Benchmark | Condition | Tasks | Right answers | By majority | Published |",
        "|---|---|---:|---:|---:|---|",
    ]
    for benchmark in BENCHMARKS:
        lines += [_shown(benchmark, each) for each in lines_of(row, benchmark)]
    return "\n".join(lines)


def _shown(benchmark: str, line: Line) -> str:
    cells: Sequence[str] = (
        *(benchmark, line.condition, str(line.tasks)),
        *("-" if share is None else f"{100 * share:.1f} %" for share in (line.answers, line.majority)),
        line.published,
    )
    return f"| {' | '.join(cells)} |"

"""The end of a run on a terminal: at most 25 lines for any row, including the closing line. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from concord.assessment.result_row import Detail, ResultRow
from concord_cli.display_text import printable
from concord_cli.number_text import duration
from concord_cli.row_text.assistant import points_table
from concord_cli.row_text.assistant_results import is_lone_assistant, scenario_results
from concord_cli.row_text.interactions import REMEDY, coordination_label, unobserved_text
from concord_cli.row_text.problems import Problem, findings_of, wrong_parts
from concord_cli.row_text.score import Rating, pass_count_text, rating_of
from concord_cli.row_text.subject import date_text, size_text, tasks_text, team_text
from concord_cli.row_text.summary import interval_text, warning_lines
from concord_cli.row_text.team_tasks import tasks_table
from concord_cli.terminal import plain_text

MAX_LINES: Final = 24
"""The limit of lines, on a screen of 80 columns or more. The line on the results file follows."""

MAX_PROBLEMS: Final = 3
MAX_WARNINGS: Final = 2
MAX_NOTES: Final = 3

_INDENT: Final = (0, 0, 0, 2)


@dataclass(frozen=True, slots=True)
class Clipped:
    """The text in at most `lines` lines of the screen; an ellipsis ends a longer text."""

    text: Text
    lines: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wraps the text at the screen's width."""
        wrapped = self.text.wrap(console, options.max_width)
        shown = list(wrapped[: self.lines])
        if len(wrapped) > self.lines:
            shown[-1].rstrip()
            shown[-1].truncate(options.max_width - 1)
            shown[-1].append("…")
        yield from shown


@dataclass(frozen=True, slots=True)
class Brief:
    """A row in at most `MAX_LINES` lines: the outcome, the score with its basis, the first problems and warnings.

    A table of team tasks, or of an assistant's points, follows the head if it fits. `name`: of the scenario.
    """

    row: ResultRow
    name: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Renders the summary for this screen."""
        head, rest = ["", *_head(self.row, self.name), *_unobserved(self.row.detail)], _body(self.row.detail)
        for whole in (Group(*head, *_table(self.row.detail), *rest, ""), Group(*head, *rest, "")):
            if len(console.render_lines(whole, options)) <= MAX_LINES:
                yield whole
                return
        yield Group(*head, *rest)


def _table(detail: Detail) -> list[RenderableType]:
    """The outcome in parts: by task of a team, or by dimension of an assistant's points. Empty for other rows."""
    if (tasks := tasks_table(detail.trials)) is not None:
        return ["", Text("Tasks", "bold"), Padding(tasks, _INDENT)]
    results = scenario_results(detail)
    return ["", Text("Points", "bold"), Padding(points_table(results), _INDENT)] if results else []


def _body(detail: Detail) -> list[RenderableType]:
    causes, findings, warnings = wrong_parts(detail), findings_of(detail), list(warning_lines(detail))
    lines = _section("Warnings", [Clipped(plain_text(line)) for line in warnings[:MAX_WARNINGS]], len(warnings))
    room = max(0, MAX_PROBLEMS - len(causes))
    if any(trial.team_task is not None for trial in detail.trials):
        wrong = _problems(causes[:MAX_PROBLEMS]) or [Text("None is wrong.", "green")]
        found = _section("Findings", _problems(findings[:room]), len(findings))
        return [*_section("Why answers are wrong", wrong, len(causes)), *found, *lines]
    title = "What went wrong" if causes or detail.scoring.passed_trials < detail.scoring.usable_trials else "Findings"
    problems = [*causes, *findings]
    nothing = "No checked criterion lost points." if scenario_results(detail) else "Concord found no problem."
    shown = _problems(problems[:MAX_PROBLEMS]) or [Text(nothing, "green")]
    return [*_section(title, shown, len(problems)), *lines]


def _head(row: ResultRow, name: str) -> Iterator[RenderableType]:
    detail, rating = row.detail, rating_of(row)
    assistant = team_text(detail) if is_lone_assistant(detail) else None
    subject = [text for text in (name, assistant, date_text(detail.started_at)) if text]
    yield Clipped(plain_text(" · ".join(subject), "bold"))
    yield Clipped(_outcome(row))
    yield Clipped(Text.assemble((_score(row, rating), "bold"), plain_text(f": {rating.rests_on}")), 2)
    yield from (Clipped(plain_text(note, "dim"), 2) for note in rating.notes[:MAX_NOTES])
    label = coordination_label(detail.coordination_quality, detail.coordination_status) or "unknown"
    facts = [size_text(detail), tasks_text(detail.trials), f"coordination: {label}", f"confidence: {detail.confidence}"]
    yield Clipped(plain_text(" · ".join(facts)), 2)


def _outcome(row: ResultRow) -> Text:
    scoring = row.detail.scoring
    counts = plain_text(f": {pass_count_text(row)}, {duration(1000 * min(row.time_used, 1e300))}")
    if not scoring.usable_trials:
        return Text.assemble(("Nothing was assessed", "bold red"), counts)
    if row.score is None:
        return Text.assemble(("Not judged", "bold yellow"), counts)
    if scoring.passed_trials == scoring.usable_trials:
        return Text.assemble(("Passed", "bold green"), counts)
    return Text.assemble(("Partly passed", "bold yellow") if scoring.passed_trials else ("Failed", "bold red"), counts)


def _score(row: ResultRow, rating: Rating) -> str:
    return "No score" if rating.number is None else f"Score {rating.number} of {row.max_score:.0f}{interval_text(row)}"


def _unobserved(detail: Detail) -> Iterator[RenderableType]:
    """Two lines on participants whose calls could not be observed: their names, and a remedy."""
    if (sentence := unobserved_text(detail.trace_integrity)) is not None:
        yield Clipped(plain_text(sentence, "yellow"))
        yield Clipped(plain_text(REMEDY[0]))


def _problems(problems: Sequence[Problem]) -> list[RenderableType]:
    return [
        Clipped(Text.assemble((printable(problem.subject), "bold yellow"), printable(f" {problem.text}")), 2)
        for problem in problems
    ]


def _section(title: str, lines: Sequence[RenderableType], n: int) -> list[RenderableType]:
    """A section of lines on `n` things, whose title has their number if it shows fewer. Empty without lines."""
    counts = f" ({len(lines)} of {n:,})" if n > len(lines) else ""
    return ["", Text.assemble((title, "bold"), (counts, "dim")), Padding(Group(*lines), _INDENT)] if lines else []

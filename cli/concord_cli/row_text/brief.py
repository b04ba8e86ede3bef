"""The end of a run: the verdict in at most 25 lines of a terminal, including the closing line. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from concord.assessment.result_row import Detail, ResultRow
from concord.assessment.verdict import Cause, UnknownKind, Verdict
from concord.assessment.verdict_text import (
    cause_text,
    change_text,
    known_text,
    outcome_text,
    outcome_word,
    unknown_text,
)
from concord_cli.display_text import printable
from concord_cli.number_text import duration
from concord_cli.row_text.assistant import points_table
from concord_cli.row_text.team_tasks import tasks_table
from concord_cli.row_view.assistant_results import is_lone_assistant, scenario_results
from concord_cli.row_view.cost import cost_text, detectable_text
from concord_cli.row_view.interactions import REMEDY
from concord_cli.row_view.score import Rating, rating_of
from concord_cli.row_view.subject import date_text, size_text, tasks_text, team_text
from concord_cli.row_view.team_tasks import section_of
from concord_cli.row_view.warnings import warning_lines
from concord_cli.terminal import plain_text

MAX_LINES: Final = 24
"""The limit of lines, on a screen of 80 columns or more. The line on the results file follows."""

MAX_NOTES: Final = 3

_STYLES: Final = {"Passed": "bold green", "Failed": "bold red", "Nothing assessed": "bold red"}


@dataclass(frozen=True, slots=True)
class Clipped:
    """The text in at most `lines` lines of a screen, indented; an ellipsis ends a longer text. Elsewhere, one line."""

    text: Text
    lines: int = 1
    indent: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wraps the text at the screen's width."""
        margin = Text(" " * self.indent)
        if not console.is_terminal:
            yield margin + self.text
            return
        wrapped = self.text.wrap(console, max(1, options.max_width - self.indent))
        shown = list(wrapped[: self.lines])
        if len(wrapped) > self.lines:
            shown[-1].rstrip()
            shown[-1].truncate(options.max_width - self.indent - 1)
            shown[-1].append("…")
        yield from (margin + line for line in shown)


@dataclass(frozen=True, slots=True)
class _Room:
    """How many lines of each kind are shown. The title of a section says how many there are."""

    causes: int
    changes: int
    unknown: int
    warnings: int
    tables: bool


_WHOLE: Final = _Room(causes=20, changes=20, unknown=20, warnings=50, tables=True)
_ROOMS: Final = (
    _WHOLE,
    _Room(causes=8, changes=3, unknown=8, warnings=2, tables=True),
    _Room(causes=5, changes=2, unknown=6, warnings=2, tables=True),
    _Room(causes=3, changes=2, unknown=4, warnings=1, tables=True),
    _Room(causes=5, changes=2, unknown=5, warnings=2, tables=False),
    _Room(causes=3, changes=2, unknown=3, warnings=1, tables=False),
    _Room(causes=3, changes=1, unknown=1, warnings=0, tables=False),
    _Room(causes=2, changes=1, unknown=1, warnings=0, tables=False),
)
"""The first of these that fits a screen is shown."""


@dataclass(frozen=True, slots=True)
class Brief:
    """The verdict of a row: outcome, score with its basis, what cost points, what to change, what is not known.

    On a terminal it has at most `MAX_LINES` lines, and says what it leaves out; elsewhere, or if `whole`, it has all.
    `name`: of the scenario.
    """

    row: ResultRow
    name: str
    whole: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Renders the verdict for this screen."""
        if self.whole or not console.is_terminal:
            yield from _lines(self.row, self.name, _WHOLE)
            return
        for room in _ROOMS:
            lines = _lines(self.row, self.name, room)
            if len(console.render_lines(Group(*lines), options)) <= MAX_LINES:
                break
        yield from lines


def _lines(row: ResultRow, name: str, room: _Room) -> list[RenderableType]:
    detail, verdict = row.detail, row.detail.verdict
    lines = ["", *_head(row, name)]
    if verdict is not None:
        causes = [_cause(each) for each in verdict.causes]
        unknown = [_line(unknown_text(each)) for each in verdict.unknown]
        lines += _section("What cost points", causes[: room.causes], len(causes) + verdict.causes_left_out)
        if not causes and verdict.score is not None and not _given(verdict):
            lines += ["", Text("Nothing cost points.", "green")]
        changes = [_line(change_text(each)) for each in verdict.changes]
        lines += _section("What to change", changes[: room.changes], len(changes))
        lines += _section("Not known", unknown[: room.unknown], len(unknown))
        if any(each.kind is UnknownKind.NOT_OBSERVED for each in verdict.unknown[: room.unknown]):
            lines.append(_line(REMEDY[0]))
    if room.tables:
        lines += _table(detail)
    warnings = [_line(line) for line in warning_lines(detail)]
    lines += _section("Warnings", warnings[: room.warnings], len(warnings)) if room.warnings else []
    return [*lines, ""]


def _head(row: ResultRow, name: str) -> Iterator[RenderableType]:
    detail, rating = row.detail, rating_of(row)
    assistant = team_text(detail) if is_lone_assistant(detail) else None
    subject = [text for text in (name, assistant, date_text(detail.started_at)) if text]
    yield Clipped(plain_text(" · ".join(subject), "bold"))
    if detail.verdict is not None and (known := known_text(detail.verdict)):
        yield Clipped(plain_text(known), 3)
    yield Clipped(_outcome(row))
    yield Clipped(Text.assemble((_score(row, rating), "bold"), plain_text(f": {rating.rests_on}")), 2)
    yield from (Clipped(plain_text(note, "dim"), 2) for note in rating.notes[:MAX_NOTES])
    facts = [size_text(detail), tasks_text(detail.trials)]
    if detail.scoring.basis == "structure" and detail.coordination_quality is not None:
        facts.append(f"coordination: {detail.coordination_quality}")
    facts += filter(None, (detectable_text(row), cost_text(detail.cost)))
    yield Clipped(plain_text(" · ".join(facts)), 3)


def _outcome(row: ResultRow) -> Text:
    seconds, verdict = duration(1000 * min(row.time_used, 1e300)), row.detail.verdict
    if verdict is None:
        return plain_text(f"No verdict: an earlier version of Concord wrote this result, {seconds}")
    word = outcome_word(verdict)
    rest = outcome_text(verdict).removeprefix(word)
    return Text.assemble((word, _STYLES.get(word, "bold yellow")), plain_text(f"{rest}, {seconds}"))


def _score(row: ResultRow, rating: Rating) -> str:
    found = row.detail.statistics
    if rating.number is None:
        return "No score"
    known = found.score_low is not None and found.score_high is not None
    interval = f" (95 %: {found.score_low:.0f} to {found.score_high:.0f})" if known else ""
    return f"Score {rating.number} of {row.max_score:.0f}{interval}"


def _given(verdict: Verdict) -> bool:
    """Whether the row is of a given pattern, which was not played."""
    return any(each.kind is UnknownKind.STRUCTURE_ONLY for each in verdict.unknown)


def _cause(cause: Cause) -> Clipped:
    """The points that it cost, which come first, because a long text is cut at its end."""
    words = cause_text(cause)
    points = Text("    ?  " if cause.points is None else f"{cause.points:5.1f}  ", "bold")
    subject = Text(f"{printable(words.subject)} " if words.subject else "", "bold yellow")
    where = Text(f" ({printable(words.where)})" if words.where else "", "dim")
    return Clipped(Text.assemble(points, subject, printable(words.text), where), 2, indent=2)


def _line(text: str) -> Clipped:
    return Clipped(plain_text(text), 2, indent=2)


def _table(detail: Detail) -> list[RenderableType]:
    """The outcome in parts: by task of a team, or by dimension of an assistant's points. Empty for other rows."""
    if (team := section_of(detail.trials, ())) is not None:
        return ["", Text("Tasks", "bold"), Padding(tasks_table(team.tasks), (0, 0, 0, 2), expand=False)]
    results = scenario_results(detail)
    return ["", Text("Points", "bold"), Padding(points_table(results), (0, 0, 0, 2), expand=False)] if results else []


def _section(title: str, lines: Sequence[RenderableType], n: int) -> list[RenderableType]:
    """A section of lines on `n` things, whose title has their number if it shows fewer. Empty without lines."""
    counts = f" ({len(lines)} of {n:,})" if n > len(lines) else ""
    return ["", Text.assemble((title, "bold"), (counts, "dim")), *lines] if lines else []

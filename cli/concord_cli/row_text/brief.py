"""The end of a run: the verdict in at most 25 lines of a terminal, including the closing line. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from concord_cli.display_text import printable
from concord_cli.row_text.long_tables import as_rich, points_table
from concord_cli.row_view.flows import REMEDY
from concord_cli.row_view.head import Head
from concord_cli.row_view.verdict import CauseView
from concord_cli.row_view.view import RowView
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

    view: RowView
    name: str
    whole: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Renders the verdict for this screen."""
        if self.whole or not console.is_terminal:
            yield from _lines(self.view, self.name, _WHOLE)
            return
        for room in _ROOMS:
            lines = _lines(self.view, self.name, room)
            if len(console.render_lines(Group(*lines), options)) <= MAX_LINES:
                break
        yield from lines


def _lines(view: RowView, name: str, room: _Room) -> list[RenderableType]:
    verdict, lines = view.verdict, ["", *_head(view, name)]
    if verdict is not None:
        causes = [_cause(each) for each in verdict.causes]
        lines += _section("What cost points", causes[: room.causes], len(causes) + verdict.left_out)
        if not causes and view.head.score is not None and not view.of_structure:
            lines += ["", Text("Nothing cost points.", "green")]
        changes = [_line(each.text) for each in verdict.changes]
        lines += _section("What to change", changes[: room.changes], len(changes))
        unknown = verdict.unknown[: room.unknown]
        lines += _section("Not known", list(map(_line, unknown)), len(verdict.unknown))
        if verdict.unseen.intersection(unknown):
            lines.append(_line(REMEDY[0]))
    if room.tables:
        lines += _table(view)
    warnings = list(map(_line, view.warnings))
    lines += _section("Warnings", warnings[: room.warnings], len(warnings)) if room.warnings else []
    return [*lines, ""]


def _head(view: RowView, name: str) -> Iterator[RenderableType]:
    head = view.head
    subject = filter(None, (name, head.team if view.lone_assistant else None, head.date))
    yield Clipped(plain_text(" · ".join(subject), "bold"))
    if head.seen is not None:
        yield Clipped(plain_text(head.seen), 3)
    yield Clipped(_outcome(head))
    yield Clipped(Text.assemble((_score(head), "bold"), plain_text(f": {head.rests_on}")), 2)
    yield from (Clipped(plain_text(note, "dim"), 2) for note in head.score_notes[:MAX_NOTES])
    label = f"coordination: {head.label}" if view.of_structure and head.label is not None else None
    yield Clipped(plain_text(" · ".join(filter(None, (head.size, head.tasks, label, head.detectable, head.cost)))), 3)


def _outcome(head: Head) -> Text:
    said = "an earlier version of Concord wrote this result" if head.passed is None else head.passed
    style = _STYLES.get(head.outcome, "bold yellow")
    return Text.assemble((head.outcome, style), plain_text(f": {said}, {head.time_used}"))


def _score(head: Head) -> str:
    if head.score is None:
        return "No score"
    interval = "" if head.interval is None else f" (95 %: {head.interval})"
    return f"Score {head.score} of {head.max_score}{interval}"


def _cause(cause: CauseView) -> Clipped:
    """The points that it cost, which come first, because a long text is cut at its end."""
    points = Text("    ?  " if cause.points is None else f"{cause.points:5.1f}  ", "bold")
    subject = Text(f"{printable(cause.subject)} " if cause.subject else "", "bold yellow")
    where = Text(f" ({printable(cause.where)})" if cause.where else "", "dim")
    return Clipped(Text.assemble(points, subject, printable(cause.text), where), 2, indent=2)


def _line(text: str) -> Clipped:
    return Clipped(plain_text(text), 2, indent=2)


def _table(view: RowView) -> list[RenderableType]:
    """The outcome in parts: by task of a team, or by dimension of an assistant's points. Empty for other rows."""
    if view.team is not None:
        return ["", Text("Tasks", "bold"), Padding(as_rich(view.team.tasks), (0, 0, 0, 2), expand=False)]
    if view.assistant is None:
        return []
    points = points_table(view.assistant.dimensions)
    return ["", Text("Points", "bold"), Padding(points, (0, 0, 0, 2), expand=False)]


def _section(title: str, lines: Sequence[RenderableType], n: int) -> list[RenderableType]:
    """A section of lines on `n` things, whose title has their number if it shows fewer. Empty without lines."""
    counts = f" ({len(lines)} of {n:,})" if n > len(lines) else ""
    return ["", Text.assemble((title, "bold"), (counts, "dim")), *lines] if lines else []

"""The table that `concord evaluate` prints: a line for each trace, and the warnings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from concord.assessment.result_row import ResultRow
from concord.assessment.results import Grading
from concord.trace.attributes import EdgeKind
from concord_cli.display_text import counted
from concord_cli.row_view.flows import coordination_label
from concord_cli.row_view.recorded import failure_text
from concord_cli.terminal import plain_lines, plain_table

MAX_LINES: Final = 30
"""Limit of the traces, and of the warnings, that the table lists; the others are counted. They fit on a screen."""

MAX_NAMES: Final = 3
"""Limit of the agents named in a line; the others are counted."""

MAX_SHAPES: Final = 5
"""Limit of the traces whose shape is described."""

MAX_FAILURES: Final = 5
"""Limit of the failures named; the others are counted."""


_BY_NOBODY: Final = "not judged"
_BY_FILE: Final = "as the file says"


def _by_whom(grading: Grading | None) -> str:
    """Who judged a trace: `by includes, declared in the trace`."""
    if grading is None or grading.value is None:
        return _BY_NOBODY
    if grading.scorer is None:
        return _BY_FILE
    return f"by {grading.scorer}" + (f", {grading.reason}" if grading.reason else "")


def _table() -> Table:
    figures = (Column(each, justify="right") for each in ("agents", "calls", "failed", "repeated", "tokens", "score"))
    return plain_table(Column("trace", overflow="fold"), *figures)


@dataclass(slots=True)
class EvaluatedTraces:
    """What is printed of rows, each with one trial, so that the rows themselves need not stay in memory."""

    count: int = 0
    _lines: Table = field(default_factory=_table)
    _calls: int = 0
    """Of the traces without a line."""
    _have_teams: bool = False
    _judged: Counter[str] = field(default_factory=Counter)
    _shapes: list[tuple[str, str]] = field(default_factory=list)
    _failures: Counter[str] = field(default_factory=Counter)
    _kinds: Counter[str] = field(default_factory=Counter)
    _known_by: Counter[str] = field(default_factory=Counter)
    _support: Counter[str] = field(default_factory=Counter)
    _warnings: Counter[str] = field(default_factory=Counter)

    def add(self, row: ResultRow) -> None:
        """Takes the next row."""
        detail = row.detail
        calls = [call for trial in detail.trials for call in trial.interactions]
        work = next((trial.work for trial in detail.trials), None)
        n_calls, agents = sum(call.calls for call in calls), len(detail.agents)
        if self.count < MAX_LINES:
            failed, repeated = (None, None) if work is None else (work.failed, work.repeated)
            tokens = None if detail.cost is None else detail.cost.tokens
            figures = (str(agents), str(n_calls), *map(_count, (failed, repeated, tokens)), _figure(row.score, 1))
            self._lines.add_row(plain_lines(detail.assessment_id), *figures)
        else:
            self._calls += n_calls
        if self.count < MAX_SHAPES:
            self._shapes.append((detail.assessment_id, _shape(row)))
        self.count += 1
        self._judged.update(_by_whom(trial.grading) for trial in detail.trials)
        self._have_teams |= agents > 1
        for call in calls:
            self._kinds.update(call.kinds)
            self._known_by.update({} if call.known_by is None else call.known_by.known())
            self._support.update({} if call.support is None else call.support.known())
        for each in () if work is None else work.failures:
            self._failures[failure_text(each)] += each.count
        self._warnings.update(warning.partition(": ")[2] for warning in detail.warnings)

    def table(self) -> RenderableType:
        """A line for each of the first traces, and below what failed, the shapes, and the warnings, each with its
        number of traces."""
        return Group(self._lines, *self._below())

    def _below(self) -> Iterator[RenderableType]:
        if (rest := self.count - MAX_LINES) > 0:
            more = f"{counted(rest, 'more trace')} with {counted(self._calls, 'call')}"
            yield Text(f"and {more}: write the rows with -o, and `concord report` shows all on one page")
        if self._judged.keys() - {_BY_NOBODY, _BY_FILE}:
            yield Text(f"\nOutcomes: {', '.join(f'{traces} {by}' for by, traces in self._judged.most_common())}")
        if self._failures:
            yield Text("\nFailed, as the traces tell", style="bold")
            for text, times in self._failures.most_common(MAX_FAILURES):
                yield plain_lines(f"  {text}" + (f" ({times} times)" if times > 1 else ""))
            yield from _more(len(self._failures) - MAX_FAILURES)
        if self._have_teams:
            yield Text("\nShape, which earns and costs no points", style="bold")
            for trace, shape in self._shapes:
                yield plain_lines(f"  {trace}: {shape}" if self.count > 1 else f"  {shape}")
            yield from _more(self.count - MAX_SHAPES)
        if self._kinds.keys() - {EdgeKind.DELEGATION}:
            yield Text(f"\nKinds of calls: {_listed(self._kinds)}; the metrics count all of them")
        if self._known_by:
            by = f"{_listed(self._known_by)}; by a second source: {_listed(self._support)}"
            yield Text(f"\nCalls known by: {by}")
        if self._warnings:
            yield Text("\nWarnings", style="bold")
            for warning, traces in self._warnings.most_common(MAX_LINES):
                yield plain_lines(f"  {warning} ({counted(traces, 'trace')})")
            yield from _more(len(self._warnings) - MAX_LINES, " warning")


def _more(rest: int, thing: str = "") -> Iterator[Text]:
    if rest > 0:
        yield Text(f"  and {counted(rest, f'more{thing}') if thing else f'{rest} more'}")


def _shape(row: ResultRow) -> str:
    """How the team was organised, in words that rate nothing: nobody knows whether another shape had been better."""
    detail = row.detail
    parts = [f"density {_figure(detail.graph_metrics.graph_density, 2)}"]
    if (label := coordination_label(detail.coordination_quality, detail.coordination_status)) is not None:
        parts.append(f"label {label}")
    if bottlenecks := [name for found in detail.findings if found.id == "bottleneck" for name in found.agents]:
        parts.append(f"on most paths: {_names(bottlenecks)}")
    if isolated := detail.graph_metrics.isolated_agents:
        parts.append(f"isolated: {_names(isolated)}")
    return ", ".join(parts)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {calls}" for name, calls in sorted(counts.items()))


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown} +{len(names) - MAX_NAMES}"

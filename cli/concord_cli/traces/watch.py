"""`concord evaluate --watch`: a line per minute about the traces that an open collector received."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import typer

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord_cli.display_text import counted, printable
from concord_cli.errors import AssessmentError
from concord_cli.evaluate.inputs import traces_in
from concord_cli.traces.collector import KeptTrace, OpenCollector
from concord_evaluator.formats import FormatError
from concord_evaluator.offline import evaluate_trace

QUIET_S: Final = 5.0
"""The time without spans after which a trace has ended (seconds). A trace with later spans is evaluated again."""

HEADER: Final = "time      traces  agents   calls  failed  not recognised  bottlenecks"


@dataclass(slots=True)
class Watch:
    """Evaluates the traces of a collector as they end."""

    collector: OpenCollector
    config: AssessmentConfig = field(default_factory=AssessmentConfig)
    quiet_s: float = QUIET_S
    n_traces: int = 0
    _since: float = 0.0
    _done: dict[str, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Ignores the traces that the collector already has. Raises AssessmentError."""
        self._since = self.collector.traces(since_s=2.0**40).now

    def line(self) -> str:
        """The line about the traces that ended since the previous line. Raises AssessmentError."""
        found = self.collector.traces(self._since)
        ended = [each for each in found.traces if each.last_s <= found.now - self.quiet_s]
        new = [each for each in ended if self._done.get(each.trace_id) != each.last_s]
        rows, unrecognised = self._evaluated(new) if new else ([], 0)
        self._done = {each.trace_id: each.last_s for each in ended}
        open_since = [each.last_s for each in found.traces if each not in ended]
        self._since = min([*open_since, found.now - self.quiet_s])
        self.n_traces += len(rows)
        return _line(datetime.now().astimezone(), rows, unrecognised)

    def _evaluated(self, traces: Sequence[KeptTrace]) -> tuple[list[ResultRow], int]:
        """The rows of traces, and the number of those without agents."""
        rows: list[ResultRow] = []
        unrecognised = 0
        for trace in traces:
            with self.collector.downloaded([trace]) as path:
                try:
                    rows += [evaluate_trace(each, self.config) for each in traces_in(path, "otlp")]
                except FormatError:
                    unrecognised += 1
        return rows, unrecognised


def watch(url: str, every_s: float, pause: Callable[[float], None] = time.sleep) -> None:
    """Prints a line every so many seconds until interrupted. Raises AssessmentError if the collector is not open."""
    with OpenCollector(url) as collector:
        watching = Watch(collector)
        watching.begin()
        typer.echo(HEADER)
        try:
            while True:
                pause(every_s)
                try:
                    typer.echo(watching.line())
                except AssessmentError as error:
                    typer.echo(f"concord: {printable(str(error))}", err=True)
        except KeyboardInterrupt:
            traces = counted(watching.n_traces, "trace")
            typer.echo(f"\n{traces} evaluated. `concord evaluate --collector {url}` shows each of them.")


def _line(at: datetime, rows: Sequence[ResultRow], unrecognised: int) -> str:
    calls = [call for row in rows for trial in row.detail.trials for call in trial.interactions]
    agents = {agent.id for row in rows for agent in row.detail.agents}
    figures = (len(rows), len(agents), sum(call.calls for call in calls), sum(call.errors for call in calls))
    columns = "".join(f"{figure:>8}" for figure in figures)
    return f"{at:%H:%M:%S}{columns}{unrecognised:>16}  {', '.join(sorted(set(_bottlenecks(rows)))) or '-'}"


def _bottlenecks(rows: Sequence[ResultRow]) -> Iterator[str]:
    for row in rows:
        yield from (printable(name) for each in row.detail.findings if each.id == "bottleneck" for name in each.agents)

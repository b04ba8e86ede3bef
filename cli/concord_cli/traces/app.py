"""The commands under `concord traces`, and the arguments of `concord watch`."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from concord_cli.display_text import counted
from concord_cli.exits import exit_codes, terminable
from concord_cli.extras import needing
from concord_cli.options import App
from concord_cli.terminal import output_console, plain_lines

app = App(help="Traces of a collector without an assessment (CONCORD_OPEN=1).", no_args_is_help=True)

DEFAULT_COLLECTOR = "http://127.0.0.1:9010"
_WIDE = 10_000
"""Width without a terminal, so that a program finds each trace on one line."""

CollectorUrl = Annotated[str, typer.Option("--collector", metavar="URL", help="The collector's base URL.")]
Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only traces with spans since then: 10m, 2h, or an ISO date.")
]


@app.callback()
def traces() -> None:
    """Traces of a collector without an assessment (CONCORD_OPEN=1)."""


@app.command("list")
def list_traces(collector: CollectorUrl = DEFAULT_COLLECTOR, since: Since = None) -> None:
    """List the traces that an open collector has, by their last spans."""
    with exit_codes():
        from concord_cli.traces.collector import OpenCollector

        with OpenCollector(collector) as source:
            kept = source.traces(source.since(since)).traces
        table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
        table.add_column("trace", overflow="fold")
        table.add_column("spans", justify="right")
        for column in ("last spans (UTC)", "services"):
            table.add_column(column, overflow="fold")
        for each in kept:
            last = datetime.fromtimestamp(each.last_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
            table.add_row(plain_lines(each.trace_id), str(each.spans), last, plain_lines(", ".join(each.services)))
        console = output_console(_WIDE)
        if kept:
            console.print(table)
        console.print(counted(len(kept), "trace"))


def watch_collector(
    collector: CollectorUrl = DEFAULT_COLLECTOR,
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="The time between two lines.")] = 60,
) -> None:
    """Print a line per minute about the traces that an open collector gets, until Ctrl-C."""
    with exit_codes(), needing("concord watch", "evaluator"), terminable():
        from concord_cli.traces.watch import watch

        watch(collector, every)

"""The commands that read existing traces: `evaluate`, `explain`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concord_cli.commands.arguments import Evaluation
from concord_cli.commands.options import LOOPBACK
from concord_cli.exits import execute, exit_codes, terminable
from concord_cli.extras import needing

if TYPE_CHECKING:
    from concord.assessment.recorded_work import Redaction

COLLECTOR = f"http://{LOOPBACK}:9010"

Format = Annotated[str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")]


def evaluate(asked: Evaluation) -> None:
    """Measure how agents worked together in recorded traces.

    Writes one row for each trace. Reads trace files, or the traces of an open collector, and needs no service.
    """
    with needing("concord evaluate", "evaluator"):
        asked.check()
        files = asked.paths or []
        if asked.list_traces or asked.watch:
            _live(asked.collector or COLLECTOR, asked.since, asked.every if asked.watch else None)
        elif asked.agreement or asked.rejudge:
            from concord.service.logs import configure_logging
            from concord_cli.judge.agreement import calibrate_judge
            from concord_cli.judge.rejudge import rejudge_traces

            configure_logging("judge", level="WARNING")
            by, quiet = asked.rules, asked.quiet
            if asked.agreement:
                execute(calibrate_judge(files[0], asked.output, asked.samples, asked.config, rules=by, quiet=quiet))
            else:
                given = (files, asked.output, asked.samples, asked.format_name, asked.config, _redaction(asked.redact))
                execute(rejudge_traces(*given, rules=by, quiet=quiet, content=asked.judge_content))
        else:
            from concord_cli.evaluate.command import EvaluateArguments, evaluate_traces

            options = (
                files,
                asked.format_name,
                asked.config,
                asked.output,
                asked.graphml,
                asked.keep_going,
                asked.quiet,
            )
            with terminable() as reraise:
                arguments = EvaluateArguments(*options, _redaction(asked.redact), asked.expect, asked.join_sessions)
                evaluate_traces(arguments, asked.collector, asked.since, reraise)


def _live(collector: str, since: str | None, every: float | None) -> None:
    """Lists the traces that a collector has, or says every so many seconds which it got."""
    from concord_cli.traces.collector import print_traces
    from concord_cli.traces.watch import watch

    if every is None:
        print_traces(collector, since)
        return
    with terminable():
        watch(collector, every)


AskedJudge = Annotated[
    bool,
    typer.Option(
        "--judge",
        help="Also ask the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL) who caused each "
        "failure, at which step. The texts leave this machine: to the model, whose opinion changes nothing else.",
    ),
]


def explain(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Trace files or folders, or - for standard input.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each trace, one per line.")] = False,
    format_name: Format = None,
    judge: AskedJudge = False,
) -> None:
    """Explain why recorded runs failed, and which steps to read first."""
    with exit_codes(), needing("concord explain", "evaluator"):
        from concord_cli.causes.command import causes, causes_with_opinions

        if judge:
            execute(causes_with_opinions(paths, format_name, as_json=as_json))
        else:
            with terminable():
                causes(paths, format_name, as_json=as_json)


def _redaction(given: str | None) -> "Redaction | None":
    from concord.assessment.recorded_work import Redaction

    return None if given is None else Redaction(given)

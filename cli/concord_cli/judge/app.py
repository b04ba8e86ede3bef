"""The commands under `concord judge`. They import the evaluator when they run, since it takes a while to load."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from concord.assessment.recorded_work import Redaction
from concord_cli.exits import execute, exit_codes
from concord_cli.extras import needing
from concord_cli.options import App

app = App(help="Judge saved traces again, or compare the judge with labels.", no_args_is_help=True)

Samples = Annotated[int, typer.Option(min=1, max=9, help="Number of times that the model judges each trace.")]
Rules = Annotated[bool, typer.Option("--rules", help="Judge by rules, without a language model.")]
Config = Annotated[Path | None, typer.Option(help="Config file (.toml or .json), as for `concord evaluate`.")]
Redact = Annotated[Redaction | None, typer.Option(help="Drop all texts of the traces, or replace them by digests.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


@app.command()
def rejudge(
    traces: Annotated[
        list[Path], typer.Argument(metavar="TRACES", help="Files or folders to judge, or - for standard input.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Results file to write: .json for one document, .jsonl for one row per line."
        ),
    ] = None,
    samples: Samples = 1,
    rules: Rules = False,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")
    ] = None,
    config: Config = None,
    quiet: Quiet = False,
    judge_content: Annotated[
        bool,
        typer.Option("--judge-content", help="Let the texts of imported traces leave this machine: to the model."),
    ] = False,
    redact: Redact = None,
) -> None:
    """Judge saved traces again with the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL)."""
    with exit_codes(), _evaluator():
        from concord_cli.judge.rejudge import RejudgeArguments, rejudge_traces

        execute(
            rejudge_traces(
                RejudgeArguments(traces, output, samples, rules, format_name, config, quiet, judge_content, redact)
            )
        )


@app.command()
def calibrate(
    labelled: Annotated[
        Path,
        typer.Argument(
            metavar="LABELLED",
            help='JSON lines file: {"trace": path or lines, "label": "pass" or "fail"} on each line.',
        ),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write the figures to.")] = None,
    samples: Samples = 1,
    rules: Rules = False,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Compare the judge with labels: show accuracy, Cohen's kappa, false passes and false fails, with intervals."""
    with exit_codes(), _evaluator():
        from concord_cli.judge.calibrate import CalibrateArguments, calibrate_judge

        execute(calibrate_judge(CalibrateArguments(labelled, output, samples, rules, config, quiet)))


@contextmanager
def _evaluator() -> Iterator[None]:
    """Sends the judge's warnings to standard error. Raises UsageError without the evaluator's packages."""
    with needing("concord judge", "evaluator"):
        from concord.service.logs import configure_logging

        configure_logging("judge", level="WARNING")
        yield

"""The commands under `concord judge`. They import the evaluator when they run, since it takes a while to load."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes

app = typer.Typer(help="Judge saved traces anew, or hold the judge against labels.", no_args_is_help=True)

Samples = Annotated[int, typer.Option(min=1, max=9, help="How often the model judges each trace.")]
Rules = Annotated[bool, typer.Option("--rules", help="Have the rules judge, without a language model.")]
Config = Annotated[Path | None, typer.Option(help="As for `concord evaluate`; .toml or .json.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


@app.command()
def rejudge(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACES", help="Files, folders, or - for standard input.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the rows go: .json in one document, .jsonl a row a line."),
    ] = None,
    samples: Samples = 1,
    rules: Rules = False,
    format_name: Annotated[
        str | None, typer.Option("--format", help="What the files are, if that cannot be told from themselves.")
    ] = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Judge saved traces anew with the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL)."""
    with exit_codes():
        with _full_installation():
            from concord_cli.judge.rejudge import RejudgeArguments, rejudge_traces

        execute(rejudge_traces(RejudgeArguments(traces, output, samples, rules, format_name, config, quiet)))


@app.command()
def calibrate(
    labelled: Annotated[
        Path, typer.Argument(metavar="LABELLED", help='JSON lines: {"trace": a path or lines, "label": pass or fail}.')
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the figures go, as JSON.")] = None,
    samples: Samples = 1,
    rules: Rules = False,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Hold the judge against labels: accuracy, Cohen's kappa, false passes and false fails, with intervals."""
    with exit_codes():
        with _full_installation():
            from concord_cli.judge.calibrate import CalibrateArguments, calibrate_judge

        execute(calibrate_judge(CalibrateArguments(labelled, output, samples, rules, config, quiet)))


@contextmanager
def _full_installation() -> Iterator[None]:
    """Sends the judge's warnings to standard error. Raises UsageError if an import in the context fails."""
    try:
        from concord.service import configure_logging

        configure_logging("judge", level="WARNING")
        yield
    except ModuleNotFoundError as error:
        raise UsageError(f"judging needs all of Concord, concord-cli[local]: {error.name} is missing") from error

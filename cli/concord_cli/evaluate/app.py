"""The arguments of `concord evaluate`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.errors import UsageError
from concord_cli.exits import exit_codes, terminable
from concord_cli.extras import needing
from concord_cli.judge.app import Redact
from concord_cli.traces.app import Since


def evaluate_traces(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATHS", help="Files or folders to evaluate, or - for standard input."),
    ] = None,
    collector: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Evaluate the traces of this collector (CONCORD_OPEN=1) instead of files."),
    ] = None,
    since: Since = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Results file to write: .json for one document, .jsonl for one row per line."
        ),
    ] = None,
    graphml: Annotated[
        Path | None, typer.Option(help="GraphML file to write the agent graph to, or a folder for several traces.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Config file (.toml or .json) with evaluators, metrics, thresholds, evidence, roster."),
    ] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Skip files that are not traces.")] = False,
    redact: Redact = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Evaluate existing trace files, without any service: write one row per trace."""
    with exit_codes(), needing("concord evaluate", "evaluator"), terminable() as reraise:
        # Imported here, since the graph library takes a while to load and is part of a full installation only.
        from concord_cli.evaluate.command import EvaluateArguments, evaluate, evaluate_collector

        arguments = EvaluateArguments(paths or [], format_name, config, output, graphml, keep_going, quiet, redact)
        if collector is not None:
            evaluate_collector(collector, since, arguments, reraise)
        elif paths and since is None:
            evaluate(arguments, reraise)
        else:
            raise UsageError("--since needs --collector" if paths else "give files or folders, or --collector URL")

"""What `concord evaluate` does, once its arguments are read."""

import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import find_files, read_config, traces_in, without_effect
from concord_cli.evaluate.outputs import graph_writer, result_writer
from concord_cli.evaluate.progress import ReadingProgress
from concord_cli.evaluate.table import TraceLine, table_of
from concord_cli.narrator import printable
from concord_evaluator.formats import BrokenFormatError, FormatError, trace_formats
from concord_evaluator.metrics import BrokenMetricError, installed_metrics
from concord_evaluator.offline import evaluate_trace
from concord_evaluator.pipeline import BrokenEvaluatorError, installed_evaluators

WIDE = 10_000
"""Columns to print on where there is no terminal: what reads the table there wants a trace on one line."""

SPLIT = "each part is evaluated by itself (as one if they are in one file, or together on standard input)"


@dataclass(frozen=True, slots=True)
class Request:
    """The command line. `paths`: files, folders, or `-` for standard input."""

    paths: Sequence[Path]
    format_name: str | None
    config: Path | None
    output: Path | None
    graphml: Path | None
    keep_going: bool
    quiet: bool


def evaluate(request: Request, ended: Callable[[], None]) -> None:
    """Evaluates all traces of all files. Raises UsageError; AssessmentError for a file that is not what it should be.

    `ended` raises what ended the command, if a signal did, which the reading of a trace may have taken for an error.

    With `keep_going`, such files are told of and left out, and the error comes at the end.
    """
    errors = Console(stderr=True, highlight=False)
    config, files = read_config(request.config), find_files(request.paths)
    _check_plugins(request.format_name)
    if (idle := without_effect(config)) and not request.quiet:
        _tell(errors, f"{request.config}: makes no difference to traces: {', '.join(idle)}")
    evaluated: list[TraceLine] = []
    files_of: dict[str, str] = {}
    left_out = 0
    with (
        result_writer(request.output, config.agentbeats_ids) as write,
        graph_writer(request.graphml) as draw,
        ReadingProgress(_size(files), errors) as progress,
    ):
        for file in files:
            progress.reading(str(file))
            before = len(evaluated)
            try:
                for trace in traces_in(file, request.format_name, progress.advance):
                    if files_of.setdefault(trace.trace_id, str(file)) != str(file) and not request.quiet:
                        _tell(errors, f"{file}: {trace.trace_id} is in {files_of[trace.trace_id]} too; {SPLIT}")
                    row = evaluate_trace(trace, config)
                    write(row)
                    draw(row)
                    evaluated.append(TraceLine.of(row))
            except FormatError as error:
                ended()
                if not request.keep_going:
                    raise AssessmentError(str(error)) from error
                left_out += 1
                kept = len(evaluated) - before
                _tell(errors, f"left out: {error}" + (f" ({kept} traces before that are evaluated)" if kept else ""))
        if not evaluated:
            raise AssessmentError("there is no trace to evaluate")
    if not request.quiet:
        _show(evaluated, len(files) - left_out)
    if left_out:
        raise AssessmentError(f"{left_out} of {len(files)} files left out")


def _check_plugins(name: str | None) -> None:
    """Whether the installed packages can be used, and one of them has the format of that name. Raises UsageError."""
    try:
        known = trace_formats()
        installed_metrics()
        installed_evaluators()
    except (BrokenFormatError, BrokenMetricError, BrokenEvaluatorError) as error:
        raise UsageError(str(error)) from error
    if name is not None and name not in known:
        raise UsageError(f"unknown format {name}: one of {', '.join(known)}")


def _size(files: Sequence[Path]) -> int | None:
    """How much there is to read, in bytes; None where that cannot be told beforehand."""
    try:
        found = [path.stat() for path in files]
    except OSError:
        return None
    return sum(each.st_size for each in found) if all(stat.S_ISREG(each.st_mode) for each in found) else None


def _tell(console: Console, text: str) -> None:
    console.print(Text(f"concord: {printable(text)}"), soft_wrap=True)


def _show(evaluated: Sequence[TraceLine], files: int) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    console.print(table_of(evaluated))
    traces = "1 trace" if len(evaluated) == 1 else f"{len(evaluated)} traces"
    console.print(f"\n{traces} of {'1 file' if files == 1 else f'{files} files'} evaluated")

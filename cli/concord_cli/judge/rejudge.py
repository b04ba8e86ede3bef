"""`concord evaluate --rejudge`, once its arguments are parsed."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

from concord.assessment.recorded_work import Redaction
from concord.files import open_regular
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import STDIN, find_inputs, read_config, traces_in
from concord_cli.evaluate.outputs import result_writer
from concord_cli.judge.tables import judgment_of
from concord_cli.judge.trial_judge import make_judge
from concord_cli.terminal import delayed_spinner
from concord_evaluator.formats import FormatError, Source, Trace, UnknownFormatError, redactor
from concord_evaluator.offline import judge_trace

_RESULT_KEYS: Final = frozenset({"results", "detail"})


@dataclass(frozen=True, slots=True)
class RejudgeArguments:
    """The arguments of the command. `traces`: files, folders, or `-` for standard input.

    `content`: whether a model gets the texts of imported traces.
    """

    traces: list[Path]
    output: Path | None
    samples: int
    rules: bool
    format_name: str | None
    config: Path | None
    quiet: bool
    content: bool = False
    redaction: Redaction | None = None


async def rejudge_traces(arguments: RejudgeArguments) -> None:
    """Judges all traces of all files. Raises UsageError; AssessmentError for a file without a trace."""
    judge, config, files = (
        make_judge(arguments.samples, rules=arguments.rules),
        read_config(arguments.config),
        find_inputs(arguments.traces, arguments.format_name).paths,
    )
    shown = Console(highlight=False)
    redact = redactor(arguments.redaction)
    with result_writer(arguments.output, config.agentbeats_ids) as write:
        async with delayed_spinner(Console(stderr=True, highlight=False), "Judging") as say:
            for trace in _all_traces(files, arguments.format_name):
                say(f"Judging {trace.trace_id}")
                row = await judge_trace(redact(trace), config, judge, imported_content=arguments.content)
                write(row)
                if not arguments.quiet:
                    shown.print(judgment_of(row))


def _all_traces(files: list[Path], format_name: str | None) -> Iterator[Trace]:
    for file in files:
        try:
            yield from traces_in(file, format_name, lambda _: None)
        except UnknownFormatError as error:
            raise UsageError(str(error)) from error
        except FormatError as error:
            if _is_result(file):
                raise AssessmentError(
                    f"{file}: is a result, which contains no texts to judge: save traces with `concord run --traces`"
                ) from error
            raise AssessmentError(str(error)) from error


def _is_result(file: Path) -> bool:
    with suppress(OSError):
        if file != STDIN:
            with open_regular(file) as stream:
                return bool(Source(str(file), stream).head.json_keys & _RESULT_KEYS)
    return False

"""`concord evaluate --rejudge`: judges saved traces with the configured model, or by rules."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from concord.assessment.recorded_work import Redaction
from concord.assessment.result_row import ResultRow
from concord.assessment.results import CriterionVerdict, Judgment
from concord.files import open_regular
from concord.llm import NO_KEY, LLMSettings
from concord_cli.display_text import printable
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import STDIN, find_inputs, read_config, traces_in
from concord_cli.evaluate.outputs import result_writer
from concord_cli.terminal import delayed_spinner, plain_table, plain_text
from concord_evaluator.formats import FormatError, Source, Trace, UnknownFormatError, redactor
from concord_evaluator.judge import TrialJudge
from concord_evaluator.offline import judge_trace

_RESULT_KEYS: Final = frozenset({"results", "detail"})

DEADLINE_S: Final = 120.0
"""How long the model may take over one trace before the rules judge."""


def make_judge(samples: int, *, rules: bool) -> TrialJudge:
    """A judge that asks the configured model, or with `rules` asks none. Raises UsageError without an API key."""
    settings = LLMSettings() if rules else configured_model("use --rules to judge without a language model")
    return TrialJudge(None if rules else settings, samples=samples, deadline_s=DEADLINE_S)


def configured_model(otherwise: str) -> LLMSettings:
    """The settings of the model that judges. Raises UsageError without a key; `otherwise`: what to do then."""
    settings = LLMSettings()
    if not settings.available:
        raise UsageError(f"{NO_KEY}: set it, or {otherwise}")
    return settings


async def rejudge_traces(
    traces: Sequence[Path],
    output: Path | None,
    samples: int,
    format_name: str | None = None,
    config_file: Path | None = None,
    redaction: Redaction | None = None,
    *,
    rules: bool = False,
    quiet: bool = False,
    content: bool = False,
) -> None:
    """Judges all traces of files and folders, or of `-`. `content`: whether a model gets the texts of imported traces.

    Raises UsageError; AssessmentError for a file without a trace.
    """
    judge, config = make_judge(samples, rules=rules), read_config(config_file)
    files = find_inputs(traces, format_name).paths
    shown, redact = Console(highlight=False), redactor(redaction)
    with result_writer(output, config.agentbeats_ids) as write:
        async with delayed_spinner(Console(stderr=True, highlight=False), "Judging") as say:
            for trace in _all_traces(files, format_name):
                say(f"Judging {trace.trace_id}")
                row = await judge_trace(redact(trace), config, judge, imported_content=content)
                write(row)
                if not quiet:
                    shown.print(judgment_of(row))


def _all_traces(files: list[Path], format_name: str | None) -> Iterator[Trace]:
    for file in files:
        try:
            yield from traces_in(file, format_name, lambda _: None)
        except UnknownFormatError as error:
            raise UsageError(str(error)) from error
        except FormatError as error:
            if is_result(file):
                raise AssessmentError(
                    f"{file}: is a result, which contains no texts to judge: save traces with `concord run --traces`"
                ) from error
            raise AssessmentError(str(error)) from error


def is_result(file: Path) -> bool:
    """Whether a file is a results file, or one of rows."""
    with suppress(OSError):
        if file != STDIN:
            with open_regular(file) as stream:
                return bool(Source(str(file), stream).head.json_keys & _RESULT_KEYS)
    return False


def judgment_of(row: ResultRow) -> RenderableType:
    """The judgment of a row with one trial: points, verdicts, agreement, and reasoning."""
    judge = row.detail.judge
    title = Text(printable(row.detail.assessment_id), style="bold")
    if judge is None:
        return Group(title, "  not judged", "")
    title.append(f" · {' · '.join(map(printable, _headline(judge)))}", style="not bold")
    body: list[RenderableType] = [_verdicts(judge.criteria)] if judge.criteria else []
    body += map(plain_text, _reasoning(judge))
    return Group(title, Padding(Group(*body), (0, 0, 1, 2)))


def _headline(judge: Judgment) -> Iterator[str]:
    yield f"judged by {judge.model}" if judge.source == "llm" else "judged by rules"
    yield "no points" if judge.overall_score is None else f"{judge.overall_score:.2f} of 1"
    yield "task unjudged" if judge.task_success is None else f"task {judge.task_success:.2f}"
    if judge.agreement is not None:
        yield f"{judge.samples} samples agree by {judge.agreement:.0%}"


def _verdicts(criteria: list[CriterionVerdict]) -> Table:
    table = plain_table("criterion", "verdict", "points")
    for each in criteria:
        verdict = each.verdict.replace("_", " ") + ("" if each.verified else ": no quote supports it")
        table.add_row(each.id.replace("_", " "), verdict, "-" if each.points is None else f"{each.points:.1f}")
    return table


def _reasoning(judge: Judgment) -> Iterator[str]:
    if judge.reasoning:
        yield judge.reasoning
    yield from (f"+ {strength}" for strength in judge.strengths)
    yield from (f"- {weakness}" for weakness in judge.weaknesses)
    if judge.reason:
        yield f"({judge.reason})"

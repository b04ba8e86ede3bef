"""`concord explain`, once its arguments are parsed."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic_core import to_jsonable_python
from rich.console import Console, Group, RenderableType
from rich.text import Text

from concord.assessment.observations import observation_text
from concord.assessment.outcome import outcome_of
from concord.assessment.verdict import Cause, Evidence
from concord.assessment.verdict_text import deed_text
from concord_cli.display_text import counted, on_one_line
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import find_inputs, traces_in
from concord_cli.terminal import WIDE, output_console, plain_lines
from concord_evaluator.diagnosis import TraceDiagnosis, diagnose
from concord_evaluator.formats import FormatError

MAX_SHOWN: Final = 5
"""Causes, observations and steps of a trace that are printed; JSON has all."""


def causes(paths: Sequence[Path], format_name: str | None, *, as_json: bool) -> None:
    """Prints the diagnosis of each trace of files and folders, as text or as a JSON object on each line.

    Raises UsageError, also for an unreadable file, after the traces before it; AssessmentError without any trace.
    """
    console = output_console(WIDE)
    shown = 0
    for path in find_inputs(paths, format_name).paths:
        try:
            for trace in traces_in(path, format_name):
                _show(console, diagnose(trace), as_json=as_json)
                shown += 1
        except FormatError as error:
            raise UsageError(str(error)) from error
    if not shown:
        raise AssessmentError("no trace found in the input")


def _show(console: Console, found: TraceDiagnosis, *, as_json: bool) -> None:
    if as_json:
        told = {"verdict": outcome_of(found.outcome), **to_jsonable_python(found)}
        console.print(Text(json.dumps(told)), soft_wrap=True)  # ASCII: no terminal obeys it
    else:
        console.print(Group(*_lines(found)))


def _lines(found: TraceDiagnosis) -> Iterator[RenderableType]:
    part = "" if found.outcome in (0.0, 1.0, None) else f", outcome {found.outcome:.2f}"
    yield plain_lines(on_one_line(f"{found.trace_id}: {outcome_of(found.outcome)}{part}"))
    yield from _block("What failed, or cost points", [(_cause(each), each.evidence) for each in found.causes])
    alone = [each for each in found.observations if each.cause is None]
    yield from _block(
        "Observed; nobody has shown that it cost anything",
        [(observation_text(each), each.evidence) for each in alone],
    )
    yield from _block(
        "To read first (not blame; unproven)",
        [(f"{each.step_id} {each.agent}: {each.reason}", ()) for each in found.reading],
    )
    if not (found.causes or alone or found.reading):
        yield Text("  Nothing was observed")


def _cause(cause: Cause) -> str:
    points = "" if cause.points is None else f", {cause.points:.1f} points"
    return f"{deed_text(cause)} ({cause.certainty}{points})"


def _block(head: str, entries: Sequence[tuple[str, Sequence[Evidence]]]) -> Iterator[RenderableType]:
    if not entries:
        return
    yield Text(f"  {head}")
    for text, evidence in entries[:MAX_SHOWN]:
        yield plain_lines(f"    {on_one_line(text)}")
        for each in evidence:
            source = " ".join(part for part in (each.step_id, each.agent) if part)
            yield plain_lines(f"      {on_one_line(source)}: {on_one_line(each.text)}")
    if len(entries) > MAX_SHOWN:
        yield Text(f"    and {counted(len(entries) - MAX_SHOWN, 'other')} (--json lists all)")

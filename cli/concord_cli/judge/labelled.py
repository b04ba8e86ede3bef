"""Labelled traces: JSON lines, each with a trace (a path, or its own lines) and a label."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from concord.files import read_bounded
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import traces_in
from concord_cli.scenario.scenario_file import reasons
from concord_evaluator.formats import FormatError, Source, Trace, read_traces

MAX_BYTES: Final = 64 * 1024 * 1024
"""Of a file with labels, which may hold the traces as well."""

Label = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class LabelledTrace:
    """A trace, its label, and its line number in the file."""

    line: int
    trace: Trace
    label: Label


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    trace: str | Annotated[list[dict[str, JsonValue]], Field(min_length=1)]
    label: Label
    task: str | None = None
    answer: str | None = None

    def of(self, trace: Trace) -> Trace:
        """The trace with the line's task and answer, and without the trace's own record of success."""
        task = trace.task if self.task is None else self.task
        return replace(trace, task=task, answer=trace.answer if self.answer is None else self.answer, task_success=None)


def read_labelled(path: Path) -> list[LabelledTrace]:
    """The labelled traces of a file; paths in it are relative to its folder.

    Raises UsageError if the file is invalid, AssessmentError if a trace is.
    """
    try:
        lines = read_bounded(path, MAX_BYTES).splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    found = [_labelled(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise UsageError(f"{path}: it contains no labelled trace")
    return found


def _labelled(path: Path, number: int, text: bytes) -> LabelledTrace:
    try:
        line = _Line.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(f"{path}:{number}: {reasons(error)}") from error
    try:
        traces = list(_traces(path, number, line))
    except FormatError as error:
        raise AssessmentError(f"{path}:{number}: {error}") from error
    if len(traces) != 1:
        raise AssessmentError(f"{path}:{number}: expected one trace for the label, found {len(traces)}")
    return LabelledTrace(number, line.of(traces[0]), line.label)


def _traces(path: Path, number: int, line: _Line) -> Iterator[Trace]:
    if isinstance(line.trace, str):
        return traces_in(path.parent / line.trace, None, lambda _: None)
    inline = "\n".join(map(json.dumps, line.trace)).encode()
    return read_traces(Source(f"{path.name}:{number}", BytesIO(inline)), "concord")

"""One assessment of a project: its course, and how it ended."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jsonschema

from concord.assessment.result_row import ResultRow
from lab.containers.project import ROOT, Project, read_results

SCHEMA: Final[Mapping[str, Any]] = json.loads((ROOT / "data/schemas/results.schema.json").read_text())
BEGUN: Final = "trial 1 of"
"""What the client writes when the first trial begins."""

_LOOK_S: Final = 0.1


class UnclearError(Exception):
    """The assessment did not end, or ended in a way that no client can use. The text says how."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row that matches its schema, or the text of a failure; and the duration (seconds)."""

    row: ResultRow | None
    failure: str
    seconds: float

    @property
    def text(self) -> str:
        """A summary on one line."""
        if self.row is None:
            return f"failed: {self.failure}"
        score = "none" if self.row.score is None else f"{self.row.score:.0f}"
        detail = self.row.detail
        states = ", ".join(sorted({str(trial.state) for trial in detail.trials}))
        lost = f", {len(detail.infrastructure)} under infrastructure" if detail.infrastructure else ""
        trials = f"{len(detail.trials)} trial{'' if len(detail.trials) == 1 else 's'}"
        return f"row: score {score}, {trials} ({states}){lost}"


def assess(project: Project, log: Path, limit_s: float, meanwhile: Callable[[Project], None] | None) -> Outcome:
    """Runs one assessment; calls `meanwhile` when it has begun. Raises UnclearError, EngineError."""
    began = time.monotonic()
    client = project.client(log)
    try:
        if meanwhile is not None:
            while client.poll() is None and BEGUN not in log.read_text(errors="replace"):
                _check(began, limit_s)
                time.sleep(_LOOK_S)
            time.sleep(1)  # into the trial
            meanwhile(project)
        while client.poll() is None:
            _check(began, limit_s)
            time.sleep(_LOOK_S)
    finally:
        _end(client, project)
    return _outcome(project, log, client.returncode, time.monotonic() - began)


def _check(began: float, limit_s: float) -> None:
    if time.monotonic() - began > limit_s:
        raise UnclearError(f"neither a row nor a failure within {limit_s:.0f} s")


def _end(client: subprocess.Popen[bytes], project: Project) -> None:
    if client.poll() is None:
        project.remove_client()
        client.kill()
        client.wait()


def _outcome(project: Project, log: Path, code: int, seconds: float) -> Outcome:
    if code != 0:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
        at = next((i for i, line in enumerate(lines) if line.startswith("concord:")), None)
        if at is None:
            raise UnclearError(f"the client ended with code {code} without a reason: {lines[-1:]}")
        return Outcome(None, " ".join(lines[at:]).removeprefix("concord: "), seconds)
    try:
        document = read_results(project.results)
        jsonschema.validate(document, SCHEMA)
        [row] = document["results"]
    except (OSError, ValueError, jsonschema.ValidationError) as error:
        raise UnclearError(f"results.json does not fit its schema: {str(error).splitlines()[0]}") from error
    return Outcome(ResultRow.model_validate(row), "", seconds)

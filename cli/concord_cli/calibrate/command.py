"""`concord run --models`, once its arguments are parsed: plays the models in turn, and goes on where it was."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import ValidationError

from concord.assessment.result_row import ResultRow
from concord.suite import commitment
from concord.suite.draw import SECRET_BYTES
from concord_cli.calibrate.models import RESERVED, Model, ModelsFile, read_models
from concord_cli.calibrate.table import Calibration, Entry, figures_of, markdown
from concord_cli.errors import AssessmentError, IncompleteError, UsageError
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.results_file import read_rows
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.tasks.secrets import revealed_secret
from concord_cli.terminal import ProgressLog

TABLE: Final = f"{RESERVED}.md"
DOCUMENT: Final = f"{RESERVED}.json"


class Play(Protocol):
    """Assesses a scenario's team, and writes the results file with its secrets and bundle beside it."""

    async def __call__(self, scenario: ScenarioFile, task_secret: str, results: Path) -> None:
        """Raises AssessmentError."""


async def calibrate(path: Path, folder: Path, play: Play, progress: ProgressLog) -> None:
    """Plays each model that has no row yet with these settings.

    After each model, the table and the document are written. Raises UsageError, and IncompleteError if a model has no
    row.
    """
    file = read_models(path)
    prepare_folder(folder / DOCUMENT)
    earlier = {each.name: each for each in _read(folder / DOCUMENT).entries}
    rows = {each.name: row for each in file.models if (row := _kept(file, each, earlier, folder)) is not None}
    secret = _secret(rows, folder)
    entries: list[Entry] = []
    for number, model in enumerate(file.models, start=1):
        place = f"{number} of {len(file.models)}: {model.name}"
        if model.name in rows:
            progress.log(f"{place}: has its row already")
            entries.append(_entry(file, model, figures_of(rows[model.name])))
        else:
            progress.log(place)
            entries.append(await _played(file, model, secret, folder, play, progress))
        calibration = Calibration(task_secret_sha256=commitment(bytes.fromhex(secret)), entries=entries)
        write_text(folder / DOCUMENT, calibration.model_dump_json(indent=2) + "\n")
        write_text(folder / TABLE, markdown(calibration))
    progress.clear_status()
    progress.log(f"The table is in {folder / TABLE}, and all of it in {folder / DOCUMENT}")
    if without := [each.name for each in entries if each.error is not None]:
        raise IncompleteError(f"no row: {', '.join(without)}. Run the same command again to try once more")


def _read(document: Path) -> Calibration:
    if not document.exists():
        return Calibration()
    try:
        return Calibration.model_validate_json(document.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(f"{document}: not a calibration of this version: choose another folder with -o") from error


def _kept(file: ModelsFile, model: Model, earlier: Mapping[str, Entry], folder: Path) -> ResultRow | None:
    """The row that a model has of an earlier run with the same settings."""
    entry = earlier.get(model.name)
    if entry is None or entry.error is not None or entry.settings_sha256 != file.digest(model):
        return None
    path = folder / entry.results
    return read_rows(path)[0] if path.exists() else None


def _secret(rows: Mapping[str, ResultRow], folder: Path) -> str:
    """The secret of the tasks: of the rows that are there, so that all models play the same tasks, else a new one."""
    found = {revealed_secret(row, folder) for row in rows.values() if row.detail.task_secret_sha256 is not None}
    if len(found) > 1:
        raise UsageError(f"{folder}: its rows are of different tasks: choose another folder with -o")
    return found.pop() if found else os.environ.get("CONCORD_TASK_SECRET") or secrets.token_hex(SECRET_BYTES)


async def _played(
    file: ModelsFile, model: Model, secret: str, folder: Path, play: Play, progress: ProgressLog
) -> Entry:
    """The line of a model that plays now. A model that has no row does not keep the others from theirs."""
    results = folder / f"{model.name}.json"
    try:
        await play(file.scenario(model), secret, results)
    except AssessmentError as error:
        progress.log(f"{model.name}: {error}", "red")
        return _entry(file, model, {"error": str(error).splitlines()[0][:300]})
    return _entry(file, model, figures_of(read_rows(results)[0]))


def _entry(file: ModelsFile, model: Model, known: Mapping[str, Any]) -> Entry:
    name, digest = model.name, file.digest(model)
    return Entry(name=name, model=model.model, settings_sha256=digest, results=f"{name}.json", **known)


def local_play(progress: ProgressLog) -> Play:
    """Plays in a stack of its own on this machine."""

    async def play(scenario: ScenarioFile, task_secret: str, results: Path) -> None:
        from concord_cli.assessment_client import assess
        from concord_cli.kept_files import keep_files
        from concord_cli.results_file import write_results
        from concord_cli.stack.local import free_stack_ports, local_stack

        await _reached(scenario)
        async with local_stack(scenario, free_stack_ports(scenario), progress, task_secret=task_secret) as stack:
            asking = assess(stack.plan.gateway_url, stack.plan.agent_urls, scenario.config, progress.status)
            rows = await stack.supervisor.guard(asking)
            write_results(results, {}, rows)
            keep_files(stack.folder.path / "output", rows, results)

    return play


async def _reached(scenario: ScenarioFile) -> None:
    """Asks the model one thing. Raises AssessmentError if it cannot: its score would be that of its endpoint."""
    from concord.llm import EmptyCompletionError, LLMSettings, LLMUnavailableError, llm_client

    [participant] = scenario.participants
    prefix = "AGENTBEATS_LLM_"
    given = {name.removeprefix(prefix).lower(): value for name, value in participant.env.items() if value}
    try:
        async with llm_client(LLMSettings.model_validate(given)) as llm:
            await llm.complete("", "Reply with the word yes.", max_tokens=100)
    except EmptyCompletionError:
        return  # a model that thinks may need more tokens for a word
    except LLMUnavailableError as error:
        raise AssessmentError(f"the model's endpoint does not answer: {error}") from error

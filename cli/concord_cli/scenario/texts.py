"""Labelled texts, and what criteria make of them: for authors who want to know how often the rules err."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import typer
from pydantic import BaseModel, ConfigDict

from concord_assistant.evaluation.texts import NoTextError, verdict_on
from concord_assistant.scenario.loader import ScenarioError, load_scenario, scenario_folders
from concord_assistant.scenario.schema import EvaluationCriterion, ScenarioConfig
from concord_cli.display_text import printable
from concord_cli.errors import UsageError
from concord_cli.input_files import content_of, validated

MAX_BYTES: Final = 16 * 2**20
MAX_SHOWN: Final = 100
"""Characters of a text in a line of the output."""


class LabelledText(BaseModel):
    """A text, and whether it says what a criterion of a scenario asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    criterion: str
    text: str
    label: Literal["right", "wrong"]


def print_verdicts(file: Path, folder: Path) -> None:
    """Prints the verdicts that differ from the labels, and the rates. Raises UsageError."""
    labelled = list(_labelled(file))
    if not labelled:
        raise UsageError(f"{file}: it contains no text")
    criteria = _criteria(folder, {each.scenario for _, each in labelled})
    counts: Counter[tuple[str, str]] = Counter()
    for line, each in labelled:
        found = criteria.get((each.scenario, each.criterion))
        if found is None:
            raise UsageError(f"{file}:{line}: there is no criterion {each.criterion} in {folder / each.scenario}")
        try:
            verdict = verdict_on(*found, each.text)
        except NoTextError as error:
            raise UsageError(f"{file}:{line}: {error}") from error
        counts[each.label, verdict.understood] += 1
        if verdict.understood != each.label:
            told = f"{line}: {each.label} text is {verdict.understood.replace('_', ' ')}: {verdict.why}"
            typer.echo(printable(f"{told} | {each.scenario}/{each.criterion} | {each.text[:MAX_SHOWN]}"))
    for text in _rates(counts):
        typer.echo(text)


def _rates(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    n_right, n_wrong = (sum(n for (label, _), n in counts.items() if label == each) for each in ("right", "wrong"))
    unclear = counts["right", "not_understood"] + counts["wrong", "not_understood"]
    yield f"{n_right + n_wrong} texts, {n_right} right and {n_wrong} wrong"
    yield f"wrong ones credited: {_share(counts['wrong', 'right'], n_wrong)}"
    yield f"right ones refused: {_share(counts['right', 'wrong'], n_right)}"
    yield (
        f"not understood: {_share(unclear, n_right + n_wrong)}: {counts['right', 'not_understood']} right and "
        f"{counts['wrong', 'not_understood']} wrong"
    )


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def _criteria(folder: Path, names: set[str]) -> dict[tuple[str, str], tuple[ScenarioConfig, EvaluationCriterion]]:
    folders = scenario_folders(folder)
    try:
        loaded = {name: load_scenario(folders[name]) for name in sorted(names & folders.keys())}
    except ScenarioError as error:
        raise UsageError(str(error)) from error
    return {
        (name, criterion.criterion_id): (scenario.config, criterion)
        for name, scenario in loaded.items()
        for criterion in scenario.config.criteria
    }


def _labelled(file: Path) -> Iterator[tuple[int, LabelledText]]:
    """The texts with the lines on which they begin."""
    try:
        content = content_of(file, MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: is not UTF-8") from error
    for line, row in _csv_rows(content) if file.suffix == ".csv" else _json_rows(file, content):
        yield line, validated(f"{file}:{line}", row, LabelledText)


def _csv_rows(content: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader, begins = csv.DictReader(io.StringIO(content)), 2
    for row in reader:
        yield begins, row
        begins = reader.line_num + 1


def _json_rows(file: Path, content: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{file}:{number}: is not JSON: {error}") from error

"""What an audit is of: a scenario file, a suite, the folder of an assistant's scenario, or a folder of any of these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from concord.assessment import AssessmentConfig, Mode, TaskSpec
from concord.assessment.suite_tasks import requested_tasks
from concord_assistant.office.published import MANIFEST, OFFICE_1
from concord_assistant.scenario.loader import scenario_folders
from concord_assistant.scenario.places import SCENARIO_FILE
from concord_cli.errors import UsageError
from concord_cli.scenario.office import published_names
from concord_cli.scenario.scenario_file import ScenarioFile, check_config, read_scenario
from concord_gateway.intake import STANDARD_MANIFEST

LONE: Final[Mapping[str, str]] = {"agent": "http://127.0.0.1:1/"}
"""The participant of a suite that no scenario names a team for."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of a config, and the participants that would get them. `scenario`: the file that names them."""

    name: str
    config: AssessmentConfig
    tasks: Sequence[TaskSpec]
    participants: Mapping[str, str]
    scenario: ScenarioFile | None = None


@dataclass(frozen=True, slots=True)
class AssistantScenario:
    """The folder of an assistant's scenario; without one, the published day of this name."""

    name: str
    folder: Path | None


Target = Tasks | AssistantScenario


def targets_of(named: str, scenarios: Path) -> list[Target]:
    """The targets that an argument names. `scenarios`: the folder of those that a file names. Raises UsageError."""
    path = Path(named)
    if not path.exists():
        if path.suffix:
            raise UsageError(f"{named}: there is no such file")
        if named in (MANIFEST, *OFFICE_1):
            return [AssistantScenario(each, None) for each in published_names(named)]
        return [_suite(named)]
    found = list(_in_folder(path) if path.is_dir() else _in_file(path, scenarios))
    if not found:
        raise UsageError(f"{named}: there is neither a {SCENARIO_FILE} nor a scenario file (.toml) in it")
    return found


def _suite(name: str) -> Tasks:
    config = AssessmentConfig(suite=[name])
    try:
        return Tasks(name, config, _without_controls(requested_tasks(config)), LONE)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _in_folder(folder: Path) -> Iterator[Target]:
    if (folder / SCENARIO_FILE).exists():
        yield AssistantScenario(folder.name, folder)
        return
    yield from (AssistantScenario(name, each) for name, each in scenario_folders(folder).items())
    for file in sorted(folder.glob("*.toml")):
        yield from _in_file(file, folder)


def _in_file(file: Path, scenarios: Path) -> Iterator[Target]:
    scenario = read_scenario(file)
    check_config(file, scenario)
    request = scenario.request
    if request.mode is Mode.GROUND_TRUTH:
        raise UsageError(f"{file}: a given pattern has no answer, so that nothing is to be audited")
    try:
        tasks = _without_controls(requested_tasks(request.config, request.participants))
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from error
    addresses = {name: str(url) for name, url in request.participants.items()}
    of_teams = [each for each in tasks if each.scenario is None] if tasks else _suite(STANDARD_MANIFEST).tasks
    yield Tasks(file.stem, request.config, of_teams, addresses, scenario)
    folders = scenario_folders(scenarios)
    for task in tasks:
        if task.scenario is not None:
            if task.scenario not in folders and task.scenario not in OFFICE_1:
                raise UsageError(f"{file}: there is no scenario {task.scenario!r} in {scenarios}")
            yield AssistantScenario(task.scenario, folders.get(task.scenario))


def _without_controls(tasks: Sequence[TaskSpec]) -> list[TaskSpec]:
    return [task for task in tasks if not task.is_control]

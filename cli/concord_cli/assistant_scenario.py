"""Scenarios of assistants, as folders: to run one, to check them, and to import those of AgentDojo."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer

from concord.llm import LLMSettings
from concord_cli.display_text import printable
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.scenario import Participant, Scenario

ROLE: Final = "assistant"


def assistant_scenario(folder: Path, endpoint: str | None) -> Scenario:
    """The assessment of the assistant at `endpoint`, or of Concord's own one, in the scenario of a folder.

    Raises UsageError.
    """
    from concord_assistant.scenario.loader import ScenarioError, load_scenario

    try:
        load_scenario(folder)
    except ScenarioError as error:
        raise UsageError(str(error)) from error
    try:
        agent = {"cmd": _own_assistant()} if endpoint is None else {"endpoint": endpoint}
        participant = Participant.model_validate({"role": ROLE, **agent})
    except ValueError as error:
        raise UsageError(f"--endpoint: {endpoint} is not the URL of an agent") from error
    return Scenario(participants=[participant], config={"scenario": folder.resolve().name})


def _own_assistant() -> str:
    """The command of Concord's assistant: the one with a model if a key is set, else the rule-based one."""
    llm = LLMSettings()
    mode = "model" if llm.available and llm.provider == "openai" else "rules"
    return f"python -m concord_purple --assistant {mode}"


def lint_folders(folders: Sequence[Path]) -> None:
    """Prints the faults of scenarios, one per line. Raises AssessmentError if there are any."""
    from concord_assistant.scenario.lint import lint
    from concord_assistant.scenario.loader import ScenarioError, load_scenario

    faults = 0
    for folder in folders:
        try:
            found = [f"{folder}: {each.field}: {each.message} ({each.rule})" for each in lint(load_scenario(folder))]
        except ScenarioError as error:
            found = [str(error)]
        faults += len(found)
        for line in found or [f"{folder}: no faults"]:
            typer.echo(printable(line))
    if faults:
        raise AssessmentError(f"{faults} faults in {len(folders)} scenarios")


def import_agentdojo(folder: Path, python: Path, attack: str | None) -> None:
    """Writes AgentDojo's tasks as scenarios, and prints those that are left out. Raises UsageError, AssessmentError."""
    from concord_assistant.agentdojo.scenarios import LICENCE_FILE, chosen, imported, left_out, write_scenarios
    from concord_assistant.agentdojo.suite import ATTACKS, SuiteError, export_suite, parse_suite

    if attack is not None and attack not in ATTACKS:
        raise UsageError(f"--attack: {attack} is none of {', '.join(ATTACKS)}")
    try:
        suite = parse_suite(asyncio.run(export_suite(python, attack or ATTACKS[0])))
    except SuiteError as error:
        raise UsageError(str(error)) from error
    scenarios = [imported(suite, *tasks) for tasks in chosen(suite, attacked=attack is not None)]
    try:
        write_scenarios(folder, suite, scenarios)
    except OSError as error:
        raise AssessmentError(f"{error.filename}: {error.strerror}") from error
    for task, reason in left_out(suite).items():
        typer.echo(f"{task} is left out, because the environment has no files: it {reason}")
    typer.echo(
        f"{len(scenarios)} scenarios of AgentDojo {suite.package_version}, benchmark {suite.benchmark_version}, are in "
        f"{printable(str(folder))}, each with AgentDojo's licence in {LICENCE_FILE}"
    )

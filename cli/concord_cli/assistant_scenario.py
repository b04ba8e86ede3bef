"""Scenarios of assistants, as folders: what `concord run` makes of one, and what `concord scenario lint` says of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer

from concord_cli.display_text import printable
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.scenario import Participant, Scenario

ROLE: Final = "assistant"

RULE_BASED: Final = "python -m concord_purple --assistant rules"
"""The assistant that runs if the user names none: it needs no model."""


def assistant_scenario(folder: Path, endpoint: str | None) -> Scenario:
    """The assessment of the assistant at `endpoint`, or of the rule-based one, in the scenario of a folder.

    Raises UsageError.
    """
    from concord_assistant.scenario.loader import ScenarioError, load_scenario

    try:
        load_scenario(folder)
    except ScenarioError as error:
        raise UsageError(str(error)) from error
    try:
        agent = {"cmd": RULE_BASED} if endpoint is None else {"endpoint": endpoint}
        participant = Participant.model_validate({"role": ROLE, **agent})
    except ValueError as error:
        raise UsageError(f"--endpoint: {endpoint} is not the URL of an agent") from error
    return Scenario(participants=[participant], config={"scenario": folder.resolve().name})


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

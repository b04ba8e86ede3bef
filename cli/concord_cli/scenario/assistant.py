"""Scenarios of assistants, as folders: to run one, and to check them."""

import re
import shlex
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from concord.llm import LLMSettings
from concord_cli.display_text import counted, printable
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.scenario.scenario_file import Participant, ScenarioFile

if TYPE_CHECKING:
    from concord_assistant.green_agent import GreenAgent

ASSISTANT: Final = "assistant"
ORACLE: Final = "oracle"
"""The role of an oracle, and so its id in the row, which must not read as that of an assistant."""

ORACLE_COMMAND: Final = "python -m concord_purple --assistant oracle --oracle"

ORACLE_PLAYS: Final = (
    "No language model is configured, so the oracle plays: it performs the actions that the scenario's oracle.json "
    "lists. To assess an assistant, pass its address with --assistant, or set AGENTBEATS_LLM_API_KEY"
)
ORACLE_PLAYED: Final = "The oracle played. The score checks the scenario and measures no assistant"


def assistant_scenario(folder: Path, endpoint: str | None) -> ScenarioFile:
    """The assessment of the assistant at `endpoint`, or of Concord's own one, in the scenario of a folder.

    Concord's own one is the one with a model. Where none is configured, the scenario's oracle takes its place. Raises
    UsageError.
    """
    from concord_assistant.scenario.loader import ScenarioError, load_scenario

    try:
        load_scenario(folder)
    except ScenarioError as error:
        raise UsageError(str(error)) from error
    try:
        player = _own(folder) if endpoint is None else participant(ASSISTANT, endpoint=endpoint)
    except ValueError as error:
        raise UsageError(f"--assistant: {endpoint} is not the URL of an agent") from error
    return ScenarioFile(participants=[player], config={"scenario": folder.resolve().name})


def is_played_by_oracle(scenario: ScenarioFile) -> bool:
    """Whether the oracle takes the place of an assistant."""
    return any(each.cmd is not None and each.cmd.startswith(ORACLE_COMMAND) for each in scenario.participants)


def own_assistant() -> Participant | None:
    """Concord's own assistant, None if no language model is configured."""
    llm = LLMSettings()
    if not llm.available or llm.provider != "openai":
        return None
    return participant(ASSISTANT, cmd="python -m concord_purple --assistant model")


def _own(folder: Path) -> Participant:
    """Concord's assistant: the one with a model if a key is set, else the scenario's oracle. Raises UsageError."""
    if (own := own_assistant()) is not None:
        return own
    oracle = folder.resolve() / "oracle.json"
    if not oracle.is_file():
        raise UsageError(
            f"{folder}: there is nobody to assess: pass an assistant's address with --assistant, set "
            "AGENTBEATS_LLM_API_KEY, or write an oracle.json for the oracle to play"
        )
    return participant(ORACLE, cmd=f"{ORACLE_COMMAND} {shlex.quote(str(oracle))}")


def participant(role: str, **agent: str) -> Participant:
    """An agent by its address (`endpoint`) or its command (`cmd`). Raises ValueError."""
    return Participant.model_validate({"role": role, **agent})


async def lint_folders(folders: Sequence[Path], *, play: bool) -> None:
    """Prints the faults of scenarios, one per line. Raises AssessmentError if there are any.

    `play`: whether the null and the dump assistant play the scenarios that load, to find the points that they get.
    """
    faults = 0
    agent: GreenAgent | None = None
    async with AsyncExitStack() as stack:
        if play:
            from concord_cli.scenario.play import stage

            agent = await stack.enter_async_context(stage())
        for number, folder in enumerate(folders, start=1):
            if play:
                typer.echo(printable(f"{number} of {len(folders)}: playing {folder}"), err=True)
            found, unchecked = await _faults(folder, agent)
            faults += len(found)
            for line in [
                *(found or [f"{folder}: no faults"]),
                *(f"{folder}: not checked: {each}" for each in unchecked),
            ]:
                typer.echo(printable(line))
    if faults:
        raise AssessmentError(f"{counted(faults, 'fault')} in {counted(len(folders), 'scenario')}")


async def _faults(folder: Path, agent: "GreenAgent | None") -> tuple[list[str], list[str]]:
    """The faults of a scenario, and what could not be checked, as lines. With `agent`, the scenario is played, too."""
    from concord_assistant.scenario.lint import lint
    from concord_assistant.scenario.loader import ScenarioError, load_scenario
    from concord_assistant.scenario.places import place_of

    try:
        scenario = load_scenario(folder)
    except ScenarioError as error:
        return [str(error)], []
    findings, unchecked = lint(scenario), list[str]()
    if agent is not None:
        from concord_cli.scenario.play import played

        play = await played(agent, scenario)
        findings, unchecked = findings + play.faults, play.unchecked
    lines = [f"{place_of(folder, each.field)}: {each.field}: {each.message} ({each.rule})" for each in findings]
    return lines, unchecked


def new_folder(folder: Path, day: str | None) -> None:
    """Writes a skeleton, or a published day, and prints its files. Raises UsageError."""
    from concord_assistant.scenario.skeleton import write_skeleton

    if re.fullmatch(r"[a-z][a-z0-9_]{0,99}", folder.name) is None:
        raise UsageError(f"{folder.name}: a scenario's name has small letters, digits and underscores")
    try:
        files = write_skeleton(folder, day)
    except KeyError as error:
        raise UsageError(f"--day: no day in the office is called {day}") from error
    except FileExistsError as error:
        raise UsageError(f"{folder}: is there already") from error
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
    for file in files:
        typer.echo(printable(str(file)))
    typer.echo(printable(f"Check it with: concord scenario lint --play {shlex.quote(str(folder))}"))

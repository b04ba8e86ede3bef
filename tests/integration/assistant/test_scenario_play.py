"""`concord scenario lint --play`: assistants that do not do the task play a scenario in a real environment process."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from concord_assistant.green_agent import GreenAgent
from concord_assistant.scenario.loader import load_scenario
from concord_assistant.scenario.skeleton import write_skeleton
from concord_cli.main import app
from concord_cli.scenario.play import Played, played
from tests.unit.assistant.scenario.folders import STATE, criterion, write

NOTHING_SENT: dict[str, Any] = criterion(
    criterion_id="nothing_sent",
    evaluator_id="item_exists",
    params={"modality": "sms", "where": {}, "min_count": 0, "max_count": 0},
)
TOLD: dict[str, Any] = criterion(criterion_id="told", evaluator_id="user_told", params={"contains": ["at noon"]})
TIDY: dict[str, Any] = criterion(criterion_id="tidy", evaluator_id="writes_to_user")
WRITES_TO_USER = """
from src.green.scenarios.schema import EvalResult


async def writes_to_user(ctx, params):
    wrote = any(entry.action == "chat.send_message" for entry in ctx.action_log)
    return EvalResult(score=5 if wrote else 0, max_score=5, explanation="")


async def asks_a_model(ctx, params):
    return EvalResult(score=5 if ctx.llm else 0, max_score=5, explanation="")
"""


async def test_a_criterion_that_is_met_by_not_acting_is_named(green_agent: GreenAgent, tmp_path: Path) -> None:
    found = await _played(green_agent, tmp_path, TOLD, NOTHING_SENT)
    assert [(each.rule, each.field) for each in found.faults] == [("free-points", "criteria[1]")]
    assert "nothing_sent gives all its points to null and dump" in found.faults[0].message


async def test_a_criterion_that_requires_work_may_be_met_by_not_acting(green_agent: GreenAgent, tmp_path: Path) -> None:
    found = await _played(green_agent, tmp_path, TOLD, NOTHING_SENT | {"requires": ["told"]})
    assert found == Played([], [])


async def test_a_criterion_that_a_dump_of_everything_meets_is_named(green_agent: GreenAgent, tmp_path: Path) -> None:
    [fault] = (await _played(green_agent, tmp_path, TOLD, TIDY)).faults
    assert "tidy gives all its points to dump without" in fault.message


async def test_a_criterion_that_nobody_checked_is_told_from_one_that_nobody_passed(
    green_agent: GreenAgent, tmp_path: Path
) -> None:
    found = await _played(green_agent, tmp_path, criterion(criterion_id="kind", evaluator_id="asks_a_model"))
    assert found.faults == []
    assert [each.partition(":")[0] for each in found.unchecked] == ["criterion kind"]


async def test_the_skeleton_plays_without_faults(green_agent: GreenAgent, tmp_path: Path) -> None:
    write_skeleton(tmp_path / "late_train")
    assert await played(green_agent, load_scenario(tmp_path / "late_train")) == Played([], [])


async def test_a_state_with_some_of_the_modalities_is_played(green_agent: GreenAgent, tmp_path: Path) -> None:
    """As ues-agentbeats has it: the body of an import, with the modalities that the scenario uses."""
    states = {name: {"modality_type": name} for name in ("email", "chat")}
    body = {
        "scenario": STATE | {"environment": STATE["environment"] | {"modality_states": states}},
        "strict_modalities": False,
    }
    folder = write(tmp_path / "s", state=body, criteria=[TOLD])
    assert await played(green_agent, load_scenario(folder)) == Played([], [])


async def test_a_state_that_the_environment_refuses_is_a_fault(green_agent: GreenAgent, tmp_path: Path) -> None:
    environment = STATE["environment"] | {"modality_states": {"email": {"emails": 3}}}
    folder = write(tmp_path / "s", state=STATE | {"environment": environment}, criteria=[TOLD])
    [fault] = (await played(green_agent, load_scenario(folder))).faults
    assert (fault.rule, fault.field) == ("refused", "initial_state.scenario.environment.modality_states.email.emails")
    assert "modality_states.email" in fault.message


def test_the_command_plays_each_scenario_and_fails_if_one_gives_points_for_nothing(tmp_path: Path) -> None:
    sound = write(tmp_path / "sound", criteria=[TOLD])
    free = write(tmp_path / "free", criteria=[NOTHING_SENT])
    result = CliRunner().invoke(app, ["scenario", "lint", "--play", str(sound), str(free)])
    assert result.exit_code == 1
    assert f"2 of 2: playing {free}" in result.stderr
    assert f"{sound}: no faults" in result.stdout
    assert f"{free}/scenario.json:1: criteria[0]: nothing_sent gives all its points to null and dump" in result.stdout


async def _played(agent: GreenAgent, folder: Path, *criteria: dict[str, Any]) -> Played:
    """A play of the small scenario with these criteria."""
    return await played(agent, load_scenario(write(folder / "s", criteria=list(criteria), evaluators=WRITES_TO_USER)))

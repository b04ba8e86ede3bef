"""The linter: each rule reports its fault, and a scenario without faults gets none."""

from pathlib import Path
from typing import Any

import pytest

from concord_assistant.scenario.lint import lint
from concord_assistant.scenario.loader import load_scenario, scenario_folders
from tests.unit.assistant.scenario.folders import (
    DOCUMENT,
    EVALUATORS,
    STATE,
    criterion,
    email_at,
    with_events,
    write,
)


def rules(folder: Path) -> list[tuple[str, str]]:
    """The rules and fields of the faults of a scenario."""
    return [(each.rule, each.field) for each in lint(load_scenario(folder))]


def delayed(delay: str) -> dict[str, Any]:
    """The small scenario's characters, where Bob replies after a delay."""
    bob = DOCUMENT["characters"]["bob"] | {"response_timing": {"base_delay": delay}}
    return {**DOCUMENT["characters"], "bob": bob}


def test_a_scenario_without_faults_has_no_findings(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", state=with_events(email_at("2026-05-04T09:00:00Z")))
    assert rules(folder) == []


@pytest.mark.parametrize("folder", scenario_folders(Path("scenarios/assistant")).values(), ids=lambda path: path.name)
def test_the_shipped_scenarios_have_no_faults(folder: Path) -> None:
    assert rules(folder) == []


@pytest.mark.parametrize("time", ["2026-05-04T12:00:01Z", "2026-05-04T08:00:00Z", "2026-05-03T08:00:00Z"])
def test_an_event_outside_the_scenarios_time_is_unreachable(tmp_path: Path, time: str) -> None:
    folder = write(tmp_path / "s", state=with_events(email_at(time)))
    assert rules(folder) == [("unreachable-event", "initial_state.events[0]")]


def test_an_event_that_is_over_is_no_fault(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", state=with_events(email_at("2026-05-03T08:00:00Z", status="executed")))
    assert rules(folder) == []


def test_events_of_one_modality_at_one_time_depend_on_their_order(tmp_path: Path) -> None:
    time = "2026-05-04T09:00:00Z"
    tied = with_events(email_at(time), email_at("2026-05-04T10:00:00Z"), email_at("2026-05-04T10:00:00.0Z"))
    assert rules(write(tmp_path / "tied", state=tied)) == [("tie", "initial_state.events[1]")]
    ordered = with_events(email_at(time), email_at(time, priority=60), email_at(time, modality="sms"))
    assert rules(write(tmp_path / "ordered", state=ordered)) == []


def test_a_reply_that_no_turn_can_bring_is_reported_except_of_the_user(tmp_path: Path) -> None:
    folder = write(tmp_path / "late", characters=delayed("PT4H"))
    assert rules(folder) == [("reply-window", "characters.bob.response_timing.base_delay")]
    assert rules(write(tmp_path / "in_time", characters=delayed("PT3H59M"))) == []
    assert rules(write(tmp_path / "user", characters=delayed("PT4H"), user_character="bob")) == []


def test_a_criterion_without_evidence_is_reported(tmp_path: Path) -> None:
    criteria = [
        criterion(criterion_id="code", evaluator_id="guesses"),
        criterion(criterion_id="good_code", evaluator_id="counts_actions"),
        criterion(criterion_id="prompt", description="Was it nice?", evaluation_prompt="Say whether it was nice."),
    ]
    folder = write(tmp_path / "s", evaluators=EVALUATORS, criteria=criteria)
    (folder / "helper_module.py").write_text("")
    assert rules(folder) == [
        ("no-evidence", "criteria[0].evaluator_id"),
        ("no-evidence", "criteria[2].evaluation_prompt"),
    ]


def test_a_state_after_the_start_or_without_a_time_is_reported(tmp_path: Path) -> None:
    later = STATE["environment"] | {"time_state": {"current_time": "2026-05-04T08:00:01Z"}}
    assert rules(write(tmp_path / "later", state=STATE | {"environment": later})) == [("clock", "initial_state")]
    timeless = STATE["environment"] | {"time_state": {}}
    assert rules(write(tmp_path / "timeless", state=STATE | {"environment": timeless})) == [("clock", "initial_state")]

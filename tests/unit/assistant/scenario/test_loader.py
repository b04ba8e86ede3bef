"""Loading scenarios: the layouts that are read, and errors that name the file and the field."""

import json
from pathlib import Path
from typing import Any

import pytest

from concord_assistant.scenario import loader
from concord_assistant.scenario.loader import ScenarioError, load_scenario, scenario_folders
from tests.unit.assistant.scenario.folders import DOCUMENT, EVALUATORS, STATE, criterion, write

SHIPPED = Path("scenarios/assistant")


def test_a_state_may_be_inline_in_a_named_file_or_in_the_default_file(tmp_path: Path) -> None:
    body = {"scenario": STATE}
    layouts = {
        "default": write(tmp_path / "a"),
        "named": write(tmp_path / "b", initial_state="initial_state.json"),
        "inline": write(tmp_path / "c", initial_state=STATE),
        "body of an import": write(tmp_path / "d", state=body),
    }
    for layout, folder in layouts.items():
        assert load_scenario(folder).config.initial_state == body, layout


def test_the_evaluators_are_the_public_coroutine_functions_with_two_parameters(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", evaluators=EVALUATORS)
    (folder / "helper_module.py").write_text("X = 1\n")
    registry = load_scenario(folder).evaluators
    assert registry.ids == {"counts_actions", "guesses"}
    assert registry.modules == {"helper_module": "X = 1\n"}


def test_evaluators_are_not_executed_when_they_are_loaded(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    write(tmp_path / "s", evaluators=f"open({str(marker)!r}, 'w')\n")
    load_scenario(tmp_path / "s")
    assert not marker.exists()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"end_time": "2026-05-04T07:00:00Z"}, "scenario.json:1: scenario: `start_time` must be before `end_time`"),
        ({"criteria": [criterion(evaluator_id="nowhere")]}, "criteria[0].evaluator_id: 'nowhere' is neither built in"),
        ({"initial_state": "../state.json"}, "initial_state: is neither an object nor the name of a file"),
        ({"initial_state": "missing.json"}, "missing.json: No such file"),
        ({"initial_state": {"scenario": {}}}, "scenario.json: has no scenario.environment.modality_states"),
        (
            {"initial_state": {"environment": {"modality_states": ["email", "chat"]}}},
            "modality_states: is not a JSON object",
        ),
        (
            {"characters": DOCUMENT["characters"] | {"bob": {"name": "Bob"}}},
            "characters.bob.personality: Field required",
        ),
    ],
)
def test_an_error_names_the_file_and_the_field(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        load_scenario(write(tmp_path / "s", **changes))
    assert reason in str(raised.value)
    assert str(tmp_path / "s") in str(raised.value)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("scenario.json", b"{", "scenario.json: is not JSON"),
        ("scenario.json", b"[" * 100_000, "scenario.json: is not JSON"),
        ("scenario.json", b"[]", "scenario.json: is not a JSON object"),
        ("initial_state.json", b"\xff", "initial_state.json: is not UTF-8"),
        ("evaluators.py", b"async def (", "evaluators.py:1: is not Python"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, file: str, content: bytes, reason: str) -> None:
    folder = write(tmp_path / "s")
    (folder / file).write_bytes(content)
    with pytest.raises(ScenarioError, match=reason):
        load_scenario(folder)


def test_a_file_that_is_too_large_is_refused_without_reading_it_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(loader.MAX_BYTES, "initial_state.json", 100)
    with pytest.raises(ScenarioError, match="is longer than 100 bytes"):
        load_scenario(write(tmp_path / "s"))


def test_the_folders_with_a_scenario_are_found_by_name(tmp_path: Path) -> None:
    write(tmp_path / "b")
    write(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    assert list(scenario_folders(tmp_path)) == ["a", "b"]


def test_the_shipped_scenarios_load_and_bear_the_names_of_their_folders() -> None:
    names = {name: load_scenario(folder).config.scenario_id for name, folder in scenario_folders(SHIPPED).items()}
    assert names
    assert all(name == scenario_id for name, scenario_id in names.items())


def test_a_document_of_another_layout_loads_unedited(tmp_path: Path) -> None:
    """As in ues-agentbeats: the state in a file, and fields that mean nothing here."""
    document = DOCUMENT | {"initial_state": "initial_state.json", "difficulty": "easy"}
    folder = write(tmp_path / "s", document=json.loads(json.dumps(document)))
    assert load_scenario(folder).config.scenario_id == "small"


def test_a_state_may_lack_modalities_that_the_scenario_does_not_use(tmp_path: Path) -> None:
    state: dict[str, Any] = {"environment": {"modality_states": {"email": {}, "chat": {}}}}
    assert load_scenario(write(tmp_path / "s", state=state)).config.initial_state == {"scenario": state}

"""`docs/scenarios.md`: its example is a scenario without faults, and its table lists what is shipped."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from concord_assistant.scenario.generator import variant
from concord_assistant.scenario.lint import lint
from concord_assistant.scenario.loader import load_scenario, scenario_folders
from tests.unit.assistant.scenario.folders import STATE, write

TEXT = Path("docs/scenarios.md").read_text(encoding="utf-8")
SHIPPED = scenario_folders(Path("scenarios/assistant"))


def test_the_example_is_a_family_without_faults(tmp_path: Path) -> None:
    scenario, event, variants = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
    state = json.loads(json.dumps(STATE).replace("2026-05-04", "2026-03-15")) | {"events": {"events": [event]}}
    written = load_scenario(write(tmp_path / "late_train", document=scenario | variants, state=state))
    assert lint(written) == []
    tasks = {variant(written, seed).config.user_prompt for seed in range(1, 20)}
    assert {"Bob" in task for task in tasks} == {"55 minutes" in task for task in tasks} == {True, False}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_table_has_the_turns_and_points_of_each_scenario(name: str) -> None:
    rows: dict[str, Any] = {
        cells[0]: cells for cells in re.findall(r"^\| `(\w+)` \| (.+) \| (\d+)[^|]* \| .* \| (\d+) \|", TEXT, re.M)
    }
    config = load_scenario(SHIPPED[name]).config
    hours = (config.end_time - config.start_time).total_seconds() / 3600
    told = f"{hours:g} hours" if hours != 1 else "1 hour"
    assert rows[name][1:] == (told, str(config.max_turns), str(config.max_score))

"""`docs/scenarios.md`: its examples belong to a scenario without faults."""

import json
import re
from pathlib import Path

from concord_assistant.scenario.generator import variant
from concord_assistant.scenario.lint import lint
from concord_assistant.scenario.loader import load_scenario
from tests.unit.assistant.scenario.folders import DOCUMENT, STATE, write

TEXT = Path("docs/scenarios.md").read_text(encoding="utf-8")


def test_the_examples_are_a_family_without_faults(tmp_path: Path) -> None:
    event, variants = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
    prompt = "Tell Bob Hale, bob.hale@example.com, that I am 40 minutes late. Bob waits."
    times = {"start_time": "2026-03-16T07:00:00Z", "end_time": "2026-03-16T09:00:00Z"}
    state = json.loads(json.dumps(STATE).replace("2026-05-04", "2026-03-15")) | {"events": {"events": [event]}}
    late = {**DOCUMENT, "scenario_id": "late_train", **times, "user_prompt": prompt, **variants}
    written = load_scenario(write(tmp_path / "late_train", document=late, state=state))
    assert lint(written) == []
    tasks = {variant(written, seed).config.user_prompt for seed in range(1, 20)}
    assert {"Bob" in task for task in tasks} == {"55 minutes" in task for task in tasks} == {True, False}

"""Ground truth over A2A: all scenarios in one request to the green agent, through to its row."""

import json
from typing import Any

from concord.assessment.result_row import ResultRow
from concord_cli.assessment_client import assess
from tests.kit.ground_truth.classification import accuracy, classified, table
from tests.kit.ground_truth.dataset import PATH
from tests.kit.ground_truth.offline import evaluate, tasks

SCENARIOS: list[dict[str, Any]] = json.loads(PATH.read_text())["scenarios"]


async def test_every_scenario_is_classified_correctly_and_as_offline(green_agent: str) -> None:
    [result] = await assess(green_agent, {}, {"tasks": tasks(SCENARIOS)}, on_progress=lambda _: None)
    records = {record.task_id: record for record in ResultRow.model_validate(result).detail.trials}
    results = [classified(scenario, records[scenario["id"]]) for scenario in SCENARIOS]
    print(f"\n{table(results)}")  # noqa: T201 - a table to read, with -rP
    assert {each.id: each.deviations for each in results if each.deviations} == {}
    assert accuracy(results) == 1.0
    offline = evaluate(SCENARIOS)
    assert {task: record.metrics for task, record in records.items()} == {
        task: record.metrics for task, record in offline.items()
    }

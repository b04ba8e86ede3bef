"""The ground truth: consistent scenarios with independently computed figures, which the evaluator finds."""

import json
from collections import Counter
from typing import Any

import pytest

from tests.kit.ground_truth.classification import KINDS, accuracy, classified, kind_of, table
from tests.kit.ground_truth.dataset import PATH, dataset, written
from tests.kit.ground_truth.offline import evaluate

SCENARIOS: list[dict[str, Any]] = json.loads(PATH.read_text())["scenarios"]

EACH = pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["id"] for scenario in SCENARIOS])


def test_the_file_has_the_figures_of_the_independent_method() -> None:
    assert json.loads(PATH.read_text()) == dataset()
    assert PATH.read_text() == written()


def test_every_kind_has_several_scenarios_of_three_to_twelve_agents() -> None:
    kinds = Counter(scenario["kind"] for scenario in SCENARIOS)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 4
    sizes = {len(scenario["interaction_pattern"]["agents"]) for scenario in SCENARIOS}
    assert (min(sizes), max(sizes)) == (3, 12)
    assert len({scenario["id"] for scenario in SCENARIOS}) == len(SCENARIOS)


@EACH
def test_no_label_contradicts_its_figures(scenario: dict[str, Any]) -> None:
    expected, agents = scenario["expected_metrics"], scenario["interaction_pattern"]["agents"]
    label, value = expected["coordination_quality"], expected["coordination_value"]
    assert (label == "bottleneck") == (expected["max_betweenness"] > 0.5) == expected["has_bottleneck"]
    if label != "bottleneck":
        assert label == ("high" if value >= 0.66 else "medium" if value >= 0.33 else "low")
    assert scenario["kind"] == kind_of(label, len(expected["isolated_agents"]), len(agents))
    assert expected["has_low_density"] == (expected["graph_density"] <= 0.3)
    assert bool(expected["over_centralised"]) == ((expected["hub_share"] or 0) > 0.7)
    assert (expected["connected_components"] == 1) == (expected["reachable_pairs"] == 1)


def test_the_evaluator_finds_every_kind_and_figure() -> None:
    records = evaluate(SCENARIOS)
    results = [classified(scenario, records[scenario["id"]]) for scenario in SCENARIOS]
    print(f"\n{table(results)}")  # noqa: T201 - shown with -rP
    assert {each.id: each.deviations for each in results if each.deviations} == {}
    assert accuracy(results) == 1.0

"""`concord run` of an assistant's scenario without a model."""

import pytest

from tests.kit.concord import ROOT, concord, row_in


def test_without_a_model_the_oracle_plays_a_scenario_and_run_and_row_say_so(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("oracle")
    with concord(folder, "run", str(ROOT / "scenarios/assistant/first_day")) as running:
        assert running.finish() == 0, running.output
    assert "No language model is configured, so the oracle plays" in running.output
    assert "\nfirst_day · oracle · " in running.output
    assert running.output.rstrip().endswith("The score checks the scenario and measures no assistant")
    row = row_in(folder / "output/results.json")
    assert ([agent.id for agent in row.detail.agents], row.score) == (["oracle"], 100)

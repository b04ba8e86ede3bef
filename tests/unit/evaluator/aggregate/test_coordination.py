"""The figures of coordination follow from their definitions, reward no pretence, and are null where nobody knows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment.results import MetricRecord, MetricStatus, TrialRecord
from concord_evaluator.aggregate.figures import coordination_figures
from tests.kit.team_task_rows import flow_of, team_task, trial_with


def trial(proven: float, turns: int | None, *, outcome: float | None = None, messages: int = 4) -> TrialRecord:
    played = team_task(flow_of(), credited=proven, turns=turns, messages=messages)
    return trial_with(played, outcome=proven if outcome is None else outcome)


def test_the_figures_are_those_of_their_definitions() -> None:
    team, alone = trial(0.5, 10, messages=5), trial(0.75, 2)
    found = coordination_figures([team], [(team, alone)])
    assert found is not None
    assert (found.pairs, found.turns, found.solo_turns) == (1, 10, 2)
    assert found.efficiency == pytest.approx(0.5 / 5)
    assert found.overhead == pytest.approx(4)
    assert found.error_amplification == pytest.approx(2)
    assert found.message_density == pytest.approx(0.5)


def test_a_team_that_only_pretends_is_not_efficient() -> None:
    team, alone = trial(0.0, 5, outcome=1.0), trial(1.0, 1)
    found = coordination_figures([team], [(team, alone)])
    assert found is not None
    assert found.efficiency == 0


def test_what_nobody_knows_is_null() -> None:
    found = coordination_figures([trial(1.0, None)], [])
    assert found is not None
    unknown = (found.turns, found.efficiency, found.overhead, found.error_amplification, found.message_density)
    assert set(unknown) == {None}
    assert found.redundancy is None
    assert coordination_figures([], []) is None


def test_no_errors_are_no_multiple_of_no_errors() -> None:
    team, alone = trial(1.0, 5), trial(1.0, 1)
    found = coordination_figures([team], [(team, alone)])
    assert found is not None
    assert found.error_amplification is None


def test_seats_that_write_the_same_are_redundant() -> None:
    alike = MetricRecord(
        id="information_diversity", value=0.25, status=MetricStatus.OK, n=1, definition_id="", engine="python"
    )
    found = coordination_figures([trial(1.0, 5).model_copy(update={"metrics": [alike]})], [])
    assert found is not None
    assert found.redundancy == 0.75


@settings(max_examples=10)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 50)), min_size=1, max_size=5), st.floats(0, 1))
def test_more_turns_for_the_same_success_are_never_more_efficient(trials: list[tuple[float, int]], more: float) -> None:
    def efficiency(factor: float) -> float:
        pairs = [(trial(proven, round(turns * factor)), trial(1.0, 1)) for proven, turns in trials]
        found = coordination_figures([team for team, _ in pairs], pairs)
        assert found is not None
        assert found.efficiency is not None
        return found.efficiency

    assert efficiency(1 + more) <= efficiency(1) + 1e-9

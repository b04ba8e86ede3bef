"""Ties: an observation is part of a cause only if it shares a step and an agent with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.observations import Observation, ObservationKind
from concord.assessment.verdict import Cause, CauseKind
from concord_evaluator.formats.trace import GradedPart
from concord_evaluator.observations import causes_of_parts, tied

NAMES = st.lists(st.sampled_from("ABC"), max_size=3, unique=True)
PARTS = st.builds(
    GradedPart,
    name=st.just("part"),
    agent=st.sampled_from("ABC"),
    passed=st.booleans(),
    passed_alone=st.sampled_from([None, True, False]),
    merged=st.sampled_from([None, True, False]),
)


def observation(agents: list[str], steps: list[str]) -> Observation:
    return Observation(kind=ObservationKind.CLASHING_EDITS, agents=agents, steps=steps, evidence=[])


OBSERVATIONS = st.builds(observation, NAMES, NAMES)


@given(OBSERVATIONS, NAMES, NAMES)
def test_an_observation_is_tied_by_a_common_step_and_a_common_agent(
    found: Observation, agents: list[str], steps: list[str]
) -> None:
    cause = Cause(kind=CauseKind.CHANGED, agents=tuple(agents), certainty="proven", steps=tuple(steps))
    [result] = tied([found], [cause])
    common = set(agents) & set(found.agents) and set(steps) & set(found.steps)
    assert result == found.model_copy(update={"cause": CauseKind.CHANGED if common else None})


@given(st.lists(OBSERVATIONS, max_size=3), st.lists(PARTS, max_size=3))
def test_causes_never_cost_more_than_was_lost_and_never_accuse_where_nothing_was(
    found: list[Observation], parts: list[GradedPart]
) -> None:
    causes = causes_of_parts(found, parts)
    assert sum(cause.points or 0 for cause in causes) <= 100 + 1e-9
    lost = {part.agent for part in parts if not part.passed}
    assert all(lost & set(cause.agents) for cause in causes)


@pytest.mark.parametrize("merged", [True, None])
def test_a_part_that_was_merged_or_of_whose_merge_nothing_is_known_has_no_cause(merged: bool | None) -> None:
    clash = observation(["A", "B"], ["1", "2"])
    assert causes_of_parts([clash], [GradedPart("part", "A", passed=False, passed_alone=True, merged=merged)]) == []

"""The acts of a long trace do not depend on the reports that are left out, nor observations on the texts that are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.observations import ObservationKind
from concord.trace.decoding import StoredReports
from concord.wire.roster import Roster
from concord_evaluator.observations import Act, Deed, acts, acts_of, observe
from concord_evaluator.observations.finders import _VALUE
from concord_evaluator.pipeline import trial as pipeline_acts
from concord_evaluator.pipeline.trial import observations_in, reports_of_acts
from tests.kit.synthetic_traces import roster, stored_batches
from tests.unit.evaluator.observations.test_finders import ACTS, ALL_FAULTS, FAULTS


@pytest.mark.parametrize("limit", [1, 50, 300, 10_000])
def test_the_reports_left_out_change_no_act(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "MAX_ACTS", limit)
    monkeypatch.setattr(pipeline_acts, "MAX_ACTS", limit)
    team, batches = Roster(roster(8)), list(stored_batches(8, 1_500))
    for order in (batches, batches[::-1]):
        kept = list(reports_of_acts(order))
        assert acts_of(kept, team) == acts_of(StoredReports(order), team)
        assert len({each.step.step_id for each in kept}) <= limit


@given(st.lists(ACTS | st.sampled_from(ALL_FAULTS), max_size=20))
def test_texts_and_finders_that_are_left_out_have_no_part_in_what_is_observed(found: list[Act]) -> None:
    assert observations_in(found) == observe(found)


@pytest.mark.parametrize("kind", FAULTS)
def test_every_known_fault_is_observed_as_it_is_by_reading_all_texts(kind: ObservationKind) -> None:
    for acts_of_case in FAULTS[kind]:
        assert observations_in(acts_of_case) == observe(acts_of_case)
    assert kind in {each.kind for each in observations_in(FAULTS[kind][0])}


VALUES = st.from_regex(_VALUE, fullmatch=True) | st.sampled_from(["48,213", "-3.50", "'7'", "`12:30`"])


@given(
    st.sampled_from(["the total ", "my rate", "x "]), st.sampled_from(["=", ":", "is ", " is ", "are "]), VALUES, VALUES
)
def test_a_value_that_changes_on_the_way_is_observed_however_it_is_written(
    name: str, says: str, one: str, other: str
) -> None:
    told = [("A", "B", one), ("B", "C", other)]
    found = [Act(f"s-{by}", by, Deed.MESSAGE, to, f"{name}{says} {value}") for by, to, value in told]
    assert observations_in(found) == observe(found)

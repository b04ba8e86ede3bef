"""The acts of a long trace do not depend on the reports that are left out."""

import pytest

from benchmarks.traces.synthetic_traces import roster, stored_batches
from concord.trace.decoding import StoredReports
from concord.wire.roster import Roster
from concord_evaluator.observations import acts, acts_of
from concord_evaluator.pipeline import acts as pipeline_acts
from concord_evaluator.pipeline.acts import reports_of_acts


@pytest.mark.parametrize("limit", [1, 50, 300, 10_000])
def test_the_reports_left_out_change_no_act(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "MAX_ACTS", limit)
    monkeypatch.setattr(pipeline_acts, "MAX_ACTS", limit)
    team, batches = Roster(roster(8)), list(stored_batches(8, 1_500))
    for order in (batches, batches[::-1]):
        kept = list(reports_of_acts(order))
        assert acts_of(kept, team) == acts_of(StoredReports(order), team)
        assert len({each.step.step_id for each in kept}) <= limit

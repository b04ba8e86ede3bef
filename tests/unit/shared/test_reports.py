"""Stored batches: reading a batch returns the steps that were stored."""

from datetime import UTC, datetime

from concord.trace.decoding import reports_of
from concord.trace.report import Channel
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch
from tests.unit.shared.calls import call


def test_a_stored_batch_yields_its_steps_as_reports() -> None:
    batch = TraceBatch("b", "t", "a", [Step.of(call()), Step.of(call(step_id="s2"))])
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    stored = SerialisedBatch.of(batch).received(Channel.HTTP, authenticated=False, received_at=moment)
    reports = list(reports_of(stored))
    assert [report.step for report in reports] == batch.steps
    assert {(r.reporter, r.channel, r.received_at, r.authenticated) for r in reports} == {
        ("a", Channel.HTTP, moment, False)
    }

"""Stored batches: reading a batch returns the steps that were stored."""

from datetime import UTC, datetime

from concord.trace.decoding import reports_of
from concord.trace.digest import digest
from concord.trace.report import Channel, ReportBatch, StepBatch, pack
from tests.unit.shared.calls import call


def test_a_stored_batch_yields_its_steps_as_reports() -> None:
    batch = StepBatch(trace_id="t", reporter="a", steps=[call(), call(step_id="s2")])
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    stored = ReportBatch(
        batch_id=batch.batch_id,
        trace_id="t",
        reporter="a",
        authenticated=False,
        channel=Channel.HTTP,
        received_at=moment,
        n_steps=2,
        dropped=0,
        body=pack(batch.model_dump_json().encode()),
    )
    reports = list(reports_of(stored))
    assert [report.step.step_id for report in reports] == ["s", "s2"]
    assert [report.digest for report in reports] == list(map(digest, batch.steps))
    assert {(r.reporter, r.channel, r.received_at, r.authenticated) for r in reports} == {
        ("a", Channel.HTTP, moment, False)
    }

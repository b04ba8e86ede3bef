"""The reports of a long trace that its acts are made of."""

from collections.abc import Iterable, Iterator

from concord.trace.decoding import reports_of
from concord.trace.report import Report, ReportBatch, unpack
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.observations.acts import MAX_ACTS
from concord_evaluator.trace.lean_steps import named_steps


def reports_of_acts(batches: Iterable[ReportBatch]) -> Iterator[Report]:
    """The reports of which `acts_of` makes its acts, in their order.

    Once there are as many steps as it reads, these are only those of the gateway about the same steps. No other steps
    are decoded then.
    """
    read: set[str] = set()
    for batch in batches:
        if len(read) < MAX_ACTS:
            for report in reports_of(batch):
                if len(read) < MAX_ACTS or report.step.step_id in read:
                    read.add(report.step.step_id)
                    yield report
        elif batch.reporter == GREEN_AGENT:
            for step in named_steps(unpack(batch.body), read):
                yield Report(step, batch.reporter, batch.authenticated, batch.channel, batch.received_at)

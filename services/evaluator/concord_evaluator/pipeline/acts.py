"""The reports of a long trace that its acts are made of."""

from collections.abc import Iterable, Iterator

from concord.trace.decoding import reports_of
from concord.trace.report import Report, ReportBatch
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.observations.acts import MAX_ACTS


def reports_of_acts(batches: Iterable[ReportBatch]) -> Iterator[Report]:
    """The reports of which `acts_of` makes its acts, in their order.

    Once there are as many steps as it reads, these are only those of the gateway about the same steps. Batches of other
    reporters are not even decoded then.
    """
    read: set[str] = set()
    for batch in batches:
        if len(read) < MAX_ACTS or batch.reporter == GREEN_AGENT:
            for report in reports_of(batch):
                if len(read) < MAX_ACTS or report.step.step_id in read:
                    read.add(report.step.step_id)
                    yield report

"""Quotas: the limits of a reporter in a trace, and how batches count towards them."""

from dataclasses import dataclass
from typing import Final

from concord.storage.ports import Quota
from concord.trace.report import BatchReceipt, ReportBatch

MAX_TRACE_BYTES: Final = 64 * 1024 * 1024
MAX_STEPS: Final = 200_000

_MOST_SHRUNK: Final = 16
"""The highest compression ratio that is credited: otherwise a trace could inflate without limit."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """The limits of one reporter in a trace: compressed bytes, and steps, nested steps included."""

    max_bytes: int = MAX_TRACE_BYTES
    max_steps: int = MAX_STEPS

    def quota(self, batch: ReportBatch, receipt: BatchReceipt, inflated: int) -> Quota:
        """The quota of a batch; `inflated` is the size of its JSON body (bytes). An empty batch counts as one step."""
        reasons = sum(len(each.reason) for each in receipt.rejected)
        return Quota(
            account=batch.account,
            cost=max(len(batch.body), inflated // _MOST_SHRUNK) + reasons,
            limit=self.max_bytes,
            steps=max(1, batch.n_steps + batch.n_nested),
            max_steps=self.max_steps,
        )

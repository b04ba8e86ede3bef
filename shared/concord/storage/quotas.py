"""Quotas: what a trace takes of one reporter, and what a batch counts for, whichever way it came."""

from dataclasses import dataclass
from typing import Final

from concord.storage.ports import Quota
from concord.trace.report import BatchReceipt, ReportBatch

MAX_TRACE_BYTES: Final = 64 * 1024 * 1024
MAX_STEPS: Final = 200_000

_MOST_SHRUNK: Final = 16
"""A body counts as if compression made it at most so many times smaller, or a trace could be inflated without end."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """What a trace takes of one reporter: bytes, compressed, and steps, those inside other steps among them."""

    max_bytes: int = MAX_TRACE_BYTES
    max_steps: int = MAX_STEPS

    def quota(self, batch: ReportBatch, receipt: BatchReceipt, inflated: int) -> Quota:
        """What a batch counts for; `inflated`: its body's bytes as JSON. Even one without steps counts as a step."""
        reasons = sum(len(each.reason) for each in receipt.rejected)
        return Quota(
            account=batch.account,
            cost=max(len(batch.body), inflated // _MOST_SHRUNK) + reasons,
            limit=self.max_bytes,
            steps=max(1, batch.n_steps + batch.n_nested),
            max_steps=self.max_steps,
        )

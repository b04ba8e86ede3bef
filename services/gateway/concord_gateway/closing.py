"""Closing a trace: when no report has come for a while, or when it has been waited long enough."""

import asyncio
import time
from typing import Final

from concord.storage import TraceStore

_POLL_S: Final = 0.1


async def wait_until_quiet(traces: TraceStore, trace_id: str, *, quiet_s: float, cap_s: float) -> int:
    """Waits until a trace got no batch for `quiet_s`, for at most `cap_s`. Returns how many batches it has then.

    Raises StorageUnavailableError.
    """
    started = changed_at = time.monotonic()
    length = await traces.length(trace_id)
    while (now := time.monotonic()) - changed_at < quiet_s and now - started < cap_s:
        await asyncio.sleep(min(_POLL_S, quiet_s))
        if (current := await traces.length(trace_id)) != length:
            length, changed_at = current, time.monotonic()
    return length

"""The collector's settings, read from environment variables."""

from typing import Annotated

from pydantic import Field

from concord import retention
from concord.service.settings import StatefulServiceSettings
from concord.storage import MAX_STEPS, MAX_TRACE_BYTES

_MIB = 1024 * 1024


class CollectorSettings(StatefulServiceSettings):
    """Who may report, and within which limits (bytes). Beyond a limit it refuses; it cuts only attributes."""

    open: bool = False
    """Whether to accept reports and registrations without a token, marked as such; for closed networks.

    The collector then also keeps spans that belong to no trial, and anybody may read these spans.
    """
    open_traces: Annotated[int, Field(gt=0)] = retention.OPEN_TRACES
    """The number of kept traces that belong to no trial. Beyond these limits, the oldest traces are deleted."""
    open_bytes: Annotated[int, Field(gt=0)] = retention.OPEN_TRACES_BYTES
    """The bytes of all traces that belong to no trial, uncompressed. Redis needs about a tenth of this."""
    open_retention_s: Annotated[int, Field(gt=0, le=retention.OPEN_TRACE_S)] = retention.OPEN_TRACE_S
    """The time for which a trace that belongs to no trial is kept after its last span (seconds)."""
    max_body_bytes: Annotated[int, Field(gt=0)] = 4 * _MIB
    """Of a request, as sent, but for exports of spans."""
    max_inflated_bytes: Annotated[int, Field(gt=0)] = 16 * _MIB
    """The same, decompressed."""
    max_export_bytes: Annotated[int, Field(gt=0)] = 64 * _MIB
    """Of spans over OTLP, as sent and decompressed: a batch exporter's default of 512 fits, with 128 KiB a span."""
    max_trace_bytes: Annotated[int, Field(gt=0)] = MAX_TRACE_BYTES
    """Of a trace and reporter, compressed; 10⁶ steps take about 40 MB. Reporters without a token share one quota."""
    max_steps: Annotated[int, Field(gt=0)] = MAX_STEPS
    """Of a trace and reporter, in the same way; nested steps count too."""
    rate_bytes_per_s: Annotated[int, Field(gt=0)] = 4 * _MIB
    """Of a participant (without a token: an address), decompressed, over ten seconds; about 10,000 steps a second."""
    registrations_per_minute: Annotated[int, Field(gt=0)] = 60
    """Of an address."""
    redis_memory_bytes: Annotated[int, Field(gt=0)] | None = None
    """How much memory Redis may use, where it has no `maxmemory` of its own."""
    redis_watermark: Annotated[float, Field(gt=0, le=1)] = 0.9
    """The share of that memory at which the collector refuses reports until memory is free again."""

"""OpenTelemetry spans of Concord's own work, for its operators.

They are separate from the traces that participants report: they have other ids and another store, and no participant
gets a span's context. The tracer is Concord's own, because libraries use the global tracer for their own spans.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NoOpTracer, Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from concord.trust.redaction import redact

logger = logging.getLogger(__name__)

ASSESSMENT_ID: Final = "concord.assessment_id"
TRIAL_ID: Final = "concord.trial_id"
PARTICIPANTS_TRACE_ID: Final = "concord.participants_trace_id"
"""The id of the trial's trace of reported steps."""

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROPAGATOR: Final = TraceContextTextMapPropagator()


class _Tracing:
    """The process's tracer. It does nothing until tracing is configured."""

    tracer: Tracer = NoOpTracer()


def tracing_requested(environment: Mapping[str, str]) -> bool:
    """Whether OpenTelemetry's variables ask for traces: `OTEL_TRACES_EXPORTER=otlp`, or the URL of a receiver."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    return exporter == "otlp" or (not exporter and any(environment.get(name) for name in _ENDPOINTS))


def configure_tracing(service: str) -> None:
    """Exports this process's spans by OTLP/HTTP if the environment asks for traces.

    The SDK reads the other `OTEL_` variables: endpoint, headers, sampler, resource. Without the extra `tracing`, this
    logs a warning.
    """
    if not tracing_requested(os.environ):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        logger.warning("OTEL_ variables ask for traces, and the OpenTelemetry SDK is not installed: %s", error)
        return
    own = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: f"concord-{service}"}
    provider = TracerProvider(resource=Resource.create(own))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _Tracing.tracer = provider.get_tracer("concord")


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, str | int] | None = None,
    *,
    parent: Context | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
) -> Iterator[Span]:
    """A span for the duration of the block, below `parent` or else the current span. An exception marks it as failed.

    The SDK would record the exception's message with its secrets.
    """
    with _Tracing.tracer.start_as_current_span(
        name, parent, kind, attributes, record_exception=False, set_status_on_exception=False
    ) as started:
        try:
            yield started
        except BaseException as error:
            fail(f"{type(error).__name__}: {error}")
            raise


def fail(reason: str) -> None:
    """Marks the current span as failed."""
    trace.get_current_span().set_status(Status(StatusCode.ERROR, redact(reason)))


def root() -> Context:
    """The parent of a span that begins a trace."""
    return Context()


def current() -> Context:
    """The current span, as a parent for spans in other tasks."""
    return trace.set_span_in_context(trace.get_current_span(), Context())


def carrier() -> dict[str, str]:
    """The current span in a form that can be sent to another process; empty without one."""
    sent: dict[str, str] = {}
    _PROPAGATOR.inject(sent)
    return sent


def received(sent: Mapping[str, str] | None) -> Context:
    """The span in a `carrier`, as a parent."""
    return _PROPAGATOR.extract(sent or {}, context=Context())

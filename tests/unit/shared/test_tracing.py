"""Tracing of Concord's own work: the settings that turn it on, and the errors in spans."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from concord import tracing
from concord.tracing import carrier, received, root, span, tracing_requested
from concord.trust.redaction import TOKEN_PREFIX

TOKEN = f"{TOKEN_PREFIX}eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3cml0ZXIifQ.{'x' * 43}"
RECEIVER = "http://receiver:4318"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The finished spans of a process that traces."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing._Tracing, "tracer", provider.get_tracer("test"))
    yield exporter
    provider.shutdown()


@pytest.mark.parametrize(
    ("environment", "requested"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "concord"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": RECEIVER}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": RECEIVER}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": RECEIVER, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": RECEIVER, "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_traces_are_exported_only_if_the_environment_asks_for_them(
    environment: dict[str, str], requested: bool
) -> None:
    assert tracing_requested(environment) is requested


def test_without_tracing_jobs_carry_nothing() -> None:
    with span("assessment", parent=root()):
        assert carrier() == {}


def test_a_span_in_another_process_has_the_trace_of_the_one_that_was_sent(spans: InMemorySpanExporter) -> None:
    with span("assessment", parent=root()):
        sent = carrier()
    with span("job", parent=received(sent)):
        pass
    assessment, job = spans.get_finished_spans()
    assert job.context is not None
    assert job.parent is not None
    assert assessment.context is not None
    assert (job.context.trace_id, job.parent.span_id) == (assessment.context.trace_id, assessment.context.span_id)


def test_a_span_of_a_failure_shows_the_error_without_its_secrets(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ConnectionError), span("call"):
        raise ConnectionError(f"no way to http://gateway/a2a/{TOKEN}/reader/")
    [failed] = spans.get_finished_spans()
    assert failed.status.description == "ConnectionError: no way to http://gateway/a2a/-/reader/"
    assert TOKEN_PREFIX not in failed.to_json()

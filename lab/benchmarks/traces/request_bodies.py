"""The request bodies that benchmarks send: batches of steps, and OpenTelemetry exports in both forms."""

import gzip
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from concord.trace.report import StepBatch
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord.wire.roster import new_step_id, new_trace_id
from lab.benchmarks.traces.otlp_forms import json_of

STEPS: Final = 100
SPANS: Final = 512
"""The default size of an export of OpenTelemetry's batch processor."""


def steps(number: int = STEPS) -> list[InteractionStep]:
    """Calls as the messenger reports them."""
    trace_id, started = new_trace_id(), datetime.now(UTC)
    invocation = AgentInvocation(
        agent_url="http://researcher:9009/",
        agent_name="researcher",
        requests={"text": "Find what is known of the matter and answer in five sentences."},
    )
    return [
        InteractionStep(
            step_id=new_step_id(),
            trace_id=trace_id,
            parent_step_id=new_step_id(),
            call_type=CallType.AGENT,
            step_action=StepAction(agent_invocation=invocation),
            latency=123,
            start_time=started,
            end_time=started + timedelta(milliseconds=123),
            additional_attributes={"agent_name": "writer"},
        )
        for _ in range(number)
    ]


def body_of(reported: Sequence[InteractionStep]) -> bytes:
    """A batch of these steps in JSON."""
    batch = StepBatch(trace_id=reported[0].trace_id, reporter="writer", steps=list(reported))
    return batch.model_dump_json(exclude_none=True).encode()


def bodies(number: int) -> Iterator[bytes]:
    """Batches of one trace, each with an id of its own."""
    reported = steps()
    for _ in range(number):
        yield body_of(reported)


def exports(number: int) -> Iterator[ExportTraceServiceRequest]:
    """Exports of agent and model calls, as an instrumented agent sends them."""
    trace_id = bytes.fromhex(new_trace_id())
    for _ in range(number):
        export = ExportTraceServiceRequest()
        group = export.resource_spans.add()
        service = group.resource.attributes.add(key="service.name")
        service.value.string_value = "writer"
        scoped = group.scope_spans.add()
        for index in range(SPANS):
            span = scoped.spans.add(
                trace_id=trace_id,
                span_id=bytes.fromhex(new_step_id()),
                parent_span_id=bytes.fromhex(new_step_id()),
                name="chat",
                start_time_unix_nano=time.time_ns(),
                end_time_unix_nano=time.time_ns(),
            )
            facts = {
                "gen_ai.operation.name": "invoke_agent" if index % 4 == 0 else "chat",
                "gen_ai.agent.name": "critic",
            }
            for key, value in (facts | {"gen_ai.request.model": "m-1", "server.address": "example.org"}).items():
                span.attributes.add(key=key).value.string_value = value
            span.attributes.add(key="gen_ai.usage.input_tokens").value.int_value = 812
        yield export


def _protobuf_bodies(number: int) -> Iterator[bytes]:
    return (export.SerializeToString() for export in exports(number))


def _json_exports(number: int) -> Iterator[bytes]:
    return map(json_of, exports(number))


@dataclass(frozen=True, slots=True)
class Way:
    """A way into the collector. `size`: the steps or spans of a body, as `unit` names them."""

    name: str
    path: str
    media_type: str
    bodies: Callable[[int], Iterator[bytes]]
    size: int
    unit: str
    zipped: bool = False

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of each request."""
        return {"content-type": self.media_type} | ({"content-encoding": "gzip"} if self.zipped else {})

    def sent(self, number: int) -> list[bytes]:
        """So many bodies, as they are sent."""
        return [gzip.compress(body, 1) if self.zipped else body for body in self.bodies(number)]


WAYS: Final = (
    Way("JSON", "/traces", "application/json", bodies, STEPS, "step"),
    Way("JSON, gzip", "/traces", "application/json", bodies, STEPS, "step", zipped=True),
    Way("OTLP JSON", "/v1/traces", "application/json", _json_exports, SPANS, "span"),
    Way("OTLP protobuf", "/v1/traces", "application/x-protobuf", _protobuf_bodies, SPANS, "span"),
    Way("OTLP protobuf, gzip", "/v1/traces", "application/x-protobuf", _protobuf_bodies, SPANS, "span", zipped=True),
)

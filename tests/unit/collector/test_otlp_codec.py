"""OTLP in protobuf: any bytes are read as an export or refused; each span becomes a step or counts as rejected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from concord.trace.decoding import read
from concord.trace.otlp import without_internals
from concord.trace.otlp.protobuf_form import read_protobuf
from concord_collector.otlp import read_export


def export() -> bytes:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "writer"
    scoped = group.scope_spans.add()
    scoped.scope.name = "a2a-python-sdk"
    for name in ("invoke_agent", "chat"):
        span = scoped.spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name=name, end_time_unix_nano=2**63)
        span.attributes.add(key="gen_ai.operation.name").value.string_value = name
        nested = span.attributes.add(key="gen_ai.input.messages").value.array_value.values.add()
        nested.kvlist_value.values.add(key="role").value.bytes_value = b"\xff"
    return request.SerializeToString()


def check_reading(body: bytes) -> None:
    """Reads a body as the collector does, and its steps as the evaluator does."""
    try:
        spans = list(without_internals(read_protobuf(body)))
    except ValueError:
        return
    exported = read_export(spans, body, None)
    assert sum(batch.n_steps for batch in exported.batches) + exported.rejected == len(spans)
    for batch in exported.batches:
        assert len(read(batch.body).steps) == batch.n_steps


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_refused(body: bytes) -> None:
    check_reading(body)


@given(st.lists(st.tuples(st.integers(0, len(export()) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_export_is_read_or_refused(damages: list[tuple[int, int]]) -> None:
    body = bytearray(export())
    for place, byte in damages:
        body[place] = byte
    check_reading(bytes(body))


def test_deep_nesting_is_refused() -> None:
    value = b""
    for _ in range(300):
        inner = b"\x0a" + _varint(len(value)) + value
        value = b"\x2a" + _varint(len(inner)) + inner
    for field in (b"\x12", b"\x4a", b"\x12", b"\x12", b"\x0a"):
        value = field + _varint(len(value)) + value
    with pytest.raises(ValueError, match="ExportTraceServiceRequest"):
        list(read_protobuf(value))


def test_no_span_changes_what_another_one_said() -> None:
    """The objects of attributes are completed by the attributes below them."""

    def said(*more: tuple[str, str]) -> str:
        request = ExportTraceServiceRequest()
        span = request.resource_spans.add().scope_spans.add().spans.add(trace_id=b"t" * 16, span_id=b"s" * 8)
        span.attributes.add(key="openinference.span.kind").value.string_value = "LLM"
        whole = span.attributes.add(key="llm.input_messages.0").value.kvlist_value
        whole.values.add(key="message.role").value.string_value = "user"
        whole.values.add(key="message.content").value.string_value = "mine"
        for key, text in more:
            span.attributes.add(key=key).value.string_value = text
        [read] = read_protobuf(request.SerializeToString())
        return read.content.input

    alone = said()
    assert said(("llm.input_messages.0.message.content", "theirs")) != alone
    assert said() == alone


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)

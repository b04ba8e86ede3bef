"""The forms of OTLP: JSON in either case, its parsed form and protobuf are read as the same spans."""

import json
import math
import re
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from pydantic import JsonValue

from concord.trace.otlp import Span, read_json, spans_in
from concord.trace.otlp.content.names import NAMES
from concord.trace.otlp.genai import ATTRIBUTES, DESTINATION
from concord.trace.otlp.protobuf_form import read_protobuf

TEXT = st.text(max_size=12) | st.sampled_from(["[]", '{"role":"user","content":"hi"}', "invoke_agent", "chat", "POST"])
NAME = st.sampled_from(sorted(ATTRIBUTES | NAMES | DESTINATION)) | st.sampled_from(
    ["service.name", "llm.input_messages.0.message.role", "other"]
)
NUMBER = st.integers(-(2**63), 2**63 - 1)
ODD: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.sampled_from([[], {}])
"""Values where others are expected."""


def either(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(usual, usual, usual, ODD)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with any of these fields, and with fields of other names."""
    others = {"other": ODD, "start_time_unix_nano": NUMBER, "traceState": TEXT, "links": ODD, "string_value": TEXT}
    return st.fixed_dictionaries({}, optional={name: either(value) for name, value in fields.items()} | others)


NUMBERS = NUMBER | NUMBER.map(str) | st.sampled_from([" 7", "+7", "1_0", "7.0", "\u0661", "", "-", 7.0, 10**30])
SCALARS = optional(
    stringValue=TEXT, boolValue=st.booleans(), intValue=NUMBERS, doubleValue=st.floats(), bytesValue=TEXT
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: optional(
        arrayValue=st.fixed_dictionaries({"values": st.lists(inner, max_size=3)}),
        kvlistValue=st.fixed_dictionaries(
            {"values": st.lists(st.fixed_dictionaries({"key": TEXT, "value": inner}), max_size=3)}
        ),
    ),
    max_leaves=4,
)
PAIRS = st.lists(st.fixed_dictionaries({"key": NAME, "value": VALUES}), max_size=4)
SPANS = optional(
    traceId=TEXT,
    spanId=TEXT,
    parentSpanId=TEXT,
    name=TEXT,
    kind=st.sampled_from([1, 3, "3", "SPAN_KIND_CLIENT"]),
    startTimeUnixNano=NUMBERS,
    endTimeUnixNano=NUMBERS,
    attributes=PAIRS,
    events=st.lists(optional(name=st.sampled_from(["exception", "gen_ai.choice", "x"]), attributes=PAIRS), max_size=2),
    status=optional(code=st.sampled_from([0, 2, "2", "STATUS_CODE_ERROR"]), message=TEXT),
)


def export(span: Any, resource: Any = None) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    scoped = {"scope": {"name": "s", "version": "1"}, "spans": [span], "schemaUrl": ""}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scoped]}]}


def result(body: bytes) -> list[Span] | None:
    """The spans as text that tells integers, booleans and NaN apart; None if the body is refused."""
    try:
        return list(read_json(body))
    except ValueError:
        return None


class TestJson:
    @given(SPANS, optional(attributes=PAIRS))
    def test_of_any_shape_is_read_like_its_parsed_form_or_refused(
        self, span: dict[str, Any], resource: dict[str, Any]
    ) -> None:
        document = export(span, resource)
        assert repr(result(json.dumps(document).encode())) == repr(_spans_or_none(document))

    @pytest.mark.parametrize("depth", [1, 10, 40, 60])
    def test_nested_deep_is_read(self, depth: int) -> None:
        body = nested(depth)
        [span] = read_json(body)
        assert span.attributes["metadata"] == "[" * depth + '"x"' + "]" * depth

    @pytest.mark.parametrize("depth", [400, 2000, 100_000])
    def test_nested_too_deep_is_read_or_refused(self, depth: int) -> None:
        assert result(nested(depth)) is None or depth == 400

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ({"intValue": "-7"}, -7),
            ({"intValue": 7.0}, 7),
            ({"intValue": " 7"}, 7),
            ({"intValue": "7.0"}, 7),
            ({"intValue": "-7e2"}, -700),
            ({"intValue": 10**30}, 10**30),
            ({"boolValue": "true"}, True),
            ({"doubleValue": "1.5"}, 1.5),
            ({"doubleValue": 3}, 3.0),
            ({"doubleValue": "-Infinity"}, -math.inf),
            ({"stringValue": None, "other": 1}, ""),
            (None, ""),
        ],
    )
    def test_has_scalars_as_numbers_or_texts_and_null_for_what_is_absent(self, written: JsonValue, read: Any) -> None:  # noqa: ANN401
        for value in ({"key": "metadata", "value": written}, {"key": "metadata", "value": written, "unknown": [{}]}):
            [span] = read_json(json.dumps(export({"attributes": [value]})).encode())
            assert span.attributes == {"metadata": read}

    @pytest.mark.parametrize(
        "value",
        [
            {"intValue": "x"},
            {"intValue": "7.5"},
            {"intValue": "1e99"},
            {"intValue": True},
            {"stringValue": 1},
            1,
            {"arrayValue": 1},
        ],
    )
    def test_with_a_value_of_another_kind_is_refused(self, value: JsonValue) -> None:
        assert result(json.dumps(export({"attributes": [{"key": "metadata", "value": value}]})).encode()) is None


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"startTimeUnixNano": "1.5"}, "startTimeUnixNano: no integer: '1.5'"),
        ({"attributes": [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "few"}}]},
         "gen_ai.usage.input_tokens: intValue: no integer: 'few'"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_integer_is_named_by_its_field_and_by_the_number_of_its_span(
    fault: dict[str, Any], told: str
) -> None:
    document = {"resourceSpans": [{"scopeSpans": [{"spans": []}, {"spans": [{"name": "one"}, fault]}]}]}
    with pytest.raises(ValueError, match=re.escape(f"resourceSpans[0].scopeSpans[1].spans[1]: {told}")):
        read_json(json.dumps(document).encode())


def nested(depth: int) -> bytes:
    """An export with an attribute of lists in lists."""
    value = '{"arrayValue":{"values":[' * depth + '{"stringValue":"x"}' + "]}}" * depth
    return json.dumps(export({"attributes": [{"key": "metadata", "value": 0}]})).replace("0}", f"{value}}}", 1).encode()


def _spans_or_none(document: JsonValue) -> list[Span] | None:
    try:
        return list(spans_in(document))
    except ValueError:
        return None


PROTO_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(["[]", "chat", "POST"])
PROTO_VALUES = st.recursive(
    st.one_of(
        st.just(AnyValue()),
        PROTO_TEXT.map(lambda text: AnyValue(string_value=text)),
        st.booleans().map(lambda value: AnyValue(bool_value=value)),
        NUMBER.map(lambda value: AnyValue(int_value=value)),
        st.floats().map(lambda value: AnyValue(double_value=value)),
        st.binary(max_size=5).map(lambda value: AnyValue(bytes_value=value)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda values: AnyValue(array_value=ArrayValue(values=values))),
        st.lists(st.tuples(PROTO_TEXT, inner), max_size=3).map(
            lambda pairs: AnyValue(
                kvlist_value=KeyValueList(values=[KeyValue(key=key, value=value) for key, value in pairs])
            )
        ),
    ),
    max_leaves=4,
)
PROTO_PAIRS = st.lists(st.builds(lambda key, value: KeyValue(key=key, value=value), NAME, PROTO_VALUES), max_size=4)


@st.composite
def exports(draw: st.DrawFn) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(draw(PROTO_PAIRS))
    scoped = group.scope_spans.add()
    scoped.scope.name = draw(PROTO_TEXT)
    span = scoped.spans.add(
        trace_id=draw(st.sampled_from([b"", b"t" * 16])),
        span_id=draw(st.just(b"s" * 8)),
        parent_span_id=draw(st.sampled_from([b"", b"p" * 8])),
        name=draw(PROTO_TEXT),
        kind=draw(st.sampled_from([0, 1, 3])),
        start_time_unix_nano=draw(st.integers(0, 2**64 - 1)),
        end_time_unix_nano=draw(st.integers(0, 2**64 - 1)),
    )
    span.attributes.extend(draw(PROTO_PAIRS))
    for name in draw(st.lists(st.sampled_from(["exception", "gen_ai.choice", "x"]), max_size=2)):
        span.events.add(name=name).attributes.extend(draw(PROTO_PAIRS))
    span.status.code = draw(st.sampled_from([Status.STATUS_CODE_UNSET, Status.STATUS_CODE_ERROR]))
    span.status.message = draw(PROTO_TEXT)
    return request


class TestProtobuf:
    @given(exports())
    def test_is_read_like_its_json(self, request: ExportTraceServiceRequest) -> None:
        found = list(read_protobuf(request.SerializeToString()))
        by_json = list(spans_in(MessageToDict(request)))
        assert len(found) == len(by_json)
        for each, other in zip(found, by_json, strict=True):
            assert repr(each) == repr(other)

    @given(exports())
    def test_is_read_like_its_json_in_snake_case(self, request: ExportTraceServiceRequest) -> None:
        body = json.dumps(MessageToDict(request, preserving_proto_field_name=True)).encode()
        assert repr(list(read_json(body))) == repr(list(read_protobuf(request.SerializeToString())))

"""The same export request in both forms of OTLP."""

import json

from concord.trace.otlp.json_form import read_json
from concord.trace.otlp.protobuf_form import read_protobuf
from lab.benchmarks.traces.otlp_forms import json_of, protobuf_of
from lab.benchmarks.traces.recorded_spans import export_requests
from lab.benchmarks.traces.request_bodies import WAYS, exports


def test_both_forms_are_read_as_the_same_spans() -> None:
    [request] = export_requests(spans=40, traces=1)
    assert list(read_protobuf(protobuf_of(request).SerializeToString())) == list(
        read_json(json.dumps(request).encode())
    )


def test_json_has_hexadecimal_ids_and_is_the_inverse() -> None:
    [export] = exports(1)
    written = json.loads(json_of(export))
    [span, *_] = written["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert len(bytes.fromhex(span["traceId"])) == 16
    assert protobuf_of(written) == export


def test_every_way_into_the_collector_has_bodies_of_its_size() -> None:
    for way in WAYS:
        assert len(way.sent(2)) == 2

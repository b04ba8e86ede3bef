"""Sends a recorded trace to Phoenix and exports it: `pip install arize-phoenix`, run `phoenix serve`, then
`python record_phoenix.py OTLP.jsonl FOLDER`."""

import base64
import json
import sys
import time
import urllib.request
from pathlib import Path

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from phoenix.client import Client

PHOENIX = "http://127.0.0.1:6006"
SOURCE, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])


def with_base64_ids(value):
    """OTLP/JSON has ids in hex; protobuf's own JSON form has them in base64."""
    if isinstance(value, list):
        return [with_base64_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    return {
        key: base64.b64encode(bytes.fromhex(each)).decode() if key in ids else with_base64_ids(each)
        for key, each in value.items()
    }


messages = [
    ParseDict(with_base64_ids(json.loads(line)), ExportTraceServiceRequest()).SerializeToString()
    for line in SOURCE.read_text().splitlines()
]
for message in messages:
    request = urllib.request.Request(
        f"{PHOENIX}/v1/traces", data=message, headers={"Content-Type": "application/x-protobuf"}
    )
    urllib.request.urlopen(request)
time.sleep(5)

with urllib.request.urlopen(f"{PHOENIX}/v1/projects/default/spans?limit=1000") as answer:
    (FOLDER / "phoenix-api.json").write_bytes(answer.read())
frame = Client(base_url=PHOENIX).spans.get_spans_dataframe(project_identifier="default", limit=1000)
frame.to_json(FOLDER / "phoenix-frame.jsonl", orient="records", lines=True, date_format="iso")
(FOLDER / "otlp.pb").write_bytes(b"".join(len(each).to_bytes(4, "big") + each for each in messages))

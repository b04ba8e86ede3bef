"""Exports of Langfuse, Phoenix and MLflow, and OTLP in protobuf: samples are read exactly, bad input by its line."""

import json
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from concord_evaluator.formats.registry import recognise
from tests.kit.sources import (
    agents_of,
    calls_between,
    evaluated,
    read,
    read_file,
    read_past_faults,
    refusal,
    source,
)

RECORDINGS = Path(__file__).parents[3] / "recordings"
EXPORTS = RECORDINGS / "exports"
GOLDEN = RECORDINGS / "frameworks" / "langgraph-supervisor-openinference.jsonl"


@pytest.mark.parametrize(
    ("file", "calls"),
    [
        ("mlflow-trace.json", {("planner", "researcher"): 2, ("planner", "critic"): 1}),
        ("mlflow-artifact.json", {("planner", "researcher"): 2, ("planner", "critic"): 1}),
        ("langfuse-api.json", {("planner", "researcher"): 1, ("planner", "critic"): 1}),
        ("langfuse-rows.jsonl", {("planner", "researcher"): 1, ("planner", "critic"): 1}),
    ],
)
def test_the_agents_calls_and_failures_of_an_export_are_read(file: str, calls: dict[tuple[str, str], int]) -> None:
    [trace] = read_file(EXPORTS / file)
    [trial] = evaluated(trace).detail.trials

    assert agents_of(trace) == ["critic", "planner", "researcher"]
    assert calls_between(trace) == calls
    assert {each.callee for each in trial.interactions if each.errors} == {"critic"}
    assert trial.steps.tool > 0


@pytest.mark.parametrize("file", ["phoenix-api.json", "phoenix-frame.jsonl", "otlp.pb"])
def test_the_same_spans_in_another_form_result_in_the_same_graph(file: str) -> None:
    [golden], [trace] = read_file(GOLDEN), read_file(EXPORTS / file)

    assert agents_of(trace) == agents_of(golden)
    assert calls_between(trace) == calls_between(golden)
    assert trace.trace_id == golden.trace_id


def test_a_single_request_in_protobuf_needs_no_length() -> None:
    data = (EXPORTS / "otlp.pb").read_bytes()
    whole, at = ExportTraceServiceRequest(), 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        whole.MergeFromString(data[at + 4 : end])
        at = end

    [trace] = read(whole.SerializeToString(), "spans.pb")
    assert recognise(source(whole.SerializeToString(), "spans.pb")) == "otlp"
    assert agents_of(trace) == agents_of(read_file(GOLDEN)[0])


@pytest.mark.parametrize("file", sorted(path.name for path in EXPORTS.iterdir()))
def test_each_sample_is_recognised_as_its_own_format(file: str) -> None:
    data = (EXPORTS / file).read_bytes()

    assert recognise(source(data, file)) == file.partition("-")[0].partition(".")[0]


def test_a_trace_of_langfuse_holds_its_observations() -> None:
    rows = json.loads((EXPORTS / "langfuse-api.json").read_text())["data"]
    [trace] = read(json.dumps({"id": "0f" * 16, "timestamp": rows[0]["startTime"], "name": "", "observations": rows}))

    assert agents_of(trace) == ["critic", "planner", "researcher"]


def test_ids_that_are_not_hex_stay_distinct() -> None:
    rows = [json.loads(line) for line in (EXPORTS / "langfuse-rows.jsonl").read_text().splitlines()]
    for row in rows:
        row["trace_id"], row["id"] = "a-run", f"step-{row['id']}"
        row["parent_observation_id"] = row["parent_observation_id"] and f"step-{row['parent_observation_id']}"
    [trace] = read("\n".join(map(json.dumps, rows)))

    assert calls_between(trace) == {("planner", "researcher"): 1, ("planner", "critic"): 1}


def test_a_bad_line_is_refused_with_its_number_and_what_was_expected() -> None:
    lines = (EXPORTS / "langfuse-rows.jsonl").read_text().splitlines()
    broken = [*lines[:3], json.dumps({"id": "x", "traceId": "y", "type": "SPAN"}), "7", *lines[3:]]
    [trace], faults = read_past_faults("\n".join(broken))

    assert [fault.partition("; expected")[0] for fault in faults] == [
        "file.json:4: startTime: Field required",
        "file.json:5: not an object",
    ]
    assert all("expected Langfuse's observations (`id`, `traceId`, `type`, `startTime`)" in fault for fault in faults)
    assert len(agents_of(trace)) == 3


def test_a_bad_span_of_a_document_is_refused_with_its_place() -> None:
    document = json.loads((EXPORTS / "mlflow-trace.json").read_text())
    document["data"]["spans"][2]["start_time_unix_nano"] = "noon"
    _, faults = read_past_faults(json.dumps(document))

    [fault] = faults
    assert fault.startswith("file.json:1: span 3: start_time_unix_nano: ")
    assert "expected MLflow's traces (`data.spans`)" in fault


def test_protobuf_that_is_truncated_or_not_a_request_is_refused_with_its_message() -> None:
    data = (EXPORTS / "otlp.pb").read_bytes()
    first = 4 + int.from_bytes(data[:4], "big")
    garbled = data[:first] + (5).to_bytes(4, "big") + b"\x0a\x7f\x00\x00\x00" + data[first:]

    expected = "expected an ExportTraceServiceRequest, alone or after its length in 4 bytes (big endian)"
    assert f"is cut off at byte {len(data) - 7}" in refusal(data[:-7])
    assert expected in refusal(data[:-7])
    assert read_past_faults(garbled)[1] == [f"file.json:2: message 2 cannot be read; {expected}"]

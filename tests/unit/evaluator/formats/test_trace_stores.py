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


def observation(number: int, kind: str, name: str, above: int | None, **more: object) -> dict[str, object]:
    started = {"startTime": f"2026-01-05T10:00:0{number}Z", "endTime": f"2026-01-05T10:00:0{9 - number}Z"}
    parent = None if above is None else f"{above:016x}"
    return {"id": f"{number:016x}", "traceId": "ab" * 16, "parentObservationId": parent, "type": kind, "name": name} | {
        **started,
        **more,
    }


def test_the_trace_that_langfuse_s_page_downloads_has_its_observations_beside_it() -> None:
    rows = [
        observation(1, "AGENT", "cook", None),
        observation(2, "TOOL", "ask", 1),
        observation(3, "AGENT", "fisher", 2),
    ]
    [trace] = read(json.dumps({"trace": {"id": "ab" * 16, "name": "run"}, "observations": rows}))
    assert calls_between(trace) == {("cook", "fisher"): 1}


def test_attributes_that_langfuse_keeps_in_metadata_are_read_as_those_of_otlp() -> None:
    def kept(name: str) -> dict[str, object]:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        resource = {"service.name": "galley", "service.version": "7"}
        return {"metadata": {"attributes": attributes, "scope": {"name": "x"}, "resourceAttributes": resource}}

    rows = [observation(1, "SPAN", "a", None, **kept("cook")), observation(2, "SPAN", "b", 1, **kept("fisher"))]
    [trace] = read(json.dumps({"id": "ab" * 16, "name": "", "timestamp": "2026-01-05", "observations": rows}))
    assert calls_between(trace) == {("cook", "fisher"): 1}
    assert trace.version == "7"


def printed(span: str, parent: str | None, name: str, indent: int | None) -> str:
    return json.dumps(
        {
            "name": f"invoke_agent {name}",
            "context": {"trace_id": "0x" + "ab" * 16, "span_id": f"0x{span * 8}", "trace_state": "[]"},
            "kind": "SpanKind.INTERNAL",
            "parent_id": parent and f"0x{parent * 8}",
            "start_time": "2026-01-05T10:00:00.000000Z",
            "end_time": "2026-01-05T10:00:02.000000Z",
            "status": {"status_code": "ERROR", "description": "no fish"} if name == "fisher" else {},
            "attributes": {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name},
            "events": [],
            "resource": {"attributes": {"service.name": "galley"}},
        },
        indent=indent,
    )


@pytest.mark.parametrize("indent", [4, None])
def test_spans_that_the_python_sdk_prints_are_read_one_after_another(indent: int | None) -> None:
    [trace] = read("\n".join([printed("3c", "1a", "fisher", indent), printed("1a", None, "cook", indent)]))
    [trial] = evaluated(trace).detail.trials
    assert calls_between(trace) == {("cook", "fisher"): 1}
    assert {each.callee for each in trial.interactions if each.errors} == {"fisher"}


def test_a_printed_span_that_is_cut_off_is_left_out_with_a_message() -> None:
    whole = printed("1a", None, "cook", 4) + "\n" + printed("3c", "1a", "fisher", 4) + "\n"
    [trace], faults = read_past_faults(whole + printed("4d", "1a", "diver", 4)[:-40])
    assert agents_of(trace) == ["cook", "fisher"]
    assert len(faults) == 1


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

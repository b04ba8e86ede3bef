"""A2A traceability: response traces are read in both wire forms, wherever A2A puts them."""

import json

import pytest

from concord.wire.assignment import TRACEABILITY_KEY
from tests.kit.sources import agents_of, calls_between, read, refusal

SPEC = {
    "trace_id": "t",
    "steps": [
        {
            "step_id": "s1",
            "trace_id": "t",
            "call_type": "AGENT",
            "step_action": {
                "agent_invocation": {
                    "agent_url": "http://worker:9009/",
                    "agent_name": "worker",
                    "requests": {"text": "Do it."},
                    "response_trace": {
                        "trace_id": "t",
                        "steps": [
                            {
                                "step_id": "s2",
                                "trace_id": "t",
                                "parent_step_id": "s1",
                                "call_type": "AGENT",
                                "step_action": {"agent_invocation": {"agent_name": "checker"}},
                            }
                        ],
                    },
                }
            },
        },
        {
            "step_id": "s3",
            "trace_id": "t",
            "call_type": "TOOL",
            "step_action": {"tool_invocation": {"tool_name": "search"}},
        },
    ],
}

LIBRARY = {
    "traceId": "t",
    "steps": [
        {"stepId": "s1", "traceId": "t", "callType": "AGENT", "name": "worker", "requests": {"text": "Do it."}},
        {"stepId": "s3", "traceId": "t", "callType": "HOST", "name": "merge", "error": "no"},
    ],
}

MESSAGE = {"kind": "message", "role": "agent", "parts": [], "metadata": {TRACEABILITY_KEY: SPEC}}
ARTIFACT = {"artifactId": "a", "parts": [], "metadata": {TRACEABILITY_KEY: SPEC}}
DATA_PART = {"artifactId": "a", "parts": [{"kind": "data", "data": SPEC}]}
TASK = {"kind": "task", "id": "1", "artifacts": [{"artifactId": "b", "parts": []}, ARTIFACT]}


def test_every_call_has_its_caller_and_callee() -> None:
    [trace] = read(json.dumps(SPEC), "planner.json")
    assert calls_between(trace) == {("planner", "worker"): 1, ("worker", "checker"): 1}
    assert agents_of(trace) == ["checker", "planner", "worker"]


def test_the_library_form_yields_the_same_calls() -> None:
    [trace] = read(json.dumps(LIBRARY, indent=1), "planner.json")
    assert calls_between(trace) == {("planner", "worker"): 1}


@pytest.mark.parametrize("document", [MESSAGE, ARTIFACT, DATA_PART, TASK, [SPEC], {"result": TASK}])
def test_a_response_trace_is_found_wherever_a2a_puts_it(document: object) -> None:
    [trace] = read(json.dumps(document), "planner.json", "a2a")
    assert calls_between(trace) == {("planner", "worker"): 1, ("worker", "checker"): 1}


def test_answers_of_one_trace_are_merged_and_repetitions_count_once() -> None:
    second = {"trace_id": "t", "steps": [{**LIBRARY["steps"][0], "stepId": "s9"}]}  # type: ignore[dict-item]
    [trace] = read("\n".join(map(json.dumps, (SPEC, SPEC, second))), "planner.jsonl")
    assert calls_between(trace) == {("planner", "worker"): 2, ("worker", "checker"): 1}


def test_a_trace_may_exceed_the_size_of_a_batch() -> None:
    steps = [{"step_id": f"s{number}", "call_type": "AGENT", "name": "worker"} for number in range(2500)]
    [trace] = read(json.dumps({"trace_id": "t", "steps": steps}), "planner.json")
    assert calls_between(trace) == {("planner", "worker"): 2500}


@pytest.mark.parametrize(
    ("name", "agent"), [("my agent.json", "my agent"), ("stdin", "stdin"), ("a/b:c.json", "b-c"), ("-", "agent")]
)
def test_the_reporter_is_taken_from_the_file_name_with_a_warning(name: str, agent: str) -> None:
    [trace] = read(json.dumps(LIBRARY), name)
    assert [report.reporter for report in trace.reports()] == [agent, agent]
    assert trace.warnings == (f"a response trace names no agent: assigned to {agent}, after the file name",)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"a": [1, {"steps": []}]}, "no response trace found: expected an object with `trace_id` and `steps`"),
        ({"trace_id": "t", "steps": [1]},
         "steps[0]: Input should be a valid dictionary or instance of InteractionStep"),
        ({"trace_id": "t", "steps": [{"step_id": "s", "call_type": "SONG"}]},
         "steps[0].call_type: Input should be 'AGENT', 'TOOL' or 'HOST'"),
        ({"trace_id": "", "steps": []}, "trace id: must have 1 to 64 characters, has 0"),
        ({"trace_id": "t", "reporter": "A", "steps": []},
         "a response trace has no `reporter`, a batch in Concord's own form has: --format concord"),
    ],
)  # fmt: skip
def test_an_invalid_response_trace_is_refused_with_the_reason(document: object, reason: str) -> None:
    assert refusal(json.dumps(document), "a2a") == f"file.json:1: {reason}"

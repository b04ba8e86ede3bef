"""What a recording declares of its task: an id, an expected answer, a judgment; in attributes, metadata, and stores."""

import json

import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.results import Grading
from concord_evaluator.formats.declared import BY_TRACE
from concord_evaluator.offline import evaluate_trace
from tests.kit.recordings import otlp, trace_of


def grading_of(document: str | bytes) -> Grading:
    [trial] = evaluate_trace(trace_of(document), AssessmentConfig()).detail.trials
    assert trial.grading is not None
    return trial.grading


@pytest.mark.parametrize(
    ("attributes", "value"),
    [
        ({"concord__target": "Bergen"}, 1.0),
        ({"concord__target": "Oslo"}, 0.0),
        ({"concord__target": '["Oslo", "Bergen"]'}, 1.0),
        ({"concord__target": "Bergen", "concord__scorer": "exact"}, 0.0),
        ({"concord__target": "12", "concord__scorer": '{"name": "numeric", "tolerance": 1}'}, 1.0),
        ({"langfuse__experiment__item__expected_output": '"Bergen"'}, 1.0),
        ({"metadata": json.dumps({"concord.target": "Bergen"})}, 1.0),
        ({"langsmith__metadata__concord__target": "Bergen"}, 1.0),
    ],
)
def test_a_declared_target_is_graded_by_code_and_the_row_says_so(attributes: dict[str, str], value: float) -> None:
    grading = grading_of(otlp("Bergen is open from 13.", **attributes))
    assert (grading.value, grading.source, grading.reason) == (value, "code", BY_TRACE)


@pytest.mark.parametrize(
    ("attributes", "value"),
    [
        ({"eval__correctness__score": "0.25"}, None),  # a text is no number
        ({"eval__correctness__label": "incorrect"}, 0.0),
        ({"eval__Correctness__label": "correct"}, 1.0),
        ({"concord__scores": '{"helpfulness": 0.2, "accuracy": 0.75}'}, 0.75),
        ({"concord__scores": '{"correctness": 4}'}, None),  # another scale
        ({"concord__scores": '{"helpfulness": 1}'}, None),  # another question
    ],
)
def test_a_judgment_counts_if_it_is_of_the_answer_and_from_0_to_1(
    attributes: dict[str, str], value: float | None
) -> None:
    grading = grading_of(otlp("Bergen", **attributes))
    assert (grading.value, grading.source) == (value, "nobody" if value is None else "recorded")


def test_a_judgment_of_a_step_is_none_of_the_answer() -> None:
    document = json.loads(otlp("Bergen"))
    _, inner = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    inner["attributes"].append({"key": "eval.correctness.label", "value": {"stringValue": "correct"}})
    assert grading_of(json.dumps(document)).value is None


def test_a_target_counts_before_a_judgment() -> None:
    assert grading_of(otlp("Bergen", concord__target="Oslo", eval__correctness__label="correct")).value == 0.0


def test_a_target_without_an_answer_to_compare_leaves_the_outcome_open() -> None:
    grading = grading_of(otlp("", concord__target="Oslo"))
    assert (grading.value, grading.reason) == (None, "the recording has no answer to grade")


def test_a_target_that_cannot_be_used_is_a_warning() -> None:
    trace = trace_of(otlp("Bergen", concord__target="many", concord__scorer="numeric"))
    assert trace.expected is None
    assert [each for each in trace.warnings if "cannot be used" in each and "not a number" in each]


@pytest.mark.parametrize("name", ["concord__task_id", "langfuse__experiment__item__id"])
def test_the_id_of_the_task_is_that_of_the_trial(name: str) -> None:
    [trial] = evaluate_trace(trace_of(otlp("Bergen", **{name: "q-7"})), AssessmentConfig()).detail.trials
    assert trial.task_id == "q-7"


AT = "2026-01-01T00:00:00Z"

LANGFUSE = {
    "trace": {
        "id": "t",
        "scores": [
            {"name": "Correctness", "value": 0, "observationId": "o"},
            {"name": "Correctness", "value": 1, "observationId": None},
        ],
    },
    "observations": [
        {"id": "o", "traceId": "t", "type": "AGENT", "name": "clerk", "startTime": AT, "input": "?", "output": "Bergen"}
    ],
}

LANGSMITH = {
    "id": "3e117aca-98f8-8a3f-04aa-b308eff00697",
    "trace_id": "3e117aca-98f8-8a3f-04aa-b308eff00697",
    "run_type": "chain",
    "name": "clerk",
    "start_time": AT,
    "reference_example_id": "q-7",
    "feedback_stats": {"correctness": {"n": 1, "avg": 0.5}},
    "extra": {"metadata": {"langgraph_node": "clerk", "langgraph_checkpoint_ns": "clerk:1"}},
    "child_runs": [
        {
            "id": "4e117aca-98f8-8a3f-04aa-b308eff00697",
            "trace_id": "3e117aca-98f8-8a3f-04aa-b308eff00697",
            "parent_run_id": "3e117aca-98f8-8a3f-04aa-b308eff00697",
            "run_type": "llm",
            "name": "model",
            "start_time": AT,
            "extra": {"metadata": {"langgraph_node": "clerk", "langgraph_checkpoint_ns": "clerk:1"}},
        }
    ],
}

PHOENIX = {
    "name": "clerk",
    "context.trace_id": "1",
    "context.span_id": "2",
    "span_kind": "AGENT",
    "start_time": AT,
    "eval.Correctness.score": 1.0,
    "attributes": {"agent.name": "clerk", "output.value": "Bergen"},
}

MLFLOW = {
    "info": {
        "trace_id": "t",
        "assessments": [
            {"assessment_name": "expected_response", "expectation": {"value": "Oslo"}},
            {"assessment_name": "correctness", "feedback": {"value": True}},
        ],
    },
    "data": {
        "spans": [
            {
                "trace_id": "t",
                "span_id": "s",
                "name": "clerk",
                "start_time_unix_nano": 10**18,
                "attributes": {
                    "mlflow.spanType": '"AGENT"',
                    "mlflow.spanInputs": '"?"',
                    "mlflow.spanOutputs": '"Bergen"',
                },
            }
        ]
    },
}


@pytest.mark.parametrize(
    ("export", "value", "source"),
    [(LANGFUSE, 1.0, "recorded"), (LANGSMITH, 0.5, "recorded"), (PHOENIX, 1.0, "recorded"), (MLFLOW, 0.0, "code")],
    ids=["langfuse", "langsmith", "phoenix", "mlflow"],
)
def test_the_judgments_of_a_store_on_the_whole_trace_count(export: object, value: float, source: str) -> None:
    grading = grading_of(json.dumps(export))
    assert (grading.value, grading.source, grading.reason) == (value, source, BY_TRACE)


def test_the_item_of_a_data_set_is_the_task() -> None:
    assert trace_of(json.dumps(LANGSMITH)).task_id == "q-7"

"""CooperBench runs: each message is a timed call, and the task's success is read."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.kit.failed_runs import message
from tests.kit.sources import (
    SAMPLES,
    agents_of,
    calls_between,
    evaluated,
    read,
    read_file,
    refusal,
)

pytestmark = pytest.mark.usefixtures("research_formats")


def run(*messages: dict[str, Any], passed: bool | None = True) -> str:
    document = {
        "path": "logs/one",
        "conversation": messages,
        "eval": {"repo": "tool_task", "both_passed": passed, "merge": {"status": "clean"}},
        "result": {
            "repo": "tool_task",
            "task_id": 7,
            "features": [1, 2],
            "agents": {"one": {"cost": 0.3, "steps": 4}, "two": {"cost": 0.1, "steps": 2}},
        },
    }
    return json.dumps(document, indent=1)


def test_every_message_is_a_call_of_its_receiver_by_its_sender() -> None:
    [trace] = read(
        run(message("one", "two", "I take a."), message("two", "one", "I take b."), message("two", "one", "?"))
    )
    assert calls_between(trace) == {("one", "two"): 1, ("two", "one"): 2}


def test_agents_without_messages_are_in_the_team() -> None:
    [trace] = read(run())
    assert agents_of(trace) == ["one", "two"]
    assert evaluated(trace).detail.graph_metrics.isolated_agents == ["one", "two"]


@pytest.mark.parametrize(("passed", "success"), [(True, 1.0), (False, 0.0), (None, None)])
def test_the_task_succeeds_if_both_features_pass(passed: bool | None, success: float | None) -> None:
    [trace] = read(run(message("one", "two", "x"), passed=passed))
    [outcome] = evaluated(trace).detail.scoring.sub_scores
    assert (trace.task_success, outcome.id, outcome.value) == (success, "outcome", success)
    assert trace.task == "tool_task 7: features 1 and 2"


def test_messages_keep_the_times_they_were_sent_at() -> None:
    [trace] = read(run(message("one", "two", "x", 1_700_000_000.5), message("two", "one", "y", 1_700_000_010.5)))
    first, *_ = sorted(report.step.step_id for report in trace.reports())
    times = {report.step.step_id: report.step.start_time for report in trace.reports()}
    assert times[first] == datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)
    assert (trace.duration_s, evaluated(trace).time_used, evaluated(trace).detail.latency_metrics.n) == (10.0, 10.0, 0)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="CONCORD_TRACE_SAMPLES names no folder")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("cooperbench/*.json")), ids=lambda path: path.name)
def test_the_calls_of_a_public_run_are_its_messages(path: Path) -> None:
    document = json.loads(path.read_text())
    [trace] = read_file(path)
    assert calls_between(trace) == Counter((each["from"], each["to"]) for each in document["conversation"])
    assert sum(calls_between(trace).values()) == document["result"]["messages_sent"]
    assert trace.task_success == float(path.name.startswith("pass"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            '{"conversation": [{"from": "one"}]}',
            "conversation[0].to: Field required; conversation[0].message: Field req",
        ),
        (
            '{"conversation": [{"from": "one", "to": null, "message": "x"}]}',
            "conversation[0].to: Input should be a val",
        ),
        ('{"conversation": [{"from": "one", "to": "two", "message": "x", "timestamp": 1e300}]}', ""),
        ('{"path": 1}', "path: Input should be a valid string; conversation: Field required"),
    ],
)
def test_an_invalid_run_is_refused_with_the_reason(content: str, reason: str) -> None:
    assert refusal(content, "cooperbench").startswith(f"file.json:1: {reason}")

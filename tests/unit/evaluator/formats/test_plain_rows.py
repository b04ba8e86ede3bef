"""Plain rows: who said what to whom, which tool was used, and what failed, in JSON or CSV."""

import json

import pytest

from concord_evaluator.formats import recognise
from tests.kit.sources import agents_of, calls_between, evaluated, read, read_past_faults, source

ROWS = [
    {"who": "user", "to": "desk", "text": "A boat?", "tool": "", "error": ""},
    {"who": "desk", "to": "pier", "text": "Any boat free?", "tool": "", "error": ""},
    {"who": "pier", "to": "", "text": "", "tool": "berths", "error": "timeout"},
    {"who": "pier", "to": "desk", "text": "No.", "tool": "", "error": ""},
    {"who": "desk", "to": "user", "text": "None is free.", "tool": "", "error": ""},
]


def as_csv(rows: list[dict[str, str]]) -> str:
    return "\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)])


@pytest.mark.parametrize("content", [json.dumps(ROWS), "\n".join(map(json.dumps, ROWS)), as_csv(ROWS)])
def test_rows_are_messages_tools_and_errors_of_agents(content: str) -> None:
    [trace] = read(content)
    [trial] = evaluated(trace).detail.trials
    assert recognise(source(content)) == "rows"
    assert agents_of(trace) == ["desk", "pier"]
    assert calls_between(trace) == {("desk", "pier"): 1, ("pier", "desk"): 1}
    assert (trace.task, trace.answer, trial.steps.tool) == ("A boat?", "None is free.", 1)
    assert [report.step.error for report in trace.reports() if report.step.error] == ["timeout"]


def test_rows_of_several_runs_are_a_trace_each() -> None:
    rows = [{"run": run, "from": "a", "receiver": "b", "content": "x"} for run in ("one", "two", "one")]
    assert {trace.trace_id: sum(calls_between(trace).values()) for trace in read(json.dumps(rows))} == {
        "one": 2,
        "two": 1,
    }


def test_a_row_without_a_name_is_left_out() -> None:
    [trace], faults = read_past_faults("\n".join(map(json.dumps, [*ROWS, {"to": "desk", "text": "?"}])))
    assert [fault.partition(";")[0] for fault in faults] == ["file.json:6: nobody is named"]
    assert agents_of(trace) == ["desk", "pier"]

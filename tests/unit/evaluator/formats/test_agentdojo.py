"""Logs of AgentDojo: the tools of one assistant with results, errors and effects, and whether the task was done."""

import json
from typing import Any

import pytest

from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.effects import EffectKind, effect_of
from concord.trace.stored_step import Step
from concord_evaluator.diagnosis import diagnose
from concord_evaluator.formats import Trace
from tests.kit.sources import agents_of, evaluated, read, refusal

pytestmark = pytest.mark.usefixtures("research_formats")


def block(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": text}]


def used(function: str, result: str, error: str | None = None, **args: str) -> dict[str, Any]:
    call = {"function": function, "args": args, "id": "call-1", "placeholder_args": None}
    return {"role": "tool", "content": block(result), "tool_call": call, "tool_call_id": "call-1", "error": error}


RUN: dict[str, Any] = {
    "suite_name": "banking",
    "pipeline_name": "a-model",
    "user_task_id": "user_task_3",
    "injection_task_id": None,
    "attack_type": None,
    "injections": {},
    "messages": [
        {"role": "system", "content": block("You are an assistant.")},
        {"role": "user", "content": block("Send my friend the 4.00 that I owe.")},
        {"role": "assistant", "content": None, "tool_calls": [{"function": "get_iban", "args": {}}]},
        used("get_iban", "GB29"),
        used("send_money", "sent", recipient="GB29", amount="4.00"),
        used("update_password", "", error="ValueError: too short", password="x"),
        {"role": "assistant", "content": block("I sent 4.00."), "tool_calls": None},
    ],
    "error": None,
    "utility": True,
    "security": True,
}


def trace_of(**changes: object) -> Trace:
    [trace] = read(json.dumps({**RUN, **changes}))
    return trace


def steps_of(trace: Trace) -> dict[str, Step]:
    return {report.step.step_id: report.step for report in trace.reports()}


def test_a_run_has_its_name_its_task_its_answer_and_its_outcome() -> None:
    trace = trace_of()
    assert (trace.trace_id, agents_of(trace)) == ("a-model/banking/user_task_3", ["assistant"])
    assert (trace.task, trace.answer) == ("Send my friend the 4.00 that I owe.", "I sent 4.00.")
    assert evaluated(trace).score == 100
    attacked = trace_of(attack_type="tool_knowledge", injection_task_id="injection_task_1")
    assert attacked.trace_id == "a-model/banking/user_task_3/tool_knowledge/injection_task_1"


@pytest.mark.parametrize(
    ("changes", "success"),
    [({"utility": False}, 0.0), ({"utility": None}, None), ({"utility": False, "error": "API error"}, None)],
)
def test_the_outcome_is_unknown_where_the_run_ended_with_an_error(
    changes: dict[str, object], success: float | None
) -> None:
    assert trace_of(**changes).task_success == success


def test_each_tool_is_a_step_with_its_arguments_result_error_and_effect() -> None:
    steps = steps_of(trace_of())
    assert list(steps) == ["0003", "0004", "0005", "0006"]
    assert steps["0003"].additional_attributes == {RESPONSE_TEXT: "GB29"}
    sent = effect_of(steps["0004"].additional_attributes)
    assert sent is not None
    assert (sent.kind, sent.artifact) == (EffectKind.DELIVERED, "send_money")
    assert sent.excerpt == '{"amount":"4.00","recipient":"GB29"}'
    assert (steps["0005"].failure, effect_of(steps["0005"].additional_attributes)) == ("ValueError: too short", None)


def test_a_payment_that_is_made_twice_and_a_failure_that_stays_are_observed() -> None:
    again = used("send_money", "sent", amount="4.00", recipient="GB29")
    found = diagnose(trace_of(messages=[*RUN["messages"], again], utility=False)).observations
    assert [(each.kind, each.about) for each in found] == [
        ("unrepaired_failure", "update_password"),
        ("same_work_twice", "send_money"),
    ]


def test_older_logs_with_plain_texts_are_read() -> None:
    messages = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hello.", "tool_calls": None}]
    trace = trace_of(messages=messages)
    assert (trace.task, trace.answer) == ("Hello?", "Hello.")


def test_an_invalid_log_is_refused_with_the_reason() -> None:
    assert "messages" in refusal(json.dumps({**RUN, "messages": [{"content": "x"}]}), "agentdojo")

"""Group chats in the form of Who&When: who said what, which code ran, and nothing that people said about the cause."""

import json

import pytest

from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.report import Report
from concord.trace.step import CallType
from concord_evaluator.formats import Trace
from tests.kit.failed_runs import GROUP_CHAT as RUN
from tests.kit.failed_runs import LABELS, said
from tests.kit.sources import agents_of, calls_between, evaluated, read, refusal

pytestmark = pytest.mark.usefixtures("research_formats")


def trace_of(**changes: object) -> Trace:
    [trace] = read(json.dumps({**RUN, **changes}))
    return trace


def steps_of(trace: Trace, kind: CallType) -> list[Report]:
    return [report for report in trace.reports() if report.step.kind is kind]


def test_a_run_has_its_question_its_outcome_and_the_last_thing_said() -> None:
    trace = trace_of()
    assert (trace.trace_id, trace.task, trace.task_success) == ("q-1", "How many clients?", 0.0)
    assert trace.answer == "I count **4**."


@pytest.mark.parametrize(("is_correct", "success"), [(True, 1.0), (False, 0.0), (None, None)])
def test_the_outcome_is_unknown_unless_the_log_states_it(is_correct: bool | None, success: float | None) -> None:
    assert trace_of(is_correct=is_correct).task_success == success


def test_every_member_hears_every_message_and_a_silent_one_is_a_member() -> None:
    trace = trace_of()
    assert agents_of(trace) == ["Checker", "Counter", "Reader"]
    assert calls_between(trace) == {
        ("Reader", "Counter"): 1, ("Reader", "Checker"): 1, ("Counter", "Reader"): 2, ("Counter", "Checker"): 2,
    }  # fmt: skip
    [trial] = evaluated(trace).detail.trials
    assert {kind for pair in trial.interactions for kind in pair.kinds} == {"conversation"}


def test_a_message_is_a_step_named_by_its_index_with_its_text() -> None:
    spoken = {each.step.step_id: each for each in steps_of(trace_of(), CallType.HOST)}
    assert {name: each.reporter for name, each in spoken.items()} == {
        "0000": "Reader", "0002": "Counter", "0004": "Counter",
    }  # fmt: skip
    assert spoken["0002"].step.additional_attributes[RESPONSE_TEXT] == "I count **4**. TERMINATE"


def test_executed_code_is_a_tool_of_the_agent_that_wrote_it_and_a_failed_run_its_error() -> None:
    failed, idle = steps_of(trace_of(), CallType.TOOL)
    action = failed.step.step_action
    tool = None if action is None else action.tool_invocation
    assert (failed.reporter, idle.reporter) == ("Reader", "Counter")
    assert tool is not None
    assert (tool.tool_name, tool.parameters) == ("Terminal", {"code": "print(2)\n\nls\n"})
    assert (failed.step.failure, idle.step.failure) == ("exitcode: 1 (execution failed)", None)
    assert failed.step.additional_attributes[RESPONSE_TEXT].endswith("Code output: no file")


def test_an_agent_with_instructions_that_quotes_the_executor_stays_an_agent() -> None:
    trace = trace_of(history=[said("Reader", "exitcode: 0 (execution succeeded)"), said("Counter", "4")])
    assert steps_of(trace, CallType.TOOL) == []


def test_what_people_said_about_the_cause_changes_nothing() -> None:
    other = {"mistake_agent": "Reader", "mistake_step": "0", "mistake_reason": "x", "ground_truth": "4"}
    unlabelled = {key: value for key, value in RUN.items() if key not in LABELS}
    [plain] = read(json.dumps(unlabelled))
    assert plain == trace_of() == trace_of(**other)
    assert evaluated(plain) == evaluated(trace_of(**other))


def test_a_run_without_a_message_is_refused() -> None:
    assert refusal(json.dumps({**RUN, "history": []})).startswith("file.json:1: history: ")


def test_a_hand_crafted_log_says_in_its_roles_to_whom_the_orchestrator_speaks() -> None:
    said = [
        ("human", "When does the ferry leave?"),
        ("Orchestrator (thought)", "Ask the timetable."),
        ("Orchestrator (-> Timetable)", "Look up the ferry."),
        ("Timetable", "At 9:40."),
        ("Orchestrator (termination condition)", "9:40"),
    ]
    history = [{"role": role, "content": text} for role, text in said]
    labels = {"mistake_agent": "Timetable", "mistake_step": "3", "ground_truth": "10:00"}
    [trace] = read(json.dumps({"history": history, "question": said[0][1], "is_corrected": False, **labels}))
    assert agents_of(trace) == ["Orchestrator", "Timetable"]
    assert (trace.task_success, trace.answer) == (0.0, "9:40")
    assert calls_between(trace)["Orchestrator", "Timetable"] == 1
    assert "10:00" not in str(trace)

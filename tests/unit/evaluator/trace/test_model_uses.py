"""The model calls that agents report: whose they are, what they tell, and that none counts twice."""

from collections.abc import Mapping

from concord.assessment.cost import ModelUse
from concord.trace.step import CallType, InteractionStep, StepAction, ToolInvocation
from concord_evaluator.trace import Projection
from tests.kit.traces import TRACE_ID, call, projected, reported_by, tool


def asked(
    step_id: str,
    parent: str | None = None,
    attributes: Mapping[str, str] | None = None,
    *,
    model: str = "m",
    tokens: int | None = None,
) -> InteractionStep:
    """A call of a model."""
    return InteractionStep(
        step_id=step_id,
        trace_id=TRACE_ID,
        parent_step_id=parent,
        call_type=CallType.TOOL,
        step_action=StepAction(tool_invocation=ToolInvocation(tool_name=model)),
        total_tokens=tokens,
        additional_attributes=dict(attributes or {}),
    )


SPLIT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.usage.input_tokens": "30",
    "gen_ai.usage.output_tokens": "12",
}


def uses(projection: Projection) -> list[tuple[str, str | None, int, int]]:
    return [(use.agent, use.model, use.calls, use.tokens) for use in projection.uses]


def test_a_model_call_is_its_reporters() -> None:
    found = projected(reported_by("A", call("1", "B")), reported_by("B", asked("2", "1", SPLIT)))
    assert found.uses == [
        ModelUse(agent="B", model="m", calls=1, untold=0, unsplit=0, tokens=42, input_tokens=30, output_tokens=12)
    ]


def test_calls_of_one_model_are_summed_and_what_they_do_not_tell_is_counted() -> None:
    bare = {"gen_ai.operation.name": "chat"}
    found = projected(reported_by("A", asked("1", None, SPLIT), asked("2", tokens=8), asked("3", None, bare)))
    assert found.uses == [
        ModelUse(agent="A", model="m", calls=3, untold=1, unsplit=1, tokens=50, input_tokens=30, output_tokens=12)
    ]


def test_a_call_inside_another_counts_once() -> None:
    assert uses(projected(reported_by("A", asked("1", None, SPLIT), asked("2", "1", SPLIT, model="x")))) == [
        ("A", "m", 1, 42)
    ]


def test_tools_and_retrievals_are_no_model_calls() -> None:
    retrieval = asked("2", None, {"gen_ai.operation.name": "retrieval", "gen_ai.usage.input_tokens": "5"})
    assert projected(reported_by("A", tool("1"), retrieval)).uses == []


def test_a_call_that_two_agents_report_as_theirs_is_nobodys() -> None:
    step = asked("1", None, SPLIT)
    assert uses(projected(reported_by("A", step), reported_by("B", step))) == [("unknown", "m", 1, 42)]


def test_numbers_that_are_none_are_not_told() -> None:
    wrong = {**SPLIT, "gen_ai.usage.input_tokens": "-3"}
    [use] = projected(reported_by("A", asked("1", None, wrong))).uses
    assert (use.untold, use.tokens) == (1, 0)

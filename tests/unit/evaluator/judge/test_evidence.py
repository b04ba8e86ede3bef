"""The judge sees the calls that matter, without names, within the budget, and knows when something was left out."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from concord.reports import Channel, Report, digest
from concord.results import CallRecord
from concord.steps import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from concord_evaluator.judge import choose_calls, show, texts_of
from concord_evaluator.judge.evidence import MAX_CALLS, CallTexts


def record(step_id: str, *, error: str | None = None, caller: str = "ann", callee: str = "bob") -> CallRecord:
    return CallRecord(
        step_id=step_id,
        parent_step_id=None,
        caller=caller,
        callee=callee,
        start_ms=None,
        duration_ms=None,
        error=error,
        provenance="reported",
        on_critical_path=False,
    )


def reported(step_id: str, request: str, response: str, *nested: InteractionStep, reporter: str = "ann") -> Report:
    invocation = AgentInvocation(
        agent_url="http://bob",
        requests={"text": request},
        response_trace=ResponseTrace(trace_id="t", steps=list(nested)) if nested else None,
    )
    step = InteractionStep(
        step_id=step_id,
        trace_id="t",
        call_type=CallType.AGENT,
        step_action=StepAction(agent_invocation=invocation),
        additional_attributes={"response_text": response},
    )
    return Report(step, reporter, False, Channel.HTTP, datetime(2026, 1, 1, tzinfo=UTC), digest(step))


@given(st.lists(st.booleans(), max_size=300), st.integers(1, 50))
def test_failed_calls_are_shown_first_and_then_both_ends_in_order(failures: list[bool], limit: int) -> None:
    calls = [record(str(i), error="x" if failed else None) for i, failed in enumerate(failures)]
    chosen = choose_calls(calls, limit)
    assert len(chosen) == min(limit, len(calls))
    assert [calls.index(call) for call in chosen] == sorted(calls.index(call) for call in chosen)
    shown_failures = sum(call.error is not None for call in chosen)
    assert shown_failures == min(limit, sum(failures))
    if calls and not any(failures) and limit > 1:
        assert calls[0] in chosen
        assert calls[-1] in chosen


def test_texts_are_found_in_nested_traces_too_and_only_those_asked_for() -> None:
    inner = reported("inner", "q2", "a2").step
    found = texts_of([reported("outer", "q1", "a1", inner), reported("other", "q3", "a3")], {"outer", "inner"})
    assert found == {"outer": CallTexts("q1", "a1"), "inner": CallTexts("q2", "a2")}


def test_of_two_tellings_the_longer_counts_whichever_comes_first() -> None:
    tellings = [reported("s", "q", "a"), reported("s", "question", "answer", reporter="bob")]
    assert texts_of(tellings, {"s"}) == texts_of(tellings[::-1], {"s"}) == {"s": CallTexts("question", "answer")}


def test_names_are_hidden_wherever_they_stand() -> None:
    texts = {"s": CallTexts("ann to bob: tell anna and bob_2 that bob is late", "ann!")}
    shown = show([record("s")], 0, texts, ["ann", "bob", "bob_2"], "ask ann", "bob did it")
    (call,) = shown.calls
    assert (call.caller, call.callee) == ("agent 1", "agent 2")
    assert call.request == "agent 1 to agent 2: tell anna and agent 3 that agent 2 is late"
    assert (call.response, shown.task, shown.answer) == ("agent 1!", "ask agent 1", "agent 2 did it")


def test_ends_that_are_no_agents_of_the_team_have_no_name_either() -> None:
    shown = show([record("s", caller="green-agent", callee="url:http://x")], 0, {}, ["ann"], "", "")
    assert (shown.calls[0].caller, shown.calls[0].callee) == ("the assessor", "a stranger")


@given(st.integers(1, MAX_CALLS), st.integers(0, 3000), st.integers(10_000, 50_000))
def test_the_budget_holds_but_for_the_least_that_every_text_gets(n_calls: int, length: int, budget: int) -> None:
    calls = [record(str(i)) for i in range(n_calls)]
    texts = {call.step_id: CallTexts("q" * length, "a" * length) for call in calls}
    shown = show(calls, 0, texts, ["ann", "bob"], "t" * length, "z" * length, budget)
    used = sum(len(call.request) + len(call.response) for call in shown.calls) + len(shown.task) + len(shown.answer)
    assert used <= max(budget, (2 * n_calls + 4) * 120)
    assert shown.condensed == any(len(call.request) < length for call in shown.calls)


def test_calls_that_were_left_out_make_it_condensed() -> None:
    assert show([record("s")], 3, {}, ["ann", "bob"], "", "").condensed
    assert not show([record("s")], 0, {}, ["ann", "bob"], "", "").condensed

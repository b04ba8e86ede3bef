"""Evidence: the judge sees the calls that matter, without names, within the budget, and learns of omissions."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.results import CallRecord
from concord.judging.model_answer import cost
from concord.trace.report import Channel, Report
from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from concord.trace.stored_step import Step
from concord_evaluator.judge.evidence import Aliases, SeenAnswer, call_texts, choose_calls, make_evidence
from concord_evaluator.messages import CallTexts
from tests.kit.traces import model_of

TEXT = st.text(max_size=60).map(lambda text: text * 20)


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


def reported(
    step_id: str,
    request: str,
    response: str,
    *nested: InteractionStep,
    reporter: str = "eve",
    channel: Channel = Channel.HTTP,
) -> Report:
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
    return Report(Step.of(step), reporter, False, channel, datetime(2026, 1, 1, tzinfo=UTC))


@given(st.lists(st.booleans(), max_size=300), st.integers(1, 50))
def test_failed_calls_are_chosen_before_the_first_and_the_last_and_order_is_kept(
    failures: list[bool], limit: int
) -> None:
    calls = [record(str(i), error="x" if failed else None) for i, failed in enumerate(failures)]
    chosen = choose_calls(calls, limit)
    assert len(chosen) == min(limit, len(calls))
    assert [calls.index(call) for call in chosen] == sorted(calls.index(call) for call in chosen)
    shown_failures = sum(call.error is not None for call in chosen)
    assert shown_failures == min(limit, sum(failures))
    if calls and not any(failures) and limit > 1:
        assert calls[0] in chosen
        assert calls[-1] in chosen


def test_texts_of_the_requested_calls_are_found_even_in_nested_traces() -> None:
    inner = model_of(reported("inner", "q2", "a2"))
    found = call_texts(
        [reported("outer", "q1", "a1", inner), reported("other", "q3", "a3")], [record("outer"), record("inner")]
    )
    assert found == {("outer", "ann"): CallTexts("q1", "a1"), ("inner", "ann"): CallTexts("q2", "a2")}


def test_callers_that_claim_one_step_id_keep_their_own_texts() -> None:
    reports = [reported("s", "question", "", reporter="ann"), reported("s", "a long lie", "", reporter="eve")]
    found = call_texts(reports, [record("s"), record("s", caller="eve")])
    assert {caller: each.request for (_, caller), each in found.items()} == {"ann": "question", "eve": "a long lie"}


@pytest.mark.parametrize("reverse", [False, True])
def test_the_observers_text_precedes_the_callers_and_the_longest(reverse: bool) -> None:
    stranger = reported("s", "a long lie about what was said", "and another", reporter="eve")
    longer = reported("s", "the longest lie about what was said", "and another", reporter="dan")
    caller = reported("s", "question", "answer", reporter="ann")
    observed = reported("s", "q", "a", reporter="green-agent", channel=Channel.OBSERVED)
    for versions, text in [
        ([stranger, longer], "the longest lie about what was said"),
        ([stranger, longer, caller], "question"),
        ([stranger, longer, caller, observed], "q"),
    ]:
        reports = versions[::-1] if reverse else versions
        assert call_texts(reports, [record("s", caller="ann/writer")])["s", "ann/writer"].request == text


def test_a_text_that_an_observer_relays_is_not_observed() -> None:
    relayed = reported("outer", "", "", model_of(reported("s", "a lie, and a long one", "")), channel=Channel.OBSERVED)
    own = reported("s", "question", "", reporter="ann")
    assert call_texts([relayed, own], [record("s")])["s", "ann"].request == "question"


def test_names_are_hidden_in_all_texts() -> None:
    texts = {("s", "ann"): CallTexts("ann to bob: tell anna and bob_2 that bob is late", "ann!")}
    answers = [SeenAnswer(("bob",), "bob did it")]
    team = Aliases(["ann", "bob", "bob_2"])
    shown = make_evidence([record("s")], 0, texts, team, "ask ann", answers, target=["bob"])
    (call,) = shown.calls
    assert (call.id, call.caller, call.callee) == ("call 1", "agent 1", "agent 2")
    assert call.request == "agent 1 to agent 2: tell anna and agent 3 that agent 2 is late"
    assert (call.response, shown.task, shown.answers[0].text) == ("agent 1!", "ask agent 1", "agent 2 did it")
    assert shown.target == ("agent 2",)


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("green-agent", "url:http://x", ("the assessor", "a stranger")),
        ("unknown", "ann", ("a stranger", "agent 1")),
    ],
)
def test_callers_and_callees_outside_the_team_have_no_name(caller: str, callee: str, expected: tuple[str, str]) -> None:
    shown = make_evidence([record("s", caller=caller, callee=callee)], 0, {}, Aliases(["ann"]), "", [])
    assert (shown.calls[0].caller, shown.calls[0].callee) == expected


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=20), TEXT, st.integers(600, 3000))
def test_the_cost_of_all_texts_stays_within_the_budget(
    drawn_texts: list[tuple[str, str]], task: str, budget: int
) -> None:
    calls = [record(str(number), error="failed") for number in range(len(drawn_texts))]
    texts = {(str(number), "ann"): CallTexts(*each) for number, each in enumerate(drawn_texts)}
    shown = make_evidence(calls, 0, texts, Aliases([]), task, [SeenAnswer((), task)], budget)
    sent = [
        shown.task,
        shown.answers[0].text,
        *(text for c in shown.calls for text in (c.request, c.response, c.error)),
    ]
    assert sum(map(cost, sent)) <= budget
    whole = [task, task, *(text for each in drawn_texts for text in (*each, "failed"))]
    assert shown.condensed == (sum(map(cost, whole)) > budget)


def test_budget_that_short_texts_leave_is_used_for_long_ones() -> None:
    texts = {("long", "ann"): CallTexts("a" * 1500, ""), ("short", "ann"): CallTexts("b" * 10, "")}
    shown = make_evidence([record("long"), record("short")], 0, texts, Aliases([]), "", [], 1000)
    assert cost(shown.calls[0].request) > 950
    assert shown.calls[1].request == "b" * 10


def test_omitted_calls_make_the_evidence_condensed() -> None:
    assert make_evidence([record("s")], 3, {}, Aliases([]), "", []).condensed
    assert not make_evidence([record("s")], 0, {}, Aliases([]), "", []).condensed

"""The messages of a trial are put in the order in which agents sent and read them."""

from datetime import UTC, datetime, timedelta

from concord_evaluator.own_tasks.exchange import ObservedCall, SaidValue, messages_of

START = datetime(2031, 1, 1, tzinfo=UTC)


def call(caller: str, callee: str, began_ms: int, ended_ms: int) -> ObservedCall:
    began, ended = (START + timedelta(milliseconds=each) for each in (began_ms, ended_ms))
    asked, said = SaidValue(f"ask {callee}"), SaidValue(f"{callee} says")
    return ObservedCall(f"{caller}-{callee}", caller, callee, asked, said, None, True, False, began, ended)


def order(*calls: ObservedCall) -> list[str]:
    return [each.said.text for each in messages_of(calls)]


def test_a_call_within_a_call_is_answered_before_it_however_short_both_are() -> None:
    assert order(call("a", "b", 0, 5), call("b", "c", 1, 4)) == ["ask b", "ask c", "c says", "b says"]
    assert order(call("a", "b", 0, 5000), call("b", "c", 1, 4000)) == ["ask b", "ask c", "c says", "b says"]


def test_what_an_agent_says_a_moment_before_the_end_of_its_call_is_noted_comes_after_the_answer() -> None:
    assert order(call("a", "b", 0, 50), call("a", "c", 45, 90)) == ["ask b", "b says", "ask c", "c says"]
    assert order(call("a", "b", 0, 50), call("b", "c", 1, 55)) == ["ask b", "ask c", "c says", "b says"]


def test_what_an_agent_says_long_before_the_end_of_its_call_comes_before_the_answer() -> None:
    assert order(call("a", "b", 0, 5000), call("a", "c", 45, 90)) == ["ask b", "ask c", "c says", "b says"]

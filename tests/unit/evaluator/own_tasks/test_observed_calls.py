"""The messages of a trial are put in the order in which agents sent and read them."""

from datetime import UTC, datetime, timedelta

from concord_evaluator.messages import Sent
from concord_evaluator.own_tasks.exchange import messages_of

START = datetime(2031, 1, 1, tzinfo=UTC)


def call(caller: str, callee: str, began_ms: int, ended_ms: int) -> Sent:
    began, ended = (START + timedelta(milliseconds=each) for each in (began_ms, ended_ms))
    step_id, said = f"{caller}-{callee}", f"{callee} says"
    answer = Sent(step_id, 0, callee, caller, said, delivered=True, is_answer=True, at=ended, ended=ended)
    return Sent(step_id, 0, caller, callee, f"ask {callee}", delivered=True, at=began, ended=ended, answer=answer)


def order(*calls: Sent) -> list[str]:
    return [each.text for each in messages_of(calls)]


def test_a_call_within_a_call_is_answered_before_it_however_short_both_are() -> None:
    assert order(call("a", "b", 0, 5), call("b", "c", 1, 4)) == ["ask b", "ask c", "c says", "b says"]
    assert order(call("a", "b", 0, 5000), call("b", "c", 1, 4000)) == ["ask b", "ask c", "c says", "b says"]


def test_what_an_agent_says_a_moment_before_the_end_of_its_call_is_noted_comes_after_the_answer() -> None:
    assert order(call("a", "b", 0, 50), call("a", "c", 45, 90)) == ["ask b", "b says", "ask c", "c says"]
    assert order(call("a", "b", 0, 50), call("b", "c", 1, 55)) == ["ask b", "ask c", "c says", "b says"]


def test_what_an_agent_says_long_before_the_end_of_its_call_comes_before_the_answer() -> None:
    assert order(call("a", "b", 0, 5000), call("a", "c", 45, 90)) == ["ask b", "ask c", "c says", "b says"]

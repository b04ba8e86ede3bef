"""The wire between seats that call each other: it carries messages as they are, but for planted faults."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from concord.assessment.faults import NOT_IN_CALLS, PlantedFault, unsuitable
from concord_gateway.calls import CallWire

READ: TypeAdapter[PlantedFault] = TypeAdapter(PlantedFault)
SEATS = ("a", "b", "c")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.sampled_from(["text", "data", "parts", "x"]), each),
    max_leaves=10,
)


def wire(*faults: dict[str, Any]) -> CallWire:
    return CallWire([READ.validate_python(each) for each in faults])


def parts(*texts: str) -> list[dict[str, Any]]:
    return [{"text": each} for each in texts]


@given(st.lists(JSON))
def test_a_wire_without_faults_carries_everything_as_it_is(message: list[Any]) -> None:
    clear = wire()
    assert clear.parts("a", "b", message) == message
    assert clear.answer("a", "b", {"parts": message}) == {"parts": message}
    assert all(clear.addressee(one, other) == other for one in SEATS for other in SEATS)
    assert not any(clear.is_lost(one, other) or clear.is_cut(one, other) for one in SEATS for other in SEATS)


def test_a_lost_message_is_lost_in_its_direction_alone_and_a_cut_edge_in_both() -> None:
    dropped, cut = wire({"kind": "drop", "sender": "a", "receiver": "b"}), wire({"kind": "cut", "edge": ["a", "b"]})
    assert [dropped.is_lost(*each) for each in ("ab", "ba", "ac")] == [True, False, False]
    assert [cut.is_cut(*each) for each in ("ab", "ba", "ac")] == [True, True, False]


def test_nothing_that_a_silenced_seat_says_arrives_and_others_still_reach_it() -> None:
    silent = wire({"kind": "silence", "seat": "a"})
    assert [silent.is_lost(*each) for each in ("ab", "ac", "ba")] == [True, True, False]


@given(st.sampled_from(SEATS), st.sampled_from(SEATS))
def test_swapping_twice_leads_back(sender: str, receiver: str) -> None:
    swapped = wire({"kind": "swap", "sender": "a", "receiver": "b", "instead": "c"})
    assert swapped.addressee(sender, swapped.addressee(sender, receiver)) == receiver
    assert swapped.addressee("a", "b") == "c"


@given(st.lists(st.text(max_size=9), max_size=5), st.integers(0, 30))
def test_of_a_truncated_message_the_first_characters_arrive(texts: list[str], characters: int) -> None:
    cut = wire({"kind": "truncate", "sender": "a", "characters": characters})
    arrived = cut.parts("a", "b", parts(*texts))
    assert "".join(each["text"] for each in arrived) == "".join(texts)[:characters]
    assert cut.parts("b", "a", parts(*texts)) == parts(*texts)


def test_data_that_do_not_fit_do_not_arrive() -> None:
    cut = wire({"kind": "truncate", "sender": "a", "characters": 10})
    data = {"data": {"n": 1}}
    assert cut.parts("a", "b", [data, {"text": "12345"}]) == [data, {"text": "12"}]
    assert cut.parts("a", "b", [{"data": {"long": "1234567890"}}, {"text": "12345"}]) == [{"text": ""}]


def test_one_digit_of_one_number_of_a_message_is_garbled_wherever_it_stands() -> None:
    garbling = wire({"kind": "garble", "sender": "a"})
    message = [{"text": "hello"}, {"data": {"value": ["48,213"]}}, {"text": "and 51872"}]
    [first, second, third] = garbling.parts("a", "b", message)
    assert (first, third) == (message[0], message[2])
    [value] = second["data"]["value"]
    assert sum(old != new for old, new in zip("48,213", value, strict=True)) == 1


def test_the_messages_and_artifacts_of_an_answer_are_changed_and_what_its_caller_sent_is_not() -> None:
    cut = wire({"kind": "truncate", "sender": "b", "characters": 2})
    task = {"status": {"message": {"parts": parts("done")}}, "artifacts": [{"parts": parts("text")}]}
    arrived = cut.answer("b", "a", {"id": "abc", "result": {"task": task | {"history": [{"parts": parts("asked")}]}}})
    assert arrived == {
        "id": "abc",
        "result": {
            "task": {
                "status": {"message": {"parts": parts("do")}},
                "artifacts": [{"parts": parts("te")}],
                "history": [{"parts": parts("asked")}],
            }
        },
    }


@pytest.mark.parametrize("kind", NOT_IN_CALLS)
def test_a_kind_that_cannot_exist_by_calls_is_refused_by_name(kind: str) -> None:
    fault = READ.validate_python({"kind": kind} | ({"seat": "a"} if kind in {"null", "echo"} else {"sender": "a"}))
    assert kind in (unsuitable(fault, by_calls=True) or "")
    assert unsuitable(fault, by_calls=False) is None


def test_of_a_message_that_is_nested_too_deep_nothing_arrives() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    garbling = wire({"kind": "garble", "sender": "a"})
    assert garbling.parts("a", "b", [{"data": deep}]) == []
    assert garbling.answer("a", "b", {"result": deep}) == {}

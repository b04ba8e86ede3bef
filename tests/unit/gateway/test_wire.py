"""The wire of a trial in rounds: what arrives under each planted fault, and what the team sees of it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from concord.assessment.faults import PlantedFault
from concord.suite import SuiteTask, neighbours_of
from concord_gateway.rounds.exchange import CHATTER, Rounds, Wire, garbled
from concord_gateway.rounds.reply import Reply, read_reply
from concord_gateway.rounds.texts import turn_text
from concord_suites.pool.maximum import Maximum

TRIANGLE = neighbours_of(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")])
FAULT: TypeAdapter[Any] = TypeAdapter(PlantedFault)


def task() -> SuiteTask:
    return Maximum().generate(b"secret", TRIANGLE, 1)


def rounds(*faults: Mapping[str, object], max_rounds: int = 10) -> Rounds:
    found = Rounds(task(), max_rounds)
    found.wire = Wire([FAULT.validate_python(each) for each in faults], found.task.neighbours)
    return found


def say(*messages: tuple[str, str], answer: object = None) -> Reply:
    entries = [{"to": to, "text": text} for to, text in messages]
    return read_reply(json.dumps({"messages": entries, "answer": answer}))


def play(played: Rounds, *turns: Mapping[str, Reply]) -> list[tuple[int, str, str, str]]:
    """What travels, round by round."""
    for replies in turns:
        played.begin()
        played.take({seat: replies.get(seat, say()) for seat in played.task.seats})
    return [(each.round, each.sender, each.receiver, each.text) for each in played.messages]


class TestMessages:
    """Faults of messages. The wire's record holds what arrives."""

    def test_a_dropped_message_never_arrives_and_its_sender_is_told_nothing(self) -> None:
        played = rounds({"kind": "drop", "sender": "a", "receiver": "b"})
        assert play(played, {"a": say(("b", "12345"), ("c", "23456"))}) == [(1, "a", "c", "23456")]
        played.begin()
        assert "[round 1] you to b: 12345" in turn_text(played, "a")
        assert "not delivered" not in turn_text(played, "a")
        assert "12345" not in turn_text(played, "b")

    def test_a_delayed_message_arrives_later_and_the_trial_waits_for_it(self) -> None:
        played = rounds({"kind": "delay", "sender": "a", "rounds": 2})
        answering = dict.fromkeys("abc", say(answer=1))
        assert play(played, answering | {"a": say(("b", "12345"), answer=1)}, {}) == []
        assert not played.over
        assert play(played, {}) == [(3, "a", "b", "12345")]
        played.begin()
        assert "[round 3] a to you: 12345" in turn_text(played, "b")

    def test_a_message_is_overtaken_by_the_next_one(self) -> None:
        played = rounds({"kind": "reorder", "sender": "a"})
        texts = [{"a": say(("b", text))} for text in ("first", "second", "third", "fourth")]
        assert [text for *_, text in play(played, *texts, {})] == ["second", "first", "fourth", "third"]

    def test_a_message_that_no_other_overtakes_is_a_round_late(self) -> None:
        played = rounds({"kind": "reorder", "sender": "a"})
        assert play(played, {"a": say(("b", "only"))}, {}) == [(2, "a", "b", "only")]

    def test_a_duplicated_message_arrives_twice(self) -> None:
        played = rounds({"kind": "duplicate", "sender": "a", "receiver": "b"})
        assert len(play(played, {"a": say(("b", "12345"))})) == 2
        played.begin()
        assert turn_text(played, "b").count("a to you: 12345") == 2
        assert turn_text(played, "a").count("you to b: 12345") == 1

    def test_of_a_truncated_message_the_beginning_arrives_and_the_record_says_so(self) -> None:
        played = rounds({"kind": "truncate", "sender": "a", "characters": 3})
        assert play(played, {"a": say(("b", "12345"), ("c", "xyz"))})[0][-1] == "123"
        assert [each.cut_from for each in played.messages] == [5, None]
        played.begin()
        assert "you to b: 12345" in turn_text(played, "a")

    def test_swapped_receivers_get_each_others_messages(self) -> None:
        played = rounds({"kind": "swap", "sender": "a", "receiver": "b", "instead": "c"})
        found = play(played, {"a": say(("b", "for b"), ("c", "for c"))})
        assert [(to, text) for _, _, to, text in found] == [("c", "for b"), ("b", "for c")]
        played.begin()
        assert "you to b: for b" in turn_text(played, "a")

    def test_a_garbled_message_has_another_number_of_the_same_length(self) -> None:
        played = rounds({"kind": "garble", "sender": "a"})
        [(*_, text)] = play(played, {"a": say(("b", "It is 48,213."))})
        assert text != "It is 48,213."
        assert len(text) == len("It is 48,213.")

    @given(st.text())
    def test_garbling_changes_one_digit_or_nothing(self, text: str) -> None:
        changed = [(old, new) for old, new in zip(text, garbled(text), strict=True) if old != new]
        assert len(changed) <= 1
        assert all(old.isdigit() and new.isdigit() for old, new in changed)

    def test_chatter_is_added_in_every_round_to_all_neighbours(self) -> None:
        played = rounds({"kind": "chatter", "sender": "a", "last_round": 2})
        found = play(played, {}, {}, {})
        assert found == [(number, "a", to, CHATTER) for number in (1, 2) for to in ("b", "c")]
        played.begin()
        assert CHATTER not in turn_text(played, "a")

    def test_a_cut_edge_carries_nothing_either_way_and_both_ends_learn_it(self) -> None:
        played = rounds({"kind": "cut", "edge": ["a", "b"]})
        play(played, {"a": say(("b", "12345"), ("c", "x")), "b": say(("a", "23456"))})
        assert [each.error for each in played.messages if each.receiver == "c"] == [None]
        played.begin()
        assert "the connection to b is lost" in turn_text(played, "a")
        assert "the connection to a is lost" in turn_text(played, "b")
        assert "12345" not in turn_text(played, "b")


class TestSeats:
    """Faults of whole seats."""

    def test_nothing_arrives_of_a_silenced_seat_from_its_round_on(self) -> None:
        played = rounds({"kind": "silence", "seat": "a", "first_round": 2})
        found = play(played, {"a": say(("b", "one"))}, {"a": say(("b", "two"), answer=3)})
        assert [text for *_, text in found] == ["one"]
        assert "a" not in played.answers
        assert played.asked == ["a", "b", "c"], "its agent is alive"

    def test_an_agent_that_is_replaced_is_not_asked(self) -> None:
        for kind in ("null", "echo"):
            played = rounds({"kind": kind, "seat": "a", "last_round": 1})
            played.begin()
            assert played.asked == ["b", "c"]
            played.take({"b": say(("a", "12345")), "c": say()})
            played.begin()
            assert played.asked == ["a", "b", "c"]

    def test_an_echo_returns_each_message_to_its_sender(self) -> None:
        played = rounds({"kind": "echo", "seat": "a"})
        found = play(played, {"b": say(("a", "from b")), "c": say(("a", "from c"))}, {})
        assert found[2:] == [(2, "a", "b", "from b"), (2, "a", "c", "from c")]


FAULTS = st.sampled_from(
    [
        {"kind": "drop", "sender": "a"},
        {"kind": "delay", "sender": "a", "rounds": 2},
        {"kind": "duplicate", "sender": "b"},
        {"kind": "reorder", "sender": "a"},
        {"kind": "truncate", "sender": "c", "characters": 2},
        {"kind": "garble", "sender": "a"},
        {"kind": "swap", "sender": "b", "receiver": "a", "instead": "c"},
        {"kind": "silence", "seat": "a", "first_round": 2},
        {"kind": "echo", "seat": "b"},
        {"kind": "cut", "edge": ["a", "c"]},
        {"kind": "chatter", "sender": "c"},
    ]
)
TURNS = st.lists(st.lists(st.tuples(*[st.sampled_from("abc")] * 2, st.sampled_from(["12345", "x"]))), max_size=6)


def _turn(told: Sequence[tuple[str, str, str]]) -> dict[str, Reply]:
    return {seat: say(*((to, text) for sender, to, text in told if sender == seat)) for seat in "abc"}


@given(st.lists(FAULTS, max_size=4), TURNS)
def test_a_fault_of_later_rounds_changes_nothing_before(faults: list[dict[str, object]], told: list[Any]) -> None:
    turns = [_turn(each) for each in told]
    later = [each | {"first_round": len(turns) + 1} for each in faults]
    assert play(rounds(*later), *turns) == play(rounds(), *turns)


@given(st.lists(FAULTS, max_size=4), TURNS)
def test_every_trial_ends_and_the_same_faults_do_the_same(faults: list[dict[str, object]], told: list[Any]) -> None:
    turns = [*map(_turn, told), *[{seat: say(answer=1) for seat in "abc"}] * (10 - len(told))]
    one, other = rounds(*faults), rounds(*faults)
    assert play(one, *turns) == play(other, *turns)
    assert one.over


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "drop"},
        {"kind": "swap", "sender": "a", "receiver": "b"},
        {"kind": "delay", "sender": "a", "rounds": 0},
        {"kind": "drop", "sender": "a", "first_round": 3, "last_round": 2},
        {"kind": "drop", "sender": "a", "seat": "b"},
        {"kind": "explode", "sender": "a"},
    ],
)
def test_a_fault_that_says_too_little_or_too_much_is_refused(fault: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FAULT.validate_python(fault)

"""The exchange by rounds: what a reply says, whom a message reaches, and when a trial is over."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.assessment.results import TurnRecord
from concord.suite import Draw, SuiteTask, Topology, neighbours_in, neighbours_of
from concord_gateway.drivers.rounds import turn_limit_s
from concord_gateway.rounds.exchange import OverBudgetError, Rounds
from concord_gateway.rounds.reply import Outgoing, Reply, read_reply
from concord_gateway.rounds.texts import turn_text
from concord_suites.pool.maximum import Maximum

CHAIN = neighbours_of(["a", "b", "c"], [("a", "b"), ("b", "c")])


def task() -> SuiteTask:
    """A task for three seats in a chain: a - b - c."""
    return Maximum().generate(b"secret", CHAIN, 1)


def reply(*messages: tuple[str, str], answer: JsonValue = None) -> Reply:
    """A reply that sends these texts to these receivers."""
    entries = [{"to": to, "text": text} for to, text in messages]
    return read_reply(json.dumps({"messages": entries, "answer": answer}))


NOTHING = reply()


class TestReply:
    """A reply is read wherever its JSON stands."""

    DOCUMENT = '{"messages": [{"to": "b", "text": "12345"}], "answer": 7}'

    @pytest.mark.parametrize(
        "text",
        [DOCUMENT, f"Here is my reply:\n```json\n{DOCUMENT}\n```\nGood luck!", f"I say {DOCUMENT} and that is all."],
    )
    def test_json_anywhere_in_the_text_counts(self, text: str) -> None:
        found = read_reply(text)
        assert found.messages == (Outgoing(("b",), "12345"),)
        assert found.answer == 7
        assert found.readable

    def test_a_data_part_goes_before_the_text(self) -> None:
        assert read_reply("prose", [json.loads(self.DOCUMENT)]).answer == 7

    @pytest.mark.parametrize(
        ("to", "receivers"), [("b", ("b",)), (["b", "c"], ("b", "c")), (["b", "b"], ("b",)), ("all", ("all",))]
    )
    def test_receivers_are_a_name_or_a_list_of_names(self, to: JsonValue, receivers: tuple[str, ...]) -> None:
        [message] = read_reply(json.dumps({"messages": [{"to": to, "text": "x"}]})).messages
        assert message.to == receivers

    @pytest.mark.parametrize(
        "entry", [{"to": "b"}, {"text": "x"}, {"to": [], "text": "x"}, {"to": 3, "text": "x"}, "x"]
    )
    def test_a_faulty_message_is_left_out_and_said(self, entry: JsonValue) -> None:
        found = read_reply(json.dumps({"messages": [entry, {"to": "b", "text": "x"}], "answer": 1}))
        assert found.messages == (Outgoing(("b",), "x"),)
        assert not found.readable

    @pytest.mark.parametrize("text", ["", "The maximum is 7.", "[1, 2]", '{"result": 7}'])
    def test_prose_and_other_json_are_no_reply(self, text: str) -> None:
        found = read_reply(text)
        assert (found.messages, found.answer, found.readable) == ((), None, False)

    @given(st.text() | st.from_regex(r"[\[{\"a:1,\]} ]*", fullmatch=True))
    def test_no_text_makes_the_reader_fail(self, text: str) -> None:
        read_reply(text)


class TestDelivery:
    """Messages reach neighbours in the next round; everything else is told to their sender."""

    def test_a_message_arrives_in_the_next_round_and_is_history_after_it(self) -> None:
        rounds = Rounds(task(), max_rounds=5)
        rounds.begin()
        rounds.take({"a": reply(("b", "hello")), "b": NOTHING, "c": NOTHING})
        rounds.begin()
        assert [each.text for each in rounds.inbox("b")] == ["hello"]
        assert [each.text for each in rounds.history("a")] == ["hello"]
        rounds.take(dict.fromkeys("abc", NOTHING))
        rounds.begin()
        assert rounds.inbox("b") == []
        assert [each.text for each in rounds.history("b")] == ["hello"]

    def test_an_inbox_is_sorted_by_sender(self) -> None:
        rounds = Rounds(task(), max_rounds=5)
        rounds.begin()
        rounds.take({"a": reply(("b", "1")), "b": NOTHING, "c": reply(("b", "2"), ("b", "3"))})
        rounds.begin()
        assert [(each.sender, each.text) for each in rounds.inbox("b")] == [("a", "1"), ("c", "2"), ("c", "3")]

    def test_all_means_the_neighbours(self) -> None:
        rounds = Rounds(task(), max_rounds=5)
        rounds.begin()
        rounds.take({"a": reply(("all", "x")), "b": reply(("all", "y")), "c": NOTHING})
        assert [(each.sender, each.receiver) for each in rounds.messages] == [("a", "b"), ("b", "a"), ("b", "c")]

    @pytest.mark.parametrize(
        ("receiver", "reason"), [("d", "nobody is called 'd'"), ("c", "you may not write to c"), ("a", "you may not")]
    )
    def test_a_message_to_a_stranger_or_past_the_topology_fails_and_is_told(self, receiver: str, reason: str) -> None:
        rounds = Rounds(task(), max_rounds=5)
        rounds.begin()
        rounds.take({"a": reply((receiver, "x")), "b": NOTHING, "c": NOTHING})
        [message] = rounds.messages
        assert message.error is not None
        rounds.begin()
        assert not any(rounds.inbox(seat) for seat in "abc")
        assert reason in turn_text(rounds, "a")

    def test_no_message_is_delivered_to_a_silent_team(self) -> None:
        rounds = Rounds(task(), max_rounds=5, silent=True)
        rounds.begin()
        rounds.take({"a": reply(("b", "x")), "b": NOTHING, "c": NOTHING})
        rounds.begin()
        assert rounds.inbox("b") == []

    def test_a_long_message_is_cut_off_and_that_is_told(self) -> None:
        rounds = Rounds(task(), max_rounds=5)
        rounds.begin()
        rounds.take({"a": reply(("b", "x" * (task().message_limit + 1))), "b": NOTHING, "c": NOTHING})
        rounds.begin()
        assert len(rounds.inbox("b")[0].text) == task().message_limit
        assert "cut off" in turn_text(rounds, "a")


class TestEnd:
    """A trial ends when everybody who must has answered and nothing is undelivered, or with its last round."""

    def test_it_ends_when_the_answerers_have_answered_and_nothing_is_undelivered(self) -> None:
        given = task()
        [answerer] = given.answerers
        rounds = Rounds(given, max_rounds=5)
        rounds.begin()
        rounds.take({seat: reply(("b" if seat != "b" else "a", "x"), answer=1) for seat in "abc"})
        assert not rounds.over
        rounds.begin()
        rounds.take(dict.fromkeys("abc", NOTHING))
        assert rounds.over
        assert rounds.answers == {answerer: 1}
        assert rounds.answered_in == {answerer: 1}

    def test_it_ends_with_the_last_round(self) -> None:
        rounds = Rounds(task(), max_rounds=2)
        for _ in range(2):
            assert not rounds.over
            rounds.begin()
            rounds.take(dict.fromkeys("abc", NOTHING))
        assert rounds.over

    def test_the_last_answer_counts(self) -> None:
        given = task()
        rounds = Rounds(given, max_rounds=3)
        for answer in (1, 2, None):
            rounds.begin()
            rounds.take({seat: reply(answer=answer) for seat in "abc"})
        assert rounds.answers == {given.answerers[0]: 2}

    def test_prose_is_an_answer_in_the_last_round_only(self) -> None:
        given = task()
        rounds = Rounds(given, max_rounds=2)
        rounds.begin()
        rounds.take({seat: read_reply("It is 12345.") for seat in "abc"})
        assert rounds.answers == {}
        rounds.begin()
        rounds.take({seat: read_reply("It is 54321.") for seat in "abc"})
        assert rounds.answers == {given.answerers[0]: "It is 54321."}

    def test_a_seat_that_is_late_sends_nothing_and_is_counted(self) -> None:
        rounds = Rounds(task(), max_rounds=2)
        rounds.begin()
        late = TurnRecord(round=1, seat="a", state="late", error="no reply within 5 s")
        rounds.take({"a": late, "b": NOTHING, "c": NOTHING})
        assert [turn.state for turn in rounds.turns] == ["late", "replied", "replied"]
        assert rounds.messages == []


class TestText:
    """The text of a round says all that an agent without a memory needs."""

    def test_it_holds_the_brief_the_question_the_neighbours_and_the_form(self) -> None:
        given = task()
        rounds = Rounds(given, max_rounds=4)
        rounds.begin()
        text = turn_text(rounds, "a")
        assert given.briefs["a"] in text
        assert given.question in text
        assert "You may write to: b." in text
        assert "round 1 of at most 4" in text
        assert given.briefs["b"] not in text

    def test_a_large_team_that_repeats_everything_gets_a_bounded_text(self) -> None:
        team = [f"s{number}" for number in range(10)]
        rounds = Rounds(Maximum().generate(b"s", neighbours_in(Topology.COMPLETE, team, Draw(b"")), 1), max_rounds=20)
        for _ in range(10):
            rounds.begin()
            rounds.take({seat: reply(("all", "x" * 20_000)) for seat in team})
        rounds.begin()
        assert "older messages are left out" in turn_text(rounds, "s0")
        assert len(turn_text(rounds, "s0")) < 500_000


class TestLimitOfATurn:
    """A seat that does not reply costs its own turns, not the trial."""

    def test_a_requested_limit_counts_while_time_is_left(self) -> None:
        assert turn_limit_s(20.0, 300.0, None) == turn_limit_s(20.0, 300.0, 20.0) == 20.0
        assert turn_limit_s(20.0, 5.0, None) == 5.0

    @given(st.floats(0.1, 10_000))
    def test_the_default_is_a_third_of_the_time_left_and_at_least_a_minute(self, remaining_s: float) -> None:
        assert turn_limit_s(None, remaining_s, None) == min(remaining_s, max(60.0, remaining_s / 3))

    @given(st.floats(180, 10_000))
    def test_a_seat_that_is_always_late_leaves_a_third_of_the_time(self, budget_s: float) -> None:
        remaining_s, last_s = budget_s, None
        for _ in range(30):
            last_s = turn_limit_s(None, remaining_s, last_s)
            remaining_s -= last_s
        assert remaining_s >= budget_s / 3 * 0.999


class TestBudgets:
    """What seats write costs their own trial."""

    @given(st.lists(st.sampled_from(["a", "b", "c", "all", *(f"nobody {n}" for n in range(9))]), min_size=1))
    def test_a_message_becomes_at_most_as_many_as_there_are_seats_and_one(self, names: list[str]) -> None:
        rounds = Rounds(task(), max_rounds=2)
        rounds.begin()
        [message] = read_reply(json.dumps({"messages": [{"to": names, "text": "x"}]})).messages
        rounds.take({"a": NOTHING, "b": Reply((message,), None, readable=True, prose=""), "c": NOTHING})
        assert len(rounds.messages) <= len(rounds.task.seats) + 1
        delivered = {each.receiver for each in rounds.messages if each.error is None}
        assert delivered == ({"a", "c"} if "all" in names else {"a", "c"} & set(names))

    def test_the_names_that_are_too_many_fail_as_one_message_that_counts_them(self) -> None:
        rounds = Rounds(task(), max_rounds=2)
        rounds.begin()
        outgoing = Outgoing(("a", *(f"nobody {n}" for n in range(9))), "x")
        rounds.take({"a": NOTHING, "b": Reply((outgoing,), None, readable=True, prose=""), "c": NOTHING})
        assert [each.error for each in rounds.messages] == [
            None,
            "nobody is called 'nobody 0'",
            "nobody is called 'nobody 1'",
            "nobody is called 'nobody 2' or by one of 6 other names",
        ]

    def test_the_message_that_is_one_too_many_names_its_sender(self) -> None:
        rounds = Rounds(task(), max_rounds=2, max_messages=3)
        rounds.begin()
        with pytest.raises(OverBudgetError, match="c exceeded a trial's budget of 3 messages"):
            rounds.take({"a": reply(("b", "1")), "b": reply(("all", "2")), "c": reply(("b", "3"))})

    def test_the_characters_of_a_round_are_counted_for_each_receiver_and_begin_anew(self) -> None:
        rounds = Rounds(task(), max_rounds=9, max_characters=20)
        for _ in range(2):
            rounds.begin()
            rounds.take({"a": NOTHING, "b": reply(("all", "x" * 10)), "c": NOTHING})
        rounds.begin()
        with pytest.raises(OverBudgetError, match="b exceeded the budget of 20 characters"):
            rounds.take({"a": NOTHING, "b": reply(("all", "x" * 11)), "c": NOTHING})

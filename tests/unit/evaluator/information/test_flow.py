"""What seats could know when, from messages alone."""

from collections.abc import Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, SuiteTask, Topology, Value, instance_secret, neighbours_in
from concord_evaluator.information.flow import flow_of
from concord_evaluator.messages import Sent
from concord_suites import FAMILIES
from concord_suites.answers import states_number
from tests.kit.players.phrasings import state
from tests.kit.players.writings import number_in_words
from tests.unit.evaluator.information.tasks import ANN, BOB, CYN, FAMILY, OF_BOB, OF_CYN, SUM, SumFamily, sent, task_of

TEAM = [f"agent/{place}" for place in range(1, 6)]
[MAXIMUM] = [family for family in FAMILIES if family.name == "maximum"]


def test_a_fact_is_known_from_the_round_after_it_was_told() -> None:
    flow = flow_of(task_of(), FAMILY, sent((1, BOB, ANN, "48213")))
    assert not flow.knew(ANN, OF_BOB.id, 1)
    assert flow.knew(ANN, OF_BOB.id, 2)
    assert not flow.knew(CYN, OF_BOB.id, 9)


def test_holders_know_their_facts_from_the_start() -> None:
    assert flow_of(task_of(), FAMILY, []).knew(BOB, OF_BOB.id, 0)


def test_an_undelivered_message_tells_nobody() -> None:
    flow = flow_of(task_of(), FAMILY, sent((1, BOB, ANN, "48213"), undelivered={1}))
    assert not flow.knew(ANN, OF_BOB.id, 9)


def test_a_partial_result_stands_for_the_facts_that_its_sender_knew() -> None:
    flow = flow_of(task_of(), FAMILY, sent((1, CYN, BOB, "70561"), (2, BOB, ANN, f"The sum is {SUM}.")))
    assert flow.coverage(ANN, [OF_BOB.id, OF_CYN.id], 3) == 1


def test_a_result_that_its_sender_could_not_know_stands_for_nothing() -> None:
    flow = flow_of(task_of(), FAMILY, sent((1, BOB, ANN, f"The sum is {SUM}.")))
    assert flow.coverage(ANN, [OF_BOB.id, OF_CYN.id], 3) == 0
    assert flow.messages[0].strange


def test_a_result_that_was_told_stands_for_the_same_facts_when_it_is_passed_on() -> None:
    messages = sent((1, BOB, CYN, "48213"), (2, CYN, BOB, SUM), (3, BOB, ANN, f"I was told {SUM}."))
    assert flow_of(task_of(), FAMILY, messages).coverage(ANN, [OF_BOB.id, OF_CYN.id], 4) == 1


def test_a_fact_among_others_is_no_result_though_it_is_the_highest() -> None:
    task = MAXIMUM.generate(bytes(32), neighbours_in(Topology.CHAIN, TEAM, Draw(b"chain")), 1)
    first, second, third = sorted(task.facts, key=lambda fact: int(fact.value.text))[-3:]
    [a], [b] = third.holders, second.holders
    told = sent((1, first.holders[0], a, first.value.text), (1, b, a, second.value.text))
    listed = [*told, Sent("3", 2, a, b, f"I have {third.value.text}, and {second.value.text} is of {b}.", True)]
    concluded = [*told, Sent("3", 2, a, b, f"The highest so far is {third.value.text}.", True)]
    assert not flow_of(task, MAXIMUM, listed).knew(b, first.id, 3)
    assert flow_of(task, MAXIMUM, concluded).knew(b, first.id, 3)


def test_a_result_stands_for_facts_that_another_sentence_states() -> None:
    task = MAXIMUM.generate(bytes(32), neighbours_in(Topology.CHAIN, TEAM, Draw(b"chain")), 1)
    second, third = sorted(task.facts, key=lambda fact: int(fact.value.text))[-2:]
    [a], [b] = third.holders, second.holders
    text = f"I have {third.value.text}. {b} has {second.value.text}. The highest so far is {third.value.text}."
    assert flow_of(task, MAXIMUM, [Sent("1", 1, a, TEAM[0], text, True)]).messages[0].facts == {third.id}
    told = [*sent((1, b, a, second.value.text)), Sent("2", 2, a, TEAM[0], text, True)]
    assert flow_of(task, MAXIMUM, told).messages[1].facts == {second.id, third.id}
    named = Sent("2", 2, a, TEAM[0], f"Accepted, the answer is {third.value.text}.", True)
    assert flow_of(task, MAXIMUM, [told[0], named]).messages[1].facts == {second.id, third.id}
    assert flow_of(task, MAXIMUM, [named]).messages[0].facts == {third.id}, "who knows no other fact tells none"


@pytest.mark.parametrize("bound", ["Mine are lower than {}.", "Here is nothing higher than {}.", "I have at most {}."])
def test_a_bound_that_was_told_stands_for_the_lower_facts_of_its_sender(bound: str) -> None:
    task = MAXIMUM.generate(bytes(32), neighbours_in(Topology.COMPLETE, TEAM, Draw(b"complete")), 1)
    lower, higher = sorted(task.facts, key=lambda fact: int(fact.value.text))[-2:]
    [low], [high] = lower.holders, higher.holders
    reader = next(seat for seat in TEAM if seat not in (low, high))
    message = Sent("2", 2, low, reader, bound.format(higher.value.text), True)
    assert flow_of(task, MAXIMUM, [*sent((1, high, low, higher.value.text)), message]).knew(reader, lower.id, 3)
    assert not flow_of(task, MAXIMUM, [message]).knew(reader, lower.id, 3), "the sender could not know the value"
    rounded = Sent("2", 2, low, reader, bound.format(-(-int(higher.value.text) // 1000) * 1000), True)
    told = [*sent((1, high, low, higher.value.text)), rounded]
    assert not flow_of(task, MAXIMUM, told).knew(reader, lower.id, 3), "no brief states a round bound"


ANSWERS = [
    "The answer is {}.",
    "cyn's answer: {}",
    "cyn_answer={}",
    "item,value\nanswer of agent/cyn,{}",
    "| answer of cyn | {} |",
    "| question | answer of cyn |\n|---|---|\n| sum | {} |",
    "seat,answer\ncyn,{}",
    '{{"answer": {}}}',
    '{{\n  "type": "answer",\n  "to": "cyn",\n  "value": {}\n}}',
    '[{{"item": "answer of cyn", "value": {{"sum": {}}}}}]',
]


@pytest.mark.parametrize("text", ANSWERS)
def test_a_right_answer_is_read_in_sentences_tables_and_objects(text: str) -> None:
    known = sent((1, BOB, CYN, "48213"), (2, CYN, ANN, text.format(SUM)))
    assert flow_of(task_of(), NoResults(), known).coverage(ANN, [OF_BOB.id, OF_CYN.id], 3) == 1
    assert flow_of(task_of(), NoResults(), known[1:]).coverage(ANN, [OF_BOB.id, OF_CYN.id], 3) == 0


def test_a_right_answer_is_read_in_words() -> None:
    text = f"The answer is {number_in_words(int(SUM))}."
    known = sent((1, BOB, CYN, "48213"), (2, CYN, ANN, text))
    assert flow_of(task_of(), NoResults(), known).coverage(ANN, [OF_BOB.id, OF_CYN.id], 3) == 1


class NoResults(SumFamily):
    """The sum, in an answer as people write it, without partial results."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each answerer who states the right sum and no other number, else 0."""
        right = key if isinstance(key, dict) else {}
        return Grade({seat: float(states_number(answers.get(seat), int(str(each)))) for seat, each in right.items()})

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """None."""
        del task, known
        return {}


def test_a_message_without_news_is_redundant() -> None:
    flow = flow_of(task_of(), FAMILY, sent((1, BOB, ANN, "48213"), (2, BOB, ANN, "48213"), (2, ANN, BOB, "Hi")))
    assert flow.redundant == 2


def generated() -> SuiteTask:
    """A task for five seats."""
    secret = instance_secret(bytes(32), "maximum", "flow", 1)
    return MAXIMUM.generate(secret, neighbours_in(Topology.RING, TEAM, Draw(secret)), 3)


def drawn(task: SuiteTask, secret: bytes, count: int) -> list[Sent]:
    """Messages between neighbours, each of which states some facts that its sender need not know."""
    draw, found = Draw(secret), list[Sent]()
    for place in range(count):
        sender = draw.choice(task.seats)
        text = state(draw, task, draw.sample(task.facts, draw.between(1, 2)), sender=sender)
        receiver = draw.choice(task.neighbours[sender])
        found.append(Sent(str(place), 1 + place // 3, sender, receiver, text, draw.chance(0.9)))
    return found


@given(secret=st.binary(min_size=1, max_size=8), count=st.integers(0, 12))
def test_knowledge_grows_with_time_and_with_messages(secret: bytes, count: int) -> None:
    task = generated()
    messages = drawn(task, secret, count)
    flow, shorter = flow_of(task, MAXIMUM, messages), flow_of(task, MAXIMUM, messages[: count // 2])
    for seat in task.seats:
        for fact in task.facts:
            knew = [flow.knew(seat, fact.id, time) for time in range(8)]
            assert knew == sorted(knew)
            assert all(flow.knew(seat, fact.id, time) for time in range(8) if shorter.knew(seat, fact.id, time))


@given(secret=st.binary(min_size=1, max_size=8), count=st.integers(0, 12))
def test_nobody_knows_a_fact_before_it_was_told_it(secret: bytes, count: int) -> None:
    task = generated()
    messages = drawn(task, secret, count)
    flow = flow_of(task, MAXIMUM, messages)
    for seat in task.seats:
        times = [each.time for each in messages if each.receiver == seat and each.delivered]
        for fact_id, arrival in flow.known[seat].items():
            holders = next(fact.holders for fact in task.facts if fact.id == fact_id)
            assert (arrival.time == 0) is (seat in holders)
            assert arrival.time == 0 or arrival.time - 1 in times

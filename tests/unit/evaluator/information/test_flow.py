"""What seats could know when, from messages alone."""

from hypothesis import given
from hypothesis import strategies as st

from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord_evaluator.information.flow import Sent, flow_of
from concord_suites import FAMILIES
from tests.suites_gate.phrasings import state
from tests.unit.evaluator.information.tasks import ANN, BOB, CYN, FAMILY, OF_BOB, OF_CYN, SUM, sent, task_of

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

"""What the record lists of failures and of the flow of facts: bounded, with the counts of the rest."""

import pytest
from pydantic import ValidationError

from concord.assessment.team_results import MAX_FACTS, MAX_FAILURES, MAX_MESSAGES, MAX_NAMED_FACTS, PartFailure
from concord.assessment.verdict import KINDS_OF_PARTS, Cause, CauseKind, Evidence
from concord.suite import neighbours_of
from concord_evaluator.information.flow import flow_of
from concord_evaluator.information.receipts import Unexplained
from concord_evaluator.information.record import flow_record, listed_failures, listed_unexplained
from concord_evaluator.information.turns import Answered
from concord_evaluator.messages import Sent
from concord_suites import SUITE
from tests.unit.evaluator.information.tasks import ANN, BOB, CYN, FAMILY, OF_BOB, OF_CYN, sent, task_of

AT_END = Answered({ANN: 3}, 3)


def failure(number: int, kind: CauseKind = CauseKind.NOT_SENT, seat: str = BOB, facts: int = 1) -> Cause:
    lost = tuple(Evidence(text=f"fact {each}") for each in range(facts))
    return Cause(kind=kind, agents=(seat,), part=f"part {number}", certainty="proven", evidence=lost)


def test_few_failures_are_all_listed_in_their_order() -> None:
    assert [each.part for each in listed_failures([failure(2), failure(1)], {})] == ["part 2", "part 1"]


@pytest.mark.parametrize("kind", CauseKind)
def test_a_record_takes_the_causes_of_parts_and_refuses_all_others(kind: CauseKind) -> None:
    fields = {"part": ANN, "cause": kind.value, "seats": [BOB], "step_id": None, "facts": []}
    if kind in KINDS_OF_PARTS:
        assert PartFailure.model_validate(fields).cause is kind
    else:
        with pytest.raises(ValidationError, match="is not the cause of a part"):
            PartFailure.model_validate(fields)


def test_of_many_failures_one_of_each_cause_and_seat_is_listed() -> None:
    many = [failure(number) for number in range(MAX_FAILURES + 50)]
    rare = [failure(999, CauseKind.CHANGED, CYN), failure(1000, seat=CYN)]
    listed = listed_failures([*many, *rare], {})
    assert len(listed) == MAX_FAILURES
    assert [each.part for each in listed[-2:]] == ["part 999", "part 1000"]


def test_the_facts_of_a_failure_and_of_unexplained_knowledge_are_bounded_and_counted() -> None:
    [listed] = listed_failures([failure(1, facts=MAX_NAMED_FACTS + 3)], {})
    assert (len(listed.facts), listed.facts_omitted) == (MAX_NAMED_FACTS, 3)
    [known] = listed_unexplained([Unexplained(BOB, tuple(map(str, range(MAX_NAMED_FACTS + 1))))])
    assert (len(known.facts), known.facts_omitted) == (MAX_NAMED_FACTS, 1)


def test_the_flow_says_who_could_know_what_from_when_and_what_each_message_told() -> None:
    messages = sent((1, CYN, BOB, "70561"), (2, BOB, ANN, "70561"), (3, BOB, ANN, "70561"))
    task = task_of()
    record = flow_record(task, flow_of(task, FAMILY, messages), AT_END, [])
    facts = {fact: place for place, fact in enumerate(record.facts)}
    known = dict(zip(record.seats, record.known_from, strict=True))
    of_cyn, of_bob = facts[OF_CYN.id], facts[OF_BOB.id]
    assert [known[seat][of_cyn] for seat in (ANN, BOB, CYN)] == [3, 2, 0]
    assert [known[seat][of_bob] for seat in (ANN, BOB, CYN)] == [None, 0, None]
    assert sorted(record.needs[record.seats.index(ANN)]) == sorted((of_cyn, of_bob))
    assert record.answered == [3 if seat == ANN else None for seat in record.seats]
    assert [(each.time, each.facts, each.news) for each in record.messages] == [
        (1, [of_cyn], [of_cyn]),
        (2, [of_cyn], [of_cyn]),
        (3, [of_cyn], []),
    ]
    assert dict(zip(record.seats, record.sent, strict=True)) == {ANN: 0, BOB: 2, CYN: 1}
    assert sum(record.redundant) == 1


def test_lost_facts_come_first_and_undelivered_messages_are_not_listed() -> None:
    task = task_of()
    flow = flow_of(task, FAMILY, sent((1, CYN, "nobody", "70561"), undelivered={1}))
    fact = Evidence(text=OF_CYN.id)
    lost = Cause(kind=CauseKind.MISDIRECTED, agents=(CYN,), part=ANN, certainty="proven", evidence=(fact,))
    record = flow_record(task, flow, AT_END, [lost])
    assert record.facts[0] == OF_CYN.id
    assert (record.messages, record.sent) == ([], [0, 0, 0])


def test_a_team_of_100_has_a_bounded_record_that_counts_the_rest() -> None:
    names = [f"agent/{number}" for number in range(1, 101)]
    ring = [(names[place], names[place - 1]) for place in range(100)]
    family = SUITE.families["consensus"]
    task = family.generate(b"x" * 32, neighbours_of(names, ring), 2)
    messages = [
        Sent(f"{time}:{sender}", time, sender, receiver, task.briefs[sender], delivered=True)
        for time in range(1, 8)
        for sender, receiver in ring
    ]
    record = flow_record(task, flow_of(task, family, messages), Answered({}, 8), [])
    assert (len(record.facts), record.facts_omitted) == (MAX_FACTS, len(task.facts) - MAX_FACTS)
    assert (len(record.messages), record.messages_omitted) == (MAX_MESSAGES, 200)
    assert all(each.news for each in record.messages if each.time == 1)
    assert sum(record.sent) == 700

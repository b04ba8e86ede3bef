"""Receipts of honest teams: whoever quotes its brief tells its facts, in every family and at every difficulty."""

import json

import pytest

from concord.suite import MAX_DIFFICULTY, Draw, Topology, instance_secret, neighbours_in
from concord_evaluator.information.causes import Answered
from concord_evaluator.information.flow import Sent, flow_of
from concord_evaluator.information.receipts import Gap, credit_of, gap_of, information
from concord_suites import FAMILIES
from concord_suites.family import TextFamily, setting_of
from tests.unit.evaluator.information.tasks import ANN, BOB, CYN, SumFamily, sent, task_of


@pytest.mark.parametrize("difficulty", range(1, MAX_DIFFICULTY + 1))
@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_a_team_that_quotes_its_briefs_is_credited_whole(family: TextFamily, difficulty: int) -> None:
    size = 5 if 5 in family.seats else family.seats.start
    team = [f"agent/{place}" for place in range(1, size + 1)]
    secret = instance_secret(bytes(32), family.name, "quoted", difficulty)
    task = family.generate(secret, neighbours_in(Topology.COMPLETE, team, Draw(secret)), difficulty)
    messages = [
        Sent(f"{sender} {receiver}", 1, sender, receiver, f"My brief says: {task.briefs[sender]}", True)
        for sender in team
        for receiver in task.neighbours[sender]
    ]
    solution = family.solve(setting_of(family, task))
    answers = {seat: each if isinstance(each, str) else json.dumps(each) for seat, each in solution.items()}
    flow, answered = flow_of(task, family, messages, answers), Answered(dict.fromkeys(team, 2), 2)
    assert credit_of(task, family.grade(answers, task.key), flow, answered).outcome == 1
    assert information(task, flow, answered) in {1, None}


def test_a_failed_part_is_informed_only_if_its_seat_answered_with_all_that_it_needed() -> None:
    family, task = SumFamily(), task_of()
    told = sent((1, BOB, ANN, "48213"), (1, CYN, BOB, "70561"), (2, BOB, ANN, "70561"))
    wrong, right = {ANN: "1"}, {ANN: str(48213 + 70561)}

    def gap(answers: dict[str, str], answered: int | None, messages: list[Sent]) -> Gap:
        flow = flow_of(task, family, messages, answers)
        times = {} if answered is None else {ANN: answered}
        return gap_of(task, family.grade(answers, task.key), flow, Answered(times, 9))

    assert gap(wrong, 3, told) == Gap(parts=1, informed_parts=1, seats=1, informed_seats=1)
    assert gap(wrong, 2, told) == Gap(parts=1, informed_parts=0, seats=1, informed_seats=0)
    assert gap(wrong, 3, told[:1]) == Gap(parts=1, informed_parts=0, seats=1, informed_seats=0)
    assert gap({}, None, told) == Gap(parts=1, informed_parts=0, seats=1, informed_seats=0)
    assert gap(right, 3, told) == Gap()

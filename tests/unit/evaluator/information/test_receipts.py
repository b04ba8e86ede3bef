"""Receipts of honest teams: whoever quotes its brief tells its facts, in every family and at every difficulty."""

import json

import pytest

from concord.suite import MAX_DIFFICULTY, Draw, Topology, instance_secret, neighbours_in
from concord_evaluator.information.causes import Answered
from concord_evaluator.information.flow import Sent, flow_of
from concord_evaluator.information.receipts import credit_of, information
from concord_suites import FAMILIES
from concord_suites.family import TextFamily, setting_of


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

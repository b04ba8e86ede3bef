"""Receipts: a right answer earns what rests on its seat's own brief and on messages, in every family."""

import json
from collections.abc import Collection

import pytest

from concord.suite import MAX_DIFFICULTY, Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord.suite.task import Fact, Part
from concord_evaluator.information.flow import flow_of
from concord_evaluator.information.receipts import Credit, Gap, credit_of, gap_of, information
from concord_evaluator.information.turns import Answered
from concord_evaluator.messages import Sent
from concord_suites import FAMILIES
from concord_suites.family import TextFamily, setting_of
from tests.unit.evaluator.information.tasks import ANN, BOB, CYN, SumFamily, sent, task_of


def task_for(family: TextFamily, seats: int, difficulty: int) -> SuiteTask:
    team = [f"agent/{place}" for place in range(1, seats + 1)]
    secret = instance_secret(bytes(32), family.name, "quoted", difficulty)
    return family.generate(secret, neighbours_in(Topology.COMPLETE, team, Draw(secret)), difficulty)


def played(family: TextFamily, task: SuiteTask, telling: Collection[str]) -> tuple[Credit, float | None]:
    """The credit and the information of a team that answers right after the given seats quoted their briefs to all."""
    messages = [
        Sent(f"{sender} {receiver}", 1, sender, receiver, f"My brief says: {task.briefs[sender]}", True)
        for sender in telling
        for receiver in task.neighbours[sender]
    ]
    solution = family.solve(setting_of(family, task))
    answers = {seat: each if isinstance(each, str) else json.dumps(each) for seat, each in solution.items()}
    flow, answered = flow_of(task, family, messages, answers), Answered(dict.fromkeys(task.seats, 2), 2)
    return credit_of(task, family.grade(answers, task.key), flow, answered), information(task, flow, answered)


def needs_of_others(task: SuiteTask, part: Part) -> list[Fact]:
    """The facts that a part follows from and that its seat's own brief does not state."""
    return [fact for fact in task.facts if fact.id in part.needs and part.seat not in fact.holders]


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_a_team_that_quotes_its_briefs_is_credited_whole(family: TextFamily) -> None:
    difficulty = 1 + FAMILIES.index(family) % MAX_DIFFICULTY
    task = task_for(family, 5 if 5 in family.seats else family.seats.start, difficulty)
    credit, information = played(family, task, task.seats)
    assert credit.outcome == 1
    assert information in {1, None}


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_a_right_answer_earns_the_share_of_others_facts_that_were_told(family: TextFamily) -> None:
    task = task_for(family, 5 if 5 in family.seats else family.seats.start, MAX_DIFFICULTY)
    for told in (0, 1, 2):
        telling = task.seats[:told]
        credit, _ = played(family, task, telling)
        for part in task.parts:
            needed = needs_of_others(task, part)
            share = sum(bool({*fact.holders} & {*telling}) for fact in needed) / len(needed) if needed else 1
            assert credit.parts[part.id] == pytest.approx(share), (telling, part)


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

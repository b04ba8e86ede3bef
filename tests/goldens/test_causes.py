"""The causes of planted faults, and of rows of all kinds, keep their fields, their order and their sentences."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from random import Random

import pytest
from pydantic import JsonValue

from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.verdict_text import change_text, reasoning_of, weaknesses_of
from concord.suite import Draw, Topology
from concord_evaluator.information.receipts import lost_by_part
from concord_evaluator.information.record import flow_record, listed_failures, listed_unproven
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from concord_evaluator.scorers import grade_answers
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.goldens.golden import check
from tests.kit.own_tasks.faults import FAULTS as OWN_FAULTS
from tests.kit.own_tasks.faults import Planted
from tests.kit.own_tasks.measures import plan_of
from tests.kit.own_tasks.traps import TRAPS
from tests.kit.players.calls import Played as PlayedByCalls
from tests.kit.players.faults import FAULTS, NEED_RELAYS, played_with, situation_of
from tests.kit.players.measures import task_of
from tests.kit.players.minds import Mind
from tests.kit.players.network import NETWORK_FAULTS, planted, team_of
from tests.kit.players.network import STYLES as NETWORK_STYLES
from tests.kit.players.planted import EXCHANGES, IN_ROUNDS_ONLY, SIZES, STYLES, StyledTeam, label_of
from tests.kit.players.play import Played
from tests.kit.players.transcript import as_calls
from tests.kit.team_rows import row_of
from tests.kit.team_task_rows import team_task, trial_with
from tests.unit.verdict.cases import RIGHT

WITH_RELAYS = (Topology.CHAIN, Topology.TREE, Topology.STAR)
OWN_TRIALS = 3


def told(row: ResultRow) -> JsonValue:
    """What the verdict of a row says of causes, in fields and in words."""
    verdict = row.detail.verdict
    assert verdict is not None
    return {
        "causes": [each.model_dump(mode="json") for each in verdict.causes],
        "left_out": [verdict.causes_left_out, verdict.points_left_out],
        "changes": [each.model_dump(mode="json") for each in verdict.changes],
        "sentences": [*weaknesses_of(verdict), reasoning_of(verdict), *map(change_text, verdict.changes)],
    }


def found_in(played: Played | PlayedByCalls, number: int) -> JsonValue:
    """The failures in the record of a trial of a team task, and the row's causes."""
    task, failures, credit = played.task, played.failures(), played.credit()
    parts = {part.id: played.grade.parts.get(part.id, 0.0) for part in task.parts}
    listed = listed_failures(failures, lost_by_part(dict.fromkeys(parts, 1.0), parts))
    flow = flow_record(task, played.flow(), played.answered, failures) if isinstance(played, Played) else None
    record = team_task(
        None,
        listed,
        seats=list(task.seats),
        unproven=listed_unproven(credit.unproven, lost_by_part(parts, credit.parts)),
        credited=credit.outcome,
    )
    trials = [trial_with(record, outcome=credit.outcome, trial_id=f"trial-{each}") for each in (number, number + 1)]
    return {
        "failures": [each.model_dump(mode="json") for each in listed],
        "facts": None if flow is None else [*flow.facts],
        "row": told(row_of(task.seats, *trials)),
    }


def with_fault(family: TextFamily, number: int, kind: str, exchange: str) -> JsonValue:
    """What is found of a fault of one seat; None if it cannot be made."""
    if exchange == "calls" and kind in IN_ROUNDS_ONLY:
        return None
    task = task_of(family, SIZES[number % len(SIZES)], number, WITH_RELAYS if kind in NEED_RELAYS else tuple(Topology))
    style, draw = STYLES[number % len(STYLES)], Draw(f"{number} {kind} {exchange} {task.question}".encode())
    situation = situation_of(Mind(family, task), draw, label_of)
    made = played_with(situation, kind, partial(StyledTeam, style=style))
    if made is None:
        return None
    _, in_rounds = made
    played = as_calls(in_rounds, situation.plan, draw, asked=number % 2 == 0) if exchange == "calls" else in_rounds
    return found_in(played, number)


def with_network_fault(family: TextFamily, number: int, kind: str) -> JsonValue:
    """What is found of a fault of the network."""
    team = team_of(family, task_of(family, 5, number, WITH_RELAYS), NETWORK_STYLES[0])
    twin = team.play()
    faults = NETWORK_FAULTS[kind](twin, Draw(f"{kind} {number}".encode()))
    found = (found_in(planted(fault, team, twin).played, number) for fault in faults)
    return next(found, None)


def of_own_task(fault: Callable[[Random], Planted], number: int) -> JsonValue:
    """The record's causes and observations of a trial of an own task, and the row's causes."""
    record = own_record(fault(Random(f"{fault.__name__} {number}")))  # noqa: S311 - a reproducible draw
    return {
        "causes": [each.model_dump(mode="json") for each in record.causes],
        "observations": [each.model_dump(mode="json") for each in record.observations],
        "row": told(row_of(sorted({each.agent for each in record.grading.answers} if record.grading else ()), record)),
    }


def own_record(planted: Planted) -> TrialRecord:
    """The record of a trial; without the target's scorer, all answers may be wrong."""
    plan = plan_of(planted)
    evaluation = evaluate_trial(plan, planted.outcome, planted.batches)
    assert evaluation.grading == grade_answers(plan.tasks[0], plan.answerers("task"), planted.outcome)
    return verdict_on(plan, evaluation, None).record


def by_turns(families: Sequence[TextFamily], tries: int) -> Iterator[tuple[str, JsonValue]]:
    """Each kind of fault in each exchange, in a few families by turns."""
    for at, (kind, exchange) in enumerate(product(FAULTS, EXCHANGES)):
        for turn in range(tries):
            family = families[(at * 7 + turn * 3) % len(families)]
            yield f"{kind}, {exchange}, {family.name}", with_fault(family, at + turn, kind, exchange)
    for at, kind in enumerate(NETWORK_FAULTS):
        for turn in range(tries):
            family = families[(at * 5 + turn * 3) % len(families)]
            yield f"network {kind}, {family.name}", with_network_fault(family, at + turn, kind)


def test_the_causes_of_planted_faults_of_team_tasks_keep_their_values() -> None:
    check("causes/team-tasks", dict(by_turns(FAMILIES, 2)))


@pytest.mark.parametrize("faults", [OWN_FAULTS, TRAPS], ids=["faults", "traps"])
def test_the_causes_of_planted_faults_of_own_tasks_keep_their_values(
    faults: dict[str, Callable[[Random], Planted]], request: pytest.FixtureRequest
) -> None:
    found = {name: [of_own_task(fault, each) for each in range(OWN_TRIALS)] for name, fault in faults.items()}
    check(f"causes/own-tasks-{request.node.callspec.id}", found)


def test_the_causes_of_rows_of_all_kinds_keep_their_values() -> None:
    check("causes/rows", {case.name: told(row) for case in RIGHT if (row := case.make()).detail.verdict is not None})

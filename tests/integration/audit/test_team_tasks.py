"""The audit of team tasks: weak families fail by what is weak in them, and shipped ones do not."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pydantic import JsonValue

from concord.assessment.task_spec import FamilyTask
from concord.suite import Answers, Grade, Neighbours, SuiteTask
from concord_cli.audit.flaws import Outcome, Status
from concord_cli.audit.team_tasks import TeamTask, known_beside, pretended, seen
from concord_suites.pool.maximum import Maximum

SEATS = ("agent/1", "agent/2", "agent/3")
COUNT = 8


class Leaky(Maximum):
    """States the answer in every brief."""

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:
        task = super().generate(secret, neighbours, difficulty)
        [right] = set(map(str, dict(task.key).values())) if isinstance(task.key, dict) else {""}
        return replace(task, briefs={seat: f"{brief} The answer is {right}." for seat, brief in task.briefs.items()})


class Gullible(Maximum):
    """Takes an answer that holds the right one somewhere."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        right = key if isinstance(key, dict) else {}
        return Grade(
            {seat: float(str(each) in str(answers.get(seat)).replace(",", "")) for seat, each in right.items()}
        )


class Unsolvable(Maximum):
    """Grades nothing as right."""

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        del answers
        return Grade(dict.fromkeys(key, 0.0) if isinstance(key, dict) else {})


@pytest.fixture
def family(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Maximum:
    chosen: Maximum = request.param()
    monkeypatch.setattr("concord_cli.audit.team_tasks.family_of", lambda _: chosen)
    return chosen


def earning(team: TeamTask) -> Iterator[str]:
    for each in (*pretended(team, COUNT), *known_beside(team, 2)):
        if each.outcome is Outcome.EARNED:
            yield each.attack.name


def team() -> TeamTask:
    return TeamTask("task", FamilyTask(name="maximum"), SEATS)


@pytest.mark.usefixtures("family")
@pytest.mark.parametrize("family", [Leaky], indirect=True)
def test_a_brief_that_states_the_answer_is_found() -> None:
    assert "target in prompt, brief, card or endpoint" in set(earning(team()))


@pytest.mark.usefixtures("family")
@pytest.mark.parametrize("family", [Gullible], indirect=True)
def test_a_grader_that_looks_for_the_answer_anywhere_is_found() -> None:
    assert set(earning(team())) == {"negated answer", "contradictory answer"}


@pytest.mark.usefixtures("family")
@pytest.mark.parametrize("family", [Unsolvable], indirect=True)
def test_a_task_that_nobody_can_solve_is_found() -> None:
    assert {item for each in seen(team(), 2) if each.status is Status.NOT_MET for item in each.items} == {
        "T.7",
        "T.8",
        "T.9",
    }


def test_a_shipped_family_earns_nothing() -> None:
    assert list(earning(team())) == []

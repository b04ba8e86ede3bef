"""What holds for every family of the shipped suite, at every size and difficulty."""

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import concord_suites
from concord.suite import Draw, Family, Kind, SuiteTask, Topology, instance_secret, neighbours_in
from concord_suites import FAMILIES
from concord_suites.family import MAX_BRIEF, TextFamily, setting_of
from concord_suites.grammar import Fresh, Statement

SECRET = bytes(range(32))
WORD = re.compile(r"\w+(?:-\w+)*")
EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


def make(family: Family, seats: int, difficulty: int = 3, attempt: int = 1) -> SuiteTask:
    """A task for a team on a random small world."""
    secret = instance_secret(SECRET, family.name, f"trial-{seats}", attempt)
    team = [f"agent/{number}" for number in range(1, seats + 1)]
    return family.generate(secret, neighbours_in(Topology.SMALL_WORLD, team, Draw(secret)), difficulty)


@cache
def tasks(family: Family) -> list[SuiteTask]:
    """Tasks of all difficulties: for the smallest team and a usual one by turns, and for a large one."""
    small, usual, large = family.seats[0], min(5, family.seats[-1]), min(17, family.seats[-1])
    by_turns = [make(family, usual if difficulty % 2 else small, difficulty) for difficulty in range(1, 6)]
    return [*by_turns, make(family, large, 5)]


@cache
def largest_task(family: Family) -> SuiteTask:
    """A task for the largest team."""
    return make(family, family.seats[-1], 5)


@cache
def usual_task(family: Family) -> SuiteTask:
    """A task for five seats."""
    return make(family, 5)


@EACH_FAMILY
def test_the_reference_solution_is_graded_1(family: TextFamily) -> None:
    for task in tasks(family):
        answers = family.solve(setting_of(family, task))
        assert family.grade(answers, task.key).outcome == 1, task
        as_text = {seat: answer if isinstance(answer, str) else json.dumps(answer) for seat, answer in answers.items()}
        assert family.grade(as_text, task.key).outcome == 1, "answers as JSON in a text"


@EACH_FAMILY
def test_no_answer_is_graded_0(family: TextFamily) -> None:
    for task in tasks(family):
        assert family.grade({}, task.key).outcome == 0


@EACH_FAMILY
def test_the_same_secret_gives_the_same_task_and_another_secret_another(family: TextFamily) -> None:
    assert make(family, 5) == make(family, 5)
    assert make(family, 5, attempt=2).briefs != make(family, 5).briefs


@EACH_FAMILY
def test_a_key_is_json_and_a_brief_is_short(family: TextFamily) -> None:
    for task in [*tasks(family), largest_task(family)]:
        assert json.loads(json.dumps(task.key)) == task.key
        assert max(map(len, task.briefs.values())) <= MAX_BRIEF
        assert set(task.briefs) == set(task.seats)


@given(family=st.sampled_from(FAMILIES), answers=st.lists(ANY_JSON, min_size=5, max_size=5))
def test_no_answer_makes_a_grader_fail(family: TextFamily, answers: list[Any]) -> None:
    task = usual_task(family)
    assert 0 <= family.grade(dict(zip(task.seats, answers, strict=True)), task.key).outcome <= 1


@EACH_FAMILY
def test_a_seat_that_knows_nothing_has_no_partial_result(family: TextFamily) -> None:
    assert family.partial_results(usual_task(family), ()) == {}


@EACH_FAMILY
def test_each_part_is_of_an_answerer_and_follows_from_facts_that_some_seat_holds(family: TextFamily) -> None:
    for task in tasks(family):
        known = {fact.id for fact in task.facts}
        assert len(known) == len(task.facts)
        assert set(family.grade({}, task.key).parts) == {part.id for part in task.parts}
        for part in task.parts:
            assert part.seat in task.answerers
            assert set(part.needs) <= known
        assert all(fact.holders and set(fact.holders) <= set(task.seats) for fact in task.facts)


@EACH_FAMILY
def test_no_part_can_be_known_from_one_brief(family: TextFamily) -> None:
    for task in tasks(family):
        holders = {fact.id: set(fact.holders) for fact in task.facts}
        for part in task.parts:
            assert not all(part.seat in holders[need] for need in part.needs), part


@EACH_FAMILY
def test_the_value_of_a_fact_stands_in_the_briefs_of_its_holders_only(family: TextFamily) -> None:
    for task in tasks(family):
        words = {seat: set(WORD.findall(brief.replace(",", ""))) for seat, brief in task.briefs.items()}
        for fact in task.facts:
            unique = fact.anchor or fact.value
            if unique.kind is Kind.DATE:
                continue  # spelled in several ways; covered by the tests of the recogniser
            assert {seat for seat in task.seats if unique.text in words[seat]} == set(fact.holders), fact


@EACH_FAMILY
def test_no_two_facts_are_stated_by_the_same_value(family: TextFamily) -> None:
    for task in tasks(family):
        unique = [(fact.anchor, fact.value) if fact.anchor else fact.value for fact in task.facts]
        assert len(set(unique)) == len(unique)


def written(statement: Statement, template: str) -> tuple[str, dict[str, str]]:
    """A sentence of a template, and the fields that it states."""
    fresh, draw = Fresh(Draw(SECRET)), Draw(SECRET)
    values: dict[str, Any] = {
        "number": lambda: str(fresh.number()),
        "code": fresh.code,
        "name": fresh.name,
        "date": lambda: "2031-03-14",
        "word": lambda: "amber",
        "seat": lambda: "agent/3",
    }
    kinds = dict(re.findall(r"{(\w+):(\w+)}", template))
    fields = {field: values[kind]() for field, kind in kinds.items()}
    return Statement(statement.name, template).write(draw, **fields), fields


@EACH_FAMILY
def test_a_sentence_states_one_thing_in_each_of_its_wordings(family: TextFamily) -> None:
    for statement in family.statements:
        for template in statement.templates:
            sentence, fields = written(statement, template)
            [record] = family.read(f"Some words before. {sentence} And after.")
            assert (record.statement, dict(record.fields)) == (statement.name, fields), sentence


@EACH_FAMILY
def test_a_statement_has_several_wordings(family: TextFamily) -> None:
    assert len(family.openings) >= 3
    for statement in family.statements:
        assert len(statement.templates) >= 3, statement.name


IMPURE_CALLS = {"eval", "exec", "hash", "id", "input", "now", "open", "print", "today", "utcnow"}
"""The import contracts of pyproject.toml keep out the modules of I/O, clocks and randomness."""


def test_no_family_reads_a_clock_or_a_file_or_depends_on_addresses_or_hashes() -> None:
    package = Path(concord_suites.__file__).parent
    io = {"agent.py", "__init__.py", "habits.py", "player.py", "view.py"}
    for file in package.rglob("*.py"):
        if file.parent == package and file.name in io:
            continue
        calls = [node.func for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
        names = {call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in calls}
        assert not names & IMPURE_CALLS, file.name

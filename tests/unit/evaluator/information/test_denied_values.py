"""A message tells no fact whose value it denies, and of several values of one fact the last."""

import pytest

from concord.suite import Fact, Kind
from concord_evaluator.information.recogniser import Recogniser
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.suite_tasks import make

DENIALS = (
    "It is not {}.",
    "It is anything but {}.",
    "I would not say that it is {}.",
    "The claim that it is {} is false.",
    "I rule out {}.",
    "{} is wrong.",
)
STATEMENTS = (
    "{}",
    "It is {}.",
    "It is probably {}.",
    "There is no doubt that it is {}.",
    "I am not sure, but it is {}.",
    "agent/2 has not answered yet, so here is mine: {}",
    "Please do not send it twice. {}",
    "It is nothing but {}.",
)


def _plain_facts(family: TextFamily) -> list[tuple[Recogniser, Fact]]:
    task = make(family, 3, 1)
    recogniser = Recogniser(task)
    return [(recogniser, fact) for fact in task.facts if fact.anchor is None][:3]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_denied_value_tells_no_fact_and_a_stated_one_does(family: TextFamily) -> None:
    for recogniser, fact in _plain_facts(family):
        for statement in STATEMENTS:
            assert fact.id in recogniser.stated(statement.format(fact.value.text)).facts, statement
        for denial in DENIALS:
            assert fact.id not in recogniser.stated(denial.format(fact.value.text)).facts, denial


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_quoted_brief_tells_all_its_facts(family: TextFamily) -> None:
    for attempt in (1, 4):
        task = make(family, 3, attempt)
        recogniser = Recogniser(task)
        for seat, brief in task.briefs.items():
            held = {fact.id for fact in task.facts if seat in fact.holders}
            assert held <= recogniser.stated(brief).facts


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_of_two_values_beside_the_anchor_of_one_fact_the_last_one_counts(family: TextFamily) -> None:
    task = make(family, 3, 1)
    recogniser = Recogniser(task)
    anchors = [fact.anchor for fact in task.facts]
    for fact in task.facts:
        others = [each for each in fact.domain if each != fact.value]
        if fact.anchor is None or anchors.count(fact.anchor) > 1 or not others or fact.value.kind is Kind.DATE:
            continue
        right, wrong = (f"{fact.anchor.text}: {each.text}." for each in (fact.value, others[0]))
        assert fact.id in recogniser.stated(f"{wrong} {right}").facts
        assert fact.id not in recogniser.stated(f"{right} {wrong}").facts

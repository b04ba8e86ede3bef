"""A value that the task does not know is of the fact which the text names beside it."""

import pytest

from concord.suite import Fact
from concord.suite.value import number
from concord.suite.value_reader import normalised, values_in
from concord_evaluator.information.recogniser import Labels
from tests.unit.evaluator.information.tasks import BOB, CYN

READINGS = [Fact(f"reading of agent/{place}", (BOB,), number(48_213 + place)) for place in (1, 2, 3)]
PARTS = [Fact(f"part {place}", (CYN,), number(70_561 + place)) for place in (1, 2)]


def named(text: str) -> list[frozenset[str]]:
    """The facts that are named beside each number of a text."""
    plain = normalised(text)
    found = [each for each in values_in(plain) if each.value.kind is PARTS[0].value.kind]
    return [each.about for each in Labels([*READINGS, *PARTS]).named(plain, found)]


@pytest.mark.parametrize(
    "text",
    [
        "The reading of agent/2 is 99999.",
        "agent/2's reading was 99999; all is well",
        "reading_of_agent/2=99999",
        "| reading of agent/2 | 99999 |",
        '{\n  "item": "reading of agent/2",\n  "value": 99999\n}',
        "It is late. agent/2: 99999",
    ],
)
def test_a_name_is_found_in_the_sentence_line_or_record_of_a_value(text: str) -> None:
    assert named(text) == [{"reading of agent/2"}]


@pytest.mark.parametrize(
    "text", ["My reading is 99999.", "agent/2 says hello. It is 99999.", "agent/1 or agent/2: 99999"]
)
def test_no_name_or_several_name_no_fact(text: str) -> None:
    assert named(text) == [frozenset()]


def test_a_small_number_is_a_name_only_with_its_noun() -> None:
    assert named("part 2 is 99999") == [{"part 2"}]
    assert named("2 of us have 99999") == [frozenset()]
    assert named("1) my part is 99999") == [frozenset()]


@pytest.mark.parametrize("text", ["mine is lower than 50000", "at most 50,000 units", "more than agent/2's 50000"])
def test_a_bound_is_told_from_a_value(text: str) -> None:
    plain = normalised(text)
    [each] = Labels(READINGS).named(plain, [each for each in values_in(plain) if each.value == number(50_000)])
    assert each.is_bound
    assert not named("I have 50000")[0]

"""Families of the pipeline: keys against independent computation, partial credit, and silent seats."""

import re
from itertools import accumulate, product

import pytest
from pydantic import JsonValue

from concord.suite import SuiteTask
from concord_suites.family import TextFamily
from concord_suites.pipeline.distributed_sort import DistributedSort
from concord_suites.pipeline.joined_tables import JoinedTables
from concord_suites.pipeline.key_assembly import KeyAssembly
from concord_suites.pipeline.relay import Relay
from concord_suites.pipeline.route import Route
from tests.kit.players.silent import guesses
from tests.kit.suite_tasks import (
    make,
    outcome,
    right_answers,
    sentences,
    silent_outcome,
    small_tasks,
    stated_number,
)

FAMILIES: tuple[TextFamily, ...] = (Relay(), DistributedSort(), JoinedTables(), Route(), KeyAssembly())


def values(task: SuiteTask, kind: str = "") -> list[int]:
    """The values of the facts whose ids begin so."""
    return [int(fact.value.text) for fact in task.facts if fact.id.startswith(kind)]


def the_answer(task: SuiteTask) -> JsonValue:
    """The key of the only answerer."""
    assert isinstance(task.key, dict)
    [answer] = task.key.values()
    return answer


def relayed(task: SuiteTask) -> int:
    """The number after all wheels, each read by its words."""
    steps = dict[int, tuple[str, int]]()
    for seat in task.seats:
        brief = sentences(task, seat, without=("Before its repair", "An old plan", "A copy", "It was planned"))
        for each in brief:
            place = re.search(r"(?:[Ww]heel|place) (\d+)\b", each)
            kind = re.search(r"\b(adds|raises|takes|subtracts|lowers|mirrors|reverses|rotates|triples)\b", each)
            if place and kind:
                amount = stated_number(each, brief) if kind[0] in "adds raises takes subtracts lowers" else 0
                steps[int(place[1])] = (kind[0], amount)
    reached = values(task, "start")[0]
    for _, (kind_of, amount) in sorted(steps.items()):
        digits = list(f"{reached:06}")
        match kind_of:
            case "adds" | "raises":
                reached += amount
            case "takes" | "subtracts" | "lowers":
                reached -= amount
            case "triples":
                reached = reached + reached + reached
            case "mirrors":
                reached = int("".join(str(9 - int(digit)) for digit in digits))
            case "reverses":
                reached = int("".join(reversed(digits)))
            case "rotates":
                reached = int("".join([*digits[1:], digits[0]]))
        reached %= 1_000_000
    return reached


def test_a_relay_ends_with_the_number_after_all_steps() -> None:
    for task in small_tasks(Relay()):
        assert the_answer(task) == relayed(task)


def test_the_number_so_far_stands_for_the_steps_of_a_relay() -> None:
    family = Relay()
    for task in small_tasks(family):
        found = {ids: value.text for value, ids in family.partial_results(task, task.facts).items()}
        assert found[frozenset(fact.id for fact in task.facts)] == str(relayed(task))
        assert not family.partial_results(task, task.facts[1:])


def test_a_seat_sorts_all_numbers_to_find_the_one_at_its_place() -> None:
    family = DistributedSort()
    for task in small_tasks(family):
        numbers, key = values(task), task.key
        assert isinstance(key, dict)
        for seat in task.seats:
            [place] = [int(each) for each in re.findall(r"(?:place|is|row is) (\d{1,4})\b[ .]", task.briefs[seat])]
            smaller = [number for number in numbers if number < int(str(key[seat]))]
            assert len(smaller) == place - 1
            assert key[seat] in numbers
            assert str(key[seat]) not in " ".join(sentences(task, seat))


def test_a_seal_is_found_through_three_relations() -> None:
    for task in small_tasks(JoinedTables()):
        found = {}
        for file, box, seal in zip(task.facts[::3], task.facts[1::3], task.facts[2::3], strict=True):
            [box_row] = [each for each in sentences(task, box.holders[0]) if box.value.text in each]
            assert f" {file.value.text[:3]}" in box_row
            seal_brief = sentences(task, seal.holders[0], without=("Slip", "slip says", "On slip"))
            assert any(f" {box.value.text[:4]} " in f"{each[:-1]} " for each in seal_brief)
            found[file.id.split()[-1]] = int(seal.value.text)
        assert the_answer(task) == found


def test_a_journey_costs_the_sum_of_the_legs_so_far() -> None:
    for task in small_tasks(Route()):
        sums = dict(zip([fact.id.split()[-1] for fact in task.facts], accumulate(values(task)), strict=True))
        answer = the_answer(task)
        assert isinstance(answer, dict)
        assert answer == {stop: sums[stop] for stop in answer}
        assert max(sums.values()) in answer.values()


def test_each_leg_of_a_journey_leaves_where_the_one_before_arrives() -> None:
    for task in small_tasks(Route()):
        here = re.findall(r"(?:start at|begins at|to go from) ([A-Z][a-z]+)", task.question)[0]
        for fact in task.facts:
            brief = sentences(task, fact.holders[0])
            [stating] = [each for each in brief if re.search(rf"(?<!-){fact.value.text}", each)]
            slip = re.search(r"[A-Z]{2}-\d{5}", stating)
            [leg] = [each for each in brief if each != stating and slip[0] in each] if slip else [stating]
            there = fact.id.split()[-1]
            assert here in leg
            assert there in leg
            here = there


def test_a_key_consists_of_the_newest_versions() -> None:
    for task in small_tasks(KeyAssembly()):
        versions = dict[int, list[tuple[int, int]]]()
        for seat in task.seats:
            brief = sentences(task, seat)
            for each in brief:
                version, place = re.search(r"[Vv]ersion (\d+)", each), re.search(r"[Pp]art (\d+)", each)
                if version and place:
                    versions.setdefault(int(place[1]), []).append((int(version[1]), stated_number(each, brief)))
        assert the_answer(task) == [max(found)[1] for _, found in sorted(versions.items())]


@pytest.mark.parametrize("family", [JoinedTables(), Route()], ids=lambda family: family.name)
def test_each_name_of_an_object_counts_for_itself(family: TextFamily) -> None:
    for attempt in range(20):
        task = make(family, 5, attempt)
        [seat], right = task.answerers, the_answer(task)
        assert isinstance(right, dict)
        one, *others = right
        changed = outcome(family, task, {seat: {**right, one: 1}})
        missing = outcome(family, task, {seat: {name: right[name] for name in others}})
        assert changed == missing == pytest.approx(len(others) / len(right))


@pytest.mark.parametrize("family", [JoinedTables(), Route()], ids=lambda family: family.name)
def test_all_numbers_for_each_name_are_worth_nothing(family: TextFamily) -> None:
    for attempt in range(20):
        task = make(family, 5, attempt)
        [seat], right = task.answerers, the_answer(task)
        assert isinstance(right, dict)
        everything = " or ".join(map(str, right.values()))
        assert outcome(family, task, {seat: dict.fromkeys(right, everything)}) == 0
        assert outcome(family, task, {seat: {name: list(right.values()) for name in right}}) == 0


def test_each_part_of_a_key_counts_at_its_place_only() -> None:
    family = KeyAssembly()
    for attempt in range(20):
        task = make(family, 5, attempt)
        [seat], right = task.answerers, the_answer(task)
        assert isinstance(right, list)
        assert outcome(family, task, {seat: [0, *right[1:]]}) == pytest.approx(1 - 1 / len(right))
        assert outcome(family, task, {seat: [*right[1:], right[0]]}) == 0
        assert outcome(family, task, {seat: [0, *right]}) == 0


@pytest.mark.parametrize("family", [Relay(), DistributedSort()], ids=lambda family: family.name)
def test_two_numbers_are_no_answer(family: TextFamily) -> None:
    for attempt in range(20):
        task = make(family, 5, attempt)
        right = right_answers(family, task)
        hedged = family.grade({seat: f"{number} or 11111" for seat, number in right.items()}, task.key)
        assert hedged.outcome == 0
        assert set(hedged.unreadable) == set(hedged.parts)
        assert outcome(family, task, {seat: int(str(number)) + 1 for seat, number in right.items()}) == 0


def test_a_sum_of_legs_stands_for_legs_that_follow_each_other() -> None:
    family = Route()
    for task in small_tasks(family):
        known = [*task.facts[:2], *task.facts[3:]]
        for value, ids in family.partial_results(task, known).items():
            legs = [fact for fact in task.facts if fact.id in ids]
            assert int(value.text) == sum(int(fact.value.text) for fact in legs)
            at = task.facts.index(legs[0])
            assert tuple(legs) == task.facts[at : at + len(legs)]


def test_a_silent_seat_never_hits_a_number() -> None:
    for family, attempt in product(FAMILIES, range(20)):
        task = make(family, 5, attempt)
        assert max(silent_outcome(family, task, guess) for guess in guesses(family)) == 0, family.name

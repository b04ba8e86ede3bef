"""Families in which every seat needs several others: keys against enumeration, and partial credit."""

import datetime
import re
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations

import pytest
from pydantic import JsonValue

from concord.suite import SuiteTask, Value
from concord.suite.value import code, number, word
from concord_suites.all_to_all.connectivity import Connectivity
from concord_suites.all_to_all.logic_grid import LogicGrid
from concord_suites.all_to_all.meeting import Meeting
from concord_suites.all_to_all.offers_needs import OffersNeeds
from concord_suites.all_to_all.shortest_path import ShortestPath
from concord_suites.all_to_all.split_budget import SplitBudget
from concord_suites.family import TextFamily
from tests.kit.suite_tasks import (
    from_all,
    make,
    outcome,
    right_answers,
    sentences,
    small_tasks,
    stated_number,
)

CODE = re.compile(r"[A-Z]{2}-\d{5}")
NAME = re.compile(r"(?!Between)[A-Z][a-z]{5,}")


def key_of(task: SuiteTask) -> dict[str, JsonValue]:
    """The key, an object."""
    assert isinstance(task.key, dict)
    return task.key


def reachable_signs(task: SuiteTask) -> dict[str, set[str]]:
    """The call signs of all stations that each seat's village is joined with, by merging sets of places."""
    groups, signs, homes = list[set[str]](), dict[str, str](), dict[str, str]()
    for seat in task.seats:
        brief = sentences(task, seat, without=("planned", "never built", "Long ago", "talk of"))
        for each in brief:
            codes, names = CODE.findall(each), NAME.findall(each)
            if "station" in each:
                signs[names[-1]] = codes[0]
            elif re.search(r"You live|Your village|at home|your house", each) and names:
                homes[seat] = names[-1]
            elif len(names) == 2 and any(codes[0] in other and " open" in other for other in brief):
                groups.append(set(names))
    for _ in range(len(groups)):
        groups = [set().union(*(other for other in groups if other & group)) for group in groups]
    near = {seat: set().union({home}, *(group for group in groups if home in group)) for seat, home in homes.items()}
    return {seat: {signs[place] for place in places if place in signs} for seat, places in near.items()}


def test_exactly_one_station_can_be_reached_from_each_village() -> None:
    for task in small_tasks(Connectivity()):
        assert {seat: {sign} for seat, sign in key_of(task).items()} == reachable_signs(task)


def test_a_seat_has_to_name_a_call_sign_that_its_brief_does_not_state() -> None:
    for task in small_tasks(Connectivity()):
        for seat, sign in key_of(task).items():
            assert str(sign) not in task.briefs[seat]


def ways(task: SuiteTask, start: str, goal: str) -> Iterator[tuple[int, list[str]]]:
    """Every way from one place to the other that visits no place twice, with its length."""
    tunnels = list[tuple[set[str], int]]()
    for seat in task.seats:
        brief = sentences(task, seat, without=("flooded", "Rocks", "legend", "caved"))
        tunnels += [
            (set(NAME.findall(each)), stated_number(each, brief)) for each in brief if len(NAME.findall(each)) == 2
        ]

    def onward(way: list[str], length: int) -> Iterator[tuple[int, list[str]]]:
        if way[-1] == goal:
            yield length, way
            return
        for ends, more in tunnels:
            if way[-1] in ends and not (ends - {way[-1]}) & set(way):
                yield from onward([*way, *(ends - {way[-1]})], length + more)

    return onward([start], 0)


def shortest(task: SuiteTask) -> dict[str, JsonValue]:
    """The right answer to a shortest path, as an object."""
    right = key_of(task)["right"]
    assert isinstance(right, dict)
    return right


def test_the_shortest_way_is_the_shortest_of_all_and_the_only_one() -> None:
    for seats, attempt in [(seats, attempt) for seats in (2, 3, 4) for attempt in range(7)]:
        task = make(ShortestPath(), seats, attempt)
        places = shortest(task)["places"]
        assert isinstance(places, list)
        first, second, *_ = [*sorted(ways(task, str(places[0]), str(places[-1]))), (10**9, [])]
        assert first == (shortest(task)["length"], places)
        assert first[0] < second[0]
        assert len(places) > len(task.seats)


def test_a_stretch_follows_from_its_length_and_the_names_of_its_places() -> None:
    family = ShortestPath()
    for task in small_tasks(family):
        places = shortest(task)["places"]
        assert isinstance(places, list)
        names = [word(str(place).casefold()) for place in places[:3]]
        length = number(sum(int(fact.value.text) for fact in task.facts[:2]))
        ids = {fact.id for fact in task.facts[:2]}
        assert family.implied(task, task.facts, [length, *names]) == ids
        assert family.implied(task, task.facts, [length, *names[:2]]) == frozenset()
        assert family.implied(task, task.facts, names) == frozenset()
        assert family.implied(task, task.facts[1:], [length, *names]) == frozenset(), "its sender knows one of them"


def words(*names: object) -> list[Value]:
    """Names as they are found in text."""
    return [word(str(each).casefold()) for each in names]


def test_the_roads_to_a_station_follow_from_a_place_and_its_call_sign() -> None:
    family = Connectivity()
    for task in small_tasks(family):
        for part in task.parts:
            home, sign = part.needs[0].split()[2], code(str(key_of(task)[part.seat]))
            root = part.needs[-1].split()[-1]
            told = family.implied(task, task.facts, [sign, *words(home, root)])
            assert told == family.implied(task, task.facts, [sign, *words(home)]) == set(part.needs)
            assert family.implied(task, task.facts, [sign]) == frozenset()
            assert family.implied(task, task.facts, words(home, root)) == frozenset()
            others = [fact.id.split()[2] for fact in task.facts if fact.anchor and fact.id not in part.needs]
            for other in others:
                assert family.implied(task, task.facts, [sign, *words(home, other)]) == frozenset()
            known = [fact for fact in task.facts if fact.id != part.needs[-1]]
            assert family.implied(task, known, [sign, *words(home)]) == frozenset()


def test_the_first_requests_follow_from_their_codes_and_what_they_leave() -> None:
    family = SplitBudget()
    for task in small_tasks(family):
        budget = next(each.number("budget") for each in family.read(task.question) if each.statement == "question")
        first, second = task.facts[:2]
        left = number(budget - int(first.value.text) - int(second.value.text))
        codes = [each.anchor for each in (first, second) if each.anchor]
        assert family.implied(task, task.facts, [left, *codes]) == {first.id, second.id}
        assert family.implied(task, task.facts, [left, codes[0]]) == frozenset()
        assert family.implied(task, task.facts, codes) == frozenset()
        assert family.implied(task, [second], [left, *codes]) == frozenset()


def test_a_partner_follows_from_two_names_alone() -> None:
    family = OffersNeeds()
    for task in small_tasks(family):
        stalls = {fact.holders[0]: fact.anchor.text for fact in task.facts if fact.anchor}
        for part in task.parts:
            pair = words(stalls[part.seat], key_of(task)[part.seat])
            assert family.implied(task, task.facts, pair) >= set(part.needs)
            assert family.implied(task, task.facts, pair[:1]) == frozenset()
            assert family.implied(task, task.facts, [*pair, task.facts[0].value]) == frozenset()
            known = [fact for fact in task.facts if fact.id != part.needs[0]]
            assert not set(part.needs) <= family.implied(task, known, pair)
        if len(stalls) > 2:
            assert family.implied(task, task.facts, words(*stalls.values())) == frozenset()


def test_every_piece_of_the_shortest_way_is_at_another_seat() -> None:
    for task in small_tasks(ShortestPath()):
        places = shortest(task)["places"]
        assert isinstance(places, list)
        assert [fact.id for fact in task.facts] == [f"tunnel from {a} to {b}" for a, b in pairwise(places)]
        assert {fact.holders for fact in task.facts} == {(seat,) for seat in task.seats}
        for seat in task.seats:
            assert any(str(place) not in task.briefs[seat] for place in places[1:-1])


def test_the_length_and_the_places_are_worth_a_half_each() -> None:
    family = ShortestPath()
    for attempt in range(20):
        task = make(family, 5, attempt)
        right = shortest(task)
        places = right["places"]
        assert isinstance(places, list)
        assert outcome(family, task, from_all(task, {"length": right["length"]})) == 0.5
        assert outcome(family, task, from_all(task, {**right, "length": 1})) == 0.5
        swapped = [places[0], places[2], places[1], *places[3:]]
        assert outcome(family, task, from_all(task, {**right, "places": swapped})) == 0.5
        assert outcome(family, task, from_all(task, {"length": 1, "places": [*places, "Nowhere"]})) == 0


def test_there_is_one_matching_of_offers_and_needs() -> None:
    for task in small_tasks(OffersNeeds()):
        offers, takes, stalls = dict[str, str](), set[tuple[str, str]](), dict[str, str]()
        for fact in task.facts:
            stall = fact.anchor.text if fact.anchor else ""
            stalls[fact.holders[0]] = stall
            if fact.id.startswith("offer"):
                offers[stall] = fact.value.text[:3]
            else:
                takes.add((stall, fact.value.text[:3]))
        names = [stalls[seat] for seat in task.seats]
        matchings = [
            givers
            for givers in permutations(names)
            if all((stall, offers[giver]) in takes for stall, giver in zip(names, givers, strict=True))
        ]
        assert [list(each) for each in matchings] == [[key_of(task)[seat] for seat in task.seats]]
        assert all(stall != giver for stall, giver in zip(names, matchings[0], strict=True))


def test_each_partner_counts_for_itself_and_only_if_alone() -> None:
    family = OffersNeeds()
    for attempt in range(20):
        task = make(family, 5, attempt)
        right, seat = key_of(task), task.seats[0]
        assert outcome(family, task, {**right, seat: right[task.seats[1]]}) == 0.8
        everybody = ", ".join(str(stall) for stall in right.values())
        assert outcome(family, task, from_all(task, everybody)) == 0


def season(task: SuiteTask) -> set[str]:
    """All days from the first to the last in the question."""
    [question] = [each for each in Meeting().read(task.question) if each.statement == "question"]
    first, last = (datetime.date.fromisoformat(question[end]).toordinal() for end in ("first", "last"))
    return {datetime.date.fromordinal(day).isoformat() for day in range(first, last + 1)}


def test_exactly_one_day_is_in_no_calendar() -> None:
    for task in small_tasks(Meeting()):
        [free] = season(task) - {fact.value.text for fact in task.facts}
        assert key_of(task) == dict.fromkeys(task.seats, free)


def test_a_day_of_the_season_stands_in_the_calendars_of_its_holders_only() -> None:
    family = Meeting()
    for task in small_tasks(family):
        stated = {
            seat: {each["day"] for each in family.read(task.briefs[seat]) if "day" in each.fields} & season(task)
            for seat in task.seats
        }
        for fact in task.facts:
            assert {seat for seat in task.seats if fact.value.text in stated[seat]} == set(fact.holders)


def test_two_days_or_an_impossible_day_are_no_answer() -> None:
    family = Meeting()
    task = make(family, 5, 1)
    free = str(key_of(task)[task.seats[0]])
    for text in (f"{free} or 2031-01-01", "31 February 2031", "some day"):
        grade = family.grade(from_all(task, text), task.key)
        assert (grade.outcome, grade.unreadable) == (0, task.seats)
    assert outcome(family, task, from_all(task, f"It is {free}.")) == 1


def decided(task: SuiteTask) -> dict[str, set[str]]:
    """The granted requests of each seat, read by words and decided one by one."""
    requests = list[tuple[int, int, str, str]]()
    for seat in task.seats:
        brief = sentences(task, seat, without=("withdrew", "Last year", "draft", "in spring"))
        for each in brief:
            if priority := re.search(r"priority (\d{3})", each):
                code = CODE.findall(each)[0]
                [amount] = {
                    int(number) for other in brief if code in other for number in re.findall(r"(?<![-\d])\d{5}", other)
                }
                requests.append((-int(priority[1]), amount, seat, code))
    left = int(re.findall(r"(\d{5,}) crowns", task.question.replace(",", ""))[0])
    granted: dict[str, set[str]] = {seat: set() for seat in task.seats}
    while requests:
        requests.remove(best := min(requests))
        if best[1] <= left:
            left -= best[1]
            granted[best[2]].add(best[3])
    return granted


def test_the_budget_is_granted_by_priority() -> None:
    for task in small_tasks(SplitBudget()):
        granted = decided(task)
        assert {seat: set(map(str, own)) for seat, own in key_of(task).items() if isinstance(own, list)} == granted
        assert {fact.anchor.text for fact in task.facts if fact.anchor} == set().union(*granted.values())
        assert sum(map(bool, granted.values())) > 1


def test_wrong_requests_cost_as_much_as_missing_ones() -> None:
    family = SplitBudget()
    for attempt in range(20):
        task = make(family, 5, attempt)
        for seat, right in right_answers(family, task).items():
            assert isinstance(right, list)
            parts = [
                family.grade({seat: answer}, task.key).parts[seat]
                for answer in (right[1:], [*right, "AA-10000"], [*right, *right], right * 2 + ["AA-10000"])
            ]
            less = pytest.approx(1 - 1 / len(right))
            assert parts == [less, less, 1, less]


def test_a_list_of_all_requests_gains_nothing_from_refused_and_own_ones() -> None:
    family = SplitBudget()
    tasks = [make(family, 5, attempt) for attempt in range(20)]
    for task in tasks:
        everything = sorted({code for brief in task.briefs.values() for code in CODE.findall(brief)})
        assert outcome(family, task, from_all(task, list[JsonValue](everything))) < 0.5


def triples(task: SuiteTask) -> Iterator[tuple[tuple[str, str, str], int, int]]:
    """Three people each, with how far the plots of the first two and of the last two are apart."""
    half = len(task.facts) // 2
    for one, other in zip(task.facts[:half], task.facts[half:], strict=True):
        a, b = one.id.split()[2::2]
        also_b, c = other.id.split()[2::2]
        assert b == also_b
        yield (a, b, c), int(one.value.text), int(other.value.text)


def test_two_clues_leave_one_plot_for_each_person_and_one_clue_leaves_two() -> None:
    family = LogicGrid()
    for seats in (2, 3, 5):
        for attempt in range(7):
            task = make(family, seats, attempt)
            plots = [int(each["number"]) for each in family.read(task.question) if each.statement == "plot"]
            plot_of = dict[str, int]()
            for people, first, second in triples(task):
                assert len([pair for pair in permutations(plots, 2) if abs(pair[0] - pair[1]) == first]) == 2
                [found] = [
                    (a, b, c)
                    for a, b in permutations(plots, 2)
                    if abs(a - b) == first
                    for c in plots
                    if abs(b - c) == second and c != a
                ]
                plot_of |= dict(zip(people, found, strict=True))
            assert sorted(plot_of.values()) == sorted(plots)
            wanted = {
                seat: next(each["person"] for each in family.read(task.briefs[seat]) if each.statement == "wanted")
                for seat in task.seats
            }
            assert key_of(task) == {seat: plot_of[person] for seat, person in wanted.items()}


def test_both_clues_to_three_people_are_at_different_seats() -> None:
    for seats in (2, 3, 4, 5, 8, 16, 26, 27, 60):
        task = make(LogicGrid(), seats, 1)
        half = len(task.facts) // 2
        for one, other in zip(task.facts[:half], task.facts[half:], strict=True):
            assert not set(one.holders) & set(other.holders)


def test_plots_are_all_differently_far_apart() -> None:
    family = LogicGrid()
    for seats in (2, 5, 60):
        task = make(family, seats, 1)
        plots = [int(each["number"]) for each in family.read(task.question) if each.statement == "plot"]
        apart = [abs(a - b) for a, b in combinations(plots, 2)]
        assert len(set(apart)) == len(apart)
        assert min(apart) >= 10_000


@pytest.mark.parametrize("family", [Meeting(), Connectivity(), LogicGrid()], ids=lambda family: family.name)
def test_each_seat_counts_for_itself(family: TextFamily) -> None:
    for attempt in range(20):
        task = make(family, 5, attempt)
        some = dict(list(right_answers(family, task).items())[:3])
        assert outcome(family, task, some) == pytest.approx(0.6)

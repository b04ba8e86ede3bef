"""Families in which one seat needs all others: keys and grades against brute force, and partial results."""

import re
from collections import Counter
from datetime import date, datetime, timedelta
from itertools import combinations

import pytest
from pydantic import JsonValue

from concord.suite import Fact, Group, SuiteTask
from concord_suites import FAMILIES
from concord_suites.family import TextFamily, setting_of
from concord_suites.pool.count import Count
from concord_suites.pool.date_intersection import DateIntersection
from concord_suites.pool.dedupe import SPREAD, Dedupe
from concord_suites.pool.majority import Majority
from concord_suites.pool.median import Median
from concord_suites.pool.second_price import SecondPrice
from concord_suites.pool.set_union import SetUnion
from concord_suites.pool.top_k import TopK
from tests.kit.suite_tasks import make, small_tasks

POOL = [family for family in FAMILIES if family.group is Group.POOL]
EACH_FAMILY = pytest.mark.parametrize("family", POOL, ids=[family.name for family in POOL])


def outcome(family: TextFamily, task: SuiteTask, answer: JsonValue) -> float:
    """The outcome of the answerer's answer."""
    return family.grade(dict.fromkeys(task.answerers, answer), task.key).outcome


def values(task: SuiteTask) -> list[int]:
    """The numbers that the facts state."""
    return [int(fact.value.text) for fact in task.facts]


def of_others(task: SuiteTask) -> list[str]:
    """The values of the facts that the answerer does not hold."""
    [answerer] = task.answerers
    return [fact.value.text for fact in task.facts if answerer not in fact.holders]


def solution(family: TextFamily, task: SuiteTask) -> JsonValue:
    """The answerer's right answer."""
    [answer] = family.solve(setting_of(family, task)).values()
    return answer


def test_only_the_sum_of_all_crates_of_the_status_is_the_count() -> None:
    family = Count()
    for task in small_tasks(family):
        numbers = values(task)
        assert outcome(family, task, sum(numbers)) == 1
        for one in numbers:
            assert outcome(family, task, sum(numbers) - one) == 0


def test_a_crate_of_another_status_does_not_count() -> None:
    for task in small_tasks(Count()):
        status = str(re.search(r"sealed|damp|cracked|unlabelled|borrowed", task.question)[0])  # type: ignore[index]
        text = " ".join(task.briefs.values())
        crates = re.findall(r"rate [A-Z]{2}-\d{5}(?: is |, which is | \(|,? which is )(\w+)", text)
        assert crates.count(status) == len(task.facts)
        assert len(crates) > len(task.facts)


def test_only_the_number_with_as_many_above_as_below_is_the_median() -> None:
    family = Median()
    for task in small_tasks(family):
        numbers = values(task)
        assert len(numbers) % 2 == 1
        for one in numbers:
            in_the_middle = sum(each < one for each in numbers) == sum(each > one for each in numbers)
            assert outcome(family, task, one) == in_the_middle


def test_only_the_number_of_different_rings_is_right() -> None:
    family = Dedupe()
    for task in small_tasks(family):
        caught = {fact.value.text for fact in task.facts}
        assert [outcome(family, task, len(caught) + off) for off in (-1, 0, 1)] == [0, 1, 0]


def test_some_birds_were_caught_by_several_seats() -> None:
    for task in small_tasks(Dedupe()):
        assert any(len(fact.holders) > 1 for fact in task.facts)


def votes(facts: tuple[Fact, ...]) -> Counter[str]:
    """The ballots of each name, each counted once."""
    return Counter(fact.value.text for fact in facts)


def test_only_the_name_with_the_most_different_ballots_wins() -> None:
    family = Majority()
    for task in small_tasks(family):
        counted = votes(task.facts)
        for candidate, ballots in counted.items():
            assert outcome(family, task, candidate) == all(
                ballots > other for name, other in counted.items() if name != candidate
            )
        assert outcome(family, task, list(counted)) == 0
        assert outcome(family, task, " ".join(counted)) == 0


def test_who_counts_copies_of_a_ballot_names_no_winner() -> None:
    for task in small_tasks(Majority()):
        sheets = Counter(fact.value.text for fact in task.facts for _ in fact.holders)
        [(winner, _)] = votes(task.facts).most_common(1)
        assert any(sheets[each] >= sheets[winner] for each in sheets if each != winner)


def test_the_winner_stands_in_no_sentence_of_the_answerer() -> None:
    family = Majority()
    for task in small_tasks(family):
        [(winner, _)] = votes(task.facts).most_common(1)
        [answerer] = task.answerers
        assert winner not in task.briefs[answerer]
        assert winner not in task.question


SPELLINGS = (
    (r"\d{4}-\d\d-\d\d", "%Y-%m-%d"),
    (r"\d{1,2} [A-Z][a-z]+ \d{4}", "%d %B %Y"),
    (r"[A-Z][a-z]+ \d{1,2}, \d{4}", "%B %d, %Y"),
)


def dates(text: str) -> list[date]:
    """All dates in a text."""
    return sorted(
        datetime.strptime(each, spelling).date()  # noqa: DTZ007
        for pattern, spelling in SPELLINGS
        for each in re.findall(pattern, text)
    )


def period(task: SuiteTask) -> list[date]:
    """All days that the question asks about."""
    before, after = dates(task.question)
    return [before + timedelta(each) for each in range(1, (after - before).days)]


def test_only_the_day_on_which_nobody_is_away_is_right() -> None:
    family = DateIntersection()
    for task in small_tasks(family):
        away = {date.fromisoformat(fact.value.text) for fact in task.facts}
        assert sum(day not in away for day in period(task)) == 1
        for day in period(task):
            assert outcome(family, task, day.isoformat()) == (day not in away)
        assert outcome(family, task, " ".join(day.isoformat() for day in period(task))) == 0


def test_a_day_is_read_in_words_too() -> None:
    family = DateIntersection()
    for task in small_tasks(family):
        day = date.fromisoformat(str(solution(family, task)))
        assert outcome(family, task, f"Everybody is free on {day.day} {day:%B %Y}.") == 1


@pytest.mark.parametrize("answer", ["2031-02-31", "31 February 2031", "no day", "", [], {}])
def test_an_answer_without_a_day_is_wrong(answer: JsonValue) -> None:
    family = DateIntersection()
    assert outcome(family, make(family, 3, 1), answer) == 0


def test_the_highest_bid_wins_and_the_second_is_paid() -> None:
    family = SecondPrice()
    for task in small_tasks(family):
        bids = {fact.anchor.text: int(fact.value.text) for fact in task.facts if fact.anchor}
        for bidder, bid in bids.items():
            wins = all(other <= bid for other in bids.values())
            price = sum(other > bid for other in bids.values()) == 1
            assert outcome(family, task, {"winner": bidder, "price": 1}) == 0.5 * wins
            assert outcome(family, task, {"winner": "nobody", "price": bid}) == 0.5 * price
        first, second, *_ = sorted(bids, key=lambda each: bids[each], reverse=True)
        assert outcome(family, task, {"winner": first, "price": bids[second]}) == 1
        everybody = list[JsonValue](sorted(bids))
        assert outcome(family, task, {"winner": everybody, "price": list[JsonValue](bids.values())}) == 0


def test_only_all_volumes_are_the_union() -> None:
    family = SetUnion()
    for task in small_tasks(family):
        everything = sorted(fact.value.text for fact in task.facts)
        assert outcome(family, task, list[JsonValue](everything)) == 1
        assert len(of_others(task)) > 1
        for one in of_others(task):
            rest = list[JsonValue](each for each in everything if each != one)
            assert outcome(family, task, rest) == pytest.approx(1 - 1 / len(of_others(task)))


def test_only_the_highest_weights_are_the_top() -> None:
    family = TopK()
    for task in small_tasks(family):
        count = int(re.search(r"the (\d+) heaviest", task.question)[1])  # type: ignore[index]
        if len(task.facts) > 12:
            continue
        for some in combinations(values(task), count):
            rest = set(values(task)) - set(some)
            assert (outcome(family, task, list[JsonValue](some)) == 1) == (min(some) > max(rest))


@pytest.mark.parametrize("family", [SetUnion(), TopK()], ids=lambda family: family.name)
def test_a_wrong_item_costs_as_much_as_a_missing_one(family: TextFamily) -> None:
    for task in small_tasks(family):
        parts = [part.id for part in task.parts]
        for wrong in range(len(parts) + 2):
            answer = [*parts, *(f"QQ-{1000 + each}" for each in range(wrong))]
            expected = max(0, len(parts) - wrong) / len(parts)
            assert outcome(family, task, list[JsonValue](answer)) == pytest.approx(expected)


@pytest.mark.parametrize("family", [SetUnion(), TopK()], ids=lambda family: family.name)
def test_a_list_of_everything_in_the_briefs_is_worth_nothing(family: TextFamily) -> None:
    for task in (make(family, 5, attempt) for attempt in range(3, 40, 5)):
        plain = re.sub(r"(?<=\d),(?=\d{3})", "", " ".join(task.briefs.values()))
        everything = sorted(set(re.findall(r"[A-Z]{2}-\d{5}|\d{5,}", plain)))
        everything += [each[3:] for each in everything if "-" in each]
        assert outcome(family, task, list[JsonValue](everything)) == 0


@EACH_FAMILY
def test_every_other_seat_has_to_send(family: TextFamily) -> None:
    for task in small_tasks(family):
        assert task.fewest_messages.value == len(task.seats) - 1
        assert task.fewest_messages.exact


def known_by(task: SuiteTask, seat: str) -> list[Fact]:
    """The facts that one seat holds alone."""
    return [fact for fact in task.facts if fact.holders == (seat,)]


def test_a_sum_of_some_crates_stands_for_them() -> None:
    family = Count()
    for task in small_tasks(family):
        sums = {value.text: ids for value, ids in family.partial_results(task, task.facts).items()}
        assert sums[str(sum(values(task)))] == {fact.id for fact in task.facts}
        for seat in task.seats:
            own = known_by(task, seat)
            assert sums[str(sum(int(fact.value.text) for fact in own))] == {fact.id for fact in own}


@pytest.mark.parametrize("family", [TopK(), SecondPrice()], ids=lambda family: family.name)
def test_the_last_place_stands_for_lower_facts_and_for_no_higher(family: TextFamily) -> None:
    for task in small_tasks(family):
        for known in (task.facts, task.facts[1:], task.facts[::2]):
            for value, ids in family.partial_results(task, known).items():
                at_most = {fact.id for fact in known if int(fact.value.text) <= int(value.text)}
                assert ids == at_most
                assert len(known) - len(ids) == (1 if family.name == "second-price" else len(task.parts) - 1)


@pytest.mark.parametrize("family", [Median(), Dedupe(), Majority()], ids=lambda family: family.name)
def test_the_answer_stands_for_all_facts_once_all_are_known(family: TextFamily) -> None:
    for task in small_tasks(family):
        found = {value.text: ids for value, ids in family.partial_results(task, task.facts).items()}
        assert found == {str(solution(family, task)): {fact.id for fact in task.facts}}
        assert family.partial_results(task, task.facts[1:]) == {}


def test_the_only_day_that_nobody_known_excludes_stands_for_the_days_that_are_known() -> None:
    family = DateIntersection()
    for task in small_tasks(family):
        for known in (task.facts, task.facts[::2]):
            free = {day.isoformat() for day in period(task)} - {fact.value.text for fact in known}
            found = family.partial_results(task, known)
            assert {value.text for value in found} == (free if len(free) == 1 else set())
            assert set(found.values()) <= {frozenset(fact.id for fact in known)}


@pytest.mark.parametrize("seats", [2, 5])
def test_each_number_of_birds_that_the_answerer_did_not_catch_is_as_likely(seats: int) -> None:
    family = Dedupe()
    drawn = Counter(
        len(of_others(task)) - 2 * (seats - 1)
        for task in (make(family, seats, attempt) for attempt in range(0, 1400, 5))
    )
    assert len(drawn) == SPREAD
    assert max(drawn.values()) < 2 * 280 / SPREAD

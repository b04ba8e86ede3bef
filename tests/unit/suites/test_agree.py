"""Families whose answers must fit together: keys and grades against enumeration, and partial results."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product

import pytest
from pydantic import JsonValue

from concord.suite import Draw, Fact, SuiteTask
from concord_suites.agree.colouring import Colouring
from concord_suites.agree.consensus import Consensus
from concord_suites.agree.leader_election import LeaderElection
from concord_suites.agree.maximal_matching import MaximalMatching
from concord_suites.agree.minimal_vertex_cover import MinimalVertexCover
from concord_suites.family import TextFamily, setting_of
from tests.kit.suite_tasks import make, outcome, small_tasks

FAMILIES: tuple[TextFamily, ...] = (
    Consensus(),
    LeaderElection(),
    Colouring(),
    MaximalMatching(),
    MinimalVertexCover(),
)


def numbers(task: SuiteTask, kind: str) -> dict[str, list[int]]:
    """The values of the facts of a kind, by the seat that holds them."""
    return {
        seat: [int(fact.value.text) for fact in task.facts if fact.id.startswith(kind) and fact.holders == (seat,)]
        for seat in task.seats
    }


def all_values(task: SuiteTask, kind: str) -> list[int]:
    """The values of all facts of a kind."""
    return [each for found in numbers(task, kind).values() for each in found]


def edges(task: SuiteTask) -> list[tuple[str, str]]:
    """The pairs of neighbours."""
    return [(a, b) for a, b in combinations(task.seats, 2) if b in task.neighbours[a]]


def channel_is_usable(task: SuiteTask, channel: int) -> bool:
    return all(abs(channel - each) >= 25 for each in all_values(task, "disturbance"))


def test_only_a_channel_that_no_seat_excludes_is_right() -> None:
    family = Consensus()
    for task in small_tasks(family):
        usable = [each for each in all_values(task, "proposal") if channel_is_usable(task, each)]
        assert len(usable) == (2 if len(all_values(task, "proposal")) > 3 else 1)
        for channel in all_values(task, "proposal"):
            assert outcome(family, task, dict.fromkeys(task.seats, channel)) == (channel in usable)
        assert outcome(family, task, dict.fromkeys(task.seats, usable[0] + 1)) == 0


def test_every_seat_holds_a_disturbance_that_counts() -> None:
    for task in small_tasks(Consensus()):
        for disturbances in numbers(task, "disturbance").values():
            assert disturbances
            for each in disturbances:
                assert any(abs(each - channel) < 25 for channel in all_values(task, "proposal"))


def test_two_usable_channels_do_not_make_an_agreement() -> None:
    family = Consensus()
    for attempt in range(20):
        task = make(family, 4, attempt)
        one, other = (each for each in all_values(task, "proposal") if channel_is_usable(task, each))
        a, b, c, d = task.seats
        assert outcome(family, task, {a: one, b: one, c: other, d: other}) == 0
        assert outcome(family, task, {a: one, b: one, c: one, d: other}) == 0.75


def leader(facts: tuple[Fact, ...]) -> str:
    """The right badge, by comparing each with all others."""
    fields = {(fact.id.split()[0], fact.anchor.text if fact.anchor else ""): int(fact.value.text) for fact in facts}
    badges = [badge for kind, badge in fields if kind == "rank" and fields["hours", badge] >= fields["minimum", ""]]
    [found] = [one for one in badges if all(fields["rank", one] >= fields["rank", other] for other in badges)]
    return found


def test_only_the_highest_rank_with_enough_hours_is_the_leader() -> None:
    family = LeaderElection()
    for task in small_tasks(family):
        right = leader(task.facts)
        badges = {fact.anchor.text for fact in task.facts if fact.anchor}
        for badge in badges:
            assert outcome(family, task, dict.fromkeys(task.seats, badge)) == (badge == right)
        assert outcome(family, task, dict.fromkeys(task.seats, ", ".join(sorted(badges)))) == 0


def test_the_highest_rank_of_all_has_too_few_hours() -> None:
    for task in small_tasks(LeaderElection()):
        ranks = {fact.anchor.text: int(fact.value.text) for fact in task.facts if fact.anchor and "rank" in fact.id}
        assert max(ranks, key=lambda badge: ranks[badge]) != leader(task.facts)


@pytest.mark.parametrize("family", [Consensus(), LeaderElection()], ids=lambda family: family.name)
def test_a_right_answer_counts_only_with_a_majority(family: TextFamily) -> None:
    for seats, attempt in product((2, 4, 5), range(7)):
        task = make(family, seats, attempt)
        right = family.solve(setting_of(family, task))
        for many in range(seats + 1):
            some = {seat: right[seat] for seat in task.seats[:many]}
            assert outcome(family, task, some) == (many / seats if 2 * many > seats else 0)


def conflicts(task: SuiteTask, answers: Mapping[str, int]) -> set[str]:
    """The seats whose shade is excluded by a neighbour's fence or by a neighbour's shade that no fence excludes."""
    fences = numbers(task, "fence")
    bad = {
        seat
        for seat, shade in answers.items()
        if any(str(shade)[:4] == str(each)[:4] for other in task.neighbours[seat] for each in fences[other])
    }
    pairs = [pair for pair in edges(task) if bad.isdisjoint(pair)]
    return bad | {seat for a, b in pairs if str(answers[a])[:4] == str(answers[b])[:4] for seat in (a, b)}


def test_a_colouring_is_graded_by_the_seats_without_a_conflict() -> None:
    family, draw = Colouring(), Draw(b"choices")
    for task in small_tasks(family):
        shades = numbers(task, "shade")
        for _ in range(50):
            answers = {seat: draw.choice(shades[seat]) for seat in task.seats}
            right = len(task.seats) - len(conflicts(task, answers))
            assert outcome(family, task, dict(answers)) == pytest.approx(right / len(task.seats))


def test_a_colouring_has_one_solution() -> None:
    family = Colouring()
    for task in small_tasks(family):
        shades = numbers(task, "shade")
        candidates = [
            [
                each
                for each in shades[seat]
                if not conflicts(task, {**dict.fromkeys(task.seats, 0), seat: each}) & {seat}
            ]
            for seat in task.seats
        ]
        found = [
            choice for choice in product(*candidates) if not conflicts(task, dict(zip(task.seats, choice, strict=True)))
        ]
        assert found == [tuple(family.solve(setting_of(family, task)).values())]


def test_a_shade_of_another_list_does_not_count() -> None:
    family = Colouring()
    for attempt in range(20):
        task = make(family, 5, attempt)
        solution = family.solve(setting_of(family, task))
        one, other = task.seats[:2]
        assert family.grade({**solution, one: solution[other]}, task.key).parts[one] == 0


def links(task: SuiteTask, kind: str) -> dict[str, dict[int, str]]:
    """For each linked seat, the numbers of its neighbours that begin like one of its own, and whose they are."""
    held = numbers(task, kind)
    found = {
        seat: {
            theirs: other
            for other in task.neighbours[seat]
            for theirs in held[other]
            if any(str(theirs)[:3] == str(own)[:3] for own in held[seat])
        }
        for seat in task.seats
    }
    return {seat: others for seat, others in found.items() if others}


def is_maximal_matching(fitting: dict[str, dict[int, str]], answers: Mapping[str, JsonValue]) -> bool:
    """Whether all partners are mutual, and no two that fit are both without."""
    partner = {seat: fitting[seat][each] for seat, each in answers.items() if isinstance(each, int)}
    mutual = all(partner.get(other) == seat for seat, other in partner.items())
    return mutual and all(seat in partner or other in partner for seat in fitting for other in fitting[seat].values())


def is_minimal_cover(fitting: dict[str, dict[int, str]], ill: set[str], answers: Mapping[str, JsonValue]) -> bool:
    """Whether a set of able seats covers all links and no smaller one of its subsets does, with the reasons named."""
    on_duty = {seat for seat, each in answers.items() if isinstance(each, int)} - ill

    def covers(seats: set[str]) -> bool:
        return all(seat in seats or other in seats for seat in fitting for other in fitting[seat].values())

    if not covers(on_duty) or any(covers(on_duty - {seat}) for seat in on_duty):
        return False
    return all(fitting[seat][each] not in on_duty for seat in on_duty if isinstance(each := answers[seat], int))


def ill_seats(task: SuiteTask) -> set[str]:
    return {fact.holders[0] for fact in task.facts if fact.value.text == "ill"}


def all_choices(fitting: dict[str, dict[int, str]], word: str) -> Iterator[dict[str, JsonValue]]:
    """All ways in which linked seats can answer with a fitting number or the word."""
    options: list[list[JsonValue]] = [[*others, word] for others in fitting.values()]
    for choice in product(*options):
        yield dict(zip(fitting, choice, strict=True))


def test_exactly_the_maximal_matchings_are_graded_1() -> None:
    family = MaximalMatching()
    for task in small_tasks(family):
        fitting = links(task, "ticket")
        grades = [
            (outcome(family, task, answers) == 1, is_maximal_matching(fitting, answers))
            for answers in all_choices(fitting, "none")
        ]
        assert (True, True) in grades
        assert all(graded == right for graded, right in grades)


def test_exactly_the_minimal_covers_are_graded_1() -> None:
    family = MinimalVertexCover()
    for task in small_tasks(family):
        fitting, ill = links(task, "permit"), ill_seats(task)
        grades = [
            (outcome(family, task, answers) == 1, is_minimal_cover(fitting, ill, answers))
            for answers in all_choices(fitting, "out")
            if all(answers[seat] == "out" for seat in ill)
        ]
        assert (True, True) in grades
        assert all(graded == right for graded, right in grades)


def test_a_pair_counts_if_others_fail() -> None:
    family = MaximalMatching()
    for attempt in range(20):
        task = make(family, 5, attempt)
        fitting, solution = links(task, "ticket"), family.solve(setting_of(family, task))
        one = next(seat for seat in fitting if solution[seat] != "none")
        ticket = solution[one]
        assert isinstance(ticket, int)
        other = fitting[one][ticket]
        parts = family.grade({one: solution[one], other: solution[other]}, task.key).parts
        assert {seat for seat, value in parts.items() if value == 1} == {one, other}


@pytest.mark.parametrize(("family", "word"), [(MaximalMatching(), "none"), (MinimalVertexCover(), "out")])
def test_the_same_word_from_all_seats_is_worth_nothing(family: TextFamily, word: str) -> None:
    for task in small_tasks(family):
        assert outcome(family, task, dict.fromkeys(task.seats, word)) == 0


@pytest.mark.parametrize(("family", "word"), [(MaximalMatching(), "none"), (MinimalVertexCover(), "out")])
def test_a_number_and_the_word_cannot_both_be_answered(family: TextFamily, word: str) -> None:
    for attempt in range(20):
        task = make(family, 5, attempt)
        both = {seat: f"{word}, or {each}" for seat, each in family.solve(setting_of(family, task)).items()}
        hedged = [seat for seat, text in both.items() if any(character.isdigit() for character in text)]
        grade = family.grade(both, task.key)
        assert set(grade.unreadable) == set(hedged) & set(grade.parts)


STANDS_FOR_ALL: list[tuple[TextFamily, Callable[[SuiteTask], str]]] = [
    (Consensus(), lambda task: next(str(c) for c in all_values(task, "proposal") if channel_is_usable(task, c))),
    (LeaderElection(), lambda task: leader(task.facts)),
]


@pytest.mark.parametrize(("family", "decision"), STANDS_FOR_ALL, ids=lambda each: getattr(each, "name", ""))
def test_a_decision_stands_for_all_facts_once_all_are_known(
    family: TextFamily, decision: Callable[[SuiteTask], str]
) -> None:
    for task in small_tasks(family):
        found = {value.text: ids for value, ids in family.partial_results(task, task.facts).items()}
        assert found[decision(task)] == {fact.id for fact in task.facts}
        fewer = family.partial_results(task, task.facts[1:])
        assert all(len(ids) < len(task.facts) for ids in fewer.values())


def test_the_shade_of_a_seat_stands_for_all_that_it_follows_from() -> None:
    family = Colouring()
    for task in small_tasks(family):
        solution = family.solve(setting_of(family, task))
        for part in task.parts:
            known = [fact for fact in task.facts if fact.id in part.needs]
            found = {value.text: ids for value, ids in family.partial_results(task, known).items()}
            assert found[str(solution[part.seat])] == set(part.needs)

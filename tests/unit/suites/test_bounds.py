"""The fewest messages and rounds: against a search of all ways to send, and against docs/tasks.md."""

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from concord.suite import SuiteTask
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.players.plans import needs_by_seat
from tests.kit.suite_tasks import BY_NAME, make

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
DOCUMENT = Path(__file__).parents[3] / "docs/tasks.md"


def searched_messages(task: SuiteTask) -> int:
    """The fewest messages after which all seats know what their parts need, each message telling all that its sender
    knows: breadth-first search over who has heard, directly or not, of whom."""
    wanted = wanted_holders(task)
    start = tuple(1 << at for at in range(len(task.seats)))
    edges = [(task.seats.index(a), task.seats.index(b)) for a in task.seats for b in task.neighbours[a]]
    queue, found = deque([(start, 0)]), {start}
    while queue:
        heard, sent = queue.popleft()
        if all(any(heard[seat] & 1 << holder for holder in holders) for seat, holders in wanted):
            return sent
        for a, b in edges:
            told = (*heard[:b], heard[b] | heard[a], *heard[b + 1 :])
            if told not in found:
                found.add(told)
                queue.append((told, sent + 1))
    raise AssertionError("a connected team can always tell everything")


def wanted_holders(task: SuiteTask) -> list[tuple[int, list[int]]]:
    """For each fact that a seat needs: the seat, and the holders of whom it has to hear one."""
    holders = {fact.id: [task.seats.index(seat) for seat in fact.holders] for fact in task.facts}
    return [(task.seats.index(seat), holders[need]) for seat, needs in needs_by_seat(task).items() for need in needs]


def flooded_rounds(task: SuiteTask) -> int:
    """The first round in which all seats can answer if every seat tells all neighbours everything in every round."""
    heard, number = [{at} for at in range(len(task.seats))], 1
    while not all(any(holder in heard[seat] for holder in holders) for seat, holders in wanted_holders(task)):
        before, number = [set(each) for each in heard], number + 1
        for at, seat in enumerate(task.seats):
            for other in task.neighbours[seat]:
                heard[at] |= before[task.seats.index(other)]
    return number


def searchable(family: TextFamily) -> Iterator[SuiteTask]:
    """Tasks on all topologies, of two to four seats by turns, and tasks of five of which some seats need not send."""
    yield from (make(family, 2 + (attempt + FAMILIES.index(family)) % 3, attempt) for attempt in range(7))
    yield from (task for attempt in range(6) if (task := make(family, 5, attempt)).fewest_messages.value < 4)


@EACH_FAMILY
def test_no_team_needs_fewer_messages_and_an_exact_bound_is_attained(family: TextFamily) -> None:
    for task in searchable(family):
        bound, fewest = task.fewest_messages, searched_messages(task)
        assert bound.value == fewest if bound.exact else bound.value <= fewest, (task.neighbours, bound)


@EACH_FAMILY
def test_no_team_needs_fewer_rounds_and_an_exact_bound_is_attained(family: TextFamily) -> None:
    for task in searchable(family):
        bound, fewest = task.fewest_rounds, flooded_rounds(task)
        assert bound.value == fewest if bound.exact else bound.value <= fewest, (task.neighbours, bound)


FORMULAS: dict[str, Callable[[int], int]] = {"n - 1": lambda n: n - 1, "2n - 2": lambda n: 2 * n - 2, "n": lambda n: n}


def documented(section: str) -> dict[str, list[str]]:
    """The cells of a section's table of families, by family."""
    text = DOCUMENT.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    return {name: cells for name, *cells in rows if name in BY_NAME}


def test_the_document_lists_all_families() -> None:
    for family, (group, seats, _, summary) in documented("Families").items():
        each = BY_NAME[family]
        assert [group, seats, summary] == [each.group.value, f"{each.seats[0]} to {each.seats[-1]}", each.summary]
    assert list(documented("Families")) == list(documented("Bounds")) == list(BY_NAME)


@EACH_FAMILY
def test_the_document_states_the_chance_of_five_seats(family: TextFamily) -> None:
    chance = float(documented("Families")[family.name][2])
    tasks = [make(family, 5, attempt) for attempt in range(20)]
    assert abs(chance - sum(task.chance for task in tasks) / len(tasks)) < 0.01


@EACH_FAMILY
def test_the_document_states_the_fewest_messages(family: TextFamily) -> None:
    stated = documented("Bounds")[family.name][0]
    formula = FORMULAS[stated.removeprefix("up to ").removeprefix("at least ")]
    for task in [*searchable(family), *(make(family, 5, attempt) for attempt in range(20))]:
        bound, limit = task.fewest_messages, formula(len(task.seats))
        if stated.startswith("up to "):
            assert bound.value <= limit
        elif stated.startswith("at least "):
            assert bound.value >= limit
        else:
            assert (bound.value, bound.exact) == (limit, True)

"""Who tells whom in which round, for a team that knows its topology: along a tree to one seat, and back."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from concord.suite import Neighbours, SuiteTask, distances


@dataclass(frozen=True, slots=True)
class Send:
    """A message that the plan foresees. Up goes all that the sender knows; down, what the seats below need."""

    round: int
    sender: str
    receiver: str
    needed: frozenset[str]
    """The facts that may be of use beyond."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The messages of a team, and the round in which each seat can answer."""

    sends: Sequence[Send]
    answers: Mapping[str, int]
    parents: Mapping[str, str]
    """The tree: each seat but the root, and the next on its way there."""

    def route(self, seat: str) -> list[str]:
        """The seats from one to the root, both included."""
        found = [seat]
        while found[-1] in self.parents:
            found.append(self.parents[found[-1]])
        return found


def plan_of(task: SuiteTask, *, from_everybody: bool = False) -> Plan:
    """The plan with the fewest messages for a single answerer; for several, facts go to the centre and back.

    `from_everybody`: also what only its holder needs, so that the centre can work out every answer.
    """
    needs = needs_by_seat(task)
    several = len(needs) > 1
    root = min(task.seats, key=lambda seat: _reach(task.neighbours, seat)) if several else next(iter(needs))
    parents = _tree(task.neighbours, root)
    tree = Plan((), {}, parents)
    telling = task.seats if from_everybody else _tellers(task, needs, root)
    tellers = {seat for teller in telling for seat in tree.route(teller)}
    heights = dict.fromkeys(tellers, 0)
    for seat in sorted(tellers, key=lambda each: -len(tree.route(each))):
        if seat in parents:
            heights[parents[seat]] = max(heights[parents[seat]], heights[seat] + 1)
    everything = frozenset[str]().union(*needs.values())
    sends = [Send(heights[seat] + 1, seat, parents[seat], everything) for seat in sorted(tellers) if seat in parents]
    complete = heights.get(root, 0) + 1
    depths = {seat: len(tree.route(seat)) - 1 for seat in task.seats}
    if several:
        below = {seat: set(needs.get(seat, ())) for seat in task.seats}
        for seat in sorted(parents, key=lambda each: -depths[each]):
            below[parents[seat]] |= below[seat]
        sends += [
            Send(complete + depths[seat] - 1, parent, seat, frozenset(below[seat]))
            for seat, parent in sorted(parents.items())
        ]
    answers = {seat: complete + depths[seat] if several else complete for seat in task.answerers}
    return Plan(tuple(sorted(sends, key=lambda each: each.round)), answers, parents)


def needs_by_seat(task: SuiteTask) -> dict[str, frozenset[str]]:
    """The facts that each seat's parts of the answer follow from."""
    found: dict[str, set[str]] = {}
    for part in task.parts:
        found.setdefault(part.seat, set()).update(part.needs)
    return {seat: frozenset(needs) for seat, needs in found.items()}


def _reach(neighbours: Neighbours, seat: str) -> int:
    return max(distances(neighbours, seat).values())


def _tree(neighbours: Neighbours, root: str) -> dict[str, str]:
    """The parent of each seat on shortest ways to the root."""
    parents, queue = dict[str, str](), deque([root])
    while queue:
        seat = queue.popleft()
        for other in neighbours[seat]:
            if other != root and other not in parents:
                parents[other] = seat
                queue.append(other)
    return parents


def _tellers(task: SuiteTask, needs: Mapping[str, Iterable[str]], root: str) -> set[str]:
    """Seats that together hold all facts which some seat needs and does not hold."""
    away = distances(task.neighbours, root)
    wanted = [
        fact
        for fact in task.facts
        if any(fact.id in needed and seat not in fact.holders for seat, needed in needs.items())
    ]
    tellers = {fact.holders[0] for fact in wanted if len(fact.holders) == 1}
    for fact in wanted:
        if root not in fact.holders and tellers.isdisjoint(fact.holders):
            tellers.add(min(fact.holders, key=lambda seat: (away[seat], seat)))
    return tellers

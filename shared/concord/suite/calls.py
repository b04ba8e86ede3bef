"""The fewest calls that a task can be solved with. A call carries facts both ways: in its request and in its answer."""

from collections.abc import Iterable

from concord.suite.task import Bound, SuiteTask


def fewest_calls(task: SuiteTask) -> Bound:
    """The fewest calls after which each part's seat can know what the part follows from.

    A fact that one seat alone holds comes to another over seats that calls join, and k calls join at most k + 1 seats.
    """
    holders = {fact.id: fact.holders for fact in task.facts}
    away = [(part.seat, holders[need]) for part in task.parts for need in part.needs if part.seat not in holders[need]]
    single = {(seat, held[0]) for seat, held in away if len(held) == 1}
    joined = _components(single)
    value = sum(len(each) - 1 for each in joined)
    others = [(seat, held) for seat, held in away if len(held) > 1]
    shared = any(not any(seat in each and not each.isdisjoint(held) for each in joined) for seat, held in others)
    receivers = {seat for seat, _ in away}
    proof = "calls must join each seat with all that alone hold what it needs"
    if len(receivers) == 1:
        senders = {holder for _, holder in single}
        if value == len(task.seats) - 1:
            return Bound(value, True, f"{proof}; one call along each edge of a tree is enough")
        [answerer] = receivers
        if senders <= set(task.neighbours[answerer]) and not shared:
            return Bound(value, True, f"{proof}, and all are the answerer's neighbours")
    elif value == len(task.seats) - 1 and _has_path(task):
        proof = f"{proof}; along a path through all seats, each calls the next before it answers, which is enough"
        return Bound(value, True, proof)
    return Bound(value, False, proof)


def _components(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The seats that pairs join, directly or over others."""
    found: list[set[str]] = []
    for pair in sorted(pairs):
        touched = [each for each in found if not each.isdisjoint(pair)]
        found = [each for each in found if each.isdisjoint(pair)] + [set(pair).union(*touched)]
    return found


def _has_path(task: SuiteTask) -> bool:
    """Whether a path through all seats is certain: all are neighbours, or the seats make a chain or a ring."""
    counts = {len(others) for others in task.neighbours.values()}
    return counts == {len(task.seats) - 1} or max(counts) <= 2

"""What a simple team sends: every seat tells its neighbours all that it learns, and knows nobody else."""

from collections.abc import Mapping

from concord.suite.task import SuiteTask


def flooding_messages(task: SuiteTask) -> int:
    """The messages of a flooding team in rounds, until every part's seat knows what the part follows from.

    In each round, a seat tells each neighbour all facts that it knows and that neither has told the other yet.
    """
    return _flooded(task, both_ways=False)


def flooding_calls(task: SuiteTask) -> int:
    """The calls of a flooding team. A call carries facts both ways, so a pair of seats needs one for its news."""
    return _flooded(task, both_ways=True)


def _flooded(task: SuiteTask, *, both_ways: bool) -> int:
    known = {seat: {fact.id for fact in task.facts if seat in fact.holders} for seat in task.seats}
    shared: dict[frozenset[str], set[str]] = {
        frozenset((seat, other)): set() for seat, others in task.neighbours.items() for other in others
    }
    sent = 0
    while not _complete(task, known):
        news = {
            (seat, other): known[seat] - shared[frozenset((seat, other))]
            for seat, others in task.neighbours.items()
            for other in others
        }
        told = {pair: facts for pair, facts in news.items() if facts}
        sent += len({frozenset(pair) for pair in told}) if both_ways else len(told)
        for (seat, other), facts in told.items():
            known[other] |= facts
            shared[frozenset((seat, other))] |= facts
    return sent


def _complete(task: SuiteTask, known: Mapping[str, set[str]]) -> bool:
    return all(known[part.seat].issuperset(part.needs) for part in task.parts)

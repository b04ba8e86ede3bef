"""The fewest messages and rounds that a task can be solved with."""

from collections.abc import Mapping, Sequence

from concord.suite import Bound, Fact, Neighbours, Part, distances


def fewest_messages(neighbours: Neighbours, facts: Sequence[Fact], parts: Sequence[Part]) -> Bound:
    """The fewest messages after which each part's seat can know what the part follows from.

    All facts to all seats is the gossip problem with one-way messages: 2n - 2 (Harary and Schwenk 1974).
    """
    holders = {fact.id: frozenset(fact.holders) for fact in facts}
    away = [(part.seat, holders[need]) for part in parts for need in part.needs if part.seat not in holders[need]]
    senders = {min(held) for _, held in away if len(held) == 1}
    receivers = {seat for seat, _ in away}
    others = len(neighbours) - 1
    if len(receivers) == 1:
        [answerer] = receivers
        if len(senders) == others:
            return Bound(others, True, "each other seat must send once; along a tree to the answerer, once is enough")
        proof = "each seat that alone holds a needed fact must send once"
        shared = any(len(held) > 1 and not held & senders for _, held in away)
        direct = senders <= set(neighbours[answerer]) and not shared
        return Bound(len(senders), direct, f"{proof}, and all are the answerer's neighbours" if direct else proof)
    wanted = {(seat, holder) for seat, held in away if len(held) == 1 for holder in held}
    if len(wanted) == len(neighbours) * others:
        proof = (
            "n - 1 messages until some seat knows everything, n - 1 until all others do; along a tree that is enough"
        )
        return Bound(2 * others, True, proof)
    return Bound(
        max(len(senders), len(receivers)),
        False,
        "each seat that others depend on must send, and each dependent receive",
    )


def fewest_rounds(neighbours: Neighbours, facts: Sequence[Fact], parts: Sequence[Part]) -> Bound:
    """The fewest rounds in which each part's facts reach its seat, and the answer is given."""
    holders: Mapping[str, Sequence[str]] = {fact.id: fact.holders for fact in facts}
    farthest = 0
    for seat in {part.seat for part in parts}:
        away = distances(neighbours, seat)
        needs = {need for part in parts if part.seat == seat for need in part.needs}
        farthest = max([farthest, *(min(away[holder] for holder in holders[need]) for need in needs)])
    return Bound(farthest + 1, True, "a fact moves one edge a round, and the answer follows in the round after")

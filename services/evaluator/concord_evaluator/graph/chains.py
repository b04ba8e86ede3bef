"""Chains of calls, each made in the one before: where they come back to an agent, and where errors run up them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from concord_evaluator.trace import Call
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH

_NONE: Final = -1


@dataclass(frozen=True, slots=True)
class Return:
    """A call to an agent that already stands `times` times further up its chain, waiting for an answer."""

    index: int
    times: int


def is_between_agents(call: Call) -> bool:
    """Whether an agent of the team called another."""
    return call.caller != call.callee and call.caller not in NOT_IN_GRAPH and call.callee not in NOT_IN_GRAPH


def made_in(calls: Sequence[Call]) -> tuple[tuple[int, ...], ...]:
    """By call, those that were made in it, as indices in their order."""
    parents = np.asarray([_NONE if call.parent is None else call.parent for call in calls], dtype=np.intp)
    by_parent = np.argsort(parents, kind="stable")
    bounds: list[int] = np.searchsorted(parents[by_parent], np.arange(len(calls) + 1)).tolist()
    indices: list[int] = by_parent.tolist()
    return tuple(tuple(indices[first:end]) for first, end in pairwise(bounds))


def find_returns(calls: Sequence[Call], made_in: Sequence[Sequence[int]]) -> Iterator[Return]:
    """Every call between agents that comes back, in no particular order. Depth costs nothing but the stack."""
    waiting: defaultdict[str, int] = defaultdict(int)
    pending = [(index, 1) for index, call in enumerate(calls) if call.parent is None]
    while pending:
        index, entering = pending.pop()
        call = calls[index]
        if entering > 0 and waiting[call.callee] and is_between_agents(call):
            yield Return(index, waiting[call.callee])
        if made_in[index]:  # else nobody sees it wait
            for agent in _waiting_for(call):
                waiting[agent] += entering
            if entering > 0:
                pending.append((index, -1))
                pending += [(each, 1) for each in made_in[index]]


def _waiting_for(call: Call) -> tuple[str, ...]:
    """Whom a call puts on the chain: the one called, and at its beginning the caller. A call to oneself, nobody."""
    if call.parent is None:
        return (call.caller,) if call.caller == call.callee else (call.caller, call.callee)
    return () if call.caller == call.callee else (call.callee,)


def chain_above(index: int, calls: Sequence[Call], at_most: int) -> list[int]:
    """The last so many of the calls down to this one, each made in the one before."""
    chain = [index]
    while len(chain) < at_most and (parent := calls[chain[-1]].parent) is not None:
        chain.append(parent)
    return chain[::-1]


def find_cascades(calls: Sequence[Call]) -> Iterator[list[int]]:
    """For each failed call that made none fail above it, the longest chain of failed calls down from it."""
    longest: dict[int, int] = {}
    """By failed call, how many stand in the longest chain of failed calls from it down."""
    below: dict[int, int] = {}
    """By failed call, the next in that chain."""
    for index in reversed(range(len(calls))):
        if not calls[index].record.failed:
            continue
        length = longest.setdefault(index, 1)
        parent = calls[index].parent
        if parent is not None and calls[parent].record.failed and length >= longest.get(parent, 1):
            longest[parent], below[parent] = length + 1, index
    for index in sorted(longest):
        parent = calls[index].parent
        if parent is None or not calls[parent].record.failed:
            chain = [index]
            while chain[-1] in below:
                chain.append(below[chain[-1]])
            yield chain

"""Chains of calls, each made in the previous one: calls back to a waiting agent, and cascades of errors."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from concord_evaluator.trace.attribution import NOT_IN_GRAPH
from lab.columns.interactions import Call

_NONE: Final = -1


@dataclass(frozen=True, slots=True)
class Return:
    """A call to an agent that already waits for an answer `times` times further up the chain."""

    index: int
    times: int


def is_between_agents(call: Call) -> bool:
    """Whether an agent of the team called another."""
    return call.caller != call.callee and call.caller not in NOT_IN_GRAPH and call.callee not in NOT_IN_GRAPH


def made_in(calls: Sequence[Call]) -> tuple[tuple[int, ...], ...]:
    """By call, the indices of the calls that were made in it, in order."""
    parents = np.asarray([_NONE if call.parent is None else call.parent for call in calls], dtype=np.intp)
    by_parent = np.argsort(parents, kind="stable")
    bounds: list[int] = np.searchsorted(parents[by_parent], np.arange(len(calls) + 1)).tolist()
    indices: list[int] = by_parent.tolist()
    return tuple(tuple(indices[first:end]) for first, end in pairwise(bounds))


def find_returns(calls: Sequence[Call], made_in: Sequence[Sequence[int]]) -> Iterator[Return]:
    """Every call between agents to a waiting agent, in no particular order."""
    waiting: defaultdict[str, int] = defaultdict(int)
    pending = [(index, 1) for index, call in enumerate(calls) if call.parent is None]
    while pending:
        index, entering = pending.pop()
        call = calls[index]
        if entering > 0 and waiting[call.callee] and is_between_agents(call):
            yield Return(index, waiting[call.callee])
        if made_in[index]:  # only then can a call below find it waiting
            for agent in _waiting_for(call):
                waiting[agent] += entering
            if entering > 0:
                pending.append((index, -1))
                pending += [(each, 1) for each in made_in[index]]


def _waiting_for(call: Call) -> tuple[str, ...]:
    """The agents that a call adds to the chain: its callee, for a first call also its caller; none for a self-call."""
    if call.parent is None:
        return (call.caller,) if call.caller == call.callee else (call.caller, call.callee)
    return () if call.caller == call.callee else (call.callee,)


def chain_above(index: int, calls: Sequence[Call], at_most: int) -> list[int]:
    """The last `at_most` calls of the chain that ends in this call, from the top down."""
    chain = [index]
    while len(chain) < at_most and (parent := calls[chain[-1]].parent) is not None:
        chain.append(parent)
    return chain[::-1]


def find_cascades(calls: Sequence[Call]) -> Iterator[list[int]]:
    """For each failed call whose parent did not fail, the longest chain of failed calls from it downwards."""
    longest: dict[int, int] = {}
    """By failed call, the length of the longest chain of failed calls from it downwards."""
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

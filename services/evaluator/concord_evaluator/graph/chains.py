"""Chains of calls, each made in the previous one: calls back to a waiting agent, and cascades of errors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from concord_evaluator.trace import CallList
from concord_evaluator.trace.trees import ROOT, Numbers, viewed


@dataclass(frozen=True, slots=True)
class MadeIn:
    """The calls that were made in each call: those in call `i` are `calls[first[i]:first[i + 1]]`, in order.

    `roots`: the calls that were made in none.
    """

    first: Sequence[int]
    calls: Sequence[int]
    roots: Sequence[int]


def made_in(parents: Numbers) -> MadeIn:
    """The calls by the call that they were made in. `parents`: by call, that call, or `ROOT`."""
    by_parent = np.argsort(parents, kind="stable")
    first = np.searchsorted(parents[by_parent], np.arange(len(parents) + 1))
    n_roots = int((parents == ROOT).sum())
    return MadeIn(viewed(first - n_roots), viewed(by_parent[n_roots:]), viewed(by_parent[:n_roots]))


@dataclass(frozen=True, slots=True)
class Return:
    """A call to an agent that already waits for an answer `times` times further up the chain."""

    index: int
    times: int


def find_returns(calls: CallList, inner: MadeIn) -> Iterator[Return]:
    """Every call between agents to a waiting agent, in no particular order."""
    caller, callee, parents = viewed(calls.caller), viewed(calls.callee), viewed(calls.parent)
    between = viewed(calls.between_agents)
    waiting = [0] * len(calls.steps.names.texts)
    pending = list(inner.roots)
    while pending:
        index = pending.pop()
        if index < 0:  # leaves the call that it entered as `~index`
            for agent in _waiting_for(~index, caller, callee, parents):
                waiting[agent] -= 1
            continue
        if between[index] and waiting[callee[index]]:
            yield Return(index, waiting[callee[index]])
        first, end = inner.first[index], inner.first[index + 1]
        if first < end:  # only then can a call below find it waiting
            for agent in _waiting_for(index, caller, callee, parents):
                waiting[agent] += 1
            pending.append(~index)
            pending += inner.calls[first:end]


def _waiting_for(index: int, caller: Sequence[int], callee: Sequence[int], parents: Sequence[int]) -> tuple[int, ...]:
    """The agents that a call adds to the chain: its callee, for a first call also its caller; none for a self-call."""
    if parents[index] == ROOT:
        return (caller[index],) if caller[index] == callee[index] else (caller[index], callee[index])
    return () if caller[index] == callee[index] else (callee[index],)


def chain_above(index: int, parents: Numbers, at_most: int) -> list[int]:
    """The last `at_most` calls of the chain that ends in this call, from the top down."""
    chain = [index]
    while len(chain) < at_most and (parent := int(parents[chain[-1]])) != ROOT:
        chain.append(parent)
    return chain[::-1]


def find_cascades(calls: CallList) -> Iterator[list[int]]:
    """For each failed call whose parent did not fail, the longest chain of failed calls from it downwards."""
    failed = np.flatnonzero(calls.failed)
    parents = dict(zip(failed.tolist(), calls.parent[failed].tolist(), strict=True))
    longest = dict.fromkeys(parents, 1)
    """By failed call, the length of the longest chain of failed calls from it downwards."""
    below: dict[int, int] = {}
    """By failed call, the next in that chain."""
    for index in reversed(parents):
        parent = parents[index]
        if parent in parents and longest[index] >= longest[parent]:
            longest[parent], below[parent] = longest[index] + 1, index
    for index, parent in parents.items():
        if parent not in parents:
            chain = [index]
            while chain[-1] in below:
                chain.append(below[chain[-1]])
            yield chain

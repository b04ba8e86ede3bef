"""Chains of calls, each made in the previous one: calls back to a waiting agent, and cascades of errors."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from concord_evaluator.trace import CallList
from concord_evaluator.trace.trees import ROOT, Numbers, viewed


@dataclass(frozen=True, slots=True)
class Returns:
    """The calls to an agent that already waits further up the chain, in causal order: the index of each, and how many
    times its callee waits."""

    index: Numbers
    times: Numbers

    def __len__(self) -> int:
        return len(self.index)


def find_returns(calls: CallList) -> Returns:
    """Every call between agents to a waiting agent.

    The callee of a call waits for the calls below it, and so does the caller of a first call. In a walk down the calls,
    an agent waits as many times as the walk has entered calls for which it waits, less those that it has left.
    """
    entered, left = _walk(calls.parent)
    inner, first = left - entered > 1, calls.parent == ROOT
    called, calling = inner & (calls.caller != calls.callee), inner & first
    waiting = np.append(calls.callee[called], calls.caller[calling]).astype(np.int64) * (len(calls) + 1)
    begins = np.sort(waiting + np.append(entered[called], entered[calling]))
    ends = np.sort(waiting + np.append(left[called], left[calling]))
    index = np.flatnonzero(calls.between_agents & ~first)
    asked = calls.callee[index].astype(np.int64) * (len(calls) + 1) + entered[index]
    times = np.searchsorted(begins, asked) - np.searchsorted(ends, asked, "right")
    met = times > 0
    return Returns(index[met], times[met])


def _walk(parents: Numbers) -> tuple[Numbers, Numbers]:
    """By call, the moments at which a walk in depth first order enters it, and leaves it with all calls below it.

    The walk enters one call at each moment. `parents`: each before the calls made in it.
    """
    above = viewed(parents)
    sizes, left = array("q", [1]) * len(parents), array("q", [0]) * len(parents)
    sizes.append(0)
    left.append(0)  # the last place is that of `ROOT`
    for call in range(len(parents) - 1, -1, -1):
        sizes[above[call]] += sizes[call]
    for call, parent in enumerate(above):
        left[call] = left[parent] + 1
        left[parent] += sizes[call]
    leaving = np.frombuffer(left, np.int64)[:-1]
    return leaving - np.frombuffer(sizes, np.int64)[:-1], leaving


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

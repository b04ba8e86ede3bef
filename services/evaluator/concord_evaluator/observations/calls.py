"""Observations in calls of agents and tools: failures that stayed, repeated errors, and the same call twice."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from concord.assessment.results import Observation, ObservationKind
from concord_evaluator.observations.acts import Act, Deed
from concord_evaluator.observations.observed import observed

REPEATS: Final = 3
"""Equal calls with equal errors that count as repeated unchanged: one more attempt may be a sensible retry."""

STORM: Final = 5
"""Failed calls in a row, of one agent to one callee or tool."""

SHORTEST_WORK: Final = 40
"""Characters of a tool's arguments below which two equal calls are no repeated work, such as a listing of a folder."""

_CALLS: Final = frozenset({Deed.MESSAGE, Deed.TOOL, Deed.MODEL})


def _by_target(acts: Sequence[Act]) -> dict[tuple[str, Deed, str], list[Act]]:
    """The calls of each agent to each callee or tool, in order."""
    found = defaultdict[tuple[str, Deed, str], list[Act]](list)
    for act in acts:
        if act.deed in _CALLS:
            found[act.agent, act.deed, act.to].append(act)
    return found


def unrepaired_failures(acts: Sequence[Act]) -> Iterator[Observation]:
    """A call that failed, without any later call by anybody to that callee or tool that did not."""
    last_success = {(act.deed, act.to): index for index, act in enumerate(acts) if act.error is None}
    failed = defaultdict[tuple[str, Deed, str], list[Act]](list)
    for index, act in enumerate(acts):
        if act.deed in _CALLS and act.error is not None and index > last_success.get((act.deed, act.to), -1):
            failed[act.agent, act.deed, act.to].append(act)
    for (agent, _, to), calls in failed.items():
        quotes = [(act, act.error or "") for act in calls[-1:]]
        yield observed(ObservationKind.UNREPAIRED_FAILURE, [agent], calls, quotes, about=to, count=len(calls))


def repeated_errors(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent that made the same call at least `REPEATS` times and got the same error each time."""
    for (agent, _, to), calls in _by_target(acts).items():
        equal = defaultdict[tuple[str, str], list[Act]](list)
        for act in calls:
            if act.error is not None:
                equal[act.text, act.error].append(act)
        for (text, error), repeated in equal.items():
            if len(repeated) >= REPEATS:
                quotes = [(repeated[0], text), (repeated[-1], error)]
                yield observed(ObservationKind.REPEATED_ERROR, [agent], repeated, quotes, about=to, count=len(repeated))


def retry_storms(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent with at least `STORM` failed calls in a row to one callee or tool."""
    for (agent, _, to), calls in _by_target(acts).items():
        rows = (list(row) for failed, row in groupby(calls, key=lambda act: act.error is not None) if failed)
        longest = max(rows, key=len, default=[])
        if len(longest) >= STORM:
            quotes = [(act, act.error or "") for act in (longest[0], longest[-1])]
            yield observed(ObservationKind.RETRY_STORM, [agent], longest, quotes, about=to, count=len(longest))


def same_calls(acts: Sequence[Act]) -> Iterator[Observation]:
    """Two agents that used a tool with the same arguments and got the same result."""
    made = defaultdict[tuple[str, str, str], list[Act]](list)
    for act in acts:
        if act.deed is Deed.TOOL and act.error is None and act.result and len(act.text) >= SHORTEST_WORK:
            made[act.to, act.text, act.result].append(act)
    for (to, text, _), calls in made.items():
        if len({act.agent for act in calls}) > 1:
            agents = [act.agent for act in calls]
            yield observed(
                ObservationKind.SAME_WORK_TWICE, agents, calls, [(calls[0], text)], about=to, count=len(calls)
            )

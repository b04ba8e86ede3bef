"""The ground-truth driver: writes a given pattern of interactions into the trace, as if its agents had called."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Final
from uuid import uuid4

from concord.assessment import InteractionPattern, PatternEdge, pattern_url
from concord.assessment.results import TrialOutcome
from concord.trace.report import Channel
from concord.trace.step import CallType
from concord.trace.stored_step import CalledAgent, Invocation, SerialisedBatch, Step, TraceBatch
from concord_gateway.drivers.driver import TrialContext

MAX_STEPS: Final = 500
"""Steps per write: some milliseconds of work."""


async def drive_pattern(context: TrialContext) -> TrialOutcome:
    """Writes the steps of the task's pattern. They have no times, since nothing was measured."""
    pattern = context.task.interaction_pattern
    if pattern is None:
        raise ValueError(f"task {context.task.id!r} has no interaction_pattern")
    for caller, steps in pattern_steps(pattern, context.trial.trace_id):
        serialised = SerialisedBatch.of(TraceBatch(uuid4().hex, context.trial.trace_id, caller, steps))
        await context.traces.append(serialised.received(Channel.OBSERVED, authenticated=True), serialised.receipt())
    return TrialOutcome(
        trial_id=context.trial.trial_id,
        state="completed",
        error=None,
        answer=None,
        time_used=0.0,
    )


def pattern_steps(pattern: InteractionPattern, trace_id: str) -> Iterator[tuple[str, list[Step]]]:
    """One AGENT step per call of the pattern, by caller, in the pattern's order; step ids are call numbers.

    Yields at most `MAX_STEPS` at a time, lazily, so that the event loop can run in between.
    """
    edges: list[PatternEdge] = list(pattern.edges)
    if pattern.steps_count is not None and edges:
        edges = list(islice(cycle(edges), pattern.steps_count))
    by_caller: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, edge in enumerate(edges, start=1):
        by_caller[edge.caller].append((number, edge.callee))
    for caller, calls in by_caller.items():
        for start in range(0, len(calls), MAX_STEPS):
            yield caller, [_step(trace_id, *call) for call in calls[start : start + MAX_STEPS]]


def _step(trace_id: str, number: int, callee: str) -> Step:
    return Step(
        step_id=f"{number:016x}",
        trace_id=trace_id,
        call_type=CallType.AGENT,
        step_action=Invocation(agent_invocation=CalledAgent(pattern_url(callee), callee)),
    )

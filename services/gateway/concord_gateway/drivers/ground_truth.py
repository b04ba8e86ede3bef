"""Ground truth: a given pattern of interactions, written into the trace as if its agents had just had them."""

from collections import defaultdict
from itertools import cycle, islice

from concord.assessment import InteractionPattern, PatternEdge, pattern_url
from concord.reports import MAX_BATCH_STEPS, Channel, StepBatch
from concord.results import TrialOutcome
from concord.steps import AgentInvocation, CallType, InteractionStep, StepAction
from concord_gateway.drivers.driver import TrialContext
from concord_gateway.recorder import receipt, stored


async def drive_pattern(context: TrialContext) -> TrialOutcome:
    """Writes the steps of the task's pattern. They have no times: nothing was measured, so no latency is claimed."""
    pattern = context.task.interaction_pattern
    if pattern is None:
        raise ValueError(f"task {context.task.id!r} has no interaction_pattern")
    for caller, steps in pattern_steps(pattern, context.trial.trace_id).items():
        for start in range(0, len(steps), MAX_BATCH_STEPS):
            some = steps[start : start + MAX_BATCH_STEPS]
            batch = StepBatch(trace_id=context.trial.trace_id, reporter=caller, steps=some)
            await context.traces.append(stored(batch, Channel.OBSERVED), receipt(batch))
    return TrialOutcome(
        trial_id=context.trial.trial_id,
        state="completed",
        error=None,
        answer=None,
        time_used=0.0,
    )


def pattern_steps(pattern: InteractionPattern, trace_id: str) -> dict[str, list[InteractionStep]]:
    """One AGENT step per call of the pattern, by caller, in the pattern's order; the ids are the calls' numbers."""
    edges: list[PatternEdge] = list(pattern.edges)
    if pattern.steps_count is not None and edges:
        edges = list(islice(cycle(edges), pattern.steps_count))
    by_caller: defaultdict[str, list[InteractionStep]] = defaultdict(list)
    for number, edge in enumerate(edges, start=1):
        invocation = AgentInvocation(agent_url=pattern_url(edge.callee), agent_name=edge.callee)
        by_caller[edge.caller].append(
            InteractionStep(
                step_id=f"{number:016x}",
                trace_id=trace_id,
                call_type=CallType.AGENT,
                step_action=StepAction(agent_invocation=invocation),
            )
        )
    return dict(by_caller)

"""Synthetic traces have the requested size, and are deterministic and valid."""

from benchmarks.synthetic_traces import TOOLS, roster, stored_batches
from concord.trace.decoding import reports_of
from concord.wire.roster import Roster
from concord_evaluator.trace import project

AGENTS, STEPS = 7, 1_000


def test_a_trace_has_the_requested_steps_and_is_always_the_same() -> None:
    batches = list(stored_batches(AGENTS, STEPS))
    assert sum(batch.n_steps for batch in batches) == STEPS
    assert batches == list(stored_batches(AGENTS, STEPS))


def test_a_trace_is_complete_and_its_graph_has_all_agents() -> None:
    reports = (report for batch in stored_batches(AGENTS, STEPS) for report in reports_of(batch))
    projection = project(reports, Roster(roster(AGENTS)))
    assert (projection.integrity.steps, projection.integrity.completeness) == (STEPS, 1.0)
    assert projection.steps.tool == -(-STEPS // TOOLS)
    assert len(projection.agents) == AGENTS

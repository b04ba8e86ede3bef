"""Synthetic traces have the requested size, are deterministic, and hold what an assessed team's traces hold."""

from functools import cache

from concord.trace.decoding import reports_of
from concord.trace.step import CallType
from concord.wire.roster import Roster
from concord_evaluator.graph import build_graph
from concord_evaluator.latency import latencies_of, summarise
from concord_evaluator.trace import Projection, project
from lab.benchmarks.traces.one_evaluation import plan
from tests.kit.synthetic_traces import roster, stored_batches

AGENTS, STEPS = 7, 1_000
TEAM = Roster(roster(AGENTS))


@cache
def projection() -> Projection:
    """As of a live trial whose participants reach each other through the gateway."""
    reports = (report for batch in stored_batches(AGENTS, STEPS) for report in reports_of(batch))
    return project(reports, TEAM, observed=plan(AGENTS).observed, live=True)


def test_a_trace_has_the_requested_steps_and_is_always_the_same() -> None:
    batches = list(stored_batches(AGENTS, STEPS))
    assert sum(batch.n_steps for batch in batches) == STEPS
    assert batches == list(stored_batches(AGENTS, STEPS))


def test_a_trace_is_complete_and_its_graph_has_all_agents() -> None:
    integrity = projection().integrity
    assert (integrity.steps, integrity.completeness) == (STEPS, 1.0)
    assert len(projection().agents) == AGENTS


def test_the_gateway_observed_every_call_and_nothing_contradicts_it() -> None:
    integrity = projection().integrity
    assert integrity.observed > STEPS / 4
    assert (integrity.corroborated, integrity.reported, integrity.contradicted) == (0, 0, 0)


def test_some_calls_are_claimed_too() -> None:
    claimed = [
        report
        for batch in stored_batches(AGENTS, STEPS)
        if not batch.is_observed
        for report in reports_of(batch)
        if report.step.kind is CallType.AGENT
    ]
    assert claimed


def test_latency_and_critical_path_are_measured_on_calls_that_overlap() -> None:
    path = build_graph(projection()).critical_path
    assert path.complete
    assert 0 < path.span_us < path.work_us
    assert summarise(latencies_of(projection().all_links), TEAM).n == path.timed


def test_calls_fail_and_are_made_again_and_models_take_tokens() -> None:
    calls = [call for link in projection().links.values() for call in link.calls]
    assert any(len(call) > 1 for call in calls)
    assert sum(link.failed for link in projection().links.values())
    assert projection().tokens

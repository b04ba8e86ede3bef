"""The columns of a trace tell the same, value by value, as the record-based evaluation in plain Python."""

from dataclasses import asdict

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.trace.report import Report
from concord_evaluator.graph import AgentGraph, build_graph
from concord_evaluator.graph.agent_graph import find_cascades
from concord_evaluator.trace import Call, Evidence, Projection, project
from concord_evaluator.trace.trees import ROOT
from lab.columns import chains, critical_path, interactions, projection
from tests.kit.arbitrary import AGENTS, reports
from tests.kit.traces import roster

TOLD = st.lists(reports(), max_size=10)
EVIDENCE: st.SearchStrategy[Evidence] = st.sampled_from(["any", "corroborated", "observed"])
RECORD = ("trace_id", "step_id", "parent_id", "kind", "agent_name", "callee_url", "callee_name", "request_digest")
RECORDED = ("retry_of", "edge_kind", "known_by", "support", "error", "answered", "latency_ms", "started_us", "tokens")


def told_by(call: Call | interactions.Call) -> list[object]:
    record = call.record
    attested = [(each.reporter, each.direct, each.observed, each.authenticated) for each in record.attestations]
    facts = [getattr(record, name) for name in (*RECORD, *RECORDED)]
    return [call.caller, call.callee, call.provenance, call.parent, *facts, *attested]


def links_of(found: Projection | projection.Projection) -> dict[object, object]:
    return {
        link: (
            [[told_by(attempt) for attempt in call] for call in each.calls],
            each.failed,
            sorted(each.requests),
            list(each.latencies_ms),
        )
        for link, each in [*found.links.items(), *found.green_links.items()]
    }


def without(found: Projection | projection.Projection) -> list[object]:
    contradictions = found.contradictions
    return [
        found.agents,
        found.silent_agents,
        found.tokens,
        list(found.texts.items()),
        (contradictions.total, contradictions.counts, contradictions.step_ids),
        (found.self_calls, found.unattributed_calls, found.unnamed),
        found.steps,
        found.integrity,
        found.uses,
    ]


def agree_on_chains(graph: AgentGraph, calls: tuple[interactions.Call, ...]) -> None:
    """Loops, cascades of errors, the critical path, and what calls are made in."""
    inner = chains.made_in(calls)
    returns = list(zip(graph.returns.index.tolist(), graph.returns.times.tolist(), strict=True))
    assert returns == sorted((each.index, each.times) for each in chains.find_returns(calls, inner))
    assert list(find_cascades(graph.calls)) == list(chains.find_cascades(calls))
    assert asdict(graph.critical_path) == asdict(critical_path.critical_path(calls, inner))
    assert graph.calls.between_agents.tolist() == list(map(chains.is_between_agents, calls))
    assert [None if each == ROOT else each for each in graph.calls.parent.tolist()] == [each.parent for each in calls]


@settings(max_examples=80, deadline=None)
@given(TOLD, EVIDENCE, st.booleans(), st.booleans())
def test_the_columns_agree_with_the_records(told: list[Report], evidence: Evidence, observed: bool, live: bool) -> None:
    team = roster(*AGENTS)
    found = project(told, team, evidence, observed=observed, live=live)
    expected = projection.project(told, team, evidence, observed=observed, live=live)
    assert without(found) == without(expected)
    assert list(map(told_by, found.calls)) == list(map(told_by, expected.calls))
    assert links_of(found) == links_of(expected)
    agree_on_chains(build_graph(found), expected.calls)

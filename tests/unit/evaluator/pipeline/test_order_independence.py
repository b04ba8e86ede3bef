"""Laws of the analysis: it depends on the reports, and not on when, how often or in which batches they arrive."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import Thresholds
from concord.assessment.results import MetricStatus
from concord.assessment.roster import GREEN_AGENT
from concord.trace.report import Report
from concord_evaluator.findings import find
from concord_evaluator.graph import build_graph
from concord_evaluator.metrics import measure
from concord_evaluator.trace import Projection, project
from tests.unit.evaluator.arbitrary import AGENTS, reports
from tests.unit.evaluator.traces import roster

TOLD = st.lists(reports(), max_size=8)
SHUFFLED = TOLD.flatmap(lambda told: st.tuples(st.just(told), st.permutations(told)))


def read(told: list[Report]) -> Projection:
    projection = project(told, roster(*AGENTS))
    return replace(projection, integrity=projection.integrity.model_copy(update={"duplicate": 0}))


def written(told: list[Report]) -> list[str]:
    """All metrics and findings, to the bit."""
    graph = build_graph(read(told))
    metrics = measure(graph)
    return [record.model_dump_json() for record in (*metrics, *find(graph, metrics, Thresholds(loop=0)))]


@settings(max_examples=80, deadline=None)
@given(SHUFFLED)
def test_the_order_of_arrival_changes_nothing(cases: tuple[list[Report], list[Report]]) -> None:
    told, shuffled = cases
    assert read(told) == read(shuffled)


@settings(max_examples=40, deadline=None)
@given(SHUFFLED)
def test_the_order_of_arrival_changes_no_bit_of_any_metric_or_finding(cases: tuple[list[Report], list[Report]]) -> None:
    told, shuffled = cases
    assert written(told) == written(shuffled)


@settings(max_examples=50, deadline=None)
@given(TOLD, st.data())
def test_repeated_reports_change_only_their_count(told: list[Report], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(told), max_size=8)) if told else []
    assert read(told) == read(told + again)


@settings(max_examples=50, deadline=None)
@given(TOLD)
def test_every_caller_and_callee_is_a_node_except_the_green_agent(
    told: list[Report],
) -> None:
    projection = read(told)
    ends = {end for call in projection.interactions for end in (call.caller, call.callee)}
    assert ends <= set(projection.agents)
    assert not set(projection.agents) & {GREEN_AGENT, "unknown", ""}


@settings(max_examples=80, deadline=None)
@given(TOLD)
def test_a_call_comes_after_its_parent(told: list[Report]) -> None:
    calls = read(told).calls
    assert all(call.parent is None or call.parent < index for index, call in enumerate(calls))


@settings(max_examples=60, deadline=None)
@given(TOLD)
def test_every_metric_has_a_value_or_a_reason_and_none_fails(told: list[Report]) -> None:
    for record in measure(build_graph(read(told))):
        undefined = record.status in {MetricStatus.UNDEFINED, MetricStatus.NOT_APPLICABLE}
        assert (record.value is None) == undefined
        assert not undefined or record.reason
        assert "failed:" not in (record.reason or "")


@settings(max_examples=60, deadline=None)
@given(TOLD)
def test_no_finding_appears_twice_for_the_same_agents(told: list[Report]) -> None:
    graph = build_graph(read(told))
    findings = [(each.id, tuple(each.agents)) for each in find(graph, measure(graph), Thresholds(loop=0))]
    assert len(set(findings)) == len(findings)


@settings(max_examples=60, deadline=None)
@given(TOLD)
def test_a_findings_value_is_that_of_its_metric_or_described_in_words(told: list[Report]) -> None:
    graph = build_graph(read(told))
    metrics = measure(graph)
    for finding in find(graph, metrics, Thresholds(loop=0)):
        values = [record.value for record in metrics if record.id == finding.metric_id]
        assert finding.value in values if finding.measured is None else finding.metric_id is None


@settings(max_examples=60, deadline=None)
@given(TOLD)
def test_the_span_is_at_most_the_work_and_shares_are_fractions(told: list[Report]) -> None:
    graph = build_graph(read(told))
    assert 0 <= graph.critical_path.span_us <= graph.critical_path.work_us
    shares = {"critical_path_share", "handover_ratio", "loop_ratio", "error_propagation", "unnecessary_path_ratio"}
    shares |= {"information_diversity", "reciprocity", "clustering", "degree_centralisation", "global_efficiency"}
    values = [record.value for record in measure(graph, {each: {} for each in shares}) if record.value is not None]
    assert all(0 <= value <= 1 for value in values)

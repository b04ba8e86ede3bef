"""Laws of the analysis: it depends on the reports, and not on when, how often or in which batches they arrive."""

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import Thresholds
from concord.assessment.results import Finding, MetricRecord, MetricStatus
from concord.trace.report import Report
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.findings import find
from concord_evaluator.graph import AgentGraph, build_graph
from concord_evaluator.metrics import measure
from concord_evaluator.trace import Projection, project
from tests.kit.arbitrary import AGENTS, reports
from tests.kit.traces import roster

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


@settings(max_examples=30)
@given(SHUFFLED)
def test_the_order_of_arrival_changes_nothing(cases: tuple[list[Report], list[Report]]) -> None:
    told, shuffled = cases
    assert read(told) == read(shuffled)


@settings(max_examples=15)
@given(SHUFFLED)
def test_the_order_of_arrival_changes_no_bit_of_any_metric_or_finding(cases: tuple[list[Report], list[Report]]) -> None:
    told, shuffled = cases
    assert written(told) == written(shuffled)


@settings(max_examples=20)
@given(TOLD, st.data())
def test_repeated_reports_change_only_their_count(told: list[Report], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(told), max_size=8)) if told else []
    assert read(told) == read(told + again)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The results of analysing one list of reports."""

    projection: Projection
    graph: AgentGraph
    metrics: list[MetricRecord]
    findings: list[Finding]


def analysed(told: list[Report]) -> Analysis:
    projection = read(told)
    graph = build_graph(projection)
    metrics = measure(graph)
    return Analysis(projection, graph, metrics, find(graph, metrics, Thresholds(loop=0)))


def every_caller_and_callee_is_a_node_except_the_green_agent(found: Analysis) -> None:
    ends = {end for call in found.projection.interactions for end in (call.caller, call.callee)}
    assert ends <= set(found.projection.agents)
    assert not set(found.projection.agents) & {GREEN_AGENT, "unknown", ""}


def a_call_comes_after_its_parent(found: Analysis) -> None:
    calls = found.projection.calls
    assert all(call.parent is None or call.parent < index for index, call in enumerate(calls))


def every_metric_has_a_value_or_a_reason_and_none_fails(found: Analysis) -> None:
    for record in found.metrics:
        undefined = record.status in {MetricStatus.UNDEFINED, MetricStatus.NOT_APPLICABLE}
        assert (record.value is None) == undefined
        assert not undefined or record.reason
        assert "failed:" not in (record.reason or "")


def no_finding_appears_twice_for_the_same_agents(found: Analysis) -> None:
    findings = [(each.id, tuple(each.agents)) for each in found.findings]
    assert len(set(findings)) == len(findings)


def a_findings_value_is_that_of_its_metric_or_described_in_words(found: Analysis) -> None:
    for finding in found.findings:
        values = [record.value for record in found.metrics if record.id == finding.metric_id]
        assert finding.value in values if finding.measured is None else finding.metric_id is None


def the_span_is_at_most_the_work_and_shares_are_fractions(found: Analysis) -> None:
    assert 0 <= found.graph.critical_path.span_us <= found.graph.critical_path.work_us
    shares = {"critical_path_share", "handover_ratio", "loop_ratio", "error_propagation", "unnecessary_path_ratio"}
    shares |= {"information_diversity", "reciprocity", "clustering", "degree_centralisation", "global_efficiency"}
    assert shares <= {record.id for record in found.metrics}
    values = [record.value for record in found.metrics if record.id in shares and record.value is not None]
    assert all(0 <= value <= 1 for value in values)


LAWS = (
    every_caller_and_callee_is_a_node_except_the_green_agent,
    a_call_comes_after_its_parent,
    every_metric_has_a_value_or_a_reason_and_none_fails,
    no_finding_appears_twice_for_the_same_agents,
    a_findings_value_is_that_of_its_metric_or_described_in_words,
    the_span_is_at_most_the_work_and_shares_are_fractions,
)


@settings(max_examples=30)
@given(TOLD)
def test_any_reports_obey_every_law_of_the_analysis(told: list[Report]) -> None:
    """One analysis serves all laws, since drawing and analysing reports takes far longer than the checks."""
    found = analysed(told)
    for law in LAWS:
        law(found)

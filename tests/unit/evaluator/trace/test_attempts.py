"""Claims: when all calls between participants pass the proxy, a call that it did not carry does not count."""

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import Thresholds
from concord.trace.report import Report
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.findings import find
from concord_evaluator.graph import build_graph
from concord_evaluator.metrics import measure
from concord_evaluator.trace import Projection
from concord_evaluator.trace.attribution import Claim
from tests.kit.traces import call, edges, observed, projected, proxied, reported_by, tool, url_of


def proxied_call(step_id: str, caller: str, callee: str) -> list[Report]:
    """A call that the proxy carried: reported by the green agent, which identifies the caller by its token."""
    return observed(GREEN_AGENT, call(step_id, callee, attributes={"agent_name": caller}))


def project(*reports: list[Report]) -> Projection:
    return projected(*reports, observed=True)


def test_an_uncarried_claim_at_the_proxys_address_is_contradicted_and_does_not_count() -> None:
    projection = project(reported_by("A", call("1", "B", url=proxied("B"))))
    assert edges(projection) == []
    assert (projection.integrity.contradicted, projection.integrity.reported) == (1, 0)


def test_a_claim_without_an_address_is_contradicted() -> None:
    assert project(reported_by("A", call("1", "B", url=""))).integrity.contradicted == 1


def test_a_matching_report_of_the_callee_does_not_help() -> None:
    projection = project(reported_by("A", call("1", "B", url=proxied("B"))), reported_by("B", tool("2", parent="1")))
    assert edges(projection) == []
    assert projection.integrity.contradicted == 1


def test_a_claim_by_an_inner_agent_is_contradicted_too() -> None:
    claim = call("1", "B", url=proxied("B"), attributes={"agent_name": "planner"})
    assert project(reported_by("A", claim)).integrity.contradicted == 1


def test_a_call_to_a_direct_address_is_only_reported() -> None:
    projection = project(reported_by("A", call("1", "B", url=url_of("B"))))
    assert edges(projection) == [("A", "B")]
    assert (projection.integrity.contradicted, projection.integrity.reported) == (0, 1)


def test_a_carried_and_claimed_call_is_one_call() -> None:
    projection = project(proxied_call("1", "A", "B"), reported_by("A", call("1", "B", url=proxied("B"))))
    assert edges(projection) == [("A", "B")]
    assert (projection.integrity.contradicted, projection.integrity.observed) == (0, 1)


def test_a_carried_call_counts_without_a_report() -> None:
    assert edges(project(proxied_call("1", "A", "B"), reported_by("A", tool("2")))) == [("A", "B")]


def test_as_many_calls_as_were_carried_may_be_reported_under_other_ids() -> None:
    projection = project(
        proxied_call("1", "A", "B"),
        proxied_call("2", "A", "B"),
        reported_by("A", *(call(f"own-{n}", "B", url=proxied("B")) for n in range(3))),
    )
    assert edges(projection) == [("A", "B"), ("A", "B")]
    assert projection.integrity.contradicted == 1


def test_an_uncarried_failed_call_is_left_out_and_not_contradicted() -> None:
    projection = project(reported_by("A", call("1", "B", url=proxied("B"), error="no way to the gateway")))
    assert edges(projection) == []
    assert projection.integrity.contradicted == 0


def test_calls_inside_a_participant_and_to_strangers_need_no_proxy() -> None:
    inner = call("1", "writer", url="", attributes={"agent_name": "planner"})
    projection = project(reported_by("A", inner, call("2", "", url="http://stranger.test/")))
    assert edges(projection) == [("A", "url:http://stranger.test"), ("A/planner", "A/writer")]
    assert projection.integrity.contradicted == 0


def test_a_carried_call_is_attributed_to_the_inner_agent_that_reports_it() -> None:
    claim = call("1", "B", url=proxied("B"), attributes={"agent_name": "planner"})
    projection = project(proxied_call("1", "A", "B"), reported_by("A", claim))
    assert edges(projection) == [("A/planner", "B")]
    assert projection.integrity.observed == 1
    assert "A" not in projection.agents


def test_without_the_proxy_no_claim_is_contradicted() -> None:
    projection = projected(reported_by("A", call("1", "B", url=proxied("B")), call("2", "C", url="")))
    assert edges(projection) == [("A", "B"), ("A", "C")]
    assert projection.integrity.contradicted == 0


claims = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABC")), max_size=12)


@given(claims, claims)
def test_no_claim_adds_to_the_carried_calls(calls: list[tuple[str, str]], lies: list[tuple[str, str]]) -> None:
    honest = [proxied_call(f"seen-{n}", caller, callee) for n, (caller, callee) in enumerate(calls)]
    forged = [
        reported_by(caller, call(f"lie-{n}", callee, url=proxied(callee))) for n, (caller, callee) in enumerate(lies)
    ]
    alone, together = project(*honest), project(*honest, *forged)
    assert edges(together) == edges(alone)
    assert together.agents == alone.agents
    between = [lie for lie in lies if lie[0] != lie[1]]
    unmatched = sum(max(0, between.count(lie) - calls.count(lie)) for lie in set(between))
    assert together.integrity.contradicted == unmatched


@given(
    st.permutations([*proxied_call("1", "A", "B"), *reported_by("A", call("x", "B", url=""), call("y", "B", url=""))])
)
def test_the_order_of_reports_does_not_matter(reports: list[Report]) -> None:
    projection = project(reports)
    assert edges(projection) == [("A", "B")]
    assert projection.integrity.contradicted == 1


def test_contradicted_reports_are_the_first_finding_with_their_claims() -> None:
    honest = [proxied_call(f"s{n}", "A", "C") for n in range(3)]
    lies = [reported_by("B", *(call(f"l{n}", "A", url=proxied("A")) for n in range(2)), call("l9", "C", url=""))]
    graph = build_graph(project(*honest, *lies))
    first, *others = find(graph, measure(graph), Thresholds())
    assert (first.id, first.agents, first.value, first.step_ids) == (
        "contradicted_reports",
        ["B"],
        3.0,
        ["l0", "l1", "l9"],
    )
    assert "B to A x2, B to C x1" in first.advice
    assert "contradicted_reports" not in {finding.id for finding in others}


def test_a_claim_of_another_callee_is_counted_by_reporter_and_pair() -> None:
    projection = project(proxied_call("1", "A", "B"), reported_by("A", call("1", "C", url=proxied("C"))))
    assert projection.contradictions.counts == {Claim("A", "A", "C"): 1}

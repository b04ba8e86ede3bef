"""Where every call between participants passes before our eyes, one that we did not see is no call."""

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import Thresholds
from concord.assessment.roster import GREEN_AGENT
from concord.trace.report import Report
from concord_evaluator.findings import find
from concord_evaluator.graph import build_graph
from concord_evaluator.metrics import measure
from concord_evaluator.trace import Projection
from concord_evaluator.trace.attempts import Claim
from tests.unit.evaluator.traces import call, edges, observed, projected, proxied, told, tool, url_of


def seen(step_id: str, caller: str, callee: str) -> list[Report]:
    """A call that the proxy carried: testified by the green agent, which knows the caller by its token."""
    return observed(GREEN_AGENT, call(step_id, callee, attributes={"agent_name": caller}))


def project(*reports: list[Report]) -> Projection:
    return projected(*reports, observed=True)


def test_a_call_through_the_proxy_that_was_not_seen_is_contradicted_and_counts_for_nothing() -> None:
    projection = project(told("A", call("1", "B", url=proxied("B"))))
    assert edges(projection) == []
    assert (projection.integrity.contradicted, projection.integrity.reported) == (1, 0)


def test_a_claim_without_an_address_is_no_better() -> None:
    assert project(told("A", call("1", "B", url=""))).integrity.contradicted == 1


def test_that_the_callee_plays_along_does_not_help() -> None:
    projection = project(told("A", call("1", "B", url=proxied("B"))), told("B", tool("2", parent="1")))
    assert edges(projection) == []
    assert projection.integrity.contradicted == 1


def test_that_an_agent_inside_the_participant_claims_it_does_not_help() -> None:
    claim = call("1", "B", url=proxied("B"), attributes={"agent_name": "planner"})
    assert project(told("A", claim)).integrity.contradicted == 1


def test_a_call_past_the_proxy_is_only_reported_since_we_do_not_see_there() -> None:
    projection = project(told("A", call("1", "B", url=url_of("B"))))
    assert edges(projection) == [("A", "B")]
    assert (projection.integrity.contradicted, projection.integrity.reported) == (0, 1)


def test_a_call_that_was_seen_is_one_call_whoever_else_tells_of_it() -> None:
    projection = project(seen("1", "A", "B"), told("A", call("1", "B", url=proxied("B"))))
    assert edges(projection) == [("A", "B")]
    assert (projection.integrity.contradicted, projection.integrity.observed) == (0, 1)


def test_a_call_that_was_seen_and_not_told_of_counts_all_the_same() -> None:
    assert edges(project(seen("1", "A", "B"), told("A", tool("2")))) == [("A", "B")]


def test_as_many_calls_as_were_seen_may_be_told_of_under_other_ids() -> None:
    projection = project(
        seen("1", "A", "B"),
        seen("2", "A", "B"),
        told("A", *(call(f"own-{n}", "B", url=proxied("B")) for n in range(3))),
    )
    assert edges(projection) == [("A", "B"), ("A", "B")]
    assert projection.integrity.contradicted == 1


def test_a_failed_call_that_was_not_seen_is_left_out_without_a_charge() -> None:
    projection = project(told("A", call("1", "B", url=proxied("B"), error="no way to the gateway")))
    assert edges(projection) == []
    assert projection.integrity.contradicted == 0


def test_calls_inside_a_participant_and_to_strangers_are_none_of_the_proxys() -> None:
    inner = call("1", "writer", url="", attributes={"agent_name": "planner"})
    projection = project(told("A", inner, call("2", "", url="http://stranger.test/")))
    assert edges(projection) == [("A", "url:http://stranger.test"), ("A/planner", "A/writer")]
    assert projection.integrity.contradicted == 0


def test_what_was_seen_from_outside_is_laid_to_the_agent_inside_that_tells_of_it() -> None:
    claim = call("1", "B", url=proxied("B"), attributes={"agent_name": "planner"})
    projection = project(seen("1", "A", "B"), told("A", claim))
    assert edges(projection) == [("A/planner", "B")]
    assert projection.integrity.observed == 1
    assert "A" not in projection.agents


def test_without_the_proxy_nothing_is_refuted() -> None:
    projection = projected(told("A", call("1", "B", url=proxied("B")), call("2", "C", url="")))
    assert edges(projection) == [("A", "B"), ("A", "C")]
    assert projection.integrity.contradicted == 0


claims = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABC")), max_size=12)


@given(claims, claims)
def test_no_claim_adds_to_what_was_seen(calls: list[tuple[str, str]], lies: list[tuple[str, str]]) -> None:
    honest = [seen(f"seen-{n}", caller, callee) for n, (caller, callee) in enumerate(calls)]
    forged = [told(caller, call(f"lie-{n}", callee, url=proxied(callee))) for n, (caller, callee) in enumerate(lies)]
    alone, together = project(*honest), project(*honest, *forged)
    assert edges(together) == edges(alone)
    assert together.agents == alone.agents
    between = [lie for lie in lies if lie[0] != lie[1]]
    unmatched = sum(max(0, between.count(lie) - calls.count(lie)) for lie in set(between))
    assert together.integrity.contradicted == unmatched


@given(st.permutations([*seen("1", "A", "B"), *told("A", call("x", "B", url=""), call("y", "B", url=""))]))
def test_it_does_not_depend_on_the_order_of_the_reports(reports: list[Report]) -> None:
    projection = project(reports)
    assert edges(projection) == [("A", "B")]
    assert projection.integrity.contradicted == 1


def test_who_told_what_is_a_finding_and_stands_first() -> None:
    honest = [seen(f"s{n}", "A", "C") for n in range(3)]
    lies = [told("B", *(call(f"l{n}", "A", url=proxied("A")) for n in range(2)), call("l9", "C", url=""))]
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


def test_a_claim_that_a_call_went_elsewhere_than_it_did_is_told_with_who_claims_it() -> None:
    projection = project(seen("1", "A", "B"), told("A", call("1", "C", url=proxied("C"))))
    assert projection.contradictions.counts == {Claim("A", "A", "C"): 1}

"""The projection: from reports to interactions, with their callers, callees, provenance and retries."""

from datetime import UTC, datetime

import pytest

from concord.trace.attributes import EDGE_KNOWN_BY, EDGE_SUPPORT, KnownBy, Support
from concord.trace.step import CallType, InteractionStep
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.trace.attribution import Provenance
from tests.kit.traces import TRACE_ID, call, edges, observed, projected, reported_by, tool


def test_an_empty_trace_has_the_roster_and_no_interactions() -> None:
    projection = projected()
    assert projection.agents == ("A", "B", "C")
    assert projection.interactions == ()
    assert projection.integrity.completeness is None


def test_steps_are_projected_onto_agents_and_are_no_nodes() -> None:
    projection = projected(
        reported_by("A", call("1", "B"), call("2", "C")), reported_by("B", call("3", "C", parent="1"))
    )
    assert projection.agents == ("A", "B", "C")
    assert edges(projection) == [("A", "B"), ("A", "C"), ("B", "C")]


class TestCaller:
    def test_the_caller_is_the_reporter_of_the_step(self) -> None:
        assert edges(projected(reported_by("B", call("1", "C", parent="0")))) == [("B", "C")]

    def test_the_caller_of_a_relayed_step_is_the_callee_above_it(self) -> None:
        answer = [call("2", "C", answer=[call("3", "A")])]
        assert edges(projected(reported_by("A", call("1", "B", answer=answer)))) == [("A", "B"), ("B", "C"), ("C", "A")]

    def test_the_caller_of_a_relayed_step_is_found_above_tools_and_host_work(self) -> None:
        host = InteractionStep(step_id="3", trace_id=TRACE_ID, parent_step_id="2", call_type=CallType.HOST)
        answer = [tool("2", parent="1"), host, call("4", "C", parent="3")]
        assert edges(projected(reported_by("A", call("1", "B", answer=answer)))) == [("A", "B"), ("B", "C")]

    def test_a_relayed_step_below_no_call_has_no_caller_and_is_counted(self) -> None:
        carrier = call("1", "B", answer=[call("2", "C", parent="0")])
        orphaned = tool("0")
        projection = projected(reported_by("A", carrier, orphaned))
        assert edges(projection) == [("A", "B")]
        assert projection.unattributed_calls == 1

    def test_a_repeated_step_keeps_the_caller_that_made_it(self) -> None:
        step = call("2", "C", parent="1")
        projection = projected(reported_by("A", call("1", "B"), step), reported_by("B", step))
        assert edges(projection) == [("A", "B"), ("B", "C")]

    def test_a_root_step_reported_by_two_agents_is_a_call_of_each(self) -> None:
        step = call("1", "C")
        projection = projected(reported_by("A", step), reported_by("B", step))
        assert edges(projection) == [("A", "C"), ("B", "C")]

    def test_a_named_inner_agent_is_the_caller(self) -> None:
        inner = call("1", "critic", url="", attributes={"gen_ai.agent.name": "lead"})
        outer = call("2", "B", parent="1", attributes={"agent_name": "critic"})
        projection = projected(reported_by("A", inner, outer), agents="AB")
        assert edges(projection) == [("A/critic", "B"), ("A/lead", "A/critic")]
        assert projection.agents == ("A/critic", "A/lead", "B")

    def test_an_inner_agent_that_was_called_is_the_caller_below(self) -> None:
        inner = call("1", "critic", url="")
        projection = projected(reported_by("A", inner, call("2", "B", parent="1")), agents="AB")
        assert edges(projection) == [("A", "A/critic"), ("A/critic", "B")]

    def test_a_participant_that_names_itself_is_no_inner_agent(self) -> None:
        assert edges(projected(reported_by("A", call("1", "B", attributes={"agent_name": "A"})))) == [("A", "B")]

    def test_the_caller_of_an_observed_call_is_the_callee_above_it(self) -> None:
        seen = observed(GREEN_AGENT, call("g", "A"), call("1", "B", parent="g"))
        projection = projected(seen)
        assert edges(projection) == [("A", "B")]
        assert projection.interactions[0].provenance is Provenance.OBSERVED

    def test_the_caller_of_an_observed_call_is_the_agent_that_it_names(self) -> None:
        assert edges(projected(observed(GREEN_AGENT, call("1", "B", attributes={"agent_name": "A"})))) == [("A", "B")]


class TestCallee:
    def test_the_callee_is_resolved_from_any_spelling_of_its_url(self) -> None:
        assert edges(projected(reported_by("A", call("1", "someone", url="HTTP://B.test:9009/")))) == [("A", "B")]

    def test_an_undeclared_callee_is_a_node_named_by_its_url(self) -> None:
        projection = projected(reported_by("A", call("1", "x", url="https://x.test/agent")), agents="A")
        assert edges(projection) == [("A", "url:https://x.test/agent")]
        assert projection.agents == ("A", "url:https://x.test/agent")

    def test_a_call_without_a_callee_is_counted_and_left_out(self) -> None:
        projection = projected(reported_by("A", call("1", "", url="")), agents="AB")
        assert projection.agents == ("A", "B")
        assert projection.unattributed_calls == 1


class TestGreenAgent:
    def test_the_green_agent_is_no_node_and_its_calls_are_kept_apart(self) -> None:
        projection = projected(observed(GREEN_AGENT, call("1", "A", latency=7)), reported_by("B", call("2", "C")))
        assert projection.agents == ("A", "B", "C")
        assert edges(projection) == [("B", "C")]
        assert [(callee, link.latencies_ms) for (_, callee), link in projection.green_links.items()] == [("A", [7.0])]

    def test_a_call_to_the_green_agent_is_no_interaction(self) -> None:
        assert edges(projected(reported_by("A", call("1", GREEN_AGENT, url="")))) == []


class TestProvenance:
    def test_a_call_known_from_one_end_is_reported(self) -> None:
        assert projected(reported_by("A", call("1", "B"))).interactions[0].provenance is Provenance.REPORTED

    def test_a_call_whose_callee_reports_work_under_it_is_corroborated(self) -> None:
        projection = projected(reported_by("A", call("1", "B")), reported_by("B", tool("2", parent="1")))
        assert projection.interactions[0].provenance is Provenance.CORROBORATED

    @pytest.mark.parametrize(
        ("known_by", "support", "provenance"),
        [
            (KnownBy.TIME, Support.INFERRED, Provenance.REPORTED),
            (KnownBy.TIME, Support.CONTRADICTED, Provenance.REPORTED),
            (KnownBy.TIME, Support.CONFIRMED, Provenance.CORROBORATED),
            (KnownBy.IDS, Support.INFERRED, Provenance.CORROBORATED),
        ],
    )
    def test_a_call_that_is_inferred_from_times_alone_is_not_corroborated(
        self, known_by: KnownBy, support: Support, provenance: Provenance
    ) -> None:
        asked = call("1", "B", attributes={EDGE_KNOWN_BY: known_by, EDGE_SUPPORT: support})
        projection = projected(reported_by("A", asked), reported_by("B", tool("2", parent="1")))
        assert projection.interactions[0].provenance is provenance

    def test_relayed_steps_do_not_corroborate_a_call(self) -> None:
        projection = projected(reported_by("A", call("1", "B", answer=[tool("2", parent="1")])))
        assert projection.interactions[0].provenance is Provenance.REPORTED

    def test_reports_of_a_third_party_do_not_corroborate_a_call(self) -> None:
        projection = projected(reported_by("A", call("1", "B")), reported_by("C", tool("2", parent="1")))
        assert projection.interactions[0].provenance is Provenance.REPORTED

    def test_a_call_between_inner_agents_is_reported(self) -> None:
        projection = projected(reported_by("A", call("1", "critic", url=""), tool("2", parent="1")))
        assert projection.interactions[0].provenance is Provenance.REPORTED

    def test_an_observed_and_reported_call_is_one_observed_call(self) -> None:
        seen = observed(GREEN_AGENT, call("g", "A"), call("1", "B", parent="g", latency=50))
        projection = projected(seen, reported_by("A", call("1", "B", parent="g", latency=5)))
        (link,) = projection.links.values()
        assert [each.provenance for each in link.calls] == [Provenance.OBSERVED]
        assert link.latencies_ms == [50.0]

    def test_a_claim_that_contradicts_an_observation_is_counted_and_left_out(self) -> None:
        seen = observed(GREEN_AGENT, call("g", "A"), call("1", "B", parent="g"))
        projection = projected(seen, reported_by("A", call("1", "C", parent="g")))
        assert edges(projection) == [("A", "B")]
        assert projection.integrity.contradicted == 1

    @pytest.mark.parametrize(
        ("evidence", "counted"),
        [
            ("any", [("A", "B"), ("A", "C"), ("B", "C")]),
            ("corroborated", [("A", "B"), ("B", "C")]),
            ("observed", [("B", "C")]),
        ],
    )
    def test_the_evidence_setting_selects_calls_by_provenance(
        self, evidence: str, counted: list[tuple[str, str]]
    ) -> None:
        reports = (
            reported_by("A", call("1", "B"), call("2", "C")),
            reported_by("B", tool("3", parent="1")),
            observed("B", call("4", "C")),
        )
        projection = projected(*reports, evidence=evidence)  # type: ignore[arg-type]
        assert edges(projection) == counted
        integrity = projection.integrity
        assert (integrity.observed, integrity.corroborated, integrity.reported) == (1, 1, 1)


class TestRetry:
    def test_a_retry_is_the_same_logical_call(self) -> None:
        projection = projected(
            reported_by("A", call("1", "B", error="timeout", latency=30), call("2", "B", attributes={"retry_of": "1"}))
        )
        (link,) = projection.links.values()
        assert [each.step_ids for each in link.calls] == [("1", "2")]
        assert (link.attempts, link.retries, link.failed_attempts, link.failed) == (2, 1, 1, 0)

    def test_a_retry_of_a_retry_is_the_same_logical_call(self) -> None:
        chain = [call(str(i), "B", error="no", attributes={"retry_of": str(i - 1)} if i else {}) for i in range(4)]
        (link,) = projected(reported_by("A", *chain)).links.values()
        assert (len(link.calls), link.attempts, link.retries, link.failed) == (1, 4, 3, 1)

    def test_a_retry_of_an_unreported_attempt_is_a_retry(self) -> None:
        (link,) = projected(reported_by("A", call("2", "B", attributes={"retry_of": "lost"}))).links.values()
        assert (link.attempts, link.retries) == (1, 1)

    def test_a_retry_at_another_agent_is_another_call(self) -> None:
        steps = call("1", "B", error="no"), call("2", "C", attributes={"retry_of": "1"})
        assert edges(projected(reported_by("A", *steps))) == [("A", "B"), ("A", "C")]

    def test_a_cycle_of_retries_is_one_call(self) -> None:
        steps = [call(a, "B", attributes={"retry_of": b}) for a, b in (("1", "2"), ("2", "3"), ("3", "1"))]
        assert len(projected(reported_by("A", *steps)).interactions) == 1


def test_calls_of_an_agent_to_itself_are_counted_and_left_out() -> None:
    projection = projected(reported_by("A", call("1", "A"), call("2", "B")))
    assert edges(projection) == [("A", "B")]
    assert projection.self_calls == 1


def test_conflicting_variants_are_counted_and_left_out_of_structure() -> None:
    projection = projected(reported_by("A", call("1", "B"), call("1", "C"), call("2", "B")))
    assert edges(projection) == [("A", "B")]
    assert projection.integrity.conflicting == 2


def test_a_call_reported_by_its_caller_and_relayed_is_one_call() -> None:
    step = call("2", "C", parent="1")
    projection = projected(reported_by("B", step), reported_by("A", call("1", "B", answer=[step])))
    assert edges(projection) == [("A", "B"), ("B", "C")]


def test_times_without_a_zone_are_utc() -> None:
    step = call("1", "B", start_time=datetime(2026, 1, 1, 12), end_time=datetime(2026, 1, 1, 12, 0, 1, tzinfo=UTC))  # noqa: DTZ001
    assert projected(reported_by("A", step)).interactions[0][0].record.latency_ms == 1000.0


def test_strangers_that_make_no_call_are_no_agents_of_the_team() -> None:
    assert projected(reported_by("mallory", tool("1")), agents="AB").agents == ("A", "B")


def test_steps_are_counted_by_kind() -> None:
    host = InteractionStep(step_id="3", trace_id=TRACE_ID, call_type=CallType.HOST)
    steps = projected(reported_by("A", call("1", "B"), tool("2"), host, tool("4"))).steps
    assert (steps.agent, steps.tool, steps.host) == (1, 2, 1)

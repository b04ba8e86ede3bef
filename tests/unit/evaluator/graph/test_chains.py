"""Chains of calls: loops, error propagation, silence, slow links and repeated questions, as metrics and findings."""

from collections.abc import Iterable
from itertools import pairwise

import pytest

from concord.assessment import Thresholds
from concord.assessment.results import MAX_STEP_IDS, Finding
from concord.trace.report import Channel
from concord.trace.step import InteractionStep
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.findings import MAX_PER_KIND, find
from concord_evaluator.graph import AgentGraph
from tests.kit.traces import call, observed, reported_by, tool
from tests.unit.evaluator.timed import graph_of_reports, value_of


def found(graph: AgentGraph, kind: str, thresholds: Thresholds | None = None) -> list[Finding]:
    return [finding for finding in find(graph, [], thresholds or Thresholds()) if finding.id == kind]


def chain(*agents: str, errors: str = "") -> AgentGraph:
    """Calls that are each made within the one before; `errors`: the step ids of failed calls."""
    reports = [
        reported_by(
            caller, call(str(n), callee, parent=str(n - 1) if n else None, error="down" if str(n) in errors else None)
        )
        for n, (caller, callee) in enumerate(pairwise(agents))
    ]
    return graph_of_reports(*reports, agents="ABCDE")


class TestLoops:
    def test_calls_back_up_a_chain_count_as_loops(self) -> None:
        assert value_of(chain("A", "B", "A"), "loop_ratio") == pytest.approx(1 / 2)
        assert value_of(chain("A", "B", "C", "A", "B"), "loop_ratio") == pytest.approx(2 / 4)
        assert value_of(chain("A", "B", "C", "D"), "loop_ratio") == 0.0

    def test_a_new_call_after_an_answer_is_no_loop(self) -> None:
        graph = graph_of_reports(reported_by("A", call("1", "B"), call("2", "B")), reported_by("B", call("3", "A")))
        assert value_of(graph, "loop_ratio") == 0.0

    def test_calls_of_an_agent_to_itself_are_no_loops(self) -> None:
        graph = graph_of_reports(
            reported_by("A", call("1", "A"), call("2", "A", parent="1"), call("3", "B", parent="2"))
        )
        assert value_of(graph, "loop_ratio") == 0.0

    def test_a_loop_may_begin_with_the_agent_that_the_assessor_called(self) -> None:
        seen = observed(GREEN_AGENT, call("g", "A"))
        graph = graph_of_reports(
            seen, reported_by("A", call("1", "B", parent="g")), reported_by("B", call("2", "A", parent="1"))
        )
        assert value_of(graph, "loop_ratio") == pytest.approx(1 / 2)

    def test_one_call_back_is_no_finding_and_two_are(self) -> None:
        assert found(chain("A", "B", "A", "B"), "loop") == []
        (finding,) = found(chain("A", "B", "A", "B", "A"), "loop")
        assert (finding.agents, finding.value, finding.threshold) == (["A"], 2, 1)
        assert finding.step_ids == ["0", "1", "2", "3"]

    def test_loops_above_the_threshold_are_found(self) -> None:
        assert [each.agents for each in found(chain("A", "B", "A", "B"), "loop", Thresholds(loop=0))] == [["A"], ["B"]]

    def test_loops_of_any_depth_are_found(self) -> None:
        deep = graph_of_reports(
            *(
                reported_by("AB"[n % 2], call(f"{n:05}", "BA"[n % 2], parent=f"{n - 1:05}" if n else None))
                for n in range(3000)
            )
        )
        first, second = found(deep, "loop")
        assert (first.agents, first.value, second.value) == (["A"], 1500, 1499)
        assert len(first.step_ids) == MAX_STEP_IDS


class TestErrors:
    def test_errors_that_propagate_are_distinguished_from_handled_ones(self) -> None:
        assert value_of(chain("A", "B", "C", "D", errors="2"), "error_propagation") == 0.0
        assert value_of(chain("A", "B", "C", "D", errors="12"), "error_propagation") == pytest.approx(1 / 2)
        assert value_of(chain("A", "B", "C", "D", errors="012"), "error_propagation") == 1.0

    def test_errors_outside_other_calls_do_not_propagate(self) -> None:
        assert value_of(chain("A", "B", errors="0"), "error_propagation") is None

    def test_consecutive_errors_are_a_cascade(self) -> None:
        assert found(chain("A", "B", "C", "D", errors="2"), "error_cascade") == []
        (finding,) = found(chain("A", "B", "C", "D", errors="12"), "error_cascade")
        assert (finding.agents, finding.value, finding.threshold, finding.step_ids) == (["C", "D"], 2, 1, ["1", "2"])

    def test_errors_with_a_gap_are_no_cascade(self) -> None:
        assert found(chain("A", "B", "C", "D", errors="02"), "error_cascade") == []

    def test_a_forked_cascade_is_as_long_as_its_longest_branch(self) -> None:
        steps = call("1", "C", parent="0", error="x"), call("2", "D", parent="0", error="x")
        graph = graph_of_reports(
            reported_by("A", call("0", "B", error="x")),
            reported_by("B", *steps),
            reported_by("D", call("3", "A", parent="2", error="x")),
            agents="ABCD",
        )
        (finding,) = found(graph, "error_cascade")
        assert (finding.step_ids, finding.value) == (["0", "2", "3"], 3)

    def test_cascades_are_sorted_by_length_and_limited_in_number(self) -> None:
        steps: list[InteractionStep] = []
        for n in range(MAX_PER_KIND + 3):
            steps += [
                call(f"{n}-{d}", f"{n}", url="", parent=f"{n}-{d - 1}" if d else None, error="x") for d in range(n + 2)
            ]
        cascades = found(graph_of_reports(reported_by("A", *steps), agents="A"), "error_cascade")
        assert [each.value for each in cascades] == list(range(MAX_PER_KIND + 4, 4, -1))

    def test_cascades_of_the_same_agents_are_one_finding(self) -> None:
        steps = [
            call(f"{n}-{d}", "B", parent=f"{n}-{d - 1}" if d else None, error="x") for n in (1, 2) for d in range(n + 1)
        ]
        (finding,) = found(graph_of_reports(reported_by("A", *steps)), "error_cascade")
        assert (finding.value, finding.step_ids) == (3, ["2-0", "2-1", "2-2"])


class TestSilence:
    def test_an_agent_without_answer_or_report_is_silent(self) -> None:
        graph = graph_of_reports(reported_by("A", call("1", "B"), call("2", "C", error="no answer")))
        (finding,) = found(graph, "silent")
        assert (finding.agents, finding.step_ids) == (["C"], ["2"])

    def test_an_answer_to_the_assessor_ends_silence(self) -> None:
        assert found(graph_of_reports(observed(GREEN_AGENT, *(call(each, each) for each in "ABC"))), "silent") == []

    def test_any_report_ends_silence(self) -> None:
        graph = graph_of_reports(reported_by("A", call("1", "B")), reported_by("C", tool("2")))
        assert found(graph, "silent") == []

    def test_work_of_an_inner_agent_ends_the_silence_of_its_participant(self) -> None:
        inner = tool("2", attributes={"agent_name": "critic"})
        graph = graph_of_reports(reported_by("A", call("1", "B"), call("3", "C", error="x")), reported_by("C", inner))
        assert found(graph, "silent") == []

    @pytest.mark.parametrize("agents", ["AC", ["A", "C", "C/critic"]])
    def test_in_band_steps_or_a_failed_answer_end_silence(self, agents: Iterable[str]) -> None:
        inner = tool("2", parent="1", attributes={"agent_name": "critic"})
        asked = reported_by("A", call("1", "C", error="x"))
        of_its_own = graph_of_reports(asked, reported_by("C", inner, channel=Channel.IN_BAND), agents=agents)
        relayed = graph_of_reports(reported_by("A", call("1", "C", error="x", answer=[inner])), agents=agents)
        assert found(of_its_own, "silent") == found(relayed, "silent") == []

    def test_only_its_own_work_ends_the_silence_of_an_inner_agent(self) -> None:
        work = tool("2", attributes={"agent_name": "critic"})
        graph = graph_of_reports(
            reported_by("A", call("1", "A")), reported_by("C", work), agents=["A", "C/critic", "C/writer"]
        )
        (finding,) = found(graph, "silent")
        assert finding.agents == ["C/writer"]

    def test_an_agent_whose_name_looks_like_an_inner_agents_is_heard_by_its_own_work(self) -> None:
        (finding,) = found(graph_of_reports(reported_by("lab/one", tool("1")), agents=["A", "lab/one"]), "silent")
        assert finding.agents == ["A"]

    def test_an_answer_that_reports_a_failure_ends_silence(self) -> None:
        failed_answer = call("2", "C", error="the agent ended with failed: no", attributes={"task_state": "failed"})
        graph = graph_of_reports(reported_by("A", call("1", "B", error="unreachable"), failed_answer))
        (finding,) = found(graph, "silent")
        assert finding.agents == ["B"]

    def test_strangers_and_lone_agents_are_never_silent(self) -> None:
        assert (
            found(
                graph_of_reports(reported_by("A", call("1", "x", url="http://x.test", error="x")), agents="A"), "silent"
            )
            == []
        )
        assert found(graph_of_reports(agents="A"), "silent") == []


class TestSlowLinks:
    def graph(self, *latencies: int) -> AgentGraph:
        return graph_of_reports(
            reported_by("A", *(call(str(n), f"B{n}", url="", latency=ms) for n, ms in enumerate(latencies))), agents="A"
        )

    def test_a_slow_link_takes_many_times_the_median_of_the_others(self) -> None:
        (finding,) = found(self.graph(10, 20, 30, 501), "slow_link")
        assert finding.value == pytest.approx(501 / 20)
        assert (finding.agents, finding.threshold) == (["A", "A/B3"], 10)
        assert finding.step_ids == ["3"]

    def test_a_link_at_exactly_the_threshold_is_not_slow(self) -> None:
        assert found(self.graph(10, 20, 30, 200), "slow_link") == []

    def test_links_are_compared_by_the_mean_of_their_calls(self) -> None:
        steps = [
            call("1", "B", latency=10),
            call("2", "B", latency=400),
            call("3", "C", latency=10),
            call("4", "D", latency=10),
        ]
        (finding,) = found(graph_of_reports(reported_by("A", *steps), agents="ABCD"), "slow_link")
        assert finding.value == pytest.approx(20.5)
        assert finding.step_ids == ["1", "2"]

    @pytest.mark.parametrize("latencies", [(), (900,), (1, 900), (0, 0, 900)])
    def test_too_few_other_links_yield_no_slow_link(self, latencies: tuple[int, ...]) -> None:
        assert found(self.graph(*latencies), "slow_link") == []


class TestRedundantQuestions:
    def test_the_same_question_to_the_same_agent_is_redundant(self) -> None:
        steps = [call("1", "B", request="x"), call("2", "B", request="x"), call("3", "C", request="x"), call("4", "B")]
        (finding,) = found(graph_of_reports(reported_by("A", *steps)), "redundant_question")
        assert (finding.agents, finding.value, finding.step_ids) == (["A", "B"], 2, ["1", "2"])

    def test_redundant_questions_of_one_link_are_one_finding_on_the_most_frequent(self) -> None:
        steps = [call(str(n), "B", request="xyxyx"[n]) for n in range(5)]
        (finding,) = found(graph_of_reports(reported_by("A", *steps)), "redundant_question")
        assert (finding.value, finding.step_ids) == (3, ["0", "2", "4"])

    def test_retries_are_not_redundant(self) -> None:
        steps = call("1", "B", request="x", error="busy"), call("2", "B", request="x", attributes={"retry_of": "1"})
        assert found(graph_of_reports(reported_by("A", *steps)), "redundant_question") == []

    def test_the_threshold_may_allow_repeated_questions(self) -> None:
        steps = [call(str(n), "B", request="status?") for n in range(3)]
        graph = graph_of_reports(reported_by("A", *steps))
        assert found(graph, "redundant_question", Thresholds(redundant_question=3)) == []

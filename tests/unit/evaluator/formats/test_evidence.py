"""How each call that was found in spans is known, what a second source says, and the warnings about doubts."""

from typing import Any

import pytest

from concord.trace.attributes import KnownBy, Support
from tests.kit.sources import evaluated, read, refusal
from tests.unit.evaluator.formats.spans import TRACE, as_lines, exported, span

pytestmark = pytest.mark.usefixtures("research_formats")

Evidence = tuple[str, str, KnownBy, Support]


def timed(made: dict[str, Any], start: int, end: int) -> dict[str, Any]:
    return made | {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}


def agent(name: str, start: int, end: int, parent: str = "", trace: str = TRACE) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return timed(with_attributes(span(name[:8], parent[:8], trace=trace), attributes), start, end)


def tool(name: str, start: int, end: int, parent: str, arguments: str = "{}") -> dict[str, Any]:
    used = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.arguments": arguments}
    return timed(with_attributes(span(name[:8], parent[:8]), used), start, end)


def with_attributes(made: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    return made | {"attributes": [{"key": key, "value": {"stringValue": value}} for key, value in texts.items()]}


def evidence(*spans: dict[str, Any]) -> list[Evidence]:
    [trace] = read(as_lines(exported("app", *spans)), format_name="otlp")
    return [
        (call.caller, call.callee, KnownBy(known_by), Support(support))
        for call in evaluated(trace).detail.trials[0].interactions
        if call.known_by is not None and call.support is not None
        for known_by in call.known_by.known()
        for support in call.support.known()
    ]


def warnings(*spans: dict[str, Any]) -> list[str]:
    return [
        warning for trace in read(as_lines(exported("app", *spans)), format_name="otlp") for warning in trace.warnings
    ]


class TestNesting:
    def test_alone_infers_a_call(self) -> None:
        spans = agent("lead", 1, 9), tool("research", 2, 8, "lead"), agent("expert", 3, 7, "research")
        assert evidence(*spans) == [("lead", "expert", KnownBy.NESTING, Support.INFERRED)]

    @pytest.mark.parametrize(("name", "arguments"), [("ask_expert", "{}"), ("task", '{"subagent_type": "Expert"}')])
    def test_is_confirmed_by_a_tool_that_names_the_callee(self, name: str, arguments: str) -> None:
        spans = agent("lead", 1, 9), tool(name, 2, 8, "lead", arguments), agent("expert", 3, 7, name)
        assert evidence(*spans) == [("lead", "expert", KnownBy.NESTING, Support.CONFIRMED)]

    def test_is_contradicted_by_a_tool_that_names_another_agent(self) -> None:
        asked = tool("task", 2, 8, "lead", '{"subagent_type": "critic"}')
        spans = agent("lead", 1, 20), asked, agent("expert", 3, 7, "task"), agent("critic", 10, 12, "lead")
        assert ("lead", "expert", KnownBy.NESTING, Support.CONTRADICTED) in evidence(*spans)
        assert "1 calls between agents contradict another source in the trace: lead to expert" in warnings(*spans)

    def test_is_contradicted_by_a_callee_that_starts_after_its_caller_has_ended(self) -> None:
        spans = agent("lead", 1, 5), agent("expert", 6, 7, "lead")
        assert evidence(*spans) == [("lead", "expert", KnownBy.NESTING, Support.CONTRADICTED)]


class TestTime:
    def test_alone_infers_a_sequence_and_is_warned_about(self) -> None:
        spans = timed(span("run"), 1, 9), agent("first", 2, 3, "run"), agent("second", 4, 5, "run")
        assert evidence(*spans) == [("first", "second", KnownBy.TIME, Support.INFERRED)]
        assert warnings(*spans) == ["1 of 1 calls between agents are inferred from their times alone"]

    def test_is_contradicted_by_a_handoff_to_somebody_else(self) -> None:
        handed = tool("transfer_to_third", 2, 2, "first")
        spans = timed(span("run"), 1, 9), agent("first", 2, 3, "run"), handed, agent("second", 4, 5, "run")
        assert evidence(*spans) == [("first", "second", KnownBy.TIME, Support.CONTRADICTED)]

    def test_is_contradicted_by_a_tool_of_another_agent_that_runs_all_the_time(self) -> None:
        lead, asked = agent("lead", 1, 9, "run"), tool("research", 2, 8, "lead")
        spans = timed(span("run"), 1, 9), lead, asked, agent("first", 3, 4, "run"), agent("second", 5, 6, "run")
        assert ("first", "second", KnownBy.TIME, Support.CONTRADICTED) in evidence(*spans)


class TestHandoffs:
    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("transfer_to_second", "{}"),
            ("Handoff-transfer_to_second", "{}"),
            ("handoff_to_agent", '{"agent_name": "second"}'),
        ],
    )
    def test_are_known_by_arguments_and_confirmed_by_who_works_next(self, name: str, arguments: str) -> None:
        handed = tool(name, 2, 2, "first", arguments)
        spans = timed(span("run"), 1, 9), agent("first", 2, 3, "run"), handed, agent("second", 4, 5, "run")
        assert evidence(*spans) == [("first", "second", KnownBy.ARGUMENTS, Support.CONFIRMED)]

    def test_without_a_target_go_to_the_agent_that_works_next(self) -> None:
        handed = tool("handoff_to_agent", 2, 2, "first")
        spans = timed(span("run"), 1, 9), agent("first", 2, 3, "run"), handed, agent("second", 4, 5, "run")
        assert evidence(*spans) == [("first", "second", KnownBy.TIME, Support.CONFIRMED)]

    def test_of_agents_inside_another_ones_tool_are_not_delegations_of_that_agent(self) -> None:
        asked, handed = tool("ask", 2, 8, "lead"), tool("transfer_to_second", 4, 4, "first")
        spans = agent("lead", 1, 9), asked, agent("first", 3, 5, "ask"), handed, agent("second", 6, 7, "ask")
        assert {(caller, callee) for caller, callee, _, _ in evidence(*spans)} == {
            ("lead", "first"),
            ("first", "second"),
        }


class TestAgents:
    @pytest.mark.parametrize(("name", "scope"), [("Agent", "app"), ("strands", "strands.telemetry.tracer")])
    def test_named_by_their_library_are_warned_about(self, name: str, scope: str) -> None:
        spans = agent(name, 1, 9), agent("expert", 2, 3, name)
        [trace] = read(as_lines(exported("app", *spans, scope=scope)), format_name="otlp")
        assert f"agents with a name of their library, which may be several: {name}" in trace.warnings

    def test_alone_in_the_traces_of_a_file_are_warned_about(self) -> None:
        spans = [agent(name, 1, 2, trace=name[0] * 32) for name in ("alice", "bob", "carol")]
        assert warnings(*spans)[0] == (
            "3 of the file's 3 traces have one agent each (alice, bob, carol): "
            "if they are one team's, the spans do not tell that they belong together"
        )

    def test_with_a_trace_each_run_of_one_agent_are_not(self) -> None:
        assert not warnings(*[agent("alice", 1, 2, trace=digit * 32) for digit in "abc"])

    def test_of_a_magentic_orchestration_whose_manager_is_not_recorded_are_refused(self) -> None:
        team = "0123456789abcdef" * 2
        asked = {"name": f"agent_runtime create {team}.(default)-T"}
        message = with_attributes(span("asked"), {"messaging.message.type": "MagenticRequestMessage"}) | asked
        spans = exported("app", agent("writer", 1, 2, "asked"), message, scope="agent_runtime InProcessRuntime")
        assert "no span tells the work of MagenticManagerActor" in refusal(as_lines(spans))

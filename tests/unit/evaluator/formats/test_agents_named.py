"""An agent is what its exact name says, one call of several attempts is one, and containers of agents are none."""

from typing import Any

import pytest

from concord_evaluator.formats import Trace
from tests.kit.sources import agents_of, calls_between, evaluated, read
from tests.unit.evaluator.formats.spans import as_lines, exported, invocation, span


def _trace(*spans: dict[str, Any], scope: str = "app") -> Trace:
    [trace] = read(as_lines(exported("app", *spans, scope=scope)))
    return trace


def _with(made: dict[str, Any], start: int = 0, name: str = "", **attributes: str) -> dict[str, Any]:
    made["attributes"] += [
        {"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()
    ]
    made |= {"name": name or made["name"]}
    made |= {"startTimeUnixNano": str(10**18 + start * 10**9), "endTimeUnixNano": str(10**18 + start * 10**9 + 10**8)}
    return made


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("Agent \U0001f7e5", "Agent \U0001f7e6"), ("Critic?", "Critic!"), ("n" * 300, "n" * 299 + "m")],
)
def test_agents_whose_names_differ_in_any_character_are_two(one: str, other: str) -> None:
    trace = _trace(invocation("a", one), invocation("b", other, "a"))
    assert agents_of(trace) == sorted((one, other))
    assert sum(calls_between(trace).values()) == 1


def test_a_name_is_the_same_composed_or_not_and_with_white_space_around_it() -> None:
    trace = _trace(invocation("a", "Zoe\u0308"), invocation("b", " Zo\u00eb ", "a"))
    assert agents_of(trace) == ["Zo\u00eb"]


def test_a_solidus_in_a_name_makes_no_agent_inside_another() -> None:
    assert agents_of(_trace(invocation("a", "sales/eu"), invocation("b", "sales", "a"))) == ["sales", "sales\u2215eu"]


def _node(name: str, node: str, step: int, start: int, *, failed: bool = False) -> list[dict[str, Any]]:
    """A node of a LangGraph graph under OpenInference, and the call of a model in it."""
    metadata = f'{{"langgraph_node": "{node}", "langgraph_step": {step}, "langgraph_checkpoint_ns": "{node}:1"}}'
    work = _with(span(name, "graph"), start, metadata=metadata, openinference__span__kind="CHAIN")
    model = _with(span(f"m{name}", name), start, metadata=metadata, openinference__span__kind="LLM")
    work["status"] = {"code": 2, "message": "TimeoutError: timed out"} if failed else {}
    return [work, model]


def test_the_attempts_of_a_node_are_one_predecessor_of_the_next() -> None:
    graph = _with(span("graph"), 0, openinference__span__kind="CHAIN")
    attempts = [each for n in range(3) for each in _node(f"r{n}", "researcher", 1, n, failed=n < 2)]
    trace = _trace(graph, *attempts, *_node("w", "writer", 2, 5), scope="openinference.instrumentation.langchain")
    assert dict(calls_between(trace)) == {("researcher", "writer"): 1}


def test_containers_of_googles_agents_are_none_under_openinference() -> None:
    scope = "openinference.instrumentation.google_adk"
    agent = {"openinference__span__kind": "AGENT"}
    outer = _with(span("pipe"), 0, "agent_run [pipe]", agent__name="pipe", **agent)
    runs = [
        _with(span(name, "pipe"), start, f"agent_run [{name}]", agent__name=name, **agent)
        for start, name in ((1, "coast"), (3, "merger"))
    ]
    calls = [
        _with(span(f"llm{n}", name), 1 + 2 * n, "call_llm", openinference__span__kind="LLM")
        for n, name in enumerate(("coast", "merger"))
    ]
    assert agents_of(_trace(outer, *runs, *calls, scope=scope)) == ["coast", "merger"]


def test_a_template_for_a_tool_is_filled_with_its_name() -> None:
    run = _with(span("run"), 0, "Agent run: {name!r}")
    tool = _with(span("tool", "run"), 1, "Function: {name}")
    for made, name in ((run, "Booker"), (tool, "book")):
        made["attributes"].append({"key": "name", "value": {"stringValue": name}})
    work = evaluated(_trace(run, tool, scope="logfire.openai_agents")).detail.trials[0].work
    assert work is not None
    [use] = work.uses
    assert (use.agent, use.name) == ("Booker", "book")


def test_a_template_for_a_handoff_is_its_message() -> None:
    facts = {"from_agent": "Triage", "to_agent": "Booker", "logfire__msg": "Handoff: Triage to Booker"}
    first, other = _with(span("run"), 0, "Agent run: {name!r}"), _with(span("other"), 2, "Agent run: {name!r}")
    for made, name in ((first, "Triage"), (other, "Booker")):
        made["attributes"].append({"key": "name", "value": {"stringValue": name}})
    spans = [first, _with(span("h", "run"), 1, "Handoff: {from_agent} to {to_agent}", **facts), other]
    work = evaluated(_trace(*spans, scope="logfire.openai_agents")).detail.trials[0].work
    assert work is not None
    assert [use.name for use in work.uses] == ["Handoff: Triage to Booker"]

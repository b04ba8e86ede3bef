"""MARBLE logs: each record is a trace, and the calls equal independent counts of the messages in the raw text."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.effects import EffectKind, effect_of
from concord_evaluator.formats import Trace
from tests.kit.sources import (
    SAMPLES,
    agents_of,
    calls_between,
    evaluated,
    read,
    read_file,
    refusal,
)

pytestmark = pytest.mark.usefixtures("research_formats")

Message = tuple[str, str, str]


def session(*messages: Message, name: str = "6f1c") -> str:
    """A session as the log has it: a line with its name, and one or more lines per message."""
    lines = "".join(f"From {sender} to {receiver}: {text}\n" for sender, receiver, text in messages)
    return f"In Session {name} \n{lines}"


def record(*iterations: list[str], agents: tuple[str, ...] = ("ann", "bob", "cid"), **more: object) -> dict[str, Any]:
    """A run: the sessions of each iteration, and the agents that were given work in it."""
    return {
        "task": "\n    Dear team,\n    write a plan.\n",
        "coordination_mode": "graph",
        "iterations": [
            {
                "iteration": number,
                "task_assignments": dict.fromkeys(agents, "write a plan"),
                "task_results": [{"agent_id": agents[0], "result": f"Result: {json.dumps({'history': sessions})}"}],
                "summary": "From here to there: all is well.",
                "continue_simulation": True,
                "communications": sessions,
            }
            for number, sessions in enumerate(iterations, 1)
        ],
        "planning_scores": [4],
        "token_usage": 100,
        "agent_kpis": {agents[0]: 1},
        **more,
    }


TALK = [("ann", "bob", "Shall we begin?"), ("bob", "ann", "Yes: from the end\nor the start?"), ("ann", "bob", "Start.")]
ALONE = [("cid", "cid", "Note to self."), ("cid", "cid", "And another.")]
RECORDS = [
    record([session(*TALK), session(*ALONE)], [session(("bob", "cid", "Your turn."))]),
    record([], [session(("ann", "cid", "Hello."), ("cid", "ann", "Hello."))]),
]
LOG = "\n".join(map(json.dumps, RECORDS))


def counted_in(line: str) -> Counter[tuple[str, str]]:
    """Messages by sender and receiver, counted in a raw line of the log: each follows an escaped line break.

    Results quote the sessions again, as JSON within a string. A line break in a quote has more than one backslash.
    """
    return Counter(re.findall(r"(?<!\\)\\nFrom ([^\s\\]+) to ([^\s\\:]+): ", line))


def between_two(messages: Counter[tuple[str, str]]) -> dict[tuple[str, str], int]:
    return {(sender, receiver): n for (sender, receiver), n in messages.items() if sender != receiver}


def messages_to_oneself(trace: Trace) -> int:
    """The number of messages to oneself in the row's warnings."""
    [count] = re.findall(r"(\d+) calls of agents to themselves", " ".join(evaluated(trace).detail.warnings)) or ["0"]
    return int(count)


def assert_equal_to_the_log(line: str, trace: Trace) -> None:
    messages = counted_in(line)
    assert calls_between(trace) == between_two(messages)
    assert messages_to_oneself(trace) == sum(messages.values()) - sum(between_two(messages).values())


@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_the_calls_between_agents_are_the_messages_in_the_log(number: int) -> None:
    line = LOG.splitlines()[number]
    assert sum(counted_in(line).values()) == [6, 2][number]
    assert_equal_to_the_log(line, read(LOG, "runs.jsonl")[number])


@given(
    st.lists(
        st.lists(
            st.lists(
                st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.text(alphabet="xy: \n", max_size=8)),
                min_size=1,
                max_size=5,
            ),
            max_size=3,
        ),
        max_size=3,
    )
)
def test_the_calls_between_agents_are_the_messages_in_any_log(iterations: list[list[list[Message]]]) -> None:
    line = json.dumps(record(*([session(*messages) for messages in sessions] for sessions in iterations)))
    [trace] = read(line, "runs.jsonl")
    assert_equal_to_the_log(line, trace)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="CONCORD_TRACE_SAMPLES names no folder")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("marble/*.jsonl")), ids=lambda path: path.name)
def test_the_calls_between_agents_are_the_messages_in_the_public_log(path: Path) -> None:
    lines = path.read_text().splitlines()
    traces = read_file(path)
    assert len(traces) == len(lines) == 2
    for line, trace in zip(lines, traces, strict=True):
        assert sum(counted_in(line).values()) > 0
        assert_equal_to_the_log(line, trace)


def test_every_record_is_a_trace_named_by_file_and_line() -> None:
    traces = read(LOG, "runs/research.jsonl")
    assert [(trace.trace_id, trace.origin.line) for trace in traces] == [("research#1", 1), ("research#2", 2)]
    assert traces[0].task == "Dear team,\n    write a plan."


def test_every_agent_that_was_given_work_is_in_the_team() -> None:
    [trace] = read(json.dumps(record([session(*TALK)])), "runs.jsonl")
    assert agents_of(trace) == ["ann", "bob", "cid"]
    assert evaluated(trace).detail.graph_metrics.isolated_agents == ["cid"]


def test_the_texts_and_the_order_of_messages_are_kept() -> None:
    steps = sorted((report.step for report in read(LOG)[0].reports()), key=lambda step: step.step_id)
    texts = [step.agent_call.requests["text"] for step in steps if step.agent_call and step.agent_call.requests]
    assert texts == [text for _, _, text in (*TALK, *ALONE, ("bob", "cid", "Your turn."))]
    messages = [step for step in steps if step.agent_call]
    assert [step.additional_attributes["iteration"] for step in messages] == ["1"] * 5 + ["2"]
    assert {step.additional_attributes["session"] for step in messages} == {"6f1c"}


def results(*task_results: dict[str, Any], **more: object) -> dict[str, Any]:
    """A run of one iteration without messages, with these results; `more` replaces fields of the iteration."""
    run = record([])
    run["iterations"][0] |= {"task_results": list(task_results), **more}
    return run


def work_of(trace: Trace) -> list[tuple[str, str, str]]:
    """The agents' own work in the order of its steps: agent, kind and iteration."""
    steps = sorted(trace.reports(), key=lambda report: report.step.step_id)
    return [
        (report.reporter, str(report.step.kind), report.step.additional_attributes["iteration"])
        for report in steps
        if report.step.agent_call is None
    ]


def silent_in(trace: Trace) -> list[str]:
    return [agent for finding in evaluated(trace).detail.findings if finding.id == "silent" for agent in finding.agents]


@pytest.mark.parametrize(
    "run",
    [
        results({"agent_id": "bob", "result": "A plan."}, {"agent_id": "ann", "result": {"code": "x = 1"}}),
        results({"bob": "A plan."}, {"ann": ["a", "list"]}),
        results({"bob": "A plan.", "ann": "Another."}),
        results(
            {"agent_id": "bob", "result": "A plan."},
            {"agent_id": "ann", "result": "Another."},
            task_assignments=[{"ann": "plan"}, {"cid": "check"}],
            communications=None,
        ),
    ],
    ids=["first iteration", "later iterations", "in one", "tree"],
)
def test_a_result_is_work_of_the_agent_that_it_names(run: dict[str, Any]) -> None:
    [trace] = read(json.dumps(run), "runs.jsonl")
    assert work_of(trace) == [("bob", "HOST", "1"), ("ann", "HOST", "1")]
    assert (agents_of(trace), silent_in(trace)) == (["ann", "bob", "cid"], ["cid"])


def test_a_chain_has_one_agents_result_for_each_iteration() -> None:
    links = [
        {"chain_length": number, "current_agent": agent, "result": "done", "task_assignments": {agent: "go on"},
         "communications": talk}
        for number, (agent, talk) in enumerate([("ann", session(("ann", "bob", "Yours."))), ("bob", None)], 1)
    ]  # fmt: skip
    [trace] = read(json.dumps(record() | {"coordination_mode": "chain", "iterations": links}), "runs.jsonl")
    assert work_of(trace) == [("ann", "HOST", "1"), ("bob", "HOST", "2")]
    assert (calls_between(trace), silent_in(trace)) == ({("ann", "bob"): 1}, [])


def test_work_comes_after_the_messages_of_its_iteration() -> None:
    [trace] = read(json.dumps(record([session(*TALK)], [session(*TALK)])), "runs.jsonl")
    steps = sorted((report.step for report in trace.reports()), key=lambda step: step.step_id)
    assert [step.agent_call is None for step in steps] == [False, False, False, True] * 2


@pytest.mark.parametrize("nothing", [None, "", " \n"])
def test_an_empty_result_is_no_work(nothing: str | None) -> None:
    [trace] = read(json.dumps(results({"agent_id": "bob", "result": nothing}, {"ann": nothing}, {"cid": "x"})))
    assert (work_of(trace), silent_in(trace)) == ([("cid", "HOST", "1")], ["ann", "bob"])


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="CONCORD_TRACE_SAMPLES names no folder")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("marble/*.jsonl")), ids=lambda path: path.name)
def test_no_agent_with_a_result_is_silent_in_the_public_log(path: Path) -> None:
    for line, trace in zip(path.read_text().splitlines(), read_file(path), strict=True):
        named = re.findall(r'"agent_id": "(\w+)", "result": "Result|{"(\w+)": "Result', line)
        delivered = {agent for either in named for agent in either if agent}
        assert delivered
        assert delivered.isdisjoint(silent_in(trace))


def test_the_row_warns_of_inferences() -> None:
    warnings = " ".join(evaluated(read(LOG)[1]).detail.warnings)
    for inferred in ("no trace ids", "every message counts as a call", "no times"):
        assert inferred in warnings


def test_unknown_fields_of_a_record_are_ignored() -> None:
    plain = read(json.dumps(RECORDS[0]))[0]
    [more] = read(json.dumps(RECORDS[0] | {"task_evaluation": {"safety": 3}, "new": ["From x to y: z"]}))
    assert evaluated(plain) == evaluated(more)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (record(["In Session 1 \nnothing was said"]),
         "iterations[0].communications[0]: no message of the form `From A to B: …`"),
        (record([session(*TALK), 5]), "iterations[0].communications[1]: Input should be a valid string"),  # type: ignore[list-item]
        ({"task": "x"}, "iterations: Field required"),
        (record([session(("a" * 1001, "b", "x"))]), "id: String should have at most 1000 characters"),
        ([1], "Input should be a valid dictionary or instance of _Run"),
    ],
)  # fmt: skip
def test_an_invalid_record_is_refused_with_its_line(run: object, reason: str) -> None:
    broken = "\n".join([json.dumps(RECORDS[0]), json.dumps(run if isinstance(run, dict) else 1)])
    assert refusal(broken, "marble", "runs.jsonl") == f"runs.jsonl:2: {reason}"


def test_a_result_is_a_finished_piece_of_work_with_its_digest() -> None:
    [trace] = read(json.dumps(results({"bob": "A plan."}, {"ann": ["a", "list"]})))
    found = [effect_of(report.step.additional_attributes) for report in trace.reports()]
    finished = [effect for effect in found if effect is not None]
    assert {(each.kind, each.excerpt) for each in finished} == {
        (EffectKind.FINISHED, "A plan."),
        (EffectKind.FINISHED, "a\nlist"),
    }
    assert len({each.digest for each in finished}) == 2

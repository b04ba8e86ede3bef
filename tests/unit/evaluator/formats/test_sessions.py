"""Sessions and trajectories of agents: who asked whom, what was said, tokens once, and references among given files."""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from concord_evaluator.formats import Folder, Trace, folder_formats, read_folder, recognise
from tests.kit.sources import agents_of, calls_between, evaluated, read, refusal, source

Json = dict[str, Any]


def lines(entries: list[Json]) -> str:
    return "\n".join(map(json.dumps, entries))


def in_folder(files: Mapping[str, str]) -> list[Trace]:
    given = Folder("run", frozenset(files), lambda name: BytesIO(files[name].encode()))
    assert len(folder_formats(given.files)) == 1
    return list(read_folder(given))


def claude(role: str, content: Any, number: int = 0, **more: Any) -> Json:  # noqa: ANN401 - any JSON
    message = {"role": role, "content": content, **more.pop("message", {})}
    place = {"uuid": f"{role}{number}", "parentUuid": None, "sessionId": "s", "isSidechain": "agentId" in more}
    return {"type": role, **place, "timestamp": f"2026-02-03T09:00:{number:02}Z", "message": message, **more}


def asking(tool: str) -> list[Json]:
    return [{"type": "tool_use", "id": "t", "name": tool, "input": {"subagent_type": "tides", "prompt": "High?"}}]


def answered(**more: Any) -> Json:  # noqa: ANN401 - any JSON
    return claude("user", [{"type": "tool_result", "tool_use_id": "t", "content": "16:20"}], 6, **more)


def used(tokens_in: int, tokens_out: int, number: str) -> Json:
    return {"id": number, "model": "m", "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out}}


MAIN = [
    claude("user", "When may we sail?", 1),
    claude("assistant", [{"type": "text", "text": "I ask."}], 2, message=used(10, 4, "m1")),
    claude("assistant", asking("Agent"), 2, message=used(10, 4, "m1")),
    answered(toolUseResult={"agentId": "x"}),
    claude("assistant", [{"type": "text", "text": "At 16:20."}], 7, message=used(20, 5, "m2")),
]
TIDES = [
    claude("user", "High?", 3, agentId="x"),
    claude("assistant", [{"type": "text", "text": "16:20"}], 5, agentId="x", message=used(3, 1, "m3")),
]


def test_a_subagent_in_the_same_file_of_claude_code_was_asked_by_the_tool_that_started_it() -> None:
    [trace] = read(lines([*MAIN[:3], *TIDES, *MAIN[3:]]))
    assert calls_between(trace) == {("main", "tides"): 1}
    assert (trace.task, trace.answer) == ("When may we sail?", "At 16:20.")


def test_a_folder_of_claude_code_has_the_subagents_below_the_session() -> None:
    [trace] = in_folder(
        {
            "s.jsonl": lines(MAIN),
            "s/subagents/agent-x.jsonl": lines(TIDES),
            "s/subagents/agent-x.meta.json": json.dumps({"agentType": "moon", "toolUseId": "t"}),
        }
    )
    assert calls_between(trace) == {("main", "moon"): 1}
    assert trace.answer == "At 16:20."


def test_the_usage_that_claude_code_repeats_for_a_message_counts_once() -> None:
    [trace] = read(lines(MAIN))
    assert evaluated(trace).detail.trials[0].steps.tool == 3  # two calls of the model, one tool
    assert sum(int(step.total_tokens or 0) for step in steps_of(trace)) == 39


def steps_of(trace: Trace) -> list[Any]:
    return [report.step for report in trace.reports()]


def test_a_subagent_without_a_known_call_stands_below_the_main_agent() -> None:
    [trace] = in_folder({"s.jsonl": lines(MAIN[:1]), "agent-x.jsonl": lines(TIDES)})
    assert agents_of(trace) == ["main", "x"]


def codex(kind: str, payload: Json, second: int = 0) -> Json:
    return {"timestamp": f"2026-02-03T09:00:{second:02}.000Z", "type": kind, "payload": payload}


def rollout(name: str, items: list[Json], **origin: Any) -> str:  # noqa: ANN401 - any JSON
    return lines([codex("session_meta", {"id": name, "cli_version": "1", **origin}), *items])


CODEX = [
    codex("response_item", {"type": "message", "role": "user", "content": [{"text": "<environment_context>"}]}, 1),
    codex("response_item", {"type": "message", "role": "user", "content": [{"text": "Fix the lamp"}]}, 1),
    codex("response_item", {"type": "function_call", "name": "spawn_agent", "call_id": "c", "arguments": "{}"}, 2),
    codex("response_item", {"type": "function_call_output", "call_id": "c", "output": '{"agent_id":"two"}'}, 8),
    codex(
        "event_msg", {"type": "token_count", "info": {"last_token_usage": {"input_tokens": 7, "output_tokens": 2}}}, 8
    ),
    codex("response_item", {"type": "message", "role": "assistant", "content": [{"text": "Done"}]}, 9),
]


def test_a_session_of_codex_is_one_agent_with_its_tools() -> None:
    [trace] = read(rollout("one", CODEX))
    assert agents_of(trace) == ["codex"]
    assert (trace.task, trace.answer) == ("Fix the lamp", "Done")


def test_a_folder_of_codex_joins_a_spawned_session_to_its_parent() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "one", "agent_role": "fitter"}}}
    below = [codex("response_item", {"type": "message", "role": "assistant", "content": [{"text": "lit"}]}, 5)]
    [trace] = in_folder(
        {"rollout-a.jsonl": rollout("one", CODEX), "rollout-b.jsonl": rollout("two", below, source=spawned)}
    )
    assert calls_between(trace) == {("codex", "fitter"): 1}


def trajectory(name: str, steps: list[Json], **more: Any) -> Json:  # noqa: ANN401 - any JSON
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": name,
        "agent": {"name": name, "version": "1"},
        "steps": steps,
        **more,
    }


def delegating(reference: Json) -> list[Json]:
    result = {"source_call_id": "c", "content": "done", "subagent_trajectory_ref": [reference]}
    call = {"tool_call_id": "c", "function_name": "ask", "arguments": {}}
    return [
        {"step_id": 1, "source": "user", "message": "Light the lamp"},
        {"step_id": 2, "source": "agent", "message": "", "tool_calls": [call], "observation": {"results": [result]}},
        {"step_id": 3, "source": "agent", "message": "It burns"},
    ]


WORK = [{"step_id": 1, "source": "user", "message": "light"}, {"step_id": 2, "source": "agent", "message": "done"}]


def test_a_trajectory_finds_its_subagents_by_id_session_and_path() -> None:
    inside = trajectory("keeper", delegating({"trajectory_id": "t"}))
    inside["subagent_trajectories"] = [trajectory("fitter", WORK, trajectory_id="t")]
    by_session = {"trajectory.json": trajectory("keeper", delegating({"session_id": "fitter"}))}
    by_path = {"trajectory.json": trajectory("keeper", delegating({"trajectory_path": "trajectory.2.json"}))}
    other = {"trajectory.2.json": trajectory("fitter", WORK)}
    found = [read(json.dumps(inside))[0]]
    found += [in_folder({k: json.dumps(v) for k, v in (files | other).items()})[0] for files in (by_session, by_path)]
    for trace in found:
        assert calls_between(trace) == {("keeper", "fitter"): 1}
        assert (trace.task, trace.answer) == ("Light the lamp", "It burns")


def test_a_reference_out_of_the_given_files_is_a_warning() -> None:
    for path in ("../trajectory.2.json", "https://example.org/t.json", "/etc/hosts"):
        [trace] = read(json.dumps(trajectory("keeper", delegating({"trajectory_path": path}))))
        assert agents_of(trace) == ["keeper"]
        assert "the trajectory of a sub-agent is not among the given files" in trace.warnings


def adk(author: str, parts: list[Json], second: int) -> Json:
    return {"author": author, "invocationId": "i", "timestamp": 1_770_000_000.0 + second, "content": {"parts": parts}}


def test_agents_of_a_session_of_adk_hand_over() -> None:
    handing = {"functionCall": {"id": "c", "name": "transfer_to_agent", "args": {"agent_name": "clerk"}}}
    events = [
        adk("user", [{"text": "A room?"}], 0),
        adk("desk", [handing], 1),
        adk("desk", [{"functionResponse": {"id": "c", "name": "transfer_to_agent", "response": {}}}], 2),
        adk("clerk", [{"text": "Room 4."}], 3),
    ]
    [trace] = read(json.dumps({"id": "s", "appName": "a", "userId": "u", "events": events}))
    assert calls_between(trace) == {("desk", "clerk"): 1}
    assert trace.task == "A room?"


def test_results_of_tau2_have_their_reward_and_a_user_with_tools_is_an_agent() -> None:
    def message(role: str, number: int, **more: Any) -> Json:  # noqa: ANN401 - any JSON
        return {"role": role, "timestamp": f"2026-02-03T09:00:0{number}", **more}

    call = [{"id": "c", "name": "restart", "arguments": {}}]
    passive = [message("user", 1, content="Help"), message("assistant", 2, content="Restart it")]
    acting = [*passive, message("user", 3, tool_calls=call), message("tool", 4, id="c", content="on", requestor="user")]
    runs = [{"id": f"r{n}", "task_id": "t", "messages": said, "reward_info": {"reward": n}} for n, said in
            enumerate((passive, acting))]  # fmt: skip
    alone, both = read(json.dumps({"info": {}, "tasks": [], "simulations": runs}))
    assert (agents_of(alone), alone.task_success, alone.task) == (["assistant"], 0.0, "Help")
    assert (agents_of(both), both.task_success) == (["assistant", "user"], 1.0)


def inspected(**sample: Any) -> Json:  # noqa: ANN401 - any JSON
    messages = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]
    return {"id": 1, "epoch": 1, "messages": messages, "scores": {"exact": {"value": "C"}}, **sample}


def zipped(sample: Json) -> bytes:
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", "{}")
        log.writestr("samples/1_epoch_1.json", json.dumps(sample))
    return whole.getvalue()


def test_a_log_of_inspect_is_read_alike_as_a_zip_and_as_json() -> None:
    log = json.dumps({"version": 2, "status": "success", "eval": {}, "samples": [inspected()]})
    for trace in (*read(log), *read(zipped(inspected()), "log.eval")):
        assert (agents_of(trace), trace.task, trace.answer, trace.task_success) == (["agent"], "2 + 2?", "4", 1.0)


def test_spans_of_agents_in_a_log_of_inspect_are_agents() -> None:
    def event(kind: str, second: int, **more: Any) -> Json:  # noqa: ANN401 - any JSON
        return {"event": kind, "timestamp": f"2026-02-03T09:00:0{second}+00:00", **more}

    events = [
        event("span_begin", 1, id="a", parent_id=None, type="agent", name="lead", span_id="a"),
        event("tool", 2, function="ask", arguments={}, result="4", span_id="a", completed="2026-02-03T09:00:05+00:00"),
        event("span_begin", 2, id="b", parent_id="a", type="agent", name="adder", span_id="b"),
        event("span_end", 4, id="b"),
        event("span_end", 6, id="a"),
    ]
    [trace] = read(zipped(inspected(events=events)), "log.eval")
    assert calls_between(trace) == {("lead", "adder"): 1}


def test_a_damaged_zip_is_refused_with_another_export() -> None:
    assert "write it with `inspect log convert --to json`" in refusal(zipped(inspected())[:90], name="log.eval")


def test_each_form_is_recognised() -> None:
    assert recognise(source(lines(MAIN))) == "claude-code"
    assert recognise(source(rollout("one", CODEX))) == "codex"

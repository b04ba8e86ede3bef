"""Recordings of agent runs as JSON documents: ATIF's trajectories, ADK's sessions, and results of tau2.

Sources of the forms: Harbor's "Agent Trajectory Interchange Format", versions 1.6 and 1.7; google-adk, `Session`;
github.com/sierra-research/tau2-bench, `SimulationRun`.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pydantic import JsonValue

from concord.trace.otlp.content.messages import text_of, written
from concord_evaluator.formats.format import Folder, FolderFormat, TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Trace, file_trace_id
from concord_evaluator.formats.trace_stores import listed, nanoseconds, parsed
from concord_evaluator.formats.transcripts import Transcript, Turn, Use, runs_of, traces_in

_Object = dict[str, JsonValue]

_SECOND: Final = 1_000_000_000
_UNRESOLVED: Final = "the trajectory of a sub-agent is not among the given files"


def _object(value: JsonValue) -> _Object:
    return value if isinstance(value, dict) else {}


def _objects(value: JsonValue, *keys: str) -> list[_Object]:
    """The objects in the list under the first of these keys that has one."""
    found = next((each for key in keys if (each := listed(value, key)) is not None), [])
    return [each for each in found if isinstance(each, dict)]


def _is_atif(head: Head) -> bool:
    return str(head.first.get("schema_version", "")).startswith("ATIF-")


def _read_atif(source: Source) -> Iterator[Trace]:
    for number, line, value in source.json_records():
        with source.record(line):
            yield from _of_trajectories({"": _trajectory(value)}, file_trace_id(source.name, number), source, line)


def _read_atif_folder(folder: Folder) -> Iterator[Trace]:
    """The trajectories of a folder, each that no other one refers to with those that it refers to."""
    files: dict[str, _Object] = {}
    named = sorted(file for file in folder.files if _is_trajectory(file))
    for file in named:
        with folder.source(file) as source, source.errors_at(1):
            files[file] = _trajectory(next((value for _, value in source.json_values()), None))
    with folder.source(named[0]) as source:
        yield from _of_trajectories(files, source.stem, source, 1)


def _is_trajectory(file: str) -> bool:
    return file.endswith(".json") and posixpath.basename(file).startswith("trajectory")


def _trajectory(value: JsonValue) -> _Object:
    if not isinstance(value, dict) or not isinstance(value.get("agent"), dict) or listed(value, "steps") is None:
        raise ValueError("not a trajectory of ATIF: `agent` and `steps` are needed")
    return value


def _of_trajectories(files: Mapping[str, _Object], name: str, source: Source, line: int) -> Iterator[Trace]:
    """The trace of trajectories, by file, with those inside them."""
    given: dict[str, _Object] = {}
    pending = list(files.items())
    while pending:
        place, each = pending.pop(0)
        given[place] = each
        pending += [(f"{place}#{n}", inner) for n, inner in enumerate(_objects(each, "subagent_trajectories"))]
    transcripts = {place: _of_steps(place, each) for place, each in given.items()}
    lost = False
    for place, each in given.items():
        for step in _objects(each, "steps"):
            for result in _objects(step.get("observation"), "results"):
                for reference in _objects(result, "subagent_trajectory_ref"):
                    target = _resolved(reference, given, place)
                    if target is None:
                        lost = True
                    elif not transcripts[target].asked_by:
                        transcripts[target].asked_by = f"{place}/{result.get('source_call_id')}"
    first = next(iter(given.values()))
    trace_id = str(first.get("session_id") or name)
    return traces_in(trace_id, list(transcripts.values()), source, line, [_UNRESOLVED] if lost else [])


def _resolved(reference: _Object, given: Mapping[str, _Object], place: str) -> str | None:
    """Where a reference leads, by the trajectory's id, its path beside the referring file, or its session."""
    others = {where: each for where, each in given.items() if where != place}
    if (named := reference.get("trajectory_id")) is not None:
        return next((where for where, each in others.items() if each.get("trajectory_id") == named), None)
    if isinstance(path := reference.get("trajectory_path"), str):
        file = posixpath.normpath(posixpath.join(posixpath.dirname(place.partition("#")[0]), path))
        return file if file in others else None
    session = reference.get("session_id")
    return next((where for where, each in others.items() if session and each.get("session_id") == session), None)


def _of_steps(place: str, trajectory: _Object) -> Transcript:
    agent = _object(trajectory["agent"])
    found = Transcript(str(agent.get("name") or "agent"))
    for step in _objects(trajectory, "steps"):
        if step.get("source") not in {"user", "agent"}:
            continue
        at, metrics = nanoseconds(step.get("timestamp")), _object(step.get("metrics"))
        turn = Turn("user" if step["source"] == "user" else "assistant", text_of(step.get("message")), at)
        if turn.role == "assistant":
            turn.model = str(step.get("model_name") or agent.get("model_name") or "")
            turn.tokens = _tokens(metrics, "prompt_tokens", "completion_tokens")
        results = {each.get("source_call_id"): each for each in _objects(step.get("observation"), "results")}
        for call in _objects(step, "tool_calls"):
            number = call.get("tool_call_id")
            result = text_of(results.get(number, {}).get("content"))
            name = str(call.get("function_name"))
            turn.uses.append(Use(f"{place}/{number}", name, call.get("arguments"), at, result, at))
        found.turns.append(turn)
    return found


def _tokens(usage: _Object, asked: str, answered: str) -> tuple[int, int] | None:
    counts = usage.get(asked), usage.get(answered)
    if not any(isinstance(count, int) for count in counts):
        return None
    return counts[0] if isinstance(counts[0], int) else 0, counts[1] if isinstance(counts[1], int) else 0


def _is_adk(head: Head) -> bool:
    event = head.listed("events")
    return "author" in event and not {"invocationId", "invocation_id"}.isdisjoint(event)


def _read_adk(source: Source) -> Iterator[Trace]:
    for number, line, value in source.json_records():
        with source.record(line):
            events = _objects(value, "events")
            if not events:
                raise ValueError("no `events`; expected a session of ADK (`id`, `events` with `author` and `content`)")
            name = str(_object(value).get("id") or file_trace_id(source.name, number))
            yield from traces_in(name, runs_of(_of_events(events)), source, line)


def _of_events(events: Sequence[_Object]) -> Iterator[tuple[str, Turn]]:
    uses: dict[str, Use] = {}
    for number, event in enumerate(events):
        if event.get("partial") is True:
            continue
        author, at = str(event.get("author") or ""), nanoseconds(event.get("timestamp"), _SECOND)
        turn = Turn("user" if author == "user" else "assistant", at=at)
        usage = _object(event.get("usageMetadata", event.get("usage_metadata")))
        turn.tokens = _tokens(usage, "promptTokenCount", "candidatesTokenCount") or _tokens(
            usage, "prompt_token_count", "candidates_token_count"
        )
        texts: list[str] = []
        for place, part in enumerate(_objects(event.get("content"), "parts")):
            call = _object(part.get("functionCall", part.get("function_call")))
            answer = _object(part.get("functionResponse", part.get("function_response")))
            if call:
                use = Use(f"{number}/{place}", str(call.get("name")), call.get("args"), at)
                uses[str(call.get("id") or call.get("name"))] = use
                turn.uses.append(use)
            elif answer and (asked := uses.get(str(answer.get("id") or answer.get("name")))) is not None:
                told = answer.get("response")
                asked.result, asked.ended = told if isinstance(told, str) else written(told), at
                asked.failed = isinstance(told, dict) and told.get("error") is not None
            elif isinstance(text := part.get("text"), str) and part.get("thought") is not True:
                texts.append(text)
        turn.text = "\n".join(texts)
        if turn.text or turn.uses or turn.tokens:
            yield ("" if author == "user" else author), turn


def _is_tau2(head: Head) -> bool:
    return "simulations" in head.json_keys or head.json_keys >= {"task_id", "messages", "reward_info"}


def _read_tau2(source: Source) -> Iterator[Trace]:
    for number, line, value in source.json_records():
        runs: list[JsonValue] = []
        with source.record(line):
            found = listed(value, "simulations")
            runs = [value] if found is None else found
        for place, run in enumerate(runs, 1):
            with source.record(line):
                messages = _objects(run, "messages")
                if not messages:
                    raise ValueError(
                        "no `messages`; expected results of tau2 (`simulations` with `task_id`, `messages`)"
                    )
                name = str(_object(run).get("id") or file_trace_id(source.name, number * place))
                reward = _object(_object(run).get("reward_info")).get("reward")
                for trace in traces_in(name, runs_of(_of_messages(messages)), source, line):
                    graded = isinstance(reward, int | float) and 0 <= reward <= 1
                    yield replace(trace, task_success=float(reward)) if graded else trace  # type: ignore[arg-type]


def _of_messages(messages: Sequence[_Object]) -> Iterator[tuple[str, Turn]]:
    """The turns. The simulated user is an agent where it has tools of its own."""
    acting = any(each.get("requestor") == "user" for each in messages)
    uses: dict[str, Use] = {}
    for number, message in enumerate(messages):
        role, at = str(message.get("role")), nanoseconds(message.get("timestamp"))
        if role == "tool":
            if (use := uses.get(str(message.get("id")))) is not None:
                use.result, use.ended, use.failed = text_of(message.get("content")), at, message.get("error") is True
            continue
        if role not in {"user", "assistant"}:
            continue
        turn = Turn("assistant" if acting else role, text_of(message.get("content")), at)
        turn.tokens = _tokens(_object(message.get("usage")), "prompt_tokens", "completion_tokens")
        for call in _objects(message, "tool_calls"):
            use = Use(f"{number}/{call.get('id')}", str(call.get("name")), parsed(call.get("arguments")), at)
            uses[str(call.get("id"))] = use
            turn.uses.append(use)
        yield (role if acting or role == "assistant" else ""), turn


ATIF: Final = TraceFormat(
    _is_atif,
    _read_atif,
    FolderFormat(lambda files: sum(map(_is_trajectory, files)) > 1 and "trajectory.json" in files, _read_atif_folder),
)
ADK: Final = TraceFormat(_is_adk, _read_adk)
TAU2: Final = TraceFormat(_is_tau2, _read_tau2)

"""Sessions of coding agents, Claude Code's and Codex's, as they lie on the disk. A folder has all agents of a run.

Sources of the forms: Claude Code 2.1 (`~/.claude/projects`), whose sub-agents lie in the same file, beside it, or in
`SESSION/subagents`; github.com/openai/codex, `codex-rs/protocol`, `RolloutItem`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from pydantic import JsonValue

from concord.trace.otlp.content.messages import text_of, written
from concord_evaluator.formats.format import Folder, FolderFormat, TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Trace
from concord_evaluator.formats.trace_stores import nanoseconds, parsed
from concord_evaluator.formats.transcripts import Transcript, Turn, Use, traces_in

MAIN: Final = "main"
"""The agent that the user asks, as Claude Code calls it."""

CODEX: Final = "codex"
_SUBAGENT: Final = re.compile(r"(?:[^/]+/subagents/)?agent-([^/]+)\.jsonl")
_ROLLOUT: Final = re.compile(r"rollout-[^/]+\.jsonl")
_CONTEXT: Final = ("<environment_context>", "<user_instructions>", "# AGENTS.md")
"""How texts begin that Codex writes in the user's name."""


@dataclass(slots=True)
class _Session:
    """The transcripts of a session by agent, "" for the first, and what tells how they are connected.

    `started`: by agent, the use of a tool that started it. `kinds`: by agent, what its files say that it is.
    """

    agents: dict[str, Transcript] = field(default_factory=dict)
    uses: dict[str, Use] = field(default_factory=dict)
    messages: dict[str, Turn] = field(default_factory=dict)
    started: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def transcripts(self) -> list[Transcript]:
        """The transcripts, each with its name and with the use that started it."""
        for agent, each in self.agents.items():
            if agent:
                use = self.uses.get(self.started.get(agent, "")) or self._prompted(each)
                each.asked_by = use.key if use else "?"
                named = use.arguments.get("subagent_type") if use and isinstance(use.arguments, dict) else None
                each.agent = self.kinds.get(agent) or str(named or agent)
        return [self.agents[agent] for agent in sorted(self.agents)]

    def _prompted(self, each: Transcript) -> Use | None:
        """The use of a tool whose prompt is what an agent was asked."""
        asked = next((turn.text for turn in each.turns if turn.role == "user"), "")
        prompts = (use for use in self.uses.values() if isinstance(use.arguments, dict))
        return next((use for use in prompts if asked and use.arguments.get("prompt") == asked), None)  # type: ignore[union-attr]

    def take_claude(self, entry: Mapping[str, JsonValue], agent: str) -> None:
        """Adds an entry of Claude Code. One message may take several, each with the usage of the whole."""
        message, role = entry.get("message"), entry.get("type")
        if role not in {"user", "assistant"} or not isinstance(message, dict) or entry.get("isMeta") is True:
            return
        transcript = self.agents.setdefault(agent, Transcript(agent or MAIN))
        at = nanoseconds(entry.get("timestamp"))
        content = message.get("content")
        blocks: list[JsonValue] = content if isinstance(content, list) else [{"type": "text", "text": content}]
        turn = self.messages.get(str(message.get("id") or ""))
        if turn is None or role == "user":
            turn = Turn(str(role), at=at)
        for block in blocks:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text":
                turn.text = "\n".join(filter(None, (turn.text, text_of(block))))
            elif block.get("type") == "tool_use":
                use = Use(str(block.get("id")), str(block.get("name")), block.get("input"), at)
                self.uses[use.key] = use
                turn.uses.append(use)
            elif block.get("type") == "tool_result":
                self._answer(str(block.get("tool_use_id")), block.get("content"), at, block.get("is_error") is True)
                told = entry.get("toolUseResult")
                if isinstance(told, dict) and isinstance(started := told.get("agentId"), str):
                    self.started[started] = str(block.get("tool_use_id"))
        if role == "assistant":
            turn.model = str(message.get("model") or "")
            turn.tokens = _tokens(message.get("usage")) or turn.tokens
            if isinstance(number := message.get("id"), str):
                self.messages[number] = turn
        if (turn.text or turn.uses or turn.tokens) and not any(turn is each for each in transcript.turns[-1:]):
            transcript.turns.append(turn)

    def _answer(self, key: str, content: JsonValue, at: int, failed: bool) -> None:
        if (use := self.uses.get(key)) is not None:
            use.result, use.ended, use.failed = text_of(content), at, failed

    def take_codex(self, entry: Mapping[str, JsonValue]) -> None:
        """Adds an item of Codex's rollout, which has one agent."""
        kind, item = entry.get("type"), entry.get("payload")
        if not isinstance(item, dict):
            return
        transcript = self.agents.setdefault("", Transcript(CODEX))
        turns, at = transcript.turns, nanoseconds(entry.get("timestamp"))
        what = item.get("type")
        if kind == "turn_context":
            self.kinds["model"] = str(item.get("model") or "")
        elif kind == "event_msg" and what == "token_count":
            info = item.get("info")
            if turns and isinstance(info, dict) and (tokens := _tokens(info.get("last_token_usage"))):
                before = turns[-1].tokens or (0, 0)
                turns[-1].tokens = before[0] + tokens[0], before[1] + tokens[1]
        elif what == "message" and item.get("role") in {"user", "assistant"}:
            text = text_of(item.get("content"))
            if not text.startswith(_CONTEXT):
                model = self.kinds.get("model", "") if item["role"] == "assistant" else ""
                turns.append(Turn(str(item["role"]), text, at, model=model))
        elif what in {"function_call", "custom_tool_call"}:
            arguments = item.get("arguments", item.get("input"))
            use = Use(str(item.get("call_id")), str(item.get("name")), parsed(arguments), at)
            self.uses[use.key] = use
            turns.append(Turn("assistant", "", at, [use], self.kinds.get("model", "")))
        elif what in {"function_call_output", "custom_tool_call_output"}:
            told = parsed(item.get("output"))
            failed = isinstance(told, dict) and (told.get("success") is False or _exit_code(told) != 0)
            self._answer(str(item.get("call_id")), told if isinstance(told, str) else written(told), at, failed)


def _exit_code(told: Mapping[str, JsonValue]) -> JsonValue:
    facts = told.get("metadata")
    return facts.get("exit_code", 0) if isinstance(facts, dict) else 0


def _tokens(usage: JsonValue) -> tuple[int, int] | None:
    """The tokens in and out; those that a cache has are read as well."""
    if not isinstance(usage, dict):
        return None
    counts = {name: count for name, count in usage.items() if isinstance(count, int)}
    cached = counts.get("cache_read_input_tokens", 0) + counts.get("cache_creation_input_tokens", 0)
    return counts.get("input_tokens", 0) + cached, counts.get("output_tokens", 0)


def _objects(source: Source) -> Iterator[tuple[int, Mapping[str, JsonValue]]]:
    for line, value in source.json_values():
        with source.record(line):
            if not isinstance(value, dict):
                raise ValueError("not an object")
            yield line, value


def _is_claude(head: Head) -> bool:
    return "type" in head.json_keys and b'"sessionId"' in head.data and b'"parentUuid"' in head.data


def _read_claude(source: Source) -> Iterator[Trace]:
    sessions: defaultdict[str, _Session] = defaultdict(_Session)
    _take_claude(sessions, source, "")
    return _traces(sessions, source)


def _take_claude(sessions: dict[str, _Session], source: Source, agent: str) -> None:
    for line, entry in _objects(source):
        with source.record(line):
            if isinstance(session := entry.get("sessionId"), str):
                beside = entry.get("agentId") if entry.get("isSidechain") is True else None
                sessions[session].take_claude(entry, agent or str(beside or ""))


def _read_claude_folder(folder: Folder) -> Iterator[Trace]:
    """The sessions of a folder, each with the sub-agents that lie below it or beside it."""
    sessions: defaultdict[str, _Session] = defaultdict(_Session)
    files = sorted(file for file in folder.files if file.endswith(".jsonl"))
    kinds: dict[str, tuple[str, str]] = {}
    for file in files:
        found = _SUBAGENT.fullmatch(file)
        if found is None and "/" in file:
            continue
        with folder.source(file) as source:
            _take_claude(sessions, source, found[1] if found else "")
        facts = file.removesuffix(".jsonl") + ".meta.json"
        if found and facts in folder.files:
            with folder.source(facts) as source:
                for _, value in _objects(source):
                    kinds[found[1]] = str(value.get("agentType") or ""), str(value.get("toolUseId") or "")
    for session in sessions.values():
        for agent in session.agents.keys() & kinds.keys():
            session.kinds[agent] = kinds[agent][0]
            session.started.setdefault(agent, kinds[agent][1])
    with folder.source(files[0]) as source:
        yield from _traces(sessions, source)


def _traces(sessions: Mapping[str, _Session], source: Source) -> Iterator[Trace]:
    for name, session in sessions.items():
        if session.agents:
            yield from traces_in(name, session.transcripts(), source)


def _is_claude_folder(files: frozenset[str]) -> bool:
    return any(_SUBAGENT.fullmatch(file) for file in files)


def _is_codex(head: Head) -> bool:
    return head.json_keys >= {"type", "payload"} and head.first.get("type") in {"session_meta", "response_item"}


@dataclass(slots=True)
class _Rollout:
    name: str
    parent: str
    transcript: Transcript


def _rollout(source: Source) -> _Rollout:
    session, name, parent, agent = _Session(), source.stem, "", CODEX
    for line, entry in _objects(source):
        with source.record(line):
            facts = entry.get("payload")
            if entry.get("type") == "session_meta" and isinstance(facts, dict):
                name, origin = str(facts.get("id") or name), facts.get("source")
                below = origin.get("subagent") if isinstance(origin, dict) else None
                spawned = below.get("thread_spawn") if isinstance(below, dict) else None
                if isinstance(spawned, dict):
                    parent = str(spawned.get("parent_thread_id") or "")
                    agent = str(spawned.get("agent_role") or spawned.get("agent_nickname") or name)
            session.take_codex(entry)
    if "" not in session.agents:
        raise source.error("no messages found; expected a rollout of Codex (`type`, `payload`)")
    session.agents[""].agent = agent
    for use in session.uses.values():
        use.key = f"{name}/{use.key}"
    return _Rollout(name, parent, session.agents[""])


def _read_codex(source: Source) -> Iterator[Trace]:
    rollout = _rollout(source)
    return traces_in(rollout.name, [rollout.transcript], source)


def _read_codex_folder(folder: Folder) -> Iterator[Trace]:
    """The sessions of a folder, each with those of its sub-agents."""
    files = sorted(file for file in folder.files if _ROLLOUT.fullmatch(PurePath(file).name))
    rollouts: dict[str, _Rollout] = {}
    for file in files:
        with folder.source(file) as source:
            found = _rollout(source)
        rollouts[found.name] = found
    runs: defaultdict[str, list[Transcript]] = defaultdict(list)
    for each in rollouts.values():
        root, seen = each, {each.name}
        while root.parent in rollouts and root.parent not in seen:
            root = rollouts[root.parent]
            seen.add(root.name)
        if each is not root:
            each.transcript.asked_by = _spawning(rollouts[each.parent].transcript.turns, each.name)
        runs[root.name].append(each.transcript)
    with folder.source(files[0]) as source:
        for name, transcripts in runs.items():
            yield from traces_in(name, transcripts, source)


def _spawning(turns: Iterable[Turn], name: str) -> str:
    """The key of the use of a tool whose result names a session; "?" without one."""
    return next((use.key for turn in turns for use in turn.uses if name in use.result), "?")


def _is_codex_folder(files: frozenset[str]) -> bool:
    return any(_ROLLOUT.fullmatch(file) for file in files)


CLAUDE_CODE: Final = TraceFormat(
    _is_claude, _read_claude, FolderFormat(_is_claude_folder, _read_claude_folder, reads_below=True)
)
CODEX_SESSION: Final = TraceFormat(_is_codex, _read_codex, FolderFormat(_is_codex_folder, _read_codex_folder))

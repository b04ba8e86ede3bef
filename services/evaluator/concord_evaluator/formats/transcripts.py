"""Transcripts of agents: what each said and did in turn, as spans of OpenTelemetry's conventions for generative AI."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from pydantic import JsonValue

from concord.trace.report import Channel
from concord_evaluator.formats.source import Source
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace
from concord_evaluator.formats.trace_stores import Fields, Row

MAX_TRANSCRIPTS: Final = 10_000
_FIELDS: Final = Fields()


@dataclass(slots=True)
class Use:
    """The use of a tool. `key`: its id, of its own in all transcripts. Times in nanoseconds, 0 if unknown."""

    key: str
    name: str
    arguments: JsonValue = None
    at: int = 0
    result: str = ""
    ended: int = 0
    failed: bool = False


@dataclass(slots=True)
class Turn:
    """What somebody said. `role`: user or assistant. `tokens`: of the model, in and out; None if unknown."""

    role: str
    text: str = ""
    at: int = 0
    uses: list[Use] = field(default_factory=list)
    model: str = ""
    tokens: tuple[int, int] | None = None


@dataclass(slots=True)
class Transcript:
    """The turns of one agent. `asked_by`: the key of the use of a tool that started it; "" for the first agent.

    `failure`: the error that ended it.
    """

    agent: str
    turns: list[Turn] = field(default_factory=list)
    asked_by: str = ""
    failure: str = ""


def traces_in(
    trace_id: str, transcripts: Sequence[Transcript], source: Source, line: int = 1, warnings: Iterable[str] = ()
) -> Iterator[Trace]:
    """The trace of transcripts. Raises FormatError."""
    spans = [ReadSpan.of(_FIELDS.span(row), line) for row in rows_of(trace_id, transcripts)]
    return traces_of(spans, source, Channel.OTLP, warnings)


def runs_of(said: Iterable[tuple[str, Turn]]) -> list[Transcript]:
    """The transcripts of agents that speak in turn, each from one change of the speaker to the next.

    The user's name is "". A turn of the user belongs to the transcript of the agent that answers it.
    """
    found: list[Transcript] = []
    asked: list[Turn] = []
    for author, turn in said:
        if not author:
            asked.append(turn)
            continue
        if not found or asked or found[-1].agent != author:
            found.append(Transcript(author, asked))
            asked = []
        found[-1].turns.append(turn)
    return found


def rows_of(trace_id: str, transcripts: Sequence[Transcript]) -> Iterator[Row]:
    """The spans in the normal form. Several first agents stand in one workflow.

    An agent that no known use of a tool started stands below the first one.
    """
    numbers = (f"{number:016x}" for number in count(1))
    known = {use.key for each in transcripts for turn in each.turns for use in turn.uses}
    below: dict[str, list[Transcript]] = {}
    for each in transcripts:
        below.setdefault(each.asked_by if each.asked_by in known or not each.asked_by else "?", []).append(each)
    first = below.pop("", None) or list(transcripts[:1])
    team = ""
    if len(first) > 1:
        team = next(numbers)
        yield _row(trace_id, team, "", "team", _times(first), {"gen_ai.operation.name": "invoke_workflow"})
    pending = [(each, team) for each in reversed(first)]
    done: set[int] = set()
    while pending:
        each, parent = pending.pop()
        if id(each) in done:
            continue
        done.add(id(each))
        head = next(numbers)
        pending += [(orphan, head) for orphan in reversed(below.pop("?", ()))]
        yield _agent(trace_id, head, parent, each)
        before = _times([each])[0]
        for turn in each.turns:
            if turn.role == "assistant" and (turn.model or turn.tokens):
                yield _model(trace_id, next(numbers), head, turn, before)
            before = turn.at
            for use in turn.uses:
                tool = next(numbers)
                yield _tool(trace_id, tool, head, use)
                pending += [(started, tool) for started in reversed(below.pop(use.key, ()))]


def _agent(trace_id: str, span_id: str, parent: str, each: Transcript) -> Row:
    said = [turn for turn in each.turns if turn.text]
    attributes: dict[str, JsonValue] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": each.agent,
        "input.value": next((turn.text for turn in said if turn.role == "user"), None),
        "output.value": next((turn.text for turn in reversed(said) if turn.role == "assistant"), None),
    }
    return _row(trace_id, span_id, parent, f"invoke_agent {each.agent}", _times([each]), attributes, each.failure)


def _model(trace_id: str, span_id: str, parent: str, turn: Turn, before: int) -> Row:
    attributes: dict[str, JsonValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": turn.model or None,
        "gen_ai.usage.input_tokens": turn.tokens[0] if turn.tokens else None,
        "gen_ai.usage.output_tokens": turn.tokens[1] if turn.tokens else None,
        "output.value": turn.text or None,
    }
    return _row(trace_id, span_id, parent, f"chat {turn.model}", (before, turn.at), attributes)


def _tool(trace_id: str, span_id: str, parent: str, use: Use) -> Row:
    attributes: dict[str, JsonValue] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": use.name,
        "gen_ai.tool.call.arguments": use.arguments,
        "gen_ai.tool.call.result": use.result or None,
    }
    failure = (use.result or "the tool failed") if use.failed else ""
    return _row(
        trace_id, span_id, parent, f"execute_tool {use.name}", (use.at, use.ended or use.at), attributes, failure
    )


def _row(
    trace_id: str,
    span_id: str,
    parent: str,
    name: str,
    times: tuple[int, int],
    attributes: dict[str, JsonValue],
    failure: str = "",
) -> Row:
    return {
        "trace_id": trace_id,
        "span_id": span_id,
        "parent_id": parent,
        "name": name,
        "start_time": times[0],
        "end_time": times[1],
        "failed": bool(failure),
        "message": failure,
        "attributes": attributes,
    }


def _times(transcripts: Iterable[Transcript]) -> tuple[int, int]:
    known = [
        at for each in transcripts for turn in each.turns for at in (turn.at, *(use.ended for use in turn.uses)) if at
    ]
    return min(known, default=0), max(known, default=0)

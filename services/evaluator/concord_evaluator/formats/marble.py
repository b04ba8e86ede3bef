"""MARBLE's logs (MultiAgentBench): one run to a line, its messages as text, its rounds as iterations."""

import re
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue

from concord_evaluator.formats.registry import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, file_trace_id

_MESSAGE: Final = re.compile(r"^From (\S+) to (\S+?): ", re.MULTILINE)
_SESSION: Final = re.compile(r"In Session (\S+)")

_WARNINGS: Final = (
    "the log has no trace ids: this one names the file and the record in it",
    "the log does not tell questions from answers: every message counts as a call of its receiver by its sender",
    "the log has no times: the order is that of the iterations, and latencies are unknown",
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Iteration(_Part):
    task_assignments: dict[str, JsonValue] = {}
    communications: list[str] = []


class _Run(_Part):
    task: str = ""
    iterations: list[_Iteration]
    agent_kpis: dict[str, JsonValue] = {}


def _recognises(head: Head) -> bool:
    """A record begins with its task, which is longer than the head: what sets it apart comes after that."""
    keys = head.json_keys
    return keys == {"task"} or {"task", "coordination_mode"} <= keys


def _read(source: Source) -> Iterator[Trace]:
    for number, (line, value) in enumerate(source.json_values(), 1):
        with source.blaming(line):
            builder = TraceBuilder(file_trace_id(source.name, number), Origin(source.name, line))
            _take(builder, _Run.model_validate(value))
        yield builder.build()


def _take(builder: TraceBuilder, run: _Run) -> None:
    builder.task = run.task.strip()
    for warning in _WARNINGS:
        builder.warn(warning)
    for agents in (run.agent_kpis, *(iteration.task_assignments for iteration in run.iterations)):
        for agent in agents:
            builder.declare(agent)
    for number, iteration in enumerate(run.iterations, 1):
        for session_number, session in enumerate(iteration.communications, 1):
            if not _MESSAGE.search(session):
                place = f"iterations[{number - 1}].communications[{session_number - 1}]"
                raise ValueError(f"{place}: has no message of the form `From A to B: …`")
            _take_session(builder, number, session_number, session)


def _take_session(builder: TraceBuilder, iteration: int, number: int, session: str) -> None:
    """The messages of a session: one begins where a line says from whom to whom, and ends where the next begins."""
    preamble, *parts = _MESSAGE.split(session)
    attributes = {"iteration": str(iteration)}
    if named := _SESSION.match(preamble):
        attributes["session"] = named[1]
    messages = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    for message_number, (sender, receiver, text) in enumerate(messages, 1):
        step_id = f"{iteration:02}-{number:02}-{message_number:03}"
        builder.add_message(step_id, sender, receiver, text.strip(), attributes=attributes)


FORMAT = TraceFormat(_recognises, _read)

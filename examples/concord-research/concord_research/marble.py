"""MARBLE logs (MultiAgentBench): one run per line, with messages as text and rounds as iterations."""

import re
from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue

from concord.trace.effects import Effect, EffectKind, content_digest
from concord.trace.vocabulary import strings_in
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, file_trace_id

_MESSAGE: Final = re.compile(r"^From (\S+) to (\S+?): ", re.MULTILINE)
_SESSION: Final = re.compile(r"In Session (\S+)")

_WARNINGS: Final = (
    "the log has no trace ids: this one names the file and the record in it",
    "the log does not tell questions from answers: every message counts as a call of its receiver by its sender",
    "the log has no times: the order is that of the iterations, and latencies are unknown",
)


class _LogModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


def _listed(value: object) -> object:
    """A value as a list: a chain has a single text, or None, where other topologies have a list."""
    return value if isinstance(value, list) else [] if value is None else [value]


class _Iteration(_LogModel):
    """A round. `task_results` has one of two forms; a chain has `current_agent` and `result` instead."""

    task_assignments: Annotated[list[dict[str, JsonValue]], BeforeValidator(_listed)] = []
    task_results: list[dict[str, JsonValue]] = []
    current_agent: str | None = None
    result: JsonValue = None
    communications: Annotated[list[str], BeforeValidator(_listed)] = []

    @property
    def results(self) -> Iterator[tuple[str, JsonValue]]:
        """The agents that worked, each with its result, in order."""
        if self.current_agent is not None:
            yield self.current_agent, self.result
        for results in self.task_results:
            if isinstance(agent := results.get("agent_id"), str) and "result" in results:
                yield agent, results["result"]
            else:
                yield from results.items()


class _Run(_LogModel):
    task: str = ""
    iterations: list[_Iteration]
    agent_kpis: dict[str, JsonValue] = {}


def _recognises(head: Head) -> bool:
    """A record begins with its task, which may be longer than the head. Its distinctive keys come later."""
    keys = head.json_keys
    return keys == {"task"} or {"task", "coordination_mode"} <= keys


def _read(source: Source) -> Iterator[Trace]:
    for number, line, value in source.json_records():
        with source.record(line):
            builder = TraceBuilder(file_trace_id(source.name, number), Origin(source.name, line))
            _take(builder, _Run.model_validate(value))
            yield builder.build()


def _take(builder: TraceBuilder, run: _Run) -> None:
    builder.task = run.task.strip()
    for warning in _WARNINGS:
        builder.warn(warning)
    for agents in (run.agent_kpis, *(each for iteration in run.iterations for each in iteration.task_assignments)):
        for agent in agents:
            builder.declare(agent)
    for number, iteration in enumerate(run.iterations, 1):
        for session_number, session in enumerate(iteration.communications, 1):
            if not _MESSAGE.search(session):
                place = f"iterations[{number - 1}].communications[{session_number - 1}]"
                raise ValueError(f"{place}: no message of the form `From A to B: …`")
            _take_session(builder, number, session_number, session)
        for result_number, (agent, result) in enumerate(iteration.results, 1):
            builder.declare(agent)
            if not _is_empty(result):
                step_id = f"{number:02}-work-{result_number:02}"
                said = "\n".join(strings_in(result))
                done = Effect(EffectKind.FINISHED, f"iteration {number}", digest=content_digest(said), excerpt=said)
                builder.add_work(step_id, agent, attributes={"iteration": str(number), **done.attributes()})


def _is_empty(result: JsonValue) -> bool:
    return result is None or (isinstance(result, str) and not result.strip())


def _take_session(builder: TraceBuilder, iteration: int, number: int, session: str) -> None:
    """Adds the messages of a session. A line with sender and receiver begins a message and ends the previous one."""
    preamble, *parts = _MESSAGE.split(session)
    attributes = {"iteration": str(iteration)}
    if named := _SESSION.match(preamble):
        attributes["session"] = named[1]
    messages = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    for message_number, (sender, receiver, text) in enumerate(messages, 1):
        step_id = f"{iteration:02}-{number:02}-{message_number:03}"
        builder.add_message(step_id, sender, receiver, text.strip(), attributes=attributes)


FORMAT = TraceFormat(_recognises, _read)

"""A trace from a file, and the builder that formats use to make it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import PurePath
from typing import Final, NamedTuple

from concord.assessment import TaskSpec
from concord.assessment.results import Grading
from concord.trace.decoding import ReadBatch, reports_of
from concord.trace.report import MAX_BATCH_STEPS, Channel, Report, ReportBatch
from concord.trace.step import (
    MAX_NAME_LENGTH,
    AgentInvocation,
    CallType,
    InteractionStep,
    StepAction,
    as_utc,
)
from concord.trace.stored_step import CalledAgent, SerialisedBatch, Step, TraceBatch, n_nested, written
from concord.wire.roster import MAX_AGENT_LENGTH, MAX_ID_LENGTH, RESERVED_IDS, RosterEntry, normalise_url
from concord_evaluator.formats.source import Source

UNDATED: Final = datetime.fromtimestamp(0, UTC)
"""The time of receipt of a report from a file."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The file of a trace, and its first line (None if it is not contiguous)."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class GradedPart:
    """What the graders of a recorded run say of one agent's part of the work.

    `passed`: in the team's result. `passed_alone`: without the others' work. `merged`: whether the agents' work could
    be merged. None if they do not say.
    """

    name: str
    agent: str
    passed: bool
    passed_alone: bool | None = None
    merged: bool | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """The content of a file about one trace: its reports, and facts.

    `roster`: the agents of the trace, active or not. `task`, `answer`: empty if the file does not contain them.
    `task_success`: in [0, 1]; None if unknown. `failure`: the error of the whole run; "" if it did not fail.
    `duration_s`: from the first to the last reported time, in seconds.
    `warnings`: what the reader had to infer. `started_at`: the first reported time, to the second;
    None if unknown. `version`: of the system under test; empty if the file does not say, or names several.
    `parts`: the grades of parts of the work; only causes are drawn from them, never observations.
    """

    trace_id: str
    batches: tuple[ReportBatch, ...]
    roster: tuple[RosterEntry, ...]
    origin: Origin
    task: str
    answer: str
    task_success: float | None
    duration_s: float
    warnings: tuple[str, ...]
    started_at: datetime | None = None
    version: str = ""
    parts: tuple[GradedPart, ...] = ()
    failure: str = ""
    imported: bool = True
    """Whether another program recorded it. Its texts leave this machine only if somebody says so."""
    task_id: str = ""
    """Of the task or the data set's item, which the recordings of other versions have as well; "" if unknown."""
    expected: TaskSpec | None = None
    """How its answer is graded, as the trace declares it."""
    grading: Grading | None = None
    """The judgment of its answer that somebody gave, which the trace declares; or the grade by `expected`."""

    def reports(self) -> Iterator[Report]:
        """The reports, decoded from their batches one batch at a time."""
        return (report for batch in self.batches for report in reports_of(batch))


class _Reporter(NamedTuple):
    name: str
    channel: Channel
    authenticated: bool


@dataclass(slots=True)
class _OpenBatch:
    steps: list[Step] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    dropped: int = 0


class TraceBuilder:
    """Collects the reports of one trace in any order."""

    def __init__(self, trace_id: str, origin: Origin) -> None:
        """Raises ValueError for a trace id that is too long, or empty."""
        self.trace_id = _checked_id(trace_id, "trace id")
        self.task = ""
        self.answer = ""
        self.version = ""
        self.task_success: float | None = None
        self.failure = ""
        self.imported = True
        self.task_id = ""
        self.expected: TaskSpec | None = None
        self.grading: Grading | None = None
        self.parts: tuple[GradedPart, ...] = ()
        self._origin = origin
        self._open: dict[_Reporter, _OpenBatch] = {}
        self._batches: list[ReportBatch] = []
        self._declared: dict[str, RosterEntry] = {}
        self._reporters: dict[str, None] = {}
        self._reached: dict[str, set[str]] = {}
        self._warnings: dict[str, None] = {}
        self._started: datetime | None = None
        self._ended: datetime | None = None

    def declare(self, agent: RosterEntry | str) -> None:
        """Declares an agent of the trace. The first entry for an id counts. Raises ValueError for an invalid id."""
        if isinstance(agent, RosterEntry):
            self._declared.setdefault(agent.id, agent)
        elif agent not in self._declared:
            self._declared[agent] = entry_of(agent)

    def warn(self, text: str) -> None:
        """Adds a warning, once, about what the reader had to infer."""
        self._warnings[text] = None

    def add(
        self,
        step: InteractionStep | Step,
        reporter: str,
        *,
        channel: Channel = Channel.HTTP,
        authenticated: bool = False,
    ) -> None:
        """Adds a step that `reporter`, the agent that made it, reported.

        Raises ValueError for an invalid id, and for content that JSON cannot have.
        """
        if isinstance(step, InteractionStep):
            step = Step.of(step)
            written(step)  # raises ValueError
        if reporter not in self._reporters:
            self._reporters[_checked_id(reporter, "reporter", MAX_AGENT_LENGTH)] = None
        for call in calls_in(step) if step.kind is CallType.AGENT else ():
            if call.agent_url and call.agent_name:
                self._reached.setdefault(normalise_url(call.agent_url), set()).add(call.agent_name)
        key = _Reporter(reporter, channel, authenticated)
        batch = self._open.get(key)
        if batch is None:
            batch = self._open[key] = _OpenBatch()
        if (started := step.start_time) is not None:
            batch.times.append(started)
        if (ended := step.end_time) is not None:
            batch.times.append(ended)
        batch.steps.append(step)
        if len(batch.steps) == MAX_BATCH_STEPS:
            self._close(key)

    def add_message(
        self,
        step_id: str,
        sender: str,
        receiver: str,
        text: str,
        *,
        attributes: Mapping[str, str] | None = None,
        sent_at: datetime | None = None,
    ) -> None:
        """Adds a message of a log as a call of the receiver by the sender. Declares both.

        Raises ValueError for an invalid id.
        """
        for agent in (sender, receiver):
            self.declare(agent)
        step = InteractionStep(
            step_id=step_id,
            trace_id=self.trace_id,
            call_type=CallType.AGENT,
            step_action=StepAction(agent_invocation=AgentInvocation(agent_name=receiver, requests={"text": text})),
            additional_attributes=dict(attributes or {}),
            start_time=sent_at,
        )
        self.add(step, sender)

    def add_work(
        self, step_id: str, agent: str, *, attributes: Mapping[str, str] | None = None, error: str | None = None
    ) -> None:
        """Adds an agent's own work as a step, and declares the agent. `error`: of the work.

        Raises ValueError for an invalid id.
        """
        self.declare(agent)
        step = InteractionStep(
            step_id=step_id,
            trace_id=self.trace_id,
            call_type=CallType.HOST,
            additional_attributes=dict(attributes or {}),
            error=error,
        )
        self.add(step, agent)

    def drop(self, reporter: str, steps: int) -> None:
        """Records that a reporter had to drop steps."""
        key = _Reporter(_checked_id(reporter, "reporter", MAX_AGENT_LENGTH), Channel.HTTP, False)
        self._open.setdefault(key, _OpenBatch()).dropped += steps

    def build(self) -> Trace:
        """The trace of everything added so far."""
        for key in list(self._open):
            self._close(key)
        duration = self._ended - self._started if self._started and self._ended else None
        return Trace(
            trace_id=self.trace_id,
            batches=tuple(self._batches),
            roster=tuple(self._roster()),
            origin=self._origin,
            task=self.task,
            answer=self.answer,
            task_success=self.task_success,
            duration_s=duration.total_seconds() if duration else 0.0,
            warnings=tuple(self._warnings),
            version=self.version[:MAX_NAME_LENGTH],
            started_at=self._started.replace(microsecond=0) if self._started else None,
            failure=self.failure,
            imported=self.imported,
            parts=self.parts,
            task_id=self.task_id,
            expected=self.expected,
            grading=self.grading,
        )

    def _see(self, times: Iterable[datetime]) -> None:
        known = [as_utc(moment) for moment in times]
        self._started = min(known if self._started is None else [self._started, *known], default=None)
        self._ended = max(known if self._ended is None else [self._ended, *known], default=None)

    def _close(self, key: _Reporter) -> None:
        batch = self._open.pop(key)
        self._see(batch.times)
        batch_id = f"batch-{len(self._batches) + 1}"
        if not n_nested(batch.steps):
            head = (batch_id, self.trace_id, key.name, key.authenticated, key.channel, UNDATED)
            self._batches.append(ReadBatch(*head, len(batch.steps), batch.dropped, steps=batch.steps))
            return
        body = written(TraceBatch(batch_id, self.trace_id, key.name, batch.steps))
        serialised = SerialisedBatch(batch_id, self.trace_id, key.name, len(batch.steps), batch.dropped, body)
        self._batches.append(serialised.received(key.channel, authenticated=key.authenticated, received_at=UNDATED))

    def _roster(self) -> Iterator[RosterEntry]:
        """The declared agents, the reporters, and those that are called at an address, each with all its addresses.

        An address answers to one name (the first in order, where callers differ), so that one agent is one node.
        """
        entries = dict(self._declared)
        for reporter in self._reporters:
            entries.setdefault(reporter, RosterEntry(id=reporter, url=f"trace://{reporter}"))
        known = {normalise_url(name) for entry in entries.values() for name in (entry.url, *entry.aliases)}
        for url in sorted(self._reached.keys() - known):
            name = min(self._reached[url])
            if len(name) > MAX_AGENT_LENGTH:
                continue
            entry = entries.get(name)
            if entry is None:
                entries[name] = RosterEntry(id=name, url=url)
            elif entry.url.startswith("trace://"):
                entries[name] = entry.model_copy(update={"url": url})
            else:
                entries[name] = entry.model_copy(update={"aliases": (*entry.aliases, url)})
        return (entry for entry in entries.values() if entry.id not in RESERVED_IDS)


def all_built(builders: Iterable[TraceBuilder], source: Source) -> Iterator[Trace]:
    """Builds the traces after all records of `source` are read, each with a warning if records were unreadable."""
    for builder in builders:
        if source.loss:
            builder.warn(source.loss)
        yield builder.build()


def entry_of(agent: str) -> RosterEntry:
    """The entry of an agent with only a name. Raises ValueError if the name is not a valid id."""
    return RosterEntry(id=agent, url=f"trace://{agent}")


def calls_in(step: Step) -> Iterator[CalledAgent]:
    """The calls of agents that a step tells of: its own, and those in the answers it carries."""
    pending = [step]
    while pending:
        each = pending.pop()
        if (call := each.agent_call) is not None:
            yield call
            pending.extend(each.answer_steps)


def file_trace_id(file: str, number: int) -> str:
    """An id for the `number`-th trace (from 1) of a file that has none: the file's stem, shortened with a digest."""
    return shortened_id(PurePath(file).stem, f"#{number}")


def shortened_id(name: str, suffix: str = "", limit: int = MAX_ID_LENGTH) -> str:
    """An id made of a name and a suffix: where they are too long for one, with a digest in the place of the rest."""
    if len(name) + len(suffix) > limit:
        rest = blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()
        name = f"{name[: limit - len(suffix) - len(rest) - 1]}-{rest}"
    return name + suffix


def _checked_id(text: str, what: str, limit: int = MAX_ID_LENGTH) -> str:
    if not 1 <= len(text) <= limit:
        raise ValueError(f"{what}: must have 1 to {limit} characters, has {len(text)}")
    return text

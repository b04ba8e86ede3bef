"""What drivers share: their interface, the opening of a trial, and the reading of replies."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from pydantic import JsonValue, SecretStr

from concord.a2a import AgentFaultError, Answer, TaskUpdate
from concord.agent.messenger import Messenger
from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.assessment.results import TrialOutcome
from concord.assessment.task_spec import Control, Exchange, FamilyTask
from concord.storage import TraceStore
from concord.trust.redaction import redact
from concord.trust.tokens import Claims
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, RosterEntry
from concord_gateway.assignments import Assignments, TrialCalls
from concord_gateway.assistants import Assistants
from concord_gateway.calls import Channels, SeatPlace, TrialChannel
from concord_gateway.progress import Progress
from concord_gateway.recorder import Recorder
from concord_gateway.rounds.exchange import OverBudgetError
from concord_gateway.rounds.reply import Reply, read_reply

# The interface of drivers.

MAX_NOTES: Final = 20
MAX_NOTE: Final = 300
"""Notes of a trial, and characters of each."""


@dataclass(frozen=True, slots=True)
class TrialContext:
    """A trial about to be driven; `budget_s` is its time limit (seconds).

    `assignment` and `claims` are the gateway's own in this trial; participants' are derived from them.
    """

    plan: AssessmentPlan
    trial: TrialSpec
    task: TaskSpec
    assignment: Assignment
    claims: Claims
    assignments: Assignments
    messenger: Messenger
    traces: TraceStore
    channels: Channels
    trial_calls: TrialCalls
    progress: Progress
    recorder: Recorder
    budget_s: float
    assistants: Assistants
    notes: list[str] = field(default_factory=list)
    """What the row says of how the answers were got."""

    async def token(self, agent_id: str) -> SecretStr:
        """A participant's token in this trial. Raises StorageUnavailableError."""
        return await self.assignments.token(replace(self.claims, agent_id=agent_id))

    async def send(
        self,
        entry: RosterEntry,
        text: str | None,
        on_update: Callable[[TaskUpdate], None],
        *,
        data: JsonValue = None,
        step_id: str = "",
        task_id: str = "",
        context_id: str = "",
    ) -> Answer:
        """Sends a message to a participant, with its token, and tracks the call. Raises as `Messenger.send` does.

        After a failure that allows it, sends the message once more in a trial; after one that leaves open whether the
        agent has begun to work, only if it has neither called nor written since, which it would then do twice.
        """
        token = await self.token(entry.id)
        acts = self._acts(entry.id)

        def may_ask_again(fault: AgentFaultError) -> bool:
            acted = self._acts(entry.id) > acts
            if entry.id in self.trial_calls.asked_again or (fault.may_have_acted and acted):
                return False
            self.trial_calls.asked_again.add(entry.id)
            self.note(f"{entry.id} was asked once more: {fault}")
            return True

        def on_fault(fault: AgentFaultError) -> bool:
            if fault.wants_credential:
                self.note(
                    f"{entry.id} wants a credential, which CONCORD_PARTICIPANT_CREDENTIALS of the gateway can have"
                )
            return fault.again_after_s is not None and may_ask_again(fault)

        call = self.trial_calls.begin(GREEN_AGENT, entry.id, step_id, parent_id=self.assignment.step_id)
        answer = await self.messenger.send(
            entry.url,
            text=text,
            data=data,
            assignment=self.assignment,
            callee_id=entry.id,
            on_update=on_update,
            step_id=call.step_id,
            token=token,
            task_id=task_id,
            context_id=context_id,
            timeout_s=self.budget_s,
            may_ask_again=on_fault,
        )
        if answer.unread:
            self.note(f"{entry.id}: not read of its answer: {'; '.join(answer.unread)}")
        return answer

    def _acts(self, agent_id: str) -> int:
        """How often an agent has called others and written in its environment in this trial."""
        writes = 0 if not self.task.in_environment else self.assistants.contexts.writes(self.assistants.context_id)
        return self.trial_calls.acts[agent_id] + writes

    def note(self, text: str) -> None:
        """Has the row say something, once."""
        text = redact(text)[:MAX_NOTE]
        if text not in self.notes and len(self.notes) < MAX_NOTES:
            self.notes.append(text)


class TrialNotRunError(Exception):
    """A trial could not be run, for a reason that is not the agents'."""


Driver = Callable[[TrialContext], Awaitable[TrialOutcome]]
"""Drives one trial to its end. An agent's failure is an outcome. Raises StorageUnavailableError, TrialNotRunError."""


# Opening a trial: the channel that the proxy enforces, of seats or of an agent without its peers.


async def open_channel(context: TrialContext, neighbours: Mapping[str, tuple[str, ...]]) -> TrialChannel:
    """Stores a trial's channel before its first message, and names each seat its peers.

    The channel of a trial by calls is not open yet, and has a new context for each seat.
    Raises StorageUnavailableError.
    """
    spec = context.task.family
    exchange = Exchange.ROUNDS if spec is None else spec.exchange
    places = [
        SeatPlace(entry=entry, context_id=str(uuid4()), neighbours=neighbours.get(entry.id, ()))
        for entry in context.plan.agents(context.task.id)
    ]
    channel = TrialChannel(
        exchange=exchange,
        seats=places,
        silent=spec is not None and spec.control is Control.SILENT,
        is_open=exchange is not Exchange.CALLS,
        faults=tuple(context.plan.config.faults) if spec is not None and spec.control is None else (),
    )
    return await _opened(context, channel)


async def open_alone(context: TrialContext, agent: RosterEntry) -> None:
    """Takes an agent's peers away before a trial's first message: none is listed, and no call is carried.

    Raises StorageUnavailableError.
    """
    place = SeatPlace(entry=agent, context_id="", neighbours=())
    await _opened(context, TrialChannel(exchange=Exchange.CALLS, seats=[place], alone=True, is_open=True))


async def _opened(context: TrialContext, channel: TrialChannel) -> TrialChannel:
    await context.channels.save(context.plan.assessment_id, context.trial.trace_id, channel)
    await context.channels.announce(context.trial.trace_id, channel)
    return channel


def seat_alone(spec: FamilyTask, seats: Iterable[str]) -> str:
    """The seat of a solo control: the first of the participant that is tried alone."""
    return next(name for name in seats if spec.solo_by in {name, name.partition("/")[0]})


# The reading of a trial's replies, on the trial's account.

MAX_READING_S: Final = 60.0
"""CPU seconds in which the replies of a trial are read. A faulty one may take half a second."""


@dataclass(slots=True)
class Reading:
    """Reads the replies of one trial in a thread, one after the other: a few kilobytes of brackets that do not match
    take a tenth of a second."""

    used_s: float = 0.0
    fault: OverBudgetError | None = None
    """Whose reply was one too many. The driver raises it."""
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, seat: str, answer: Answer) -> Reply | None:
        """The reply in an answer of a seat; None for one that is not read, because the trial is over its budget."""
        async with self._one:
            return await asyncio.to_thread(self._read, seat, answer.text or answer.status_text, answer.data_parts)

    def _read(self, seat: str, text: str, data: Sequence[JsonValue]) -> Reply | None:
        if self.used_s > MAX_READING_S:
            self.fault = self.fault or OverBudgetError(
                f"{seat} exceeded a trial's budget of {MAX_READING_S:g} s for the reading of replies"
            )
            return None
        began = time.thread_time()
        reply = read_reply(text, data)
        self.used_s += time.thread_time() - began
        return reply

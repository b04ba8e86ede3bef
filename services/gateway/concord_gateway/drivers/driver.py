"""The interface of drivers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue, SecretStr

from concord.a2a import AgentFaultError, Answer, TaskUpdate
from concord.agent.messenger import Messenger
from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.assessment.results import TrialOutcome
from concord.storage import TraceStore
from concord.trust.redaction import redact
from concord.trust.tokens import Claims
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, RosterEntry
from concord_gateway.assignments import Assignments
from concord_gateway.assistants import Assistants
from concord_gateway.calls.channel import Channels
from concord_gateway.open_calls import TrialCalls
from concord_gateway.progress import Progress
from concord_gateway.recorder import Recorder

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
        writes = 0 if self.task.scenario is None else self.assistants.contexts.writes(self.assistants.context_id)
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

"""One turn: the assistant acts, its actions execute, characters reply, and time moves on."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from concord.a2a import AgentTimeoutError, AgentUnreachableError, RemoteError
from concord.trust.redaction import redact
from concord_assistant.assistant import InvalidReplyError, PurpleClient, read_reply
from concord_assistant.characters.models import ScheduledResponse
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.environment.admin import EnvironmentAdmin
from concord_assistant.messages import EarlyCompletionMessage, Reply, TurnStartMessage
from concord_assistant.results import ActionLogEntry, TurnResult, UserFault
from concord_assistant.turns.action_log import ActionLogBuilder
from concord_assistant.turns.correspondents import Correspondents
from concord_assistant.turns.shortening import shortened
from concord_assistant.updates import (
    ActionObserved,
    ErrorOccurred,
    ResponsesGenerated,
    SimulationAdvanced,
    TurnCompleted,
    TurnStarted,
)
from concord_environment_client import APIError, UESClientError
from concord_environment_client.responses import Advanced

logger = logging.getLogger(__name__)

APPLY: Final = timedelta(seconds=1)
"""The first advance of a turn's end, which executes the assistant's actions."""

MAX_SHOWN: Final = 20
"""Actions of one turn that are sent as updates."""

MAX_SHOWN_TEXT: Final = 500
MAX_ERROR: Final = 500

TurnError = tuple[Literal["timeout", "communication_error", "protocol_error"], str]


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn that ended: its result, the time, the executed events, and whether the assistant is done."""

    result: TurnResult
    now: datetime
    events_executed: int
    finished: bool


@dataclass(slots=True)
class TurnRunner:
    """Runs the turns of one assessment. `default_step`: for a reply that names no `time_step`."""

    admin: EnvironmentAdmin
    assistant: PurpleClient
    log: ActionLogBuilder
    correspondents: Correspondents
    emitter: TaskUpdateEmitter
    default_step: timedelta
    end_time: datetime
    faults: list[UserFault]
    """Receives the replies that the environment refuses."""

    async def run(self, number: int, now: datetime, events_processed: int, timeout_s: float) -> TurnEnd:
        """Runs a turn to its end. A fault of the assistant ends its turn early, and time moves on.

        Raises UESClientError.
        """
        pending = await self.admin.pending()
        await self.emitter.send(TurnStarted(turn_number=number, current_time=now, events_pending=pending))
        self.log.start_turn(number)
        message = TurnStartMessage(turn_number=number, current_time=now, events_processed=events_processed)
        reply, error = await self._ask(message, timeout_s)
        if error is not None:
            await self.emitter.send(
                ErrorOccurred(
                    error_type=error[0], error_message=error[1], recoverable=True, context={"turn_number": number}
                )
            )
        ended = await self._end(number, now, reply)
        refused = await self._add_refusals(number, now)
        self.log.end_turn()
        result = TurnResult(
            turn=number,
            started_at=now,
            ended_at=ended.now,
            notes=_notes(reply),
            actions=ended.actions + refused,
            responses=ended.responses,
            error=None if error is None else error[1],
            error_type=None if error is None else error[0],
        )
        finished = isinstance(reply, EarlyCompletionMessage)
        await self.emitter.send(
            TurnCompleted(
                turn_number=number,
                actions_taken=ended.actions + refused,
                time_advanced=ended.now - now,
                early_completion_requested=finished,
            )
        )
        return TurnEnd(result, ended.now, ended.events, finished)

    async def _ask(self, message: TurnStartMessage, timeout_s: float) -> tuple[Reply | None, TurnError | None]:
        try:
            async with asyncio.timeout(timeout_s):
                return read_reply(await self.assistant.send(message)), None
        except (TimeoutError, AgentTimeoutError) as error:
            return None, ("timeout", _short(str(error)) or f"no reply within {timeout_s:g} s")
        except (AgentUnreachableError, RemoteError) as error:
            return None, ("communication_error", _short(str(error)))
        except InvalidReplyError as error:
            return None, ("protocol_error", _short(str(error)))

    async def _end(self, number: int, now: datetime, reply: Reply | None) -> "_End":
        """Executes the turn's actions, and unless the assistant is done, lets characters reply and moves time."""
        step = min(max(self._step(reply), APPLY), self.end_time - now)
        end = _End(now)
        await self._advance(number, end, min(APPLY, step))
        if isinstance(reply, EarlyCompletionMessage) or step <= APPLY:
            return end
        responses: list[ScheduledResponse] = []
        try:
            responses = await self.correspondents.replies(end.done, (end.now, now + step), number)
        except UESClientError:
            raise
        except Exception as error:
            # Whatever fails in a character is not a fault of the assistant.
            logger.exception("the characters cannot reply in turn %d", number)
            await self._character_failed(number, "all", f"{type(error).__name__}: {error}")
        scheduled = [each for each in responses if await self._schedule(number, each, end.now, now + step)]
        end.responses = len(scheduled)
        await self.emitter.send(
            ResponsesGenerated(
                turn_number=number,
                responses_count=len(scheduled),
                characters_involved=sorted({each.character_id for each in scheduled}),
            )
        )
        await self._advance(number, end, step - APPLY)
        return end

    def _step(self, reply: Reply | None) -> timedelta:
        if reply is None or isinstance(reply, EarlyCompletionMessage) or "time_step" not in reply.model_fields_set:
            return self.default_step
        return reply.time_step

    async def _advance(self, number: int, end: "_End", duration: timedelta) -> None:
        """Moves time, and logs the assistant's actions that executed, late ones too."""
        advanced: Advanced = await self.admin.advance(duration)
        await self.emitter.send(
            SimulationAdvanced(
                previous_time=end.now,
                new_time=advanced.current_time,
                duration=advanced.current_time - end.now,
                events_processed=advanced.events_executed,
            )
        )
        executed, further = await self.admin.events(end.now, advanced.current_time)
        entries, _ = self.log.add_events_from_turn(executed)
        self.log.leave_out(further)
        await self._show(number, entries[: max(0, MAX_SHOWN - end.actions)])
        end.now = advanced.current_time
        end.events += advanced.events_executed
        end.actions += len(entries)
        end.done += entries

    async def _add_refusals(self, number: int, now: datetime) -> int:
        """Logs the assistant's calls that the environment refused. Returns their number."""
        calls = await self.admin.refusals(self.log.agent_id, self.log.refused_until)
        entries = self.log.add_refusals(calls, now)
        await self._show(number, entries[:MAX_SHOWN])
        return len(entries)

    async def _show(self, number: int, entries: Iterable[ActionLogEntry]) -> None:
        for entry in entries:
            await self.emitter.send(
                ActionObserved(
                    turn_number=number,
                    timestamp=entry.timestamp,
                    action=entry.action,
                    parameters=shortened(entry.parameters, MAX_SHOWN_TEXT),
                    success=entry.success,
                    error_message=entry.error_message,
                )
            )

    async def _schedule(self, number: int, response: ScheduledResponse, after: datetime, until: datetime) -> bool:
        """Schedules a reply. A reply that cannot be delivered is a fault of the simulated user."""
        if not after < response.scheduled_time <= until:
            fault = f"a reply at {response.scheduled_time.isoformat()} is outside the turn"
            await self._character_failed(number, response.character_id, fault)
            return False
        try:
            await self.admin.schedule(response)
        except APIError as error:
            await self._character_failed(number, response.character_id, f"the environment refuses a reply: {error}")
            return False
        return True

    async def _character_failed(self, number: int, character: str, fault: str) -> None:
        self.faults.append(UserFault(turn=number, character=character, fault=_short(fault)))
        await self.emitter.send(
            ErrorOccurred(
                error_type="ues_error" if character != "all" else "internal_error",
                error_message=_short(fault),
                recoverable=True,
                context={"turn_number": number, "character": character},
            )
        )


@dataclass(slots=True)
class _End:
    """How far the end of a turn has come."""

    now: datetime
    events: int = 0
    actions: int = 0
    responses: int = 0
    done: list[ActionLogEntry] = field(default_factory=list)


def _notes(reply: Reply | None) -> str | None:
    if reply is None:
        return None
    notes = reply.reason if isinstance(reply, EarlyCompletionMessage) else reply.notes
    return None if notes is None else redact(notes)


def _short(text: str) -> str:
    text = redact(text)
    return text if len(text) <= MAX_ERROR else f"{text[:MAX_ERROR]}…"

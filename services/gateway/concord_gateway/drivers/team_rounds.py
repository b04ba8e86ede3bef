"""The driver of teams in the office: in rounds, each seat assists its own person, and their mails are the messages."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from concord.a2a import AgentTimeoutError, AgentUnreachableError, Answer, RemoteError, TaskUpdate
from concord.assessment.results import RoundsRecord, TrialOutcome, TurnRecord
from concord.assessment.suite_tasks import family_secret
from concord.assessment.task_spec import TEAM_DAY, Control
from concord.trace.timing import StepClock
from concord.trust.redaction import redact
from concord.wire.roster import new_step_id
from concord_assistant.assistant import A2AAssistant, InvalidReplyError, expect_success, read_reply
from concord_assistant.environment.admin import ScenarioRefusedError
from concord_assistant.environment.server import UESServerError
from concord_assistant.green_agent import EnvironmentLostError
from concord_assistant.messages import (
    AssessmentCompleteMessage,
    CompletionReason,
    EarlyCompletionMessage,
    Message,
    TurnStartMessage,
)
from concord_assistant.office.days import HOURS
from concord_assistant.office.teams.grading import SeatState
from concord_assistant.office.teams.team import team
from concord_assistant.team_environment import TeamEnvironment, TeamMail
from concord_gateway.drivers.driver import TrialContext, TrialNotRunError, open_channel
from concord_gateway.drivers.live import graded_answer, outcome_of, unanswered
from concord_gateway.drivers.rounds import AskedSeat, message_step, turn_limit_s
from concord_gateway.rounds.exchange import SeatMessage

_NOTIFY_S: Final = 10.0
"""How long an assistant may take to accept the message that the assessment is complete."""


async def drive_team_rounds(context: TrialContext) -> TrialOutcome:
    """Plays the day of a team until every seat has ended it, its time is up, or no round is left.

    Raises TrialNotRunError if the environment fails, OverBudgetError, StorageUnavailableError.
    """
    spec, started = context.task.family, time.monotonic()
    if spec is None:
        raise ValueError(f"task {context.task.id!r} has no family")
    entries, secret = context.plan.agents(context.task.id), family_secret(context.plan, context.trial)
    made = await asyncio.to_thread(team, secret, spec.name.removeprefix(TEAM_DAY), len(entries))
    await open_channel(context, {entry.id: () for entry in entries})
    days = {entry.id: day for entry, day in zip(entries, made.days, strict=True)}
    silent = spec.control is Control.SILENT
    try:
        async with (
            context.assistants.contexts.agent(context.assistants.context_id) as agent,
            agent.team(days, silent=silent) as people,
        ):
            play = _Play(context, people, spec.max_rounds or HOURS, started)
            play.seats = {entry.id: _TeamSeat(context, AskedSeat(entry)) for entry in entries}
            return await play.run()
    except (EnvironmentLostError, ScenarioRefusedError, UESServerError) as error:
        raise TrialNotRunError(str(error)) from error


class _TeamSeat:
    """A seat and the connection to its assistant."""

    def __init__(self, context: TrialContext, asked: AskedSeat) -> None:
        self.asked = asked
        self.has_replied = False
        self.ended: CompletionReason | None = None
        """Why it takes no more turns."""

        def note(update: TaskUpdate) -> None:
            context.progress.note(f"{asked.entry.id}: {update.text or update.state}")

        async def send(data: JsonValue, task_id: str, context_id: str) -> Answer:
            return await context.send(
                asked.entry, None, note, data=data, step_id=asked.step_id, task_id=task_id, context_id=context_id
            )

        self._assistant = A2AAssistant(asked.entry.url, send)

    async def ask(self, message: Message, limit_s: float) -> Answer | tuple[str, str]:
        """The answer to a message, or how the turn failed and why."""
        self.asked.step_id = new_step_id()
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._assistant.send(message)
        except (TimeoutError, AgentTimeoutError) as error:
            self.asked.was_late_after_s = limit_s
            return "late", redact(str(error)) or f"no reply within {limit_s:g} s"
        except (AgentUnreachableError, RemoteError) as error:
            return "failed", redact(str(error))
        self.asked.was_late_after_s = None
        return answer

    async def complete(self) -> None:
        """Tells the assistant that the day is over, whatever it does."""
        await self.ask(AssessmentCompleteMessage(reason=self.ended or "scenario_complete"), _NOTIFY_S)


@dataclass(slots=True)
class _Play:
    """The rounds of one trial."""

    context: TrialContext
    people: TeamEnvironment
    max_rounds: int
    started: float
    seats: dict[str, _TeamSeat] = field(default_factory=dict)
    round: int = 0
    turns: list[TurnRecord] = field(default_factory=list)

    async def run(self) -> TrialOutcome:
        """Plays the rounds. At their end, also after an error, each assistant is told and its key is revoked."""
        try:
            await asyncio.gather(*map(self._start, self.seats))
            while self._goes_on:
                await self._play_round()
            return self._outcome(await self.people.states())
        finally:
            await asyncio.gather(*(each.complete() for each in self.seats.values()))
            for seat in self.seats:
                await self.people.revoke(seat)

    @property
    def _remaining_s(self) -> float:
        return self.started + self.context.budget_s - time.monotonic()

    @property
    def _goes_on(self) -> bool:
        is_open = any(each.ended is None for each in self.seats.values())
        return is_open and self.round < self.max_rounds and self._remaining_s > 0 and not self.people.over

    def _limit_s(self, seat: _TeamSeat) -> float:
        asked = self.context.plan.config.turn_timeout_s
        return turn_limit_s(asked, max(1.0, self._remaining_s), seat.asked.was_late_after_s)

    async def _start(self, name: str) -> None:
        seat = self.seats[name]
        answer = await seat.ask(await self.people.start_message(name), self._limit_s(seat))
        with suppress(InvalidReplyError):
            if isinstance(answer, Answer):
                expect_success(answer)
                return
        seat.ended = "error"
        why = answer[1] if isinstance(answer, tuple) else "its task failed"
        self.turns.append(
            TurnRecord(round=1, seat=name, state="failed", error=f"did not accept assessment_start: {why}")
        )

    async def _play_round(self) -> None:
        self.round += 1
        self.context.progress.note(f"round {self.round} of at most {self.max_rounds}")
        asked = [name for name, each in self.seats.items() if each.ended is None]
        self.turns += await asyncio.gather(*map(self._turn, asked))
        clock = StepClock()
        mails = await self.people.advance(self.round)
        times = clock.times()
        seats = {name: each.asked for name, each in self.seats.items()}
        self.context.recorder.add_messages(
            message_step(self.context, _message(self.round, mail), redact(mail.text), seats, times) for mail in mails
        )
        await self.context.recorder.write()

    async def _turn(self, name: str) -> TurnRecord:
        seat, (now, events) = self.seats[name], self.people.now(name)
        async with self.context.trial_calls.work.piece():
            pass  # gives way to the other work of this assessment
        message = TurnStartMessage(turn_number=self.round, current_time=now, events_processed=events)
        answer = await seat.ask(message, self._limit_s(seat))
        if not isinstance(answer, Answer):
            state, why = answer
            return TurnRecord.model_validate({"round": self.round, "seat": name, "state": state, "error": why})
        try:
            reply = read_reply(answer)
        except InvalidReplyError as error:
            return TurnRecord(round=self.round, seat=name, state="unreadable", error=str(error))
        seat.has_replied = True
        if isinstance(reply, EarlyCompletionMessage):
            seat.ended = "early_completion"
        return TurnRecord(round=self.round, seat=name, state="replied")

    def _outcome(self, states: Mapping[str, SeatState]) -> TrialOutcome:
        """The outcome, with the end state of each seat that ever replied as its answer."""
        last = {turn.seat: turn for turn in self.turns}
        answers = [
            graded_answer(name, redact(states[name].model_dump_json()))
            if each.has_replied
            else unanswered(name, last[name].error or "no reply" if name in last else "no round was played")
            for name, each in self.seats.items()
        ]
        acted = self.people.turns_acted()
        record = RoundsRecord(
            rounds=self.round,
            max_rounds=self.max_rounds,
            answered_in={name: acted.get(name, self.round) for name, each in self.seats.items() if each.has_replied},
            turns=self.turns,
        )
        outcome = outcome_of(self.context.trial.trial_id, answers, time.monotonic() - self.started)
        return outcome.model_copy(update={"rounds": record})


def _message(number: int, mail: TeamMail) -> SeatMessage:
    return SeatMessage(number, mail.sender, mail.receiver, mail.text)

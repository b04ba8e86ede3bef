"""The rounds driver: asks every seat of a team in rounds, and delivers the messages in their replies."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from pydantic import JsonValue

from concord.a2a import AgentTimeoutError, AgentUnreachableError, RemoteError, TaskState, TaskUpdate
from concord.assessment.results import AgentAnswer, RoundsRecord, TrialOutcome, TurnRecord
from concord.assessment.suite_tasks import instance_of
from concord.assessment.task_spec import Control
from concord.suite import SuiteTask
from concord.trace.attributes import AGENT_NAME, CUT_FROM, ROUND, TASK_STATE
from concord.trace.step import CallType
from concord.trace.stored_step import CalledAgent, Invocation, Step
from concord.trace.timing import StepClock, StepTimes
from concord.trust.redaction import redact
from concord.wire.roster import RosterEntry, new_step_id
from concord_gateway.drivers.driver import Reading, TrialContext, open_channel, seat_alone
from concord_gateway.drivers.live import graded_answer, outcome_of, unanswered
from concord_gateway.rounds.exchange import Rounds, SeatMessage, Wire, default_rounds
from concord_gateway.rounds.reply import Reply
from concord_gateway.rounds.texts import answer_text, answers_by_seat, solo_task, turn_text

SHORTEST_TURN_S: Final = 60.0
"""The default limit of a turn is a third of the trial's time that is left, and at least this (seconds)."""


@dataclass(slots=True)
class AskedSeat:
    """A seat as its A2A server knows it: one context for the whole trial."""

    entry: RosterEntry
    context_id: str = ""
    task_id: str = ""
    """The task to continue, if the agent asked for input."""
    step_id: str = ""
    """The step of its present turn."""
    was_late_after_s: float | None = None
    """The limit of its last turn, if it was late in it."""


async def drive_rounds(context: TrialContext) -> TrialOutcome:
    """Plays the trial's task in rounds until it is over or its time is up.

    An agent that fails or is late in one round is asked again in the next.
    """
    spec = context.task.family
    if spec is None:
        raise ValueError(f"task {context.task.id!r} has no family")
    task = await asyncio.to_thread(instance_of, context.plan, context.trial)
    await open_channel(context, dict.fromkeys(task.seats, ()))
    seats = {entry.id: AskedSeat(entry) for entry in context.plan.agents(context.task.id)}
    if spec.control is Control.SOLO:
        alone = seat_alone(spec, seats)
        seats = {alone: seats[alone]}
        rounds = Rounds(solo_task(task, next(iter(seats))), max_rounds=1)
    else:
        rounds = Rounds(task, spec.max_rounds or default_rounds(task), silent=spec.control is Control.SILENT)
        if spec.control is None:
            rounds.wire = Wire(context.plan.config.faults, task.neighbours)
    started = time.monotonic()
    await _play(context, rounds, seats, started)
    return _outcome(context, task, rounds, time.monotonic() - started)


async def _play(context: TrialContext, rounds: Rounds, seats: dict[str, AskedSeat], started: float) -> None:
    reading = Reading()
    while not rounds.over:
        remaining_s = started + context.budget_s - time.monotonic()
        if remaining_s <= 0:
            break
        rounds.begin()
        context.progress.note(f"round {rounds.round} of at most {rounds.max_rounds}")
        asked = {name: seats[name] for name in rounds.asked}
        texts = await asyncio.to_thread(_texts, rounds, [*asked])
        limits = [
            turn_limit_s(context.plan.config.turn_timeout_s, remaining_s, seat.was_late_after_s)
            for seat in asked.values()
        ]
        turns = [
            _turn(context, reading, seat, texts[name], rounds.round, limit_s)
            for (name, seat), limit_s in zip(asked.items(), limits, strict=True)
        ]
        replies = dict(zip(asked, await asyncio.gather(*turns), strict=True))
        if reading.fault is not None:
            raise reading.fault
        context.recorder.add_messages(await asyncio.to_thread(_taken, context, rounds, replies, seats))
        await context.recorder.write()


def _texts(rounds: Rounds, asked: Sequence[str]) -> dict[str, str]:
    return {name: turn_text(rounds, name) for name in asked}


def _taken(
    context: TrialContext, rounds: Rounds, replies: dict[str, Reply | TurnRecord], seats: dict[str, AskedSeat]
) -> list[Step]:
    """The steps of the messages in the replies of a round. Raises OverBudgetError.

    A team may write so much that this takes seconds, in which the event loop must serve others.
    """
    sent, clock, redacted = len(rounds.messages), StepClock(), cache(redact)  # many messages have one text
    rounds.take(replies)
    times = clock.times()
    return [message_step(context, message, redacted(message.text), seats, times) for message in rounds.messages[sent:]]


def turn_limit_s(requested_s: float | None, remaining_s: float, late_after_s: float | None) -> float:
    """The limit of a seat's turn (seconds): the requested one, else a third of the trial's time that is left.

    A seat that was late in its last turn has half of the limit of that turn, so that it costs its own turns only.
    """
    if requested_s is not None:
        return min(requested_s, remaining_s)
    if late_after_s is not None:
        return min(late_after_s / 2, remaining_s)
    return min(max(SHORTEST_TURN_S, remaining_s / 3), remaining_s)


async def _turn(
    context: TrialContext, reading: Reading, seat: AskedSeat, text: str, number: int, limit_s: float
) -> Reply | TurnRecord:
    name = seat.entry.id
    seat.step_id = new_step_id()

    def note(update: TaskUpdate) -> None:
        context.progress.note(f"round {number}, {name}: {update.text or update.state}")

    def turn(state: Literal["late", "failed"], error: str) -> TurnRecord:
        return TurnRecord(round=number, seat=name, state=state, error=error)

    async with context.trial_calls.work.piece():
        pass  # the seats of a round are asked one after the other
    try:
        async with asyncio.timeout(limit_s):
            answer = await context.send(
                seat.entry, text, note, step_id=seat.step_id, task_id=seat.task_id, context_id=seat.context_id
            )
    except (TimeoutError, AgentTimeoutError) as error:
        seat.task_id, seat.was_late_after_s = "", limit_s
        return turn("late", redact(str(error)) or f"no reply within {limit_s:g} s")
    except (AgentUnreachableError, RemoteError) as error:
        seat.task_id = ""
        return turn("failed", redact(str(error)))
    seat.was_late_after_s = None
    seat.context_id = answer.context_id or seat.context_id
    seat.task_id = answer.task_id if answer.state is TaskState.INPUT_REQUIRED else ""
    if not answer.succeeded:
        return turn("failed", redact(f"ended with {answer.state}: {answer.status_text}"))
    return await reading.read(name, answer) or turn("failed", str(reading.fault))


def message_step(
    context: TrialContext, message: SeatMessage, text: str, seats: dict[str, AskedSeat], times: StepTimes
) -> Step:
    """The observed step of a message between seats, below its sender's turn. `text`: the message's, redacted."""
    receiver = seats.get(message.receiver)
    attributes = {AGENT_NAME: message.sender, ROUND: str(message.round)}
    if message.cut_from is not None:
        attributes[CUT_FROM] = str(message.cut_from)
    if message.error is None:
        attributes[TASK_STATE] = TaskState.COMPLETED.value
    else:
        attributes["error"] = message.error
    url = "" if receiver is None else receiver.entry.url
    return Step(
        step_id=new_step_id(),
        trace_id=context.trial.trace_id,
        parent_step_id=seats[message.sender].step_id or None,
        call_type=CallType.AGENT,
        step_action=Invocation(agent_invocation=CalledAgent(url, message.receiver, {"text": text})),
        additional_attributes=attributes,
        **times,
    )


def _outcome(context: TrialContext, task: SuiteTask, rounds: Rounds, time_used: float) -> TrialOutcome:
    spec = context.task.family
    solo = spec is not None and spec.control is Control.SOLO
    if solo:
        [alone] = rounds.task.answerers
        answers = solo_answers(task, rounds.answers.get(alone), _answer(rounds, alone))
    else:
        answers = [_answer(rounds, seat) for seat in task.answerers]
    outcome = outcome_of(context.trial.trial_id, answers, time_used)
    record = RoundsRecord(
        rounds=rounds.round,
        max_rounds=rounds.max_rounds,
        answered_in=rounds.answered_in,
        turns=rounds.turns,
    )
    return outcome.model_copy(update={"rounds": record})


def solo_answers(task: SuiteTask, answer: JsonValue, own: AgentAnswer) -> list[AgentAnswer]:
    """The answers of all seats, as the agent that was alone gave them; its `own` for each, if it gave none."""
    if answer is None:
        return [own.model_copy(update={"agent": seat}) for seat in task.answerers]
    given = answers_by_seat(task, answer)
    return [
        graded_answer(seat, answer_text(given[seat]))
        if seat in given
        else unanswered(seat, "the agent alone gave no answer for it")
        for seat in task.answerers
    ]


def _answer(rounds: Rounds, seat: str) -> AgentAnswer:
    if seat in rounds.answers:
        return graded_answer(seat, answer_text(rounds.answers[seat]))
    last = next((turn for turn in reversed(rounds.turns) if turn.seat == seat), None)
    if last is not None and last.state in {"late", "failed"}:
        return unanswered(seat, str(last.error), "timeout" if last.state == "late" else "failed")
    return unanswered(seat, f"no answer in {rounds.round} rounds")

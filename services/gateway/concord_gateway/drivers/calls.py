"""The calls driver: briefs every seat of a team, asks the question, and lets the seats call each other."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from pydantic import JsonValue

from concord.a2a import TaskState
from concord.assessment.results import AgentAnswer, SeatReply, TrialOutcome
from concord.assessment.suite_tasks import instance_of
from concord.assessment.task_spec import Control
from concord.suite import SuiteTask
from concord.trust.proxy_urls import proxy_url
from concord_gateway.calls import SeatPlace, TrialChannel, brief_text, question_text
from concord_gateway.drivers.driver import Reading, TrialContext, open_channel, seat_alone
from concord_gateway.drivers.live import ask, graded_answer, outcome_of, unanswered
from concord_gateway.drivers.rounds import solo_answers
from concord_gateway.rounds.reply import Reply, gives_nothing
from concord_gateway.rounds.texts import answer_text, solo_task

BRIEFING: Final = 0.5
"""The most of a trial's time that the replies to the briefs may take."""


@dataclass(frozen=True, slots=True)
class _Briefed:
    """A seat that got its brief. `task_id` is its task to go on with, if the agent asked for input."""

    place: SeatPlace
    task_id: str = ""
    failure: AgentAnswer | None = None


@dataclass(frozen=True, slots=True)
class _Replied:
    """A seat's reply to the question."""

    seat: str
    at: datetime
    answer: JsonValue = None
    failure: AgentAnswer | None = None


async def drive_calls(context: TrialContext) -> TrialOutcome:
    """Plays the trial's task by calls: all briefs first, then the question to every seat whose brief arrived.

    The trial ends when every seat has replied, or its time is up.
    """
    spec = context.task.family
    if spec is None:
        raise ValueError(f"task {context.task.id!r} has no family")
    whole = task = await asyncio.to_thread(instance_of, context.plan, context.trial)
    if spec.control is Control.SOLO:
        task = solo_task(whole, seat_alone(spec, whole.seats))
    started = time.monotonic()
    channel = await open_channel(context, task.neighbours)
    places = [place for place in channel.seats if place.entry.id in task.neighbours]
    context.progress.note(f"briefing {len(places)} seats")
    briefed = await asyncio.gather(*(_brief(context, task, place, started) for place in places))
    await _begin_calls(context, channel, [each.place for each in briefed])
    context.progress.note("asking the question")
    reading = Reading()
    replies = await asyncio.gather(*(_ask(context, reading, task, each, started) for each in briefed))
    if reading.fault is not None:
        raise reading.fault
    replies = [replace(each, answer=None) if channel.wire.is_silenced(each.seat) else each for each in replies]
    return _outcome(context, whole, task, replies, time.monotonic() - started)


async def _brief(context: TrialContext, task: SuiteTask, place: SeatPlace, started: float) -> _Briefed:
    """Briefs a seat. The gateway proposes a context; if the agent's answer names another, that is the seat's."""
    addresses = await _addresses(context, place)
    text = brief_text(task, place.entry.id, addresses)
    limit_s = _limit_s(context, started, BRIEFING)
    answer = await ask(context, place.entry, text, limit_s, context_id=place.context_id)
    if isinstance(answer, AgentAnswer):
        return _Briefed(place, failure=_in_its_brief(answer))
    placed = place.model_copy(update={"context_id": answer.context_id or place.context_id})
    if not answer.succeeded:
        failed = unanswered(place.entry.id, f"ended with {answer.state}: {answer.status_text}")
        return _Briefed(placed, failure=_in_its_brief(failed))
    return _Briefed(placed, answer.task_id if answer.state is TaskState.INPUT_REQUIRED else "")


def _in_its_brief(answer: AgentAnswer) -> AgentAnswer:
    return answer.model_copy(update={"error": f"in reply to its brief: {answer.error}"})


async def _addresses(context: TrialContext, place: SeatPlace) -> Mapping[str, str]:
    base = context.channels.proxy_base
    if base is None or not place.neighbours:
        return {}
    token = await context.token(place.entry.id)
    return {name: proxy_url(base, name, token.get_secret_value()) for name in place.neighbours}


async def _begin_calls(context: TrialContext, channel: TrialChannel, briefed: list[SeatPlace]) -> None:
    """Opens the channel with the contexts that were briefed."""
    placed = {place.entry.id: place for place in briefed}
    seats = [placed.get(place.entry.id, place) for place in channel.seats]
    opened = channel.model_copy(update={"seats": seats, "is_open": True})
    await context.channels.save(context.plan.assessment_id, context.trial.trace_id, opened)


async def _ask(context: TrialContext, reading: Reading, task: SuiteTask, briefed: _Briefed, started: float) -> _Replied:
    place, seat = briefed.place, briefed.place.entry.id
    if briefed.failure is not None:
        return _Replied(seat, datetime.now(UTC), failure=briefed.failure)
    limit_s = _limit_s(context, started)
    answer = await ask(
        context,
        place.entry,
        question_text(task, seat),
        limit_s,
        context_id=place.context_id,
        task_id=briefed.task_id,
    )
    replied = _Replied(seat, datetime.now(UTC))
    if isinstance(answer, AgentAnswer):
        return replace(replied, failure=answer)
    if not answer.succeeded:
        return replace(replied, failure=unanswered(seat, f"ended with {answer.state}: {answer.status_text}"))
    reply = await reading.read(seat, answer)
    return replied if reply is None else replace(replied, answer=_given(reply, task.key))


def _given(reply: Reply, key: JsonValue) -> JsonValue:
    """The answer in a reply to the question: the JSON object's `answer`, else the prose; None for none."""
    given = reply.prose if reply.answer is None and not reply.readable else reply.answer
    return None if gives_nothing(given, key) else given


def _limit_s(context: TrialContext, started: float, share: float = 1.0) -> float:
    remaining_s = max(0.0, started + context.budget_s - time.monotonic()) * share
    return min(context.plan.config.turn_timeout_s or remaining_s, remaining_s)


def _outcome(
    context: TrialContext, whole: SuiteTask, task: SuiteTask, replies: list[_Replied], time_used: float
) -> TrialOutcome:
    given = {each.seat: each for each in replies}
    if task is whole:
        answers = [_answer(given[seat]) for seat in task.answerers]
    else:
        [alone] = replies
        answers = solo_answers(whole, alone.answer, _answer(alone))
    given_at = [
        SeatReply(
            seat=each.seat,
            at=each.at,
            state="replied" if each.failure is None else "late" if each.failure.state == "timeout" else "failed",
            error=None if each.failure is None else each.failure.error,
        )
        for each in replies
    ]
    return outcome_of(context.trial.trial_id, answers, time_used).model_copy(update={"replies": given_at})


def _answer(replied: _Replied) -> AgentAnswer:
    if replied.failure is not None:
        return replied.failure
    if replied.answer is None:
        return unanswered(replied.seat, "its reply has no answer")
    return graded_answer(replied.seat, answer_text(replied.answer))

"""Plays a task by calls in this process: the sample agent in every seat, over the gateway's own texts and channel."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from concord.assessment.faults import PlantedFault
from concord.assessment.task_spec import Exchange
from concord.assessment.verdict import Cause
from concord.suite import Bound, Grade, SuiteTask, fewest_calls
from concord.wire.roster import RosterEntry
from concord_evaluator.information.flow import Flow, flow_of
from concord_evaluator.information.part_causes import failures_of
from concord_evaluator.information.receipts import Credit, Unexplained, credit_of, unexplained_in
from concord_evaluator.information.turns import Answered, Turns
from concord_evaluator.messages import Sent
from concord_gateway.calls import CallWire, SeatPlace, TrialChannel, brief_text, question_text
from concord_gateway.rounds.reply import read_reply
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from concord_suites.player import CallingPlayer, Habit, caller_of
from tests.kit.players.plans import needs_by_seat

WAIT_S = 0.2

MAX_CALLS = 200
"""Calls of a trial, after which its time is up: seats whose messages are cut may ask each other for ever."""


class Oracle(CallingPlayer):
    """The sample agent's seat, with what it cannot know: who holds what the answer needs, and a good order."""

    beginner: str = ""
    worthwhile: frozenset[str] = frozenset()

    def begins(self) -> bool:
        """Whether it is the seat that should begin."""
        return self.own.name == self.beginner

    def worth_asking(self) -> Sequence[str]:
        """The neighbours that lead to a needed fact."""
        return [other for other in self.own.neighbours if other in self.worthwhile]


@dataclass
class Played:
    """A trial by calls."""

    family: TextFamily
    task: SuiteTask
    answers: dict[str, str] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    calls: int = 0
    refused: int = 0
    answered: dict[str, int] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()

    @property
    def grade(self) -> Grade:
        """The grade of the answers."""
        return self.family.grade(self.answers, self.task.key)

    @property
    def fewest(self) -> Bound:
        """The fewest calls."""
        return fewest_calls(self.task)

    def flow(self) -> Flow:
        """The flow of facts through requests and answers."""
        return flow_of(self.task, self.family, self.sent, self.answers)

    def credit(self) -> Credit:
        """The answers as far as the messages prove them."""
        answered = Answered(self.answered, len(self.sent) + 1, in_rounds=False)
        return credit_of(self.task, self.grade, self.flow(), answered)

    def failures(self) -> list[Cause]:
        """Why parts are wrong, as the evaluator finds it."""
        answered = Answered(self.answered, len(self.sent) + 1, in_rounds=False)
        always = frozenset(range(1, len(self.sent) + 2))
        turns = Turns(failed=dict.fromkeys(self.failed, always))
        return failures_of(self.task, self.family, self.answers, self.flow(), answered, turns)

    def unexplained(self) -> list[Unexplained]:
        """Knowledge in answers that nothing told their seats."""
        return unexplained_in(self.task, self.answers, self.sent)

    def tell(self, step_id: str, sender: str, receiver: str, text: str, *, delivered: bool = True) -> None:
        """Notes a request or an answer."""
        self.sent.append(Sent(step_id, len(self.sent) + 1, sender, receiver, text, delivered))


def play(family: TextFamily, task: SuiteTask, habits: Mapping[str, Habit] | None = None) -> Played:
    """Plays a task with the sample agent."""
    return asyncio.run(_play(family, task, habits or {}, CallWire(), oracle=False))


def play_well(family: TextFamily, task: SuiteTask, *faults: PlantedFault) -> Played:
    """Plays a task with a team that asks nobody in vain, over a wire with these faults."""
    return asyncio.run(_play(family, task, {}, CallWire(faults), oracle=True))


async def _play(
    family: TextFamily, task: SuiteTask, habits: Mapping[str, Habit], wire: CallWire, *, oracle: bool
) -> Played:
    played, seats = Played(family, task), dict[str, CallingPlayer]()
    channel = channel_of(task)

    async def carry(caller: str, addressed: str, text: str) -> str:
        callee = wire.addressee(caller, addressed)
        answer = ""
        for _ in range(1 + wire.is_doubled(caller, addressed)):
            played.calls += 1
            step_id = f"call {played.calls}"
            is_lost = wire.is_cut(caller, addressed) or wire.is_lost(caller, addressed) or played.calls > MAX_CALLS
            if is_lost or channel.refusal(caller, addressed) is not None:
                played.refused += 1
                played.tell(step_id, caller, callee, text, delivered=False)
                return ""
            arrived = _arriving(wire, caller, addressed, text)
            played.tell(step_id, caller, callee, arrived)
            answer = _arriving(wire, callee, caller, await seats[callee].called(arrived))
            if wire.is_lost(callee, caller):
                return ""
            played.tell(step_id, callee, caller, answer)
        return answer

    async def ask(seat: str) -> None:
        reply = read_reply(await seats[seat].asked(question_text(task, seat)))
        if wire.is_silenced(seat):
            return
        played.answered[seat] = len(played.sent) + 1
        if reply.answer is not None and seat in task.answerers:
            played.answers[seat] = _text(reply.answer)

    for seat in task.seats:
        brief = brief_text(task, seat, {other: other for other in task.neighbours[seat]})

        async def call(callee: str, text: str, caller: str = seat) -> str:
            return await carry(caller, callee, text)

        seats[seat] = caller_of(brief, call, FAMILIES, habits)
        seats[seat].wait_s = WAIT_S
        if oracle:
            seats[seat] = _oracle(task, seats[seat])
    await asyncio.gather(*(ask(seat) for seat in task.seats))
    return played


def _arriving(wire: CallWire, sender: str, receiver: str, text: str) -> str:
    return "".join(each["text"] for each in wire.parts(sender, receiver, [{"text": text}]))


def channel_of(task: SuiteTask) -> TrialChannel:
    """The channel of a task whose seats have their briefs."""
    places = [
        SeatPlace(entry=RosterEntry(id=seat, url=f"http://{seat}/"), context_id=seat, neighbours=others)
        for seat, others in task.neighbours.items()
    ]
    return TrialChannel(exchange=Exchange.CALLS, seats=places, is_open=True)


def _oracle(task: SuiteTask, seat: CallingPlayer) -> Oracle:
    oracle = Oracle(seat.own, seat.seats, seat.addresses, seat.call, seat.families, wait_s=seat.wait_s)
    oracle.beginner = min(task.seats, key=lambda each: (len(task.neighbours[each]), each))
    oracle.worthwhile = _worthwhile(task)
    return oracle


def _worthwhile(task: SuiteTask) -> frozenset[str]:
    """The only holders of needed facts, if they are next to the only answerer; else all seats."""
    needs = needs_by_seat(task)
    if len(needs) != 1:
        return frozenset(task.seats)
    [(answerer, needed)] = needs.items()
    away = [fact.holders for fact in task.facts if fact.id in needed and answerer not in fact.holders]
    senders = {held[0] for held in away if len(held) == 1}
    direct = senders <= set(task.neighbours[answerer]) and all(senders & set(held) for held in away)
    return frozenset(senders if direct else task.seats)


def _text(answer: JsonValue) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)

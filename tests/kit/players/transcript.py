"""Tells a trial in rounds once more as a trial by calls, in which the same seats say the same in the same order."""

from collections.abc import Iterator

from concord.suite import Draw
from concord_gateway.rounds.exchange import SeatMessage
from tests.kit.players.calls import Played as PlayedByCalls
from tests.kit.players.plans import Plan, Send
from tests.kit.players.play import Played


def as_calls(played: Played, plan: Plan, draw: Draw, *, asked: bool) -> PlayedByCalls:
    """The trial by calls. `asked`: receivers call the senders of the plan; else senders call their receivers.

    A seat that has answered calls nobody, and may be called.
    """
    rounds = played.rounds
    calls = PlayedByCalls(played.family, played.task, answers=played.answers)
    calls.failed = frozenset(turn.seat for turn in rounds.turns if turn.state == "failed")
    last = {seat: rounds.answered_in.get(seat, rounds.round) for seat in played.task.seats}
    for number in range(1, rounds.round + 1):
        calls.answered |= {seat: len(calls.sent) + 1 for seat, answered in last.items() if answered == number}
        planned = [each for each in plan.sends if each.round == number and asked and last[each.receiver] > number]
        sent = [each for each in rounds.messages if each.round == number]
        for send in planned:
            _ask(calls, send, list(_answering(sent, send)), draw)
        for message in sent:
            if not any(_belongs(message, send) for send in planned):
                _call(calls, message, draw)
    calls.answered = {seat: time for seat, time in calls.answered.items() if seat not in calls.failed}
    return calls


def _answering(sent: list[SeatMessage], send: Send) -> Iterator[SeatMessage]:
    return (message for message in sent if _belongs(message, send))


def _belongs(message: SeatMessage, send: Send) -> bool:
    return (message.sender, message.receiver) == (send.sender, send.receiver)


def _ask(calls: PlayedByCalls, send: Send, answers: list[SeatMessage], draw: Draw) -> None:
    """The receiver of a message calls its sender, which says it in its answer."""
    calls.calls += 1
    step = f"call {calls.calls}"
    question = draw.choice((f"What do you know, {send.sender}?", "Please tell me all you have.", "Anything new?"))
    calls.tell(step, send.receiver, send.sender, question)
    if send.sender not in calls.failed:
        told = "\n\n".join(each.text for each in answers)
        calls.tell(step, send.sender, send.receiver, told or draw.choice(("Nothing yet.", "I have nothing for you.")))


def _call(calls: PlayedByCalls, message: SeatMessage, draw: Draw) -> None:
    """The sender of a message calls its receiver, which thanks it."""
    calls.calls += 1
    step, delivered = f"call {calls.calls}", message.error is None
    calls.tell(step, message.sender, message.receiver, message.text, delivered=delivered)
    if delivered and message.receiver not in calls.failed:
        calls.tell(step, message.receiver, message.sender, draw.choice(("Thank you.", "Noted.", "OK")))

"""The messages between the seats of a trial in rounds: what each may send, and when it is delivered."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import takewhile
from typing import Final

from pydantic import JsonValue

from concord.assessment.faults import Chatter, Cut, OnSeat, PlantedFault
from concord.assessment.results import TurnRecord
from concord.storage import MAX_STEPS
from concord.suite import SuiteTask, distances
from concord_gateway.rounds.reply import EVERYBODY, NO_REPLY, Outgoing, Reply, gives_nothing

MAX_ROUND_CHARACTERS: Final = 64 * 1024 * 1024
"""Characters of all messages that arrive in one round of a trial, a message to several seats counted for each."""


class OverBudgetError(Exception):
    """The participants of a trial made the gateway keep more than its budget, so it ends and counts 0; the message says
    what."""


# A message between two seats of a trial in rounds.


@dataclass(frozen=True, slots=True)
class SeatMessage:
    """A message from one seat to one other. `error` says why it was not delivered; None if it was."""

    round: int
    sender: str
    receiver: str
    text: str
    error: str | None = None
    cut_from: int | None = None
    """The characters that it had, if the rest was cut off."""


# The wire between the seats of a trial in rounds: it carries each message as it is, but for planted faults. No I/O.

CHATTER: Final = "Just checking in. Nothing new from my side so far."

_NUMBER: Final = re.compile(r"\d[\d,]{3,}\d")
"""A number as the briefs of tasks write their values."""


@dataclass(slots=True)
class Wire:
    """What becomes of the messages of one trial. Without faults, each arrives in the next round as it was sent."""

    faults: Sequence[PlantedFault] = ()
    neighbours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The seats that each seat may write to."""
    _held: list[SeatMessage] = field(default_factory=list)
    """Messages under way, each with the round in which it seems to be sent."""

    @property
    def holds(self) -> bool:
        """Whether a message is under way for longer than a round."""
        return bool(self._held)

    def replaces(self, number: int, seat: str) -> bool:
        """Whether something else replies in a seat's place in a round, so that its agent is not asked."""
        return any(fault.kind in {"null", "echo"} for fault in self._on_seat(number, seat))

    def replied(self, number: int, seat: str, reply: Reply, inbox: Sequence[SeatMessage]) -> Reply:
        """What arrives of a seat's reply in a round; `inbox` is what the seat got in it."""
        for fault in self._on_seat(number, seat):
            echoed = tuple(Outgoing((each.sender,), each.text) for each in inbox)
            reply = replace(NO_REPLY, messages=echoed) if fault.kind == "echo" else NO_REPLY
        return reply

    def refusal(self, number: int, sender: str, receiver: str) -> str | None:
        """Why a message cannot be sent in a round, as its sender learns; None if it can."""
        cuts = (fault for fault in self.faults if isinstance(fault, Cut) and fault.is_on(number))
        if any({sender, receiver} == set(fault.edge) for fault in cuts):
            return f"the connection to {receiver} is lost"
        return None

    def carry(self, number: int, sent: Sequence[SeatMessage]) -> list[SeatMessage]:
        """The messages that travel in a round: of those that were sent in it, and then of those under way."""
        due = [each for each in self._held if each.round == number]
        self._held = [each for each in self._held if each.round > number]
        overtaken = {(each.sender, each.receiver) for each in due}
        carried = list(sent)
        for fault in self.faults:
            if fault.is_on(number):
                carried = [each for message in carried for each in self._through(fault, message, overtaken)]
                carried += _added(fault, number, self.neighbours)
        return [*carried, *due]

    def _through(
        self, fault: PlantedFault, message: SeatMessage, overtaken: set[tuple[str, str]]
    ) -> Iterator[SeatMessage]:
        """What a fault lets through of a message at once. `overtaken`: the links on which an earlier one is held."""
        link = message.sender, message.receiver
        if isinstance(fault, OnSeat | Chatter | Cut) or message.error is not None or not fault.concerns(*link):
            yield message
            return
        match fault.kind:
            case "delay":
                self._held.append(replace(message, round=message.round + fault.rounds))
            case "truncate":
                yield _truncated(message, fault.characters)
            case "swap":
                other = fault.instead if message.receiver == fault.receiver else fault.receiver
                yield replace(message, receiver=other)
            case "duplicate":
                yield from (message, replace(message))
            case "garble":
                yield replace(message, text=garbled(message.text))
            case "reorder" if link not in overtaken:
                overtaken.add(link)
                self._held.append(replace(message, round=message.round + 1))
            case "reorder":
                yield message
            case "drop":
                pass

    def _on_seat(self, number: int, seat: str) -> Iterator[OnSeat]:
        return (each for each in self.faults if isinstance(each, OnSeat) and each.seat == seat and each.is_on(number))


def garbled(text: str) -> str:
    """The text with one digit of one of its numbers changed, always the same; the text itself if it has no number."""
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return text
    chosen = sha256(text.encode()).digest()
    number = numbers[chosen[0] % len(numbers)]
    digits = [place for place in range(number.start() + 1, number.end()) if text[place].isdigit()]
    at = digits[chosen[1] % len(digits)]
    return f"{text[:at]}{(int(text[at]) + 3) % 10}{text[at + 1 :]}"


def _truncated(message: SeatMessage, characters: int) -> SeatMessage:
    if len(message.text) <= characters:
        return message
    return replace(message, text=message.text[:characters], cut_from=message.cut_from or len(message.text))


def _added(fault: PlantedFault, number: int, neighbours: Mapping[str, tuple[str, ...]]) -> list[SeatMessage]:
    if not isinstance(fault, Chatter):
        return []
    receivers = neighbours.get(fault.sender, ()) if fault.receiver is None else (fault.receiver,)
    return [SeatMessage(number, fault.sender, receiver, CHATTER) for receiver in receivers]


# The state of a trial in rounds: its messages, their delivery, and the answers so far. No I/O.


def default_rounds(task: SuiteTask) -> int:
    """The default limit of rounds: enough for a message to cross the team and return, and four more."""
    diameter = max(max(distances(task.neighbours, seat).values()) for seat in task.seats)
    return 2 * diameter + 4


@dataclass(slots=True)
class Rounds:
    """A trial in rounds, which its driver takes from round to round."""

    task: SuiteTask
    max_rounds: int
    silent: bool = False
    """Whether no message is delivered (the control team without a channel)."""
    round: int = 0
    answers: dict[str, JsonValue] = field(default_factory=dict)
    answered_in: dict[str, int] = field(default_factory=dict)
    """The round of each seat's last answer."""
    messages: list[SeatMessage] = field(default_factory=list)
    """As the wire carried them."""
    max_messages: int = MAX_STEPS
    max_characters: int = MAX_ROUND_CHARACTERS
    """Limits on the messages of the trial, and on the characters of those of one round."""
    turns: list[TurnRecord] = field(default_factory=list)
    wire: Wire = field(default_factory=Wire)
    _notices: dict[str, list[str]] = field(default_factory=dict)
    _seen_by: dict[str, list[SeatMessage]] = field(default_factory=dict)
    """The messages that each seat wrote or was to receive."""

    @property
    def over(self) -> bool:
        """Whether the trial has ended: every required seat has answered and no message is undelivered, or no round is
        left."""
        if self.round >= self.max_rounds:
            return True
        answered = all(seat in self.answers for seat in self.task.answerers)
        return answered and not self.wire.holds and not any(map(self._arriving, self.task.seats))

    @property
    def asked(self) -> list[str]:
        """The seats whose agents are asked in this round."""
        return [seat for seat in self.task.seats if not self.wire.replaces(self.round, seat)]

    def begin(self) -> None:
        """Begins the next round."""
        self.round += 1

    def inbox(self, seat: str) -> list[SeatMessage]:
        """The messages that arrived for a seat since its last turn, sorted by sender."""
        arrived = [each for each in self._seen_by.get(seat, []) if each.receiver == seat and each.error is None]
        return sorted((each for each in arrived if each.round == self.round - 1), key=lambda each: each.sender)

    def history(self, seat: str) -> list[SeatMessage]:
        """All that a seat wrote and received before, in order, without its present inbox."""
        return [
            each
            for each in self._seen_by.get(seat, [])
            if each.sender == seat or (each.error is None and each.round < self.round - 1)
        ]

    def notices(self, seat: str) -> list[str]:
        """The notices to a seat about its messages and its reply in the previous round."""
        return self._notices.get(seat, [])

    def take(self, replies: Mapping[str, Reply | TurnRecord]) -> None:
        """Takes the replies of the current round; a seat that did not reply has a turn that says so.

        Raises OverBudgetError, which names the seat whose message was one too many.
        """
        self._notices = {}
        sent: list[SeatMessage] = []
        arriving = {seat: self._arriving_reply(seat, replies.get(seat, NO_REPLY)) for seat in self.task.seats}
        self._charge(arriving)
        for seat, reply in arriving.items():
            if isinstance(reply, TurnRecord):
                self.turns.append(reply)
                continue
            self.turns.append(
                TurnRecord(round=self.round, seat=seat, state="replied" if reply.readable else "unreadable")
            )
            if not reply.readable:
                self._notice(seat, "Your reply could not be read completely: it is not in the form given below.")
            for outgoing in reply.messages:
                sent += self._distributed(seat, outgoing)
            self._answer(seat, reply)
        self._carry(sent)

    def _carry(self, sent: Sequence[SeatMessage]) -> None:
        """Delivers messages as the wire carries them. Their senders see them as they sent them."""
        carried = self.wire.carry(self.round, sent)
        unchanged, own = {id(each) for each in carried}, {id(each) for each in sent}
        for message in sent:
            self._seen_by.setdefault(message.sender, []).append(message)
            if id(message) in unchanged:
                self._seen_by.setdefault(message.receiver, []).append(message)
        for message in carried:
            if id(message) not in own:
                self._seen_by.setdefault(message.receiver, []).append(message)
        self.messages += carried

    def _arriving(self, seat: str) -> bool:
        """Whether a message of this round is on its way to a seat."""
        latest = reversed(self._seen_by.get(seat, []))
        this_round = takewhile(lambda each: each.round == self.round, latest)
        return any(each.receiver == seat and each.error is None for each in this_round)

    def _answer(self, seat: str, reply: Reply) -> None:
        answer = reply.answer
        if answer is None and self.round == self.max_rounds and not reply.readable:
            answer = reply.prose or None
        if not gives_nothing(answer, self.task.key) and seat in self.task.answerers:
            self.answers[seat] = answer
            self.answered_in[seat] = self.round

    def _distributed(self, sender: str, outgoing: Outgoing) -> Iterator[SeatMessage]:
        """A message to each of its addressees, and one for all that are one too many."""
        seats, nobodies, more = self._addressees(sender, outgoing)
        text = outgoing.text[: self.task.message_limit]
        cut_from = len(outgoing.text) if len(text) < len(outgoing.text) else None
        for name in seats:
            yield self._sent(sender, name, text, cut_from, self._fault(sender, name))
        for name in nobodies:
            yield self._sent(sender, name, text, cut_from, f"nobody is called {name[:64]!r}")
        if more:
            others = f" or by one of {len(more) - 1} other names" if len(more) > 1 else ""
            yield self._sent(sender, more[0], text, cut_from, f"nobody is called {more[0][:64]!r}{others}")

    def _addressees(self, sender: str, outgoing: Outgoing) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        """The seats that a message is to, names of nobody, and further names beyond the number of seats."""
        if outgoing.to == (EVERYBODY,):
            return self.task.neighbours[sender], (), ()
        names: dict[str, None] = {}
        for name in outgoing.to:
            names |= dict.fromkeys(self.task.neighbours[sender]) if name == EVERYBODY else {name: None}
        seats = [name for name in names if name in self.task.neighbours]
        nobodies = [name for name in names if name not in self.task.neighbours]
        room = len(self.task.seats) - len(seats)
        return seats, nobodies[:room], nobodies[room:]

    def _fault(self, sender: str, receiver: str) -> str | None:
        """Why a seat's message to another is not delivered; None if it is."""
        if receiver not in self.task.neighbours[sender]:
            return f"you may not write to {receiver}"
        if self.silent:
            return "no message is delivered in this trial"
        return self.wire.refusal(self.round, sender, receiver)

    def _sent(self, sender: str, receiver: str, text: str, cut_from: int | None, error: str | None) -> SeatMessage:
        if error is not None:
            self._notice(sender, f"Your message to {receiver[:64]!r} was not delivered: {error}.")
        elif cut_from is not None:
            self._notice(sender, f"Your message to {receiver} was cut off after {len(text)} characters.")
        return SeatMessage(self.round, sender, receiver[:64], text, error, cut_from)

    def _arriving_reply(self, seat: str, reply: Reply | TurnRecord) -> Reply | TurnRecord:
        return reply if isinstance(reply, TurnRecord) else self.wire.replied(self.round, seat, reply, self.inbox(seat))

    def _charge(self, replies: Mapping[str, Reply | TurnRecord]) -> None:
        """Charges the messages of a round to the trial before one of them is made. Raises OverBudgetError."""
        messages, characters = len(self.messages), 0
        for seat, reply in replies.items():
            for outgoing in () if isinstance(reply, TurnRecord) else reply.messages:
                seats, nobodies, more = self._addressees(seat, outgoing)
                count = len(seats) + len(nobodies) + bool(more)
                messages += count
                characters += count * min(len(outgoing.text), self.task.message_limit)
                if messages > self.max_messages:
                    raise OverBudgetError(f"{seat} exceeded a trial's budget of {self.max_messages} messages")
                if characters > self.max_characters:
                    raise OverBudgetError(
                        f"{seat} exceeded the budget of {self.max_characters} characters for the messages of a round"
                    )

    def _notice(self, seat: str, text: str) -> None:
        self._notices.setdefault(seat, []).append(text)

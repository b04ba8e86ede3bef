"""The wire between the seats of a trial in rounds: it carries each message as it is, but for planted faults. No I/O."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from concord.assessment.faults import Chatter, Cut, OnSeat, PlantedFault
from concord_gateway.rounds.message import Message
from concord_gateway.rounds.reply import NO_REPLY, Outgoing, Reply

CHATTER: Final = "Just checking in. Nothing new from my side so far."

_NUMBER: Final = re.compile(r"\d[\d,]{3,}\d")
"""A number as the briefs of tasks write their values."""


@dataclass(slots=True)
class Wire:
    """What becomes of the messages of one trial. Without faults, each arrives in the next round as it was sent."""

    faults: Sequence[PlantedFault] = ()
    neighbours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The seats that each seat may write to."""
    _held: list[Message] = field(default_factory=list)
    """Messages under way, each with the round in which it seems to be sent."""

    @property
    def holds(self) -> bool:
        """Whether a message is under way for longer than a round."""
        return bool(self._held)

    def replaces(self, number: int, seat: str) -> bool:
        """Whether something else replies in a seat's place in a round, so that its agent is not asked."""
        return any(fault.kind in {"null", "echo"} for fault in self._on_seat(number, seat))

    def replied(self, number: int, seat: str, reply: Reply, inbox: Sequence[Message]) -> Reply:
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

    def carry(self, number: int, sent: Sequence[Message]) -> list[Message]:
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

    def _through(self, fault: PlantedFault, message: Message, overtaken: set[tuple[str, str]]) -> Iterator[Message]:
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


def _truncated(message: Message, characters: int) -> Message:
    if len(message.text) <= characters:
        return message
    return replace(message, text=message.text[:characters], cut_from=message.cut_from or len(message.text))


def _added(fault: PlantedFault, number: int, neighbours: Mapping[str, tuple[str, ...]]) -> list[Message]:
    if not isinstance(fault, Chatter):
        return []
    receivers = neighbours.get(fault.sender, ()) if fault.receiver is None else (fault.receiver,)
    return [Message(number, fault.sender, receiver, CHATTER) for receiver in receivers]

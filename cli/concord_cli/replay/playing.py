"""Plays a recorded trial on: its rounds up to a change as they are recorded, and the rest live."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from concord.a2a import AgentTimeoutError, AgentUnreachableError, RemoteError
from concord.agent.messenger import Messenger
from concord.assessment.faults import Cut, PlantedFault
from concord.assessment.results import TurnRecord
from concord.trust.redaction import redact
from concord_cli.replay.edits import Edit
from concord_cli.replay.recorded import Ended, Recorded, Replies
from concord_gateway.rounds.exchange import Rounds, SeatMessage, Wire
from concord_gateway.rounds.reply import Reply, read_reply
from concord_gateway.rounds.texts import turn_text

TURN_S: Final = 120.0
"""The limit of a live turn."""


class LiveTeam(Protocol):
    """The agents in the seats of a replayed trial."""

    async def replies(self, rounds: Rounds) -> Replies:
        """The replies of all seats that are asked in the present round."""


@dataclass(slots=True)
class Agents:
    """Running A2A agents. `urls`: by seat. A turn's text holds all that was said before, so each turn stands alone."""

    messenger: Messenger
    urls: Mapping[str, str]

    async def replies(self, rounds: Rounds) -> Replies:
        """The replies of all seats that are asked in the present round."""
        found = await asyncio.gather(*(self._turn(rounds, seat) for seat in rounds.asked))
        return dict(zip(rounds.asked, found, strict=True))

    async def _turn(self, rounds: Rounds, seat: str) -> Reply | TurnRecord:
        try:
            async with asyncio.timeout(TURN_S):
                answer = await self.messenger.send(self.urls[seat], text=turn_text(rounds, seat))
        except (TimeoutError, AgentTimeoutError) as error:
            return TurnRecord(round=rounds.round, seat=seat, state="late", error=redact(str(error)))
        except (AgentUnreachableError, RemoteError) as error:
            return TurnRecord(round=rounds.round, seat=seat, state="failed", error=redact(str(error)))
        if not answer.succeeded:
            ended = redact(f"ended with {answer.state}: {answer.status_text}")
            return TurnRecord(round=rounds.round, seat=seat, state="failed", error=ended)
        return read_reply(answer.text or answer.status_text, answer.data_parts)


@dataclass(slots=True)
class EditedWire(Wire):
    """A wire on which some messages arrive otherwise than they were sent. Their senders do not learn it."""

    edits: Sequence[Edit] = ()

    def carry(self, number: int, sent: Sequence[SeatMessage]) -> list[SeatMessage]:
        """The messages that travel in a round, with its changes."""
        edits = [each for each in self.edits if each.round == number]
        replaced = {_content(each.instead) for each in edits if each.instead is not None}
        # zero-argument super() finds no class in one with slots
        carried = [each for each in Wire.carry(self, number, sent) if _content(each) not in replaced]
        return carried + [SeatMessage(number, each.sender, each.receiver, each.text) for each in edits if each.text]


async def played_on(recorded: Recorded, team: LiveTeam, since: int, edits: Sequence[Edit] = ()) -> Ended:
    """The trial with these changes: its first `since` rounds as they are recorded, and the rest live.

    What the network did in the recorded rounds is in the record, but for what a cut edge refuses anew. After them, it
    has the faults that were planted.
    """
    task = recorded.ended.task
    faults = [each if isinstance(each, Cut) else _after(each, since) for each in recorded.faults]
    wire = EditedWire(faults, task.neighbours, edits=edits)
    rounds = Rounds(task, recorded.ended.rounds.max_rounds, wire=wire)
    for replies in recorded.replies[:since]:
        rounds.begin()
        rounds.take(replies)
    while not rounds.over:
        rounds.begin()
        rounds.take(await team.replies(rounds))
    return Ended(task, recorded.ended.family, rounds)


def _after(fault: PlantedFault, since: int) -> PlantedFault:
    return fault.model_copy(update={"first_round": max(fault.first_round, since + 1)})


def is_same(one: Ended, other: Ended) -> bool:
    """Whether two trials have the same messages and answers."""
    return _said(one) == _said(other) and one.answers == other.answers


def _said(ended: Ended) -> list[tuple[int, str, str, str]]:
    return sorted(map(_content, ended.rounds.messages))


def _content(message: SeatMessage) -> tuple[int, str, str, str]:
    """A message without its fate: of a recorded one that was cut off, a replay gets what was left."""
    return message.round, message.sender, message.receiver, message.text

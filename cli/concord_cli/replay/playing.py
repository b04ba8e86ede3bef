"""Plays a recorded trial on from a change, the rest live, and says whether the change turns it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Protocol

from concord.a2a import AgentTimeoutError, AgentUnreachableError, RemoteError
from concord.agent.messenger import Messenger
from concord.assessment.faults import Cut, PlantedFault
from concord.assessment.results import TurnRecord
from concord.trust.redaction import redact
from concord_cli.replay.edits import Edit
from concord_cli.replay.recorded import Ended, Recorded, Replies
from concord_evaluator.statistics import mean_interval
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


@dataclass(frozen=True, slots=True)
class Turn:
    """What a change did: the mean value of the replays with it and of those without, from 0 to 1.

    `control_is_equal`: whether the replay without the change was the recorded trial again. The team is then taken as
    deterministic, and the one replay with the change proves what it does. `low` and `high`: the interval at 95 % of the
    gain where it is not; None where nothing is to be estimated.
    """

    before: float
    after: float
    control_is_equal: bool
    pairs: int = 1
    low: float | None = None
    high: float | None = None

    @property
    def turned(self) -> bool | None:
        """Whether the change turns what it is about: proven, or beyond the interval; None if that is open."""
        if self.control_is_equal:
            return self.after > self.before
        if self.low is None or self.high is None:
            return None
        return True if self.low > 0 else None if self.high > 0 else False


async def turn_of(
    recorded: Recorded, team: LiveTeam, edits: Sequence[Edit], pairs: int, parts: frozenset[str] = frozenset()
) -> Turn:
    """Replays a trial with and without changes. `parts`: of the answer, whose values count; all without."""
    since = min(each.round for each in edits)
    control = await played_on(recorded, team, since)
    edited = await played_on(recorded, team, since, edits)
    if is_same(control, recorded.ended):
        return Turn(_value(control, parts), _value(edited, parts), control_is_equal=True)
    values = [(_value(control, parts), _value(edited, parts))]
    for _ in range(pairs - 1):
        without = _value(await played_on(recorded, team, since), parts)
        values.append((without, _value(await played_on(recorded, team, since, edits), parts)))
    before, after = (fmean(side) for side in zip(*values, strict=True))
    gains = [new - old for old, new in values]
    interval = mean_interval(gains, [str(pair) for pair in range(len(gains))], scale=(-1.0, 1.0))
    bounds = (None, None) if interval is None else (interval.low, interval.high)
    return Turn(before, after, False, len(values), *bounds)


def _value(ended: Ended, parts: frozenset[str]) -> float:
    """The outcome, or the mean value of some parts."""
    return fmean(ended.grade.parts.get(each, 0.0) for each in parts) if parts else ended.grade.outcome

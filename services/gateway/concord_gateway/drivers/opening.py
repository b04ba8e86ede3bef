"""Opening a trial: the channel that the proxy enforces, of seats or of an agent without its peers."""

from collections.abc import Iterable, Mapping
from uuid import uuid4

from concord.assessment.task_spec import Control, Exchange, FamilyTask
from concord.wire.roster import RosterEntry
from concord_gateway.calls.channel import Channel, SeatPlace
from concord_gateway.drivers.driver import TrialContext


async def open_channel(context: TrialContext, neighbours: Mapping[str, tuple[str, ...]]) -> Channel:
    """Stores a trial's channel before its first message, and names each seat its peers.

    The channel of a trial by calls is not open yet, and has a new context for each seat.
    Raises StorageUnavailableError.
    """
    spec = context.task.family
    exchange = Exchange.ROUNDS if spec is None else spec.exchange
    places = [
        SeatPlace(entry=entry, context_id=str(uuid4()), neighbours=neighbours.get(entry.id, ()))
        for entry in context.plan.agents(context.task.id)
    ]
    channel = Channel(
        exchange=exchange,
        seats=places,
        silent=spec is not None and spec.control is Control.SILENT,
        is_open=exchange is not Exchange.CALLS,
        faults=tuple(context.plan.config.faults) if spec is not None and spec.control is None else (),
    )
    await context.channels.save(context.plan.assessment_id, context.trial.trace_id, channel)
    await context.channels.announce(context.trial.trace_id, channel)
    return channel


async def open_alone(context: TrialContext, agent: RosterEntry) -> None:
    """Takes an agent's peers away before a trial's first message: none is listed, and no call is carried.

    Raises StorageUnavailableError.
    """
    place = SeatPlace(entry=agent, context_id="", neighbours=())
    channel = Channel(exchange=Exchange.CALLS, seats=[place], alone=True, is_open=True)
    await context.channels.save(context.plan.assessment_id, context.trial.trace_id, channel)
    await context.channels.announce(context.trial.trace_id, channel)


def seat_alone(spec: FamilyTask, seats: Iterable[str]) -> str:
    """The seat of a solo control: the first of the participant that is tried alone."""
    return next(name for name in seats if spec.solo_by in {name, name.partition("/")[0]})

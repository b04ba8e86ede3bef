"""Time advances: by a call, or automatically with the wall clock."""

import asyncio
from datetime import timedelta
from time import monotonic
from typing import Final

from concord_environment.core.clock import LATEST, to_us
from concord_environment.core.faults import Fault, Invalid
from concord_environment.core.simulation import Progress
from concord_environment.environment import Environment

PERIOD_S: Final = 0.1
"""The period of automatic advances, in seconds."""


def advance(environment: Environment, seconds: float) -> Progress:
    """Advances the simulation.

    Raises Conflict or BadRequest if time cannot move, Invalid if the advance leads beyond 2200.
    """
    environment.lifecycle.require_moving()
    simulation = environment.simulation
    microseconds = round(timedelta(seconds=seconds) / timedelta(microseconds=1))
    if simulation.clock + microseconds >= to_us(LATEST):
        raise Invalid("seconds: leads beyond the year 2200")
    return simulation.advance(max(1, microseconds))


async def follow_wall_clock(environment: Environment) -> None:
    """Advances the simulation by the elapsed wall-clock time, times the time scale, until cancelled.

    A Fault switches automatic advances off.
    """
    last = monotonic()
    while True:
        await asyncio.sleep(PERIOD_S)
        now = monotonic()
        lifecycle = environment.lifecycle
        if lifecycle.auto_advance and lifecycle.is_running and not lifecycle.is_paused:
            try:
                advance(environment, (now - last) * lifecycle.time_scale)
            except Fault:
                lifecycle.auto_advance = False
        last = now

"""The pace: while time advances by itself, simulated time follows the wall clock."""

import asyncio
from time import monotonic
from typing import Final

from concord_environment.api.time import advance
from concord_environment.core.faults import Fault
from concord_environment.environment import Environment
from concord_environment.notices.bus import Kept

PERIOD_S: Final = 0.1


async def keep_pace(environment: Environment, kept: Kept) -> None:
    """Advances the main simulation by what has passed, times the scale, until cancelled. Each move waits to be kept."""
    last = monotonic()
    while True:
        await asyncio.sleep(PERIOD_S)
        now = monotonic()
        lifecycle = environment.lifecycle
        if lifecycle.auto_advance and lifecycle.is_running and not lifecycle.is_paused and not lifecycle.holds():
            try:
                advance(environment, environment.simulation, (now - last) * lifecycle.time_scale)
                await kept()
            except Fault:
                lifecycle.auto_advance = False
        last = now

"""`/simulation/hold`: holds by which agents keep the clock from moving while they work."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Depends
from pydantic import BaseModel, Field

from concord_environment.access.keys import Key
from concord_environment.api.access import Served, permitted
from concord_environment.api.routing import PrefixRouter
from concord_environment.lifecycle import MAX_HOLD_S, Hold


class HoldRequest(BaseModel):
    """A request to hold the clock. `timeout_seconds` is wall-clock time. The holder is the caller's key."""

    reason: Annotated[str | None, Field(max_length=500)] = None
    timeout_seconds: Annotated[float, Field(gt=0, le=MAX_HOLD_S, allow_inf_nan=False)] = 30.0


class HoldView(BaseModel):
    """A hold on the clock. All times are wall-clock times. The hold ends at `expires_at` by itself."""

    hold_id: str
    agent_id: str
    reason: str | None
    timeout_seconds: float
    acquired_at: datetime
    expires_at: datetime


class NewHold(HoldView):
    """A new hold, and the number of all active holds."""

    active_hold_count: int


class Released(BaseModel):
    """A released hold, and the number of holds that remain."""

    released: bool
    hold_id: str
    active_hold_count: int


class HoldList(BaseModel):
    """The active holds."""

    holds: list[HoldView]
    active_count: int


router = PrefixRouter(prefix="/simulation", tags=["simulation"])


@router.post("/hold")
async def hold(
    environment: Served,
    caller: Annotated[Key, Depends(permitted("simulation:hold"))],
    request: HoldRequest | None = None,
) -> NewHold:
    """Holds the clock until the hold is released or expires, by default after 30 seconds of wall-clock time.

    Meanwhile, calls that move time respond with 409. Responds with 409 if there are too many holds.
    """
    asked = request or HoldRequest()
    taken = environment.lifecycle.hold(caller.key_id, asked.reason, asked.timeout_seconds)
    return NewHold(**_fields(taken), active_hold_count=len(environment.lifecycle.holds()))


@router.post("/release/{hold_id}", dependencies=[Depends(permitted("simulation:release"))])
async def release(hold_id: str, environment: Served) -> Released:
    """Releases a hold. Responds with 404 if it has expired or never existed."""
    released = environment.lifecycle.release(hold_id)
    left = len(environment.lifecycle.holds())
    return Released(released=True, hold_id=released.hold_id, active_hold_count=left)


@router.get("/holds", dependencies=[Depends(permitted("simulation:holds"))])
async def list_holds(environment: Served) -> HoldList:
    """Returns the active holds."""
    holds = environment.lifecycle.holds()
    return HoldList(holds=[HoldView(**_fields(one)) for one in holds], active_count=len(holds))


def _fields(hold: Hold) -> dict[str, Any]:
    return {
        "hold_id": hold.hold_id,
        "agent_id": hold.agent_id,
        "reason": hold.reason,
        "timeout_seconds": hold.timeout_seconds,
        "acquired_at": hold.acquired_at,
        "expires_at": hold.acquired_at + timedelta(seconds=hold.timeout_seconds),
    }

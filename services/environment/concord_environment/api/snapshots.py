"""`/simulation/snapshot`: writing a snapshot for a restart."""

from datetime import datetime

from fastapi import Depends, Request
from pydantic import BaseModel

from concord_environment.api.access import Served, permitted
from concord_environment.api.routing import PrefixRouter
from concord_environment.core.faults import Conflict
from concord_environment.persistence.writer import JournalWriter


class SnapshotTaken(BaseModel):
    """A snapshot. `saved` is false, and `size_bytes` null, if nothing has changed since the last snapshot."""

    saved: bool
    size_bytes: int | None
    current_time: datetime
    chain_head: str


router = PrefixRouter(prefix="/simulation", tags=["simulation"])


@router.post("/snapshot", dependencies=[Depends(permitted("simulation:snapshot"))])
async def take_snapshot(request: Request, environment: Served) -> SnapshotTaken:
    """Writes a snapshot of the environment, from which a restarted process continues.

    Responds with 409 if the service has no CONCORD_SNAPSHOT_FILE.
    """
    writer: JournalWriter | None = request.app.state.journal_writer
    if writer is None:
        raise Conflict("the service has no CONCORD_SNAPSHOT_FILE: set it to write snapshots")
    size = await writer.checkpoint()
    position = environment.simulation.position
    return SnapshotTaken(
        saved=size is not None,
        size_bytes=size,
        current_time=environment.simulation.now,
        chain_head=position.head,
    )

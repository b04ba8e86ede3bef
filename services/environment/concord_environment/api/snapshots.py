"""`/simulation/snapshot`: keeping everything for a restart, now."""

from datetime import datetime

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel

from concord_environment.api.access import Served, permitted
from concord_environment.core.faults import Conflict
from concord_environment.persistence.writer import JournalWriter


class SnapshotTaken(BaseModel):
    """What is kept. `saved` is false where nothing has changed since the last one."""

    saved: bool
    size_bytes: int | None
    current_time: datetime
    chain_head: str


router = APIRouter(prefix="/simulation", tags=["simulation"])


@router.post("/snapshot", dependencies=[Depends(permitted("simulation:snapshot"))])
async def take_snapshot(request: Request, environment: Served) -> SnapshotTaken:
    """Writes the snapshot that a restart goes on from. 409 where the process was given no file for it."""
    writer: JournalWriter | None = request.app.state.journal_writer
    if writer is None:
        raise Conflict("set CONCORD_SNAPSHOT_FILE to keep snapshots")
    size = await writer.checkpoint()
    position = environment.simulation.position
    return SnapshotTaken(
        saved=size is not None,
        size_bytes=size,
        current_time=environment.simulation.now,
        chain_head=position.head,
    )

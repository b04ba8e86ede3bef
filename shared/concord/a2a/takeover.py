"""Takeover: an agent's process adopts the tasks of lost processes, and gives up tasks that others adopted."""

import asyncio
import logging
from typing import Final

from concord.a2a.idempotency import IdempotentRequests
from concord.errors import StorageUnavailableError
from concord.task_records import AbandonedTask, TaskRecords

logger = logging.getLogger(__name__)

MAX_STARTS: Final = 5
"""The number of processes that may be lost with a task before it fails: the task itself may be the cause."""


class Takeover:
    """Renews this process's leases, and adopts tasks whose leases have expired."""

    def __init__(self, records: TaskRecords, requests: IdempotentRequests, every_s: float) -> None:
        self._records = records
        self._requests = requests
        self._every_s = every_s

    async def run(self) -> None:
        """Runs until it is cancelled."""
        async with asyncio.TaskGroup() as takings:
            while True:
                try:
                    await self._look(takings)
                except StorageUnavailableError as error:
                    logger.warning("cannot renew the leases of tasks: %s", error)
                await asyncio.sleep(self._every_s)

    async def _look(self, takings: asyncio.TaskGroup) -> None:
        # Renew first: after a storage outage this process's own leases may have expired.
        for task_id in await self._records.renew():
            logger.warning("stopping work on task %s: another process took it over or ended it", task_id)
            await self._requests.leave(task_id)
        while (task := await self._records.adopt()) is not None:
            takings.create_task(self._take(task))

    async def _take(self, task: AbandonedTask) -> None:
        try:
            if task.starts > MAX_STARTS:
                logger.error("task %s failed after the loss of %d processes", task.task_id, MAX_STARTS)
                await self._requests.give_up(
                    task, f"{MAX_STARTS} processes of this agent were lost while they ran this task"
                )
            else:
                logger.warning("continuing task %s, whose process was lost", task.task_id)
                await self._requests.resume(task)
        except Exception:
            logger.exception("task %s cannot be taken over", task.task_id)

"""Progress: what a task is told while it runs, and nothing after its end."""

import asyncio
from dataclasses import dataclass, field
from typing import cast

import pytest

from concord.a2a import TaskHandle
from concord_gateway import progress
from concord_gateway.progress import Progress


@dataclass
class EndingTask:
    """A task that refuses updates once it has ended, as the A2A SDK's does."""

    told: list[str] = field(default_factory=list)
    has_ended: bool = False

    async def working(self, text: str) -> None:
        if self.has_ended:
            raise RuntimeError("the task has ended")
        self.told.append(text)


async def test_no_heartbeat_follows_the_end_of_a_task_whose_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT_S", 0)
    task = EndingTask()
    telling, before = Progress(cast(TaskHandle, task)), asyncio.all_tasks()
    async with telling.heartbeat():
        await telling.tell("the last trial")
        await telling.flush()
        task.has_ended = True
        await asyncio.wait(asyncio.all_tasks() - before)
    assert task.told == ["the last trial"]

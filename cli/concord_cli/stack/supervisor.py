"""Keeps a set of programs running together, and stops them in order."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Self, TypeVar

from concord_cli.stack.child import Child, Program
from concord_cli.stack.folder import RunFolder

T = TypeVar("T")


class Supervisor:
    """Programs in groups, started one group after another and stopped in the reverse order. A context manager."""

    def __init__(self, folder: RunFolder, notice: Callable[[str], None]) -> None:
        self._folder = folder
        self._notice = notice
        self._groups: list[list[Child]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for group in reversed(self._groups):
            await asyncio.gather(*(child.stop() for child in group))

    def start(self, programs: Iterable[Program]) -> None:
        """Starts programs as the next group, without waiting for them."""
        self._groups.append([Child(program, self._folder, self._notice) for program in programs])

    async def ready(self) -> None:
        """Returns once all programs are ready. Raises ProgramFailedError as soon as one will not be."""
        await self.guard(self._all_ready())

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, given up with ProgramFailedError as soon as a program is beyond restarting."""
        task = asyncio.create_task(work)
        lives = [child.life for group in self._groups for child in group]
        try:
            await asyncio.wait([task, *lives], return_when=asyncio.FIRST_COMPLETED)
            for life in lives:
                if life.done():
                    life.result()
            return await task
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _all_ready(self) -> None:
        for group in self._groups:
            for child in group:
                await child.ready()

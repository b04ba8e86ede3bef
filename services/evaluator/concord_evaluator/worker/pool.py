"""CPU-bound work in processes of its own, so that the worker's event loop and its heartbeat go on."""

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Final, ParamSpec, Self, TypeVar, cast

from concord.storage import RetryLater

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_PRELOADED: Final = "concord_evaluator.worker.work"
"""Imported once, in the server that all processes are forked from: each starts at once, and memory is shared."""


class ProcessPool:
    """Runs functions in a bounded number of processes, and replaces them all when one of them dies."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([_PRELOADED])
        self._executor = self._new_executor()
        self._running: dict[str, asyncio.Task[object]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ends all processes, at work or not, and waits until they are gone.

        A job that is cut short is taken up again elsewhere.
        """
        running = list(self._running.values())
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        processes = list(self._executor._processes.values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()  # there is nothing that one of them would have to put in order
        for process in processes:
            await asyncio.to_thread(process.join)

    async def warm_up(self) -> None:
        """Starts a process, so that the first job does not wait for its imports."""
        await self.run("warm up", os.getpid)

    async def run(self, key: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's result, computed in another process: function, arguments and result must pickle.

        A process cannot be interrupted, so a call outlives a job that stops waiting for it. The next call with the
        same key then waits for that one rather than doing its work again. Raises RetryLater if the process died.
        """
        running = cast("asyncio.Task[T] | None", self._running.get(key))
        if running is None:
            running = asyncio.create_task(self._compute(partial(function, *args, **kwargs)))
            running.add_done_callback(lambda _: self._running.pop(key))
            self._running[key] = cast("asyncio.Task[object]", running)
        return await asyncio.shield(running)

    async def _compute(self, function: Callable[[], T]) -> T:
        executor = self._executor
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, function)
        except BrokenProcessPool as error:
            if executor is self._executor:
                logger.warning("a process of the pool died, starting new ones")
                executor.shutdown(wait=False)
                self._executor = self._new_executor()
            raise RetryLater("a process of the pool died") from error

    def _new_executor(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._processes, mp_context=self._context, initializer=_start_process)


def _start_process() -> None:
    """Ctrl-C is the worker's to handle, and nobody is left to work for once it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
    os._exit(1)

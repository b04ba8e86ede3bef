"""CPU-bound work in processes of its own, so that the worker's event loop and its heartbeat go on."""

import asyncio
import logging
import multiprocessing
import os
import resource
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, Self, TypeVar, cast

from concord.storage import RetryLater

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_PRELOADED: Final = "concord_evaluator.worker.pool_functions"
"""Imported once, in the server that all processes are forked from: each starts at once, and memory is shared."""


class JobTooLargeError(Exception):
    """A job took more memory or more time than one may; the text says which."""


class ProcessPool:
    """Runs functions in a bounded number of processes, and replaces one that died, for which no other job pays.

    `memory_bytes`: what the data of one process may take beside what it began with; `limit_s`: how long one call may
    run. A process that cannot keep to them is ended.
    """

    def __init__(self, processes: int, *, memory_bytes: int, limit_s: float) -> None:
        self._memory_bytes = memory_bytes
        self._limit_s = limit_s
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([_PRELOADED])
        # One executor for each process: when a process dies, it is known whose call it was.
        self._executors = {self._new_executor() for _ in range(processes)}
        self._idle: asyncio.LifoQueue[ProcessPoolExecutor] = asyncio.LifoQueue()
        for executor in self._executors:
            self._idle.put_nowait(executor)
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
        for executor in list(self._executors):
            await self._end(executor)

    async def warm_up(self) -> None:
        """Starts a process, so that the first job does not wait for its imports, however long they take."""
        await self._compute(os.getpid, limit_s=None)

    async def run(self, key: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's result, computed in another process: function, arguments and result must pickle.

        A process is not interrupted, so a call outlives a job that stops waiting for it. The next call with the same
        key then waits for that one rather than doing its work again. Raises RetryLater if its process died, and
        JobTooLargeError.
        """
        running = cast("asyncio.Task[T] | None", self._running.get(key))
        if running is None:
            running = asyncio.create_task(self._compute(partial(function, *args, **kwargs), self._limit_s))
            running.add_done_callback(lambda _: self._running.pop(key))
            self._running[key] = cast("asyncio.Task[object]", running)
        return await asyncio.shield(running)

    async def _compute(self, function: Callable[[], T], limit_s: float | None) -> T:
        executor = await self._idle.get()
        whole = False
        try:
            async with asyncio.timeout(limit_s):
                result = await asyncio.get_running_loop().run_in_executor(executor, function)
            whole = True
            return result
        except MemoryError as error:
            limit = f"{self._memory_bytes / 2**30:.3g} GiB"
            raise JobTooLargeError(f"it took more than the {limit} of memory that one job may") from error
        except TimeoutError as error:
            raise JobTooLargeError(f"it took more than the {limit_s:g} s that one job may") from error
        except BrokenProcessPool as error:
            raise RetryLater("its process died") from error
        except Exception:
            whole = True
            raise
        finally:
            if not whole:
                executor = await self._replaced(executor)
            self._idle.put_nowait(executor)

    async def _replaced(self, executor: ProcessPoolExecutor) -> ProcessPoolExecutor:
        logger.warning("a process of the pool is replaced")
        await asyncio.shield(self._end(executor))
        self._executors.remove(executor)
        fresh = self._new_executor()
        self._executors.add(fresh)
        return fresh

    async def _end(self, executor: ProcessPoolExecutor) -> None:
        processes = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()  # there is nothing that one of them would have to put in order
        for process in processes:
            await asyncio.to_thread(process.join)

    def _new_executor(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1, mp_context=self._context, initializer=_start_process, initargs=(self._memory_bytes,)
        )


def _start_process(memory_bytes: int) -> None:
    """Ctrl-C is the worker's to handle, and nobody is left to work for once it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Not RLIMIT_AS, in which shared libraries count; and on top of what imports took, which grows with the cores: a
    # BLAS has a thread for each, with its stack and buffers.
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = memory_bytes + _data_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _data_bytes() -> int:
    """What counts towards RLIMIT_DATA in this process; 0 where the system does not tell."""
    try:
        told = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in told.splitlines() if line.startswith("VmData:")), 0)


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
    os._exit(1)

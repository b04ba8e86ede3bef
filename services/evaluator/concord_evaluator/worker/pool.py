"""A process pool for CPU-bound work, so that the worker's event loop and its heartbeat go on."""

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
"""The fork server imports this module once. Its processes then start fast and share memory."""


class JobTooLargeError(Exception):
    """A job exceeded its memory or its time. The message says which."""


class ProcessPool:
    """Runs functions in a fixed number of processes. A process that dies is replaced and fails only its own call.

    `memory_bytes`: how much data one process may allocate after its start; `limit_s`: how long one call may run. A
    process that exceeds either is killed. `on_replaced` is called for each process that is replaced.
    """

    def __init__(
        self, processes: int, *, memory_bytes: int, limit_s: float, on_replaced: Callable[[], None] = lambda: None
    ) -> None:
        self._memory_bytes = memory_bytes
        self._limit_s = limit_s
        self._on_replaced = on_replaced
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([_PRELOADED])
        # One executor per process: when a process dies, only its own call fails.
        self._executors = {self._new_executor() for _ in range(processes)}
        self._idle: asyncio.LifoQueue[ProcessPoolExecutor] = asyncio.LifoQueue()
        for executor in self._executors:
            self._idle.put_nowait(executor)
        self._running: dict[str, asyncio.Task[object]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kills all processes and waits until they are gone. Another worker takes up the interrupted jobs."""
        running = list(self._running.values())
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for executor in list(self._executors):
            await self._end(executor)

    async def warm_up(self) -> None:
        """Starts a process, so that the first job does not wait for its imports."""
        await self._compute(os.getpid, limit_s=None)

    async def run(self, key: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a function in another process and returns its result. Function, arguments and result must pickle.

        A call outlives a job that stops waiting for it, since a process cannot be interrupted. The next call with the
        same key waits for the running one. Raises RetryLater if the process died, and JobTooLargeError.
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
            raise JobTooLargeError(f"the job exceeded its memory limit of {limit}") from error
        except TimeoutError as error:
            raise JobTooLargeError(f"the job exceeded its time limit of {limit_s:g} s") from error
        except BrokenProcessPool as error:
            raise RetryLater("the job's process died") from error
        except Exception:
            whole = True
            raise
        finally:
            if not whole:
                executor = await self._replaced(executor)
            self._idle.put_nowait(executor)

    async def _replaced(self, executor: ProcessPoolExecutor) -> ProcessPoolExecutor:
        logger.warning("replacing a process of the worker's pool")
        self._on_replaced()
        await asyncio.shield(self._end(executor))
        self._executors.remove(executor)
        fresh = self._new_executor()
        self._executors.add(fresh)
        return fresh

    async def _end(self, executor: ProcessPoolExecutor) -> None:
        processes = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()  # a pool process has no state to clean up
        for process in processes:
            await asyncio.to_thread(process.join)

    def _new_executor(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1, mp_context=self._context, initializer=_start_process, initargs=(self._memory_bytes,)
        )


def _start_process(memory_bytes: int) -> None:
    """Ignores Ctrl-C, which the worker handles; ends with the worker; and limits memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # RLIMIT_DATA, because RLIMIT_AS includes shared libraries. The limit comes on top of what imports allocate, which
    # grows with the number of cores: a BLAS starts one thread per core, with a stack and buffers.
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = memory_bytes + _data_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _data_bytes() -> int:
    """The data of this process that counts towards RLIMIT_DATA (bytes). 0 where the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:")), 0)


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
    os._exit(1)

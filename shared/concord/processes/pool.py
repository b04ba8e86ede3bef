"""The pool: turns of owners, limits of calls, and the processes that are started and killed."""

import asyncio
import logging
import os
import pickle  # nosec B403
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final, ParamSpec, Protocol, Self, TypeVar

from concord.processes.forked import VARIABLE, ForkedProcess, fork
from concord.processes.program import LENGTH

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_PROGRAM: Final = Path(__file__).with_name("program.py")

_PATIENCE_S: Final = 0.3
"""How long a call waits, at the least, for a process to be free before another one starts."""

_LOADING_S: Final = 60.0
"""How long a process may take to import a module before its first call."""


class LimitExceededError(Exception):
    """A call exceeded its CPU time, its memory or its time. The message says which."""


class TooSlowError(LimitExceededError):
    """A call exceeded its time, which may be the fault of a busy machine."""


class ProcessDiedError(Exception):
    """The process of a call was killed from outside, or the pool has ended."""


class Calls(Protocol):
    """Runs the calls of functions somewhere."""

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the function, for `owner`, such as a trial or an API key. Raises what the function raises."""
        ...


class CallsInThread:
    """Runs calls in threads of this process, for somebody who evaluates files of their own: nothing limits them."""

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:  # noqa: ARG002
        """The result of the function."""
        return await asyncio.to_thread(function, *args, **kwargs)


class ProcessPool:
    """Runs functions in up to `processes` processes. One starts when no other is free, so that an idle pool has none.

    `memory_bytes`: how much data one process may allocate beyond its imports (Linux). A process that exceeds a limit is
    killed, and fails only its own call. `on_replaced` is called for each process that died or was killed.
    """

    def __init__(self, processes: int, *, memory_bytes: int, on_replaced: Callable[[], None] = lambda: None) -> None:
        self._memory_bytes = memory_bytes
        self._on_replaced = on_replaced
        self._turns = _OwnerTurns(processes)
        self._idle: list[_PoolProcess] = []
        self._processes: set[_PoolProcess] = set()
        self._freed = asyncio.Event()
        self._patience_s = _PATIENCE_S
        self._ended = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kills all processes and waits until they are gone. Their calls raise ProcessDiedError."""
        self._ended = True
        for process in list(self._processes):
            await self._end(process)

    def calls(self, *, cpu_s: float, limit_s: float) -> Calls:
        """Calls of functions in this pool. Each may use `cpu_s` seconds of CPU time, and take `limit_s` seconds.

        Functions, arguments and results must pickle. The calls of one owner take at most half of the processes (at
        least one); further ones wait. A call that is cancelled is killed. Raises LimitExceededError, ProcessDiedError.
        """
        return _PoolCalls(self, cpu_s, limit_s)

    async def load(self, module: str) -> None:
        """Has a process import a module, so that the next call of its functions need not wait for that.

        As long as that took, calls then wait for a process to be free: the next one would have to import it, too.
        """
        began = monotonic()
        nothing = pickle.dumps((int, (), {}))
        with suppress(ProcessDiedError, LimitExceededError):  # the next call reports it
            await self.answer(module, pickle.dumps((module, _LOADING_S, nothing)), _LOADING_S, _LOADING_S)
            self._patience_s = max(self._patience_s, monotonic() - began)

    async def answer(self, owner: str, call: bytes, cpu_s: float, limit_s: float) -> Any:  # noqa: ANN401 - any result
        """The result of a call, as `concord.processes.program` reads it."""
        async with self._turns.of(owner):
            process = await self._process()
            try:
                async with asyncio.timeout(limit_s):
                    result, error = await process.answer(call)
                if isinstance(error, MemoryError):
                    limit = f"{self._memory_bytes / 2**30:.3g} GiB"
                    raise LimitExceededError(f"the work exceeded its memory limit of {limit}")
            except BaseException as fault:
                code = await asyncio.shield(self._replaced(process))
                if isinstance(fault, TimeoutError):
                    raise TooSlowError(f"the work exceeded its time limit of {limit_s:g} s") from None
                if code == -signal.SIGPROF:
                    raise LimitExceededError(f"the work exceeded its limit of {cpu_s:g} s of CPU time") from None
                if isinstance(fault, EOFError | OSError):
                    raise ProcessDiedError("the process of the work died") from None
                raise
            self._idle.append(process)
            self._freed.set()
        if error is not None:
            raise error
        return result

    async def _process(self) -> "_PoolProcess":
        await self._wait_for_idle()
        if self._ended:
            raise ProcessDiedError("the pool has ended")
        if self._idle:
            return self._idle.pop()
        process = await _PoolProcess.start(self._memory_bytes)
        self._processes.add(process)
        if self._ended:  # meanwhile
            await self._end(process)
            raise ProcessDiedError("the pool has ended")
        return process

    async def _wait_for_idle(self) -> None:
        """Waits a little for a process that is about to be free: to start one takes longer than most calls."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_s):
                while self._processes and not self._idle:
                    self._freed.clear()
                    await self._freed.wait()

    async def _replaced(self, process: "_PoolProcess") -> int:
        """Kills the process, in whose place another one may then start. Returns its exit code."""
        if not self._ended:
            logger.warning("a process of the pool died or was killed")
            self._on_replaced()
        return await self._end(process)

    async def _end(self, process: "_PoolProcess") -> int:
        code = await process.end()
        self._processes.discard(process)
        return code


@dataclass(frozen=True, slots=True)
class _PoolCalls:
    """The calls of a pool that have the same limits."""

    pool: ProcessPool
    cpu_s: float
    limit_s: float

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = pickle.dumps((function.__module__, self.cpu_s, pickle.dumps((function, args, kwargs))))
        result: T = await self.pool.answer(owner, call, self.cpu_s, self.limit_s)
        return result


class _OwnerTurns:
    """Turns of owners: at most `count` at once, and at most half of them (at least one) of the same owner."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._taken: Counter[str] = Counter()
        self._waiting: deque[tuple[str, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def of(self, owner: str) -> AsyncIterator[None]:
        """A turn of an owner, who may have to wait for it. The first who waits is the first to get one."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((owner, turn))
        self._grant()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._taken[owner] -= 1
                self._taken += Counter()  # forgets owners without a turn
            else:
                self._waiting.remove((owner, turn))
            self._grant()

    def _grant(self) -> None:
        most = max(1, self._count // 2)
        for waiting in list(self._waiting):
            if self._taken.total() >= self._count:
                return
            owner, turn = waiting
            if not turn.done() and self._taken[owner] < most:
                self._waiting.remove(waiting)
                self._taken[owner] += 1
                turn.set_result(None)


class _PoolProcess:
    """One process, and the pipes to it."""

    def __init__(
        self, process: Process | ForkedProcess, requests: asyncio.StreamWriter, answers: asyncio.StreamReader
    ) -> None:
        self._process = process
        self._requests = requests
        self._answers = answers

    @classmethod
    async def start(cls, memory_bytes: int) -> Self:
        """Starts a process. It imports nothing before its first call, unless the run's fork server has."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = await _process(theirs.fileno())
            answers, requests = await asyncio.open_unix_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        started = cls(process, requests, answers)
        started._send(pickle.dumps((sys.path, memory_bytes)))
        return started

    async def answer(self, call: bytes) -> tuple[Any, Exception | None]:
        """The result or the error of a call. Raises EOFError or OSError if the process ends."""
        self._send(call)
        await self._requests.drain()
        length = int.from_bytes(await self._answers.readexactly(LENGTH))
        answer: tuple[Any, Exception | None] = pickle.loads(await self._answers.readexactly(length))  # nosec B301  # noqa: S301 - of our own functions
        return answer

    async def end(self) -> int:
        """Kills the process, unless it has ended, and returns its exit code. It has no state to clean up."""
        if self._process.returncode is None and not self._answers.at_eof():
            with suppress(ProcessLookupError):
                # Process.kill may take the exit code away from asyncio (CPython #127049).
                os.kill(self._process.pid, signal.SIGKILL)
        self._requests.close()
        return await self._process.wait()

    def _send(self, message: bytes) -> None:
        self._requests.write(len(message).to_bytes(LENGTH))
        self._requests.write(message)


async def _process(pipe: int) -> Process | ForkedProcess:
    """A process whose requests and answers pass through a socket."""
    if server := os.environ.get(VARIABLE):
        with suppress(OSError):  # it has ended
            return await fork(server, "concord.processes.program", streams=(pipe, pipe, 2), env=os.environ)
    return await asyncio.create_subprocess_exec(sys.executable, "-P", str(_PROGRAM), stdin=pipe, stdout=pipe)

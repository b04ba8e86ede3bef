"""Programs that a fork server starts, for those who ask it: the server itself, a request, and the end of a process."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from concord.processes.fork_server import import_all, serve
from concord.processes.program import LENGTH

VARIABLE: Final = "CONCORD_FORK_SERVER"
"""The variable with the socket of the fork server that a program may use, of the run that started it."""


class ForkedProcess:
    """A process that a fork server has forked."""

    def __init__(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = pid
        self._writer = writer
        self._code = asyncio.ensure_future(self._exit_code(reader))

    @property
    def returncode(self) -> int | None:
        """The exit code, -n for signal n; None while it runs."""
        return self._code.result() if self._code.done() else None

    async def wait(self) -> int:
        """The exit code, once the process, or the fork server, has ended."""
        return await asyncio.shield(self._code)

    async def _exit_code(self, reader: asyncio.StreamReader) -> int:
        try:
            return int(await reader.readline() or -signal.SIGKILL)
        except OSError:
            return -signal.SIGKILL
        finally:
            self._writer.close()


async def fork(
    server: str | Path,
    module: str,
    arguments: Sequence[str] = (),
    *,
    streams: tuple[int, int, int],
    held: Iterable[int] = (),
    env: Mapping[str, str],
    grace_s: float | None = None,
) -> ForkedProcess:
    """Has a fork server start `python -m MODULE`, with standard input, output and error, and descriptors to hold open.

    With `grace_s`, it runs under a guard, as in `concord.guarded_process`, whose session and process group are its own.
    Raises OSError if the server has ended.
    """
    request = {"module": module, "arguments": [*arguments], "env": dict(env), "grace_s": grace_s}
    body = json.dumps(request).encode()
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(server))
        socket.send_fds(connection, [len(body).to_bytes(LENGTH)], [*streams, *held])
        reader, writer = await asyncio.open_unix_connection(sock=connection)
    except BaseException:
        connection.close()
        raise
    try:
        writer.write(body)
        await writer.drain()
        answer = await reader.readline()
        if not answer:
            raise ConnectionResetError("the fork server has ended")
    except BaseException:
        writer.close()
        raise
    return ForkedProcess(int(answer), reader, writer)


@asynccontextmanager
async def fork_server(
    path: Path, modules: Sequence[str], env: Mapping[str, str], log: Path, *, anew: bool = False
) -> AsyncIterator[Path]:
    """Runs a fork server at a socket of that path, until the context or this process ends. It imports the modules.

    It is forked from this process, which imports them, too; or started `anew`, such as from one that knows what no
    program may, and from one with threads, which a fork ends wherever they are. What it forks can read `env`, whatever
    the variables here are.
    """
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        context: ForkContext | SpawnContext = get_context("spawn")
        if not anew and _is_alone():
            import_all(modules)
            context = get_context("fork")
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=serve, args=(listener, reader, modules, dict(env), log))
        # A forked process would take the running task for its own.
        await _outside_of_tasks(partial(_start, process, dict(env)))
        reader.close()
    try:
        yield path
    finally:
        writer.close()
        process.join()


def _start(process: BaseProcess, env: Mapping[str, str]) -> None:
    """Starts a process that can read no other variables."""
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(env)
        process.start()
    finally:
        os.environ.clear()
        os.environ.update(before)


async def _outside_of_tasks(call: Callable[[], None]) -> None:
    """Raises what the call raises."""
    done = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            call()
        except Exception as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    asyncio.get_running_loop().call_soon(run)
    await done


def _is_alone() -> bool:
    """Whether this process has no other thread, also of compiled code."""
    return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - as many as there are names

"""Programs that a fork server starts, for those who ask it: the server itself, a request, and the end of a process."""

import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

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
async def fork_server(path: Path, modules: Iterable[str], env: Mapping[str, str], log: Path) -> AsyncIterator[Path]:
    """Runs a fork server at a socket of that path, until the context or this process ends. It imports the modules.

    What it forks can read `env`, whatever its own variables are.
    """
    with socket.socket(socket.AF_UNIX) as listener, log.open("ab") as output:
        listener.bind(str(path))
        listener.listen()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "concord.processes.fork_server", str(listener.fileno()), *modules),
            stdin=asyncio.subprocess.PIPE,
            stdout=output,
            stderr=output,
            # Threads do not outlive a fork, and the BLAS of numpy would start some.
            env={**env, "OPENBLAS_NUM_THREADS": "1"},
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
    try:
        yield path
    finally:
        process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        await process.wait()

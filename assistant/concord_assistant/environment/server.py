"""The environment process of a green agent: its start, its health, and its certain end."""

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import httpx

from concord.guarded_process import end_group, guarded, how_it_ended
from concord.loopback import LOOPBACK, free_ports
from concord.plain_http import NO_CERTIFICATES
from concord.trust.redaction import learn_secret, redact

ENVIRONMENT_COMMAND: Final = (sys.executable, "-m", "concord_environment")

START_TIMEOUT_S: Final = 60.0
_POLL_S: Final = 0.05
_PORT_ATTEMPTS: Final = 3
_MAX_TAIL: Final = 4096
"""The last bytes of the process's output that are kept for error messages."""

_INHERITED: Final = frozenset(
    {"HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "TMPDIR", "TZ"}
)
"""The environment variables that the process gets. It must not get the secrets of the process that starts it."""


class UESServerError(Exception):
    """The environment process did not start, or has ended. The message says how, with its last output."""


class UESServerManager:
    """Runs one environment process on the loopback interface.

    The process runs under a guard, in a process group of its own. The guard holds the other end of a pipe: when this
    process ends, however it ends, the pipe closes, and the guard ends the environment and everything that the
    environment started. This works on Linux and macOS, unlike PR_SET_PDEATHSIG, which macOS lacks and which is bound
    to the thread that forks.
    """

    def __init__(self, port: int | None = None, *, command: Sequence[str] = ENVIRONMENT_COMMAND, seed: int = 0) -> None:
        """`port`: by default a free one. `command`: gets `--host` and `--port`. `seed`: of the environment's ids."""
        self.admin_key: Final = secrets.token_hex(32)
        self.port = port or 0
        self._chosen_port = port
        self._command = tuple(command)
        self._seed = seed
        self._process: Process | None = None
        self._draining: asyncio.Task[None] | None = None
        self._ended: asyncio.Task[str] | None = None
        self._stopping = False
        self._tail = b""
        learn_secret(self.admin_key)

    @property
    def url(self) -> str:
        """The environment's URL for this process, without a trailing slash."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The id of the process group, None if the process does not run."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    @property
    def failure(self) -> str | None:
        """How the process ended, None if it runs or was stopped."""
        if self._ended is None or not self._ended.done() or self._stopping:
            return None
        return self._ended.result()

    async def ended(self) -> str:
        """Waits until the process ends by itself. Returns how, with its last output."""
        if self._ended is None:
            raise UESServerError("the environment process was not started")
        return await asyncio.shield(self._ended)

    async def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Starts the process and waits until it is healthy. Raises UESServerError."""
        for attempt in range(_PORT_ATTEMPTS):
            self.port = self._chosen_port or free_ports(1)[0]
            try:
                async with asyncio.timeout(timeout_s):
                    await self._start()
                    await self._healthy()
                return
            except TimeoutError:
                await self.stop()
                raise UESServerError(f"the environment was not ready after {timeout_s:g} s{self._output()}") from None
            except UESServerError:
                await self.stop()
                # Another process may have taken the port since it was found to be free.
                if self._chosen_port is not None or attempt + 1 == _PORT_ATTEMPTS:
                    raise
            except BaseException:
                await self.stop()
                raise

    async def is_healthy(self) -> bool:
        """Whether the process runs and answers `/health`."""
        if self.pid is None:
            return False
        async with _http() as http:
            try:
                return (await http.get(f"{self.url}/health")).is_success
            except httpx.HTTPError:
                return False

    async def stop(self) -> None:
        """Ends the process and everything that it started, and waits until they are gone."""
        process, self._process = self._process, None
        if process is None:
            return
        self._stopping = True
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
        await end_group(process.pid)
        for task in (self._draining, self._ended):
            if task is not None:
                await asyncio.wait([task])

    async def _start(self) -> None:
        self._stopping, self._tail = False, b""
        # A pipe of our own: asyncio would wait for the end of its pipe before it reports the end of the guard.
        output, write_end = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *guarded(*self._command, "--host", LOOPBACK, "--port", str(self.port)),
                stdin=PIPE,
                stdout=write_end,
                stderr=STDOUT,
                env=self._variables(os.environ),
                start_new_session=True,
            )
        except BaseException:
            os.close(output)
            raise
        finally:
            os.close(write_end)
        self._process = process
        self._draining = asyncio.create_task(self._drain(output))
        self._ended = asyncio.create_task(self._wait(process))

    def _variables(self, inherited: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in inherited.items() if name in _INHERITED}
        return kept | {"UES_ADMIN_KEY": self.admin_key, "CONCORD_SEED": str(self._seed), "CONCORD_LOG_LEVEL": "WARNING"}

    async def _drain(self, output: int) -> None:
        """Reads the process's output, which would otherwise stop at a full pipe, and keeps its end."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(output, "rb")
        )
        try:
            while chunk := await reader.read(65_536):
                self._tail = (self._tail + chunk)[-_MAX_TAIL:]
        finally:
            transport.close()

    async def _wait(self, process: Process) -> str:
        code = await process.wait()
        await end_group(process.pid)
        if self._draining is not None:
            await asyncio.wait([self._draining])
        return f"the environment process {how_it_ended(code)}{self._output()}"

    async def _healthy(self) -> None:
        """Polls until the process answers, to its key: another server at this port would not accept it."""
        async with _http({"x-api-key": self.admin_key}) as http:
            while True:
                if self._ended is not None and self._ended.done():
                    raise UESServerError(self._ended.result())
                with suppress(httpx.HTTPError):
                    if (await http.get(f"{self.url}/health")).is_success:
                        (await http.get(f"{self.url}/simulation/status")).raise_for_status()
                        return
                await asyncio.sleep(_POLL_S)

    def _output(self) -> str:
        text = redact(self._tail.decode(errors="replace")).strip()
        return f". Its last output: {text}" if text else ""


def _http(headers: Mapping[str, str] | None = None) -> httpx.AsyncClient:
    # The environment's proxy would answer in the process's place. There are no certificates to verify.
    return httpx.AsyncClient(timeout=5, trust_env=False, verify=NO_CERTIFICATES, headers=headers)

"""Supervises programs: starts them in groups, restarts those that die, and stops them in reverse order."""

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Final, Self, TypeVar

from concord.guarded_process import CHILD_S, end_group, guarded, how_it_ended
from concord.processes.forked import VARIABLE, ForkedProcess, fork
from concord.restarts import Restarts
from concord_cli.errors import AssessmentError
from concord_cli.stack.probes import Probe
from concord_cli.stack.stack_folder import StackFolder

READY_TIMEOUT_S = 90.0
"""Long, since a dozen programs that start at once on a busy machine take a while. One that cannot start exits early."""

PROBE_INTERVAL_S = 0.1
TAIL_LINES = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run: name, command line, further environment variables, and readiness probe.

    `hidden`: the variables of this process that it must not see.
    """

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    probe: Probe | None = None
    hidden: frozenset[str] = frozenset()


FORKABLE: Final = {
    "concord_cli.program": "concord_cli.program.prepared",
    "concord_suites.agent": "concord_suites.agent",
    "concord_purple": "concord_purple.__main__",
}
"""The modules that a fork server can run, and what it imports for each."""

_OF_INTERPRETER: Final = ("PYTHON", "LD_")
"""How the variables begin that a process reads before it runs a line of Python."""


def forkable(program: Program) -> tuple[str, tuple[str, ...]] | None:
    """The module and the arguments of a program of Concord that a fork server can start; None if it cannot."""
    match program.command:
        case (sys.executable, "-m", module, *arguments) if module in FORKABLE:
            of_interpreter = any(name.startswith(_OF_INTERPRETER) for name in program.env)
            return None if of_interpreter else (module, tuple(arguments))
    return None


class ProgramFailedError(AssessmentError):
    """A program died too often or did not become ready in time. The message quotes the last lines of its log file."""


class SupervisedProgram:
    """A running program. Until `stop`, a new process replaces each that dies."""

    def __init__(self, program: Program, supervisor: "Supervisor") -> None:
        self.program = program
        self._supervisor = supervisor
        self._folder = supervisor.folder
        self._lifeline: int | None = None
        self._stopping = asyncio.Event()
        self.task = asyncio.create_task(self._keep_running(), name=program.name)
        """Ends with None after `stop`, and with ProgramFailedError if the program keeps dying."""

    async def ready(self) -> None:
        """Waits until the program's probe passes. Raises ProgramFailedError after READY_TIMEOUT_S."""
        deadline = monotonic() + READY_TIMEOUT_S
        while self.program.probe is not None and not await self.program.probe.passes():
            if monotonic() > deadline:
                raise self._failed(f"was not ready after {READY_TIMEOUT_S:.0f} s")
            await asyncio.sleep(PROBE_INTERVAL_S)

    async def stop(self) -> None:
        """Ends the program and everything that it started, and waits until they are gone."""
        self._stopping.set()
        self._end_process()
        await asyncio.wait([self.task])
        if not self.task.cancelled():
            self.task.exception()  # marks the failure as retrieved; `Supervisor.guard` has raised it

    async def _keep_running(self) -> None:
        restarts = Restarts()
        while not self._stopping.is_set():
            began = monotonic()
            how = await self._run_once()
            if self._stopping.is_set():
                return
            delay = restarts.pause_s(monotonic() - began)
            if delay is None:
                raise self._failed(f"{how}, {restarts.quick_ends} times in a row")
            self._supervisor.notice(f"{self.program.name} {how}; starting it again in {delay:g} s")
            await self._pause(delay)

    async def _run_once(self) -> str:
        """Runs one process to its end. Returns how it ended."""
        reader, self._lifeline = os.pipe()
        try:
            try:
                with self._open_log() as log:
                    process = await self._started(reader, log.fileno())
            finally:
                os.close(reader)
            code = await process.wait()
        finally:
            self._end_process()  # whatever ends the waiting, such as a second Ctrl-C, ends the program
        await end_group(process.pid)
        return how_it_ended(code)

    async def _started(self, reader: int, log: int) -> Process | ForkedProcess:
        """A process of the program, which ends when no write end of the pipe `reader` is open any more."""
        # Temporary files of a killed program are removed with the run's folder.
        env = {**self._inherited(), "TMPDIR": str(self._folder.path), **self.program.env}
        if (server := self._supervisor.fork_server) is not None and (found := forkable(self.program)) is not None:
            streams, held = (reader, log, log), [self._folder.lifeline]
            with suppress(OSError):  # it was killed: from now on, programs start without it
                return await fork(
                    *(server, *found), streams=streams, held=held, env=env | {VARIABLE: str(server)}, grace_s=CHILD_S
                )
        return await asyncio.create_subprocess_exec(
            *guarded(*self.program.command, grace_s=CHILD_S),
            stdin=reader,
            stdout=log,
            stderr=log,
            env=env,
            pass_fds=[self._folder.lifeline],
            start_new_session=True,
        )

    def _end_process(self) -> None:
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None

    def _inherited(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name not in self.program.hidden}

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    def _open_log(self) -> BinaryIO:
        if self._supervisor.logs_to_stderr:
            return os.fdopen(os.dup(sys.stderr.fileno()), "ab")
        return self._folder.log(self.program.name).open("ab")

    def _failed(self, what: str) -> ProgramFailedError:
        if self._supervisor.logs_to_stderr:
            return ProgramFailedError(f"{self.program.name} {what}")
        tail = log_tail(self._folder.log(self.program.name))
        return ProgramFailedError(f"{self.program.name} {what}. Its last output:\n{tail}")


def log_tail(path: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, indented; "(nothing)" for an empty log."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        text = ""
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:]) or "    (nothing)"


class Supervisor:
    """Programs in groups, started one group after another and stopped in the reverse order. A context manager.

    With the socket of a fork server, that starts what is `forkable`. With `logs_to_stderr`, the programs write to this
    process's standard error instead of files in the folder.
    """

    def __init__(
        self,
        folder: StackFolder,
        notice: Callable[[str], None],
        fork_server: Path | None = None,
        *,
        logs_to_stderr: bool = False,
    ) -> None:
        self.folder = folder
        self.notice = notice
        self.fork_server = fork_server
        self.logs_to_stderr = logs_to_stderr
        self._groups: list[list[SupervisedProgram]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        stopping, interrupted = asyncio.create_task(self._stop()), None
        while not stopping.done():
            try:
                await asyncio.shield(stopping)
            except asyncio.CancelledError as again:  # a group that nobody stops would keep the run's folder for ever
                interrupted = again
        if interrupted is not None:
            raise interrupted

    async def _stop(self) -> None:
        for group in reversed(self._groups):
            await asyncio.gather(*(program.stop() for program in group))

    def start(self, programs: Iterable[Program]) -> None:
        """Starts programs as the next group, without waiting for them."""
        self._groups.append([SupervisedProgram(program, self) for program in programs])

    async def ready(self) -> None:
        """Waits until all programs are ready. Raises ProgramFailedError as soon as one fails."""
        await self.guard(self._all_ready())

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`. Cancels it and raises ProgramFailedError as soon as a program fails for good."""
        task = asyncio.create_task(work)
        tasks = [program.task for group in self._groups for program in group]
        try:
            await asyncio.wait([task, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for running in tasks:
                if running.done():
                    running.result()
            return await task
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _all_ready(self) -> None:
        for group in self._groups:
            for program in group:
                await program.ready()

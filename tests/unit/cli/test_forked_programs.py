"""Programs that a fork server starts: each is a process of its own, and dies, restarts and logs as any other."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from concord.processes.forked import fork_server
from concord_cli.stack.stack_folder import StackFolder
from concord_cli.stack.supervisor import FORKABLE, Program, ProgramFailedError, Supervisor, forkable
from tests.unit.cli.programs import is_running, pids_in, until

MODULE = "tests.unit.cli.forked_program"


@pytest.fixture(params=[False, True], ids=["forked from here", "started anew"])
async def server(
    folder: StackFolder, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> AsyncIterator[Path]:
    anew: bool = request.param
    monkeypatch.setitem(FORKABLE, MODULE, MODULE)
    log = folder.log("fork-server")
    env = {"PATH": os.environ["PATH"]}
    async with fork_server(folder.path / "server.sock", [MODULE], env, log, anew=anew) as path:
        yield path


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    return tmp_path / "pids"


def program(pids: Path, does: str = "sleeps", **env: str) -> Program:
    return Program("worker", (sys.executable, "-m", MODULE, str(pids), does), env, hidden=frozenset({"HIDDEN"}))


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_forked(pid: int) -> bool:
    """Whether the parent of a program's guard is a fork server."""
    return "concord.processes.fork_server" in Path(f"/proc/{parent_of(os.getpgid(pid))}/cmdline").read_text()


def environment_in_memory(pid: int) -> str:
    """The variables that the process's fork server had at its start."""
    return Path(f"/proc/{pid}/environ").read_text()


async def started(pids: Path, count: int = 1) -> int:
    """The newest of so many processes."""
    await until(lambda: len(pids_in(pids)) == count)
    return pids_in(pids)[-1]


async def test_a_program_is_a_process_of_its_own_under_its_own_command_line(
    server: Path, folder: StackFolder, pids: Path
) -> None:
    async with Supervisor(folder, print, server) as supervisor:
        supervisor.start([program(pids)])
        pid = await started(pids)
        assert is_forked(pid)
        await until(lambda: MODULE in Path(f"/proc/{pid}/cmdline").read_text().split("\0"))
        assert os.getsid(pid) not in {pid, os.getsid(0)}
    assert not is_running(pid)


async def test_a_killed_program_is_forked_again(server: Path, folder: StackFolder, pids: Path) -> None:
    messages = list[str]()
    async with Supervisor(folder, messages.append, server) as supervisor:
        supervisor.start([program(pids)])
        os.kill(await started(pids), signal.SIGKILL)
        assert is_forked(await started(pids, 2))
    assert messages == ["worker was ended by SIGKILL; starting it again in 0.25 s"]


async def test_a_program_whose_guard_is_killed_does_not_run_twice(
    server: Path, folder: StackFolder, pids: Path
) -> None:
    async with Supervisor(folder, print, server) as supervisor:
        supervisor.start([program(pids)])
        first = await started(pids)
        os.kill(os.getpgid(first), signal.SIGKILL)
        await started(pids, 2)
        assert not is_running(first)


async def test_a_program_that_keeps_failing_is_given_up_with_its_own_log(
    server: Path, folder: StackFolder, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord.restarts.FIRST_PAUSE_S", 0.01)
    async with Supervisor(folder, print, server) as supervisor:
        supervisor.start([program(pids, "fails")])
        with pytest.raises(ProgramFailedError, match="worker ended with exit code 7, 4 times in a row"):
            await supervisor.guard(asyncio.Event().wait())
    assert folder.log("worker").read_text().count("TMPDIR") == 4


async def test_a_program_that_ignores_sigterm_is_killed(
    server: Path, folder: StackFolder, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord_cli.stack.supervisor.CHILD_S", 0.2)
    async with Supervisor(folder, print, server) as supervisor:
        supervisor.start([program(pids, "ignores SIGTERM")])
        pid = await started(pids)
    assert not is_running(pid)


async def test_a_program_sees_its_own_variables_alone(
    server: Path, folder: StackFolder, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIDDEN", "x")
    monkeypatch.setenv("SHOWN", "y")
    async with Supervisor(folder, print, server) as supervisor:
        supervisor.start([program(pids, OWN="z")])
        pid = await started(pids)
        await until(lambda: "TMPDIR" in folder.log("worker").read_text())
        memory = environment_in_memory(pid)
    assert {"HIDDEN", "SHOWN", "OWN"} & set(folder.log("worker").read_text().split()) == {"SHOWN", "OWN"}
    assert "HIDDEN" not in memory


async def test_programs_start_without_a_fork_server_that_was_killed(
    server: Path, folder: StackFolder, pids: Path
) -> None:
    async with Supervisor(folder, print, server) as supervisor:
        supervisor.start([program(pids)])
        first = await started(pids)
        os.kill(parent_of(os.getpgid(first)), signal.SIGKILL)
        second = await started(pids, 2)
        assert not is_running(first)
        assert not is_forked(second)


@pytest.mark.parametrize(
    ("command", "env"),
    [
        ((sys.executable, "-m", "somebody.agent"), {}),
        (("python3", "-m", "concord_suites.agent"), {}),
        ((sys.executable, "-m", "concord_suites.agent"), {"PYTHONPATH": "elsewhere"}),
        ((sys.executable, "agent.py"), {}),
    ],
    ids=["another's module", "another Python", "variables of the interpreter", "a file"],
)
def test_only_modules_of_concord_are_forked(command: tuple[str, ...], env: dict[str, str]) -> None:
    assert forkable(Program("agent", command, env)) is None


@pytest.mark.programs
def test_what_a_fork_server_imports_starts_no_thread() -> None:
    modules = [*FORKABLE.values()]
    code = (
        f"import importlib, os; [importlib.import_module(m) for m in {modules!r}]; print(os.listdir('/proc/self/task'))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ).stdout  # fmt: skip
    assert told.count("'") == 2

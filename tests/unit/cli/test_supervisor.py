"""The supervisor: programs are restarted, given up if they keep dying, and stopped in order with their children."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from concord.loopback import LOOPBACK, free_ports
from concord_cli.stack.probes import HttpProbe
from concord_cli.stack.stack_folder import StackFolder
from concord_cli.stack.supervisor import Program, ProgramFailedError, Supervisor
from tests.unit.cli.programs import (
    IGNORES_SIGTERM,
    SLEEPER,
    WRITES_PID,
    is_running,
    pids_in,
    pids_with_argument,
    python,
    until,
)


def silent(_: str) -> None:
    pass


def web_server(port: int) -> Program:
    code = f"import http.server as h; h.HTTPServer(({LOOPBACK!r}, {port}), h.SimpleHTTPRequestHandler).serve_forever()"
    program = python("web", "import time; time.sleep(0.3)\n" + code)
    return Program(program.name, program.command, probe=HttpProbe(f"http://{LOOPBACK}:{port}/"))


async def test_a_program_is_ready_when_its_probe_passes(folder: StackFolder) -> None:
    [port] = free_ports(1)
    async with Supervisor(folder, silent) as supervisor:
        supervisor.start([web_server(port)])
        await supervisor.ready()

        assert await HttpProbe(f"http://{LOOPBACK}:{port}/").passes()
    assert not await HttpProbe(f"http://{LOOPBACK}:{port}/").passes()


async def test_a_killed_program_is_restarted(folder: StackFolder, tmp_path: Path) -> None:
    pids, messages = tmp_path / "pids", list[str]()
    async with Supervisor(folder, messages.append) as supervisor:
        supervisor.start([python("worker", WRITES_PID + SLEEPER, str(pids))])
        await until(lambda: len(pids_in(pids)) == 1)
        os.kill(pids_in(pids)[0], signal.SIGKILL)
        await until(lambda: len(pids_in(pids)) == 2)

        assert is_running(pids_in(pids)[1])
        assert messages == ["worker was ended by SIGKILL; starting it again in 0.25 s"]


async def test_a_program_whose_guard_process_is_killed_does_not_run_twice(folder: StackFolder, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    async with Supervisor(folder, silent) as supervisor:
        supervisor.start([python("worker", WRITES_PID + SLEEPER, str(pids))])
        await until(lambda: len(pids_in(pids)) == 1)
        os.kill(os.getpgid(pids_in(pids)[0]), signal.SIGKILL)
        await until(lambda: len(pids_in(pids)) == 2)

        assert not is_running(pids_in(pids)[0])


async def test_a_program_that_keeps_dying_is_given_up_with_its_log_tail(
    folder: StackFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord.restarts.FIRST_PAUSE_S", 0.01)
    messages = list[str]()
    async with Supervisor(folder, messages.append) as supervisor:
        supervisor.start([python("worker", "import sys; print('no such model'); sys.exit(7)")])
        with pytest.raises(ProgramFailedError) as failed:
            await supervisor.guard(asyncio.sleep(60))

    assert str(failed.value).startswith("worker ended with exit code 7, 4 times in a row. Its last output:\n")
    assert str(failed.value).endswith("    no such model")
    assert [line.rpartition(" in ")[2] for line in messages] == ["0.01 s", "0.02 s", "0.04 s"]


async def test_a_program_that_never_gets_ready_is_given_up(
    folder: StackFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord_cli.stack.supervisor.READY_TIMEOUT_S", 0.3)
    [port] = free_ports(1)
    program = python("web", SLEEPER)
    async with Supervisor(folder, silent) as supervisor:
        supervisor.start([Program(program.name, program.command, probe=HttpProbe(f"http://{LOOPBACK}:{port}/"))])
        with pytest.raises(ProgramFailedError, match="web was not ready"):
            await supervisor.ready()


async def test_the_guard_passes_on_results_and_errors(folder: StackFolder) -> None:
    async def fail() -> None:
        raise LookupError("its own")

    async with Supervisor(folder, silent) as supervisor:
        supervisor.start([python("worker", SLEEPER)])

        assert await supervisor.guard(asyncio.sleep(0, "done")) == "done"
        with pytest.raises(LookupError, match="its own"):
            await supervisor.guard(fail())


async def test_programs_are_stopped_in_reverse_order_of_their_start(folder: StackFolder, tmp_path: Path) -> None:
    says_goodbye = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
open(sys.argv[1] + sys.argv[2], "w").close()
signal.sigwait([signal.SIGTERM])
open(sys.argv[1], "a").write(sys.argv[2] + "\\n")
"""
    order = tmp_path / "order"
    async with Supervisor(folder, silent) as supervisor:
        for name in ("redis", "collector", "gateway"):
            supervisor.start([python(name, says_goodbye, str(order), name)])
        await until(lambda: len(list(tmp_path.iterdir())) == 3)

    assert order.read_text().split() == ["gateway", "collector", "redis"]


async def test_a_program_that_ignores_sigterm_is_killed(
    folder: StackFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord_cli.stack.supervisor.CHILD_S", 0.2)
    pids = tmp_path / "pids"
    async with Supervisor(folder, silent) as supervisor:
        supervisor.start([python("worker", IGNORES_SIGTERM + WRITES_PID + SLEEPER, str(pids))])
        await until(lambda: len(pids_in(pids)) == 1)

    assert not is_running(pids_in(pids)[0])


async def test_the_child_processes_of_a_program_end_with_it(folder: StackFolder, tmp_path: Path) -> None:
    parent = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[2], sys.argv[1]])\n"
    pids = tmp_path / "pids"
    async with Supervisor(folder, silent) as supervisor:
        supervisor.start(
            [python("pool", parent + WRITES_PID + SLEEPER, str(pids), IGNORES_SIGTERM + WRITES_PID + SLEEPER)]
        )
        await until(lambda: len(pids_in(pids)) == 2)

    assert not any(map(is_running, pids_in(pids)))


@pytest.mark.parametrize("delay_s", [0, 0.005, 0.2], ids=["at once", "half way", "running"])
async def test_a_supervisor_that_is_left_early_leaves_no_process_behind(
    delay_s: float, folder: StackFolder, tmp_path: Path
) -> None:
    async with Supervisor(folder, silent) as supervisor:
        supervisor.start([python("worker", SLEEPER, str(tmp_path)) for _ in range(3)])
        await asyncio.sleep(delay_s)
    assert pids_with_argument(str(tmp_path)) == []


async def test_programs_can_write_to_standard_error_instead_of_files(
    folder: StackFolder, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord.restarts.FIRST_PAUSE_S", 0.01)
    async with Supervisor(folder, silent, logs_to_stderr=True) as supervisor:
        supervisor.start([python("worker", "import sys; print('no such model'); sys.exit(7)")])
        with pytest.raises(ProgramFailedError, match=r"worker ended with exit code 7, 4 times in a row$"):
            await supervisor.guard(asyncio.sleep(60))

    assert "no such model" in capfd.readouterr().err
    assert not folder.log("worker").exists()


async def test_a_program_does_not_see_hidden_variables(folder: StackFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIDDEN", "x")
    monkeypatch.setenv("SHOWN", "y")
    seen = folder.path / "seen"
    code = f"import os, time; open({str(seen)!r}, 'w').write(' '.join(sorted(os.environ)) + ' end'); time.sleep(60)"
    program = python("spy", code)
    async with Supervisor(folder, silent) as supervisor:
        supervisor.start([Program(program.name, program.command, hidden=frozenset({"HIDDEN"}))])
        await until(lambda: seen.exists() and seen.read_text().endswith(" end"))
    assert {"HIDDEN", "SHOWN"} & set(seen.read_text().split()) == {"SHOWN"}


async def test_an_exit_that_is_interrupted_again_stops_all_groups(folder: StackFolder, tmp_path: Path) -> None:
    pids, has_started = tmp_path / "pids", asyncio.Event()

    async def supervise() -> None:
        async with Supervisor(folder, silent) as supervisor:
            for name in ("redis", "gateway"):
                supervisor.start([python(name, WRITES_PID + SLEEPER, str(pids))])
            await until(lambda: len(pids_in(pids)) == 2)
            has_started.set()
            await asyncio.sleep(60)

    running = asyncio.create_task(supervise())
    await has_started.wait()
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not any(map(is_running, pids_in(pids)))

"""The folder and the programs of a run end with the command that started them, even if that command is killed."""

import asyncio
import signal
import stat
import sys
from pathlib import Path

import pytest

from concord_cli.stack.stack_folder import stack_folder
from tests.unit.cli.programs import IGNORES_SIGTERM, SLEEPER, WRITES_PID, is_running, pids_in, until

STARTS_A_PROGRAM = """
import asyncio, sys
from pathlib import Path
from concord_cli.stack.supervisor import Program
from concord_cli.stack.stack_folder import stack_folder
from concord_cli.stack.supervisor import Supervisor

async def main():
    async with stack_folder() as folder, Supervisor(folder, print) as supervisor:
        supervisor.start([Program("worker", (sys.executable, "-c", *sys.argv[2:]))])
        Path(sys.argv[1]).write_text(str(folder.path))
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_only_the_owner_can_read_the_folder() -> None:
    async with stack_folder() as folder:
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


async def test_the_folder_is_removed_with_its_contents() -> None:
    async with stack_folder() as folder:
        folder.log("gateway").write_text("ready")
    assert not folder.path.exists()


@pytest.mark.parametrize("program", [SLEEPER, IGNORES_SIGTERM + SLEEPER], ids=["ends on SIGTERM", "ignores SIGTERM"])
async def test_a_killed_supervisors_programs_end_and_its_folder_is_removed(program: str, tmp_path: Path) -> None:
    place, pids = tmp_path / "place", tmp_path / "pids"
    supervisor = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTS_A_PROGRAM, str(place), WRITES_PID + program, str(pids))
    )
    await until(lambda: len(pids_in(pids)) == 1)
    supervisor.send_signal(signal.SIGKILL)
    await supervisor.wait()

    await until(lambda: not is_running(pids_in(pids)[0]))
    folder = Path(place.read_text())
    await until(lambda: not folder.exists())

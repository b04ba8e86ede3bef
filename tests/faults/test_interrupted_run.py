"""`concord run` that is interrupted, stopped and killed: it leaves no process and no temporary file."""

import signal

import pytest

from tests.kit.concord import QUICK, concord
from tests.kit.processes import processes_with, programs_with, until


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_no_process_and_no_temporary_file(
    number: signal.Signals, code: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with concord(tmp_path_factory.mktemp("stopped"), "run", str(QUICK)) as running:
        running.read_until("Starting")
        until(lambda: bool(programs_with(running.mark, "concord_suites.agent")))
        running.send(number)

        assert running.finish() == code
        assert running.left_behind() == []


def test_a_killed_run_leaves_no_process_and_no_temporary_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    with concord(tmp_path_factory.mktemp("killed"), "run", str(QUICK)) as running:
        running.read_until("Starting")
        until(lambda: bool(programs_with(running.mark, "concord_suites.agent")))
        assert len(processes_with(running.mark)) > 4
        running.send(signal.SIGKILL)
        running.finish()

        until(lambda: running.left_behind() == [])

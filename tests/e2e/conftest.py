"""Runs that several tests share."""

from collections.abc import Iterator

import pytest

from tests.e2e.concord import BAD, MESH, Concord, concord
from tests.ports import row_of_free_ports


@pytest.fixture(scope="session")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Concord:
    """A finished `concord run` of the shipped team; its folder has `output/results.json` and `traces`."""
    with concord(tmp_path_factory.mktemp("mesh"), "run", str(MESH), "-v", "--traces", "traces") as running:
        running.finish()
        return running


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Concord]:
    """A running `concord up` with the bad team. Jobs of a killed worker are retried after 5 s."""
    ports = iter(row_of_free_ports(8))
    options = [f"--{name}-port={next(ports)}" for name in ("gateway", "collector", "agents")]
    folder = tmp_path_factory.mktemp("stack")
    with concord(folder, "up", str(BAD), *options, CONCORD_JOB_TIMEOUT_FAST_S="5") as running:
        running.read_until("Press Ctrl-C to stop all programs.")
        yield running

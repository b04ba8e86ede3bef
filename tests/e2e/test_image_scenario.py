"""`concord run` with an agent that has only an image: docker starts it, and nothing of it is left afterwards."""

import signal
from pathlib import Path

import pytest

from tests.e2e.test_images import build, docker
from tests.kit.concord import concord, row_in
from tests.kit.ports import row_of_free_ports
from tests.kit.processes import until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

SCENARIO = """
[green_agent]
image = "concord-green"

[[participants]]
name = "agent"
image = "concord-sample"
env = { SAMPLE_HABITS = "${HABITS}" }

[config]
suite = "distributed-sort"
seats = 5
difficulty = 2
exchange = "calls"
"""


def containers() -> str:
    return docker("ps", "--all", "--quiet", "--filter", "label=concord.run")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    build("sample")
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return path


def test_an_agent_in_a_container_is_assessed_with_its_variables(scenario: Path) -> None:
    before = containers()
    with concord(scenario.parent, "run", str(scenario), HABITS="withholding@agent/2") as running:
        assert running.finish() == 0, running.output
        assert containers() == before
    row = row_in(scenario.parent / "output/results.json")
    assert "agent/2 told nobody" in running.output
    assert row.detail.infrastructure == []


def test_a_killed_stack_leaves_no_container(scenario: Path) -> None:
    before = containers()
    ports = iter(row_of_free_ports(3))
    options = [f"--{name}-port={next(ports)}" for name in ("gateway", "collector", "agents")]
    with concord(scenario.parent, "serve", str(scenario), *options, HABITS="") as running:
        running.read_until("Press Ctrl-C to stop all programs.")
        assert containers() != before
        running.send(signal.SIGKILL)
        until(lambda: containers() == before)

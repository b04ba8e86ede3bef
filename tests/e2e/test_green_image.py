"""The green image as the platform starts it: one read-only container on one port, and a participant without Concord."""

import json
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from concord.assessment.result_row import ResultRow
from deploy.leaderboard.generate_compose import PORT
from tests.e2e.test_images import build, docker
from tests.kit.processes import until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
KIT = ROOT / "deploy/leaderboard"
BASE_EXCESS_BYTES = 250 * 1000 * 1000

SCENARIO = """
[green_agent]
image = "{green}"

[[participants]]
image = "{agent}"
name = "agent"

[config]
suite = "maximum"
difficulty = 1
"""


@pytest.fixture(scope="module")
def images() -> Iterator[dict[str, str]]:
    """The green agent's image, the client's, and that of a participant in the standard library alone."""
    foreign = f"concord-test-foreign-{uuid4().hex[:8]}"
    build("purple")
    lines = ("FROM concord-purple", "COPY foreign_agent.py /", 'ENTRYPOINT ["python", "/foreign_agent.py"]')
    command = ["docker", "build", "--quiet", "--tag", foreign, "--file", "-", "tests/kit"]
    subprocess.run(command, cwd=ROOT, check=True, input="\n".join(lines), text=True, stdout=subprocess.DEVNULL)
    build("green")
    build("client")
    yield {"green": "concord-green", "agent": foreign, "client": "concord-client"}
    docker("image", "rm", foreign)


@pytest.fixture(scope="module")
def project(images: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator["Project"]:
    """A running project of the generator's Compose file, with the green agent on a read-only file system."""
    folder = tmp_path_factory.mktemp("leaderboard")
    (folder / "scenario.toml").write_text(SCENARIO.format(**images))
    (folder / "output").mkdir(mode=0o777)
    (folder / "output").chmod(0o777)
    generator = [sys.executable, str(KIT / "generate_compose.py"), "--scenario", "scenario.toml"]
    subprocess.run(generator, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    # Only the client differs from a run of the platform, whose client cannot be pulled everywhere.
    client = {"image": images["client"], "command": ["assess", "/app/scenario.toml", "-o", "/app/output/results.json"]}
    green = {"read_only": True, "tmpfs": ["/tmp"], "ports": [f"127.0.0.1::{PORT}"]}  # noqa: S108 - in a container
    override = {"services": {"agentbeats-client": client, "green-agent": green}}
    (folder / "override.yml").write_text(yaml.safe_dump(override))
    running = Project(folder)
    try:
        running.compose("up", "--detach", "--wait", "green-agent", "agent")
        yield running
    finally:
        running.compose("down", "--volumes", "--timeout", "5")


class Project:
    """A Compose project of its own name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._name = f"concord-test-{uuid4().hex[:8]}"

    def compose(self, *arguments: str) -> str:
        files = ("-f", "docker-compose.yml", "-f", "override.yml")
        command = ["docker", "compose", "--project-name", self._name, *files, *arguments]
        return subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def in_green(self, *command: str) -> str:
        return self.compose("exec", "-T", "green-agent", *command)

    def status(self, *curl: str) -> str:
        """The status of the green agent's response to a request from inside its container; 000 without one."""
        words = ("curl", "--silent", "--output", "/dev/null", "--write-out", "'%{http_code}'", *map(shlex.quote, curl))
        return self.in_green("sh", "-c", f"{' '.join(words)} || true")

    def processes(self, words: str) -> list[str]:
        """The ids of the green agent's processes with these words on their command line, without guard processes."""
        listing = self.in_green("sh", "-c", 'cd /proc; for p in [0-9]*; do echo $p $(tr "\\0" " " <$p/cmdline); done')
        lines = [line for line in listing.splitlines() if words in line and "parent_guard" not in line]
        return [line.split()[0] for line in lines]

    def is_ready(self) -> bool:
        return self.status(f"http://localhost:{PORT}/readyz") == "200"

    def assess(self) -> ResultRow:
        """Runs the client's container to its end, and returns the row."""
        self.compose("run", "--rm", "agentbeats-client")
        [row] = json.loads((self.folder / "output/results.json").read_text())["results"]
        return ResultRow.model_validate(row)


def test_the_generators_project_assesses_a_foreign_participant(project: Project) -> None:
    row = project.assess()
    assert row.score == 100
    assert row.detail.infrastructure == []


@pytest.mark.parametrize("path", ["/traces", "/v1/traces", "/register"])
def test_the_collectors_paths_answer_on_the_green_agents_port(project: Project, path: str) -> None:
    entry = ("--header", "content-type: application/json", "--data", '{"id": "a", "url": "http://a:1/"}')
    assert project.status(*entry, f"http://localhost:{PORT}{path}") == "401"  # a participant's token is needed


def test_the_card_has_the_url_that_the_platform_gave(project: Project) -> None:
    port = project.compose("port", "green-agent", str(PORT)).rpartition(":")[2]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/.well-known/agent-card.json") as response:
        card = json.load(response)
    assert {each["url"] for each in card["supportedInterfaces"]} == {"http://green-agent:9009"}


@pytest.mark.parametrize("part", ["valkey-server 127", "-m concord_cli.program"])
def test_a_killed_part_is_started_again(project: Project, part: str) -> None:
    before = project.processes(part)
    project.in_green("sh", "-c", f"kill -9 {before[0]}")
    until(lambda: project.processes(part) not in ([], before), 60)
    until(project.is_ready, 60)


def test_an_assessment_works_after_parts_were_killed(project: Project) -> None:
    assert project.assess().score == 100


def test_the_image_adds_at_most_250_mb_to_its_base_image(images: dict[str, str]) -> None:
    sizes = [
        int(docker("image", "inspect", "--format", "{{.Size}}", each)) for each in (images["green"], "python:3.13-slim")
    ]
    assert sizes[0] - sizes[1] <= BASE_EXCESS_BYTES


def test_a_green_agent_that_cannot_work_exits_with_1(images: dict[str, str]) -> None:
    command = ["docker", "run", "--rm", "--read-only", "--tmpfs", "/tmp"]  # noqa: S108 - in a container
    broken = ["--env", "CONCORD_TASK_SECRET=short", images["green"]]
    assert (
        subprocess.run(
            [*command, *broken], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode
        == 1
    )


def test_without_a_card_url_the_card_has_the_address_by_which_it_is_requested(images: dict[str, str]) -> None:
    container = docker("run", "--detach", "--read-only", "--tmpfs", "/tmp", images["green"])  # noqa: S108
    try:
        check = "until curl --fail --silent http://127.0.0.9:9009/.well-known/agent-card.json; do sleep 0.2; done"
        card = json.loads(docker("exec", container, "timeout", "80", "sh", "-c", check))
    finally:
        docker("rm", "--force", container)
    assert {each["url"] for each in card["supportedInterfaces"]} == {"http://127.0.0.9:9009/"}
